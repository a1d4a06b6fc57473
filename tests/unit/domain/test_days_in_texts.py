"""Days that clauses name, events of messages, and times that questions ask about."""

from datetime import UTC, datetime, timedelta

import pytest

from biem.domain.times.asked import asked_time
from biem.domain.times.dated import dated, expanded
from biem.domain.times.events import happening

WEDNESDAY = datetime(2026, 1, 7, 18, tzinfo=UTC)


def days(text: str, *, ahead: bool | None) -> list[tuple[str, int]]:
    """The first day of each time in a text, and its number of days."""
    found = dated(text, WEDNESDAY, ahead=ahead)
    return [(one.window[0].strftime("%m-%d"), (one.window[1] - one.window[0]).days) for one in found]


@pytest.mark.parametrize(
    ("text", "day", "length"),
    [
        ("on friday", "01-09", 1),
        ("next friday at nine", "01-16", 1),
        ("thursday next week", "01-15", 1),
        ("a week on friday", "01-16", 1),
        ("the weekend after next", "01-24", 2),
        ("at the weekend", "01-10", 2),
        ("tomorrow", "01-08", 1),
        ("in two weeks", "01-21", 1),
        ("a week today", "01-14", 1),
        ("a week tomorrow", "01-15", 1),
        ("the 3rd", "02-03", 1),
        ("thursday the 22nd", "01-22", 1),
        ("the 14th to the 18th", "01-14", 5),
        ("from tuesday to friday", "01-13", 4),
        ("tues to thurs next week", "01-13", 3),
        ("24 march to 2 april", "03-24", 10),
        ("april 4th - 9th", "04-04", 6),
        ("march 3 10am", "03-03", 1),
        ("12/3", "03-12", 1),
        ("22/6 - 3/7", "06-22", 12),
        ("30.04.2026", "04-30", 1),
        ("20260412", "04-12", 1),
        ("the last friday of the month", "01-30", 1),
        ("first tues in feb", "02-03", 1),
        ("on the eleventh", "01-11", 1),
        ("the sixth of next month", "02-06", 1),
        ("the last day of the month", "01-31", 1),
        ("early next week", "01-12", 3),
        ("end of the month", "01-21", 11),
        ("on valentine's day", "02-14", 1),
        ("the week of 19 january", "01-19", 7),
        ("the weekend of the 17th", "01-17", 2),
        ("second half of january", "01-16", 16),
        ("下周三两点", "01-14", 1),
        ("周六", "01-10", 1),
        ("这周末", "01-10", 2),
        ("下下周一", "01-19", 1),
        ("大后天", "01-10", 1),
        ("三天后", "01-10", 1),
        ("再过两周", "01-21", 1),
        ("十五号", "01-15", 1),
        ("1月20日到23日", "01-20", 4),
        ("21号22号", "01-21", 2),
        ("月底", "01-21", 11),
        ("下个月初", "02-01", 10),
        ("这个月最后一天", "01-31", 1),
        ("周二到周五", "01-13", 4),
        ("3/12 上午", "03-12", 1),
        ("1.15晚上", "01-15", 1),
        ("除夕", "02-16", 1),
        ("大年初三", "02-19", 1),
        ("国庆假期", "10-01", 7),
        ("1月12号那周", "01-12", 7),
    ],
)
def test_a_clause_about_what_is_to_come_names_a_day(text: str, day: str, length: int) -> None:
    assert days(text, ahead=True)[:1] == [(day, length)]


@pytest.mark.parametrize(
    ("text", "day", "length"),
    [
        ("on saturday", "01-03", 1),
        ("over the weekend", "01-03", 2),
        ("last monday", "01-05", 1),
        ("last night", "01-06", 1),
        ("the day before yesterday", "01-05", 1),
        ("three days ago", "01-04", 1),
        ("on the 28th", "12-28", 1),
        ("last week", "12-29", 7),
        ("the past fortnight", "12-24", 15),
        ("周六", "01-03", 1),
        ("上周四", "01-01", 1),
        ("前天", "01-05", 1),
        ("上个月", "12-01", 31),
        ("最近两周", "12-24", 15),
        ("28号", "12-28", 1),
        ("last summer", "06-01", 92),
    ],
)
def test_a_clause_about_the_past_names_a_day(text: str, day: str, length: int) -> None:
    assert days(text, ahead=False)[:1] == [(day, length)]


