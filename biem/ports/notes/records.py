"""The records of libraries: their files, chunks and tags."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from biem.domain.note import FileStat, StoredChunks
from biem.domain.notes.library import (
    Library,
    LibraryState,
    LibraryStats,
    Note,
    NotePassage,
)
from biem.domain.scope import Scope
from biem.ports.embedding import Vector
from biem.ports.notes.known_files import KnownFiles


@dataclass(frozen=True, slots=True)
class TagName:
    """A tag to store: `name` identifies it within a scope, `shown` is as written. An `idle` one has no vector."""

    name: str
    shown: str
    idle: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkDraft:
    """A chunk to store. `id` is used if no chunk of the note has this key; tags are names, heaviest source first."""

    id: str
    key: bytes
    place: int
    lines: tuple[int, int]
    chain: tuple[str, ...]
    levels: tuple[int, ...]
    body: str
    body_sha: bytes
    """Of the text that is embedded."""
    lexemes: str
    tokens: int
    tags: tuple[str, ...]
    tag_counts: tuple[int, ...]
    """How many of the tags each source has."""
    kept: bool = False
    """A chunk of this key is stored: only its place and lines are filled in …"""
    moved: bool = False
    """… and they are new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteDraft:
    """A file that was read and cut, to be stored. `id` is used if the path is new and nothing moved there."""

    id: str
    stat: FileStat
    sha256: bytes
    title: str
    encoding: str
    front: Mapping[str, Any]
    at: datetime | None
    tags: tuple[str, ...]
    tag_counts: tuple[int, ...]
    names: tuple[TagName, ...]
    """Every tag that the note or one of its chunks names."""
    chunks: tuple[ChunkDraft, ...]
    gone: tuple[bytes, ...] | None = None
    """Keys of the chunks that were stored and that it has no more; None: what is stored is not known."""


@dataclass(frozen=True, slots=True)
class NoteChange:
    """What storing a file changed: chunks added and kept, and the ids of those removed."""

    added: int
    kept: int
    removed: tuple[str, ...]


class StoredChunksChanged(Exception):
    """A note has other chunks than a draft supposes, as after an erasure: read the file anew."""


class ExclusionsChanged(Exception):
    """A note of the library was erased since the scan began: its file may be the one that is to be stored."""


@dataclass(frozen=True, slots=True)
class NoteLease:
    """A note that this process may index for a while. `claims` identifies the lease."""

    note_id: str
    claims: int
    attempts: int


@dataclass(frozen=True, slots=True)
class PendingChunk:
    """A chunk that this model has not indexed. `again`: a row may be there already."""

    id: str
    ns: str
    note_id: str
    library_id: str
    at: datetime | None
    headings: tuple[str, ...]
    body: str
    sha: bytes
    """Of the text that is embedded."""
    lexemes: str
    again: bool


@dataclass(frozen=True, slots=True)
class PendingTag:
    """A tag that this model has not indexed."""

    id: int
    ns: str
    shown: str
    sha: bytes


@dataclass(slots=True)
class PoolChunk:
    """What ranking needs of a chunk: numbers only. Tag ids stand in the order of their sources."""

    id: str
    note_id: str
    library_id: str
    ns: str
    place: int
    at: datetime | None
    """Of the note."""
    tag_ids: tuple[int, ...]
    tag_counts: tuple[int, ...]
    note_tag_ids: tuple[int, ...]
    note_tag_counts: tuple[int, ...]
    sha: bytes
    """Of the text that is embedded: the key of its vector."""
    vector: Vector | None = None
    """Of this model, set by the search; None where it is not embedded yet."""
    asked: tuple[int, ...] = ()
    """Which of the terms that were asked for it has: their places, from 0."""
    headings: tuple[str, ...] = ()
    """Those above it, outermost first, where they were asked for."""
    day: datetime | None = None
    """That one of its headings is, set by the search for a question about a time."""


@dataclass(frozen=True, slots=True)
class StoredPassage:
    """A chunk as it is now, with its note."""

    chunk: NotePassage
    note: Note


@dataclass(frozen=True, slots=True)
class TagInfo:
    """A tag. `root` is the one that stands for it; `uses` counts the chunks that have that one."""

    id: int
    ns: str
    shown: str
    root: int
    root_shown: str
    sha: bytes
    """Of the root's text."""
    idle: bool
    uses: int


@dataclass(frozen=True, slots=True)
class NamedTags:
    """What a question says of tags: one read for both, at each question."""

    ids: tuple[int, ...] = ()
    """Tags that have one of its names and are no idle ones."""
    aliases: Mapping[int, int] = field(default_factory=dict)
    """All tags that were renamed, each with the one that stands for it."""


