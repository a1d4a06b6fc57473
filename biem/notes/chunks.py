"""Cuts a note into chunks at its headings, and long sections further.

Headings h1 and h2 begin a section; text before the first heading and the preamble of an h1 are sections, too. Of a note
without h1 the title of its front matter stands above all. A heading without text leads the next section. A section of
too many tokens is cut at h3, then between blocks, then at sentences, code and tables at lines, and within a line at
last. Nothing is repeated: the spans join to the text.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from biem.domain.note import ChainHeading
from biem.domain.tokens import estimate_tokens, wide_characters
from biem.notes.inline import heading_text
from biem.notes.parse import Block, paragraphs

_LINE = re.compile(r"\n")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_SENTENCE = re.compile(r"[.!?][ \t\n]|[。！？；][”’）」』]{0,3}")
_CLAUSE = re.compile(r"[,;:] |[，、：]|[ \t]")
_PROSE = (_BLANK_LINE, _SENTENCE, _LINE, _CLAUSE)
_BY_LINES = (_LINE, _SENTENCE, _CLAUSE)
_COMMENT = re.compile(r"<!--(?:(?!-->).)*+-->", re.DOTALL)
_PLACEHOLDER = re.compile(r"\{\{[^{}\n]{1,200}\}\}|<%[^%\n]{0,200}%>")
"""What editors fill in when a template is used: `{{title}}`, `<% tp.date.now() %>`."""
_PADDING = re.compile(r" {3,}|-{4,}")
"""What makes the columns of a table equally wide, and lines of code begin further right: a token at most."""
_TABLE_HEAD = re.compile(r"(?:[^\n]*+\n){3}")
"""The names of the columns, the line of dashes and the first row: without a row they say nothing."""
_ANY_LEVEL = 6


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a text between two cuts.

    `parts` are the places of its body: the span without its h1 and h2 lines. `blocks` are those that it has a part of.
    """

    start: int
    stop: int
    chain: tuple[ChainHeading, ...]
    parts: tuple[tuple[int, int], ...]
    blocks: tuple[Block, ...]

    def body(self, text: str) -> tuple[str, int, int]:
        """Its text without h1 and h2 lines, and without blank lines around it; where that begins and ends in `text`.

        The places are equal where it has none.
        """
        first, last = self._span(text)
        parts = [text[max(first, start) : min(stop, last)] for start, stop in self.parts if start < last]
        return "".join(parts), first, last

    def _span(self, text: str) -> tuple[int, int]:
        first = last = None
        for start, stop in self.parts:
            part = text[start:stop]
            if part and not part.isspace():
                if first is None:
                    blank = part[: len(part) - len(part.lstrip())]
                    first = start + blank.rfind("\n") + 1
                last = start + len(part.rstrip())
        return (self.stop, self.stop) if first is None or last is None else (first, last)


def cut(
    text: str, start: int, blocks: Sequence[Block], *, max_tokens: int, piece_tokens: int, title: str = ""
) -> list[Section]:
    """The sections of `text` from character `start` on, whose blocks these are; none if there is nothing but space.

    Their spans join to `text[start:]`. What is longer than `max_tokens` is cut into pieces of `piece_tokens` or less.
    A `title` that the text itself does not have stands above all of them, as an h1 would.
    """
    if not text[start:].strip():
        return []
    found: list[Section] = []
    for section in _joined(text, start, _at_headings(blocks, title), stop=len(text)):
        length = sum(end - begin for begin, end in section.parts)
        long = length > max_tokens and _size(text, section) > max_tokens  # a character is a token at most
        found += _pieces(text, section, max_tokens, min(piece_tokens, max_tokens)) if long else [section]
    return found


def is_template(text: str, blocks: Sequence[Block]) -> bool:
    """Whether a text has placeholders, and nothing but headings beside them."""
    has_placeholder = any(
        _is_form(text, one) or (one.kind == "heading" and _PLACEHOLDER.search(text, one.start, one.stop))
        for one in blocks
    )
    return has_placeholder and all(_is_silent(text, one, _ANY_LEVEL) for one in blocks)


