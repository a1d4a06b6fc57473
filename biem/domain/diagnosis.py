"""Findings of a diagnosis, health as a probe asks for it, and times of stages."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Severity = Literal["error", "warning", "note"]
"""An error costs answers or will lose work, a warning may come to that, a note is worth knowing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of fault. `id` is stable, for scripts; `samples` are some of the ids it is about."""

    id: str
    severity: Severity
    what: str
    mend: str
    """What to do about it, as a sentence or a command."""
    count: int = 1
    samples: tuple[str, ...] = ()
    mended: str = ""
    """What was done about it; empty when nothing was, or when it was not enough."""
    blocks: str = ""
    """The server that cannot be looked into until this is mended: postgres, redis or milvus."""

    @property
    def is_open(self) -> bool:
        """Whether somebody still has to do something."""
        return self.severity != "note" and not self.mended

    def evolve(self, **changes: object) -> "Finding":
        """A copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Everything one look found, worst first."""

    findings: tuple[Finding, ...]
    looked_at: Mapping[str, int]
    """How much was looked at: memories, rows of the index, scopes."""
    whole: bool
    """Whether all memories were looked at, and not a sample."""

    @property
    def healthy(self) -> bool:
        """Whether nothing is left to be done."""
        return not any(finding.is_open for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Depth:
    """How far to look: a sample, or (`full`) every memory after the id `after`.

    `on_progress` hears after each page the last id looked at and how many memories that were: a full look that was
    broken off goes on from there.
    """

    full: bool = False
    after: str = ""
    on_progress: Callable[[str, int], None] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """From where on something is a fault, and how much is looked at."""

    lag_s: float = 60.0
    """Seconds that a due job may wait: a lease lasts as long, and encoding takes milliseconds."""
    skew_s: float = 5.0
    """Seconds by which two clocks may differ: less than a lease, more than a slow answer."""
    free_share: float = 0.05
    free_bytes: int = 1_000_000_000
    """Below either, the disk of the embedded servers is nearly full."""
    settle_s: float = 1.0
    """Seconds after which what only moved while it was looked at has settled."""
    page: int = 2_000
    """Memories compared at once."""
    sample_pages: int = 5
    """Pages of a sample: the first, the last, and others in between."""
    scopes: int = 200
    """Scopes of a sample."""
    samples: int = 5
    """Ids told with a finding."""
    rounds: int = 500
    """Batches that mending works off by itself."""


@dataclass(slots=True)
class Tally:
    """Counts and keeps a few ids while a check goes through its pages."""

    most: int
    count: int = 0
    samples: list[str] = field(default_factory=list)

    def add(self, ids: list[str]) -> None:
        """Note some more faults."""
        self.count += len(ids)
        self.samples += ids[: self.most - len(self.samples)]


NEEDED = "postgres"
"""Without it nothing can be remembered or recalled; the others hold copies, and recall goes on without them."""


@dataclass(frozen=True, slots=True)
class Health:
    """What each server said: an empty text when it answers, else why it cannot be used."""

    servers: Mapping[str, str]
    schema: str = ""
    """Why the database's schema is not one that this version can use; empty when it is, or could not be looked at."""

    @property
    def ready(self) -> bool:
        """Whether memories can be written and recalled now."""
        return not self.servers[NEEDED] and not self.schema

    @property
    def degraded(self) -> tuple[str, ...]:
        """The servers that recall has to do without."""
        return tuple(name for name, why in self.servers.items() if why and name != NEEDED)


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
