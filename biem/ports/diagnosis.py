"""Ports of diagnosis: read-only inspection of every store, and repair of a few known faults.

Inspections change nothing. They raise `StoreUnavailable` as every port does.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class KnownRows:
    """The state of an id in the records. `status` is `gone` when there is no such memory.

    `queued`: a job about it waits or runs, so the other stores may not match the records yet.
    """

    id: str
    ns: str
    status: str
    model: str
    queued: bool


@dataclass(frozen=True, slots=True)
class OutboxState:
    """The state of the job queue; numbers above 100,000 are "at least". Delayed jobs are not due."""

    due: int
    due_for_s: float
    """For how long the oldest due job has been waiting."""
    leased: int
    """Jobs that a worker holds now."""
    dead: int
    dead_ids: tuple[str, ...]
    """Memories of some dead letters, oldest first."""
    refused: int = 0
    """Memories that several attempts did not index although others were; they are retried at growing intervals."""
    refused_ids: tuple[str, ...] = ()
    refused_for: str = ""
    """The last error of the oldest of them."""


@dataclass(frozen=True, slots=True)
class ScopeState:
    """Possible faults of one scope; both are counted up to 1,000."""

    scope: Scope
    unseen_links: int
    """Links with a version above the scope's: no process ever loads them."""
    foreign: Mapping[str, int]
    """Active memories in the collections of other models, by model."""


@dataclass(frozen=True, slots=True)
class Move:
    """An unfinished move of all memories to another embedder."""

    model: str
    collection: str
    cursor: str
    """The id up to which memories were moved; empty for none."""
    running: bool


@dataclass(frozen=True, slots=True)
class ScopeMove:
    """An unfinished move of memories to another scope. `left`: how many are still to be moved."""

    source: Scope
    target: Scope
    left: int


class MoveInspection(Protocol):
    """The moves to other embedders and to other scopes."""

    def moves(self) -> list[Move]:
        """Unfinished moves to another embedder, latest first."""

    def scope_moves(self, limit: int) -> list[ScopeMove]:
        """Unfinished moves to another scope, oldest first."""


class RecordsInspection(Protocol):
    """Paged inspection of the records; statements are bounded for any number of memories."""

    def outbox(self, samples: int) -> OutboxState:
        """The jobs of all scopes."""

    def bounds(self) -> tuple[str, str] | None:
        """The lowest and the highest id of a memory; None when there is none."""

    def page(self, after: str, limit: int) -> list[KnownRows]:
        """The next memories by id, of any status."""

    def known(self, ids: Sequence[str]) -> Mapping[str, KnownRows]:
        """The state of these ids now, including ids that are no memories."""

    def scopes(self, after: str, limit: int, model: str) -> list[ScopeState]:
        """The next scopes by their hash, with their possible faults."""


class Repairs(Protocol):
    """Repairs by jobs and by rows, safe while workers run and after a crash. Safe to repeat."""

    def reencode(self, ids: Sequence[str]) -> int:
        """Queue active memories for indexing, each in place of an existing row; returns how many.

        Memories that already have a job are left to it.
        """

    def hurry(self) -> int:
        """Make refused memories due now instead of at their next retry; returns how many."""

    def clear(self, rows: Mapping[str, str]) -> int:
        """Queue jobs that remove these rows, ids with their scope's hash, from the index; returns how many jobs.

        Only rows of memories that are archived or do not exist at that moment.
        """

    def renumber(self, ns: str) -> int:
        """Renumber all links of a scope so that every process reloads its graph; returns how many were unseen."""


class PlaceInspection(Protocol):
    """One server, inspected without our schema."""

    @property
    def name(self) -> str:
        """postgres, redis or milvus."""

    def reach(self) -> None:
        """Return when the server answers and accepts our credentials; else raise `StoreUnavailable` or
        `ConfigError`.
        """

    def now(self) -> datetime | None:
        """The server's clock; None where it does not report one."""


class SchemaInspection(Protocol):
    """Differences between a database's schema and this version."""

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
    """The vector index: all collections of this system."""

    def version(self) -> tuple[int, ...] | None:
        """Major and minor version of the server; None for the embedded one."""

    def collections(self) -> Sequence[Collection]:
        """Our collections, of any model; a foreign collection with a similar name is left out."""

    def between(self, collection: str, after: str, until: str, limit: int) -> Mapping[str, str]:
        """Ids above `after` up to `until` (empty: no end) with their scope's hash, at most `limit`, unordered."""

    def present(self, collection: str, ids: Sequence[str]) -> set[str]:
        """Those of these ids that the collection has, with every write acknowledged so far."""

    def drop(self, collection: str) -> None:
        """Delete a collection; a missing one is no error."""


class Projection(Protocol):
    """One kind of per-scope data in Redis: it can be dropped at any time, and is rebuilt."""

    def spoilt(self, ns: str) -> str:
        """Why a scope's data cannot be read; empty when it can, or when there is none. Changes nothing."""

    def drop(self, ns: str) -> None:
        """Remove all of it for a scope, in any state."""


class Disk(Protocol):
    """The disk under the embedded servers."""

    def space(self) -> tuple[int, int]:
        """Free bytes and total bytes."""


class Workers(Protocol):
    """Worker processes on any machine."""

    def alive(self) -> Sequence[str] | None:
        """Names of the workers that answered; None where workers cannot be queried."""
