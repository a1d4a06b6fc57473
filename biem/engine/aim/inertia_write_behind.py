"""Saves inertia in the background (write-behind): a route returns without waiting for a round trip to Redis.

This process sees its own saves at once, other processes when they have arrived. Saves in flight when a process dies are
lost, which is harmless.
"""

import logging
import threading
from collections.abc import Collection, Mapping
from concurrent.futures import ThreadPoolExecutor

from biem.domain.scope import Scope
from biem.errors import StoreUnavailable
from biem.ports.hot import InertiaState, InertiaStore

logger = logging.getLogger("biem.inertia")

_SETTLE_S = 2.0
"""How long a read or removal of everything waits for saves in flight."""


class InertiaWriteBehind:
    """The port `InertiaStore` in front of another, which stays open. Thread-safe; `close` completes the saves."""

    def __init__(self, inertia_store: InertiaStore) -> None:
        self._inertia_store = inertia_store
        self._unsaved: dict[tuple[str, str], InertiaState] = {}
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="biem-inertia")

    def load(self, scope: Scope, conversation: str) -> InertiaState:
        """See the port."""
        with self._lock:
            unsaved = self._unsaved.get((scope.ns, conversation))
        return self._inertia_store.load(scope, conversation) if unsaved is None else unsaved

    def save(self, scope: Scope, conversation: str, inertia: InertiaState, *, most: int, ttl_s: float) -> None:
        """See the port; asynchronous, and an outage is logged."""
        key = (scope.ns, conversation)
        with self._lock:
            waiting = key in self._unsaved
            self._unsaved[key] = inertia
        if waiting:  # a save in progress takes the newest value
            return
        try:
            self._thread.submit(self._write, scope, conversation, most, ttl_s)
        except RuntimeError as error:
            with self._lock:
                self._unsaved.pop(key, None)
            raise StoreUnavailable("this memory is closed") from error

    def all(self, scope: Scope) -> Mapping[str, InertiaState]:
        """See the port."""
        self._settle()
        return self._inertia_store.all(scope)

    def forget(self, spaces: Collection[str]) -> None:
        """See the port: nothing saved before arrives afterwards."""
        self._settle()
        self._inertia_store.forget(spaces)

    def count(self, spaces: Collection[str]) -> int:
        """See the port."""
        self._settle()
        return self._inertia_store.count(spaces)

    def close(self) -> None:
        """See the port."""
        self._thread.shutdown(wait=True)

    def _write(self, scope: Scope, conversation: str, most: int, ttl_s: float) -> None:
        key = (scope.ns, conversation)
        while True:
            with self._lock:
                inertia = self._unsaved.get(key)
            if inertia is None:
                return
            try:
                self._inertia_store.save(scope, conversation, inertia, most=most, ttl_s=ttl_s)
            except StoreUnavailable as error:
                logger.warning("inertia is stored in this process only: %s", error)
                with self._lock:  # with a hanging server each of them would wait, and so would `close`
                    self._unsaved.clear()
                return
            with self._lock:
                if self._unsaved.get(key) is inertia:
                    del self._unsaved[key]

    def _settle(self) -> None:
        """Wait for all saves so far: one thread runs them in order."""
        try:
            self._thread.submit(lambda: None).result(_SETTLE_S)
        except TimeoutError as error:
            raise StoreUnavailable("inertia cannot be saved in Redis; check that it runs and BIEM_REDIS_URL") from error
        except RuntimeError:  # closed: nothing is in flight
            return
