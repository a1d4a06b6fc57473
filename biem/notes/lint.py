"""What makes a note hard to find or to understand, by the rules of writing notes.

The h1 names the subject, each h2 makes sense without the others, core words stand in file name and headings.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from biem.domain.note import LintRule, NoteChunk, NoteFinding, ParsedNote, SkippedNote
from biem.notes import tags
from biem.notes.chunks import LineNumbers
from biem.notes.dates import date_of
from biem.notes.inline import heading_text
from biem.notes.parse import Block, blocks

_LEANS_BACK = re.compile(
    r"[\s>*_#\-+\d.)]{0,16}(?P<words>(?:它|他们|她们|该|此外|此[^外]|这[个些种样]?|那[个些种]|其(?![他它实中余])|如上|如前|上述|上面|上文|以上"
    r"|前者|后者|同上|as (?:above|mentioned|described|said|noted)|the (?:above|former|latter|same)\b|see above"
    r"|(?:it|its|they|their|them|this|that|these|those|he|she|such)\b)[^\s，。,.]{0,12})",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?。！？；：:;…|`>）)】\]”\"’'*_~]$")


def lint(note: ParsedNote | SkippedNote) -> list[NoteFinding]:
    """All findings of one note, by line. Names that collide need all paths: `scan.collisions` finds them."""
    if isinstance(note, SkippedNote):
        return [NoteFinding(note.path, 1, note.rule, note.reason)]
    found = blocks(note.text, note.chunks[0].span[0])
    note = replace(note, chunks=tuple(each for each in note.chunks if each.span[0] < each.span[1]) or note.chunks)
    lines = LineNumbers(note.text)
    headings = [block for block in found if block.level]
    findings = [
        *note.findings,
        *_no_heading(note, headings, lines),
        *_no_identifier(note, headings),
        *_too_broad(note, headings, lines),
        *_empty(note, found, lines),
        *_too_long(note),
        *_broken(note),
    ]
    return sorted(dict.fromkeys(findings), key=lambda finding: finding.line)  # pieces of one line have one finding


def _finding(note: ParsedNote, line: int, rule: LintRule, advice: str) -> NoteFinding:
    return NoteFinding(note.path, line, rule, advice)


def _no_heading(note: ParsedNote, headings: Sequence[Block], lines: LineNumbers) -> Iterator[NoteFinding]:
    is_short = len(note.chunks) == 1 and note.front.title != ""
    if not headings and not is_short and not _is_entry(note, headings):
        advice = "there is no heading: begin with `# ` and the subject, and give each part a `## ` heading"
        yield _finding(note, lines.at(note.chunks[0].span[0]), "no-heading", advice)


def _no_identifier(note: ParsedNote, headings: Sequence[Block]) -> Iterator[NoteFinding]:
    titles = [heading_text(block.texts[0]) for block in headings if block.level == 1]
    if _is_entry(note, headings):
        return
    if tags.is_idle(tags.stem(note.path)) and not any(map(_names_its_subject, (note.front.title, *titles))):
        advice = "neither the file name nor an H1 names the subject: put its name and core keywords there"
        yield _finding(note, 1, "no-identifier", advice)


def _is_entry(note: ParsedNote, headings: Sequence[Block]) -> bool:
    """Whether it is the entry of a day in a diary, which the file names, and nothing else."""
    return not headings and date_of(note.path.rpartition("/")[2]) is not None


def _names_its_subject(name: str) -> bool:
    """Whether a title or heading says what it is about; a day is the subject of an entry of a diary."""
    return not tags.is_idle(name) or date_of(name) is not None


def _too_broad(note: ParsedNote, headings: Sequence[Block], lines: LineNumbers) -> Iterator[NoteFinding]:
    for block in headings:
        name = heading_text(block.texts[0])
        if block.level <= 3 and not _names_its_subject(name):
            advice = f"the heading {name!r} fits any note: name in it what the section is about"
            yield _finding(note, lines.at(block.start), "heading-too-broad", advice)


def _empty(note: ParsedNote, found: Sequence[Block], lines: LineNumbers) -> Iterator[NoteFinding]:
    """Headings down to h3 that have nothing below: the next block is a heading of their level or above, or none."""
    said = [block for block in found if block.kind != "rule"]
    for place, block in enumerate(said):
        if 0 < block.level <= 3:
            below = said[place + 1] if place + 1 < len(said) else None
            if below is None or 0 < below.level <= block.level:
                name = heading_text(block.texts[0])
                advice = f"nothing stands below the heading {name!r}: write it, or remove the heading"
                yield _finding(note, lines.at(block.start), "empty-section", advice)


def _too_long(note: ParsedNote) -> Iterator[NoteFinding]:
    """Sections that had to be cut within, once each."""
    reported: NoteChunk | None = None
    for one, two in pairwise(note.chunks):
        if _is_one_section(one, two) and (reported is None or not _is_one_section(reported, one)):
            heading = one.headings[-1] if one.chain else "the text before the first heading"
            advice = f"the section {heading!r} is too long for one chunk and is cut: divide it by H2 or H3 headings"
            yield _finding(note, one.lines[0], "section-too-long", advice)
        reported = one if _is_one_section(one, two) else None


def _is_one_section(one: NoteChunk, two: NoteChunk) -> bool:
    return one.chain == two.chain and not _begins_at_heading(two)


def _begins_at_heading(chunk: NoteChunk) -> bool:
    return chunk.body.lstrip().startswith("#")


def _broken(note: ParsedNote) -> Iterator[NoteFinding]:
    for before, chunk in pairwise((None, *note.chunks)):
        if chunk is None:
            continue
        within_line = before is not None and note.text[chunk.span[0] - 1] != "\n"
        if before is not None and within_line and not _ENDED.search(before.body):
            advice = "a sentence goes on from the chunk before: shorten the paragraph, or divide the section"
            yield _finding(note, chunk.lines[0], "broken-across-chunks", advice)
        elif before is not None and (leans := _LEANS_BACK.match(chunk.body)):
            advice = f"it begins with {leans['words']!r}, which nothing in this chunk explains: name the subject"
            yield _finding(note, chunk.lines[0], "broken-across-chunks", advice)