def key_of(chain: Sequence[ChainHeading], body: str, number: int) -> bytes:
    """32 bytes that identify a chunk: levels and texts of its headings, its body, and its number among equals."""
    headings = "".join([f"{heading.level}{heading.text}\n" for heading in chain])
    return hashlib.sha256(f"{headings}\0{body}\0{number}".encode()).digest()


class Numbers:
    """Counts equal chunks of one note."""

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def key(self, chain: Sequence[ChainHeading], body: str) -> bytes:
        """The key of the next chunk of this chain and body."""
        first = key_of(chain, body, 0)
        number = self._seen[first]
        self._seen[first] += 1
        return key_of(chain, body, number) if number else first


class LineNumbers:
    """Lines of a text by character, from 1; fastest when asked in the order of the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place, self._line = 0, 1

    def at(self, place: int) -> int:
        """The line of this character; that of the text's end for places behind it."""
        if place >= self._place:
            self._line += self._text.count("\n", self._place, place)
        else:
            self._line -= self._text.count("\n", place, self._place)
        self._place = place
        return self._line


# -- at headings -------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Group:
    """Blocks from one heading to the next."""

    start: int
    chain: tuple[ChainHeading, ...]
    blocks: list[Block]
    cut_levels: int
    """Headings up to this level begin a group; the lines of h1 and h2 are no part of its body."""

    def has_text(self, text: str) -> bool:
        return any(not _is_silent(text, block, self.cut_levels) for block in self.blocks)


def _at_headings(blocks: Iterable[Block], title: str) -> Iterator[_Group]:
    chain: tuple[ChainHeading, ...] = (ChainHeading(1, title),) if title else ()
    group: _Group | None = None
    for block in blocks:
        if block.kind == "heading" and block.level <= 2:
            if group is not None:
                yield group
            chain = _under(chain, block)
            group = _Group(block.start, chain, [block], 2)
        elif group is None:
            group = _Group(block.start, chain, [block], 2)
        else:
            group.blocks.append(block)
    if group is not None:
        yield group


def _joined(text: str, start: int, groups: Iterable[_Group], *, stop: int) -> list[Section]:
    """Groups as sections from `start` to `stop`; those without text lead the next, or end the last."""
    found: list[Section] = []
    waiting: list[Block] = []
    begin = start
    held: list[_Group] = [*groups]
    for place, group in enumerate(held):
        waiting += group.blocks
        if not group.has_text(text) and (found or place + 1 < len(held)):
            continue
        end = held[place + 1].start if place + 1 < len(held) else stop
        found.append(_section(begin, end, group.chain, waiting))
        waiting, begin = [], end
    if waiting:
        last = found[-1]
        found[-1] = _section(last.start, stop, last.chain, [*last.blocks, *waiting])
    return found


def _section(start: int, stop: int, chain: tuple[ChainHeading, ...], blocks: Sequence[Block]) -> Section:
    parts, at = [], start
    for block in blocks:
        if block.kind == "heading" and block.level <= 2:
            parts.append((at, block.start))
            at = block.stop
    parts.append((at, stop))
    return Section(start, stop, chain, tuple((one, two) for one, two in parts if one < two), tuple(blocks))


def _under(chain: tuple[ChainHeading, ...], heading: Block) -> tuple[ChainHeading, ...]:
    above = tuple(one for one in chain if one.level < heading.level)
    name = heading_text(heading.texts[0])
    return (*above, ChainHeading(heading.level, name)) if name else above


def _is_silent(text: str, block: Block, cut_levels: int) -> bool:
    """Whether it says nothing: a heading that begins a group, a line across, a comment, a form to be filled in."""
    if _is_form(text, block):
        return True
    if block.kind == "html":
        return not _COMMENT.sub("", text[block.start : block.stop]).strip()
    return block.kind == "rule" or (block.kind == "heading" and block.level <= cut_levels)


def _is_form(text: str, block: Block) -> bool:
    """Whether a block has placeholders and no word beside them, as `- [ ] {{task}}`."""
    if text.find("{{", block.start, block.stop) < 0 and text.find("<%", block.start, block.stop) < 0:
        return False
    if block.kind in ("heading", "code"):
        return False
    shown = text[block.start : block.stop]
    left = _PLACEHOLDER.sub("", shown)
    return left != shown and re.search(r"\w", left) is None


