"""The index of chunks and tags: vectors and words."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from biem.domain.scope import Scope
from biem.ports.embedding import Vector


@dataclass(frozen=True, slots=True)
class ChunkEntry:
    """One row of the index of chunks."""

    id: str
    ns: str
    library_id: str
    note_id: str
    at: datetime | None
    lexemes: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class TagEntry:
    """One row of the index of tags."""

    id: int
    ns: str
    vector: Vector


@dataclass(frozen=True, slots=True)
class NoteFilter:
    """Conditions on a chunk; empty means any. `since` ≤ at < `until`: then chunks without a date do not match."""

    libraries: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None


ANY_NOTE = NoteFilter()
"""No conditions."""


class NoteIndex(Protocol):
    """Nearest vectors and BM25 over chunks, and nearest vectors over tags: two collections per (model, dimension)."""

    @property
    def lexical(self) -> bool:
        """Whether this server can search by words."""

    def open(self) -> None:
        """Create the collections if there are none. Idempotent."""

    def insert(self, entries: Sequence[ChunkEntry], *, again: bool) -> None:
        """Add rows of chunks durably; `again` replaces rows of the same ids."""

    def insert_tags(self, entries: Sequence[TagEntry]) -> None:
        """Add rows of tags, or replace them."""

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: NoteFilter) -> dict[str, float]:
        """The chunks with the highest cosine and their cosine, of these scopes only."""

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: NoteFilter) -> dict[str, float]:
        """The chunks with the highest BM25 score and that score; none where not `lexical`."""

    def near_tags(self, scopes: Sequence[Scope], vector: Vector, limit: int) -> dict[int, float]:
        """The tags with the highest cosine and their cosine, of these scopes only."""

    def purge(self, chunks: Sequence[str], tags: Sequence[int] = ()) -> None:
        """Remove rows by id, from the collections of every model."""

    def count(self, chunks: Sequence[str] | None = None) -> int:
        """Rows of chunks: all of this model's collection, or these ids' in the collections of every model."""

    def count_tags(self, tags: Sequence[int]) -> int:
        """Rows of these tags in the collections of every model."""

    def exists(self) -> bool:
        """Whether this model's collection of chunks is there; creates nothing."""

    def between(self, after: str, until: str, limit: int) -> list[str]:
        """Ids of rows of chunks above `after` and, unless it is empty, up to `until`; at most `limit`, in no order."""

    def present(self, chunks: Sequence[str]) -> set[str]:
        """Which of these have a row in this model's collection."""

    def drop(self) -> None:
        """Delete the collections of this model; `open` creates them again."""

    def drop_others(self) -> int:
        """Delete the collections of all other models; returns how many."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
