"""Lines of a block are read with later ones: what ended goes below what ended it, and what only is alike stays out."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.picking import Picker
from biem.ports.embedding import PairReaders, TextPair
from tests.unit.engine.context.measured_hits import hit, measured

ASKED, TOLD = "When does Nell come?", "My cousin Nell is visiting from the 3rd to the 9th of July."
OFF, BESIDE = "Nell's trip came to nothing, the clinic needs her.", "Nell likes her tea without sugar."


class Reader:
    """The port `PairOdds`: log-odds by the text of the later line."""

    def __init__(self, of_off: float, of_others: float = -5.0) -> None:
        self.asked: list[TextPair] = []
        self._of_off, self._of_others = of_off, of_others

    def __call__(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        self.asked += pairs
        return np.array([self._of_off if pair.second == OFF else self._of_others for pair in pairs], np.float32)


def answering(pairs: Sequence[TextPair]) -> NDArray[np.float32]:
    """The port `PairOdds`: only the first message tells when she comes."""
    return np.array([3.0 if pair.first == TOLD else -3.0 for pair in pairs], np.float32)


def picked(reader: Reader, speaker: str = "", **policy: int) -> list[str]:
    picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(**policy), PairReaders(answering, reader))  # type: ignore[arg-type]
    told = [hit(TOLD, 0.8, speaker="Ann" if speaker else ""), hit(OFF, 0.3, days=9, speaker=speaker)]
    hits = measured(ASKED, [*told, hit(BESIDE, 0.2, days=12)])
    return [one.node.text for one in picker.choose(hits, ASKED, 0.95)[0]]


def test_what_may_have_ended_a_line_is_shown_with_it_if_it_is_read_so() -> None:
    # Given a visit, and a later message that ends it without a word of visits or times
    # Then it is shown if a model reads it as the end, and else it is not
    assert picked(Reader(5.0))[:2] in ([TOLD, OFF], [OFF, TOLD])
    assert picked(Reader(-5.0)) == [TOLD]


def test_only_lines_of_the_block_are_read_with_later_ones() -> None:
    reader = Reader(5.0)
    picked(reader)
    assert TextPair(TOLD, OFF) in reader.asked
    assert {pair.first for pair in reader.asked} == {TOLD}


@pytest.mark.parametrize("most", [0, 1])
def test_no_more_pairs_are_read_than_the_policy_says(most: int) -> None:
    reader = Reader(5.0)
    picked(reader, successors=most)
    assert len(reader.asked) == most


def test_lines_of_several_people_are_not_read() -> None:
    reader = Reader(5.0)
    picked(reader, speaker="Ben")
    assert not reader.asked


def test_a_later_line_that_answers_the_question_goes_first_and_one_that_does_not_stays_below() -> None:
    # Given two prices, of which neither line is surely the end of the other
    asked, before = "How much is the workshop?", "The workshop is 45 euros each."
    after = "I've put the workshop up to 52 a head."
    for odds, first in ((4.0, after), (-4.0, before)):
        readers = PairReaders(
            lambda pairs, odds=odds: np.array([3.0 if one.first == before else odds for one in pairs], np.float32),  # type: ignore[misc]
            Reader(0.0, 0.0),
        )
        picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), readers)
        hits = measured(asked, [hit(before, 0.8), hit(after, 0.6, days=9), hit(BESIDE, 0.2, days=12)])
        assert picker.choose(hits, asked, 0.95)[0][0].node.text == first


def test_a_later_line_that_may_answer_goes_above_one_that_may_and_not_above_one_that_surely_does() -> None:
    # Given a later line that reads as half an answer and as half an end
    asked, before = "What am I allergic to?", "I'm allergic to wool, so no jumpers for me."
    after = "The felt coat was a mistake, I itch in cotton too."
    for odds, first in ((5.0, before), (-1.5, after)):
        readers = PairReaders(
            lambda pairs, odds=odds: np.array([odds if one.first == before else 0.5 for one in pairs], np.float32),  # type: ignore[misc]
            Reader(0.0, 0.0),
        )
        picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), readers)
        hits = measured(asked, [hit(before, 0.8), hit(after, 0.4, days=9)])
        assert picker.choose(hits, asked, 0.95)[0][0].node.text == first


def test_a_line_that_words_exclude_goes_first_if_it_reads_as_the_answer_and_as_the_end_of_the_earlier_one() -> None:
    # Given a later amount without a word of money, which may be an amount of anything
    asked, before = "How much does the fund pay us for flour a month?", "The fund pays $210 monthly for flour."
    after = "Ridley's new list: two hundred and forty is what they give as from this month."
    for answers, ends, first in ((1.0, 5.0, after), (1.0, -5.0, before), (-1.0, 5.0, before)):
        readers = PairReaders(
            lambda pairs, odds=answers: np.array([3.0 if one.first == before else odds for one in pairs], np.float32),  # type: ignore[misc]
            Reader(ends, ends),
        )
        picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), readers)
        hits = measured(asked, [hit(before, 0.8), hit(after, 0.6, days=9)])
        assert picker.choose(hits, asked, 0.95)[0][0].node.text == first


def test_long_lines_are_not_read_and_characters_are_simplified() -> None:
    reader = Reader(5.0)
    picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), PairReaders(ending=reader))
    later = [hit("阿姨的車賣掉了，改騎單車。", 0.4, days=3), hit("阿姨的車" + "真的很舊，" * 80, 0.4, days=4)]
    asked = "阿姨開什麼車？"
    picker.choose(measured(asked, [hit("阿姨開一台豐田的車。", 0.8), *later]), asked, 0.95)
    assert reader.asked == [TextPair("阿姨开一台丰田的车。", "阿姨的车卖掉了，改骑单车。")]
