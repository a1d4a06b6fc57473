"""Reads a file of a library: bytes to text, front matter, blocks, chunks and their tags."""

from collections.abc import Mapping, Sequence

from biem.domain.note import ChainHeading, NoteChunk, NoteFinding, NoteTags, ParsedNote, SkippedNote, StoredChunks
from biem.domain.policies.notes import NotePolicy
from biem.domain.tokens import estimate_tokens
from biem.notes import chunks, dates, front, tags
from biem.notes.decode import conversion, decode
from biem.notes.inline import heading_text, plain
from biem.notes.parse import Block, blocks, paragraphs
from biem.notes.placeholder import HOLE
from biem.ports import Analyzer

_NO_TAGS = NoteTags()
"""Of chunks that are stored: one object for all of them."""


class NoteReader:
    """Deterministic: the same path and bytes give the same note. Thread-safe where its analyzer is."""

    def __init__(self, analyzer: Analyzer, policy: NotePolicy) -> None:
        self._analyzer = analyzer
        self._policy = policy

    def read(self, path: str, data: bytes, stored: StoredChunks | None = None) -> ParsedNote | SkippedNote:
        """The note of a file with these bytes, or why there is none. `path` is relative to the library's root.

        `stored`: what is known of it from before. Chunks of the same key are `kept` if the note's own tags are the
        same: then theirs are, too, and looking for tags is most of the work.
        """
        decoded = decode(path, data, max_bytes=self._policy.max_file_bytes)
        if isinstance(decoded, SkippedNote):
            return decoded
        text = decoded.text
        matter = front.split(text)
        found = blocks(text, matter.end)
        most, piece = self._policy.max_chunk_tokens, self._policy.piece_tokens
        titles = [name for block in found if block.level == 1 and (name := heading_text(block.texts[0]))]
        above = "" if titles else matter.fields.title
        sections = chunks.cut(text, matter.end, found, max_tokens=most, piece_tokens=piece, title=above)
        described = _fitting(matter.fields.description, min(most, piece))
        if described and _is_said(described, text[matter.end :]):
            described = ""
        if not sections and not described:
            return SkippedNote(path, "unreadable", "it is empty below its front matter: write something, or delete it")
        if chunks.is_template(text, found):
            return SkippedNote(path, "unreadable", "it is a template: it has placeholders to be filled in, and no text")
        only = titles[0] if len(titles) == 1 else above
        inherited = tags.note_tags(path, matter.fields, only, most=self._policy.tags_per_note)
        kept, numbers = _kept(stored, inherited), chunks.Numbers()
        first = []
        if described:
            place, chain = (matter.end, matter.described), _title_chain(titles, above)
            first.append(self._description(described, place, chain, inherited, kept, numbers))
        return ParsedNote(
            path=path,
            title=matter.fields.title or next(iter(titles), "") or tags.stem(path) or path.rpartition("/")[2],
            at=dates.date_of(matter.fields.date) or dates.date_of_path(path),
            encoding=decoded.encoding,
            text=text,
            front=matter.fields,
            tags=inherited,
            chunks=(*first, *self._chunks(text, sections, inherited, kept, numbers, len(first))),
            findings=_findings(path, matter, decoded.encoding),
        )

    def _chunks(
        self,
        text: str,
        sections: Sequence[chunks.Section],
        inherited: NoteTags,
        kept: Mapping[bytes, tuple[int, int, int]],
        numbers: chunks.Numbers,
        begin_at: int,
    ) -> list[NoteChunk]:
        lines = chunks.LineNumbers(text)
        made = []
        for place, section in enumerate(sections, begin_at):
            body, first, last = section.body(text)
            if not body:
                first, last = section.start, section.start + 1
            key = numbers.key(section.chain, body)
            begin, end = lines.at(first), lines.at(last - 1)
            chunk = NoteChunk(
                key=key,
                place=place,
                span=(section.start, section.stop),
                lines=(begin, end),
                chain=section.chain,
                body=body,
                tokens=0 if key in kept else estimate_tokens(body),
                tags=_NO_TAGS if key in kept else self._tags(text, section, inherited),
                kept=key in kept,
                moved=key in kept and kept[key] != (place, begin, end),
            )
            made.append(chunk)
        return made

    def _description(
        self,
        said: str,
        at: tuple[int, int],
        chain: tuple[ChainHeading, ...],
        inherited: NoteTags,
        kept: Mapping[bytes, tuple[int, int, int]],
        numbers: chunks.Numbers,
    ) -> NoteChunk:
        """What front matter says of the note, as a chunk below its title. `at`: where that ends, and its line."""
        end, line = at
        key = numbers.key(chain, said)
        words = plain(said)
        own = tags.chunk_tags(
            inherited,
            headings=(),
            texts=[words.text],
            bold=words.bold,
            keywords=self._analyzer.keywords(words.text.replace(HOLE, " "), self._policy.keywords_per_chunk),
            most=self._policy.tags_per_chunk,
        )
        return NoteChunk(
            key=key,
            place=0,
            span=(end, end),
            lines=(line, line),
            chain=chain,
            body=said,
            tokens=0 if key in kept else estimate_tokens(said),
            tags=_NO_TAGS if key in kept else own,
            kept=key in kept,
            moved=key in kept and kept[key] != (0, line, line),
        )

    def _tags(self, text: str, section: chunks.Section, inherited: NoteTags) -> NoteTags:
        found = (each for block in section.blocks for each in paragraphs(text, block))
        said = [plain(source) for block in found for source in _sources(text, section, block)]
        words = "\n".join(part.text for part in said).replace(HOLE, " ")
        return tags.chunk_tags(
            inherited,
            headings=_headings(section),
            texts=[part.text for part in said],
            bold=[label for part in said for label in part.bold],
            keywords=self._analyzer.keywords(words, self._policy.keywords_per_chunk),
            most=self._policy.tags_per_chunk,
        )


