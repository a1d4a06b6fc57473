"""Foreground priority: background work in a caller's process yields, because one interpreter runs one thread at a time.

A caller that waits for a server releases the interpreter and gets it back up to five milliseconds
(`sys.getswitchinterval`) late, at each of its round trips. So background work pauses between its small steps while a
foreground call is active.
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np
from numpy.typing import NDArray

from biem.domain.conflict import Matter, Statement, Verdict
from biem.domain.fields import Analysis
from biem.ports import Analyzer, Embedder, EmbedderInfo, Role, Vector, Vectors
from biem.ports.contradiction import ContradictionRules

_STEP_S = 0.0002
"""A step shorter than this does not yield: yielding costs about half as much."""
_PAUSE_S = 0.003
"""A call that follows within this time belongs to the same burst, and the pause continues."""
_BURST_S = 2.0
"""For this long a burst has the process to itself, except for a step already under way …"""
_REGAINED = 0.1
"""… and regains this share of the time that passes."""
_REST = 4.0
"""During continuous calls background work gets a fifth of the time: a pause lasts this many times as long as the
step before it.
"""
_LONGEST_REST_S = 0.25
_AFTER_EACH = 0.33
"""Unhurried work takes this share of the gap between two calls, supposed to be as long as the one before, …"""
_WIDE_S = 0.005
"""… if that was at least so long, …"""
_OVER_S = 0.1
"""… and all of the time once no call came for this long."""
_PACED_S = 20.0
"""Maximum total pause of a job in a worker process, so that a long job completes."""


Calling = Callable[[], AbstractContextManager[None]]
"""Entered around a foreground call."""


class ForegroundPriority:
    """Tracks foreground calls and background work in this process. Thread-safe."""

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        rest: Callable[[threading.Event, float], bool] = threading.Event.wait,
        nap: Callable[[float], None] = time.sleep,
    ) -> None:
        """`now`: seconds of a monotonic clock. `rest`: waits for an event, for at most so many seconds, and returns
        whether it was set. `nap`: waits for a number of seconds.
        """
        self._now = now
        self._rest = rest
        self._nap = nap
        self._lock = threading.Lock()
        self._calls = 0
        self._called = threading.Event()
        self._quiet = threading.Event()
        self._quiet.set()
        self._left_s, self._counted_at = _BURST_S, now()
        self._ended_at, self._gap_s = self._counted_at - _OVER_S, _OVER_S
        """When the last call ended, and how long none was active before it."""
        self._worker = threading.local()

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Marks a foreground call; background work pauses while one is active. No effect on a background thread."""
        if self._working_since() is not None:
            yield
            return
        with self._lock:
            if not self._calls:
                self._gap_s = self._now() - self._ended_at
            self._calls += 1
            self._quiet.clear()
            self._called.set()
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    self._ended_at = self._now()
                    self._called.clear()
                    self._quiet.set()

    @contextmanager
    def working(self, *, unhurried: bool = False) -> Iterator[None]:
        """Marks this thread's work inside as background work. `unhurried`: while calls follow each other, it is done in
        the first part of the gaps between them, so that the next call does not meet it.
        """
        before = self._working_since(), getattr(self._worker, "unhurried", False)
        self._worker.resumed, self._worker.unhurried = self._now(), unhurried
        try:
            yield
        finally:
            self._worker.resumed, self._worker.unhurried = before

    @contextmanager
    def pacing(self) -> Iterator[None]:
        """Marks background work that pauses for callers in other processes, whose calls are not visible.

        They share the cores and the servers. So it pauses between its steps in any case, for a limited time.
        """
        with self.working():
            self._worker.naps_s = _PACED_S
            try:
                yield
            finally:
                self._worker.naps_s = 0.0

    def give_way(self) -> None:
        """Pause until foreground calls have paused, for a limited time; returns at once on a foreground thread.

        To be called while this thread holds no lock that a caller may need.
        """
        if not self._calls and not self._waited_for_the_next():
            self._keep_pace()
            return
        resumed = self._working_since()
        if resumed is None:
            return
        began = self._now()
        if began - resumed < _STEP_S:
            return
        fair_s = min(_LONGEST_REST_S, _REST * (began - resumed))
        until = began + max(fair_s, self._burst_time_left(began))
        while (now := self._now()) < until:
            came = self._rest(self._quiet, until - now)
            if came and (self._fits_between() or not self._rest(self._called, _PAUSE_S)):
                break
        ended = self._now()
        with self._lock:
            self._left_s = max(0.0, self._left_s - max(0.0, ended - began - fair_s))
        self._worker.resumed = ended

    def _waited_for_the_next(self) -> bool:
        """Whether unhurried work waited for the next call, having had its part of the gap before it; not for long."""
        if not self._fits_between():
            return False
        now = self._now()
        since_s = now - self._ended_at
        if not self._gap_s * _AFTER_EACH < since_s < _OVER_S:
            return False
        came = self._rest(self._called, _OVER_S - since_s)
        self._worker.resumed += self._now() - now
        return came

    def _fits_between(self) -> bool:
        """Whether this is unhurried work, and calls leave such gaps that a step fits into them."""
        return self._gap_s >= _WIDE_S and getattr(self._worker, "unhurried", False)

    def _keep_pace(self) -> None:
        left_s: float = getattr(self._worker, "naps_s", 0.0)
        resumed = self._working_since()
        if left_s <= 0.0 or resumed is None:
            return
        worked_s = self._now() - resumed
        if worked_s >= _STEP_S:
            nap_s = min(left_s, _LONGEST_REST_S, _REST * worked_s)
            self._nap(nap_s)
            self._worker.naps_s = left_s - nap_s
            self._worker.resumed = self._now()

    def _burst_time_left(self, now: float) -> float:
        """Seconds that the current burst still has for itself."""
        with self._lock:
            self._left_s = min(_BURST_S, self._left_s + _REGAINED * (now - self._counted_at))
            self._counted_at = now
            return self._left_s

    def _working_since(self) -> float | None:
        """When this thread resumed work after its last pause; None on a foreground thread."""
        return getattr(self._worker, "resumed", None)


