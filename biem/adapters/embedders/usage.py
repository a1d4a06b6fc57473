"""Counts calls of an embedding server: their number may be limited by contract."""

import logging
import threading
import time
from collections.abc import Callable

from biem.errors import BiemError

logger = logging.getLogger("biem.embedder")

_KEPT_S = 5.0
"""How long calls are counted in this process alone."""
_NEARLY = 0.8
"""Share of the quota from which a warning is logged."""

Keep = Callable[[int, int], int]
"""Adds calls and texts to those of all processes; returns all calls so far."""


class CallCounter:
    """Calls of one server and the texts in them, kept every few seconds and at the end. Thread-safe; never raises."""

    def __init__(self, seconds: Callable[[], float] = time.monotonic) -> None:
        """`seconds` is a monotonic clock."""
        self._seconds = seconds
        self._lock = threading.Lock()
        self._calls = self._texts = 0
        self._keep: Keep | None = None
        self._quota = 0
        self._due = 0.0
        self._warned = False

    def begin(self, keep: Keep, quota: int) -> None:
        """Keep counts from now on, and warn when they come near `quota` calls; 0: there is none."""
        self._keep, self._quota = keep, quota

    def add(self, texts: int) -> None:
        """Count one call, whether it is answered or not."""
        with self._lock:
            self._calls += 1
            self._texts += texts
            due = self._seconds() >= self._due
        if due:
            self.flush()

    def flush(self) -> None:
        """Keep what was counted; after an outage it is kept later."""
        if self._keep is None:
            return
        with self._lock:
            calls, texts, self._calls, self._texts = self._calls, self._texts, 0, 0
            self._due = self._seconds() + _KEPT_S
        if not calls:
            return
        try:
            total = self._keep(calls, texts)
        except BiemError as error:
            logger.debug("calls of the embedding server are counted later: %s", error)
            with self._lock:
                self._calls += calls
                self._texts += texts
            return
        if self._quota and total >= _NEARLY * self._quota and not self._warned:
            self._warned = True
            logger.warning("%d of %d calls of the embedding server are used (encode.quota_calls)", total, self._quota)
