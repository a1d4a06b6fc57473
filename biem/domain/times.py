"""Times that a text names, as windows on the clock of what is remembered: dates, months, years, "last week", "两周前".

A window is half open: [start, end). Explicit expressions are read first, longest kind first, and no letter is read
twice ("2024年5月" is a month, not also a year); relative ones are read beside them. A date without a year is the latest
one that is not more than a week ahead of the clock. Days are those of the clock's time zone for relative expressions,
of UTC for explicit ones. Every rule is linear in the length of the text, and no text raises.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Window = tuple[datetime, datetime]
_Match = re.Match[str]
_Reader = Callable[[_Match, datetime], Window | None]

_DAY = timedelta(days=1)
_AHEAD = timedelta(days=7)
"""Plans are spoken of without their year, too, but seldom longer ahead than this."""
_MOST_YEARS = 20
_MOST_DIGITS = 6
"""No count of days or years is longer; Python refuses to read very long numbers."""
_MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS, 1)}
_MONTH_NUMBERS |= {name[:3]: number for name, number in _MONTH_NUMBERS.items()} | {"sept": 9}
_VERBS = ("may", "mar")
"""Months that are other words as well: taken for a month only with a year or after one of `_BEFORE_MONTH`."""
_BEFORE_MONTH = ("in", "of", "last", "since", "during", "by", "early", "late", "mid", "until", "this")
_NUMBERS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "a": 1, "an": 1, "couple": 2, "few": 3, "several": 3,
}  # fmt: skip
_HAN_DIGITS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "几": 3}
_UNIT_DAYS = {
    "day": 1, "week": 7, "month": 30, "year": 365, "天": 1, "周": 7, "个星期": 7, "个月": 30, "年": 365,
}  # fmt: skip
_THIRDS = {"上旬": 0, "初": 0, "中旬": 1, "中": 1, "下旬": 2, "底": 2, "末": 2}

_MONTH = r"(?:" + "|".join([*_MONTHS, *(name[:3] for name in _MONTHS if name != "may"), "sept"]) + r")"
_HAN_MONTH = r"(?:\d{1,2}|十[一二]|[一二三四五六七八九十两])"
_SOME = r"two|three|four|five|six|seven|eight|nine|ten|few|couple(?: of)?|several"
_HAN_COUNT = r"(?:(?<!\d)\d+|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九几])"


def windows(text: str, clock: datetime) -> list[Window]:
    """The times that `text` names, each once, explicit ones first; `clock` (aware) is the newest moment known."""
    lowered = _plain(text)
    found = _explicit(lowered, clock)
    for pattern, reader in _RELATIVE:
        for match in pattern.finditer(lowered):
            _add(found, reader, match, clock)
    return list(found)


def earlier(text: str, clock: datetime, first: datetime) -> list[tuple[Window, int]]:
    """The dates that `text` names without a year, in each year before the one meant first, and how many years before.

    Back to the year of `first`, the oldest moment known (aware), but no more than twenty.
    """
    lowered = _plain(text)
    known = _explicit(lowered, clock)
    found: list[tuple[Window, int]] = []
    for years in range(1, min(_MOST_YEARS, clock.year - first.year) + 1 if known else 0):
        moved = clock.replace(year=clock.year - years, day=min(clock.day, 28))
        again = _explicit(lowered, moved)
        found += [(window, years) for window in again if window not in known and window[1] > first]
    return found


def _plain(text: str) -> str:
    return " ".join(text.lower().split())  # one space each: no rule can be slow over a run of them


def _explicit(lowered: str, clock: datetime) -> dict[Window, None]:
    read = bytearray(len(lowered))
    found: dict[Window, None] = {}
    for pattern, reader in _EXPLICIT:
        for match in pattern.finditer(lowered):
            start, end = match.span()
            if read.find(1, start, end) < 0:
                read[start:end] = b"\1" * (end - start)
                _add(found, reader, match, clock)
    return found


def _add(found: dict[Window, None], reader: _Reader, match: _Match, clock: datetime) -> None:
    try:
        window = reader(match, clock)
    except (ValueError, OverflowError):  # 30 February, month 13, a million years ago
        return
    if window is not None and window[0] < window[1]:
        found[window] = None


# -- numbers and spans ------------------------------------------------------------------------------------------------


def _number(text: str) -> int:
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


def _year_of(clock: datetime, month: int, day: int = 1) -> int:
    """The year that is meant where none is named."""
    at = datetime(clock.year, month, day, tzinfo=UTC)
    return clock.year - 1 if at > clock + _AHEAD else clock.year


def _day(year: int, month: int, day: int) -> Window:
    start = datetime(year, month, day, tzinfo=UTC)
    return start, start + _DAY


def _month(year: int, month: int) -> Window:
    return datetime(year, month, 1, tzinfo=UTC), datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)


def _year(year: int) -> Window:
    return datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)


def _midnight(clock: datetime) -> datetime:
    return clock.replace(hour=0, minute=0, second=0, microsecond=0)


# -- explicit expressions ---------------------------------------------------------------------------------------------


def _iso(match: _Match, _: datetime) -> Window:
    return _day(int(match[1]), int(match[2]), int(match[3]))


def _han_range(match: _Match, clock: datetime) -> Window:
    month = _number(match["m1"])
    last_month = _number(match["m2"]) if match["m2"] else month
    year = int(match["year"]) if match["year"] else _year_of(clock, month)
    start, _ = _day(year, month, int(match["d1"]))
    turn = last_month < month  # over New Year
    return start, _day(year + turn, last_month, int(match["d2"]))[1]


def _han_date(match: _Match, clock: datetime) -> Window:
    month, part = _number(match["month"]), match["part"]
    year = int(match["year"]) if match["year"] else _year_of(clock, month)
    if part and part.isdigit():
        return _day(year, month, int(part))
    start, end = _month(year, month)
    if not part:
        return start, end
    third = _THIRDS[part]
    return start + 10 * third * _DAY, end if third == 2 else start + 10 * (third + 1) * _DAY


def _english_date(match: _Match, clock: datetime) -> Window:
    month = _MONTH_NUMBERS[match["m1"] or match["m2"]]
    day = int(match["d1"] or match["d2"])
    year = match["y1"] or match["y2"]
    return _day(int(year) if year else _year_of(clock, month, min(day, 28)), month, day)


def _english_month(match: _Match, clock: datetime) -> Window | None:
    name, year = match["month"], match["year"]
    if name in _VERBS and not year:
        before = match.string[: match.start()]
        stem = before.rstrip(" -")
        if stem == before or not stem.endswith(_BEFORE_MONTH):
            return None
    month = _MONTH_NUMBERS[name]
    return _month(int(year) if year else _year_of(clock, month), month)


def _explicit_year(match: _Match, _: datetime) -> Window:
    return _year(int(match[1]))


_EXPLICIT: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    # 2024-05-02, 2024/5/2, 2024.5.2
    (re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)"), _iso),
    # 5月1日到3日, 2024年5月30号至6月2号
    (
        re.compile(
            rf"(?:(?P<year>\d{{4}})\s?年\s?)?(?P<m1>{_HAN_MONTH})\s?月\s?(?P<d1>\d{{1,2}})\s?(?:[日号]\s?)?[至到\-~—]\s?"
            rf"(?:(?P<m2>{_HAN_MONTH})\s?月\s?)?(?P<d2>\d{{1,2}})\s?[日号]"
        ),
        _han_range,
    ),
    # 5月2号, 2024年5月, 五月初, 12月下旬
    (
        re.compile(
            rf"(?:(?P<year>\d{{4}})\s?年\s?)?(?P<month>{_HAN_MONTH})\s?月\s?份?的?"
            r"(?P<part>上旬|中旬|下旬|初|底|末|中(?!旬)|\d{1,2}(?=\s?[日号]))?"
        ),
        _han_date,
    ),
    # May 2nd, 2024; 2 May; 2nd of May 2024
    (
        re.compile(
            rf"(?P<m1>{_MONTH})\.?\s(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s?(?P<y1>\d{{4}}))?"
            rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m2>{_MONTH})\.?(?:,?\s?(?P<y2>\d{{4}}))?"
        ),
        _english_date,
    ),
    # last May, in June, July 2023, August of 2023
    (re.compile(rf"\b(?P<month>{_MONTH})\.?(?:,?\s?(?:of\s)?(?P<year>\d{{4}}))?\b"), _english_month),
    # 2023, 2023年
    (re.compile(r"(?<!\d)((?:19|20)\d{2})(?:\s?年|(?!\d|[-/年]))"), _explicit_year),
)

# -- relative expressions ---------------------------------------------------------------------------------------------


def _days_back(first: int, last: int) -> _Reader:
    """Whole days before the clock's day: from `first` to before `last`."""
    return lambda _, clock: (_midnight(clock) - first * _DAY, _midnight(clock) - last * _DAY)


