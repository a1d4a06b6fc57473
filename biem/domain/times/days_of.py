"""The days of a matched time expression: of "on Friday", "the 14th", 下周三.

Each function takes a match of its rule (`biem.domain.times.dated`), the beginning of the day on which it was said, and
whether its clause speaks of the future, and returns a window. A day that does not exist raises ValueError.
"""

import re
from collections.abc import Callable
from datetime import datetime, timedelta

from biem.domain.times.holidays import FIXED, MID_AUTUMN, SPRING_FESTIVAL
from biem.domain.times.spans import DAY, MONTH_NUMBERS, Match, Window, number

Ahead = bool | None
"""Whether a clause speaks of the future; None if it does not say."""
Reader = Callable[[Match, datetime, Ahead], Window]
"""From a match, the beginning of the clock's day, and whether the clause speaks of the future, to a window."""

_DAYS = {"mon": 0, "tue": 1, "wed": 2, "thu": 3, "fri": 4, "sat": 5, "sun": 6, "天": 6} | {
    name: place for place, name in enumerate("一二三四五六日")
}
_UNITS = {
    "day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365, "天": 1, "日": 1, "周": 7, "星期": 7, "礼拜": 7,
    "月": 30, "年": 365,
}  # fmt: skip
_WEEKS = {
    "this": 0, "next": 1, "last": -1, "past": -1, "coming": 0, "following": 1, "本": 0, "这": 0, "下": 1, "上": -1,
    "下下": 2, "上上": -2, "week after next": 2,
}  # fmt: skip
"""By how many weeks or months a word moves."""
_SEASONS = {
    "spring": (3, 3), "summer": (6, 3), "autumn": (9, 3), "fall": (9, 3), "winter": (12, 3), "春天": (3, 3),
    "夏天": (6, 3), "秋天": (9, 3), "冬天": (12, 3), "暑假": (7, 2), "寒假": (1, 2),
}  # fmt: skip
"""First month and number of months, in the northern hemisphere."""
_YEARS = {"this": 0, "last": -1, "next": 1, "今": 0, "去": -1, "前": -2, "明": 1}
_PARTS = {
    "beginning": (0, 10), "start": (0, 10), "early": (0, 10), "mid": (9, 20), "middle": (9, 20), "end": (20, 31),
    "late": (20, 31), "later": (20, 31), "初": (0, 10), "上旬": (0, 10), "中旬": (9, 20), "中": (9, 20), "底": (20, 31),
    "末": (20, 31), "下旬": (20, 31),
}  # fmt: skip
"""First day and day after the last one, counted from the first of the month."""
_ORDINALS = {
    "first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "1st": 0, "2nd": 1, "3rd": 2, "4th": 3, "一": 0,
    "二": 1, "三": 2, "四": 3, "1": 0, "2": 1, "3": 2, "4": 3, "最后": -1,
}  # fmt: skip
_HAN = re.compile("[\u4e00-\u9fff]")
_HAN_ORDER = "一二三四五六七"
FEASTS = {name: days for name, days in FIXED.items() if _HAN.match(name)} | {
    "new year's eve": (12, 31, 1), "new years eve": (12, 31, 1), "new year's day": (1, 1, 1),
    "christmas eve": (12, 24, 1), "christmas day": (12, 25, 1), "over christmas": FIXED["christmas"],
    "boxing day": (12, 26, 1), "halloween": FIXED["halloween"], "valentine's": FIXED["valentine"],
    "valentines": FIXED["valentine"], "st patrick's": (3, 17, 1), "三八": FIXED["妇女节"], "清明": (4, 5, 1),
    "教师节": (9, 10, 1), "十一假期": FIXED["国庆"], "光棍节": (11, 11, 1), "冬至": (12, 21, 1), "平安夜": (12, 24, 1),
    "圣诞": (12, 25, 1), "跨年": (12, 31, 1),
}  # fmt: skip
"""Month, day and number of days of holidays that have a date."""
_NTH_NAMES = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
)
NTH = {
    name: place
    for place, name in enumerate(
        _NTH_NAMES.split(),
        1,
    )
}
"""Days of a month in words."""


def day_number(name: str) -> int:
    """The number of a weekday, 0 for Monday, by its English name or the last character of its Chinese one."""
    return _DAYS[name[:3]]


# -- weekdays and weeks ------------------------------------------------------------------------------------------------


