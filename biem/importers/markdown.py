"""Markdown notes: prose section by section, Basic Memory's observations and relations, Obsidian's links and tags."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from biem.domain.text import storable
from biem.importers.files import File
from biem.importers.record import Entry, LeftOut, Record, content_ref
from biem.importers.times import first_time
from biem.importers.values import known, string, strings

FORMAT = "markdown"
_MOST_BYTES = 16 << 20
_MOST_FRONT = 64 << 10
_SECTION_CHARS = 2_000
"""Longer sections are divided between paragraphs: a memory says one thing."""
_MOST_TAGS, _TAG_CHARS, _MOST_LINKS = 60, 128, 100
_CREATED = ("created", "created_at", "date", "date created", "creation date", "created-at")
_UPDATED = ("updated", "updated_at", "modified", "date modified", "last modified")
_FRONT = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.+?)(?:[ \t]+#+)?[ \t]*$")
_FENCE = re.compile(r"[ \t]*(```|~~~)")
_OBSERVATION = re.compile(r"[ \t]*[-*][ \t]+\[([^\[\]\n]{2,64}|[^\W\dxX])\][ \t]+(.+)$")
"""`[x]`, `[ ]` and the like are tasks, no categories."""
_RELATION = re.compile(r"[ \t]*[-*][ \t]+([\w-]+)[ \t]+\[\[([^\[\]\n]+)\]\][ \t]*(?:\(.*\))?[ \t]*$")
_LINK = re.compile(r"(!?)\[\[([^\[\]\n|#^]*)(?:[#^][^\[\]\n|]*)?(?:\|([^\[\]\n]*))?\]\]")
_TAG = re.compile(r"(?<![\w/&#(\[])#([\w/-]*[^\W\d_][\w/-]*)")
_CODE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(slots=True)
class _Note:
    """One file: what its records share, and the section that is being read."""

    file: File
    front: Mapping[str, Any]
    title: str
    at: datetime
    tags: tuple[str, ...]
    headings: list[tuple[int, str]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def record(self, text: str, source: str, line: int, **about: object) -> Record:
        """A record of `text`, with the tags and links of the Markdown that it was made from."""
        source = _CODE.sub("", source)
        links = list(dict.fromkeys(match[2].strip() for match in _LINK.finditer(source) if match[2].strip()))
        tags = dict.fromkeys([*self.tags, *(tag.strip("/") for tag in _TAG.findall(source))])
        if category := string(about.get("category")):
            tags = dict.fromkeys([category, *tags])
        self.seen[text] += 1
        return Record(
            text=text,
            ref=content_ref(FORMAT, self.file.path, text, self.seen[text]),
            format=FORMAT,
            file=self.file.name,
            line=line,
            kind="knowledge",
            at=self.at,
            tags=tuple(tag[:_TAG_CHARS] for tag in tags if tag)[:_MOST_TAGS],
            metadata=known(path=self.file.path, title=self.title, links=links[:_MOST_LINKS], **about)
            | known(permalink=self.front.get("permalink"), type=self.front.get("type")),
        )

    def under(self, level: int, heading: str) -> None:
        """Enter the section of a heading."""
        self.headings = [(depth, name) for depth, name in self.headings if depth < level] + [(level, heading)]

    @property
    def place(self) -> list[str]:
        """The title and the headings above the section, once each."""
        return list(dict.fromkeys([self.title, *(name for _, name in self.headings)]))


def read(file: File, stream: BinaryIO) -> Iterator[Entry]:
    """The records of one note, in its order."""
    data = stream.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        yield LeftOut("note of more than 16 MB")
        return
    text = storable(data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n"))
    front, body, first = _front_matter(text)
    if front is None:
        yield LeftOut("front matter that is no YAML")
        front = {}
    stem = PurePosixPath(file.path).stem
    title = string(front.get("title")).strip() or stem
    day = _DAY.match(stem)
    when = (*(_plain(front.get(name)) for name in (*_CREATED, *_UPDATED)), day and day[0])
    note = _Note(file, front, title, first_time(*when) or file.modified, _tags(front))
    yield from _sections(note, body.split("\n"), first)


def _sections(note: _Note, lines: list[str], first: int) -> Iterator[Entry]:
    held: list[str] = []
    began, fence = first, ""
    for number, line in enumerate(lines, start=first):
        mark = _FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        plain = not fence and not mark
        heading = _HEADING.match(line) if plain else None
        fact = _fact(note, line, number) if plain and not heading else None
        if heading or fact:
            yield from _prose(note, held, began)
            held, began = [], number + 1
        if heading:
            note.under(len(heading[1]), _shown(heading[2]))
        elif fact:
            yield fact
        else:
            held.append(line)
    yield from _prose(note, held, began)


def _fact(note: _Note, line: str, number: int) -> Record | None:
    """An observation or a relation, if the line is one."""
    if found := _OBSERVATION.match(line):
        said = re.sub(r"\s+", " ", _TAG.sub("", _shown(found[2]))).strip()
        return note.record(f"{note.title}: {said}", line, number, category=found[1].strip()) if said else None
    if found := _RELATION.match(line):
        kind, target = found[1], found[2].partition("|")[0].strip()
        text = f"{note.title} {kind.replace('_', ' ')} {target}"
        return note.record(text, line, number, relation=kind, to=target)
    return None


def _prose(note: _Note, lines: list[str], began: int) -> Iterator[Record]:
    """The text of a section in pieces of whole paragraphs, each under its headings."""
    piece: list[str] = []
    start = began
    for paragraph, number in _paragraphs(lines, began):
        if piece and sum(map(len, piece)) + len(paragraph) > _SECTION_CHARS:
            yield _section(note, piece, start)
            piece = []
        start = start if piece else number
        piece.append(paragraph)
    if piece:
        yield _section(note, piece, start)


def _paragraphs(lines: list[str], began: int) -> Iterator[tuple[str, int]]:
    held: list[str] = []
    for number, line in enumerate([*lines, ""], start=began):
        if line.strip():
            held.append(line)
        elif held:
            yield "\n".join(held), number - len(held)
            held = []


def _section(note: _Note, paragraphs: list[str], line: int) -> Record:
    source = "\n\n".join(paragraphs)
    return note.record(f"{' > '.join(note.place)}\n{_shown(source)}", source, line, headings=note.place[1:])


def _shown(text: str) -> str:
    """The text as Obsidian shows it: links by their names."""
    return _LINK.sub(lambda link: link[3] or link[2], text).strip()


def _front_matter(text: str) -> tuple[Mapping[str, Any] | None, str, int]:
    """The front matter (None: not readable), the text after it, and the line on which that begins."""
    import yaml

    found = _FRONT.match(text)
    if not found:
        return {}, text, 1
    rest = text[found.end() :]
    first = text.count("\n", 0, found.end()) + 1
    if len(found[1]) > _MOST_FRONT:
        return None, rest, first
    try:
        front = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError, RecursionError):
        return None, rest, first
    return ({str(key).lower(): value for key, value in front.items()} if isinstance(front, dict) else {}), rest, first


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, date) else value


def _tags(front: Mapping[str, Any]) -> tuple[str, ...]:
    """A YAML list, or words divided by commas or blanks."""
    value = front.get("tags", front.get("tag"))
    found = strings(value) if isinstance(value, list) else tuple(re.split(r"[,\s]+", string(value)))
    return tuple(tag.lstrip("#") for tag in found if tag.strip("#"))
