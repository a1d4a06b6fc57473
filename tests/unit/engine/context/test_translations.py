"""Lines in another language than the question: a dictionary says which things they have in common."""

import pytest

from biem.engine.context.same_subject import are_same
from tests.unit.engine.context.measured_hits import hit
from tests.unit.engine.context.test_picking import RULES, told


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


def test_a_change_is_no_part_of_another_matter_because_its_things_have_other_names() -> None:
    # Given an appointment told in one language and moved in the other, and another appointment
    hits = (
        hit("I'm seeing the oculist on 28 June at 19:15.", 0.9),
        hit("牙医的预约是6月20日10点。", 0.5, days=1),
        hit("眼科的预约改到7月2日8点15分了。", 0.6, days=9),
    )

    # When a block is chosen / Then the new time is first
    assert told("When do I see the oculist?", *hits)[0] == hits[2].node.text


def test_who_came_to_the_user_is_the_same_person_in_both_languages() -> None:
    # Given a boss, and a new one, who is no other relative though "a boss" is a thing, too
    older, newer = RULES.matter("我的领导叫孙悦。"), RULES.matter("I have a new boss: Kirsten Dahl.")
    assert are_same(newer, older)