def _last_week(_: _Match, clock: datetime) -> Window:
    monday = _midnight(clock) - clock.weekday() * _DAY
    return monday - 7 * _DAY, monday


def _this_week(_: _Match, clock: datetime) -> Window:
    return _midnight(clock) - clock.weekday() * _DAY, _midnight(clock) + _DAY


def _last_month(_: _Match, clock: datetime) -> Window:
    before = _midnight(clock).replace(day=1) - _DAY
    return _month(before.year, before.month)


def _this_month(_: _Match, clock: datetime) -> Window:
    return _midnight(clock).replace(day=1), _midnight(clock) + _DAY


def _last_year(_: _Match, clock: datetime) -> Window:
    return _year(clock.year - 1)


def _ago(match: _Match, clock: datetime) -> Window:
    """Half a unit around the moment, at least a day: nobody who says "two weeks ago" has counted the days."""
    days = _UNIT_DAYS[match["unit"]]
    moment = _midnight(clock) - _number(match["count"]) * days * _DAY
    half = max(1.0, days / 2) * _DAY
    return moment - half, moment + half


def _past(match: _Match, clock: datetime) -> Window:
    """The past so many days, up to the end of the clock's day."""
    midnight = _midnight(clock)
    return midnight - _number(match["count"] or "one") * _UNIT_DAYS[match["unit"]] * _DAY, midnight + _DAY