def _kept(stored: StoredChunks | None, inherited: NoteTags) -> Mapping[bytes, tuple[int, int, int]]:
    """The places of stored chunks whose tags cannot have changed, by their keys."""
    if stored is None or stored.tag_counts != inherited.counts:
        return {}
    return stored.places if stored.tags == tuple(map(tags.identity, inherited.all)) else {}


def _title_chain(titles: Sequence[str], above: str) -> tuple[ChainHeading, ...]:
    """What stands above a description: the first h1, or else the title of the front matter."""
    name = next(iter(titles), above)
    return (ChainHeading(1, name),) if name else ()


def _fitting(description: str, most: int) -> str:
    """As much of it as is `most` tokens long at most."""
    while (tokens := estimate_tokens(description)) > most:
        description = description[: len(description) * most // tokens].rstrip()
    return description


def _is_said(description: str, body: str) -> bool:
    """Whether a body begins with the same words, as it does where a program took them from there."""
    return " ".join(body[: 4 * len(description) + 1_000].split()).find(description) >= 0


def _headings(section: chunks.Section) -> list[str]:
    """The headings above the section and its h3."""
    inside = [heading_text(block.texts[0]) for block in section.blocks if block.level == 3]
    return [*(heading.text for heading in section.chain), *inside]


def _sources(text: str, section: chunks.Section, block: Block) -> Sequence[str]:
    """The sources of the paragraphs of a block that stand in the section's body."""
    if not block.texts or 0 < block.level <= 2:
        return ()
    if section.start <= block.start and block.stop <= section.stop:
        return block.texts
    return (text[max(section.start, block.start) : min(section.stop, block.stop)],)


def _findings(path: str, matter: front.Front, encoding: str) -> tuple[NoteFinding, ...]:
    found = []
    if matter.problem:
        advice = f"the front matter cannot be read and is left out: {matter.problem}; repair it"
        found.append(NoteFinding(path, matter.line, "bad-front-matter", advice))
    if not encoding.startswith("utf-"):
        found.append(NoteFinding(path, 1, "not-utf8", f"it was read as {encoding}; {conversion(path, encoding)}"))
    return tuple(found)
