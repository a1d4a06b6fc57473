"""Whether two lines give values of one kind, which may answer a question."""

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.engine.context.lines import LineReader
from biem.engine.context.values import give_one_kind
from tests.unit.engine.context.measured_hits import hit, measured

READER = LineReader(contradiction.build(), RuleAnalyzer())


@pytest.mark.parametrize(
    ("question", "older", "newer", "same"),
    [
        ("Who feeds the horses?", "Ansgar feeds the horses.", "Mirjam's in the stable at six.", True),
        ("Who feeds the horses?", "Ansgar feeds the horses.", "That's a lot of hay, forty bales.", False),
        ("Who feeds the horses?", "Ansgar feeds the horses.", "They get hay on Mondays.", False),
        ("When do we row?", "We row at six.", "The boat is out at half past seven.", True),
        ("When do we row?", "We row on Tuesdays.", "You find us on the water on Fridays.", True),
        ("When do we row?", "We row at six.", "We row in four boats.", False),
        ("How many lambs are there?", "There are six lambs.", "I counted eleven.", True),
        ("Which bench is mine?", "I sit at the third bench.", "Fifth bench for me.", True),
        ("Which gate opens with 4410?", "The gate with 4410 is the upper one.", "Lost the 4410 note again.", False),
        ("几点开门？", "早上八点开门。", "九点半才有人来。", True),
    ],
)
def test_values_of_one_kind(question: str, older: str, newer: str, *, same: bool) -> None:
    # Given a question and two lines
    hits = measured(question, [hit(older), hit(newer, days=9)])
    asked = READER.question(question, hits)
    lines = READER.lines(hits, asked)
    assert lines is not None

    # When their values are compared / Then only those count that are of a kind that answers, and not of the question
    assert give_one_kind(lines[1], lines[0], asked) is same
