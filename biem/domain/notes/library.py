"""Libraries, which are folders of Markdown files that belong to a scope; their notes and chunks as they are found."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Self, get_args

from biem.domain.scope import Scope

LibraryState = Literal["active", "paused", "held"]
"""`held`: a scan found most files missing and deleted nothing, until the deletions are accepted."""
NoteState = Literal["pending", "indexed", "skipped", "failed"]
"""`pending`: found by its words, not yet embedded. `skipped`, `failed`: not searched; the reason says why."""
NOTE_STATES: tuple[str, ...] = get_args(NoteState)
ANY_HOST = ""
"""The host of a folder that every machine has, such as a shared mount."""
ScanOutcome = Literal["read", "held", "unreadable", "busy", "elsewhere", "removed"]
"""*held*: read, but files that are missing were not deleted. *unreadable*: the folder is missing or cannot be read.
*busy*: another process was scanning it all the time. *elsewhere*: its folder is on another machine. *removed*: it was,
during the scan. All but the first two changed nothing.
"""
NoteVerdictKind = Literal["contradicts", "confirms"]
NoteVerdictStatus = Literal["open", "kept", "dismissed"]
"""*kept*: the note is believed, and the memory is archived. *dismissed*: the memory is believed."""
STATUSES: tuple[str, ...] = get_args(NoteVerdictStatus)
Believed = Literal["note", "memory"]
BELIEVED: tuple[str, ...] = get_args(Believed)
EXCERPT_CHARS = 200
"""Maximum characters of `NoteHit.excerpt`."""
LINKED = " › "
"""Stands between the parts of a citation."""
_LEAST = 20
"""Characters of a citation that short texts may have, too."""
_SHARE = 0.1
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A folder of one scope on one host. `root` is absolute; `exclude` holds patterns as in `.gitignore`."""

    id: str
    scope: Scope
    name: str
    root: str
    host: str = ANY_HOST
    """The machine that has the folder; empty: every machine."""
    exclude: tuple[str, ...] = ()
    state: LibraryState = "active"
    scanned_at: datetime | None = None
    """When a scan last found or read a file that is new or changed."""
    full_at: datetime | None = None
    """When every file was read."""
    report: Mapping[str, int] = field(default_factory=dict)
    """Counts of the last scan."""
    watched_at: datetime | None = None
    """When a watcher of the folder was last alive, every minute; None where none runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanReport:
    """What one scan of a library did. Counts are of files, those of chunks excepted."""

    library: str
    outcome: ScanOutcome = "read"
    files: int = 0
    """Markdown files in the folder, and what was skipped; of the edit of known files that a watcher saw, these."""
    unchanged: int = 0
    read: int = 0
    """Files that were opened."""
    new: int = 0
    changed: int = 0
    moved: int = 0
    deleted: int = 0
    skipped: int = 0
    """Of `files`, those that are not searched, also from earlier scans; `stats` has the reasons."""
    chunks_added: int = 0
    chunks_kept: int = 0
    """Chunks of new and changed files that were there before."""
    chunks_removed: int = 0
    held: int = 0
    """Files that vanished and were not deleted, because most did; `sync(accept_deletions=True)` deletes them."""
    busy: bool = False
    """Whether another process was scanning it; then this one did nothing."""
    reason: str = ""
    """Why the outcome is another than *read*; empty if it is not."""

    @property
    def counts(self) -> dict[str, int]:
        """The counts by name."""
        return {name: value for name in self.__slots__ if type(value := getattr(self, name)) is int}

    @property
    def altered(self) -> int:
        """Files that were added, changed, moved or deleted."""
        return self.new + self.changed + self.moved + self.deleted


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a sync did, library by library. `pending` notes are not embedded yet; they are found by their words."""

    libraries: tuple[ScanReport, ...]
    pending: int = 0


