"""The records in PostgreSQL, which are the source of truth: writes, reads, the outbox of the workers, erasure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, Literal, Protocol

from biem.domain.fields import Analysis
from biem.domain.node import Draft, Node, new_id
from biem.domain.prompt.contents import Revised
from biem.domain.scope import Scope
from biem.ports.embedding import Vector, Vectors
from biem.ports.index import Filter


@dataclass(frozen=True, slots=True)
class Write:
    """One row to commit: the draft and what was derived from it before the transaction."""

    id: str
    draft: Draft
    lexemes: str
    energy: float
    fact_key: bytes | None
    """Identity of a fact without `ref`: the same text in the same scope is the same memory."""


@dataclass(frozen=True, slots=True)
class Written:
    """`id` is the memory's; `created` is false when it existed already, `restored` true when it had been archived."""

    id: str
    created: bool
    restored: bool = False


@dataclass(frozen=True, slots=True)
class Touched:
    """A memory after an access or feedback: its new energy key, and its tier now and before."""

    id: str
    ns: str
    energy_key: float
    accessed_at: datetime | None
    tier: str
    tier_before: str


@dataclass(frozen=True, slots=True)
class Job:
    """One leased job; the node is None when the memory was erased meanwhile.

    `attempts` counts the claims that the row is to blame for, including this one; `claims` counts all, including this
    one.
    """

    key: int
    task: Literal["encode", "purge", "archive", "leave", "revised", "reindex"]
    memory_id: str
    ns: str
    attempts: int
    claims: int
    lexemes: str = ""
    node: Node | None = None
    known: bool = False
    """Its conflicts, links and notes came with it: it is only indexed."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """The result of encoding one memory."""

    job: Job
    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Completion:
    """The outcome of `complete`: memories erased meanwhile, and memories that another worker completed first.

    `hot` are those that became active now, with tier L1; `revised` were revised while they were encoded, and wait for
    another job; so do those `moved` to another scope.
    """

    erased: tuple[str, ...]
    overtaken: tuple[str, ...]
    hot: tuple[str, ...] = ()
    revised: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A row that failed too often, with its last reason."""

    memory_id: str
    scope: Scope
    attempts: int
    reason: str
    dead_at: datetime


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory that is not indexed yet. `reason` is the error of its last attempt, empty when none failed."""

    memory_id: str
    claimed: bool
    """Whether a worker ever claimed it."""
    dead: bool
    """Whether it is a dead letter: it is not tried again before `retry_dead`."""
    reason: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """The result of one round trip: live nodes by id, their lexemes (space-separated), and originals where
    requested.
    """

    nodes: Mapping[str, Node]
    lexemes: Mapping[str, str]
    unindexed: frozenset[str]
    """Those missing from this embedder's collection: pending, or indexed by another model."""
    evidence: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Erasure:
    """What one erasure destroyed: keys, and row counts by table before it."""

    ids: tuple[str, ...]
    originals: tuple[bytes, ...]
    vectors: tuple[bytes, ...]
    whole: bool
    """Whether a whole scope was erased."""
    before: Mapping[str, int]
    receipt: str = field(default_factory=new_id)
    """The id of its receipt."""


