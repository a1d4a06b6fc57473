"""Of two candidates about one matter, that which says later that something changed is shown first."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from biem.adapters.analyzers import build
from biem.engine.query.question import asks_of_the_past, asks_what_was
from biem.engine.recall.rank.change_reports import reported_changes
from biem.engine.recall.rank.pool import Candidate
from biem.engine.recall.rank.term_matrix import Numbers
from biem.ports import Vector, Vectors

MARCH = datetime(2026, 3, 2, tzinfo=UTC)
ANALYZER = build()
NEAR, FAR = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)


def likeness(vector: Vector, others: Vectors) -> Sequence[float]:
    return list(others @ vector)


def said(day: int, text: str, *, speaker: str = "Ann", conversation: str = "c", vector: Vector = NEAR) -> Candidate:
    at = MARCH + timedelta(days=day)
    return Candidate(str(day), ANALYZER.lexemes(text), vector, speaker, conversation, day, at)


def first(question: str, *candidates: Candidate, scores: Sequence[float] = (2.0, 1.0)) -> bool:
    """Whether the second is shown before the first, which scores higher."""
    levels: Numbers = np.array(scores, dtype=np.float64)
    for one in reported_changes(
        question, ANALYZER.lexemes(question), candidates, levels.copy(), [["sara"]], likeness, 3.0
    ):
        levels[one.newer] += one.gain
    return bool(levels[1] > levels[0])


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        ("妹妹在哪儿?", "妹妹在广州读大学", "妹妹现在在深圳工作"),
        ("Who owns staging?", "Priya owns staging", "Jonas owns staging now"),
        (
            "pgbouncer pool size?",
            "Max connections is 200, pgbouncer pool size 40.",
            "Raised the pgbouncer pool size to 80.",
        ),
        ("钢琴课是什么时候？", "钢琴课在周六下午两点", "取消钢琴课，改学游泳"),
        ("林晓几号出发？", "林晓 10 月 20 号从上海出发", "推一周：10 月 27 号出发"),
        ("家长会在哪天？", "家长会在周三", "家长会顺延一天"),
        ("牙医约在哪天？", "牙医约在周三", "牙医挪到周五了"),
        ("What is my current weight?", "Blood sugar 6.6, weight 82.4 kg.", "Weight 78.2 kg."),
    ],
)
def test_what_says_later_that_something_changed_is_shown_before_what_it_changed(
    question: str, older: str, newer: str
) -> None:
    # Given what was so and, further behind, what it is since / When a user asks / Then the newer is shown first
    assert first(question, said(0, older), said(9, newer))


@pytest.mark.parametrize(
    "question", ["Who owned staging before?", "Who originally owned staging?", "Who owns staging, as of March 2026?"]
)
def test_a_question_about_the_past_or_a_named_time_asks_for_what_was_so(question: str) -> None:
    # Given the same two / When the question is about what was so / Then their order stays
    assert not first(question, said(0, "Priya owns staging"), said(9, "Jonas owns staging now"))


def test_nothing_is_revised_by_an_older_a_program_another_person_or_another_matter() -> None:
    # Given something said / When what scores less was said before it, by a program, by another user in another
    # conversation, says nothing of change, is unlike it, is far behind or shares but the name of a person
    old, question = said(5, "Priya owns staging"), "Who owns staging?"
    now = "Jonas owns staging now"
    # Then it is not told first
    assert not first(question, old, said(1, now))
    assert not first(question, old, said(9, now, speaker="assistant"))
    assert not first(question, old, said(9, now, speaker="Ben", conversation="d"))
    assert not first(question, old, said(9, "Jonas owns staging"))
    assert not first(question, old, said(9, now, vector=FAR))
    assert not first(question, old, said(9, now), scores=(9.0, 1.0))
    others = [said(day, "Sara sings") for day in (6, 7)]
    of_sara = [said(5, "Sara is vegetarian"), said(9, "Sara moves the trip"), *others]
    assert not first("What does Sara eat?", *of_sara, scores=(2.0, 1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    ("question", "former"),
    [
        ("Which car did I have before?", True),
        ("What was the original date?", True),
        ("我以前住在哪里？", True),
        ("升职前我归谁管？", True),
        ("我之前主要用哪种胶？", True),
        ("What is the name of the yard I worked at before?", True),
        ("When did Sara marry?", False),
        ("Where was the meeting?", False),
        ("Why didn't we take the ferry?", False),
        ("为什么我不坐船？", False),
    ],
)
def test_the_past_tense_alone_does_not_ask_for_what_was_before(question: str, former: bool) -> None:
    assert asks_of_the_past(question)
    assert asks_what_was(question) is former


@pytest.mark.parametrize(
    "question",
    [
        "What do I take before breakfast?",
        "出差之前我得交什么？",
        "What's my nephew's first name?",
        "How old is Pim?",
        "What was my last reading?",
        "我在旧金山住哪家酒店？",
        "Is old Mr. Hale still alive?",
        "Does my old boss still work at the port?",
    ],
)
def test_a_duty_or_the_newest_value_is_of_the_present(question: str) -> None:
    assert not asks_of_the_past(question)
    assert not asks_what_was(question)
