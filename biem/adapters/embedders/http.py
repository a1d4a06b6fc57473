"""Embedding servers: the OpenAI-compatible `/v1/embeddings` and Ollama's `/api/embed`.

Passages: 64 a call, four calls at once, retried with growing pauses within a total time. Queries: one try within two
seconds, because somebody waits for the reply. The key is sent and never shown.
"""

import math
import os
import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
import numpy as np

from biem.adapters.embedders.encoder import unit
from biem.errors import BiemError, ConfigError, EmbedderMismatch, EmbedderUnavailable, InvalidInput
from biem.ports import Role, Vectors

Api = Literal["openai", "ollama"]

BATCH = 64
CALLS_AT_ONCE = 4
QUERY_BUDGET_S = 2.0
_PASSAGE_BUDGET = 3
"""Passages of one call may take this many times the timeout, pauses included."""
_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 8.0
_MAX_TRIES = 6
_MAX_CHARS = 2048
"""Longer texts are cut: how the server counts tokens is unknown here, and they are at most about as many."""
_MAX_ANSWER_BYTES = 256 << 20
_DEFAULT_URL: dict[Api, str] = {"openai": "https://api.openai.com/v1", "ollama": "http://127.0.0.1:11434"}
_PATH: dict[Api, str] = {"openai": "/embeddings", "ollama": "/api/embed"}
_KEY_SETTING = "BIEM_EMBEDDER__API_KEY"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a model is served and how its texts are dressed. Its name does not hold the address: a server may move."""

    api: Api
    model: str
    url: str = field(default="", repr=False)
    query_prefix: str = ""
    passage_prefix: str = ""

    def __post_init__(self) -> None:
        if not self.model:
            raise ConfigError(f"the embedder {self.api} needs the name of a model; set BIEM_EMBEDDER__MODEL")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ConfigError("BIEM_EMBEDDER__URL must begin with http:// or https://")

    @property
    def name(self) -> str:
        """The id of the model behind it; prefixes change vectors, so they are part of it."""
        dress = f"|{self.query_prefix}|{self.passage_prefix}" if self.query_prefix or self.passage_prefix else ""
        return f"{self.api}:{self.model}{dress}"

    @property
    def address(self) -> str:
        """The URL that is called."""
        base = (self.url or _DEFAULT_URL[self.api]).rstrip("/")
        if self.api == "openai" and not base.endswith("/v1"):
            base += "/v1"
        return base + _PATH[self.api]

    @property
    def shown(self) -> str:
        """The address for messages, without user and password."""
        return str(httpx.URL(self.address).copy_with(username=None, password=None))


class _Again(Exception):
    """A failure that another try may mend. `after_s` is what the server asked for."""

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


class HttpEncoder:
    """A model behind an endpoint. The dimension is probed when it is built.

    `known_dim`, probed in an earlier run, lets a process start while the server is down.
    """

    languages = ("mul",)
    max_tokens = _MAX_CHARS

    def __init__(
        self, endpoint: Endpoint, *, api_key: str = "", timeout_s: float = 30.0, known_dim: int | None = None
    ) -> None:
        api_key = api_key.strip()
        if not (api_key.isascii() and api_key.isprintable()):  # the HTTP client would quote it in its error
            raise ConfigError(f"{_KEY_SETTING} has characters that no HTTP header can carry; copy the key again")
        self._endpoint = endpoint
        self._key: Callable[[], str] = lambda: api_key  # a closure: no repr, vars or log can show it
        self._timeout_s = timeout_s
        self._random = random.Random()  # jitter
        self._closed = threading.Event()
        self._connections: tuple[int, httpx.Client, ThreadPoolExecutor] | None = None
        self.name = endpoint.name
        self.dim = 0
        try:
            self.dim = int(
                self._call(["."], "query", budget_s=timeout_s, tries=1).shape[1]
            )  # it may load a model first
        except EmbedderUnavailable:
            if known_dim is None:
                self.close()
                raise
            self.dim = known_dim
        except BiemError:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"HttpEncoder({self.name!r}, {self._endpoint.shown!r})"

    def encode(self, texts: Sequence[str], role: Role) -> Vectors:
        """Unit vectors of the texts; one failed call fails them all, nothing partial is returned."""
        heads = [text[:_MAX_CHARS] for text in texts]
        batches = [heads[start : start + BATCH] for start in range(0, len(heads), BATCH)]
        if role == "query":
            budget_s, tries = min(QUERY_BUDGET_S, self._timeout_s), 1
        else:
            budget_s, tries = _PASSAGE_BUDGET * self._timeout_s, _MAX_TRIES
        if len(batches) == 1:
            answers = [self._call(batches[0], role, budget_s, tries)]
        else:
            _, pool = self._open()
            answers = list(pool.map(lambda batch: self._call(batch, role, budget_s, tries), batches))
        return unit(np.concatenate(answers), len(texts), self.dim, self.name)

    def close(self) -> None:
        """Close connections; pauses between tries end at once."""
        self._closed.set()
        connections, self._connections = self._connections, None
        if connections and connections[0] == os.getpid():
            connections[2].shutdown(wait=False, cancel_futures=True)
            connections[1].close()

    def _open(self) -> tuple[httpx.Client, ThreadPoolExecutor]:
        """This process' connections: sockets and threads of a parent process are not for its children."""
        found = self._connections
        if found is None or found[0] != os.getpid():
            if self._closed.is_set():
                raise ConfigError("this embedder was closed; build a new one")
            key = self._key()
            headers = {"Authorization": f"Bearer {key}"} if key else {}
            client = httpx.Client(headers=headers, limits=httpx.Limits(max_connections=4 * CALLS_AT_ONCE))
            found = (os.getpid(), client, ThreadPoolExecutor(CALLS_AT_ONCE, thread_name_prefix="biem-embed"))
            self._connections = found
        return found[1], found[2]

    def _call(self, texts: Sequence[str], role: Role, budget_s: float, tries: int) -> Vectors:
        """One batch, tried again while tries and time are left."""
        started = time.monotonic()
        deadline = started + budget_s
        for number in range(1, tries + 1):
            try:
                return self._try(texts, role, min(self._timeout_s, deadline - time.monotonic()))
            except _Again as error:
                pause = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (number - 1)) * self._random.uniform(0.5, 1.5)
                pause = max(pause, error.after_s or 0.0)
                if number == tries or time.monotonic() + pause >= deadline or self._closed.wait(pause):
                    raise EmbedderUnavailable(
                        f"the embedding server {self._endpoint.shown} failed {number} "
                        f"time{'s' if number > 1 else ''} in {time.monotonic() - started:.1f} s, last: {error}; "
                        f"memories wait as pending, start the server or check BIEM_EMBEDDER__URL"
                    ) from error.__cause__
        raise AssertionError("unreachable")

    def _try(self, texts: Sequence[str], role: Role, timeout_s: float) -> Vectors:
        prefix = self._endpoint.query_prefix if role == "query" else self._endpoint.passage_prefix
        body: dict[str, Any] = {"model": self._endpoint.model, "input": [prefix + text for text in texts]}
        if self._endpoint.api == "ollama":
            body["truncate"] = True
        else:
            body["encoding_format"] = "float"
        status, headers, content = self._post(body, timeout_s)
        if status == 429 or status >= 500 or status == 408:
            raise _Again(f"HTTP {status}{self._said(content)}", _retry_after(headers))
        if status in (401, 403):
            raise ConfigError(
                f"{self._endpoint.shown} refuses the key (HTTP {status}{self._said(content)}); set {_KEY_SETTING}"
            )
        if status in (400, 413, 422):
            raise InvalidInput(
                f"{self._endpoint.shown} refuses the texts (HTTP {status}{self._said(content)}); "
                f"if they are too long for the model, start the server with truncation on"
            )
        if status != 200:
            raise ConfigError(
                f"{self._endpoint.shown} answers HTTP {status}{self._said(content)}; "
                f"check BIEM_EMBEDDER__URL and BIEM_EMBEDDER__MODEL ({self._endpoint.model})"
            )
        return self._parse(content, len(texts))

    def _post(self, body: dict[str, Any], timeout_s: float) -> tuple[int, httpx.Headers, bytes]:
        """The answer, read until the time is over: a timeout of the client covers single reads only."""
        client, _ = self._open()
        deadline = time.monotonic() + timeout_s
        content = bytearray()
        try:
            with client.stream("POST", self._endpoint.address, json=body, timeout=max(timeout_s, 0.001)) as answer:
                for part in answer.iter_bytes():
                    content += part
                    if time.monotonic() > deadline:
                        raise _Again(f"no complete answer within {timeout_s:.1f} s")
                    if len(content) > _MAX_ANSWER_BYTES:
                        raise EmbedderUnavailable(f"{self._endpoint.shown} sends an endless answer; check the server")
                return answer.status_code, answer.headers, bytes(content)
        except httpx.TimeoutException as error:
            raise _Again(f"no answer within {timeout_s:.1f} s") from error
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise ConfigError(f"BIEM_EMBEDDER__URL is not a usable address: {self._endpoint.shown}") from error
        except (httpx.HTTPError, RuntimeError) as error:  # RuntimeError: the client was closed meanwhile
            raise _Again(f"{type(error).__name__}: {self._hide(str(error))}") from error

    def _parse(self, content: bytes, count: int) -> Vectors:
        name = self._endpoint.shown
        try:
            answer = httpx.Response(200, content=content).json()
            if self._endpoint.api == "ollama":
                rows = answer["embeddings"]
            else:
                ordered = sorted(answer["data"], key=lambda item: int(item["index"]))
                if [int(item["index"]) for item in ordered] != list(range(len(ordered))):
                    raise ValueError("indices are not 0 to n - 1")
                rows = [item["embedding"] for item in ordered]
            if len({len(row) for row in rows}) > 1:
                raise EmbedderMismatch(
                    f"{name} answers one call with vectors of different dimensions; check the server"
                )
            vectors = np.array(rows, dtype=np.float64)
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(
                f"{name} gives an answer that is not {self._endpoint.api}'s ({type(error).__name__}: "
                f"{self._hide(str(error))[:120]}); nothing was stored: check BIEM_EMBEDDER__URL and the provider"
            ) from error
        return unit(vectors, count, self.dim or (vectors.shape[1] if vectors.ndim == 2 else 0), self.name)

    def _said(self, content: bytes) -> str:
        words = " ".join(self._hide(content[:1000].decode(errors="replace")).split())
        return f": {words[:200]}" if words else ""

    def _hide(self, text: str) -> str:
        key = self._key()
        return text.replace(key, "***") if key else text


def _retry_after(headers: httpx.Headers) -> float | None:
    """Seconds the server asks to wait; the form with a date is left to the growing pauses."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None
