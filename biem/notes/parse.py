"""The blocks of a Markdown text with their positions, from mistune's block parser.

mistune's tokens have no positions. Here its state stamps each token with the place where its rule matched; this relies
on the inside of version 3.4, which a contract test holds. Headings within fences, comments, quotes and lists are no
headings of the text.
"""

import re
import string
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from operator import itemgetter
from typing import Any, Literal, NamedTuple

from mistune import BlockParser
from mistune.core import BlockState

BlockKind = Literal["heading", "text", "prose", "list", "quote", "code", "table", "html", "rule"]
"""`prose` are several paragraphs one after another; `paragraphs` tells them apart."""

_KINDS: Mapping[str, BlockKind] = {
    "heading": "heading",
    "paragraph": "text",
    "block_text": "text",
    "prose": "prose",
    "list": "list",
    "block_quote": "quote",
    "block_code": "code",
    "table": "table",
    "block_html": "html",
    "thematic_break": "rule",
}
_TABLE = (
    r"^ {0,3}(?=[^\s|]|\|)[^\n|]*+\|[^\n]*+\n"
    r"(?P<table_rule> {0,3}\|?+(?:[ \t]*+:?+-++:?+[ \t]*+(?:\||(?=\n|\Z)))++[ \t]*+)$"
)
"""A row and the line of dashes below it."""
_BLANK = r"^[ \t\v\f]*+\n(?:[ \t\v\f]*+\n){0,1000}+"
_RULE = r"^ {0,3}(?:(?:-[ \t]*+){3}[- \t]*+|(?:_[ \t]*+){3}[_ \t]*+|(?:\*[ \t]*+){3}[* \t]*+)$"
"""Both match what mistune's own do, in less time: a match holds the interpreter."""
_LINES, _BLANKS = r"(?:[^\s\d!-/:-@\[-`{-~][^\n|]*+\n)++", r"(?:(?:[ \t]*+\n)++|[ \t]++\Z)"
_PROSE = re.compile(rf"^({_LINES}){_BLANKS}", re.MULTILINE)
"""Lines that begin with no mark, none of which can be a row of a table, and the blank lines below: a paragraph."""
_RUN = re.compile(rf"^(?:{_LINES}{_BLANKS}){{1,64}}+", re.MULTILINE)
"""Paragraphs. They need a block each only where a section is cut within, or read for tags: seldom in an edited note."""
_HEADING = re.compile(r"^(#{1,6})[ \t]++([^\n#]*+)\n((?:[ \t]*+\n)*+)", re.MULTILINE)
"""A heading without marks in its text, and the blank lines below."""
_ROW_END = re.compile(r"(?<!\\)\|")
_ADMONITION = r"""^ {0,3}(?:!!!|\?\?\?\+?)[ \t]++[^\W\d_][^\n]*+$|^ {0,3}===[!+]?[ \t]++["'][^\n]++$"""
"""`!!! note "Title"` of Python-Markdown, `??? tip` that can be folded, `=== "Tab"`; the text below is indented."""
_INDENTED = re.compile(r"(?:[ \t]*+\n)*+(?: {4}|\t)[ \t]*+[^\s][^\n]*+(?:\n|\Z)")
_CONTAINERS = ("block_quote", "list", "admonition")
_INDENT = re.compile(r"^(?: {4}|\t)", re.MULTILINE)
_TITLE = re.compile(r"""["']([^\n]*)["'][ \t]*+$""")


class Block(NamedTuple):
    """A top-level block of a text.

    It begins at character `start`; `stop` is the character after its own lines for a heading, and for other blocks that
    after the blank lines which follow. `texts` are the sources of its paragraphs and headings, without the marks of
    lists and quotes; code and HTML have none, and `prose` has none yet.
    """

    kind: BlockKind
    start: int
    stop: int
    level: int = 0
    texts: tuple[str, ...] = ()


class _Rope:
    """A text that grows in constant time: a paragraph gets its lines one by one."""

    __slots__ = ("parts",)

    def __init__(self, text: str) -> None:
        self.parts = [text]

    def __iadd__(self, text: str) -> "_Rope":
        self.parts.append(text)
        return self

    def __str__(self) -> str:
        return "".join(self.parts)


class _PlacedState(BlockState):
    """Stamps each token with the place where it begins in this state's source."""

    def __init__(self, parent: BlockState | None = None) -> None:
        super().__init__(parent)
        if parent is not None:  # mistune caches the blank lines of one source there: shared, they are sought ever again
            self.env: MutableMapping[str, Any] = {"ref_links": parent.env["ref_links"]}

    def add_paragraph(self, text: str) -> None:
        last = self._open_paragraph()
        if last is None:
            last = {"type": "paragraph", "text": _Rope(text), "start": self.cursor}
            self.tokens.append(last)
        else:
            last["text"] += text
        last["end"] = self.cursor + len(text)

    def append_paragraph(self) -> int | None:
        last = self._open_paragraph()
        if last is None:
            return None
        end = self.find_line_end()
        last["text"] += self.get_text(end)
        last["end"] = end
        return end

    def _open_paragraph(self) -> dict[str, Any] | None:
        """The paragraph that ends at the cursor; mistune takes the last one even if a quote stands between."""
        last = self.last_token()
        return last if last and last["type"] == "paragraph" and last["end"] == self.cursor else None


