"""Effects of time and use on memories: energy, tiers, retention, feedback, and tombstones of erased memories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.retention import Lived
from biem.domain.scope import Scope
from biem.ports.hot import CanvasEntry
from biem.ports.records import Job, Touched


@dataclass(frozen=True, slots=True)
class Aged:
    """A memory whose retention is due for review. `energy` is that of the instant of the review."""

    id: str
    ns: str
    lived: Lived
    energy: float
    touched_at: datetime


@dataclass(frozen=True, slots=True)
class RetentionVerdict:
    """The outcome of a review: archived for a reason, or kept in `layer` until it is due again."""

    layer: str
    archive: str | None = None
    due_at: datetime | None = None


class LifeRecords(Protocol):
    """The records of tiers, layers and archives. Every method writes transitions only; ageing writes nothing."""

    def hot(self, ns: str, at: datetime, limit: int, ids: Sequence[str] | None = None) -> list[CanvasEntry]:
        """Memories of tier L1, hottest first, all or of these ids; without those that have no vector of this model."""

    def hot_ids(self, ns: str) -> set[str]:
        """The ids of tier L1."""

    def hot_scopes(self, after: str, limit: int) -> list[str]:
        """Scopes with memories of tier L1, in order, starting after `after`."""

    def cool(self, ns: str, ids: Sequence[str]) -> int:
        """Move these memories from tier L1 to L2; returns how many changed."""

    def cool_all_but(self, ns: str, ids: Sequence[str], limit: int) -> int:
        """Move at most `limit` other memories of the scope from tier L1 to L2; returns how many changed."""

    def fade(self, at: datetime, limit: int) -> list[tuple[str, str]]:
        """Move at most `limit` memories that are too weak or idle from L1 to L2, in all scopes; returns their (ns,
        id).
        """

    def review(
        self, scope: Scope | None, at: datetime, judge: Callable[[Aged], RetentionVerdict], limit: int
    ) -> list[tuple[Aged, RetentionVerdict]]:
        """Judge active memories that are due, in one scope or in all, and apply the verdicts of `judge` in the same
        transaction.

        The memories are locked meanwhile. Archived ones get an `archive` job, as with `archive`. Empty when none is
        due.
        """

    def archive(
        self, scope: Scope, ids: Sequence[str], reason: str, at: datetime, *, superseded_by: str | None = None
    ) -> list[str]:
        """Archive live memories of this scope, also of the layer core; returns those that were archived now.

        They stay in the records with the reason and are never returned by a recall; each gets an `archive` job that
        removes it from the other stores.
        """

    def restore(self, scope: Scope, memory_id: str, at: datetime) -> bool:
        """Restore an archived or expired memory as pending, with a job that indexes it; False when there is none.

        An expiry that has passed is cleared. One that is to be erased at its expiry cannot be restored from then on.
        Raises `InvalidInput` for one in quarantine.
        """

    def quarantine(self, scope: Scope, memory_id: str, reason: str, at: datetime) -> bool:
        """Archive a memory, archived before or not, and all that was made of it; returns False when there is none, or
        it is in quarantine already.

        What it replaced is valid again, conflicts about it vanish, and facts, concepts and notes made of it are gone.
        """

    def release(self, scope: Scope, memory_id: str, trust: str | None, at: datetime) -> bool:
        """Restore a memory from quarantine, as `restore` does, with this trust level if one is given; returns False
        when it is not in quarantine.
        """

    def cleared(self, jobs: Sequence[Job]) -> None:
        """Remove finished `archive` jobs; memories restored meanwhile are encoded again."""

    def expire(self, scope: Scope | None, at: datetime, limit: int) -> list[str]:
        """Archive at most `limit` memories that have expired, in one scope or in all, for the reason `expired`.

        As `archive` does; returns their ids. Those locked by others, and those to be erased, are left out.
        """

    def prove(self, scope: Scope | None, at: datetime) -> int:
        """Make short-term memories with a category long-term that have expired, but were used or praised enough.

        Their expiry is gone then. Those that are to be erased at their expiry stay as they are. Returns how many.
        """

    def expired(self, scope: Scope | None, at: datetime, limit: int) -> list[tuple[Scope, str]]:
        """At most `limit` memories, also archived ones, that are to be erased because they have expired."""

    def crowded(self) -> list[Scope]:
        """Scopes that may hold more memories than allowed, by their writes since they were last counted."""

    def make_room(self, scope: Scope, at: datetime, limit: int) -> list[str]:
        """Archive the least valuable memories of a scope that holds too many, at most `limit`; returns their ids.

        Least valuable are those of least importance and use and, of equals, the longest untouched. Never the layer
        core, and nothing whose energy is above the minimum. A scope below its limit is not counted again until it may
        be full.
        """

    def limit_short_term(self, scope: Scope | None, at: datetime, limit: int) -> list[str]:
        """Archive at most `limit` short-term memories with a category, of scopes that hold more than allowed.

        Those of least importance and use go and, of equals, the longest untouched, for the reason `capacity`; returns
        their ids. Those locked by others wait for the next call.
        """


class Tombstones(Protocol):
    """Ids of erased memories and the `ns` of their scopes, never text.

    An erasure leaves one tombstone for each memory, in its own transaction. Times are the database's.
    """

    def due(self, limit: int) -> list[tuple[str, str]]:
        """At most `limit` ids with their `ns`, of all scopes, longest due first: five minutes after the erasure.

        Ids that exist again, because a backup was restored, are left out and their tombstones removed.
        """

    def looked(self, ids: Sequence[str], kept_s: float) -> None:
        """Record that nothing is left of these: they are due again when the time since the erasure has doubled.

        Tombstones older than `kept_s` are removed instead.
        """


class Feedbacks(Protocol):
    """Feedback on memories, applied once a turn."""

    def take(self, scope: Scope, turn: str, marks: Mapping[str, float], at: datetime) -> list[Touched] | None:
        """Apply feedback in [−1, 1] by id: energy moves by that share of the policy's step, within 0 and 1.

        Positive feedback counts as one use; a memory useful often enough becomes long-term, one that became hot enters
        tier L1. Applies to the scopes that `scope` may read. Returns None when the feedback of this turn was taken
        before: all in one transaction, so that a call repeated after any failure, including a lost connection, rewards
        once.
        """

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        """Forget at most `limit` turns whose feedback was taken before an instant; returns how many."""
