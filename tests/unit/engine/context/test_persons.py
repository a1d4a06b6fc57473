"""Whose matter a text says that it is."""

import pytest

from biem.engine.context.persons import names_owner


@pytest.mark.parametrize(
    ("text", "told", "owned"),
    [
        ("The doctor saw her today and changed the tablets.", {"doctor"}, False),
        ("Irma moved it to Friday, I told her that suits me.", {"irma"}, False),
        ("The doctor says her tablets are changed.", {"doctor"}, True),
        ("Irma's lesson is on Friday.", {"irma"}, True),
        ("My sister moved to Linz.", {"me.sister"}, True),
        ("My boss moved the review.", {"me.boss"}, False),
        ("王医生改了他的药。", {"王医生"}, True),
        ("I moved it.", {"me"}, False),
    ],
)
def test_the_owner_is_a_relative_or_said_by_a_possessive(text: str, told: set[str], owned: bool) -> None:
    assert names_owner(text, frozenset(told), frozenset()) == owned
