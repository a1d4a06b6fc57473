"""Later statements that tell of the same as an earlier one go before it in any wording."""

import dataclasses
from datetime import timedelta
from typing import Any

import pytest

from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.domain.node import Hit, Node, new_id
from biem.domain.policies.context import ContextPolicy
from biem.domain.scope import Scope
from biem.engine.context.picking import Picker
from tests.support.fakes import START

PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy(drop=4.0))


def line(text: str, score: float, likeness: float, day: int, **values: Any) -> Hit:
    node = Node(
        **{"id": new_id(), "scope": Scope(), "text": text, "kind": "event", "status": "active", "layer": "short_term",
           "at": START + timedelta(days=day), "created_at": START, "source": "user", **values}
    )  # fmt: skip
    return Hit(node, score, {"likeness": likeness})


def told(question: str, likeness: float, *lines: Hit) -> list[str]:
    """The block of lines of which the first two are so alike."""
    one, other, *rest = lines
    pair = [dataclasses.replace(a, alike={b.node.id: likeness}) for a, b in ((one, other), (other, one))]
    return [hit.node.text for hit in PICKER.pick([*pair, *rest], question, None)]


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("What does my uncle do?", "My uncle Otis is a florist.", "Otis is through with flowers, he binds books now."),
        (
            "What do I write my notes with?",
            "I write my notes with Orbital.",
            "Orbital shut down, so it's Quillpad now.",
        ),
        ("我舅舅是做什么的？", "我舅舅阿良开花店。", "阿良不开花店了，如今在装订古书。"),
        ("我用什么记笔记？", "我记笔记用的是轨道。", "轨道关停了，现在用的是羽毛笔。"),
        ("What do I write my notes with?", "I write my notes with Orbital.", "我不用Orbital了，改成羽毛笔。"),
    ],
)
def test_what_became_of_an_earlier_statement_goes_before_it(question: str, older: str, newer: str) -> None:
    # Given a later statement with few words of the question / When it is much like the earlier one / Then it is first
    before, after = line(older, 0.95, 0.8, 0), line(newer, 0.4, 0.1, 30)
    assert told(question, 0.6, before, after)[:2] == [newer, older]


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("What does my uncle do?", "My uncle Otis is a florist.", "Otis is through with flowers, he binds books now."),
        ("我舅舅是做什么的？", "我舅舅阿良开花店。", "阿良不开花店了，如今在装订古书。"),
    ],
)
def test_without_that_likeness_nothing_is_a_continuation(question: str, older: str, newer: str) -> None:
    assert told(question, 0.0, line(older, 0.95, 0.8, 0), line(newer, 0.4, 0.1, 30)) == [older]


@pytest.mark.parametrize(
    ("question", "older", "beside"),
    [
        ("What does my uncle do?", "My uncle Otis is a florist.", "My cousin Ray gave up flowers, he binds books now."),
        ("When is the chess night?", "The chess night is on Monday.", "The pottery course was moved to Friday."),
        ("我舅舅是做什么的？", "我舅舅阿良开花店。", "我表弟阿旺不开花店了，如今在装订古书。"),
        ("棋社什么时候活动？", "棋社周一活动。", "陶艺课改到周五了。"),
        ("棋社什么时候活动？", "棋社周一活动。", "要是棋社改到周五活动就好了。"),
        ("How much of the budget is left?", "Of the 900, 640 euros are left.", "Five are sewn, so eleven are left."),
        ("预算还剩多少钱？", "还剩六百四十欧元。", "缝好了五个，还剩十一个。"),
    ],
)
def test_what_is_shown_of_another_stays_below(question: str, older: str, beside: str) -> None:
    assert told(question, 0.6, line(older, 0.95, 0.8, 0), line(beside, 0.4, 0.1, 30))[0] == older


def test_of_several_changes_the_last_comes_first() -> None:
    # Given three values of one thing, each alike to the others / When asked for the present / Then the newest leads
    texts = [
        "We cook with gas from Lumo.",
        "Lumo got too dear, Vanto delivers our gas.",
        "Vanto is history, it's Pirro now.",
    ]
    lines = [line(text, 0.95 - 0.2 * at, 0.8 - 0.3 * at, 20 * at) for at, text in enumerate(texts)]
    alike = [
        dataclasses.replace(one, alike={other.node.id: 0.6 for other in lines if other is not one}) for one in lines
    ]
    shown = [hit.node.text for hit in PICKER.pick(alike, "Who delivers our gas?", None)]
    assert shown[0] == texts[2]
    assert shown.index(texts[1]) < shown.index(texts[0])


