"""What the core needs from the outside, one Protocol a role. Adapters satisfy them structurally.

Every sentence of a docstring here is a promise with a test in `tests/contract`. Each method that touches memories takes
the scope it may touch: ids alone open no door. Stores raise `StoreUnavailable` when they cannot be reached (`StoreFull`
when they are full) and wrap their client's error as its cause.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from biem.domain.fields import Analysis
from biem.domain.node import Draft, Node
from biem.domain.scope import Scope

Vectors = NDArray[np.float32]
"""Shape (n, dim), C-contiguous, rows of unit length."""
Vector = NDArray[np.float32]
"""Shape (dim,), unit length."""
Role = Literal["query", "passage"]


class Clock(Protocol):
    """Where time comes from, so that tests can hold it."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """Who embeds. `id` changes whenever the same text would get another vector; it names the collection."""

    id: str
    dim: int
    languages: tuple[str, ...]
    """ISO 639-1 codes it was made for; `("mul",)` for about a hundred languages."""
    max_tokens: int
    """Longer texts are cut to this many tokens."""


class Embedder(Protocol):
    """Text to vectors, and the only judge of how similar two vectors are."""

    @property
    def info(self) -> EmbedderInfo:
        """Known without network traffic after construction; the dimension was probed, not assumed."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """One unit vector a text, in order; `[]` gives shape (0, dim).

        The same text and role give the same vector in any batch. Empty text, NUL and lone surrogates are embedded as if
        cleaned. Thread-safe. Raises `EmbedderUnavailable` for an outage and `EmbedderMismatch` for another dimension;
        never returns zero, partial or non-finite vectors.
        """

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """Calibrated similarity in [0, 1] of one passage's vector to each of n others, shape (n,).

        Near 0 for unrelated texts and near 1 for paraphrases, whatever the embedder's raw cosines look like: all
        thresholds of the designs (0.7, 0.8, 0.85) are applied to this and never to a cosine.
        """

    def close(self) -> None:
        """Release what it holds; a second call does nothing."""


class Analyzer(Protocol):
    """What can be known about a text without a model, in English and Chinese."""

    def lexemes(self, text: str) -> list[str]:
        """Index terms in order, with repeats: stemmed lower-case Latin words, CJK characters' words and bigrams.

        The same tokenizer serves Milvus' BM25, PostgreSQL's text search and HotKV. A term has no white space.
        Text that has letters or digits never gives an empty list.
        """

    def analyze(self, text: str) -> Analysis:
        """Fields, entities, sentiment and language."""

    def keywords(self, text: str, limit: int) -> list[str]:
        """At most `limit` words and names that tell what a text is about, best first, none twice in another case.

        Each is longer than one character and none is a stop word; a text of nothing else gives `[]`.
        """


@dataclass(frozen=True, slots=True)
class HotEntry:
    """One text of HotKV: just enough to match it by words."""

    id: str
    lexemes: str


class HotStore(Protocol):
    """L1: the hot part of memory, rebuilt when lost."""

    def push(self, scope: Scope, entries: Sequence[HotEntry], window: int) -> None:
        """Put texts at the head of the scope's HotKV and drop the oldest beyond `window`, atomically."""

    def recent(self, scope: Scope, limit: int) -> list[HotEntry]:
        """The newest texts, newest first."""

    def forget(self, scope: Scope, ids: Sequence[str]) -> None:
        """Remove these memories from everything kept for the scope."""

    def forget_scope(self, scope: Scope) -> None:
        """Remove everything kept for the scope."""

    def purge(self, ns: str, ids: Sequence[str]) -> None:
        """As `forget`, for a scope whose names are erased already."""

    def count(self, scope: Scope, ids: Sequence[str] | None = None) -> int:
        """Records kept for the scope, or for these memories of it."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on what never changes in a memory, and on when it held. Empty means any; `since` ≤ at < `until`."""

    kinds: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """All of them; of the others any."""
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    """Only what held at this instant: `valid_from` ≤ as_of < `valid_to`. The vector index does not know it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the vector index."""

    id: str
    scope: Scope
    lexemes: str
    vector: Vector
    kind: str
    speaker: str
    conversation: str
    tags: tuple[str, ...]
    at: datetime


class VectorIndex(Protocol):
    """L2: nearest vectors and BM25 over one collection per (model, dimension)."""

    @property
    def lexical(self) -> bool:
        """Whether this server can search by words (BM25 functions, Milvus 2.5 and later)."""

    def open(self) -> None:
        """Create the collection if there is none and check that its dimension is the embedder's. Idempotent."""

    def insert(self, entries: Sequence[Entry], *, again: bool) -> None:
        """Add rows durably; every search that begins after the return sees them, from whatever process.

        `again` replaces rows of the same ids, for a retry whose first try may have succeeded.
        """

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        """The ids with the highest cosine and their cosine, of these scopes only."""

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        """For each vector, in order, the `limit` ids of exactly this scope with the highest cosine, in one call."""

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: Filter) -> dict[str, float]:
        """The ids with the highest BM25 score and that score, of these scopes only; none where not `lexical`."""

    def purge(self, ids: Sequence[str]) -> None:
        """Remove rows by id alone, from the collections of every model; for what is erased or archived.

        `count` says so at once; a search may name them for a moment more, and whoever asks looks up what still lives.
        """

    def count(self, ids: Sequence[str] | None = None) -> int:
        """Rows acknowledged: all of this model's collection, or these ids' in the collections of every model."""

    def drop(self) -> None:
        """Delete the collection; `open` makes it anew."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""


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

        Archived, erased and other scopes' memories are never in the answer.
        """

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


class JobQueue(Protocol):
    """Wakes workers. A lost wake-up costs latency, never work: jobs live in Records."""

    def start(self, work: "Work") -> None:
        """Run `work` whenever woken and every few seconds; a no-op where other processes do the work."""

    def wake(self) -> None:
        """There is something to do. Never blocks and never raises."""

    def stop(self, timeout_s: float) -> None:
        """Let the running piece of work finish, for at most `timeout_s`; a second call does nothing."""


class Work(Protocol):
    """A bounded piece of background work."""

    def __call__(self) -> int:
        """Do one batch; returns how many jobs it took, 0 when there was nothing to do."""
