"""Saves headings in the background (write-behind): a route returns without waiting for a round trip to Redis.

This process sees its own saves at once, other processes when they have arrived. Saves in flight when a process dies are
lost, which is harmless.
"""

import logging
import threading
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from biem.domain.scope import Scope
from biem.errors import StoreUnavailable
from biem.ports.hot import Heading, Headings

logger = logging.getLogger("biem.inertia")

_SETTLE_S = 2.0
"""How long a read or removal of everything waits for saves in flight."""


class HeadingFeed:
    """The port `Headings` in front of another, which stays open. Thread-safe; `close` completes the saves in flight."""

    def __init__(self, headings: Headings) -> None:
        self._headings = headings
        self._unsaved: dict[tuple[str, str], Heading] = {}
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="biem-headings")

    def load(self, scope: Scope, conversation: str) -> Heading:
        """See the port."""
        with self._lock:
            unsaved = self._unsaved.get((scope.ns, conversation))
        return self._headings.load(scope, conversation) if unsaved is None else unsaved

    def save(self, scope: Scope, conversation: str, heading: Heading, *, most: int, ttl_s: float) -> None:
        """See the port; asynchronous, and an outage is logged."""
        key = (scope.ns, conversation)
        with self._lock:
            waiting = key in self._unsaved
            self._unsaved[key] = heading
        if waiting:  # a save in progress takes the newest value
            return
        try:
            self._thread.submit(self._write, scope, conversation, most, ttl_s)
        except RuntimeError as error:
            with self._lock:
                self._unsaved.pop(key, None)
            raise StoreUnavailable("this memory is closed") from error

    def all(self, scope: Scope) -> Mapping[str, Heading]:
        """See the port."""
        self._settle()
        return self._headings.all(scope)

    def forget(self, spaces: Collection[str]) -> None:
        """See the port: nothing saved before arrives afterwards."""
        self._settle()
        self._headings.forget(spaces)

    def count(self, spaces: Collection[str]) -> int:
        """See the port."""
        self._settle()
        return self._headings.count(spaces)

    def close(self) -> None:
        """See the port."""
        self._thread.shutdown(wait=True)

    def _write(self, scope: Scope, conversation: str, most: int, ttl_s: float) -> None:
        key = (scope.ns, conversation)
        while True:
            with self._lock:
                heading = self._unsaved.get(key)
            if heading is None:
                return
            try:
                self._headings.save(scope, conversation, heading, most=most, ttl_s=ttl_s)
            except StoreUnavailable as error:
                logger.warning("inertia is stored in this process only: %s", error)
                with self._lock:  # with a hanging server each of them would wait, and so would `close`
                    self._unsaved.clear()
                return
            with self._lock:
                if self._unsaved.get(key) is heading:
                    del self._unsaved[key]

    def _settle(self) -> None:
        """Wait for all saves so far: one thread runs them in order."""
        try:
            self._thread.submit(lambda: None).result(_SETTLE_S)
        except TimeoutError as error:
            raise StoreUnavailable(
                "headings cannot be saved in Redis; check that it runs and BIEM_REDIS_URL"
            ) from error
        except RuntimeError:  # closed: nothing is in flight
            return
