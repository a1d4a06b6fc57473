"""Lines in another language than the question: a dictionary says which things they have in common."""

from dataclasses import replace

import pytest

from tests.unit.engine.context.measured_hits import hit
from tests.unit.engine.context.test_picking import picker, told


@pytest.mark.parametrize(
    ("question", "named", "other"),
    [
        ("Where did I leave the umbrella?", "雨伞落在出租车上了。", "饭盒落在办公室了。"),
        ("雨伞落在哪儿了？", "The umbrella is still in the taxi.", "The lunch box is still in the office."),
        ("What do I know about Anna?", "安娜在医院做志愿者。", "小陈在学校做志愿者。"),
    ],
)
def test_the_line_that_names_the_thing_in_question_goes_first(question: str, named: str, other: str) -> None:
    # Given two lines, equally like the question / When a block is chosen / Then the one with its thing is first
    assert told(question, hit(other, 0.8), hit(named, 0.8))[0] == named


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("Where are we going for the honeymoon?", "The honeymoon will take us to Porto.", "蜜月改去卑尔根了。"),
        ("蜜月去哪儿？", "我们蜜月去波尔图。", "Porto is off, our honeymoon is in Bergen now."),
        ("Who is my neighbour?", "英格丽是我的邻居。", "Ingrid is no longer my neighbour, Callum took over."),
        ("我的邻居是谁？", "My neighbour is called Ingrid.", "邻居不是英格丽了，现在是卡勒姆。"),
    ],
)
def test_a_change_stated_in_the_other_language_goes_before_what_it_changes(
    question: str, older: str, newer: str
) -> None:
    # Given a statement much like the question, and its later change in another language, which is little like both
    hits = hit(older, 0.8), hit(newer, 0.5, days=30)

    # When a block is chosen / Then the change comes first
    assert told(question, *hits)[0] == newer


def test_a_change_of_something_else_in_the_other_language_stays_behind() -> None:
    # Given a trip, and a later change of an appointment told in another language / When a block is chosen
    hits = hit("The honeymoon will take us to Porto.", 0.8), hit("牙医的预约改到周五了。", 0.4, days=30)

    # Then the trip is first
    assert told("Where are we going for the honeymoon?", *hits)[0] == hits[0].node.text


@pytest.mark.parametrize(
    ("question", "both", "one"),
    [
        ("护照什么时候过期？", "My passport expires in March.", "My passport arrives in March."),
        ("合唱团在哪个礼堂？", "The choir meets in the assembly hall.", "The choir meets in the old mill."),
    ],
)
def test_a_line_that_names_all_things_of_a_question_in_the_other_language_makes_surer(
    question: str, both: str, one: str
) -> None:
    # Given equal likenesses, so that only the things tell the lines apart
    hits = [replace(hit(text), why={"likeness": 0.3, "changed": -1.5}) for text in (both, one)]

    # When each is the only line / Then it names what the other lacks
    with_both, with_one = (picker().sureness([single], question, 0.8) for single in hits)
    assert with_both - with_one > 0.05
