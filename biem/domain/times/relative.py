"""Time expressions relative to the clock: "yesterday", "last Tuesday", "two weeks ago", 上周末, 三天前."""

import re
from datetime import datetime

from biem.domain.times.spans import DAY, Match, Reader, Window, midnight, month_of, number, year

_UNIT_DAYS = {
    "day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "周": 7, "个星期": 7, "个月": 30, "年": 365,
}  # fmt: skip
_SOME = r"two|three|four|five|six|seven|eight|nine|ten|few|couple(?: of)?|several"
_HAN_COUNT = r"(?:(?<!\d)\d+|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九几])"
_WEEKDAYS = {
    "monday": 0, "tuesday": 1, "wednesday": 2, "thursday": 3, "friday": 4, "saturday": 5, "sunday": 6,
    "一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5,
}  # fmt: skip
_WEEKDAY = "(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)"


def _days_back(first: int, last: int) -> Reader:
    """Whole days before the clock's day: from `first` to before `last`."""
    return lambda _, clock: (midnight(clock) - first * DAY, midnight(clock) - last * DAY)


def _last_week(_: Match, clock: datetime) -> Window:
    monday = midnight(clock) - clock.weekday() * DAY
    return monday - 7 * DAY, monday


def _this_week(_: Match, clock: datetime) -> Window:
    return midnight(clock) - clock.weekday() * DAY, midnight(clock) + DAY


def _week_before(match: Match, clock: datetime) -> Window:
    start, end = _last_week(match, clock)
    return start - 7 * DAY, end - 7 * DAY


def _last_weekend(match: Match, clock: datetime) -> Window:
    monday = _last_week(match, clock)[1]
    return monday - 2 * DAY, monday


def _last_weekday(match: Match, clock: datetime) -> Window:
    """The latest such weekday before the clock's day."""
    back = (clock.weekday() - _WEEKDAYS[match["weekday"]] - 1) % 7 + 1
    return midnight(clock) - back * DAY, midnight(clock) - (back - 1) * DAY


def _day_of_last_week(match: Match, clock: datetime) -> Window:
    """上周二: of the previous week, which begins on Monday."""
    monday = _last_week(match, clock)[0]
    start = monday + _WEEKDAYS[match["weekday"]] * DAY
    return start, start + DAY


def _last_month(_: Match, clock: datetime) -> Window:
    before = midnight(clock).replace(day=1) - DAY
    return month_of(before.year, before.month)


def _this_month(_: Match, clock: datetime) -> Window:
    return midnight(clock).replace(day=1), midnight(clock) + DAY


def _last_year(_: Match, clock: datetime) -> Window:
    return year(clock.year - 1)


def _year_before(_: Match, clock: datetime) -> Window:
    return year(clock.year - 2)


def _ago(match: Match, clock: datetime) -> Window:
    """Half a unit around the instant, at least a day: "two weeks ago" is rarely exact."""
    days = _UNIT_DAYS[match["unit"]]
    moment = midnight(clock) - number(match["count"]) * days * DAY
    half = max(1.0, days / 2) * DAY
    return moment - half, moment + half


def _past(match: Match, clock: datetime) -> Window:
    """The past n days, up to the end of the clock's day."""
    today = midnight(clock)
    return today - number(match["count"] or "one") * _UNIT_DAYS[match["unit"]] * DAY, today + DAY


RELATIVE: tuple[tuple[re.Pattern[str], Reader], ...] = (
    (re.compile(r"\bday before yesterday\b|(?<!大)前天"), _days_back(2, 1)),
    (re.compile(r"大前天"), _days_back(3, 2)),
    (re.compile(r"\byesterday\b|昨[天晚日]"), _days_back(1, 0)),
    (re.compile(r"前[两几](?:天|日)(?!前)|这[两几]天"), _days_back(4, -1)),
    (re.compile(r"\blast weekend\b|上个?(?:周末|礼拜天|星期天|星期日|周日)"), _last_weekend),
    (re.compile(rf"\blast {_WEEKDAY}\b"), _last_weekday),
    (re.compile(r"上个?(?:星期|周|礼拜)(?P<weekday>一(?![直些起个样共次])|[二三四五六])"), _day_of_last_week),
    (re.compile(r"\bweek before last\b|上上个?(?:星期|周|礼拜)"), _week_before),
    (re.compile(r"\blast week\b|上个?(?:星期|周|礼拜)"), _last_week),
    (re.compile(r"\bthis week\b|这个?(?:星期|周)|本周"), _this_week),
    (re.compile(r"\blast month\b|上个?月"), _last_month),
    (re.compile(r"\bthis month\b|这个月|本月"), _this_month),
    (re.compile(r"\byear before last\b|前年"), _year_before),
    (re.compile(r"\blast year\b|去年"), _last_year),
    (re.compile(rf"\b(?P<count>\d+|an?|one|{_SOME})\s(?P<unit>day|week|month|year)s?\sago\b"), _ago),
    (re.compile(rf"\bpast\s(?:(?P<count>\d+|{_SOME})\s)?(?P<unit>day|week|month|year)s?\b"), _past),
    (re.compile(rf"\blast\s(?P<count>\d+|{_SOME})\s(?P<unit>day|week|month|year)s?\b"), _past),
    (re.compile(rf"(?P<count>{_HAN_COUNT})\s?(?P<unit>天|周|个星期|个月|年)[以之]?前"), _ago),
)
"""In matching order: no character is matched twice, so more specific expressions come first."""
