"""Text that is accepted, cut and shown."""

import subprocess
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.text import counted, cut_bytes, one_line, rejoined, require_clean, sha256, storable
from biem.domain.tokens import wide_characters
from biem.errors import InvalidInput

clean = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@given(text=clean)
def test_text_that_a_database_can_hold_is_accepted(text: str) -> None:
    # Given any such text / When it is checked / Then nothing happens
    require_clean(text, "text")


@pytest.mark.parametrize(
    ("text", "message"),
    [("ab\0c", r"the field.*NUL.*position 2"), ("\ud83d alone", r"U\+D83D.*position 0"), ("x\udc00", r"U\+DC00")],
)
def test_text_that_no_database_can_hold_is_refused_by_name_and_place(text: str, message: str) -> None:
    # Given NUL or half a character / When it is checked / Then the message leads to it
    with pytest.raises(InvalidInput, match=message):
        require_clean(text, "the field")


@pytest.mark.req("X9", partly="text hashes")
def test_the_hash_of_a_text_is_the_same_in_every_process() -> None:
    # Given another process with another seed for the language's own hash
    code = "from biem.domain.text import sha256; from biem.domain.scope import Scope; print(sha256('爱').hex())"
    environment = {"PYTHONHASHSEED": "1"}

    # When both hash a text
    theirs = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)

    # Then they agree, also with the standard
    assert theirs.stdout.strip() == sha256("爱").hex()
    assert sha256("abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.req("X23", partly="text is never cut inside a character")
@given(text=clean, limit=st.integers(0, 60))
def test_cutting_by_bytes_keeps_the_longest_head_of_whole_characters(text: str, limit: int) -> None:
    # Given a limit / When a text is cut
    cut = cut_bytes(text, limit)

    # Then it is a head of the text, within the limit, and one more character would not be
    assert text.startswith(cut)
    assert len(cut.encode()) <= limit
    assert cut == text or len(text[: len(cut) + 1].encode()) > limit


@given(text=clean, limit=st.integers(3, 40))
def test_one_line_has_no_break_no_control_character_and_its_length(text: str, limit: int) -> None:
    # Given a width / When a text is put on one line
    line = one_line(text, limit)

    # Then it fits, and nothing in it can move, hide or break
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert not any(unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} for c in line)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("  a\n\n b\tc\r\nd ", "a b c d"),
        ("a\u2028b\u2029c\x85d\x0be", "a b c d e"),
        ("a\x0cb\x1cc", "a b c"),
        ("in\u200bvis\u202eible\ufeff", "invisible"),
        ("0123456789", "0123456789"),
        ("01234567890", "0123456..."),
        ("012345 7890", "012345..."),
        ("\x1b[31mred", "[31mred"),
        ("一二三四五六七八九十甲", "一二三四五六七..."),
    ],
)
def test_one_line_shows_what_can_be_read(text: str, shown: str) -> None:
    # Given a text with breaks, controls or too many characters / When it is shown in ten / Then it reads like this
    assert one_line(text, 10) == shown


@given(st.text(st.characters(codec=None)))
def test_what_postgresql_does_not_take_is_replaced_and_nothing_else(text: str) -> None:
    assert storable(text) == "".join("\ufffd" if c == "\0" or "\ud800" <= c <= "\udfff" else c for c in text)


@given(st.text(st.sampled_from("aé\u2e7f\u2e80长\U0001f600 \n")))
def test_each_character_from_cjk_on_is_a_token(text: str) -> None:
    assert wide_characters(text) == sum(c > "\u2e7f" for c in text)


@pytest.mark.parametrize(
    ("number", "one", "several", "said"),
    [
        (1, "memory", "", "1 memory"),
        (2, "memory", "", "2 memories"),
        (0, "file", "", "0 files"),
        (1, "line is", "lines are", "1 line is"),
        (3, "line is", "lines are", "3 lines are"),
    ],
)
def test_what_is_counted_stands_in_its_number(number: int, one: str, several: str, said: str) -> None:
    assert counted(number, one, several) == said


@pytest.mark.parametrize(
    ("parts", "text", "whole"),
    [
        (["每周五", "晚上有读书会"], "每周五晚上有读书会，限十五人", "每周五晚上有读书会"),
        (["每周五", "限十五人"], "每周五晚上有读书会，限十五人", "每周五 限十五人"),
        (
            ["the gym opens at 7", "the pool at 9"],
            "the gym opens at 7, the pool at 9",
            "the gym opens at 7 the pool at 9",
        ),
        (["I hiking in the Tatras"], "I'm out in May, hiking in the Tatras", "hiking in the Tatras"),
        (["in other words"], "said so", "in other words"),
        (["one"], "one, two", "one"),
        ([], "one", ""),
    ],
)
def test_parts_of_a_text_are_joined_as_they_stand_in_it(parts: list[str], text: str, whole: str) -> None:
    assert rejoined(parts, text) == whole