@pytest.mark.parametrize(
    "text",
    ["the 4th floor", "一号线", "大一号的", "4.12 per cent", "version 3.5", "may i ask"],
)
def test_what_is_no_day_is_none(text: str) -> None:
    assert not [one for one in days(text, ahead=True) if one[1] <= 31]


def test_without_a_tense_a_month_is_the_nearest_one() -> None:
    assert days("in december", ahead=None) == [("12-01", 31)]
    assert dated("in december", WEDNESDAY, ahead=None)[0].window[0].year == 2025
    assert dated("in december", WEDNESDAY, ahead=True)[0].window[0].year == 2026


def test_short_forms_are_read_as_words() -> None:
    assert expanded("wot am i doing 2nite, Yday was fun") == "wot am i doing tonight, yesterday was fun"


def told(text: str) -> list[tuple[str, int]]:
    """The first day of each event of a message said on that Wednesday, and its number of days."""
    windows = happening(text, WEDNESDAY).windows
    return [(start.strftime("%m-%d"), (end - start).days) for start, end in windows]


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("Took the children to the harbour, they loved the tugboats.", [("01-07", 1)]),
        ("Lunch with Oyelaran at the noodle bar.", [("01-07", 1)]),
        ("On Saturday we walked to the lake, swam and grilled.", [("01-03", 1)]),
        ("My sister's baby was born last night.", [("01-06", 1)]),
        ("Flying to Bergen on Friday for the fair.", [("01-09", 1)]),
        ("The optician moved me to next Thursday at 9:20.", [("01-15", 1)]),
        ("The meeting is pushed from the 9th to Monday the 19th.", [("01-19", 1)]),
        ("The publisher has called off Friday's call.", [("01-09", 1)]),
        ("Saw the optician, next check-up on 14 July", [("01-07", 1), ("07-14", 1)]),
        ("The heating broke, no hot water till Friday.", [("01-07", 3)]),
        ("I'm in Lund from the 12th, back on the 15th.", [("01-12", 4)]),
        ("Been at my aunt's since Monday.", [("01-05", 3)]),
        ("Please note: choir concert on 20 January.", [("01-20", 1)]),
        ("中午和老宋在码头吃的饭。", [("01-07", 1)]),
        ("下周三两点要见会计。", [("01-14", 1)]),
        ("周末把棚子刷了一遍。", [("01-03", 2)]),
        ("老同学2月6号来，住到9号", [("02-06", 4)]),
        ("有个团16号到18号包了院子", [("01-16", 3)]),
        ("体检改到下周四上午了", [("01-15", 1)]),
        ("My brother lives in Malmö.", []),
        ("I'm allergic to sesame.", []),
        ("Our cat is called Bruno.", []),
        ("A bit tired today.", [("01-07", 1)]),
        ("I grew up in Oran.", []),
        ("Write me a regex for ISO dates", []),
        ("What did I do last week?", []),
        ("我对腰果过敏。", []),
        ("我哥在青岛。", []),
        ("这字太小了", []),
    ],
)
def test_a_message_tells_when_its_events_happen(text: str, events: list[tuple[str, int]]) -> None:
    assert told(text) == events


@pytest.mark.parametrize(
    ("text", "weekdays"),
    [
        ("Choir is every Tuesday at seven.", {1}),
        ("Swimming on Mondays and Thursdays", {0, 3}),
        ("We usually meet on Friday.", {4}),
        ("每周二晚上合唱", {1}),
        ("周一三五游泳，雷打不动", {0, 2, 4}),
        ("I never liked Sundays.", set()),
    ],
)
def test_a_habit_recurs_each_week(text: str, weekdays: set[int]) -> None:
    found = happening(text, WEDNESDAY)
    assert found.weekdays == weekdays
    monday = datetime(2026, 3, 2, tzinfo=UTC)
    expected = min((monday + timedelta(days=day) for day in weekdays), default=None)
    assert found.within((monday, monday + timedelta(days=7)), WEDNESDAY) == expected


