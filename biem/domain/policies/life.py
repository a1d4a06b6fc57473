"""Numbers of energy, of the three tiers, and of how long memories are kept."""

from dataclasses import dataclass
from typing import Annotated

from annotated_types import Interval

from biem.domain.policies.bounds import Days, Pause, Seconds, Size


@dataclass(frozen=True, slots=True)
class EnergyPolicy:
    """Decay of energy, as in BIEM."""

    decay_per_hour: Annotated[float, Interval(ge=0, le=1_000)] = 0.1
    """λ: half-life 6.93 hours."""
    boost: float = 0.1
    """Energy added by an access."""
    boost_cooldown_s: Pause = 60.0
    """Minimum time between two boosts; an earlier access is only counted, so that a loop cannot raise a memory. 0:
    as in BIEM.
    """
    feedback: float = 0.1
    """Energy added or subtracted by feedback of ±1."""


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """Which memories the canvas (L1) holds. All thresholds are energies."""

    max_nodes: Size = 100
    """Per scope; beyond it the weakest leaves."""
    idle_s: Seconds = 3_600.0
    """Idle time after which a memory leaves."""
    enter: float = 0.5
    """Minimum energy for a new memory to enter."""
    promote: float = 0.7
    """Minimum energy for a memory of L2 to enter."""
    demote: float = 0.3
    """A memory with less energy leaves."""
    minimum: float = 0.1
    """With at least this energy nothing is archived; with less nothing stays in the canvas, for any `demote`."""
    sweep_rows: Size = 5_000
    """Maximum memories that one sweep moves out."""
    sweep_scopes: Size = 200
    """Scopes whose canvas one sweep compares with the records; the next sweep continues with others."""

    def __post_init__(self) -> None:
        if not 0 < self.minimum <= self.demote <= self.enter <= self.promote <= 1:
            raise ValueError("energies must be ordered: 0 < minimum <= demote <= enter <= promote <= 1")


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How long an untouched memory is kept, by importance, reason and use; then it is archived, never deleted."""

    noise_days: Days = 3.0
    """Importance 1; between two integers the days are interpolated geometrically."""
    low_days: Days = 14.0
    """Importance 2: AIMate's 14 days for unmarked memories."""
    normal_days: Days = 90.0
    """Importance 3, the default of chat messages."""
    high_days: Days = 365.0
    """Importance 4. Importance 5 and the layer `core` are kept for ever."""
    stated_days: Days = 365.0
    """Minimum for a message of importance 3 or more of a person, unless it is a courtesy."""
    keep_lasting: bool = True
    """Whether a person's statements about health, safety, identity, relationships and standing orders never expire."""
    assistant_factor: Annotated[float, Interval(gt=0, le=1)] = 1 / 3
    """Factor for the assistant's messages, relative to the same from a person."""
    long_term_days: Days = 90.0
    """Minimum for a memory promoted to the layer `long_term`."""
    access_factor: Annotated[float, Interval(ge=1, le=10)] = 2.0
    """Factor by which each access extends a span shorter than long-term memory's, up to that one's."""
    reason_factor: float = 1.5
    """Factor of an informative reason."""
    useful_factor: float = 2.0
    """Multiple of its span that each useful feedback adds: a memory useful twice is kept for more than a year."""
    max_useful: int = 4
    """Useful feedbacks that count at most."""
    promote_accesses: Size = 5
    """Accesses that promote a short-term memory to long-term."""
    promote_useful: Size = 2
    """Useful feedbacks that do the same."""
    max_memories: Size = 2_000_000
    """Per scope; beyond it the least valuable are archived."""
    keep_share: Annotated[float, Interval(gt=0, le=1)] = 0.95
    """Share of the limit that archiving leaves of a full scope, so that it need not be counted again at once."""
    batch: Size = 500
    """Rows judged in one transaction: their locks last milliseconds."""
    run_rows: Size = 5_000
    """Maximum rows that one run judges, or archives for capacity; the rest waits for the next run."""

    def __post_init__(self) -> None:
        if not self.noise_days <= self.low_days <= self.normal_days <= self.high_days:
            raise ValueError("retention: days must rise with importance: noise_days, low_days, normal_days, high_days")
