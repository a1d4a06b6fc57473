"""Times that a text names."""

import time
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.times.windows import earlier, windows

CLOCK = datetime(2024, 7, 10, 15, 30, tzinfo=UTC)
"""A Wednesday."""

EXPLICIT = [
    ("What did I eat on 2023-05-08?", "2023-05-08", "2023-05-09"),
    ("on 2023/5/8", "2023-05-08", "2023-05-09"),
    ("on May 8th", "2024-05-08", "2024-05-09"),
    ("on 8 May 2022", "2022-05-08", "2022-05-09"),
    ("on the 3rd of July", "2024-07-03", "2024-07-04"),
    ("before Sept. 21, 2023", "2023-09-21", "2023-09-22"),
    ("on July 14", "2024-07-14", "2024-07-15"),  # a plan, less than a week ahead
    ("on August 2", "2023-08-02", "2023-08-03"),  # longer ahead: last year's
    ("last May", "2024-05-01", "2024-06-01"),
    ("since may", "2024-05-01", "2024-06-01"),
    ("in mid-May", "2024-05-11", "2024-05-21"),
    ("May 2021", "2021-05-01", "2021-06-01"),
    ("the concert in December", "2023-12-01", "2024-01-01"),
    ("what happened in 2022", "2022-01-01", "2023-01-01"),
    ("5月2号我吃了什么", "2024-05-02", "2024-05-03"),
    ("2024年5月", "2024-05-01", "2024-06-01"),
    ("2023 年 12 月 31 日", "2023-12-31", "2024-01-01"),
    ("五月份的聚会", "2024-05-01", "2024-06-01"),
    ("十二月", "2023-12-01", "2024-01-01"),
    ("5月初", "2024-05-01", "2024-05-11"),
    ("5月中旬", "2024-05-11", "2024-05-21"),
    ("5月下旬", "2024-05-21", "2024-06-01"),
    ("5月底", "2024-05-21", "2024-06-01"),
    ("5月1日到3日", "2024-05-01", "2024-05-04"),
    ("5月30号至6月2号", "2024-05-30", "2024-06-03"),
    ("2023年12月30日到1月2日", "2023-12-30", "2024-01-03"),
    ("2022年的事", "2022-01-01", "2023-01-01"),
    ("the last week of March", "2024-03-25", "2024-04-01"),
    ("at the end of June", "2024-06-21", "2024-07-01"),
    ("early March 2023", "2023-03-01", "2023-03-11"),
    ("on May 8 last year", "2023-05-08", "2023-05-09"),
    ("in May last year", "2023-05-01", "2023-06-01"),
    ("去年五月", "2023-05-01", "2023-06-01"),
    ("前年的5月2号", "2022-05-02", "2022-05-03"),
    ("今年3月初", "2024-03-01", "2024-03-11"),
    ("late last month", "2024-06-21", "2024-07-01"),
    ("the 5th of last month", "2024-06-05", "2024-06-06"),
    ("上个月底", "2024-06-21", "2024-07-01"),
    ("上个月5号", "2024-06-05", "2024-06-06"),
    ("in the spring", "2024-03-01", "2024-06-01"),
    ("last summer", "2024-06-01", "2024-09-01"),
    ("in winter", "2023-12-01", "2024-03-01"),
    ("去年夏天", "2023-06-01", "2023-09-01"),
    ("春节前买的", "2024-01-11", "2024-02-10"),
    ("国庆期间", "2023-10-01", "2023-10-08"),
    ("after Christmas", "2023-12-27", "2024-01-26"),
    ("中秋节之后", "2023-09-30", "2023-10-30"),
]
RELATIVE = [
    ("What did I say yesterday?", "2024-07-09", "2024-07-10"),
    ("昨天说的", "2024-07-09", "2024-07-10"),
    ("昨晚", "2024-07-09", "2024-07-10"),
    ("前天", "2024-07-08", "2024-07-09"),
    ("the day before yesterday", "2024-07-08", "2024-07-09"),
    ("大前天", "2024-07-07", "2024-07-08"),
    ("前两天", "2024-07-06", "2024-07-11"),
    ("last Tuesday", "2024-07-09", "2024-07-10"),
    ("last Wednesday", "2024-07-03", "2024-07-04"),
    ("上周二", "2024-07-02", "2024-07-03"),
    ("上个星期五的会", "2024-07-05", "2024-07-06"),
    ("上周一直在下雨", "2024-07-01", "2024-07-08"),
    ("上周天气很好", "2024-07-01", "2024-07-08"),
    ("last weekend", "2024-07-06", "2024-07-08"),
    ("上周末", "2024-07-06", "2024-07-08"),
    ("上上周", "2024-06-24", "2024-07-01"),
    ("the week before last", "2024-06-24", "2024-07-01"),
    ("前年", "2022-01-01", "2023-01-01"),
    ("last week", "2024-07-01", "2024-07-08"),
    ("上周", "2024-07-01", "2024-07-08"),
    ("上个星期", "2024-07-01", "2024-07-08"),
    ("this week", "2024-07-08", "2024-07-11"),
    ("本周", "2024-07-08", "2024-07-11"),
    ("last month", "2024-06-01", "2024-07-01"),
    ("上个月", "2024-06-01", "2024-07-01"),
    ("这个月", "2024-07-01", "2024-07-11"),
    ("last year", "2023-01-01", "2024-01-01"),
    ("去年", "2023-01-01", "2024-01-01"),
    ("three days ago", "2024-07-06", "2024-07-08"),
    ("3天前", "2024-07-06", "2024-07-08"),
    ("十二天前", "2024-06-27", "2024-06-29"),
    ("二十天之前", "2024-06-19", "2024-06-21"),
    ("the past 10 days", "2024-06-30", "2024-07-11"),
    ("over the last two weeks", "2024-06-26", "2024-07-11"),
]


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(("text", "start", "end"), [*EXPLICIT, *RELATIVE])
def test_a_time_is_read_as_its_window(text: str, start: str, end: str) -> None:
    # Given a clock of 10 July 2024 / When a text names one time / Then its window is half open, on that clock
    assert windows(text, CLOCK) == [(day(start), day(end))]


