"""Text within a block: plain text and what is bold, from mistune's inline parser."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mistune import InlineParser

from biem.notes.placeholder import HOLE

_MOST_CHARS = 20_000
"""Characters of one block that are read for tags."""
_MARKS = re.compile(r"[*_`\[\]<&\\!]")
_BOLD = re.compile(r"(?<!\*)\*\*(?=\w)([^*\n]*\w)\*\*(?!\*)")
"""Text that is bold in any surroundings: by CommonMark's rules, that depends on the characters at its ends."""
_OTHER_MARKS = re.compile(r"[_`\[\]<&\\!]")
_ANCHOR = re.compile(r"[ \t]*\{[ \t]*(?:[#.:][^{}\n]{0,200}|/\*[^{}\n]{0,200}\*/[ \t]*)\}[ \t]*$")
"""`{ #anchor }` or `{/*anchor*/}` after a heading, as several site generators write it."""
_SPACES = re.compile(r"\s+")
_LONGEST_HEADING = 200


@dataclass(frozen=True, slots=True)
class PlainText:
    """`bold` are the texts of `**…**`, in order."""

    text: str
    bold: tuple[str, ...] = ()


_PARSER = InlineParser()


def plain(source: str) -> PlainText:
    """The text of a block as a reader sees it, without marks; of images the alternative text."""
    source = source[:_MOST_CHARS]
    if _MARKS.search(source) is None:
        return PlainText(source)
    if _OTHER_MARKS.search(source) is None:
        shown = _BOLD.sub(r"\1", source)
        if "*" not in shown:
            return PlainText(shown, tuple(_BOLD.findall(source)))
    bold: list[str] = []
    tokens = _PARSER(source, {"ref_links": {}})
    return PlainText("".join(_parts(tokens, bold)), tuple(bold))


def heading_text(source: str) -> str:
    """A heading on one line, without marks and anchor; at most 200 characters."""
    source = _ANCHOR.sub("", source)[:_MOST_CHARS]
    shown = source if _MARKS.search(source) is None else _heading(source)
    return _SPACES.sub(" ", shown).strip()[:_LONGEST_HEADING].rstrip()


def _heading(source: str) -> str:
    """As `plain`, but code stays: a heading often names what it is about as code."""
    tokens = _PARSER(source, {"ref_links": {}})
    return "".join(_parts(tokens, [], code=True)).replace(HOLE, "") or source.strip("`* ")


def _parts(tokens: Sequence[Mapping[str, Any]], bold: list[str], *, code: bool = False) -> Iterator[str]:
    for token in tokens:
        kind = token["type"]
        if kind in ("softbreak", "linebreak"):
            yield "\n"
        elif kind == "codespan" and code:
            yield html.unescape(token["raw"])
        elif kind in ("codespan", "inline_html"):
            yield HOLE
        elif kind == "strong":
            inside = "".join(_parts(token["children"], [], code=code))
            bold.append(inside)
            yield inside
        elif "children" in token:
            yield from _parts(token["children"], bold, code=code)
        elif "raw" in token:
            yield token["raw"]
