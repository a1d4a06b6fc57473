"""Recent durations of each stage in this process: a telemetry handler that is cheap enough to be always attached.

It keeps the newest durations of every span by name, at most a thousand each, and sorts them on request.
"""

from collections import deque

from biem.domain.diagnosis import StageTime, stage_time
from biem.telemetry import Span

_KEPT = 1_000


class StageTimes:
    """Records spans. Thread-safe without a lock: appending to a deque is atomic, and counts may lag by one."""

    def __init__(self) -> None:
        self._newest: dict[str, deque[float]] = {}
        self._counts: dict[str, int] = {}
        self._errors: dict[str, int] = {}

    def __call__(self, span: Span) -> None:
        """Record one finished span."""
        newest = self._newest.get(span.name)
        if newest is None:
            newest = self._newest.setdefault(span.name, deque(maxlen=_KEPT))
        newest.append(span.duration_ms)
        self._counts[span.name] = self._counts.get(span.name, 0) + 1
        if span.error:
            self._errors[span.name] = self._errors.get(span.name, 0) + 1

    def table(self) -> list[StageTime]:
        """Every stage that ran, by name."""
        return [
            stage_time(name, list(newest), self._counts.get(name, 0), self._errors.get(name, 0))
            for name, newest in sorted(self._newest.copy().items())
        ]
