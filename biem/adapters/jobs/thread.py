"""JobQueue without a broker: a thread of this process runs the same jobs as a worker process."""

import atexit
import logging
import math
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

from biem.errors import BiemError
from biem.ports import Work

logger = logging.getLogger("biem.worker")


_LINGER_S = 0.05
"""A burst of writes becomes one batch, and its writer does not compete for the interpreter meanwhile: the batch
starts after this pause in writing …
"""
_LONGEST_LINGER_S = 0.25
"""… but no later than this."""
_AT_EXIT_S = 5.0
"""Wait at exit for the running batch, if the queue was not closed: interrupted in C++ code, the process would abort."""


class InProcessQueue:
    """Runs jobs on one daemon thread: at once when woken, else every `poll_s`, for rows without a wake-up.

    A failure is logged and retried after `backoff_s`, doubling up to `backoff_max_s`, until a round succeeds.
    """

    def __init__(
        self,
        *,
        poll_s: float,
        backoff_s: float,
        backoff_max_s: float,
        full: float = math.inf,
        around: Callable[[], AbstractContextManager[None]] = nullcontext,
        name: str = "biem-worker",
    ) -> None:
        """`full`: number of jobs that indicates a remaining backlog; the next round then begins at once.

        `around`: context manager entered for every round, on the working thread.
        """
        self._name = name
        self._full = full
        self._around = around
        self._poll_s = poll_s
        self._backoff_s = backoff_s
        self._backoff_max_s = backoff_max_s
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, work: Work) -> None:
        self._thread = threading.Thread(target=self._loop, args=(work,), name=self._name, daemon=True)
        self._thread.start()
        self._process = os.getpid()
        atexit.register(self._leave)

    def wake(self) -> None:
        self._wake.set()

    def _leave(self) -> None:
        if self._process == os.getpid():  # a forked child has no such thread
            self.stop(_AT_EXIT_S)

    def stop(self, timeout_s: float) -> None:
        atexit.unregister(self._leave)
        self._stop.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _loop(self, work: Work) -> None:
        pause = self._backoff_s
        done = 0
        while not self._stop.is_set():
            if done < self._full:
                self._linger()
            self._wake.clear()
            try:
                with self._around():
                    done = work()
            except Exception as error:  # the loop must survive any error of one round
                if not threading.main_thread().is_alive():  # the interpreter exits, its resources are gone
                    return
                known = isinstance(error, BiemError)
                logger.warning("background work failed, retrying in %.0f s: %s", pause, error, exc_info=not known)
                self._stop.wait(pause)
                pause = min(self._backoff_max_s, pause * 2)
                continue
            pause = self._backoff_s
            if not done and not self._stop.is_set():  # a wake-up may have been cleared above
                self._wake.wait(self._poll_s)

    def _linger(self) -> None:
        until = time.monotonic() + _LONGEST_LINGER_S
        while self._wake.is_set() and not self._stop.is_set() and time.monotonic() < until:
            self._wake.clear()
            self._stop.wait(_LINGER_S)


class LateQueue:
    """Starts another queue at the first wake-up: most processes never need that one's thread."""

    def __init__(self, queue: InProcessQueue) -> None:
        self._queue = queue
        self._work: Work | None = None
        self._lock = threading.Lock()

    def start(self, work: Work) -> None:
        with self._lock:
            self._work = work

    def wake(self) -> None:
        with self._lock:
            work, self._work = self._work, None
            if work is not None:
                self._queue.start(work)
        self._queue.wake()

    def stop(self, timeout_s: float) -> None:
        with self._lock:
            self._work = None
        self._queue.stop(timeout_s)


class NoQueue:
    """For processes without background work: others poll for their rows."""

    def start(self, work: Work) -> None:
        """Nothing to start."""

    def wake(self) -> None:
        """Nothing to wake."""

    def stop(self, timeout_s: float) -> None:
        """Nothing to stop."""
