"""Which lines answer a question for all things of a kind."""

from collections.abc import Sequence

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.picking import MOST_OF_A_LIST, Picker
from biem.engine.recall.group import support_by_group
from tests.unit.engine.context.measured_hits import embedder, hit, measured

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())
BOOKS = [
    "Finished The Overstory last night, what a book.",
    "Read Piranesi in one sitting.",
    "Tokarczuk's Flights took me all of August but it was worth it.",
]
CAR = [
    "Had the Skoda in at Pete's, new brake pads, 180 euros.",
    "The garage rang, the clutch is gone too, that's another 640.",
    "New tyres on the Skoda, 320 for the four.",
]
ALLERGIES = ["青霉素皮试又起疹子了，医生记上了", "被马蜂蜇一下就得进医院", "我一吃花生喉咙就肿，千万别放"]
OTHERS = [
    "New tyres on the Skoda, 320 for the four.",
    "Peanuts make my throat swell, so none for me please.",
    "I work at the harbour office.",
    "We're thinking of painting the hall green.",
    "We keep three hens in the yard, the neighbours love the eggs.",
    "How do I get wax out of a carpet?",
]
READ = ["昨晚终于把《活着》看完了，哭惨了", "一口气读完了三体第一部", "《百年孤独》断断续续看了一个月，总算翻完"]
OTHER = ["院子里养了三只母鸡", "轮胎换了四条，两千六", "我在港务局上班", "离合器也坏了，又花四千", "我妹对海鲜过敏"]


def hits(question: str, texts: Sequence[str]) -> list[Hit]:
    """These messages as a recall measures them for such a question."""
    found = measured(question, [hit(text, days=day) for day, text in enumerate(texts)])
    rows = embedder().embed(list(texts), "passage")
    vectors = {one.node.id: row for one, row in zip(found, rows, strict=True)}
    support = support_by_group(vectors, {one.node.id: float(one.why["likeness"]) for one in found})
    for one in found:
        one.why["group"] = support[one.node.id]  # type: ignore[index]
    return found


def told(question: str, texts: Sequence[str], lists: float = 2.0, most: int = MOST_OF_A_LIST) -> list[str]:
    chosen, _ = PICKER.choose(hits(question, texts), question, 0.8, most, lists=lists)
    return [one.node.text for one in chosen]


@pytest.mark.parametrize(
    ("question", "things", "others"),
    [
        ("What has the car cost me so far?", CAR, [*BOOKS, *OTHERS[1:]]),
        ("列一下我读过的书", READ, OTHER),
        ("住院要填表，我不能碰的东西都有啥", ALLERGIES, [*READ, *OTHER[:4]]),
    ],
)
def test_a_list_has_the_things_of_its_kind_and_little_else(question: str, things: list[str], others: list[str]) -> None:
    as_list = told(question, [*others[:3], *things, *others[3:]])
    assert set(things) <= set(as_list)
    assert len(as_list) <= len(things) + 1


def test_a_list_has_things_that_a_question_for_one_leaves_out() -> None:
    question, texts = "住院要填表，我不能碰的东西都有啥", [*READ, *ALLERGIES, *OTHER[:4]]
    assert set(told(question, texts, lists=0.0)) < set(ALLERGIES)


def test_a_list_has_at_most_as_many_lines_as_asked_for() -> None:
    assert len(told("Which books have I read?", [*BOOKS, *OTHERS], most=2)) == 2


def test_a_line_that_answers_the_whole_question_is_shown_as_for_any_question() -> None:
    # Given a message that gives the number / When a question asks for it in the form of one for a list
    question = "How many hens do we keep?"
    texts = [*OTHERS, *BOOKS]
    # Then what is shown is what any question gets
    assert told(question, texts, lists=0.5) == told(question, texts, lists=0.0) == [OTHERS[4]]


def test_a_list_is_empty_if_probably_nothing_was_told_of_such_things() -> None:
    chosen, sure = PICKER.choose(
        hits("Which concerts have I been to?", OTHERS), "Which concerts have I been to?", 0.05, 8, lists=2.0
    )
    assert chosen == []
    assert sure is not None
    assert sure < ContextPolicy().min_confidence


def test_several_people_have_no_lists() -> None:
    people = [hit(text, days=day, speaker=("Ann", "Bo")[day % 2]) for day, text in enumerate([*BOOKS, *OTHERS])]
    found = measured("Which books have I read?", people)
    asked = "Which books have I read?"
    assert PICKER.choose(found, asked, 0.8, 8, lists=2.0) == PICKER.choose(found, asked, 0.8, 8)