def weekday(match: Match, today: datetime, ahead: Ahead) -> Window:
    """The next such day after today, or the last one up to today; "this" and "next" name its week."""
    day, which = day_number(match["day"]), match.groupdict().get("which")
    if which in ("last", "past"):
        return _nearest_weekday(today - DAY, day, ahead=False)
    if which in ("this", "next"):
        return _one(_monday(today, _WEEKS[which]) + day * DAY)
    return _nearest_weekday(today, day, ahead=which is not None or ahead)


def day_of_week(match: Match, today: datetime, _: Ahead) -> Window:
    """下周三, "Thursday next week"."""
    return _one(_monday(today, _WEEKS[match["which"]]) + day_number(match["day"]) * DAY)


def weekdays(match: Match, today: datetime, ahead: Ahead) -> Window:
    """From one weekday to another."""
    found = match.groupdict()
    if found.get("week"):
        start = _monday(today, _WEEKS[found["week"]]) + day_number(match["day"]) * DAY
    else:
        chinese = _HAN.search(match["day"]) is not None and match["which"]
        start = (day_of_week if chinese else weekday)(match, today, ahead)[0]
    return start, start + ((day_number(match["until"]) - start.weekday()) % 7 + 1) * DAY


def week_after(match: Match, today: datetime, _: Ahead) -> Window:
    """A week on Friday: the one after the next."""
    return _one(_nearest_weekday(today, day_number(match["day"]), ahead=True)[0] + 7 * DAY)


def week(match: Match, today: datetime, _: Ahead) -> Window:
    """This, last or next week, or a part of it."""
    start, part = _monday(today, _WEEKS[match["which"]]), match.groupdict().get("part") or ""
    if part.startswith(("end", "late")):
        return start + 3 * DAY, start + 7 * DAY
    return _one(start, 3 if part.startswith(("early", "beginning", "start")) else 7)


def whole_week(weeks: int) -> Reader:
    """The week a number of weeks from this one."""
    return lambda _, today, __: _one(_monday(today, weeks), 7)


def weekend(weeks: int) -> Reader:
    """The weekend a number of weeks from this one."""
    return lambda _, today, __: _one(_monday(today, weeks) + 5 * DAY, 2)


def plain_weekend(_: Match, today: datetime, ahead: Ahead) -> Window:
    """This week's if it is ahead or has begun, else the last one."""
    return _one(_monday(today, 0 if ahead is not False or today.weekday() > 4 else -1) + 5 * DAY, 2)


# -- dates -------------------------------------------------------------------------------------------------------------


def iso(match: Match, today: datetime, _: Ahead) -> Window:
    """Year, month and day."""
    return _one(today.replace(year=int(match["year"]), month=int(match["month"]), day=int(match["day"])))


def numeric(match: Match, today: datetime, ahead: Ahead) -> Window:
    """14/3: day and month; in Chinese, and where only that is a date, the other way round."""
    swapped = int(match["second"]) > 12 or _HAN.search(match.string) is not None

    def at(first: str, second: str, clock: datetime, ahead: Ahead) -> datetime:
        day, month = (int(second), int(first)) if swapped else (int(first), int(second))
        return _in_its_year(clock, month, day, None, ahead=ahead)

    start = at(match["first"], match["second"], today, ahead)
    return start, (at(match["until"], match["last"], start, ahead=True) if match["until"] else start) + DAY


def date(match: Match, today: datetime, ahead: Ahead) -> Window:
    """A day of a month, or from one to another."""
    found = match.groupdict()
    month = _month_number(found["month"])
    start = _in_its_year(today, month, number(found["d1"]), found.get("year"), ahead=ahead)
    if not found.get("until"):
        return _one(start)
    last = found.get("last")
    end = start.replace(month=_month_number(last) if last else start.month, day=number(found["until"]))
    return start, (end if end > start else end.replace(year=end.year + 1)) + DAY


def day_of_month(match: Match, today: datetime, ahead: Ahead) -> Window:
    """The 14th, or from one such day to the next one named."""
    found = match.groupdict()
    day, which = number(found["day"]), found.get("which")
    at = _month_start(today, _WEEKS[which]).replace(day=day) if which else _in_some_month(today, day, ahead)
    if not found.get("until"):
        return _one(at)
    return at, _in_some_month(at, number(found["until"]), ahead=True) + DAY


