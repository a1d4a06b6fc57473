"""The tunable numbers of consolidation, feedback and the background jobs."""

from dataclasses import dataclass, fields

from biem.domain.policies.bounds import Pause


@dataclass(frozen=True, slots=True)
class ConsolidationPolicy:
    """When memories are merged, and when a fact is distilled. Similarities are calibrated."""

    dedupe_similarity: float = 0.95
    """Facts this similar, one of which has all the words of the other in the same order, are duplicates."""
    duplicate_confidence: float = 0.8
    """So are those that a rule or a model calls duplicates with this confidence."""
    disagree_confidence: float = 0.5
    """Facts that a rule calls conflicting with this confidence are left to conflict handling."""
    merge_similarity: float = 0.85
    """Long-term facts this similar are merged into one text."""
    merge_size: int = 5
    """Memories merged at once."""
    merge_chars: int = 1_000
    """Maximum length of a merged text; longer ones are not merged."""
    crystal_similarity: float = 0.85
    """Memories of a cluster are linked by at least this similarity."""
    crystal_size: int = 5
    """The smallest cluster that becomes a fact."""
    crystal_most: int = 30
    """The largest cluster; more memories of the same subject make a second fact."""
    crystal_chars: int = 400
    """Length of a fact."""
    frequent_accesses: int = 3
    """A memory is frequently used when returned this often (not below 3: fewer accesses queue no job) …"""
    frequent_useful: int = 1
    """… or found useful this often."""
    neighbours: int = 20
    """Nearest memories examined for each one: the cost of a run does not grow with the scope."""
    batch: int = 200
    batches: int = 20
    """Memories of one batch, and batches of one run; the rest waits for the next run."""


@dataclass(frozen=True, slots=True)
class FeedbackPolicy:
    """Limits of the feedback of one turn."""

    most: int = 50
    """Maximum ids of one kind: the links between them grow with the square."""
    max_turn_chars: int = 256
    turn_days: float = 7.0
    """How long a repeated turn is recognised."""
    batch: int = 5_000
    """Turn ids forgotten in one run."""


@dataclass(frozen=True, slots=True)
class SleepPolicy:
    """The period of each background job, in seconds; 0: only in `sleep`."""

    sweep_s: Pause = 300.0
    build_s: Pause = 600.0
    forget_s: Pause = 1_000.0
    consolidate_s: Pause = 1_000.0
    """Concepts, duplicates, merging."""
    crystallise_s: Pause = 3_600.0
    """Distilling facts, and comparing facts with notes."""
    lifecycle_s: Pause = 3_600.0
    links_s: Pause = 3_600.0
    """Weakening and pruning."""
    integrity_s: Pause = 86_400.0
    decisions_s: Pause = 10.0
    """Judging conflicts that wait for a model, and finishing interrupted merges."""
    notes_s: Pause = 900.0
    """Scanning the folders of notes, at start, too."""
    mirror_s: float = 10.0
    """Syncing the folders that mirror memories as files; without any it does nothing."""
    sessions_s: float = 10.0
    """Trimming sessions that are full, and archiving closed ones."""
    tick_s: float = 1.0
    """How often an idle process checks for due jobs."""
    task_limit_s: Pause = 600.0
    """A Celery task that takes longer is stopped; the next one continues."""
    outbox_s: Pause = 15.0
    """How often Celery beat wakes encoding workers, for rows without a wake-up."""
    scopes_per_tick: int = 20
    """Scopes that one tick visits for each due job."""
    integrity_rows: int = 1_000
    """Faults repaired in one run."""
    off: tuple[str, ...] = ()
    """Jobs that never run, by name: neither when due nor in `sleep`."""

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
        """The period of each job in seconds, by name, in the order of a sleep; 0 for those that are off."""
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
            "notes": self.notes_s,
            "note_verdicts": self.crystallise_s,
            "mirror": self.mirror_s,
            "sessions": self.sessions_s,
        }
