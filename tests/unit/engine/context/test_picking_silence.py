"""When a block stays silent: the best line lacks the value, the thing or the kind that the question asks for."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.lines import LineReader
from biem.engine.context.picking import Picker
from biem.engine.context.relevance import answering_odds
from tests.unit.engine.context.measured_hits import hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())


ASIDE = [
    "It rained all week.", "The queue was endless today.", "雨下了一整天。", "We saw a heron on the canal.",
    "今天排队排了好久。", "Lunch was late again.",
]  # fmt: skip


def sure(question: str, hits: Sequence[Hit], confidence: float = 0.9) -> float:
    """How sure it is of these, found among lines about nothing in particular."""
    aside = [hit(text, 0.2) for text in ASIDE]
    return PICKER.sureness(measured(question, [*hits, *aside]), question, confidence)


@pytest.mark.req("C31", partly="nothing where nothing is known")
@pytest.mark.parametrize(
    ("question", "without", "value"),
    [
        ("How heavy is Bruno?", "Bruno thinks I should buy a boat.", "Bruno weighs 80 kilos."),
        ("阿强多重？", "阿强觉得我该买条船。", "阿强有80公斤。"),
        ("When does Bruno arrive?", "Bruno hates to arrive anywhere.", "Bruno arrives on 4 May."),
        ("Where does Bruno live?", "My friend Bruno is a soprano.", "My friend Bruno lives in Ghent."),
        ("What does Bruno earn?", "Bruno looks after the boats.", "Bruno gets 2100 a month for the boats."),
        ("How old is Bruno?", "Bruno ran the lake in 48.2 minutes.", "Bruno is 31."),
    ],
)
def test_a_line_without_a_value_of_the_kind_asked_for_makes_unsure(question: str, without: str, value: str) -> None:
    # Given a line that is like the question, but gives no amount or date / Then it makes far less sure
    one, other = sure(question, [hit(without, 0.53)]), sure(question, [hit(value, 0.53)])
    assert one < ContextPolicy().min_confidence < other
    # and one more line that does not answer changes little
    assert sure(question, [hit(without, 0.53), hit("It rained.", 0.2)]) == pytest.approx(one, abs=0.15)


@pytest.mark.req("C31", partly="nothing where nothing is known")
@pytest.mark.parametrize(
    ("question", "beside", "answer"),
    [
        ("Who is my favourite author?", "My favourite colour is ochre.", "My favourite author is Lem."),
        ("我最喜欢的作家是谁？", "我最喜欢的颜色是赭石色。", "我最喜欢的作家是莫言。"),
        ("What is my hamster called?", "My parrot is called Kiwi.", "My hamster is called Kiwi."),
    ],
)
def test_a_line_about_another_thing_of_the_kind_makes_less_sure(question: str, beside: str, answer: str) -> None:
    # Given lines equally like the question / Then the wrong thing makes less sure than the right one
    one, other = sure(question, [hit(beside, 0.6)]), sure(question, [hit(answer, 0.6)])
    assert one < other - 0.1
    assert other > ContextPolicy().min_confidence


@pytest.mark.parametrize(
    ("question", "answer", "naming"),
    [
        ("What is the lighthouse made of?", "It is made of oak.", "The lighthouse is old."),
        ("灯塔是什么做的？", "是橡木做的。", "灯塔很旧了。"),
    ],
)
def test_a_pool_in_which_nothing_names_the_thing_makes_less_sure(question: str, answer: str, naming: str) -> None:
    one = sure(question, [hit(answer, 0.85)])
    assert one < sure(question, [hit(answer, 0.85), hit(naming, 0.2)])


@pytest.mark.parametrize(
    ("question", "beside", "answer"),
    [
        ("What is my sister's cat called?", "My brother's cat is called Kiwi.", "My sister's cat is called Kiwi."),
        ("我姐姐养的猫叫什么？", "我弟弟的猫叫琥珀。", "我姐姐的猫叫琥珀。"),
        ("What is my neighbour allergic to?", "My boss is allergic to eggs.", "My neighbour is allergic to eggs."),
        ("我邻居对什么过敏？", "我老板对鸡蛋过敏。", "我邻居对鸡蛋过敏。"),
    ],
)
def test_a_line_about_another_person_makes_less_sure(question: str, beside: str, answer: str) -> None:
    one, other = sure(question, [hit(beside, 0.6)]), sure(question, [hit(answer, 0.6)])
    assert one < other - 0.1
    assert other > ContextPolicy().min_confidence


def test_in_a_dialogue_of_several_people_the_confidence_of_the_recall_decides() -> None:
    # Given lines of named speakers / Then the weights, which are of one user's talks, do not count
    question = "What does Ann do?"
    said = measured(question, [hit("I sing in a choir.", 0.6, speaker="Ann"), hit("Me too.", 0.5, speaker="Ben")])
    assert [PICKER.sureness(said, question, one) for one in (0.1, 0.9)] == [0.1, 0.9]
    alone = measured(question, [hit("I sing in a choir.", 0.6, speaker="用户")])
    assert PICKER.sureness(alone, question, 0.1) != 0.1


@pytest.mark.parametrize(
    ("question", "beside", "answer"),
    [
        ("What is my aunt's phone number?", "The phone died in the middle of the call.", "My aunt's phone is 5550192."),
        ("我姑姑的电话号码是多少？", "打电话打到一半手机没电了。", "我姑姑的电话是5550192。"),
    ],
)
def test_a_number_that_is_asked_for_has_digits(question: str, beside: str, answer: str) -> None:
    assert sure(question, [hit(beside, 0.8)], 0.6) < ContextPolicy().min_confidence
    assert sure(question, [hit(answer, 0.8)], 0.6) > ContextPolicy().min_confidence


@pytest.mark.req("C31", partly="nothing where nothing is known")
def test_a_message_that_memories_cannot_help_with_is_less_sure_of_an_answer() -> None:
    # Given the same lines / Then log-odds that no memory helps make less sure, those that one may change nothing
    question = "Translate into French: my aunt lives in Ghent."
    hits = measured(question, [hit("My aunt lives in Ghent.", 0.53), *(hit(text, 0.2) for text in ASIDE)])
    plain = PICKER.sureness(hits, question, 0.9)
    assert PICKER.sureness(hits, question, 0.9, personal=2.0) == plain
    assert PICKER.sureness(hits, question, 0.9, personal=-4.0) < PICKER.sureness(hits, question, 0.9, -2.0) < plain


@pytest.mark.req("C31", partly="nothing where nothing is known")
@pytest.mark.parametrize(
    ("question", "other", "answer"),
    [
        ("Who is my accountant?", "My dentist is Dr. Voss.", "My accountant is Ms. Ferreira."),
        ("Which day is the book club?", "I go to the gym on Tuesdays.", "The book club meets on Thursdays."),
        ("What's my blood type?", "My shoe size is 43.", "My blood type is A negative."),
        ("我的会计是谁？", "我家水管工姓马。", "我的会计是王姐。"),
        ("读书会是周几？", "我周二健身。", "读书会每周四晚上。"),
    ],
)
def test_the_same_of_another_thing_or_person_answers_nothing(question: str, other: str, answer: str) -> None:
    assert sure(question, [hit(other, 0.42)], 0.3) < 0.3
    assert sure(question, [hit(answer, 0.42), hit(other, 0.4)], 0.3) > 0.7


@pytest.mark.req("C31", partly="nothing where nothing is known")
def test_lines_that_hardly_answer_by_their_vectors_make_less_sure_and_stand_below_others() -> None:
    # Given two lines on the subject of a question
    question = "How old is my sister Lena?"
    texts = ("My sister Lena is thirty one.", "My sister Lena turned thirty.")
    lines = measured(question, [hit(text, 0.6) for text in texts])
    plain = PICKER.sureness(lines, question, 0.6)

    def answering(*odds: float) -> list[Hit]:
        return [replace(one, why={**one.why, "answering": value}) for one, value in zip(lines, odds, strict=True)]

    # When their vectors say that neither answers, or that the second does / Then the block is less or more sure
    assert PICKER.sureness(answering(-4.0, -4.0), question, 0.6) < plain
    assert PICKER.sureness(answering(-4.0, 3.0), question, 0.6) > plain
    # And the one that answers stands first, in either order
    for odds in ((-4.0, 4.0), (4.0, -4.0)):
        first = PICKER.pick(answering(*odds), question, None)[0]
        assert first.why["answering"] == 4.0


def test_a_line_without_a_vector_and_a_long_one_count_as_the_likeliest_of_the_others() -> None:
    # Given lines of which the index has one vector only / Then the other has its odds, which are cut at ±2
    question = "Which bridge did Lena cross?"
    reader = LineReader(contradiction.build(), RuleAnalyzer())
    texts = ("My sister Lena moved to Graz.", "Lena turned thirty.", "It rained. " * 200 + "Lena is thirty.")
    told, other, long = (replace(hit(text, 0.6), why={"likeness": 0.5}) for text in texts)
    asked = reader.question(question, [told, other, long])
    assert answering_odds(reader.lines([told, other], asked) or [], asked) == []
    known = [replace(one, why={**one.why, "answering": odds}) for one, odds in ((told, -9.0), (long, 4.0))]
    assert answering_odds(reader.lines([known[0], other, known[1]], asked) or [], asked) == [-2.0, -2.0, -2.0]


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("我靠什么谋生？", "银行那份工作我辞了，如今在一家出版社做编辑。"),
        ("What do I do for a living?", "I've left the bank, I'm an editor now."),
        ("What am I allergic to?", "我对花生严重过敏，随身带着肾上腺素笔"),
    ],
)
def test_a_line_on_the_topic_in_question_loses_little_by_its_vector(question: str, text: str) -> None:
    hits = [replace(one, why={**one.why, "answering": -4.0}) for one in measured(question, [hit(text, 0.6)])]
    assert PICKER.sureness(hits, question, 0.4) > ContextPolicy().min_confidence
