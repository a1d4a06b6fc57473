"""Background work in a caller's own process lets callers pass: one interpreter computes for one thread at a time.

A caller that waits for a server loses the interpreter and gets it back when the thread that took it lets go, after up
to five milliseconds (`sys.getswitchinterval`): at each of its round trips. So work of the background rests while
somebody waits for an answer, between its own small steps.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager

import numpy as np
from numpy.typing import NDArray

from biem.domain.conflict import Matter, Statement, Verdict
from biem.domain.fields import Analysis
from biem.ports import Analyzer, Embedder, EmbedderInfo, Role, Vector, Vectors
from biem.ports.contradiction import ContradictionRules

_STEP_S = 0.0002
"""Whoever has worked for less since its last rest goes on: to rest costs about half as much."""
_PAUSE_S = 0.003
"""A call that follows so soon belongs to the same burst, and the rest goes on."""
_BURST_S = 2.0
"""For so long a burst has the process to itself, but for a step of work that is under way …"""
_REGAINED = 0.1
"""… and again ten times as long afterwards."""
_REST = 4.0
"""Whoever calls on and on leaves a fifth of the time: a rest is then so many times as long as the work before it."""
_LONGEST_REST_S = 0.25
_PACED_S = 20.0
"""So long a job of another process rests in all: what then is left to do is much, and must come to an end."""


Calling = Callable[[], AbstractContextManager[None]]
"""Entered around what somebody waits for."""


class ForegroundPriority:
    """Who is called and who works in this process. Thread-safe."""

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        rest: Callable[[threading.Event, float], bool] = threading.Event.wait,
        nap: Callable[[float], None] = time.sleep,
    ) -> None:
        """`now`: seconds of a clock that never goes back. `rest`: waits for an event, for so many seconds at most, and
        says whether it came. `nap`: waits for so many seconds.
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
        self._worker = threading.local()

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Somebody waits for what is done inside; without effect on a thread that works."""
        if self._resumed() is not None:
            yield
            return
        with self._lock:
            self._calls += 1
            self._quiet.clear()
            self._called.set()
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                if not self._calls:
                    self._called.clear()
                    self._quiet.set()

    @contextmanager
    def working(self) -> Iterator[None]:
        """What this thread does inside can wait a little."""
        before = self._resumed()
        self._worker.resumed = self._now()
        try:
            yield
        finally:
            self._worker.resumed = before

    @contextmanager
    def pacing(self) -> Iterator[None]:
        """What this thread does inside can wait a little for callers in other processes, of whom nothing is known.

        They share the cores and the servers. So it rests between its steps whether somebody calls or not, for a while.
        """
        with self.working():
            self._worker.naps_s = _PACED_S
            try:
                yield
            finally:
                self._worker.naps_s = 0.0

    def give_way(self) -> None:
        """Rest until the calls have paused, but not for long; at once back on a thread that does not work.

        For moments at which this thread holds nothing that a caller may need.
        """
        if not self._calls:
            self._keep_pace()
            return
        resumed = self._resumed()
        if resumed is None:
            return
        began = self._now()
        if began - resumed < _STEP_S:
            return
        fair_s = min(_LONGEST_REST_S, _REST * (began - resumed))
        until = began + max(fair_s, self._left_of_a_burst(began))
        while (now := self._now()) < until:
            came = self._rest(self._quiet, until - now)
            if came and not self._rest(self._called, _PAUSE_S):
                break
        ended = self._now()
        with self._lock:
            self._left_s = max(0.0, self._left_s - max(0.0, ended - began - fair_s))
        self._worker.resumed = ended

    def _keep_pace(self) -> None:
        left_s: float = getattr(self._worker, "naps_s", 0.0)
        resumed = self._resumed()
        if left_s <= 0.0 or resumed is None:
            return
        worked_s = self._now() - resumed
        if worked_s >= _STEP_S:
            nap_s = min(left_s, _LONGEST_REST_S, _REST * worked_s)
            self._nap(nap_s)
            self._worker.naps_s = left_s - nap_s
            self._worker.resumed = self._now()

    def _left_of_a_burst(self, now: float) -> float:
        """Seconds that the callers of this moment have for themselves."""
        with self._lock:
            self._left_s = min(_BURST_S, self._left_s + _REGAINED * (now - self._counted_at))
            self._counted_at = now
            return self._left_s

    def _resumed(self) -> float | None:
        """When this thread began to work after its last rest; None where it does not work."""
        return getattr(self._worker, "resumed", None)


class YieldingRules:
    """The port `ContradictionRules`; gives way before each pair."""

    def __init__(self, inner: ContradictionRules, give_way: Callable[[], None]) -> None:
        self._inner = inner
        self._give_way = give_way

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        """As the port says."""
        self._give_way()
        return self._inner.compare(older, newer, similarity, least=least)

    def rivals(self, older: Statement, newer: Statement) -> bool:
        """As the port says; a caller waits for it."""
        return self._inner.rivals(older, newer)

    def matter(self, text: str) -> Matter:
        """As the port says; a caller waits for it."""
        return self._inner.matter(text)


class YieldingAnalyzer:
    """The port `Analyzer`; gives way before each text."""

    def __init__(self, inner: Analyzer, give_way: Callable[[], None]) -> None:
        self._inner = inner
        self._give_way = give_way

    def lexemes(self, text: str) -> list[str]:
        """As the port says."""
        self._give_way()
        return self._inner.lexemes(text)

    def analyze(self, text: str) -> Analysis:
        """As the port says."""
        self._give_way()
        return self._inner.analyze(text)

    def keywords(self, text: str, limit: int) -> list[str]:
        """As the port says."""
        self._give_way()
        return self._inner.keywords(text, limit)

    def related(self, question: str) -> frozenset[str]:
        """As the port says."""
        return self._inner.related(question)


class YieldingEmbedder:
    """The port `Embedder`; gives way before each call. Closing it closes nothing."""

    def __init__(self, inner: Embedder, give_way: Callable[[], None]) -> None:
        self._inner = inner
        self._give_way = give_way

    @property
    def info(self) -> EmbedderInfo:
        """As the port says."""
        return self._inner.info

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """As the port says."""
        self._give_way()
        return self._inner.embed(texts, role)

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """As the port says."""
        self._give_way()
        return self._inner.similarity(vector, others)

    def close(self) -> None:
        """Whoever made the embedder closes it."""