@dataclass(frozen=True, slots=True)
class TaggedNotes:
    """Notes that have a tag."""

    notes: Sequence[str] = ()
    chunks: Mapping[str, bytes] = field(default_factory=dict)
    """All of theirs, each with the key of its vector; none where they are too many."""


@dataclass(frozen=True, slots=True)
class ErasedNotes:
    """What an erasure removed: ids of chunks and tags for the index, rows by table before and after it."""

    chunks: tuple[str, ...] = ()
    tags: tuple[int, ...] = ()
    before: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NotesSize:
    """The id of the newest chunk of a scope, the latest and earliest date of its notes, if any has one, and whether the
    index lacks notes in part.
    """

    newest_chunk: str | None
    newest: datetime | None
    oldest: datetime | None
    unindexed: bool


class NoteRecords(Protocol):
    """Libraries, notes, chunks and tags in PostgreSQL. Times are the database's."""

    def add_library(self, library: Library) -> Library:
        """Register a folder; returns the library, also if it was registered so before.

        Raises `InvalidInput` if its name or its folder belongs to another library of the scope.
        """

    def mirrored(self, host: str) -> list[str]:
        """The folders of a machine that mirror memories of any scope."""

    def libraries(self, scopes: Sequence[Scope] | None = None) -> list[Library]:
        """The libraries of these scopes, by name; None: of all scopes."""

    def set_state(self, library: Library, state: LibraryState) -> None:
        """Change the state."""

    def exclude(self, library: Library, pattern: str) -> None:
        """Exclude files by one pattern more. No scan that began before stores a file afterwards."""

    def remove_library(self, library: Library) -> ErasedNotes:
        """Delete a library with all that is known of its files. Tags of its scope stay while others have them."""

    def scanned(self, library: Library, counts: Mapping[str, int], at: datetime, *, full: bool) -> None:
        """Record a scan of all files that began at `at`."""

    def count_tags(self, library: Library) -> None:
        """Count how many chunks have each tag of the library's scope."""

    def watched(self, library: Library, *, alive: bool) -> None:
        """Record that a watcher of the folder is alive now, or that none is."""

    def files(self, library: Library, paths: Collection[str] | None = None) -> KnownFiles:
        """The known files by path: all, or those of these paths and others of the same inode, which are links."""

    def stored_chunks(self, library: Library, path: str) -> StoredChunks | None:
        """The chunks of a note; None if nothing is known of this path, or it was skipped."""

    def put(self, library: Library, draft: NoteDraft, moved_from: str | None = None) -> NoteChange:
        """Store a file and its chunks in one transaction; the file of `moved_from` gets the new path first.

        Chunks of the same key keep their id; others are new. Removed ones leave a tombstone. The note is `pending`
        until `complete`. Raises `NotFound` if the library was removed, and `StoredChunksChanged`: then nothing is
        stored.
        """

    def touch(self, library: Library, stats: Sequence[FileStat]) -> None:
        """Store size, time and inode of files whose content is the same."""

    def skip(self, library: Library, stat: FileStat, reason: str) -> tuple[str, ...]:
        """Record a file that cannot be indexed; returns the ids of the chunks that it had."""

    def delete(self, library: Library, paths: Sequence[str]) -> tuple[str, ...]:
        """Delete notes; returns the ids of their chunks, which leave tombstones."""

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[NoteLease]:
        """Lease due pending notes: those never tried, or one that was tried before."""

    def pending(self, leases: Sequence[NoteLease]) -> tuple[list[PendingChunk], list[PendingTag]]:
        """What this model has to embed of these notes."""

    def renew(self, leases: Sequence[NoteLease], lease_s: float) -> None:
        """Extend the leases that are still held."""

    def save_vectors(self, vectors: Mapping[bytes, Vector]) -> None:
        """Keep vectors of this model for texts that a chunk or a tag has."""

    def load_vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        """Kept vectors of this model."""

    def complete(self, chunks: Sequence[str], tags: Sequence[int]) -> list[str]:
        """Mark chunks and tags as indexed by this model; returns the ids of chunks that do not exist any more."""

    def finish(self, leases: Sequence[NoteLease]) -> None:
        """Mark notes as indexed that have nothing pending, unless another process leased them meanwhile."""

    def release(self, leases: Sequence[NoteLease], delay_s: float, reason: str, *, refund: bool) -> None:
        """Return leases for later; `refund`: the attempt does not count."""

    def fail(self, leases: Sequence[NoteLease], reason: str) -> None:
        """Give notes up until their file changes or they are retried."""

    def backlog(self, scopes: Sequence[Scope] | None = None) -> int:
        """Notes that are pending; None: of all scopes."""

    def withdraw(self, limit: int) -> int:
        """Make notes pending whose chunks another model indexed; returns how many."""

    def forget_index(self) -> int:
        """Make all notes pending, as if no model had indexed them; returns how many."""

    def unmoved(self, after: str, limit: int) -> list[PendingChunk]:
        """Chunks of all notes that this model has not indexed, by id after `after`."""

    def unmoved_tags(self, limit: int) -> list[PendingTag]:
        """Tags that this model has not indexed."""

    def indexed(self, after: str, limit: int) -> list[str]:
        """Ids of chunks that this model indexed, in order, after `after`."""

    def existing(self, ids: Sequence[str]) -> set[str]:
        """Which of these are chunks."""

    def index_again(self, ids: Sequence[str]) -> int:
        """Make the notes of these chunks pending, as if no model had indexed these; returns how many."""

    def overdue(self, seconds: float) -> int:
        """Notes that are pending for longer."""

    def failed(self, limit: int) -> list[str]:
        """Paths of notes that were given up."""

    def has_notes(self, scopes: Sequence[Scope]) -> bool:
        """Whether any of these scopes has a library."""

    def matching(
        self,
        scopes: Sequence[Scope],
        lexemes: Sequence[str],
        libraries: Sequence[str] | None,
        limit: int,
        *,
        unindexed: bool = False,
    ) -> dict[str, float]:
        """Ids of the chunks that share most rare words with the query, with a BM25 score; without the index.

        `unindexed`: only among chunks of pending and failed notes that the index of this model lacks, which costs what
        their number costs. Chunks of indexed notes that another model holds are not among them.
        """

    def pool(
        self, scopes: Sequence[Scope], ids: Sequence[str], terms: Sequence[str] = (), *, headings: bool = False
    ) -> list[PoolChunk]:
        """The chunks of these ids that exist in these scopes, in no order and without their vectors.

        Of `terms`, which are index terms, each chunk names those that it has. With `headings`, also those above it.
        """

    def passages(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, StoredPassage]:
        """The same with their texts, by id."""

    def chunks_of(self, scopes: Sequence[Scope], note_id: str) -> list[StoredPassage]:
        """All chunks of one note, in order."""

    def sizes(self, scopes: Sequence[Scope]) -> dict[str, NotesSize]:
        """What there is, by `ns`; nothing for scopes with none to search. Costs the same however many there are."""

    def chunk_counts(self, scopes: Sequence[Scope]) -> dict[str, int]:
        """The number of chunks by `ns`; nothing for scopes without chunks. Each chunk is counted."""

    def tags(self, scopes: Sequence[Scope], ids: Sequence[int]) -> dict[int, TagInfo]:
        """Tags by id."""

    def named(self, scopes: Sequence[Scope], names: Sequence[str]) -> NamedTags:
        """The tags that have one of these names, and all that were renamed."""

    def tagged(self, scopes: Sequence[Scope], tags: Sequence[int], limit: int) -> list[str]:
        """Notes that have one of these tags, themselves or in a chunk; at most `limit`."""

    def tagged_chunks(self, scopes: Sequence[Scope], tags: Sequence[int], limit: int, most: int) -> TaggedNotes:
        """The same, with the chunks of these notes unless there are more than `most`."""

    def tag_list(self, scope: Scope, prefix: str, limit: int) -> list[TagInfo]:
        """The tags of a scope whose name begins so, most used first."""

    def rename_tag(self, scope: Scope, old: str, new: TagName) -> int:
        """From now on the tag named `old` stands for `new`; returns the id of `new`. Raises `NotFound`."""

    def restore_tag(self, scope: Scope, old: str) -> bool:
        """Undo `rename_tag`; returns whether it stood for another one. Raises `NotFound`."""

    def notes_at(self, scopes: Sequence[Scope], path: str) -> list[Note]:
        """The notes of this path, or of paths that end in it, the exact one first."""

    def alike(self, scopes: Sequence[Scope]) -> list[str]:
        """The paths of the notes whose file has the name of another one."""

    def stats(self, library: Library) -> LibraryStats:
        """Counts of a library."""

    def erase_note(self, library: Library, path: str) -> ErasedNotes:
        """Destroy one note, and vectors that nothing else has; its path is excluded from then on."""

    def erase_scope(self, scope: Scope) -> ErasedNotes:
        """Destroy all libraries, notes, chunks and tags of a scope, and vectors that nothing else has."""

    def remains(self, scope: Scope) -> dict[str, int]:
        """Rows of the scope by table."""
