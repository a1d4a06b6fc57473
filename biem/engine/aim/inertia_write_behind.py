"""Headings that are saved behind the caller: a route tells its nodes and waits for no round trip to Redis.

This process sees what it saved at once, other processes when it has arrived. What is still on its way when a process
dies is lost without harm, as the port says.
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
"""Who wants to see or remove everything waits so long for what is on its way."""


class HeadingFeed:
    """The port `Headings` in front of another, which stays open. Thread-safe; `close` finishes what is on its way."""

    def __init__(self, headings: Headings) -> None:
        self._headings = headings
        self._unsaved: dict[tuple[str, str], Heading] = {}
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="biem-headings")

    def load(self, scope: Scope, conversation: str) -> Heading:
        """As the port says."""
        with self._lock:
            unsaved = self._unsaved.get((scope.ns, conversation))
        return self._headings.load(scope, conversation) if unsaved is None else unsaved

    def save(self, scope: Scope, conversation: str, heading: Heading, *, most: int, ttl_s: float) -> None:
        """As the port says, but for when; an outage is told in the log."""
        key = (scope.ns, conversation)
        with self._lock:
            waiting = key in self._unsaved
            self._unsaved[key] = heading
        if waiting:  # who saves it takes the newest
            return
        try:
            self._thread.submit(self._write, scope, conversation, most, ttl_s)
        except RuntimeError as error:
            with self._lock:
                self._unsaved.pop(key, None)
            raise StoreUnavailable("this memory is closed") from error

    def all(self, scope: Scope) -> Mapping[str, Heading]:
        """As the port says."""
        self._settle()
        return self._headings.all(scope)

    def forget(self, spaces: Collection[str]) -> None:
        """As the port says: nothing saved before arrives afterwards."""
        self._settle()
        self._headings.forget(spaces)

    def count(self, spaces: Collection[str]) -> int:
        """As the port says."""
        self._settle()
        return self._headings.count(spaces)

    def close(self) -> None:
        """As the port says."""
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
                logger.warning("inertia is kept in this process only: %s", error)
                with self._lock:  # a server that hangs would make each of them wait, and whoever closes
                    self._unsaved.clear()
                return
            with self._lock:
                if self._unsaved.get(key) is heading:
                    del self._unsaved[key]

    def _settle(self) -> None:
        """Wait for everything saved so far: one thread saves it in order."""
        try:
            self._thread.submit(lambda: None).result(_SETTLE_S)
        except TimeoutError as error:
            raise StoreUnavailable("Redis takes no headings; check that it runs and BIEM_REDIS_URL") from error
        except RuntimeError:  # closed: nothing is on its way
            return