class Records(Protocol):
    """L3: the source of truth. A memory exists from the moment its transaction committed here."""

    def remember(self, scope: Scope, writes: Sequence[Write]) -> list[Written]:
        """Commit memories, originals, write sequence and outbox in one transaction, in order.

        A `ref` or fact that exists already returns the existing id and changes nothing, except that an archived memory
        is restored; a fact that was superseded since becomes a new memory. The same `ref` with another text raises
        `RefConflict` and writes nothing. Safe to repeat with the same ids after a lost connection.
        """

    def candidates(
        self,
        scopes: Sequence[Scope],
        ids: Sequence[str],
        lexemes: Sequence[str],
        where: Filter,
        *,
        pending_limit: int,
        evidence: bool,
    ) -> Candidates:
        """The live state of `ids`, and the unindexed memories that share a word with `lexemes`, in one round trip.

        Of the unindexed ones at least the best `pending_limit` by words, and some for each word, however many are
        pending. Archived and erased memories and those of other scopes are never returned.
        """

    def unindexed(self, scopes: Sequence[Scope]) -> int:
        """How many memories of these scopes are not indexed yet, counted up to 100,000."""

    def text_search(
        self, scopes: Sequence[Scope], lexemes: Sequence[str], limit: int, where: Filter
    ) -> dict[str, float]:
        """Full-text search without the vector index: ids and scores > 0, best first."""

    def told(self, scopes: Sequence[Scope], span: tuple[datetime, datetime], where: Filter, limit: int) -> list[Node]:
        """Believed, valid memories that may tell of events in this span and meet the conditions, the newest first.

        Those said in the span or in the week after it, and of those said in the 120 days before it the ones that name a
        day or may call something off. Archived, erased and superseded memories and those of other scopes never.
        """

    def get(self, scope: Scope, memory_id: str) -> Node | None:
        """One memory of exactly this scope, of any status."""

    def known_refs(self, scope: Scope, refs: Sequence[str]) -> set[str]:
        """Those of these refs that name a memory of exactly this scope, of any status."""

    def revised(self, scopes: Sequence[Scope], names: Sequence[str]) -> list[Revised]:
        """Those of these ids and refs that name a live memory of these scopes that was revised."""

    def touch(self, scope: Scope, ids: Sequence[str], at: datetime) -> list[Touched]:
        """Count one access of each live memory, add the boost at most once a cooldown, and promote those that reach a
        threshold.

        An active memory whose energy reaches the threshold moves to tier L1; a short-term memory that was returned
        often enough becomes long-term.
        """

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[Job]:
        """Lease due jobs, oldest first, and count the attempt. Two callers never hold the same job at once.

        Returns either jobs never tried before or, with `retried`, a single one that was: a row that kills its worker
        must not take others down with it.
        """

    def renew(self, jobs: Sequence[Job], lease_s: float) -> list[Job]:
        """Extend the leases of these jobs; returns those still held, without those that others claimed meanwhile."""

    def complete(self, encoded: Sequence[Encoded]) -> Completion:
        """Make these memories active and their jobs done in one transaction. Safe to repeat.

        A memory that was revised since its job was claimed stays as it is.
        Those with enough energy enter tier L1, the others L2.
        """

    def hasten(self, jobs: Sequence[Job]) -> None:
        """These jobs are refused, and their worker writes no more to the index: a memory that was moved meanwhile need
        not wait for their leases before it is indexed in its new scope.
        """

    def done(self, jobs: Sequence[Job]) -> None:
        """Remove finished jobs that changed no memory."""

    def release(self, jobs: Sequence[Job], delay_s: float, reason: str, *, refund: bool) -> None:
        """Return jobs to the queue after a delay; `refund` does not count the attempt, because the row was not to
        blame.
        """

    def bury(self, jobs: Sequence[Job], reason: str) -> None:
        """Move jobs to the dead letters."""

    def dead(self, scope: Scope | None, limit: int) -> list[DeadLetter]:
        """Dead letters of one scope or of all scopes, oldest first."""

    def retry_dead(self, scope: Scope | None) -> int:
        """Requeue dead letters with their attempts reset to 0; returns how many."""

    def backlog(self, scope: Scope | None = None, *, due_only: bool = False) -> int:
        """Memories still to be encoded, without dead letters; `due_only` leaves out those that a worker holds."""

    def encode_due(self) -> bool:
        """Whether any memory is due to be encoded."""

    def waiting(self, ids: Sequence[str]) -> list[Waiting]:
        """Those of these memories that are still to be encoded, including dead letters, oldest job first."""

    def load_vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The persistent embedding cache: vectors by SHA-256 of the embedded text."""

    def save_vectors(
        self, model: str, vectors: Mapping[bytes, Vector], parts: Mapping[bytes, Vectors] = MappingProxyType({})
    ) -> None:
        """Add vectors of stored texts to the persistent embedding cache. Existing entries stay. `parts`: of texts with
        several statements also those of the statements, in their order.
        """

    def undivided(self, model: str, keys: Sequence[bytes]) -> list[bytes]:
        """Those of these texts of which the cache has a vector, and none of their statements."""

    def active(self, model: str) -> Iterator[list[tuple[Node, str, Vector | None]]]:
        """Every active memory with its lexemes and cached vector, in batches; the input of a reindex."""

    def mark_indexed(self, ids: Sequence[str]) -> None:
        """Note that this embedder's collection holds these active memories."""

    def erase(
        self, scope: Scope, memory_id: str | None, purge_after_s: float, *, expired_at: datetime | None = None
    ) -> Erasure:
        """Destroy one memory, or all of a scope, with everything derived from it, in one transaction.

        With `expired_at` nothing is destroyed unless the memory is to be erased because it had expired by then. A first
        receipt with the counts before is stored in the same transaction, until `save_receipt` replaces it.

        Originals and vectors that other memories share stay. Leaves a delayed `purge` job for each memory, so that a
        worker that was encoding it concurrently leaves nothing behind.
        """

    def remains(self, scope: Scope, erasure: Erasure) -> Mapping[str, int]:
        """Rows of an erased target that still exist, by table."""

    def save_receipt(self, scope: Scope, receipt: Mapping[str, Any]) -> None:
        """Store the proof of an erasure. It holds counts and ids, never text."""

    def stats(self, scope: Scope | None) -> Mapping[str, int]:
        """Counts by status, of the outbox, dead letters, embeddings and scopes."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
