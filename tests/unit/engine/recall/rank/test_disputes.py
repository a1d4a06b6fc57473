"""Which open conflicts concern a question, and what is read next to what was found."""

from datetime import timedelta

import pytest

from biem.domain.conflict import Dispute
from biem.engine.recall.candidates import joined, missing
from biem.engine.recall.rank.disputes import about
from biem.engine.recall.rank.pool import Found
from biem.ports.readers import Turn, Turns
from tests.support.fakes import START


def turn(key: str, words: str, speaker: str = "") -> Turn:
    """A fact of these index terms."""
    return Turn(key, "n", tuple(words.split()), None, "knowledge", speaker, "", START, 1, False, True, None, None)


def terms(text: str) -> list[str]:
    """Whole words."""
    return text.lower().split()


@pytest.mark.req("C9", partly="which of its claims is disputed")
@pytest.mark.parametrize(
    ("asked", "concerned"),
    [
        ("live", True),  # about the disputed claim
        ("cat", False),  # about the other one
        ("cat live", True),  # about both
        ("town", True),  # about neither in its words
        ("ann cat", False),  # her name says not which
        ("ann", True),
    ],
)
def test_a_dispute_about_a_part_concerns_no_question_about_the_rest(asked: str, concerned: bool) -> None:
    # Given a memory of two claims, one of which is disputed / When a question has these words in common with it
    old = turn("old", "ann live berlin own cat", "Ann")
    dispute = Dispute(0.8, "new", claim="live berlin")
    found = about(asked.split(), {"old": old}, {"old": [dispute], "elsewhere": [dispute]}, terms)

    # Then it concerns the question unless all of these are in the other claim
    assert found == ({"old": [dispute]} if concerned else {})


def test_a_dispute_about_the_whole_concerns_every_question() -> None:
    # Given a memory that is disputed altogether / When anything is asked / Then that concerns the question
    dispute = Dispute(0.8, "new")
    assert about(["cat"], {"old": turn("old", "live cat")}, {"old": [dispute]}, terms) == {"old": [dispute]}


def test_of_two_disputes_that_which_the_question_is_about_counts() -> None:
    # Given a memory of two disputed claims / When one is asked for / Then what disputes that one counts
    home, pet = Dispute(0.8, "moved", claim="live berlin"), Dispute(0.7, "gave away", claim="own cat")
    old = turn("old", "live berlin own cat")
    assert about(["cat"], {"old": old}, {"old": [home, pet]}, terms) == {"old": [pet]}


def test_what_disputes_the_best_found_is_read_too_once() -> None:
    # Given found memories of which two are disputed by one that was not found, and one by another that was
    found = Found(dense={"a": 0.9, "b": 0.8}, words={"c": 3.0})
    turns = Turns({key: turn(key, key) for key in "abcd"}, [("a", "b")], frozenset({"a"}))
    disputes = {"a": [Dispute(0.8, "x")], "b": [Dispute(0.7)], "c": [Dispute(0.8, "x")], "d": [Dispute(0.8, "y")]}

    # Then that one is missing, and nothing that stands only next to them is looked at
    assert missing(found, turns, disputes) == ["x"]
    assert missing(found, turns, {"a": [Dispute(0.8, "d")]}) == []

    # And what is read then joins the others
    more = Turns({"x": turn("x", "x")}, [("x", "z")], frozenset({"x"}))
    both = joined(turns, more)
    assert set(both.by_id) == {*"abcd", "x"}
    assert list(both.stretches) == [("a", "b"), ("x", "z")]
    assert both.openings == {"a", "x"}


def test_no_more_than_the_best_few_are_looked_at() -> None:
    # Given many found memories / When the last of them is disputed / Then nothing is read for its sake
    found = Found(dense={f"m{n}": 1 - n / 100 for n in range(50)})
    last = START + timedelta(days=1)
    assert missing(found, Turns({}, (), frozenset()), {"m49": [Dispute(0.9, "new", last)]}) == []
    assert missing(found, Turns({}, (), frozenset()), {"m9": [Dispute(0.9, "new", last)]}) == ["new"]
