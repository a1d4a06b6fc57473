"""Findings of a diagnosis, health of the servers, and durations of stages."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""An error costs answers or will lose work, a warning may become one, a note is information."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault. `id` is stable, for scripts; `samples` are some of the affected ids."""

    id: str
    severity: Severity
    what: str
    mend: str
    """How to repair it, as a sentence or a command."""
    count: int = 1
    samples: tuple[str, ...] = ()
    mended: str = ""
    """What was repaired; empty when nothing was, or when the repair was not enough."""
    blocks: str = ""
    """The server that cannot be inspected until this is repaired: postgres, redis or milvus."""

    @property
    def is_open(self) -> bool:
        """Whether it still needs action."""
        return self.severity != "note" and not self.mended

    def evolve(self, **changes: object) -> "Finding":
        """A copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All findings of one run, worst first."""

    findings: tuple[Finding, ...]
    looked_at: Mapping[str, int]
    """What was examined: counts of memories, rows of the index, scopes."""
    whole: bool
    """Whether all memories were examined, and not a sample."""

    @property
    def healthy(self) -> bool:
        """Whether no finding is open."""
        return not any(finding.is_open for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Depth:
    """How much to examine: a sample, or (`full`) every memory after the id `after`.

    `on_progress` is called after each page with the last examined id and the number of memories: an interrupted full
    run resumes from there.
    """

    full: bool = False
    after: str = ""
    on_progress: Callable[[str, int], None] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Thresholds of the findings, and the size of the examination."""

    lag_s: float = 60.0
    """Maximum delay of a due job in seconds: the length of a lease; encoding takes milliseconds."""
    skew_s: float = 5.0
    """Maximum difference of two clocks in seconds: less than a lease, more than a slow answer."""
    free_share: float = 0.05
    free_bytes: int = 1_000_000_000
    """Below either, the disk of the embedded servers is nearly full."""
    settle_s: float = 1.0
    """Seconds after which a transient difference has settled."""
    page: int = 2_000
    """Memories compared at once."""
    sample_pages: int = 5
    """Pages of a sample: the first, the last, and others in between."""
    scopes: int = 200
    """Scopes of a sample."""
    samples: int = 5
    """Ids listed with a finding."""
    rounds: int = 500
    """Maximum batches that a repair runs."""


@dataclass(slots=True)
class Tally:
    """Counts faults and keeps a few ids while a check pages through rows."""

    most: int
    count: int = 0
    samples: list[str] = field(default_factory=list)

    def add(self, ids: list[str]) -> None:
        """Count more faults."""
        self.count += len(ids)
        self.samples += ids[: self.most - len(self.samples)]


NEEDED = "postgres"
"""Required to remember and recall; the other servers hold projections, and recall works without them."""


@dataclass(frozen=True, slots=True)
class Health:
    """The status of each server: an empty text when it answers, else why it cannot be used."""

    servers: Mapping[str, str]
    schema: str = ""
    """Why this version cannot use the database's schema; empty when it can, or when the schema could not be read."""

    @property
    def ready(self) -> bool:
        """Whether memories can be written and recalled now."""
        return not self.servers[NEEDED] and not self.schema

    @property
    def degraded(self) -> tuple[str, ...]:
        """The servers that recall has to work without."""
        return tuple(name for name, why in self.servers.items() if why and name != NEEDED)


@dataclass(frozen=True, slots=True)
class StageTime:
    """Durations of one stage, in milliseconds. `count` and `errors` are since the start, percentiles of the newest
    values.
    """

    stage: str
    count: int
    errors: int
    p50_ms: float
    p90_ms: float
    p99_ms: float
    worst_ms: float


def stage_time(stage: str, durations_ms: Sequence[float], count: int, errors: int = 0) -> StageTime:
    """The percentiles of some durations; each is a measured value, never a mean of two."""
    ordered = sorted(durations_ms)
    p50, p90, p99 = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.5, 0.9, 0.99))
    return StageTime(stage, count, errors, p50, p90, p99, ordered[-1])