def nth_in_words(match: Match, today: datetime, ahead: Ahead) -> Window:
    """On the eleventh, the sixth of next month, the first of March."""
    day, found = NTH[match["word"]], match.groupdict()
    if found.get("month"):
        return _one(_in_its_year(today, _month_number(found["month"]), day, None, ahead=ahead))
    which = found.get("which")
    return _one(_month_start(today, _WEEKS[which]).replace(day=day) if which else _in_some_month(today, day, ahead))


def nth_weekday(match: Match, today: datetime, ahead: Ahead) -> Window:
    """The last Friday of the month."""
    found = match.groupdict()
    start = _month_start(today, _WEEKS[found.get("which") or "this"])
    if found.get("month"):
        start = _in_its_year(start, _month_number(found["month"]), 1, None, ahead=ahead)
    place, day = _ORDINALS[match["nth"]], day_number(match["day"])
    if place < 0:
        return _one(_nearest_weekday(_month_start(start, 1) - DAY, day, ahead=False)[0])
    return _one(start + ((day - start.weekday()) % 7 + 7 * place) * DAY)


def weekend_of(match: Match, today: datetime, ahead: Ahead) -> Window:
    """The weekend of a date."""
    read = date if match.groupdict().get("month") else day_of_month
    return _one(_monday(read(match, today, ahead)[0]) + 5 * DAY, 2)


def season(match: Match, today: datetime, ahead: Ahead) -> Window:
    """Three months, or two of summer holidays and one of winter holidays."""
    first, months = _SEASONS[match["season"] or match["han"]]
    start = _in_its_year(today.replace(day=1), first, 1, None, ahead=ahead)
    return start, _month_start(start, months)


def week_of(match: Match, today: datetime, ahead: Ahead) -> Window:
    """The week of a date."""
    read = date if match.groupdict().get("month") else day_of_month
    return _one(_monday(read(match, today, ahead)[0]), 7)


def feast(match: Match, today: datetime, ahead: Ahead) -> Window:
    """A holiday that has a date: its first day, or all of it."""
    month, day, days = FEASTS[match["name"]]
    return _one(_in_its_year(today, month, day, None, ahead=ahead), days if match["whole"] or days > 3 else 1)


def lunar(match: Match, today: datetime, ahead: Ahead) -> Window:
    """A holiday of the lunar calendar, in the years that the tables have: the nearest, the next or the last one."""
    name = match["lunar"]
    days = [one.replace(tzinfo=today.tzinfo) for one in (MID_AUTUMN if name == "中秋" else SPRING_FESTIVAL)]
    shift = -1 if name.endswith(("夕", "十")) else _HAN_ORDER.find(name[-1]) if "初" in name else 0

    def distance(day: datetime) -> tuple[bool, timedelta]:
        wrong = day < today - 7 * DAY if ahead else ahead is False and day > today + 7 * DAY
        return wrong, abs(day - today)

    return _one(min((one + shift * DAY for one in days), key=distance), 7 if match["whole"] or "春" in name else 1)


# -- months and years --------------------------------------------------------------------------------------------------


def month(match: Match, today: datetime, _: Ahead) -> Window:
    """This, last or next month, or a part of it."""
    found = match.groupdict()
    return _in_month(_month_start(today, _WEEKS[found.get("which") or "this"]), found.get("part"))


def named_month(match: Match, today: datetime, ahead: Ahead) -> Window:
    """A month by its name, or a part or a week of it."""
    found = match.groupdict()
    start = _in_its_year(today.replace(day=1), _month_number(found["month"]), 1, found.get("year"), ahead=ahead)
    return _in_month(start, found.get("part"), found.get("week"))


def half_of_month(match: Match, today: datetime, ahead: Ahead) -> Window:
    """The first or the second half of a month."""
    start = _in_its_year(today.replace(day=1), _month_number(match["month"] or match["han"]), 1, None, ahead=ahead)
    first = (match["half"] or "").startswith(("first", "1")) or match["which"] == "上"
    return (start, start + 15 * DAY) if first else (start + 15 * DAY, _month_start(start, 1))


def last_of_month(match: Match, today: datetime, _: Ahead) -> Window:
    """The last day of a month."""
    return _one(_month_start(today, 2 if match["which"] or match["han"] == "下" else 1) - DAY)


def end_of_named_month(match: Match, today: datetime, ahead: Ahead) -> Window:
    """The last day of a month that is named."""
    start = _in_its_year(today.replace(day=1), _month_number(match["month"] or match["han"]), 1, None, ahead=ahead)
    return _one(_month_start(start, 1) - DAY)


