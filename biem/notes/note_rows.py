"""The rows of a note that was read and cut, as they are stored."""

from collections.abc import Callable

from biem.domain.node import new_id
from biem.domain.note import FileStat, NoteChunk, ParsedNote, StoredChunks
from biem.domain.text import cut_lexemes, sha256
from biem.notes.indexed_text import indexed_text
from biem.notes.tags import identity, is_idle
from biem.ports.notes.records import ChunkDraft, NoteDraft, TagName

_LONGEST_NAME = 200
"""Characters of a heading that distinguish it from others."""


def drafted(
    parsed: ParsedNote,
    stat: FileStat,
    sha: bytes,
    terms_of: Callable[[str], list[str]],
    most_bytes: int,
    stored: StoredChunks | None = None,
) -> NoteDraft:
    """The rows of a note. `terms_of` gives index terms; a chunk keeps at most `most_bytes` of them.

    `stored`: what is known of it from before.
    """
    names = _Names()
    chunks = tuple(_chunk(chunk, names, terms_of, most_bytes) for chunk in parsed.chunks)
    tags = tuple(names.key(tag) for tag in parsed.tags.all)
    front = parsed.front
    return NoteDraft(
        id=new_id(),
        stat=stat,
        sha256=sha,
        title=parsed.title,
        encoding=parsed.encoding,
        front={
            name: value
            for name, value in (
                ("title", front.title),
                ("tags", list(front.tags)),
                ("aliases", list(front.aliases)),
                ("date", front.date),
            )
            if value
        },
        at=parsed.at,
        tags=tags,
        tag_counts=parsed.tags.counts,
        names=names.all,
        chunks=chunks,
        gone=None if stored is None else tuple(stored.places.keys() - {chunk.key for chunk in chunks}),
    )


class _Names:
    """The tags of one note by their identity, each as first written."""

    def __init__(self) -> None:
        self._found: dict[str, TagName] = {}

    def key(self, text: str) -> str:
        """The identity of a tag or a heading, which is noted."""
        shown = text[:_LONGEST_NAME]
        name = identity(shown)
        self._found.setdefault(name, TagName(name, shown, is_idle(shown)))
        return name

    @property
    def all(self) -> tuple[TagName, ...]:
        return tuple(self._found.values())


def _chunk(chunk: NoteChunk, names: _Names, terms_of: Callable[[str], list[str]], most_bytes: int) -> ChunkDraft:
    if chunk.kept:
        return _kept(chunk)
    text = indexed_text(chunk.headings, chunk.body)
    return ChunkDraft(
        id=new_id(),
        key=chunk.key,
        place=chunk.place,
        lines=chunk.lines,
        chain=tuple(names.key(heading.text) for heading in chunk.chain),
        levels=tuple(heading.level for heading in chunk.chain),
        body=chunk.body,
        body_sha=sha256(text),
        lexemes=cut_lexemes(" ".join(terms_of(text)), most_bytes),
        tokens=chunk.tokens,
        tags=tuple(names.key(tag) for tag in chunk.tags.all),
        tag_counts=chunk.tags.counts,
    )


def _kept(chunk: NoteChunk) -> ChunkDraft:
    """A chunk that is stored already, with its new place."""
    return ChunkDraft(
        id="",
        key=chunk.key,
        place=chunk.place,
        lines=chunk.lines,
        chain=(),
        levels=(),
        body="",
        body_sha=b"",
        lexemes="",
        tokens=0,
        tags=(),
        tag_counts=(),
        kept=True,
        moved=chunk.moved,
    )
