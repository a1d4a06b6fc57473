"""Texts that deny a time or date of an earlier one."""

import pytest

from biem.adapters import contradiction
from biem.engine.context.former_values import denies_former

RULES = contradiction.build()


@pytest.mark.parametrize(
    ("older", "newer", "denied"),
    [
        ("The bus to Lund goes at 7:25.", "The board shows 7:55, not 7:25.", True),
        ("The bus to Lund goes at 7:25.", "I can't make 7:25, so I take the one at 8:00.", True),
        ("We row at half six.", "Oda can't do half six, we row at seven.", True),
        ("Our audit is on 9 May.", "The hall isn't free on the 9th, we do it on the 11th.", True),
        ("Our audit is on 9 May.", "We audit on 11 May instead of 9 May.", True),
        ("Our audit is on 9 May.", "No way we make the ninth, so it's 11 May.", True),
        ("Our audit is on 9 May.", "The ninth visitor couldn't come before 11 May.", False),
        ("Our audit is on 9 May.", "We audit on 11 May.", False),
        ("Our audit is on 9 May.", "I'm not free on 9 May.", False),
        ("The pool opens at 8:00.", "I can't call at 8:00, let's say 9:00.", False),
        ("这个托盘能放36棵苗。", "花盆是63块，不是36块。", False),
        ("这个托盘能放36棵苗。", "那个数我记岔了，是63。", False),
        ("We audit on Mondays.", "I'm not free on Mondays, call me on Fridays.", False),
    ],
)
def test_a_former_time_or_date_is_denied_beside_another_one(older: str, newer: str, denied: bool) -> None:
    assert denies_former(newer, RULES.matter(newer), RULES.matter(older)) == denied