def year(match: Match, today: datetime, _: Ahead) -> Window:
    """A calendar year."""
    found = match.groupdict()
    named = found.get("year")
    start = today.replace(
        year=int(named) if named else today.year + _YEARS[found["which"] or found["han"]], month=1, day=1
    )
    return start, start.replace(year=start.year + 1)


# -- distances ---------------------------------------------------------------------------------------------------------


def from_today(first: int, days: int = 1) -> Reader:
    """A number of days that begin `first` days after today."""
    return lambda _, today, __: _one(today + first * DAY, days)


def after(match: Match, today: datetime, _: Ahead) -> Window:
    """After a number of days; of months give or take three days."""
    days = _amount(match)
    wide = 3 if days >= 30 else 0
    return today + (days - wide) * DAY, today + (days + wide + 1) * DAY


def ago(match: Match, today: datetime, _: Ahead) -> Window:
    """A number of days ago: of weeks give or take one day, of months five."""
    days = _amount(match)
    wide = 0 if days < 7 else 1 if days < 30 else 5
    return today - (days + wide) * DAY, today - (days - wide - 1) * DAY


def week_from(match: Match, today: datetime, _: Ahead) -> Window:
    """A week today, a week tomorrow."""
    return _one(today + (_UNITS[match["unit"]] + (match["from"] == "tomorrow")) * DAY)


def past_days(match: Match, today: datetime, _: Ahead) -> Window:
    """A number of past days, with today."""
    return today - _amount(match) * DAY, today + DAY


def coming_days(match: Match, today: datetime, _: Ahead) -> Window:
    """Today and a number of days after it."""
    return today, today + (_amount(match) + 1) * DAY


def _amount(match: Match) -> int:
    count, days = match["count"].removeprefix("a "), _UNITS[match["unit"]]
    return days // 2 if count == "半" else days if count == "the" else number(count) * days


def _one(day: datetime, days: int = 1) -> Window:
    return day, day + days * DAY


def _monday(today: datetime, weeks: int = 0) -> datetime:
    return today + (7 * weeks - today.weekday()) * DAY


def _nearest_weekday(today: datetime, day: int, ahead: Ahead) -> Window:
    if ahead is not False:
        return _one(today + ((day - today.weekday() - 1) % 7 + 1) * DAY)
    return _one(today - ((today.weekday() - day) % 7) * DAY)


def _month_start(today: datetime, months: int) -> datetime:
    place = today.year * 12 + today.month - 1 + months
    return today.replace(year=place // 12, month=place % 12 + 1, day=1)


def _in_some_month(today: datetime, day: int, ahead: Ahead) -> datetime:
    """The next such day, today included, or the last one; if that is not known, the nearest; of months that have it."""
    starts = (_month_start(today, step) for step in (-1, 0, 1, 2))
    days = [start + (day - 1) * DAY for start in starts if (start + (day - 1) * DAY).month == start.month]
    coming = next((one for one in days if one >= today), None)
    if coming is None:
        raise ValueError(f"no month has a day {day}")
    gone = next((one for one in days[::-1] if one <= today), coming)
    if ahead is None:
        return min(coming, gone, key=lambda one: abs(one - today))
    return coming if ahead else gone


def _month_number(name: str) -> int:
    return MONTH_NUMBERS[name] if name in MONTH_NUMBERS else number(name)


def _in_month(start: datetime, part: str | None, week: str | None = None) -> Window:
    end = _month_start(start, 1)
    if week is not None:
        first = 7 * _ORDINALS[week]
        return (end - 7 * DAY, end) if first < 0 else (start + first * DAY, min(start + (first + 7) * DAY, end))
    if not part:
        return start, end
    begins, ends = _PARTS[part]
    return start + begins * DAY, min(start + ends * DAY, end)


def _in_its_year(today: datetime, month: int, day: int, year: str | None, *, ahead: Ahead) -> datetime:
    """That day of its year; without one of the year in which it is next ahead, was last, or is nearest."""
    at = today.replace(year=int(year) if year else today.year, month=month, day=day)
    if year:
        return at
    if ahead is None:
        return min((at.replace(year=at.year + step) for step in (0, 1, -1)), key=lambda one: abs(one - today))
    if ahead and at < today - 7 * DAY:
        return at.replace(year=at.year + 1)
    return at.replace(year=at.year - 1) if not ahead and at > today + 7 * DAY else at
