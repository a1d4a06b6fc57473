"""Notes are cut at headings, and long sections further; nothing is lost or doubled."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from biem.domain.note import ChainHeading
from biem.domain.policies.notes import NotePolicy
from biem.domain.tokens import estimate_tokens
from biem.notes.chunks import LineNumbers, key_of
from tests.unit.notes.reading import bodies, chains, note

SMALL = NotePolicy(max_chunk_tokens=32)
SENTENCE = "The lake lies in a wide valley. "


@pytest.mark.req("G35", "C34")
def test_the_example_gives_two_chunks_with_all_their_headings() -> None:
    # Given two sections, the first with its own part / When they are cut
    read = note("# 文档标题\n\n## 章节1\n\nA\n\n### 小节1.1\n\nB\n\n## 章节2\n\nC\n")
    # Then H1 and H2 are boundaries, and H3 stays inside and is a tag
    assert bodies(read) == ["A\n\n### 小节1.1\n\nB", "C"]
    assert chains(read) == [("文档标题", "章节1"), ("文档标题", "章节2")]
    tags = [[*read.tags.heading, *chunk.tags.heading] for chunk in read.chunks]
    assert tags == [["文档标题", "章节1", "小节1.1"], ["文档标题", "章节2"]]


def test_text_before_the_first_heading_and_a_preamble_are_chunks() -> None:
    read = note("before\n\n# Tea\n\npreamble\n\n## Green\n\ngreen\n\n# Coffee\n\n## Black\n\nblack\n")
    assert bodies(read) == ["before", "preamble", "green", "black"]
    assert chains(read) == [(), ("Tea",), ("Tea", "Green"), ("Coffee", "Black")]
    assert [chunk.depth for chunk in read.chunks] == [0, 1, 2, 2]
    assert [chunk.lines for chunk in read.chunks] == [(1, 1), (5, 5), (9, 9), (15, 15)]


@pytest.mark.req("G37")
def test_only_headings_of_the_text_cut() -> None:
    read = note("# A\n\n```\n## code\n```\n\n<!--\n## comment\n-->\n\n> ## quote\n\nB\n---\n\nb\n")
    assert chains(read) == [("A",), ("A", "B")]


def test_headings_without_text_lead_what_follows() -> None:
    read = note("# A\n\n## Empty\n\n---\n\n## B\n\nb\n\n## Last\n")
    assert bodies(read) == ["---\n\n\nb"]
    assert chains(read) == [("A", "B")]
    assert read.chunks[0].span == (0, len(read.text))


def test_a_note_of_headings_alone_is_one_chunk_without_body() -> None:
    read = note("# A\n\n## B\n")
    assert bodies(read) == [""]
    assert chains(read) == [("A", "B")]


def test_a_long_section_is_cut_at_h3_first() -> None:
    text = "# Lakes\n\n## North\n\nfew words\n\n" + "".join(f"### {n} Lake\n\n{SENTENCE * 3}\n\n" for n in (1, 2))
    read = note(text, policy=SMALL)
    assert chains(read) == [("Lakes", "North"), ("Lakes", "North", "1 Lake"), ("Lakes", "North", "2 Lake")]
    assert [body.split("\n")[0] for body in bodies(read)] == ["few words", "### 1 Lake", "### 2 Lake"]


def test_a_long_section_is_cut_between_blocks_then_at_sentences() -> None:
    paragraphs = ["a" * 100 + ".", "b" * 100 + ".", SENTENCE * 8]
    read = note("## Lakes\n\n" + "\n\n".join(paragraphs), policy=SMALL)
    assert bodies(read)[:2] == paragraphs[:2]
    assert all(body.startswith("The lake") and body.endswith("valley.") for body in bodies(read)[2:])
    assert len(read.chunks) > 3


def test_only_what_is_too_long_is_cut_and_then_into_small_pieces() -> None:
    # Given parts of 60 and of more than 100 tokens / When at most 100 may stay together, and pieces have 40
    paragraph = "湖泊在山谷里。\n\n"
    text = f"## Lakes\n\n### One\n\n{paragraph * 9}### Two\n\n{paragraph * 20}"
    read = note(text, policy=NotePolicy(max_chunk_tokens=100, piece_tokens=40))
    sizes = [chunk.tokens for chunk in read.chunks]
    # Then the first is whole, and the second is in pieces
    assert 60 < sizes[0] <= 100
    assert len(sizes) > 3
    assert max(sizes[1:]) <= 40


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("```\n" + "x = 1234567\n" * 40 + "```\n", "\n"),
        ("| a | b |\n|---|---|\n" + "| one | two |\n" * 40, "\n"),
        ("- item of a list\n" * 40, "\n"),
        ("湖泊在宽阔的山谷里。" * 20, "。"),
        ("“他说：‘这里很好。’” " * 20, "”"),
        ("words " * 200, " "),
    ],
)
def test_long_blocks_are_cut_where_it_does_least_harm(text: str, mark: str) -> None:
    read = note(text, policy=SMALL)
    assert len(read.chunks) > 2
    assert all(read.text[chunk.span[1] - 1] == mark for chunk in read.chunks[:-1])


def test_spaces_that_make_columns_equally_wide_are_no_tokens() -> None:
    # Given a table whose columns were made equally wide by an editor, and code that begins far right
    rows = "".join(f"| `{name}`{' ' * 80} | {'words of a cell':<120} |\n" for name in ("one", "two", "three"))
    table = f"| {'name':<85} | {'meaning':<120} |\n| {'-' * 85} | {'-' * 120} |\n{rows}"
    code = "```\n" + f"{' ' * 40}call(one)\n" * 4 + "```\n"
    # Then each is as long as what it says
    policy = NotePolicy(max_chunk_tokens=100, piece_tokens=50)
    assert bodies(note(f"## Options\n\n{table}", policy=policy)) == [table.strip()]
    assert len(note(f"## Calls\n\n{code}", policy=policy).chunks) == 1


def test_the_names_of_columns_stay_with_a_row() -> None:
    # Given a table below a paragraph that fills a piece but for the names of the columns
    table = "| name | number |\n|---|---|\n" + "| pine | 12345 |\n" * 20
    read = note(f"## Trees\n\n{'word ' * 19}\n\n{table}", policy=SMALL)
    # Then no piece ends, and none begins, within its head
    assert bodies(read)[1].startswith("| name | number |\n|---|---|\n| pine | 12345 |")


def test_a_block_without_any_mark_is_cut_hard() -> None:
    read = note("湖" * 100, policy=SMALL)
    assert bodies(read) == ["湖" * 32] * 3 + ["湖" * 4]


def test_a_chunk_keeps_its_key_while_headings_and_body_stay() -> None:
    # Given a note / When a section is put above another, and the rest is moved
    before = note("# A\n\n## B\n\nb\n\n## C\n\nc\n")
    after = note("# A\n\nnew\n\n## C\n\nc\n\n\n## B\n\nb\n")
    # Then both sections are what they were
    assert {chunk.key for chunk in before.chunks} < {chunk.key for chunk in after.chunks}


def test_equal_chunks_have_their_own_keys() -> None:
    read = note("## A\n\nsame\n\n## A\n\nsame\n\n## B\n\nsame\n")
    assert len({chunk.key for chunk in read.chunks}) == 3
    assert read.chunks[0].key == note("## A\n\nsame\n").chunks[0].key


def test_a_key_depends_on_levels_and_texts_of_headings_and_on_the_body() -> None:
    chain = (ChainHeading(1, "a"), ChainHeading(2, "b"))
    others = [
        key_of((ChainHeading(2, "a"), ChainHeading(2, "b")), "c", 0),
        key_of((ChainHeading(1, "a"),), "b\nc", 0),
        key_of(chain, "d", 0),
        key_of(chain, "c", 1),
        key_of((), "c", 0),
        key_of(chain, "c", 0),
    ]
    assert len(set(others)) == len(others)
    assert all(len(key) == 32 for key in others)


def test_lines_count_from_one() -> None:
    lines = LineNumbers("a\n\nb")
    assert [lines.at(place) for place in range(5)] == [1, 1, 2, 3, 3]
    assert LineNumbers("").at(0) == 1


LINES = st.sampled_from(
    ["# A", "## B", "### C", "Setext", "===", "---", "text", "湖泊在山谷里。" * 6, "- item", "  more", "> quote", "```",
     "<!-- x -->", "| a | b |", "|---|---|", "    code", "", "", "word " * 20, "[a]: b", "1. one", "<div>", "## ", "#"]
)  # fmt: skip


@pytest.mark.req("G36", "G38", partly="chunks of a file")
@given(st.lists(LINES, min_size=1, max_size=24).map("\n".join).filter(str.strip))
@example("# A\n## B\n### C\n" + "word " * 60 + "\n### C\n### C\n")
@example("[a]: b\n# A\n### C\n### C\n### C\n" + "word " * 20)
@example("---\na: 1\n---\n# A")
@example("===\n- item\n===\n    code\n" + "word " * 20)
def test_spans_join_to_the_text_and_bodies_hold_no_heading_of_theirs(text: str) -> None:
    # Given any text / When it is read and cut
    read = note(text + "\n\nend\n", policy=SMALL)
    spans = [chunk.span for chunk in read.chunks]
    # Then the spans are the text after the front matter, each character once
    assert "".join(read.text[start:stop] for start, stop in spans) == read.text[spans[0][0] :]
    assert [start for start, _ in spans[1:]] == [stop for _, stop in spans[:-1]]
    assert spans[-1][1] == len(read.text)
    # And bodies are pieces of them, without H1 and H2, and not too long
    for chunk in read.chunks:
        inside = read.text[slice(*chunk.span)]
        assert all(line in inside for line in chunk.body.split("\n"))
        assert estimate_tokens(re.sub(" {3,}|-{4,}", "  ", chunk.body)) <= SMALL.max_chunk_tokens  # padding is no text
        assert chunk.body.strip("\n") == chunk.body.rstrip() == chunk.body
        if chunk.body:
            lines = read.text.split("\n")
            assert lines[chunk.lines[0] - 1].strip().endswith(chunk.body.split("\n")[0].strip()[-20:])
    # And the second time gives the same
    again = note(text + "\n\nend\n", policy=SMALL)
    assert [chunk.key for chunk in again.chunks] == [chunk.key for chunk in read.chunks]
    assert len({chunk.key for chunk in read.chunks}) == len(read.chunks)


@pytest.mark.req("G38", partly="chunks of a file")
@given(st.lists(LINES, min_size=1, max_size=24).map("\n".join))
def test_what_is_no_heading_stands_in_exactly_one_body(text: str) -> None:
    # Given text with marked words / When it is cut
    marked = "\n\n".join(f"{line}\n\nmark{place}x" for place, line in enumerate(text.split("\n")))
    read = note(marked, policy=SMALL)
    # Then each stands in one body
    for place in range(text.count("\n") + 1):
        assert sum(body.count(f"mark{place}x") for body in bodies(read)) == 1