def test_weeks_ago_is_a_week_around_that_day() -> None:
    # Given no one counts days exactly / When two weeks ago are named / Then half a unit on both sides belongs to it
    expected = [(day("2024-06-26") - timedelta(days=3.5), day("2024-06-26") + timedelta(days=3.5))]
    assert windows("two weeks ago", CLOCK) == windows("两周前", CLOCK) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "You may go in the end", "may 99", "the mar on the table", "2023-02-30", "13月", "call 20231 or 120249",
        "version 1.2.3", "last time we met", "room 1024", "30 feb", "5月40日到41日", "999999999 years ago",
        "9999-12-31", "9999年12月", "0000-01-01",
    ],
)  # fmt: skip
def test_what_is_no_time_is_not_taken_for_one(text: str) -> None:
    # Given verbs, other numbers and impossible dates / When they are read / Then nothing is found
    assert windows(text, CLOCK) == []


def test_several_times_are_all_found_once_each() -> None:
    # Given a text with three times, one of them twice
    text = "Was it yesterday, May 8th or 2022-01-02? I mean May 8."

    # When it is read / Then explicit ones come first and none comes twice
    assert [start for start, _ in windows(text, CLOCK)] == [day("2022-01-02"), day("2024-05-08"), day("2024-07-09")]


def test_relative_days_are_days_of_the_clock() -> None:
    # Given a clock eight hours ahead of UTC
    shanghai = timezone(timedelta(hours=8))
    clock = datetime(2024, 7, 10, 1, 0, tzinfo=shanghai)

    # When yesterday is named / Then it is the yesterday of that place
    start = datetime(2024, 7, 9, tzinfo=shanghai)
    assert windows("昨天", clock) == [(start, start + timedelta(days=1))]


pieces = st.sampled_from(
    ["may ", "5月", "2号", "2024", "年", "-", "到", " 3", "rd", "十", "两", "周", "前", "天", " ago", " weeks", "last ",
     "of ", "昨", "99999999", "初", "9999年", "12月", "31日", "İ", "２", "١"]
)  # fmt: skip
texts = st.one_of(st.text(max_size=60), st.lists(pieces, max_size=12).map("".join))
clocks = st.datetimes(timezones=st.just(UTC))


@given(text=texts, clock=clocks)
def test_no_text_and_no_clock_raises(text: str, clock: datetime) -> None:
    # Given any text and any clock / When it is read / Then windows come out, each begins before it ends, none twice
    found = windows(text, clock)
    assert all(start < end for start, end in found)
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "unit",
    [
        "5月1",
        "may ",
        "1",
        "2024 ",
        "in-",
        "-",
        " ",
        "last ",
        "two weeks ",
        "十",
        "May 2 2024, ",
        "5月1 ",
        "一",
        "a couple of ",
    ],
)
def test_reading_takes_time_in_proportion_to_the_text(unit: str) -> None:
    # Given texts of 2,000 and 16,000 characters that begin every rule again and again
    short, long = ("in 5月1" + unit * (size // len(unit)) for size in (2_000, 16_000))

    # When they are read
    spent = []
    for text in (short, long):
        started = time.process_time()
        windows(text, CLOCK)
        spent.append(time.process_time() - started)

    # Then eight times the text takes about eight times as long, not sixty-four
    assert spent[1] < 24 * spent[0] + 0.05


@pytest.mark.parametrize("text", ["What did we do on 5 May?", "我们5月5日做了什么？"])
def test_a_date_without_a_year_may_be_meant_of_every_year_back_to_the_oldest_moment(text: str) -> None:
    # Given a memory that begins in April 2022 / When a date without a year is named
    found = earlier(text, CLOCK, day("2022-04-01"))

    # Then next to the latest one it may be that of each year before
    assert windows(text, CLOCK) == [(day("2024-05-05"), day("2024-05-06"))]
    expected = [(day("2023-05-05"), day("2023-05-06")), (day("2022-05-05"), day("2022-05-06"))]
    assert found == list(zip(expected, (1, 2), strict=True))


@pytest.mark.parametrize("text", ["on 5 May 2023", "2023年5月5日", "last week", "去年", "in 2022", "no time at all"])
def test_what_names_its_year_or_is_relative_is_meant_once(text: str) -> None:
    assert earlier(text, CLOCK, day("2020-01-01")) == []


def test_no_year_before_the_oldest_moment_is_meant() -> None:
    # Given memories since June of last year / When May is named / Then only this year's is known
    assert earlier("in May", CLOCK, day("2023-06-02")) == []


def test_a_memory_of_a_thousand_years_is_looked_back_on_for_twenty() -> None:
    # Given a leap day as the clock and a moment long ago / When a date is named / Then the work stays bounded
    assert len(earlier("on 5 January", day("2024-02-29"), day("1024-01-01"))) == 20
