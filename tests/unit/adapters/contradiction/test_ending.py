"""What keeps a model that reads two messages together from ending the older."""

from datetime import timedelta

import pytest

from biem.adapters import contradiction
from biem.domain.conflict import Statement, Verdict
from tests.support.fakes import START

RULES = contradiction.build()


def verdict(older: str, newer: str, speakers: tuple[str, str] = ("user", "user")) -> Verdict | None:
    before, after = Statement(older, speakers[0], START), Statement(newer, speakers[1], START + timedelta(days=9))
    return RULES.ending(before, after)


def ending(older: str, newer: str, speakers: tuple[str, str] = ("user", "user")) -> float | None:
    found = verdict(older, newer, speakers)
    return None if found is None else found.confidence


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I lift at the Iron Barn.", "Did I ever cancel the Iron Barn?"),
        ("我在学吉他。", "要是我不学吉他了呢？"),
    ],
)
def test_a_question_or_a_hypothesis_ends_nothing(older: str, newer: str) -> None:
    assert ending(older, newer) is None


@pytest.mark.parametrize(
    ("older", "newer"),
    [("Bus 41 was 5 minutes late.", "Bus 41 was 7 minutes late!"), ("二十五号车位被占了", "二十七号车位被占了。")],
)
def test_reports_that_differ_in_numbers_only_end_nothing(older: str, newer: str) -> None:
    assert ending(older, newer) is None


def test_another_relative_and_hearsay_retire_nothing() -> None:
    sister = verdict("My brother rents in Leeds.", "My sister gave up her room in Leeds.")
    hearsay = verdict("I lift at the Iron Barn.", "Ben says the Iron Barn closed its doors.")
    assert not (sister and sister.aligned)
    assert not (hearsay and hearsay.aligned)


def test_only_one_speaker_ends_what_he_said() -> None:
    assert ending("I lift at the Iron Barn.", "The Iron Barn closed its doors.", ("ann", "ben")) is None
    assert ending("I lift at the Iron Barn.", "The Iron Barn closed its doors.") == 1.0


def test_what_is_to_come_is_recorded_at_most() -> None:
    assert ending("I lift at the Iron Barn.", "From next month I lift at home.") == 0.75


def test_claims_are_those_of_a_message_that_makes_several() -> None:
    assert RULES.claims(Statement("I live in Rome and keep two goats.", "user")) == [
        "I live in Rome",
        "I keep two goats",
    ]
    assert RULES.claims(Statement("I live in Rome.", "user")) == ()