class _PlacedParser(BlockParser):
    """Gives tokens the place where their rule matched, also if the cursor moved since."""

    state_cls = _PlacedState
    BLANK_LINE = re.compile(_BLANK, re.MULTILINE)

    def parse_method(self, m: re.Match[str], state: BlockState) -> int | None:
        before = len(state.tokens)
        end = super().parse_method(m, state)
        for token in state.tokens[max(0, before - 1) :]:  # a quote is put before the block that ended it
            token.setdefault("start", m.start())
        if m.lastgroup in ("atx_heading", "setex_heading") and end and state.tokens[-1]["type"] == "heading":
            state.tokens[-1].setdefault("stop", end)
        return end

    def _parse_indent_code_fast(self, state: BlockState) -> int | None:
        """The only rule that mistune applies without `parse_method`, and the first."""
        if state.parent is None and (after := _plain(state)) > state.cursor:
            return after
        before, start = len(state.tokens), state.cursor
        end = super()._parse_indent_code_fast(state)
        for token in state.tokens[before:]:
            token["start"] = start
        return end


def _plain(state: BlockState) -> int:
    """Take the paragraphs and headings from the cursor on; returns where they end.

    They are most of a text, and mistune looks at each of their lines three times.
    """
    source, tokens, place, is_blank = state.src, state.tokens, state.cursor, False
    if found := _PROSE.match(source, place):
        state.add_paragraph(found[1])  # or the rest of one
        place, is_blank = found.end(), True
    while True:
        if found := _RUN.match(source, place):
            tokens.append({"type": "prose", "start": place})
            is_blank = True
        elif found := _HEADING.match(source, place):
            level, text = len(found[1]), found[2].strip(string.whitespace)
            tokens.append(
                {"type": "heading", "text": text, "attrs": {"level": level}, "start": place, "stop": found.start(3)}
            )
            is_blank = bool(found[3])
        else:
            break
        place = found.end()
    if is_blank:
        state.append_token({"type": "blank_line"})
    return place


def _parse_table(_parser: BlockParser, m: re.Match[str], state: BlockState) -> int | None:
    """A table of any rows: they end at a blank line. Each line is looked at once."""
    head, rule = m.group(0).split("\n", 1)
    if _cells(head) != _cells(rule):
        return None
    end = m.end() + 1
    while end < state.cursor_max:
        line = state.get_line(end)
        if "|" not in line:
            break
        end += len(line)
    state.append_token({"type": "table", "text": state.get_text(end)})
    return end


def _cells(row: str) -> int:
    row = row.strip()
    return len(_ROW_END.findall(row)) + 1 - row.startswith("|") - (row.endswith("|") and not row.endswith("\\|"))


def _parse_admonition(parser: BlockParser, m: re.Match[str], state: BlockState) -> int | None:
    """A box or a tab, as a quote: its title, and the indented text below with a blank line or without."""
    end = m.end() + 1
    while found := _INDENTED.match(state.src, end, state.cursor_max):
        end = found.end()
    if end == m.end() + 1:
        return None  # a line like others
    title = _TITLE.search(m.group(0))
    shown = f"{title[1]}\n\n" if title else ""
    child = state.child_state(shown + _INDENT.sub("", state.src[m.end() + 1 : end]))
    is_deep = state.depth() >= parser.max_nested_level - 1
    parser.parse(child, [rule for rule in parser.block_quote_rules if not is_deep or rule not in _CONTAINERS])
    state.append_token({"type": "block_quote", "children": child.tokens})
    return end


def _parser() -> BlockParser:
    parser = _PlacedParser()
    parser.specification |= {"blank_line": _BLANK, "thematic_break": _RULE}
    parser.register("table", _TABLE, _parse_table)
    parser.register("admonition", _ADMONITION, _parse_admonition, before="setex_heading")
    parser.insert_rule(parser.block_quote_rules, "admonition")
    parser.insert_rule(parser.list_rules, "admonition")
    return parser


_PARSER = _parser()


def blocks(text: str, start: int = 0) -> list[Block]:
    """The blocks of `text` from character `start` on, in order. Line breaks must be `\\n`."""
    source = text[start:]
    state = _PlacedState()
    state.process(source if source.endswith("\n") else f"{source}\n")
    _PARSER.parse(state)
    tokens = sorted((token for token in state.tokens if token["type"] in _KINDS), key=itemgetter("start"))
    found, end = [], len(source)
    for token in reversed(tokens):
        found.append(_block(token, start, end))
        end = token["start"]
    return found[::-1]


def paragraphs(text: str, block: Block) -> Iterator[Block]:
    """The paragraphs of `prose`, each as a block; another block as it is."""
    if block.kind != "prose":
        yield block
        return
    place = block.start
    while found := _PROSE.match(text, place, block.stop):
        is_last = _PROSE.match(text, found.end(), block.stop) is None  # a link's definition may follow
        yield Block("text", place, block.stop if is_last else found.end(), 0, (found[1].strip(),))
        place = found.end()


def _block(token: Mapping[str, Any], offset: int, end: int) -> Block:
    kind, start = _KINDS[token["type"]], offset + token["start"]
    texts = tuple(_texts([token])) if "children" in token else _own(token)
    if kind == "heading":
        return Block(kind, start, offset + min(token["stop"], end), token["attrs"]["level"], texts)
    return Block(kind, start, offset + end, 0, texts)


def _own(token: Mapping[str, Any]) -> tuple[str, ...]:
    return (str(token["text"]).strip(),) if "text" in token else ()


def _texts(tokens: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The sources of all paragraphs and headings among these tokens, which mistune nests at most 20 deep."""
    for token in tokens:
        if "children" in token:
            yield from _texts(token["children"])
        else:
            yield from _own(token)
