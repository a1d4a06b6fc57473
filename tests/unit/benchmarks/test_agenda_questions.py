"""The questions that tell a whole time from something in it."""

from datetime import UTC, datetime

from benchmarks.fit_agenda import questions
from biem.domain.times.asked import asked_time

NOW = datetime(2026, 5, 13, 18, tzinfo=UTC)


def test_each_question_wants_all_or_a_topic_and_most_times_are_read() -> None:
    read = list(questions())
    assert {wants for wants, _ in read} == {"all", "topic"}
    assert len({text for _, text in read}) > 0.98 * len(read)
    named = [asked_time(text, NOW) for _, text in read]
    assert sum(one is not None for one in named) > 0.9 * len(read)


def test_the_rules_take_hardly_any_other_question_for_one_of_a_whole_time() -> None:
    found = [(wants, asked_time(text, NOW)) for wants, text in questions()]
    only = [wants for wants, one in found if one is not None and one.only]
    assert only.count("topic") < 0.03 * len(only)
    assert only.count("all") > 150
