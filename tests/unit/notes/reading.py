"""Notes read by the tests."""

from collections.abc import Sequence
from typing import cast

from biem.domain.note import NoteChunk, ParsedNote
from biem.domain.policies.notes import NotePolicy
from biem.notes.lint import lint
from biem.notes.reader import NoteReader
from biem.ports import Analyzer

POLICY = NotePolicy()


class NoKeywords:
    """Finds none: what is not asked for must not be found by accident."""

    def keywords(self, _text: str, _limit: int) -> list[str]:
        """None."""
        return []


def reader(policy: NotePolicy = POLICY, keywords: object = None) -> NoteReader:
    """A reader; without an analyzer it finds no keywords."""
    return NoteReader(cast(Analyzer, keywords or NoKeywords()), policy)


def note(text: str, path: str = "note.md", policy: NotePolicy = POLICY) -> ParsedNote:
    """A note of this text."""
    read = reader(policy).read(path, text.encode())
    assert isinstance(read, ParsedNote), read
    return read


def bodies(read: ParsedNote) -> list[str]:
    """Those of its chunks."""
    return [chunk.body for chunk in read.chunks]


def chains(read: ParsedNote) -> list[Sequence[str]]:
    """Headings above each chunk."""
    return [chunk.headings for chunk in read.chunks]


def all_tags(read: ParsedNote, chunk: NoteChunk) -> set[str]:
    """Inherited and its own."""
    return {*read.tags.all, *chunk.tags.all}


def rules(text: str, path: str = "tea houses.md") -> list[tuple[int, str]]:
    """Line and rule of each finding."""
    return [(finding.line, finding.rule) for finding in lint(note(text, path))]