# -- long sections -----------------------------------------------------------------------------------------------------


def _size(text: str, section: Section) -> int:
    return sum(_tokens(text[start:stop]) for start, stop in section.parts)


def _tokens(text: str) -> int:
    """How many tokens a part of a section takes, without padding."""
    return estimate_tokens(_unpadded(text))


def _unpadded(text: str) -> str:
    return _PADDING.sub("  ", text) if "   " in text or "----" in text else text


def _pieces(text: str, section: Section, most: int, piece: int) -> Iterator[Section]:
    """A long section, cut at its h3 headings; parts still longer than `most` into pieces of `piece` tokens."""
    groups = [_Group(section.start, section.chain, [], 3)]
    for block in (each for whole in section.blocks for each in paragraphs(text, whole)):
        if block.kind == "heading" and block.level == 3:
            groups.append(_Group(block.start, _under(section.chain, block), [], 3))
        groups[-1].blocks.append(block)
    for part in _joined(text, section.start, groups, stop=section.stop):
        if _size(text, part) <= most:
            yield part
        else:
            yield from _between_blocks(text, part, piece)


def _between_blocks(text: str, section: Section, most: int) -> Iterator[Section]:
    """A section as pieces of at most `most` tokens, as long as they may be; all have its chain."""
    cuts = [section.start]
    wide = narrow = 0
    for start, stop in _units(text, section, most):
        said = _unpadded(text[start:stop])
        more_wide = wide_characters(said)
        more_narrow = len(said) - more_wide
        if start > cuts[-1] and wide + more_wide + (narrow + more_narrow + 3) // 4 > most:
            cuts.append(start)
            wide = narrow = 0
        wide, narrow = wide + more_wide, narrow + more_narrow
    at = 0
    for start, stop in zip(cuts, [*cuts[1:], section.stop], strict=True):
        while at < len(section.blocks) and section.blocks[at].stop <= start:
            at += 1
        last = at
        while last < len(section.blocks) and section.blocks[last].start < stop:
            last += 1
        parts = tuple((max(start, one), min(stop, two)) for one, two in section.parts if one < stop and two > start)
        yield replace(section, start=start, stop=stop, parts=parts, blocks=section.blocks[at:last])


def _units(text: str, section: Section, most: int) -> Iterator[tuple[int, int]]:
    """Places between which the section may be cut, in order: blocks, and parts of blocks that are too long."""
    begin = section.start
    for place, block in enumerate(section.blocks):
        stop = section.blocks[place + 1].start if place + 1 < len(section.blocks) else section.stop
        if block.kind == "heading":
            if block.level <= 2:
                if text[begin : block.start].strip():  # link definitions, which are no block, or headings without text
                    yield from _divided(text, begin, block.start, _BY_LINES, most)
                begin = block.stop
            continue  # it is not left behind by what it stands above
        head = _TABLE_HEAD.match(text, block.start, stop) if block.kind == "table" else None
        if head and begin <= block.start and _tokens(text[begin : head.end()]) <= most:
            yield begin, head.end()
            begin = head.end()
        kinds = _PROSE if block.kind in ("text", "quote") else _BY_LINES
        yield from _divided(text, begin, stop, kinds, most)
        begin = stop
    if begin < section.stop:
        yield from _divided(text, begin, section.stop, _PROSE, most)


def _divided(
    text: str, start: int, stop: int, marks: Sequence[re.Pattern[str]], most: int
) -> Iterator[tuple[int, int]]:
    """A range in parts of at most `most` tokens: after the first of these marks where that is enough."""
    if _tokens(text[start:stop]) <= most:
        yield start, stop
        return
    if not marks:
        yield from _hard(start, stop, most)
        return
    begin = start
    for found in marks[0].finditer(text, start, stop):
        if found.end() > begin:
            yield from _divided(text, begin, found.end(), marks[1:], most)
            begin = found.end()
    if begin < stop:
        yield from _divided(text, begin, stop, marks[1:], most)


def _hard(start: int, stop: int, most: int) -> Iterator[tuple[int, int]]:
    """A range without any mark, in parts of `most` characters: never more tokens than that."""
    for begin in range(start, stop, most):
        yield begin, min(stop, begin + most)
