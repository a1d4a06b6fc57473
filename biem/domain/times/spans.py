"""Shared parts of the time parsers: windows, calendar spans, counts in words."""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Window = tuple[datetime, datetime]
"""Half open: [start, end)."""
Match = re.Match[str]
Reader = Callable[[Match, datetime], Window | None]
"""From a match and a clock to a window."""

DAY = timedelta(days=1)
_AHEAD = timedelta(days=7)
"""Plans also omit their year, but are seldom further ahead than this."""
_MOST_DIGITS = 6
"""Longer counts of days or years are rejected; Python refuses to parse very long numbers."""
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS, 1)}
MONTH_NUMBERS |= {name[:3]: number for name, number in MONTH_NUMBERS.items()} | {"sept": 9}
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "a": 1, "an": 1, "couple": 2, "few": 3, "several": 3,
}  # fmt: skip
_HAN_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "几": 3}

MONTH = r"(?:" + "|".join([*_MONTHS, *(name[:3] for name in _MONTHS if name != "may"), "sept"]) + r")"
HAN_MONTH = r"(?:\d{1,2}|十[一二]|[一二三四五六七八九十两])"


def number(text: str) -> int:
    """A count in digits, in an English word or in Chinese numerals up to 99."""
    if text.isdigit():
        if len(text) > _MOST_DIGITS:
            raise ValueError("longer than any count of days")
        return int(text)
    if text in _HAN_DIGITS:
        return _HAN_DIGITS[text]
    if "十" in text:
        tens, _, ones = text.partition("十")
        return 10 * _HAN_DIGITS.get(tens, 1) + _HAN_DIGITS.get(ones, 0)
    return _NUMBERS[text.split()[0]]


def year_of(clock: datetime, month: int, day: int = 1) -> int:
    """The year of a date without one: the latest whose date is not more than a week ahead."""
    at = datetime(clock.year, month, day, tzinfo=UTC)
    return clock.year - 1 if at > clock + _AHEAD else clock.year


def day_of(year: int, month: int, day: int) -> Window:
    """One day, in UTC."""
    start = datetime(year, month, day, tzinfo=UTC)
    return start, start + DAY


def month_of(year: int, month: int) -> Window:
    """One month, in UTC."""
    return datetime(year, month, 1, tzinfo=UTC), datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def year(number: int) -> Window:
    """One year, in UTC."""
    return datetime(number, 1, 1, tzinfo=UTC), datetime(number + 1, 1, 1, tzinfo=UTC)


def midnight(clock: datetime) -> datetime:
    """The beginning of the clock's day, in its own time zone."""
    return clock.replace(hour=0, minute=0, second=0, microsecond=0)
