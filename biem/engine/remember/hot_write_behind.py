"""HotKV is filled after the acknowledgement (write-behind): it is a projection, and its round trip need not delay a
writer.

Texts written meanwhile are pushed together. Until then a new memory is found through the pending rows of Records, and a
process that dies before a push loses a copy, never a memory.
"""

import logging
import threading
from collections.abc import Sequence

from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.ports import HotEntry, HotStore

logger = logging.getLogger("biem.remember")

_LINGER_S = 0.01
"""A burst of writes becomes one push, and its writer does not compete for the interpreter meanwhile."""


class HotFeed:
    """Pushes texts to HotKV from its own thread, which starts with the first text."""

    def __init__(self, hot: HotStore, *, window: int) -> None:
        self._hot = hot
        self._window = window
        self._changed = threading.Condition()
        self._waiting: dict[Scope, list[HotEntry]] = {}
        self._pushing = False
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def push(self, scope: Scope, entries: Sequence[HotEntry]) -> None:
        """Queue texts, oldest first; never blocks on the server and never raises."""
        with self._changed:
            self._waiting.setdefault(scope, []).extend(entries)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="biem-hot", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def settle(self) -> None:
        """Return when all queued texts were pushed, or the server was found down; an erasure must wait for it."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting and not self._pushing)

    def close(self) -> None:
        """Push what is queued and stop; a second call does nothing."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed.is_set())
            self._closed.wait(_LINGER_S)
            with self._changed:
                batch, self._waiting = self._waiting, {}
                if not batch and self._closed.is_set():
                    return
                self._pushing = True
            for scope, entries in batch.items():
                try:
                    self._hot.push(scope, entries, self._window)
                except BiemError as error:  # pending rows are found in Records
                    logger.warning("HotKV not updated: %s", error)
                except Exception:  # the thread must survive any error of one push
                    logger.exception("HotKV not updated")
            with self._changed:
                self._pushing = False
                self._changed.notify_all()
