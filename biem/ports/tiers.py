"""What tiers and forgetting need: the canvas of what is hot, and the records' side of a memory's life."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.retention import Lived
from biem.domain.scope import Scope
from biem.ports.embedding import Vector
from biem.ports.rows import Job, Touched


@dataclass(frozen=True, slots=True)
class CanvasEntry:
    """A memory in the canvas: a reference with what schedules it and its vector, never its text (X47)."""

    id: str
    energy_key: float
    accessed_at: datetime
    """Its last access, feedback or write."""
    conversation: str
    vector: Vector


class Canvas(Protocol):
    """L1: the hottest memories of each scope, at most `max_nodes`. A projection: rebuilt from records when lost."""

    def enter(self, ns: str, entries: Sequence[CanvasEntry], at: datetime, *, rebuilt: bool = False) -> list[str]:
        """Put memories in, or renew those that are there; returns the ids that are out now, also of the given.

        Out are those too weak or idle for too long at `at` and, beyond the limit, the weakest of the incoming
        conversation if that has its fair share (the limit through the number of conversations), else the weakest of the
        largest conversation: no conversation pushes another below its fair share. `rebuilt` says that these are all
        there are: the canvas is known again. One atomic step for up to 100 entries.
        """

    def renew(self, ns: str, touched: Sequence[Touched], at: datetime) -> list[str]:
        """Note new energies and accesses of memories that are there; returns the ids that are not."""

    def read(self, ns: str, at: datetime) -> list[CanvasEntry] | None:
        """What is there and alive at `at`, hottest first; None when the server lost it or another model filled it.

        One round trip. `conversation` is empty: nobody reads it.
        """

    def ids(self, ns: str) -> set[str] | None:
        """The ids that are there, alive or not; None as for `read`."""

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        """Remove these memories; what is not there is no error."""

    def forget_scope(self, ns: str) -> None:
        """Remove everything kept for the scope."""

    def count(self, ns: str, ids: Sequence[str] | None = None) -> int:
        """Memories of which anything is kept for the scope, or of these."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""


@dataclass(frozen=True, slots=True)
class Aged:
    """A memory whose retention is due to be looked at. `energy` is that of the instant of the review."""

    id: str
    ns: str
    lived: Lived
    energy: float
    touched_at: datetime


@dataclass(frozen=True, slots=True)
class Verdict:
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
        self, scope: Scope | None, at: datetime, judge: Callable[[Aged], Verdict], limit: int
    ) -> list[tuple[Aged, Verdict]]:
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
