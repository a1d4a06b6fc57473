"""Questions of a time only, and headings that are a day."""

from datetime import UTC, datetime

import pytest

from biem.domain.times.bare import asks_for_a_time_only, day_of_heading
from biem.domain.times.windows import beside, windows

CLOCK = datetime(2026, 3, 18, tzinfo=UTC)


@pytest.mark.parametrize(
    "question",
    [
        "2026-03-14", "2026_03_14", "What happened on 14 March?", "3月14日", "三月十四日做了什么？",
        "2月28日我写了什么",
        "Tell me about Saturday, March 14th", "journal for 2026/03/14", "What did I note last week?",
        "昨天发生了什么事",
    ],
)  # fmt: skip
def test_a_question_may_name_a_time_and_nothing_else(question: str) -> None:
    assert windows(question, CLOCK)
    assert asks_for_a_time_only(beside(question, CLOCK))


@pytest.mark.parametrize(
    "question", ["Who took the ladder on 31 January?", "3月14日修车花了多少钱", "rent in March", "2026-03-14 dentist"]
)
def test_a_question_that_names_a_subject_is_none(question: str) -> None:
    assert not asks_for_a_time_only(beside(question, CLOCK))


def test_times_are_blank_beside_them_and_words_that_are_none_stay() -> None:
    assert beside("May I ask: rain on 14 March 2026?", CLOCK).split() == ["may", "i", "ask:", "rain", "on", "?"]
    assert beside("30 February", CLOCK) == "30 february"
    assert beside("五月十二日下雨", CLOCK).split() == ["下雨"]


@pytest.mark.parametrize(
    ("heading", "day"),
    [
        ("2026-03-14", 14), ("Saturday, 14 March", 14), ("3月14日 周六", 14), ("三月九号", 9), ("2026/3/9 Mon", 9),
        ("March", None), ("14 March to 16 March", None), ("Deadline 14 March", None), ("Week 7", None), ("", None),
        ("2026-03-14 " * 9, None),
    ],
)  # fmt: skip
def test_a_heading_that_is_a_day_and_nothing_else_is_known(heading: str, day: int | None) -> None:
    assert day_of_heading(heading, CLOCK) == (datetime(2026, 3, day, tzinfo=UTC) if day else None)
