"""What time and use do to a memory: energy, tiers, retention, feedback, and what was erased."""

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
    """A memory whose retention is due to be looked at. `energy` is that of the instant of the review."""

    id: str
    ns: str
    lived: Lived
    energy: float
    touched_at: datetime


@dataclass(frozen=True, slots=True)
class RetentionVerdict:
    """What becomes of an aged memory: archived for a reason, or kept in `layer` until it is due again."""

    layer: str
    archive: str | None = None
    due_at: datetime | None = None


class LifeRecords(Protocol):
    """The truth about tiers, layers and archives. Every method writes transitions only; ageing writes nothing."""

    def hot(self, ns: str, at: datetime, limit: int, ids: Sequence[str] | None = None) -> list[CanvasEntry]:
        """Memories of tier L1, hottest first, all or of these ids; without those that have no vector of this model."""

    def hot_ids(self, ns: str) -> set[str]:
        """The ids of tier L1."""

    def hot_scopes(self, after: str, limit: int) -> list[str]:
        """Scopes with memories of tier L1, in order, from the first after `after`."""

    def cool(self, ns: str, ids: Sequence[str]) -> int:
        """Tier L1 becomes L2 for these memories; returns how many changed."""

    def cool_all_but(self, ns: str, ids: Sequence[str], limit: int) -> int:
        """Tier L1 becomes L2 for at most `limit` other memories of the scope; returns how many changed."""

    def fade(self, at: datetime, limit: int) -> list[tuple[str, str]]:
        """Move at most `limit` memories that are too weak or idle from L1 to L2, in all scopes; their (ns, id)."""

    def review(
        self, scope: Scope | None, at: datetime, judge: Callable[[Aged], RetentionVerdict], limit: int
    ) -> list[tuple[Aged, RetentionVerdict]]:
        """Judge active memories that are due, of a scope or of all, and do as `judge` says in the same transaction.

        Nobody changes them meanwhile. Archived ones get an `archive` job, as with `archive`. Empty when none is due.
        """

    def archive(
        self, scope: Scope, ids: Sequence[str], reason: str, at: datetime, *, superseded_by: str | None = None
    ) -> list[str]:
        """Archive live memories of this scope, also of the layer core; returns those that were archived now.

        They stay in the records with the reason and are never an answer again; a job of the task `archive` is left for
        each, to take them out of the other stores.
        """

    def restore(self, scope: Scope, memory_id: str, at: datetime) -> bool:
        """Bring an archived memory back, pending, with a job that indexes it anew; False when there is none such."""

    def cleared(self, jobs: Sequence[Job]) -> None:
        """Remove finished `archive` jobs; memories restored meanwhile are encoded once more."""

    def crowded(self) -> list[Scope]:
        """Scopes that wrote so much since they were last counted that they may hold more than allowed."""

    def make_room(self, scope: Scope, at: datetime, limit: int) -> list[str]:
        """Archive the least valuable memories of a scope that holds too many, at most `limit`; returns their ids.

        Least valuable are those of least importance and use, and of equals the longest untouched. Never the layer core,
        and nothing whose energy is above the minimum. A scope with room is not counted again until that may be used up.
        """


class Tombstones(Protocol):
    """Ids of erased memories and the names of their scopes, never a word of what they said.

    An erasure leaves one for each memory, in its own transaction. Times are the database's.
    """

    def due(self, limit: int) -> list[tuple[str, str]]:
        """At most `limit` ids with their `ns`, of all scopes, longest due first: five minutes after the erasure.

        What is a memory again, because a backup was brought back, is not among them and is forgotten.
        """

    def looked(self, ids: Sequence[str], kept_s: float) -> None:
        """Nothing is left of these now: they are due again when the time since the erasure has doubled.

        Those erased more than `kept_s` ago are forgotten instead.
        """


class Feedbacks(Protocol):
    """What feedback says about memories, once a turn."""

    def take(self, scope: Scope, turn: str, marks: Mapping[str, float], at: datetime) -> list[Touched] | None:
        """Apply feedback in [−1, 1] by id: energy moves by its share of the policy's step, between 0 and 1.

        Praise (> 0) counts as one use; what was useful often enough becomes long-term, what became hot is of tier L1.
        Reaches the scopes that `scope` may read. None when the feedback of this turn was taken before: all in one
        transaction, so that a call repeated after any failure rewards once, also when the connection is lost.
        """

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        """Forget at most `limit` turns whose feedback was taken before an instant; returns how many."""
