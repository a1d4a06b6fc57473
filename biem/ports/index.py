"""L2, the vector index, and the filter conditions of a search."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from biem.domain.metadata_filter import Condition
from biem.domain.scope import Scope
from biem.ports.embedding import Vector, Vectors


@dataclass(frozen=True, slots=True)
class Filter:
    """Conditions on a memory; the vector index evaluates those on immutable fields. Empty means any.

    `since` ≤ at < `until`.
    """

    kinds: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()
    conversations: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """All of these; for the other fields any one."""
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    """Only what was valid at this instant: `valid_from` ≤ as_of < `valid_to`; a message is valid from when it was said,
    for ever.
    """
    min_energy: float = 0.0
    """Only memories with at least this energy now."""
    sentiment: tuple[float, float] = (-1.0, 1.0)
    """Minimum and maximum; memories not analysed yet count as 0."""
    metadata: tuple[Condition, ...] = ()
    """All of these; see `biem.domain.metadata_filter`."""
    min_trust: int = 0
    """Only memories of at least this trust level, a position in `biem.domain.trust.LEVELS`."""
    not_conversations: tuple[str, ...] = ()
    """None of these."""
    not_ids: tuple[str, ...] = ()
    """None of these memories."""
    only_ids: tuple[str, ...] = ()
    """Only these memories."""
    session: str | None = field(default=None, compare=False)
    """The conversation in which is asked: memories of the layer `session` of another one are not told, unless
    `conversations` names it. None, as where no session is named: they are. Evaluated by the records alone, so it
    separates no searches.
    """
    apart: bool = field(default=False, compare=False)
    """Whether a search takes care of `session` before it limits its rows, so that memories of other sessions displace
    none; else they are only dropped from what it found, which costs nothing.
    """

    @property
    def late(self) -> bool:
        """Whether it has conditions that the vector index does not evaluate: mutable state, metadata, ids."""
        if self.apart and self.session is not None:
            return True
        mutable = self.as_of is not None or self.min_energy > 0.0 or self.sentiment != (-1.0, 1.0)
        return mutable or bool(self.metadata) or self.min_trust > 0 or bool(self.only_ids)


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
    """The searches of a recall: nearest vectors and BM25."""

    @property
    def lexical(self) -> bool:
        """Whether this server can search by words (BM25 functions, Milvus 2.5 and later)."""

    @property
    def serial(self) -> bool:
        """Whether this server runs one search at a time, so that concurrent searches gain nothing."""

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        """The ids with the highest cosine and their cosine, of these scopes only; at most 16,384."""

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: Filter) -> dict[str, float]:
        """The ids with the highest BM25 score and that score, of these scopes only; none where not `lexical`."""


class VectorIndex(SearchIndex, Protocol):
    """L2: nearest vectors and BM25 over one collection per (model, dimension)."""

    def open(self) -> None:
        """Create the collection if there is none and check that its dimension is the embedder's. Idempotent."""

    def insert(self, entries: Sequence[Entry], *, again: bool) -> None:
        """Add rows durably; every search that begins after the return sees them, in any process.

        `again` replaces rows of the same ids, for a retry whose first try may have succeeded.
        """

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        """For each vector, in order, the `limit` ids of exactly this scope with the highest cosine, in one call."""

    def purge(self, ids: Sequence[str]) -> None:
        """Remove rows by id alone, from the collections of every model; for erased and archived memories.

        `count` reflects it at once; a search may return the ids for a moment longer, so callers check the live state.
        """

    def count(self, ids: Sequence[str] | None = None) -> int:
        """Rows acknowledged: all of this model's collection, or these ids' in the collections of every model."""

    def held(self, scopes: Sequence[Scope]) -> int:
        """Rows acknowledged of these scopes, in this model's collection."""

    def drop(self) -> None:
        """Delete the collection; `open` creates it again."""

    def ping(self) -> None:
        """Return when the server answers."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
