"""Numbers of energy, of the three tiers, and of how long memories are kept."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EnergyPolicy:
    """Decay of BIEM B33."""

    decay_per_hour: float = 0.1
    """λ: half-life 6.93 hours."""
    boost: float = 0.1
    """What an access adds."""
    boost_cooldown_s: float = 60.0
    """An access sooner after the last boost is only counted, so that a loop cannot pump a memory; 0 is B verbatim."""
    feedback: float = 0.1
    """What feedback of ±1 adds or takes."""


@dataclass(frozen=True, slots=True)
class TierPolicy:
    """Which memories the canvas (L1) holds. All thresholds are energies."""

    max_nodes: int = 100
    """Per scope; beyond it the weakest leaves."""
    idle_s: float = 3_600.0
    """A memory not accessed for so long leaves."""
    enter: float = 0.5
    """A new memory enters from here."""
    promote: float = 0.7
    """A memory of L2 rises from here."""
    demote: float = 0.3
    """Below it a memory leaves."""
    minimum: float = 0.1
    """From here nothing is archived; whatever `demote` says, below it nothing stays in the canvas."""
    sweep_rows: int = 5_000
    """Most memories that one sweep moves out."""
    sweep_scopes: int = 200
    """Scopes whose canvas one sweep compares with the records; the next sweep goes on with others."""

    def __post_init__(self) -> None:
        if not 0 < self.minimum <= self.demote <= self.enter <= self.promote <= 1:
            raise ValueError("energies must be ordered: 0 < minimum <= demote <= enter <= promote <= 1")
        if min(self.max_nodes, self.sweep_rows, self.sweep_scopes) < 1 or self.idle_s <= 0:
            raise ValueError("max_nodes, sweep_rows, sweep_scopes and idle_s must be positive")


@dataclass(frozen=True, slots=True)
class RetentionPolicy:
    """How long an untouched memory stays, by importance, reason and use; then it is archived, never deleted."""

    noise_days: float = 3.0
    """Importance 1; between two whole importances the days are interpolated geometrically."""
    low_days: float = 14.0
    """Importance 2: AIMate's 14 days for what nobody marked."""
    normal_days: float = 90.0
    """Importance 3, so every chat message of normal importance."""
    high_days: float = 365.0
    """Importance 4. Importance 5 and the layer `core` stay for ever."""
    own_days: float = 365.0
    """At least so long stays a message of importance 3 or more in which a person speaks of themselves."""
    keep_lasting: bool = True
    """What a person says of health, safety, identity, relationships or as a standing order has no end."""
    assistant_factor: float = 1 / 3
    """What the assistant said stays this many times as long as the same from a person."""
    long_term_days: float = 90.0
    """At least so long stays what was promoted to the layer `long_term`."""
    access_factor: float = 2.0
    """Each access multiplies by this the span of what stays shorter than long-term memory, up to that one's."""
    reason_factor: float = 1.5
    """A reason that says something prolongs by this."""
    useful_factor: float = 2.0
    """Each time feedback called it useful adds this many times its span: twice useful stays for more than a year."""
    max_useful: int = 4
    """More praise than this changes nothing."""
    promote_accesses: int = 5
    """A short-term memory returned so often becomes long-term."""
    promote_useful: int = 2
    """Or called useful so often."""
    max_memories: int = 2_000_000
    """Per scope; beyond it the least valuable are archived."""
    keep_share: float = 0.95
    """How full archiving leaves a scope that was too full, so that it need not be measured again at once."""
    batch: int = 500
    """Rows judged in one transaction: their locks last milliseconds."""
    run_rows: int = 5_000
    """Rows one run judges or archives for capacity; the rest waits for the next run."""

    def __post_init__(self) -> None:
        if not 0 < self.noise_days <= self.low_days <= self.normal_days <= self.high_days:
            raise ValueError("days must be positive and rise with importance: noise, low, normal, high")
        if min(self.long_term_days, self.max_memories, self.batch, self.run_rows) <= 0 or not 0 < self.keep_share <= 1:
            raise ValueError("long_term_days, max_memories, batch and run_rows must be positive, keep_share at most 1")
        if self.own_days <= 0 or not 0 < self.assistant_factor <= 1:
            raise ValueError("own_days must be positive, assistant_factor above 0 and at most 1")
        if not 1 <= self.access_factor <= 10:
            raise ValueError("access_factor is a number from 1 to 10")