@dataclass(frozen=True, slots=True)
class LibraryStats:
    """A library with counts; `files` is by state."""

    library: Library
    files: Mapping[str, int]
    chunks: int
    tags: int
    pending_chunks: int
    troubled: tuple[tuple[str, str], ...] = ()
    """Path and reason of the first files that are not searched."""
    advice: str = ""
    """What keeps the library from being up to date, and what to do; empty if nothing does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A file of a library, as the last scan left it. `at` is the document's own date, if it names one."""

    id: str
    scope: Scope
    library: str
    root: str
    path: str
    title: str
    at: datetime | None = None
    state: str = "indexed"
    reason: str = ""
    bytes: int = 0
    tags: tuple[str, ...] = ()
    """Those that all its chunks have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePassage:
    """A chunk of a note. `lines` are its first and last in the file, from 1; `headings` those above it, outermost
    first.
    """

    id: str
    place: int
    """Number in the note, from 0."""
    lines: tuple[int, int]
    headings: tuple[str, ...]
    levels: tuple[int, ...]
    """Of the headings, 1 to 3."""
    body: str
    tokens: int
    tags: tuple[str, ...] = ()
    """Its own; those of the note come in addition."""


@dataclass(frozen=True, slots=True)
class NotePage:
    """A note with all its chunks, in order."""

    note: Note
    chunks: tuple[NotePassage, ...]


@dataclass(frozen=True, slots=True)
class NoteHit:
    """A chunk that was found: `score` in [0, 1] orders the hits of one query, `why` has the parts of the score.

    `citation` names directories, file, line and headings, as `武器/法器/乌髓孑灯.md:41 › 武器故事`. `excerpt`, of a
    search for notes alone: the sentences, or rows of a table, that share most words with the query; the beginning of
    the chunk if none does.
    """

    chunk: NotePassage
    note: Note
    score: float
    why: Mapping[str, float]
    citation: str
    excerpt: str = ""


class NoteHits(list[NoteHit]):
    """The chunks found for one query, best first.

    `confidence` in [0, 1] estimates whether they have the answer; `degraded` names servers that were down.
    """

    def __init__(
        self, hits: Iterable[NoteHit] = (), *, confidence: float = 0.0, degraded: tuple[str, ...] = ()
    ) -> None:
        super().__init__(hits)
        self.confidence = confidence
        self.degraded = degraded

    def if_sure(self, least: float) -> Self:
        """These hits; none if their confidence is below `least`."""
        return self if self.confidence >= least else type(self)(degraded=self.degraded)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteVerdict:
    """A sentence of a note confirms or contradicts a fact; `confidence` is 0 to 1. Nothing changes until `decide`."""

    id: str
    memory_id: str
    chunk_id: str
    kind: NoteVerdictKind
    confidence: float
    sentence: str
    status: NoteVerdictStatus
    found_at: datetime
    fact: str
    path: str
    """Of the note, within its library."""
    line: int
    """Where the chunk begins, from 1."""

    @property
    def place(self) -> str:
        """Path and line, as `plans/lisbon.md:4`."""
        return f"{self.path}:{self.line}"


def unknown_library(name: str, scope: Scope, known: Sequence[str]) -> str:
    """What to say of a library that a scope does not have: its name, and the first of those that there are."""
    there = ", ".join(map(repr, known[:_MOST_NAMED])) + (", …" if len(known) > _MOST_NAMED else "")
    return f"no library {name!r:.60} in {scope}; " + (
        f"known: {there}" if known else "there is none yet, `biem notes add FOLDER` registers one"
    )


def _plain(name: str) -> str:
    """A name between spaces, without the differences of file names and headings."""
    return f" {' '.join(name.replace('-', ' ').replace('_', ' ').split()).casefold()} "


def cited(path: str, line: int, headings: tuple[str, ...], body_chars: int, *, folders_kept: int = 0) -> str:
    """Chain and citation in one: directories, file and line, then headings that the file name does not say.

    Directories, then headings, are dropped from the left until it has a tenth of the body's characters, or 20; the
    file's name, `folders_kept` directories above it and the line always stay.
    """
    folder, _, name = path.rpartition("/")
    stem = name.rpartition(".")[0] or name
    named = _plain(stem)
    said = [heading for heading in headings if _plain(heading) not in named]
    limit = max(_LEAST, int(body_chars * _SHARE))
    parts, folders = said, folder.split("/") if folder else []
    while True:
        shown = LINKED.join([f"{'/'.join([*folders, name])}:{line}", *parts])
        if len(shown) <= limit or not (folders[folders_kept:] or parts):
            return shown
        if folders[folders_kept:]:
            folders = folders[1:]
        else:
            parts = parts[1:]


def folders_needed(path: str, alike: Iterable[str]) -> int:
    """How many directories above its file tell a path from all of `alike`, which may have it, too.

    A path that others end in needs none: whole paths go first.
    """
    others, folders = [other for other in alike if other != path], path.split("/")
    for number in range(len(folders)):
        end = "/".join(folders[-number - 1 :])
        if not any(f"/{other}".endswith(f"/{end}") for other in others):
            return number
    return len(folders) - 1
