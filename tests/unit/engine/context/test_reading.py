"""The likeliest lines are read together with the question, which may raise, lower or silence them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.picking import Picker
from biem.ports.embedding import PairReaders, TextPair
from tests.unit.engine.context.measured_hits import hit, measured

QUESTION = "What is the name of our vet?"
ANSWER, BESIDE, OTHER = "Our vet is called Doctor Okafor.", "Our vet is closed on Mondays.", "We have a green car."


class Reader:
    """The port `PairOdds`: log-odds by the text of the line."""

    def __init__(self, odds_of: Callable[[str], float]) -> None:
        self.asked: list[TextPair] = []
        self._odds_of = odds_of

    def __call__(self, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
        self.asked += pairs
        return np.array([self._odds_of(pair.first) for pair in pairs], dtype=np.float32)


def picked(reader: Reader, lists: float = 0.0, readings: int = 3, question: str = QUESTION) -> list[str]:
    picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(readings=readings), PairReaders(reader))
    hits = measured(question, [hit(BESIDE, 0.62), hit(ANSWER, 0.6), hit(OTHER, 0.2)])
    chosen, _ = picker.choose(hits, question, 0.9, lists=lists)
    return [one.node.text for one in chosen]


def test_what_answers_goes_before_what_only_resembles_the_question() -> None:
    # Given a model that sees an answer in one of two lines / Then that one is first
    assert picked(Reader(lambda text: 4.0 if text == ANSWER else -4.0))[0] == ANSWER
    about = "What about our vet?"
    assert picked(Reader(lambda text: 4.0 if text == ANSWER else -4.0), question=about)[0] == ANSWER
    assert picked(Reader(lambda text: 4.0 if text == BESIDE else -4.0), question=about)[0] == BESIDE


def test_a_block_is_empty_where_no_line_is_read_as_an_answer() -> None:
    assert picked(Reader(lambda _: 3.0))
    assert not picked(Reader(lambda _: -5.0))


def test_what_several_lines_tell_of_is_told_sooner_than_what_one_tells_of() -> None:
    # Given the same highest reading / When other lines are read as answers, too / Then an answer is more probable
    def sure(beside: float) -> float:
        reader = Reader(lambda text: 0.0 if text == ANSWER else beside)
        picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), PairReaders(reader))
        hits = measured(QUESTION, [hit(ANSWER, 0.62), hit(BESIDE, 0.6), hit(OTHER, 0.2)])
        return picker.choose(hits, QUESTION, 0.9)[1] or 0.0

    assert sure(0.0) > sure(-2.0) > sure(-5.0)


def test_as_many_lines_are_read_as_the_policy_says() -> None:
    for count in (1, 2):
        reader = Reader(lambda _: 0.0)
        picked(reader, readings=count)
        assert [pair.second for pair in reader.asked] == [QUESTION] * count
    reader = Reader(lambda _: -5.0)
    assert picked(reader, readings=0)
    assert not reader.asked


def test_a_request_has_more_lines_read_than_a_question() -> None:
    policy, asked = ContextPolicy(readings=1, request_readings=2), dict[str, int]()
    for question in ("What is the name of our vet?", "Draft a letter to our vet"):
        reader = Reader(lambda _: 0.0)
        picker = Picker(contradiction.build(), RuleAnalyzer(), policy, PairReaders(reader))
        picker.choose(measured(question, [hit(BESIDE, 0.62), hit(ANSWER, 0.6), hit(OTHER, 0.2)]), question, 0.9)
        asked[question] = len(reader.asked)
    assert list(asked.values()) == [1, 2]


def test_lines_of_a_list_are_not_read() -> None:
    reader = Reader(lambda _: -5.0)
    assert picked(reader, lists=3.0)
    assert not reader.asked


def test_lines_of_several_people_are_not_read() -> None:
    reader = Reader(lambda _: -5.0)
    picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), PairReaders(reader))
    hits = measured(QUESTION, [hit(ANSWER, 0.6, speaker="Ann"), hit(OTHER, 0.3, speaker="Ben")])
    assert picker.choose(hits, QUESTION, 0.9)[0]
    assert not reader.asked


def test_a_line_is_read_after_the_question_that_it_answers_and_in_simplified_characters() -> None:
    # Given an answer of the user's to a question of the assistant's, in traditional characters
    reader = Reader(lambda _: 0.0)
    picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), PairReaders(reader))
    [answer] = measured("我家貓叫什麼？", [hit("叫阿財。", 0.6)])
    asked = replace(answer.node, id="q", text="你家貓叫什麼名字？", source="assistant")
    picker.choose([replace(answer, answers=asked)], "我家貓叫什麼？", 0.9)
    assert reader.asked == [TextPair("你家猫叫什么名字？ 叫阿财。", "我家猫叫什么？")]


def test_a_line_with_a_pronoun_is_read_after_the_message_that_names_whom_it_means() -> None:
    reader = Reader(lambda _: 0.0)
    picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), PairReaders(reader))
    [answer] = measured("老郭的号码呢？", [hit("他新手机尾号2219。", 0.6)])
    named = replace(answer.node, id="n", text="老郭换手机了。")
    picker.choose([replace(answer, refers_to=named)], "老郭的号码呢？", 0.9)
    assert reader.asked == [TextPair("老郭换手机了。 他新手机尾号2219。", "老郭的号码呢？")]


def test_the_model_is_told_that_the_assistant_said_a_line() -> None:
    reader = Reader(lambda _: 0.0)
    picker = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(), PairReaders(reader))
    picker.choose(measured(QUESTION, [hit(ANSWER, 0.6, source="assistant")]), QUESTION, 0.9)
    assert [pair.marked for pair in reader.asked] == [True]
