"""L2, the vector index, and the conditions that a search is bound to."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.scope import Scope
from biem.ports.embedding import Vector, Vectors


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on a memory; the vector index knows those on what never changes. Empty means any.

    `since` ≤ at < `until`.
    """

    kinds: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """All of them; of the others any."""
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    """Only what held at this instant: `valid_from` ≤ as_of < `valid_to`; what was said stays said, from then on."""
    min_energy: float = 0.0
    """Only what has at least this energy now."""
    sentiment: tuple[float, float] = (-1.0, 1.0)
    """Least and greatest; what was not analysed yet counts as 0."""
    not_conversations: tuple[str, ...] = ()
    """None of these."""
    not_ids: tuple[str, ...] = ()
    """None of these memories."""

    @property
    def late(self) -> bool:
        """Whether it has conditions that the vector index does not know: what a memory is now, not what was written."""
        return self.as_of is not None or self.min_energy > 0.0 or self.sentiment != (-1.0, 1.0)


EVERYTHING = Filter()
"""No conditions."""


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


class SearchIndex(Protocol):
    """What a recall asks: nearest vectors and BM25."""

    @property
    def lexical(self) -> bool:
        """Whether this server can search by words (BM25 functions, Milvus 2.5 and later)."""

    @property
    def serial(self) -> bool:
        """Whether this server works on one search at a time, so that asking two at once makes neither faster."""

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        """The ids with the highest cosine and their cosine, of these scopes only; at most 16,384."""

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: Filter) -> dict[str, float]:
        """The ids with the highest BM25 score and that score, of these scopes only; none where not `lexical`."""


class VectorIndex(SearchIndex, Protocol):
    """L2: nearest vectors and BM25 over one collection per (model, dimension)."""

    def open(self) -> None:
        """Create the collection if there is none and check that its dimension is the embedder's. Idempotent."""

    def insert(self, entries: Sequence[Entry], *, again: bool) -> None:
        """Add rows durably; every search that begins after the return sees them, from whatever process.

        `again` replaces rows of the same ids, for a retry whose first try may have succeeded.
        """

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        """For each vector, in order, the `limit` ids of exactly this scope with the highest cosine, in one call."""

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
