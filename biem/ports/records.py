"""The records in PostgreSQL, which are the truth: what is written, read, claimed by workers and erased."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from biem.domain.fields import Analysis
from biem.domain.node import Draft, Node
from biem.domain.scope import Scope
from biem.ports.embedding import Vector
from biem.ports.index import Filter


@dataclass(frozen=True, slots=True)
class Write:
    """One row to acknowledge: the draft and what was derived from it before the transaction."""

    id: str
    draft: Draft
    lexemes: str
    energy: float
    fact_key: bytes | None
    """Identity of a fact without `ref`: the same text in the same scope is the same memory."""


@dataclass(frozen=True, slots=True)
class Written:
    """`id` is the memory's; `created` is false when it was there already, `restored` true when it had been archived."""

    id: str
    created: bool
    restored: bool = False


@dataclass(frozen=True, slots=True)
class Touched:
    """A memory after an access or feedback: the new order of its energy, and its tier now and before."""

    id: str
    ns: str
    energy_key: float
    accessed_at: datetime | None
    tier: str
    tier_before: str


@dataclass(frozen=True, slots=True)
class Job:
    """One leased task; the node is None when the memory was erased meanwhile.

    `attempts` are the claims that the row is to blame for, with this one; `claims` are all, with this one.
    """

    key: int
    task: Literal["encode", "purge", "archive"]
    memory_id: str
    ns: str
    attempts: int
    claims: int
    lexemes: str = ""
    node: Node | None = None


@dataclass(frozen=True, slots=True)
class Encoded:
    """What encoding learned about one memory."""

    job: Job
    analysis: Analysis


@dataclass(frozen=True, slots=True)
class Completion:
    """What completing met: memories erased meanwhile, and memories that another worker completed first.

    `hot` are those that became active now, with tier L1.
    """

    erased: tuple[str, ...]
    overtaken: tuple[str, ...]
    hot: tuple[str, ...] = ()


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
    """A memory that is not indexed yet. `reason` says what its last try met, empty when none failed."""

    memory_id: str
    claimed: bool
    """Whether a worker ever took it."""
    dead: bool
    """Whether it is a dead letter: nobody will try again before `retry_dead`."""
    reason: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """One round trip's answer: live nodes by id, their lexemes (space-separated), and originals where asked for."""

    nodes: Mapping[str, Node]
    lexemes: Mapping[str, str]
    unindexed: frozenset[str]
    """Those that this embedder's collection does not have: pending, or indexed by another model."""
    evidence: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Erasure:
    """What one erasure destroyed: keys, and the rows there were before, by table."""

    ids: tuple[str, ...]
    originals: tuple[bytes, ...]
    vectors: tuple[bytes, ...]
    whole: bool
    """Whether a whole scope was erased."""
    before: Mapping[str, int]


class Records(Protocol):
    """L3: the truth. A memory exists from the moment its transaction committed here."""

    def remember(self, scope: Scope, writes: Sequence[Write]) -> list[Written]:
        """Commit memories, originals, write sequence and outbox in one transaction, in order.

        A `ref` or fact that is there already gives the existing id and changes nothing, except that an archived memory
        comes back; a fact that was superseded since is a new memory. The same `ref` with another text raises
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

        Of these at least the best `pending_limit` by their words, and some of each word, however many wait.
        Archived, erased and other scopes' memories are never in the answer.
        """

    def unindexed(self, scopes: Sequence[Scope]) -> int:
        """How many memories of these scopes wait to be indexed; no more than 100,000 are counted."""

    def text_search(
        self, scopes: Sequence[Scope], lexemes: Sequence[str], limit: int, where: Filter
    ) -> dict[str, float]:
        """Search by words without the vector index: ids and scores > 0, best first."""

    def get(self, scope: Scope, memory_id: str) -> Node | None:
        """One memory of exactly this scope, whatever its status."""

    def touch(self, scope: Scope, ids: Sequence[str], at: datetime) -> list[Touched]:
        """Count one access of each live memory, add the boost at most once a cooldown, and let rise what that lifts.

        An active memory whose energy reaches the threshold is of tier L1 from now; a short-term memory that was
        returned often enough is long-term.
        """

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[Job]:
        """Lease due jobs, oldest first, counting the attempt. Two callers never hold the same job at once.

        Either jobs never tried before or, `retried`, a single one that was: a row that kills its worker must not take
        others down with it.
        """

    def renew(self, jobs: Sequence[Job], lease_s: float) -> list[Job]:
        """Prolong the leases of these jobs; returns those still held, not what others claimed meanwhile."""

    def complete(self, encoded: Sequence[Encoded]) -> Completion:
        """Make these memories active and their jobs done in one transaction. Safe to repeat.

        Those with energy enough are of tier L1 from now, the others of L2.
        """

    def done(self, jobs: Sequence[Job]) -> None:
        """Remove finished jobs that changed no memory."""

    def release(self, jobs: Sequence[Job], delay_s: float, reason: str, *, refund: bool) -> None:
        """Give jobs back for later; `refund` takes the attempt back, because the row was not to blame."""

    def bury(self, jobs: Sequence[Job], reason: str) -> None:
        """Move jobs to the dead letter."""

    def dead(self, scope: Scope | None, limit: int) -> list[DeadLetter]:
        """Dead letters of one scope or of all, oldest first."""

    def retry_dead(self, scope: Scope | None) -> int:
        """Bring dead letters back with a fresh count of attempts; returns how many."""

    def backlog(self, scope: Scope | None = None, *, due_only: bool = False) -> int:
        """Memories still to be encoded, dead letters apart; `due_only` leaves out what a worker holds."""

    def waiting(self, ids: Sequence[str]) -> list[Waiting]:
        """Those of these memories that are still to be encoded, dead letters among them, oldest job first."""

    def load_vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """The persistent embedding cache: vectors by SHA-256 of the embedded text."""

    def save_vectors(self, model: str, vectors: Mapping[bytes, Vector]) -> None:
        """Add to the persistent embedding cache: vectors of texts that a memory has. Existing entries stay."""

    def active(self, model: str) -> Iterator[list[tuple[Node, str, Vector | None]]]:
        """Every active memory with its lexemes and cached vector, in batches: the source of a reindex."""

    def mark_indexed(self, ids: Sequence[str]) -> None:
        """Note that this embedder's collection holds these active memories."""

    def erase(self, scope: Scope, memory_id: str | None, purge_after_s: float) -> Erasure:
        """Destroy one memory, or all of a scope, with everything derived from it, in one transaction.

        Originals and vectors that other memories have, too, stay. Leaves a delayed `purge` job for each memory, so that
        a worker that was encoding it meanwhile leaves nothing behind.
        """

    def remains(self, scope: Scope, erasure: Erasure) -> Mapping[str, int]:
        """Rows still there of an erased target, by table."""

    def save_receipt(self, scope: Scope, receipt: Mapping[str, Any]) -> None:
        """Keep the proof of an erasure. It holds counts and ids, never text."""

    def stats(self, scope: Scope | None) -> Mapping[str, int]:
        """Counts by status, of the outbox, dead letters, embeddings and scopes."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
