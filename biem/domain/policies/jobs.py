"""The tunable numbers of consolidation, feedback and the background jobs."""

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ConsolidationPolicy:
    """When memories become one, and what is distilled from those used together. Similarities are calibrated."""

    dedupe_similarity: float = 0.95
    """Facts this alike, of which one has all the words of the other in the same order, are one."""
    duplicate_confidence: float = 0.8
    """Or those of which a rule or a model is this sure that they say the same."""
    disagree_confidence: float = 0.5
    """Those of which a rule is this sure that they disagree are left to the handling of conflicts."""
    merge_similarity: float = 0.85
    """Long-term facts this alike become one text (requirements 7.2)."""
    merge_size: int = 5
    """Memories merged at once."""
    merge_chars: int = 1_000
    """A merged text stays concise; what would be longer is not merged."""
    crystal_similarity: float = 0.85
    """Memories of a cluster are linked by this (requirements 7.2)."""
    crystal_size: int = 5
    """The smallest cluster that becomes a fact."""
    crystal_most: int = 30
    """The largest; more memories of the same matter make a second fact."""
    crystal_chars: int = 400
    """Length of a fact."""
    frequent_accesses: int = 3
    """Frequently used is a memory returned so often (not below 3: fewer accesses wake no job) …"""
    frequent_useful: int = 1
    """… or called useful so often."""
    neighbours: int = 20
    """Nearest memories looked at for each one: the cost of a run does not grow with the scope."""
    batch: int = 200
    batches: int = 20
    """Memories looked at in one step, and steps in one run; the rest waits for the next run."""


@dataclass(frozen=True, slots=True)
class FeedbackPolicy:
    """What one turn may teach."""

    most: int = 50
    """Ids of one kind: the links between them grow with the square."""
    max_turn_chars: int = 256
    turn_days: float = 7.0
    """So long a repeated turn is recognised."""
    batch: int = 5_000
    """Names of turns forgotten in one run."""


@dataclass(frozen=True, slots=True)
class SleepPolicy:
    """How often each background job is due, in seconds; 0: only in `sleep` (requirements 7.2)."""

    sweep_s: float = 300.0
    build_s: float = 600.0
    forget_s: float = 1_000.0
    consolidate_s: float = 1_000.0
    """Concepts, duplicates, merging."""
    crystallise_s: float = 3_600.0
    lifecycle_s: float = 3_600.0
    links_s: float = 3_600.0
    """Weakening and pruning."""
    integrity_s: float = 86_400.0
    decisions_s: float = 10.0
    """Conflicts that wait for a model, and merges that a process left half-done."""
    tick_s: float = 1.0
    """How often an idle process looks whether anything is due."""
    task_limit_s: float = 600.0
    """A Celery task that takes longer is stopped; the next one goes on."""
    outbox_s: float = 15.0
    """How often Celery beat wakes encoding workers, for rows that nobody woke them for."""
    scopes_per_tick: int = 20
    """Scopes that one tick visits for each job that is due."""
    integrity_rows: int = 1_000
    """Faults mended in one run."""
    off: tuple[str, ...] = ()
    """Jobs that never run, by name: neither when they are due nor in `sleep`."""

    def __post_init__(self) -> None:
        unknown = set(self.off) - set(self._every())
        if unknown:
            raise ValueError(f"sleep.off names no job: {', '.join(sorted(unknown))}; jobs: {', '.join(self._every())}")
        for item in fields(self):
            value = getattr(self, item.name)
            least = 1 if isinstance(value, int) else 0
            if not isinstance(value, tuple) and not value >= least:  # true for NaN, too
                raise ValueError(f"sleep.{item.name} is at least {least}, not {value}")

    def periods(self) -> dict[str, float]:
        """Seconds between two runs, by the name of the job, in the order of a night; 0 for those that are off."""
        return {name: 0.0 if name in self.off else period_s for name, period_s in self._every().items()}

    def _every(self) -> dict[str, float]:
        return {
            "build": self.build_s,
            "concepts": self.consolidate_s,
            "dedupe": self.consolidate_s,
            "merge": self.consolidate_s,
            "crystallise": self.crystallise_s,
            "links": self.links_s,
            "forget": self.forget_s,
            "lifecycle": self.lifecycle_s,
            "sweep": self.sweep_s,
            "decisions": self.decisions_s,
            "turns": self.integrity_s,
            "integrity": self.integrity_s,
        }
