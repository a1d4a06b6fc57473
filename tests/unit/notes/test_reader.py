"""A file as a note."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.note import FrontMatter, ParsedNote, SkippedNote, StoredChunks
from biem.domain.policies.notes import NotePolicy
from biem.notes.lint import lint
from biem.notes.tags import identity
from tests.unit.notes.reading import all_tags, bodies, chains, note, reader


def test_a_note_has_what_its_file_says() -> None:
    text = "---\ntitle: Tea\ndate: 2024-05-02\n---\n# Green\r\n\r\nIt is hot.\r\n"
    read = note(text, "2023-01-01 x.md")
    assert (read.title, read.at, read.encoding) == ("Tea", datetime(2024, 5, 2, tzinfo=UTC), "utf-8")
    assert read.text == text.replace("\r\n", "\n")
    assert read.front == FrontMatter(title="Tea", date="2024-05-02")
    assert bodies(read) == ["It is hot."]
    assert read.chunks[0].lines == (7, 7)


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("# Green\n\n# Black\n\nx", "tea.md", "Green"),
        ("## Green\n\nx", "01 tea.md", "tea"),
        ("x", "2024-05-02.md", "2024-05-02.md"),
    ],
)
def test_a_title_is_found_where_there_is_one(text: str, path: str, title: str) -> None:
    assert note(text, path).title == title


def test_a_title_in_front_matter_stands_above_the_chunks_of_a_note_without_h1() -> None:
    front, text = "---\ntitle: Oolong\n---\n", "It is hot.\n\n## Water\n\nBoil it.\n"
    read = note(front + text)
    assert chains(read) == [("Oolong",), ("Oolong", "Water")]
    assert read.tags.heading == ("Oolong",)
    assert all("Oolong" not in body for body in bodies(read))
    # And an h1 is the only title of a note that has one
    assert chains(note(f"{front}# Black\n\n{text}")) == [("Black",), ("Black", "Water")]
    assert chains(note(f"{front}{text}# Black\n\nx\n")) == [(), ("Water",), ("Black",)]


def test_without_a_date_there_is_none() -> None:
    assert note("x", "tea.md").at is None
    assert note("x", "2024/05/02 tea.md").at == datetime(2024, 5, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "---\ntags: daily\n---\n# {{title}}\n\n## Weather\n\n- {{place}}\n- [ ] {{ todo }}\n",
        "# <% tp.file.title %>\n\n<% tp.date.now() %>\n\n### Later\n\n---\n",
        "# {{title}}\n\n## {{date}}\n",
        "## 会议\n\n> {{date:YYYY-MM-DD}} | {{time}}\n",
    ],
)
def test_an_unfilled_template_is_no_note(text: str) -> None:
    read = reader().read("templates/a.md", text.encode())
    assert isinstance(read, SkippedNote)
    assert "template" in read.reason


def test_a_text_about_templates_is_a_note_and_an_empty_form_in_it_is_no_chunk() -> None:
    assert bodies(note("# Vue\n\nWrite {{ message }} in the template.\n")) == ["Write {{ message }} in the template."]
    assert bodies(note("# Vue\n\n```\n{{ message }}\n```\n")) == ["```\n{{ message }}\n```"]
    assert bodies(note("# Only a heading\n")) == [""]
    read = note("# Day\n\n## Mood\n\n{{mood}}\n\n## Work\n\nThe fence is painted.\n")
    assert chains(read) == [("Day", "Work")]
    assert "The fence is painted." in bodies(read)[0]


@pytest.mark.parametrize("data", [b"---\na: b\n---\n", b"---\na: b\n---\n \n\n"])
def test_front_matter_alone_is_no_note(data: bytes) -> None:
    read = reader().read("a.md", data)
    assert isinstance(read, SkippedNote)
    assert read.rule == "unreadable"


def test_the_limits_are_those_of_the_policy() -> None:
    assert isinstance(reader(NotePolicy(max_file_bytes=3)).read("a.md", b"1234"), SkippedNote)
    with pytest.raises(ValueError, match="max_chunk_tokens"):
        NotePolicy(max_chunk_tokens=1)
    with pytest.raises(ValueError, match="tags_per_note"):
        NotePolicy(tags_per_note=25)


@pytest.mark.req("G36", partly="a body has no tag text")
def test_a_body_has_no_tag_text_that_the_file_has_not() -> None:
    read = note("---\ntags: [alpha]\n---\n# Beta\n\nbody\n", "gamma/delta.md")
    assert bodies(read) == ["body"]


@given(st.binary(max_size=300), st.text(max_size=20))
def test_no_file_breaks_the_reader(data: bytes, path: str) -> None:
    read = reader().read(path, data)
    assert read.path == path
    assert read == reader().read(path, data)


def stored(read: ParsedNote) -> StoredChunks:
    """What PostgreSQL knows of a note."""
    names = tuple(map(identity, read.tags.all))
    return StoredChunks({each.key: (each.place, *each.lines) for each in read.chunks}, names, read.tags.counts)


def test_stored_chunks_are_not_looked_through_for_tags_again() -> None:
    before = note("# Tea\n\n## Green\n\nIt is “very hot”.\n\n## Black\n\nIt is “quite mild”.\n", "drinks/tea.md")
    # Given a change in the first section / When it is read with what is stored
    text = "# Tea\n\n## Green\n\nIt is “not hot”.\n\n## Black\n\nIt is “quite mild”.\n"
    after = reader().read("drinks/tea.md", text.encode(), stored(before))
    assert isinstance(after, ParsedNote)
    # Then the other section is kept, and everything but its tags and its length is as in a fresh read
    assert [chunk.kept for chunk in after.chunks] == [False, True]
    fresh = note(text, "drinks/tea.md")
    assert after.chunks[0] == fresh.chunks[0]
    known = fresh.chunks[1]
    assert replace(after.chunks[1], kept=False, tags=known.tags, tokens=known.tokens) == known
    # And only where lines are put above it, it has moved
    assert not after.chunks[1].moved
    lower = reader().read("drinks/tea.md", f"{text[:6]}\n{text[6:]}".encode(), stored(before))
    assert isinstance(lower, ParsedNote)
    assert [chunk.moved for chunk in lower.chunks] == [False, True]


@pytest.mark.parametrize(
    ("path", "text"),
    [("food/tea.md", "# Tea\n\n## Green\n\nhot\n"), ("tea.md", "---\ntags: [new]\n---\n# Tea\n\n## Green\n\nhot\n")],
    ids=["another folder", "another tag"],
)
def test_nothing_is_kept_where_the_tags_of_the_note_are_others(path: str, text: str) -> None:
    before = note("# Tea\n\n## Green\n\nhot\n", "tea.md")
    after = reader().read(path, text.encode(), stored(before))
    assert isinstance(after, ParsedNote)
    assert not any(chunk.kept for chunk in after.chunks)


def test_a_description_in_front_matter_is_a_chunk_below_the_title() -> None:
    front = "---\ntitle: Oolong\ndescription: >\n  How **long** leaves\n  of [[Fujian]] steep.\n---\n"
    read = note(f"{front}It is hot.\n")
    assert bodies(read) == ["How **long** leaves of [[Fujian]] steep.", "It is hot."]
    assert chains(read) == [("Oolong",), ("Oolong",)]
    assert (read.chunks[0].lines, read.chunks[0].place, read.chunks[1].place) == ((3, 3), 0, 1)
    assert {"long", "Fujian"} <= all_tags(read, read.chunks[0])
    assert lint(read) == lint(note("---\ntitle: Oolong\n---\nIt is hot.\n"))
    # Below the h1, where there is one; in a language of the reader, and of TOML
    assert chains(note(f"{front}# Tea\n\nx\n"))[0] == ("Tea",)
    assert bodies(note("+++\nsummary = '泡多久'\n+++\nx\n")) == ["泡多久", "x"]
    # A note that has nothing else
    assert bodies(note("---\n描述: 泡多久\n---\n")) == ["泡多久"]


def test_a_description_that_the_note_begins_with_is_told_once() -> None:
    assert bodies(note("---\ndescription: It is hot.\n---\n# Tea\n\nIt is\nhot. Very.\n")) == ["It is\nhot. Very."]


def test_a_long_description_is_no_longer_than_a_piece() -> None:
    for word in ("steep ", "泡"):
        read = note(f"---\ndescription: {word * 900}\n---\nx\n")
        assert 140 <= read.chunks[0].tokens <= 150


def test_a_description_stays_while_it_is_the_same() -> None:
    text = "---\ndescription: How long it steeps\n---\nIt is hot.\n"
    before = note(text)
    stored = StoredChunks(
        {chunk.key: (chunk.place, *chunk.lines) for chunk in before.chunks},
        tuple(map(identity, before.tags.all)),
        before.tags.counts,
    )
    again = reader().read("note.md", text.replace("hot", "cold").encode(), stored)
    assert isinstance(again, ParsedNote)
    assert [(chunk.kept, chunk.moved) for chunk in again.chunks] == [(True, False), (False, False)]
    moved = reader().read("note.md", text.replace("---\ndes", "---\ntag:\ndes").encode(), stored)
    assert isinstance(moved, ParsedNote)
    assert [(chunk.kept, chunk.moved) for chunk in moved.chunks] == [(True, True), (True, True)]
