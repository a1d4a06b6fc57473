"""What diagnosing needs from the outside: to look at every store without changing it, and to mend a few known faults.

Nothing in an inspection changes anything. It raises `StoreUnavailable` as every port does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class KnownRows:
    """What the records know of an id. `status` is `gone` when there is no such memory.

    `queued`: some job about it waits or runs, so that the other stores may not agree with the records yet.
    """

    id: str
    ns: str
    status: str
    model: str
    queued: bool


@dataclass(frozen=True, slots=True)
class OutboxState:
    """The jobs there are; numbers above 100,000 are "at least". Jobs that wait by design are not due."""

    due: int
    due_for_s: float
    """For how long the oldest due job has been waiting."""
    leased: int
    """Jobs that a worker holds now."""
    dead: int
    dead_ids: tuple[str, ...]
    """Memories of some dead letters, oldest first."""
    refused: int = 0
    """Memories that several attempts did not index although others were; they are tried again, ever more seldom."""
    refused_ids: tuple[str, ...] = ()
    refused_for: str = ""
    """What the last attempt of the oldest of them met."""


@dataclass(frozen=True, slots=True)
class ScopeState:
    """What may be wrong in one scope; both are counted up to 1,000."""

    scope: Scope
    unseen_links: int
    """Links with a version above the scope's: no process is ever told of them."""
    foreign: Mapping[str, int]
    """Active memories in the collections of other models, by model."""


@dataclass(frozen=True, slots=True)
class Move:
    """A move of all memories to another embedder that is not complete."""

    model: str
    collection: str
    cursor: str
    """The id up to which memories were moved; empty for none."""
    running: bool


class MoveInspection(Protocol):
    """The moves to other embedders."""

    def moves(self) -> list[Move]:
        """Those that were begun and are not complete, the latest first."""


class RecordsInspection(Protocol):
    """The records, looked at by pages; statements are bounded whatever the number of memories."""

    def outbox(self, samples: int) -> OutboxState:
        """The jobs of all scopes."""

    def bounds(self) -> tuple[str, str] | None:
        """The lowest and the highest id of a memory; None when there is none."""

    def page(self, after: str, limit: int) -> list[KnownRows]:
        """The next memories by id, whatever their status."""

    def known(self, ids: Sequence[str]) -> Mapping[str, KnownRows]:
        """What is known of these ids now, of those that are no memories, too."""

    def scopes(self, after: str, limit: int, model: str) -> list[ScopeState]:
        """The next scopes by their hash, with what may be wrong in them."""


class Repairs(Protocol):
    """Mending by jobs and by rows, so that running workers and a crash do no harm. Safe to repeat."""

    def reencode(self, ids: Sequence[str]) -> int:
        """Have active memories indexed once more, each in place of a row that may be there; returns how many.

        Those that some job is about already are left to it.
        """

    def hurry(self) -> int:
        """Have refused memories tried now instead of at their next turn; returns how many."""

    def clear(self, rows: Mapping[str, str]) -> int:
        """Leave jobs that take these out of the index, given as ids with their scope's hash; returns how many jobs.

        Only what is archived or no memory at all at that moment.
        """

    def renumber(self, ns: str) -> int:
        """Make all links of a scope seen again: every process loads its graph anew; returns how many were unseen."""


class PlaceInspection(Protocol):
    """One server, as far as anybody can tell without our schema in it."""

    @property
    def name(self) -> str:
        """postgres, redis or milvus."""

    def reach(self) -> None:
        """Return when the server answers and lets us in; else `StoreUnavailable` or `ConfigError` say why not."""

    def now(self) -> datetime | None:
        """The server's clock; None where it tells nobody."""


class SchemaInspection(Protocol):
    """How far a database and this version are apart."""

    def missing(self) -> Sequence[str]:
        """The migrations of this version that are not applied, in order."""

    def later(self) -> Sequence[str]:
        """The applied migrations that this version does not know, in order."""


@dataclass(frozen=True, slots=True)
class Collection:
    """One collection of the vector index. `rows` is None when it could not be counted."""

    name: str
    dim: int
    lexical: bool
    rows: int | None


class IndexInspection(Protocol):
    """The vector index, all collections of ours."""

    def version(self) -> tuple[int, ...] | None:
        """Major and minor version of the server; None for the embedded one."""

    def collections(self) -> Sequence[Collection]:
        """Every collection of ours, of any model; one of somebody else whose name begins alike is none."""

    def between(self, collection: str, after: str, until: str, limit: int) -> Mapping[str, str]:
        """Ids above `after` up to `until` (empty: no end) with their scope's hash, at most `limit`, in no order."""

    def present(self, collection: str, ids: Sequence[str]) -> set[str]:
        """Which of these ids the collection has, with every write acknowledged so far."""

    def drop(self, collection: str) -> None:
        """Delete a collection; one that is not there is no error."""


class Projection(Protocol):
    """One kind of what Redis keeps for each scope: it can be dropped at any time, and fills again."""

    def spoilt(self, ns: str) -> str:
        """Why what is kept for a scope cannot be read; empty when it can, or nothing is kept. Changes nothing."""

    def drop(self, ns: str) -> None:
        """Remove all of it for a scope, whatever it is."""


class Disk(Protocol):
    """The disk under the embedded servers."""

    def space(self) -> tuple[int, int]:
        """Bytes free and bytes in all."""


class Workers(Protocol):
    """Worker processes elsewhere."""

    def alive(self) -> Sequence[str] | None:
        """Names of the workers that answered; None where nobody can be asked."""