def test_a_birthday_recurs_each_year_from_when_it_was_told() -> None:
    found = happening("My mother's birthday is on 14 May", WEDNESDAY)
    span = datetime(2027, 5, 10, tzinfo=UTC), datetime(2027, 5, 17, tzinfo=UTC)
    assert found.within(span, WEDNESDAY) == datetime(2027, 5, 14, tzinfo=UTC)
    before = datetime(2025, 5, 10, tzinfo=UTC), datetime(2025, 5, 17, tzinfo=UTC)
    assert found.within(before, WEDNESDAY) is None


def test_an_event_at_some_time_in_a_month_is_not_told_for_a_day_of_it() -> None:
    found = happening("She leaves the firm in June.", WEDNESDAY)
    june = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)
    assert found.within(june, WEDNESDAY) == june[0]
    assert found.within((june[0], june[0] + timedelta(days=1)), WEDNESDAY) is None


def asked(question: str) -> tuple[str, int, bool, str] | None:
    """First day and number of days asked for, whether for all, and which; asked on that Wednesday."""
    found = asked_time(question, WEDNESDAY)
    if found is None:
        return None
    start, end = found.span
    return start.strftime("%m-%d"), (end - start).days, found.only, found.which


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What's on next week?", ("01-12", 7, True, "")),
        ("What did I do last weekend?", ("01-03", 2, True, "")),
        ("Am I free on the 14th", ("01-14", 1, True, "")),
        ("anything on sunday?", ("01-11", 1, True, "")),
        ("What's left on this week?", ("01-07", 5, True, "")),
        ("what happened in the week of 22 December", ("12-22", 7, True, "")),
        ("What do I have coming up?", ("01-07", 366, True, "")),
        ("what's planned after the 15th?", ("01-16", 366, True, "")),
        ("What have I been up to lately?", ("12-24", 15, True, "")),
        ("Anything on between now and Friday?", ("01-07", 3, True, "")),
        ("Who did I meet last week?", ("12-29", 7, False, "")),
        ("Any dentist visits this month?", ("01-01", 31, False, "")),
        ("When did I last see Ines?", ("01-07", 366, False, "last")),
        ("last oil change", ("01-07", 366, False, "last")),
        ("When's my next shift?", ("01-07", 366, False, "next")),
        ("On which days did I swim?", ("01-07", 366, False, "each")),
        ("下周有什么安排？", ("01-12", 7, True, "")),
        ("我上周末干了什么？", ("01-03", 2, True, "")),
        ("28号我干嘛去了来着", ("12-28", 1, True, "")),
        ("昨晚我干嘛去了？喝断片了", ("01-06", 1, True, "")),
        ("接下来还有哪些事", ("01-07", 366, True, "")),
        ("上周我请谁吃饭了", ("12-29", 7, False, "")),
        ("我上次看牙是什么时候？", ("01-07", 366, False, "last")),
        ("这个月我哪几天游泳了", ("01-01", 31, False, "each")),
        ("What's my sister called?", None),
        ("Where do I work?", None),
        ("How old is my son?", None),
        ("我姐叫什么？", None),
    ],
)
def test_a_question_asks_about_a_time(question: str, expected: tuple[str, int, bool, str] | None) -> None:
    found = asked(question)
    assert found == expected if expected is None or expected[1] < 366 else (found and found[1:]) in [
        expected[1:], (expected[1] + 1, *expected[2:])
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "topic"),
    [
        ("When did I last see Ines?", "I see Ines?"),
        ("how long is it since we went skating", "we went skating"),
        ("what did I cook last week", "what did I cook"),
        ("我上次去爬山是什么时候", "我 去爬山"),
    ],
)
def test_the_topic_is_the_question_without_its_times(question: str, topic: str) -> None:
    found = asked_time(question, WEDNESDAY)
    assert found is not None
    assert found.topic == topic


def test_a_long_message_asks_about_no_time() -> None:
    assert asked_time("What's on next week? " + "x" * 200, WEDNESDAY) is None
