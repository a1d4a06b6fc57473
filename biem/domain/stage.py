"""How long a stage of the work takes, as percentiles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StageTime:
    """Durations of one stage, in milliseconds. `count` and `errors` are since the start, percentiles of the newest."""

    stage: str
    count: int
    errors: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    worst_ms: float


def stage_time(stage: str, durations_ms: Sequence[float], count: int, errors: int = 0) -> StageTime:
    """The percentiles of some durations; each is one of them, as nobody waited for a mean of two."""
    ordered = sorted(durations_ms)
    p50, p90, p99 = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.9, 0.99))
    return StageTime(stage, count, errors, p50, p90, p99, ordered[-1])
