"""What is asked: sentences, and who is meant."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.engine.query.question import (
    Query,
    Sentence,
    asks_for_a_reason,
    asks_of_the_past,
    asks_what_was,
    is_asked,
    named_in,
    sentences_of,
    without_names,
)


def count(text: str) -> int:
    """Different words; each Chinese character is one."""
    return len(set("".join(f" {c} " if ord(c) > 0x2E7F else c for c in text).split()))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Where did we stay?", ["Where did we stay?"]),
        ("I went to Paris. Where did I stay?", ["I went to Paris.", "Where did I stay?"]),
        ("Hi! Where did I stay?", ["Hi! Where did I stay?"]),
        ("Where did I stay in May? Thanks!", ["Where did I stay in May? Thanks!"]),
        ("It cost 3.50 in all.Where was it bought?", ["It cost 3.50 in all.", "Where was it bought?"]),
        ("我去了巴黎。住在哪里？多少钱？", ["我去了巴黎。", "住在哪里？", "多少钱？"]),
        ("one two three\nfour five six", ["one two three", "four five six"]),
        ("Hi", ["Hi"]),
        (" \n… ", []),
        ("", []),
    ],
)
def test_a_query_is_cut_into_its_sentences(text: str, sentences: list[str]) -> None:
    # Given a query / When it is cut / Then what says nothing alone has joined its neighbour
    assert sentences_of(text, count) == sentences


def test_a_pasted_document_has_eight_sentences() -> None:
    assert len(sentences_of("one more thing here. " * 300, count)) == 8


def test_cutting_does_not_read_a_growing_piece_again_and_again() -> None:
    # Given a query of 8,000 question marks, none of them a sentence
    read = 0

    def counting(text: str) -> int:
        nonlocal read
        read += len(text)
        return 0

    # When it is cut / Then not all of it was read for each of them (that would be 64 million characters)
    sentences_of("a?" * 4_000, counting)
    assert read < 400_000


@given(text=st.text(max_size=200))
def test_nothing_said_is_lost(text: str) -> None:
    # Given any text / When it is cut into few enough sentences / Then all letters are still there
    found = sentences_of(text, count)
    if len(found) < 8:
        assert [c for c in "".join(found) if c.isalnum()] == [c for c in text if c.isalnum()]


def test_what_is_asked_are_the_sentences_that_ask() -> None:
    # Given sentences of which one asks
    told, asked = Sentence(["a"], None, is_asked("I was there.")), Sentence(["b"], None, is_asked("在哪里？"))

    # When a query has both / Then that one is asked; if none asks, all are; a single one is the query itself
    assert list(Query("", [], None, [told, asked]).asked) == [asked]
    assert list(Query("", [], None, [told, told]).asked) == [told, told]
    assert list(Query("", [], None, [asked]).asked) == []


def test_a_speaker_is_named_by_the_whole_name_and_a_role_by_none() -> None:
    # Given speakers with one, two and no terms to their name, and roles
    names = {"Ann": ["ann"], "Ann Lee": ["ann", "lee"], "": [], "User": ["user"], "助手": ["助", "手"]}

    # When a query has terms / Then only those are named of whose name it has all, and who are a user
    assert named_in(["ann", "user", "助", "手"], names) == {"Ann"}
    assert named_in(["lee", "and", "ann"], names) == {"Ann", "Ann Lee"}
    assert named_in([], names) == set()


@pytest.mark.parametrize(
    ("text", "names", "left"),
    [
        ("What is Ana's favourite book?", ["Ana"], "What is favourite book?"),
        ("What did ANA give Ben’s aunt?", ["Ana", "Ben"], "What did give aunt?"),
        ("Did Ana like bananas?", ["Ana"], "Did like bananas?"),
        ("Did Ana Lee call?", ["Ana", "Ana Lee"], "Did call?"),
        ("王海在一月去了哪里？", ["王海"], "在一月去了哪里？"),
        ("What about C++ (the new one)?", ["C++"], "What about (the new one)?"),
        ("Where did I stay?", [], "Where did I stay?"),
    ],
)
def test_names_are_cut_out_whole_with_their_genitive(text: str, names: list[str], left: str) -> None:
    # Given a query and the names in it / When they are cut out / Then the rest stands, and no word lost a part
    assert without_names(text, names) == left


@given(text=st.text(max_size=200), names=st.lists(st.text(min_size=1, max_size=5), max_size=5))
def test_cutting_out_any_names_adds_nothing(text: str, names: list[str]) -> None:
    assert len(without_names(text, names)) <= len(text)


def unit(*values: float) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def test_a_query_means_what_it_says_and_for_less_what_it_asks_with_any_name() -> None:
    # Given a query whose vector points to a name, and what it asks next to that
    query = Query("", [], unit(1, 0), matter=unit(0, 1))

    # When both count, or only the query / Then the direction lies between them, or is the query's own
    assert query.meant(0.5) == pytest.approx(unit(2, 1))
    assert query.meant(0.0) is query.vector


@pytest.mark.parametrize("matter", [None, unit(-1, 0), unit(1, 0, 0)], ids=["none", "the opposite", "of another model"])
def test_a_query_without_a_usable_matter_means_what_it_says(
    matter: np.ndarray[tuple[int], np.dtype[np.float32]] | None,
) -> None:
    # Given nothing that could be added to a query / When its meaning is asked for / Then it is the query's own vector
    query = Query("", [], unit(1, 0), matter=matter)
    assert query.meant(1.0) is query.vector


def test_an_embedder_that_is_down_leaves_a_query_without_meaning() -> None:
    assert Query("", [], None, matter=unit(1, 0)).meant(0.5) is None


@pytest.mark.parametrize(
    "told",
    [
        "Gran lives in the old mill in Bude.",
        "The rent is 700, it goes out on the first.",
        "Rex, our old terrier, eats twice a day.",
        "We had the stove swept.",
    ],
)
def test_what_only_tells_something_asks_of_no_past(told: str) -> None:
    assert not asks_of_the_past(told)
    assert not asks_what_was(told)


def test_what_asks_for_the_last_decision_asks_of_no_past() -> None:
    # a decision holds until the next one
    assert not asks_of_the_past("Which hall did we book?")
    assert not asks_of_the_past("Where did they end up meeting?")
    assert asks_of_the_past("Which hall did we book at first?")
    assert asks_of_the_past("Which hall did we visit?")


@pytest.mark.parametrize(
    "asked",
    [
        "Where did gran live?",
        "my old address",
        "I need the rent that we had.",
        "Tell me what the rent was.",
        "What was it at first?",
        "I used to live in Bude.",
    ],
)
def test_what_asks_in_the_past_or_names_a_former_state_asks_of_the_past(asked: str) -> None:
    assert asks_of_the_past(asked)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Why did we drop Postgres 13?", True),
        ("how come the kids can't bounce out the back", True),
        ("What was my problem with the blue one?", True),
        ("remind me of my reasons for quitting", True),
        ("当初干嘛不要花涧了", True),
        ("我怎么没去", True),
        ("砍掉语音是出于什么考虑", True),
        ("What did we drop?", False),
        ("上周末我干嘛去了", False),
        ("你在干嘛", False),
        ("他是干嘛的", False),
        ("烤箱怎么用", False),
    ],
)
def test_a_question_for_a_reason_is_known_by_its_words(text: str, asked: bool) -> None:
    assert asks_for_a_reason(text) == asked
