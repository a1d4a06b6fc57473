"""Blocks of Markdown with their exact places: what mistune's inside must keep to."""

import re
from itertools import pairwise
from unittest import mock

import mistune
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biem.notes import parse
from biem.notes.parse import Block, blocks, paragraphs

TRAPS = """\
intro
# One { #one }

Setext two
lines
===
[link]: http://example.org "title"
> quote
> # no heading
lazy
- item
  # no heading
- second
still second
## Two
```
# no heading
```
~~~~ md
```
## no heading
~~~~
<!--
## no heading

# none either
-->
<div>
# no heading within HTML

# Three
| a | b |
|---|---|
| c | d |
---
* * *
    # indented code
1. one

   # no heading of the note
2. two
### Four ###
text **bold** `# c`
goes on
---
#hashtag
#
####### seven
    # goes on
\tgoes on, too
- # no heading
  text
> - deep
>   # no heading

####### Seven
last
-"""


def shown(text: str, found: list[Block]) -> list[tuple[str, int, str]]:
    return [(block.kind, block.level, text[block.start : block.stop].rstrip("\n")) for block in found]


@pytest.mark.req("G37")
def test_a_page_of_traps_has_exactly_these_headings_at_exactly_these_lines() -> None:
    # Given headings of both forms, and what only looks like one / When the page is parsed
    found = blocks(TRAPS)
    # Then only headings of the text are found, each with its own lines
    headings = [(level, text) for kind, level, text in shown(TRAPS, found) if kind == "heading"]
    assert headings == [
        (1, "# One { #one }"),
        (1, "Setext two\nlines\n==="),
        (2, "## Two"),
        (1, "# Three"),
        (3, "### Four ###"),
        (2, "text **bold** `# c`\ngoes on\n---"),
        (1, "#"),
        (2, "####### Seven\nlast\n-"),
    ]
    # And every block begins where the one before ends, but for blank lines and link definitions
    assert [block.start for block in found] == sorted({block.start for block in found})
    assert all(block.start == 0 or TRAPS[block.start - 1] == "\n" for block in found)
    kinds = [block.kind for block in found]
    assert kinds[3:13] == ["quote", "list", "heading", "code", "code", "html", "html", "heading", "table", "rule"]


def test_quotes_and_lists_that_another_block_ends_keep_their_places() -> None:
    # mistune puts the block that ended them before them, for a moment or for good
    text = "> a\n```\ncode\n```\n- b\n# c\n> d\n- e\n***\n1. f\n> g\n"
    assert shown(text, blocks(text)) == [
        ("quote", 0, "> a"),
        ("code", 0, "```\ncode\n```"),
        ("list", 0, "- b"),
        ("heading", 1, "# c"),
        ("quote", 0, "> d"),
        ("list", 0, "- e"),
        ("rule", 0, "***"),
        ("list", 0, "1. f"),
        ("quote", 0, "> g"),
    ]


def test_code_of_an_indent_begins_where_it_stands() -> None:
    text = "a\n\n    code\n\n    more\n\nb\n"
    assert shown(text, blocks(text)) == [("text", 0, "a"), ("code", 0, "    code\n\n    more"), ("text", 0, "b")]


def test_texts_have_no_marks_of_lists_and_quotes_and_no_code() -> None:
    text = "> quoted\n> more\n\n- one\n- two\n\n      code\n\n```\nx = 1\n```\n"
    assert [block.texts for block in blocks(text)] == [("quoted\nmore",), ("one", "two"), ()]


def test_a_table_needs_a_rule_of_as_many_cells() -> None:
    assert [block.kind for block in blocks("a | b\n--|--\nc | d\n\n|x|\n|-|-|\n\n| a \\| b |\n|---|\n")] == [
        "table",
        "text",
        "table",
    ]


def test_places_count_from_the_whole_text() -> None:
    text = "---\nx: 1\n---\n# a\n"
    assert blocks(text, 13) == [Block("heading", 13, 17, 1, ("a",))]


