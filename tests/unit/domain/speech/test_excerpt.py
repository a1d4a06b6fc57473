"""The part of a long text that a question is about."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.speech.excerpt import excerpt


def words(text: str) -> list[str]:
    return text.lower().replace(".", " ").replace("!", " ").replace("?", " ").split()


def characters(text: str) -> list[str]:
    return list(text)


STORY = "We met at noon. The tea was cold. Ann lost her red umbrella in Rome! She was sad. Bob drove home at last."


def test_a_short_text_is_shown_whole() -> None:
    assert excerpt("tea at five", 20, {"umbrella"}, words) == "tea at five"


@pytest.mark.req("B56", partly="long texts keep what the question is about")
def test_a_long_text_shows_the_sentences_of_the_question_in_their_order() -> None:
    # Given a story and questions / When little of it may be told / Then it is what is asked for, with signs of gaps
    assert excerpt(STORY, 50, {"umbrella"}, words) == "... Ann lost her red umbrella in Rome! ..."
    assert excerpt(STORY, 60, {"umbrella"}, words) == "... Ann lost her red umbrella in Rome! She was sad. ..."
    assert excerpt(STORY, 60, {"tea", "bob"}, words) == "... The tea was cold. ... Bob drove home at last."
    assert excerpt(STORY, 40, {"met", "noon", "cold"}, words) == "We met at noon. The tea was cold. ..."


@pytest.mark.req("B56", partly="in Chinese")
def test_the_number_of_an_item_stays_with_it() -> None:
    text = "Minutes\n1. Ann brings tea.\n2. Bob sails.\n3. Cleo sings.\n12. Dan bakes.\n13. Eve reads."
    shown = excerpt(text, 40, {"bakes"}, words)
    assert "12. Dan bakes." in shown
    assert not re.search(r"\d\. \.\.\.", shown)


def test_statements_to_tell_come_before_sentences_with_words_of_the_question() -> None:
    # Given statements of a text, one an item after its heading / Then their sentences are shown, best first in room
    assert (
        excerpt(STORY, 50, {"tea"}, words, ["Bob drove home at last."])
        == "... The tea was cold. ... Bob drove home at last."
    )
    assert excerpt(STORY, 40, {"tea"}, words, ["She was sad."]) == "... She was sad. Bob drove home at last."
    notes = "Minutes:\n- Ann brings tea\n- Bob sails to Rome with all of us\n- Cleo sings"
    assert excerpt(notes, 36, {"rome"}, words, ["Minutes: Ann brings tea"]) == "Minutes: - Ann brings tea ..."
    assert excerpt(notes, 40, {"tea"}, words, ["Cleo sings"]) == "... - Ann brings tea ... - Cleo sings"


def test_chinese_sentences_are_treated_alike() -> None:
    story = "我们中午见面。茶是冷的。安在罗马丢了红色的伞！她很难过。鲍勃最后开车回家。"
    assert excerpt(story, 24, set("伞罗马"), characters) == "... 安在罗马丢了红色的伞！ ..."


def test_where_nothing_is_asked_for_the_beginning_is_left_to_the_caller() -> None:
    assert excerpt(STORY, 30, {"nobody"}, words) == STORY
    assert excerpt(STORY, 30, set(), words) == STORY


def test_of_a_line_without_punctuation_the_part_that_is_asked_for_is_shown() -> None:
    # Given a best sentence that is too long, with spaces or without any / Then the part with the terms is shown
    talk = "and then we talked about this and that " * 30
    assert "the red umbrella is ann's" in excerpt(f"{talk} the red umbrella is ann's {talk}", 80, {"umbrella"}, words)
    line = "后来大家一起出去走走看看" * 60
    shown = excerpt(f"{line}小安的红伞丢在罗马{line}", 60, set("伞罗马"), characters)
    assert "小安的红伞丢在罗马" in shown
    assert shown.startswith("...")
    assert len(shown) <= 60
    assert excerpt("umbrella" * 50, 12, {"u"}, characters) == "umbrella" * 50


def test_of_a_book_the_part_with_the_terms_is_read() -> None:
    # Given a text of which only a part is split into words / Then it is the part with the terms, wherever that stands
    page = "Nothing of note was said that day. " * 1_000
    assert excerpt(f"{page}Ann's umbrella is red. {page}", 60, {"umbrella"}, words).startswith(
        "... Ann's umbrella is red."
    )
    assert excerpt(f"{page}The umbrella is Ann's.", 60, {"umbrella"}, words).endswith("The umbrella is Ann's.")
    line = "后来大家一起出去走走看看。" * 3_000
    assert "小安的红伞丢在罗马" in excerpt(f"{line}小安的红伞丢在罗马。{line}", 60, set("伞罗马"), characters)


@given(
    st.lists(st.sampled_from(["Tea is hot. ", "Ann!", "sun\n", "雨。", "no end ", "? "]), max_size=40),
    st.integers(1, 80),
)
def test_what_is_chosen_fits_and_is_of_the_text(pieces: list[str], limit: int) -> None:
    # Given any text / When a part of it is chosen / Then it fits, or is one sentence or all, for the caller to cut
    text = "".join(pieces)
    shown = excerpt(text, limit, {"tea", "雨。"}, words)
    said = " ".join(text.split())
    assert all(word in said for word in shown.replace("...", " ").split())
    assert len(shown) <= limit or shown in text


def test_a_book_is_read_in_bounded_time() -> None:
    # Given a text that no one tells whole / When a part of it is chosen / Then only its beginning is read
    read: list[str] = []

    def counted(text: str) -> list[str]:
        read.append(text)
        return words(text)

    excerpt("Ann drinks tea. " * 20_000, 200, {"tea"}, counted)
    assert sum(map(len, read)) <= 20_000