_RELATIVE: tuple[tuple[re.Pattern[str], _Reader], ...] = (
    (re.compile(r"\byesterday\b|昨[天晚日]"), _days_back(1, 0)),
    (re.compile(r"前天"), _days_back(2, 1)),
    (re.compile(r"\blast week\b|上个?(?:星期|周|礼拜)"), _last_week),
    (re.compile(r"\bthis week\b|这个?(?:星期|周)|本周"), _this_week),
    (re.compile(r"\blast month\b|上个?月"), _last_month),
    (re.compile(r"\bthis month\b|这个月|本月"), _this_month),
    (re.compile(r"\blast year\b|去年"), _last_year),
    (re.compile(rf"\b(?P<count>\d+|an?|one|{_SOME})\s(?P<unit>day|week|month|year)s?\sago\b"), _ago),
    (re.compile(rf"\bpast\s(?:(?P<count>\d+|{_SOME})\s)?(?P<unit>day|week|month|year)s?\b"), _past),
    (re.compile(rf"\blast\s(?P<count>\d+|{_SOME})\s(?P<unit>day|week|month|year)s?\b"), _past),
    (re.compile(rf"(?P<count>{_HAN_COUNT})\s?(?P<unit>天|周|个星期|个月|年)[以之]?前"), _ago),
)