@pytest.mark.parametrize("end", ["", "\n", "  ", "\n\n"])
def test_paragraphs_are_one_block_until_they_are_told_apart(end: str) -> None:
    # Given paragraphs, more than are taken at once / When they are told apart
    text = "# a\n\n" + "".join(f"word {number}\nline\n\n" for number in range(200)) + f"last\n{end}"
    found = blocks(text)
    apart = [each for block in found for each in paragraphs(text, block)]
    # Then few blocks are each paragraph, in its place
    assert len(found) < 10
    assert [block.texts[0] for block in apart] == ["a", *(f"word {number}\nline" for number in range(200)), "last"]
    assert all(text.startswith(block.texts[0], block.start) for block in apart[1:])
    assert [block.stop for block in apart[1:-1]] == [block.start for block in apart[2:]]


def test_the_end_needs_no_line_break() -> None:
    assert blocks("# a") == [Block("heading", 0, 3, 1, ("a",))]
    assert blocks("") == blocks("\n \n") == []


PIECES = st.sampled_from(
    ["# a", "## b", "### c", "a", "b c", "===", "---", "- d", "  e", "    f", "1. g", "> h", "> # i", "```", "~~~",
     "<!--", "-->", "<div>", "", "", "\tj", "|k|l|", "|-|-|", "[m]: n", "***", "* o", "![p](q)", "<q>", "-",
     "2. r", "> ```"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("\n".join))
def test_blocks_are_in_order_and_begin_lines_for_any_text(text: str) -> None:
    found = blocks(text)
    starts = [block.start for block in found]
    assert starts == sorted(set(starts))
    for block in found:
        assert block.start < block.stop <= len(text)
        assert block.start == 0 or text[block.start - 1] == "\n"
        if block.level:
            lines = text[block.start : block.stop].rstrip("\n").split("\n")
            assert len(lines) > 1 or lines[0].lstrip(" ").startswith("#" * block.level)
            assert len(lines) == 1 or set(lines[-1].strip()) <= set("=-")
    assert all(one.stop <= two.start for one, two in pairwise(found))
    assert not found or found[-1].stop == len(text) or found[-1].level


@example("# a\na\n\n[m]: n")
@example("a\n\nb\n  ")
@given(st.lists(st.one_of(PIECES, st.sampled_from(["a", "长夜之光", "b = c", "", ""])), max_size=20).map("\n".join))
def test_paragraphs_and_headings_that_are_found_without_mistune_are_the_same(text: str) -> None:
    found = [each for block in blocks(text) for each in paragraphs(text, block)]
    never = re.compile("(?!)")
    with mock.patch.multiple(parse, _PROSE=never, _RUN=never, _HEADING=never):
        assert blocks(text) == found


@given(st.lists(PIECES.filter(lambda piece: ">" not in piece and "|" not in piece), max_size=14).map("\n".join))
def test_the_headings_are_those_of_mistune_itself(text: str) -> None:
    # Stamps and faster rules must not change what mistune finds
    tokens = mistune.create_markdown(renderer=None)(text)
    levels = [token["attrs"]["level"] for token in tokens if isinstance(token, dict) and token["type"] == "heading"]
    assert [block.level for block in blocks(text) if block.level] == levels


def test_boxes_and_tabs_of_sites_are_text() -> None:
    text = (
        'intro\n!!! note "My **Title**"\n    One *line*\n\n    # No heading\n\n    > quote\n'
        "    ```\n    code\n    ```\n\n"
        "???+ tip\n\n\ttabbed\n\n"
        '=== "Tab"\n\n    !!! danger\n        deep\n\n'
        "!!! alone\nnothing\n\n=== tab\n    goes on\n"
    )
    found = blocks(text)
    assert [(block.kind, block.texts) for block in found] == [
        ("text", ("intro",)),
        ("quote", ("My **Title**", "One *line*", "No heading", "quote")),
        ("quote", ("tabbed",)),
        ("quote", ("Tab", "deep")),
        ("text", ("!!! alone\nnothing",)),
        ("text", ("=== tab\n    goes on",)),
    ]
    assert "".join(text[block.start : block.stop] for block in found) == text


def test_a_box_in_a_list_is_text() -> None:
    [found] = blocks("- item\n\n    !!! note\n\n        One\n\n        Two\n")
    assert (found.kind, found.texts) == ("list", ("item", "One", "Two"))