class YieldingRules:
    """The port `ContradictionRules`; yields before each pair."""

    def __init__(self, inner: ContradictionRules, give_way: Callable[[], None]) -> None:
        self._inner = inner
        self._give_way = give_way

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        """See the port."""
        self._give_way()
        return self._inner.compare(older, newer, similarity, least=least)

    def ending(self, older: Statement, newer: Statement) -> Verdict | None:
        """See the port."""
        self._give_way()
        return self._inner.ending(older, newer)

    def claims(self, statement: Statement) -> Sequence[str]:
        """See the port."""
        return self._inner.claims(statement)

    def rivals(self, older: Statement, newer: Statement) -> bool:
        """See the port; called in the foreground."""
        return self._inner.rivals(older, newer)

    def matter(self, text: str) -> Matter:
        """See the port; called in the foreground."""
        return self._inner.matter(text)


class YieldingAnalyzer:
    """The port `Analyzer`; yields before each text."""

    def __init__(self, inner: Analyzer, give_way: Callable[[], None]) -> None:
        self._inner = inner
        self._give_way = give_way

    def lexemes(self, text: str) -> list[str]:
        """See the port."""
        self._give_way()
        return self._inner.lexemes(text)

    def wording(self, text: str) -> list[str]:
        """See the port."""
        self._give_way()
        return self._inner.wording(text)

    def analyze(self, text: str) -> Analysis:
        """See the port."""
        self._give_way()
        return self._inner.analyze(text)

    def keywords(self, text: str, limit: int) -> list[str]:
        """See the port."""
        self._give_way()
        return self._inner.keywords(text, limit)

    def related(self, question: str) -> frozenset[str]:
        """See the port."""
        return self._inner.related(question)

    def english(self, words: Iterable[str]) -> frozenset[str]:
        """See the port."""
        return self._inner.english(words)


class YieldingEmbedder:
    """The port `Embedder`; yields before each call. Closing it closes nothing."""

    def __init__(self, inner: Embedder, give_way: Callable[[], None]) -> None:
        self._inner = inner
        self._give_way = give_way

    @property
    def info(self) -> EmbedderInfo:
        """See the port."""
        return self._inner.info

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """See the port."""
        self._give_way()
        return self._inner.embed(texts, role)

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """See the port."""
        self._give_way()
        return self._inner.similarity(vector, others)

    def close(self) -> None:
        """No effect: the creator of the embedder closes it."""