def test_what_continues_another_line_more_closely_is_not_of_this_one() -> None:
    # Given a change that is a little like the answer, and much like the statement that it changes
    answer = line("My locker is number 12.", 0.95, 0.8, 0)
    changed = line("My desk is number 40.", 0.3, 0.2, 1)
    change = line("The desk has been changed, it's number 41 now.", 0.3, 0.4, 9)
    ids = [one.node.id for one in (answer, changed, change)]
    alike = [{ids[2]: 0.45}, {ids[2]: 0.8}, {ids[0]: 0.45, ids[1]: 0.8}]
    lines = [dataclasses.replace(one, alike=of) for one, of in zip((answer, changed, change), alike, strict=True)]
    # When asked for the other / Then it stays first
    assert PICKER.pick(lines, "What number is my locker?", None)[0].node.text == answer.node.text


def test_a_change_that_names_the_kind_in_question_is_of_the_statement_that_names_it_too() -> None:
    # Given a day of departure, one of return, and a change of both that is much more like the second
    answer = line("去云南的车票看了，3 月 5 号出发，要转两趟车。", 0.95, 0.8, 0)
    back = line("3 月 12 号回，正好一周。", 0.3, 0.2, 0)
    change = line("推三天：3 月 8 号出发，3 月 15 号回。", 0.5, 0.6, 4)
    ids = [one.node.id for one in (answer, back, change)]
    alike = [{ids[2]: 0.6}, {ids[2]: 0.9}, {ids[0]: 0.6, ids[1]: 0.9}]
    lines = [dataclasses.replace(one, alike=of) for one, of in zip((answer, back, change), alike, strict=True)]
    # When asked for the departure / Then the changed one comes first
    assert PICKER.pick(lines, "我几号出发去云南？", None)[0].node.text == change.node.text


def test_the_assistant_continues_nothing() -> None:
    older = line("My uncle Otis is a florist.", 0.95, 0.8, 0)
    guess = line("Otis now sounds like a bookbinder.", 0.4, 0.1, 30, source="assistant")
    assert told("What does my uncle do?", 0.6, older, guess)[0] == older.node.text


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("What did my uncle do before?", "My uncle Otis is a florist.", "Otis gave up flowers, he binds books now."),
        ("我舅舅以前是做什么的？", "我舅舅阿良开花店。", "阿良不开花店了，如今在装订古书。"),
    ],
)
def test_a_question_about_before_gets_what_was_continued_first(question: str, older: str, newer: str) -> None:
    assert told(question, 0.6, line(older, 0.5, 0.4, 0), line(newer, 0.9, 0.7, 30)) == [older, newer]


@pytest.mark.parametrize(("likeness", "first"), [(0.2, 1), (0.01, 0)])
def test_a_change_of_the_same_topic_is_not_lifted_over_a_line_that_it_is_not_like(likeness: float, first: int) -> None:
    # Given a change that shares a topic with the answer / When both are a little alike, or not at all
    answer = line("I do yoga for exercise.", 0.9, 0.6, 0)
    change = line("The gym moved to the harbour, the sport hall is closed now.", 0.7, 0.3, 9)
    other = line("It rains.", 0.1, 0.0, 1)
    lines = [
        dataclasses.replace(answer, alike={change.node.id: likeness, other.node.id: 0.15}),
        dataclasses.replace(change, alike={answer.node.id: likeness}),
        other,
    ]
    # Then only the former may pass it
    shown = PICKER.pick(lines, "What sport do I do for exercise?", None)
    assert [hit.node.text for hit in shown].index(answer.node.text) == first


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("我姑姑喜欢哪项运动？", "我姑姑的运动是划船。", "My aunt Vera switched from rowing to judo."),
        ("我哥哥的猫叫什么？", "我哥哥的猫叫琥珀。", "我哥哥把猫改名叫可可了。"),
    ],
)
def test_a_relative_is_the_same_with_a_name_and_with_an_animal(question: str, older: str, newer: str) -> None:
    before, after = line(older, 0.9, 0.8, 0), line(newer, 0.6, 0.5, 30)
    assert told(question, 0.6, before, after)[0] == newer
