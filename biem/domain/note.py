"""Values of notes: Markdown files of a library, their chunks and tags."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args

TagSource = Literal["path", "heading", "name", "bold", "keyword"]
"""Where a tag was found, heaviest first: directories, file name and front matter; headings; quoted names, links and
hash tags; bold text; keywords of the body."""

TAG_SOURCES: tuple[str, ...] = get_args(TagSource)
CHAIN_MARK = " › "
"""Stands between the headings above a chunk, wherever they are written in one line."""

LintRule = Literal[
    "no-heading",
    "heading-too-broad",
    "no-identifier",
    "broken-across-chunks",
    "section-too-long",
    "bad-front-matter",
    "not-utf8",
    "case-collision",
    "too-large",
    "empty-section",
    "unreadable",
]
"""What may be wrong with a note. `unreadable`: empty, binary, a template, a link that leads outside, no permission."""

LINT_RULES: tuple[str, ...] = get_args(LintRule)


@dataclass(frozen=True, slots=True)
class FileStat:
    """A file as the disk describes it. `path` is relative to the library's root, with `/`, in the disk's own case and
    Unicode form; `size` is in bytes, times are in nanoseconds since 1970.
    """

    path: str
    size: int
    mtime_ns: int
    inode: int
    ctime_ns: int = field(default=0, compare=False)
    """When content, name or permissions last changed, which no program can set back. It is not stored: 0 is unknown."""


@dataclass(frozen=True, slots=True)
class SkippedNote:
    """A file that is not indexed. `reason` says why and names the next step."""

    path: str
    rule: LintRule
    reason: str


@dataclass(frozen=True, slots=True)
class NoteFinding:
    """Something that makes a note hard to find or to understand. `line` counts from 1; `advice` says what to do."""

    path: str
    line: int
    rule: LintRule
    advice: str


@dataclass(frozen=True, slots=True)
class NoteTags:
    """Tags by source, each in the order in which it was found; a tag stands only under its heaviest source."""

    path: tuple[str, ...] = ()
    heading: tuple[str, ...] = ()
    name: tuple[str, ...] = ()
    bold: tuple[str, ...] = ()
    keyword: tuple[str, ...] = ()

    @property
    def by_source(self) -> tuple[tuple[str, ...], ...]:
        """The tags of each source, in the order of `TAG_SOURCES`."""
        return (self.path, self.heading, self.name, self.bold, self.keyword)

    @property
    def all(self) -> tuple[str, ...]:
        """All tags, heaviest source first."""
        return tuple(tag for tags in self.by_source for tag in tags)

    @property
    def counts(self) -> tuple[int, ...]:
        """How many tags each source has, in the order of `TAG_SOURCES`: with `all` this gives `by_source` again."""
        return tuple(len(tags) for tags in self.by_source)


@dataclass(frozen=True, slots=True)
class ChainHeading:
    """A heading above a chunk, as it is shown, without marks. `level` is 1 to 3."""

    level: int
    text: str


@dataclass(frozen=True, slots=True)
class NoteChunk:
    """A part of a note between two cuts.

    `span` is its first character and the one after its last in `ParsedNote.text`; a note's spans join without gaps.
    `body` is the span without its own h1 and h2 lines and without blank lines around it; the first chunk may be the
    description of the front matter, with an empty span below this. `key` (32 bytes) identifies it
    by headings, body and its number among equals, wherever in the file it stands.
    """

    key: bytes
    place: int
    """Number in the note, from 0."""
    span: tuple[int, int]
    lines: tuple[int, int]
    """First and last line of the body in the file, from 1."""
    chain: tuple[ChainHeading, ...]
    """Headings h1 to h3 above it, outermost first. A piece of a long section that begins at an h3 has that h3 both here
    and in its body; in other chunks h3 headings stand in the body alone."""
    body: str
    tokens: int
    """Estimated tokens of the body; 0 where `kept`."""
    tags: NoteTags
    """Its own; those of the note come in addition. Empty where `kept`."""
    kept: bool = False
    """It was stored before with this key, and its tags cannot have changed: they were not looked for again."""
    moved: bool = False
    """It is `kept`, at another place or on other lines than before."""

    @property
    def depth(self) -> int:
        """Level of the innermost heading of the chain; 0 above the first heading."""
        return self.chain[-1].level if self.chain else 0

    @property
    def headings(self) -> tuple[str, ...]:
        """The chain's texts, outermost first."""
        return tuple(heading.text for heading in self.chain)


@dataclass(frozen=True, slots=True)
class StoredChunks:
    """What is stored of a note: where its chunks stand, and its own tags by source, by their identity."""

    places: Mapping[bytes, tuple[int, int, int]]
    """Place, first and last line of each chunk by its key."""
    tags: tuple[str, ...]
    tag_counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields that are read from front matter; `date` is as written there."""

    title: str = ""
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    date: str = ""
    description: str = ""
    """What the note is about, on one line."""


@dataclass(frozen=True, slots=True)
class ParsedNote:
    """A file, read and cut."""

    path: str
    title: str
    """Front matter's title, else the only or first h1, else the file name without extension."""
    at: datetime | None
    """The document's date (aware), from front matter or from a date in the path; never the file's own time."""
    encoding: str
    """As Python names it: `utf-8`, `gb18030`, …"""
    text: str
    """The file's text, front matter included; line breaks are `\\n`."""
    front: FrontMatter
    tags: NoteTags
    """Those that all chunks have: path, front matter, and the h1 where there is one only."""
    chunks: tuple[NoteChunk, ...]
    findings: tuple[NoteFinding, ...] = ()
    """What reading it found; `biem.notes.lint` finds more."""
