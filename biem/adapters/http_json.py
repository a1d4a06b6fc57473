"""JSON over HTTP with limits that the client library lacks: total time, size, attempts.

The key is sent and never shown: not in a repr, a message, a cause or a log.
"""

import math
import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from biem.adapters.addresses import require_http
from biem.errors import ConfigError
from biem.redaction import hidden, learn

T = TypeVar("T")

FIRST_PAUSE_S = 0.25
LONGEST_PAUSE_S = 8.0
_MAX_ANSWER_BYTES = 256 << 20


class Again(Exception):
    """A failure worth a retry. `after_s` is the server's Retry-After."""

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


class GaveUp(Exception):
    """Attempts or time are used up; the message is the last reason, and `after_s` the server's last Retry-After."""

    def __init__(self, last: Again, tries: int, seconds: float) -> None:
        super().__init__(str(last))
        self.after_s = last.after_s
        self.tries = tries
        self.seconds = seconds


class EndlessAnswer(Exception):
    """The response exceeds the size limit."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """A complete response of any status, except those worth a retry."""

    status: int
    content: bytes


class JsonService:
    """One address that accepts JSON by POST. `setting` is the prefix of its settings, for messages."""

    def __init__(self, address: str, *, api_key: str, setting: str, connections: int) -> None:
        api_key = api_key.strip()
        if not (api_key.isascii() and api_key.isprintable()):  # the HTTP client would quote it in its error
            raise ConfigError(f"{setting}API_KEY has characters that no HTTP header can carry; copy the key again")
        learn(api_key)
        self.setting = setting
        self._address, self._login = _without_login(address, setting)  # the HTTP client logs addresses unchanged
        self._key: Callable[[], str] = lambda: api_key  # a closure: no repr, vars or log can show it
        self._connections = connections
        self._lock = threading.Lock()
        self._client: tuple[int, httpx.Client] | None = None
        self.closed = threading.Event()

    def __repr__(self) -> str:
        return f"JsonService({self.shown!r})"

    @property
    def shown(self) -> str:
        """The address for messages, without user, password and query."""
        return str(self._address.copy_with(query=None))

    def post(self, body: dict[str, Any], timeout_s: float) -> HttpAnswer:
        """The response, read within the total time: a timeout of the client covers single reads only.

        Raises `Again` for failures worth a retry.
        """
        deadline = time.monotonic() + timeout_s
        content = bytearray()
        try:
            with self._open().stream("POST", self._address, json=body, timeout=max(timeout_s, 0.001)) as answer:
                for part in answer.iter_bytes():
                    content += part
                    if time.monotonic() > deadline:
                        raise Again(f"no complete answer within {max(0.0, timeout_s):.1f} s")
                    if len(content) > _MAX_ANSWER_BYTES:
                        raise EndlessAnswer(f"{self.shown} sends an answer beyond the size limit; check the server")
                if self.closed.is_set():  # closing the client does not close connections being opened
                    answer.extensions["network_stream"].close()
        except httpx.TimeoutException as error:
            raise Again(f"no answer within {timeout_s:.1f} s") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ConfigError(f"{self.setting}URL is not a usable address: {self.shown}") from error
        except (httpx.HTTPError, RuntimeError, OSError) as error:  # RuntimeError: the client was closed meanwhile
            raise Again(f"{type(error).__name__}: {self.hide(str(error))}") from error
        found = HttpAnswer(answer.status_code, bytes(content))
        if found.status in (408, 429) or found.status >= 500:
            raise Again(f"HTTP {found.status}{self.said(found.content)}", _retry_after(answer.headers))
        return found

    def repeat(
        self, attempt: Callable[[float], T], *, tries: int, budget_s: float, timeout_s: float, jitter: random.Random
    ) -> T:
        """Retries `attempt(timeout_s)` after growing pauses, while it raises `Again` and attempts and time are left.

        Never pauses shorter than the server's Retry-After; raises `GaveUp` instead of pausing beyond the time, and when
        closed.
        """
        started = time.monotonic()
        deadline = started + budget_s
        number = 1
        while True:
            try:
                return attempt(min(timeout_s, deadline - time.monotonic()))
            except Again as error:
                pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** (number - 1)) * jitter.uniform(0.5, 1.5)
                pause = max(pause, error.after_s or 0.0)
                if number >= tries or time.monotonic() + pause >= deadline or self.closed.wait(pause):
                    raise GaveUp(error, number, time.monotonic() - started) from error.__cause__
                number += 1

    def said(self, content: bytes) -> str:
        """The server's error message, on one short line; empty without one."""
        words = " ".join(self.hide(content[:1000].decode(errors="replace")).split())
        return f": {words[:200]}" if words else ""

    def hide(self, text: str) -> str:
        """`text` without the key."""
        key = self._key()
        return hidden(text.replace(key, "***") if key else text)

    def close(self) -> None:
        """Close connections; pauses between attempts end at once."""
        self.closed.set()
        with self._lock:
            client, self._client = self._client, None
        if client and client[0] == os.getpid():
            client[1].close()

    def _open(self) -> httpx.Client:
        """This process's connections: a child must not use sockets of its parent."""
        with self._lock:
            if self._client is None or self._client[0] != os.getpid():
                if self.closed.is_set():
                    raise Again("closed")
                key = self._key()
                headers = {"Authorization": f"Bearer {key}"} if key else {}
                limits = httpx.Limits(max_connections=self._connections)
                self._client = (os.getpid(), httpx.Client(headers=headers, auth=self._login(), limits=limits))
            return self._client[1]


def _without_login(address: str, setting: str) -> tuple[httpx.URL, Callable[[], httpx.BasicAuth | None]]:
    """The address without user and password, and a closure over these."""
    url = _read(require_http(address, f"{setting}URL"))
    if url is None:
        raise ConfigError(f"{setting}URL is not a usable address")
    login = httpx.BasicAuth(url.username, url.password) if url.userinfo else None
    return url.copy_with(username=None, password=None), lambda: login


def _read(address: str) -> httpx.URL | None:
    """Parses an address; the client's error would quote it, also as the context of another, so it is dropped here."""
    try:
        return httpx.URL(address)
    except httpx.InvalidURL:
        return None


def _retry_after(headers: httpx.Headers) -> float | None:
    """The server's Retry-After in seconds; the date form is ignored in favour of growing pauses."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
