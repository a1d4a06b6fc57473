"""Time expressions in a text, resolved to windows by a reference clock: dates, months, years, "last week", "两周前".

A window is half open: [start, end). Explicit expressions are matched first, longest kind first, then relative ones, and
no character is matched twice ("2024年5月" is a month, not also a year). A date without a year is the latest one that is
not more than a week ahead of the clock; "last year" or 去年 next to it gives its year. Days are those of the clock's
time zone for relative expressions, of UTC for explicit ones. Every rule is linear in the length of the text, and no
text raises.
"""

import re
from datetime import datetime

from biem.domain.text import simplified
from biem.domain.times.holidays import FEASTS
from biem.domain.times.relative import RELATIVE
from biem.domain.times.spans import (
    DAY,
    HAN_MONTH,
    MONTH,
    MONTH_NUMBERS,
    Match,
    Reader,
    Window,
    day_of,
    month_of,
    number,
    year,
    year_of,
)

_MOST_YEARS = 20
_VERBS = ("may", "mar")
"""Months that are other words as well: matched as a month only with a year or after one of `_BEFORE_MONTH`."""
_BEFORE_MONTH = ("in", "of", "last", "since", "during", "by", "early", "late", "mid", "until", "this")
_LONGEST_BEFORE = 16
"""Characters in which one of them is searched."""
_THIRDS = {
    "上旬": 0, "初": 0, "中旬": 1, "中": 1, "下旬": 2, "底": 2, "末": 2,
    "early": 0, "beginning of": 0, "start of": 0, "mid": 1, "middle of": 1, "late": 2, "end of": 2,
}  # fmt: skip
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12, "spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first of its three months, in the northern hemisphere."""
_YEARS_BACK = {"今年": 0, "去年": 1, "前年": 2, "大前年": 3, "this": 0, "last": 1}
_HAN_DAY = "(?:[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_HAN_YEAR = re.compile(rf"(?P<back>今年|去年|(?:大)?前年)的?(?=\s?(?:{HAN_MONTH}\s?月|[春夏秋冬][天季]))")
_YEAR_BESIDE = re.compile(
    rf"\b(?P<date>{MONTH}\.?(?:\s\d{{1,2}}(?:st|nd|rd|th)?)?),?\s(?:of\s)?(?P<back>this|last) year\b"
)
_HAN_MONTH_BESIDE = re.compile(r"(?P<back>上个?|这个?|本)月(?=\s?(?:\d{1,2}\s?[日号]|初|底|末|上旬|中旬|下旬))")
_MONTH_BESIDE = re.compile(r"(?P<before>\b(?:of|early|late|mid)[\s-])(?P<back>last|this) month\b")


def windows(text: str, clock: datetime) -> list[Window]:
    """The times in `text`, without repeats, explicit ones first; `clock` (aware) is the newest known instant."""
    lowered = _plain(text, clock)
    read = bytearray(len(lowered))
    found = _read(lowered, clock, _EXPLICIT, read)
    return list(found | _read(lowered, clock, RELATIVE, read))


def earlier(text: str, clock: datetime, first: datetime) -> list[tuple[Window, int]]:
    """The dates without a year in `text`, in each earlier year, latest first, and how many years earlier.

    Back to the year of `first`, the oldest known instant (aware), but no more than twenty years.
    """
    lowered = _plain(text, clock)
    known = _read(lowered, clock, _EXPLICIT, bytearray(len(lowered)))
    found: list[tuple[Window, int]] = []
    for years in range(1, min(_MOST_YEARS, clock.year - first.year) + 1 if known else 0):
        moved = clock.replace(year=clock.year - years, day=min(clock.day, 28))
        again = _read(lowered, moved, _EXPLICIT, bytearray(len(lowered)))
        found += [(window, years) for window in again if window not in known and window[1] > first]
    return found


def beside(text: str, clock: datetime) -> str:
    """What `text` says beside its times: these are blank, all else is in lower case."""
    lowered = _plain(text, clock)
    read, spans = bytearray(len(lowered)), list[tuple[int, int]]()
    for rules in (_EXPLICIT, RELATIVE):
        _read(lowered, clock, rules, read, spans)
    named = bytearray(len(lowered))
    for start, end in spans:
        named[start:end] = b"\1" * (end - start)
    return "".join(" " if is_named else character for character, is_named in zip(lowered, named, strict=True))


def _plain(text: str, clock: datetime) -> str:
    """Lower case, single spaces (no rule can be slow over a run of them), and relative years resolved to numbers:
    去年五月 is May of that year in every year of `earlier`.
    """
    lowered = " ".join(simplified(text).lower().split())
    lowered = _HAN_YEAR.sub(lambda found: f"{clock.year - _YEARS_BACK[found['back']]}年", lowered)
    lowered = _YEAR_BESIDE.sub(lambda found: f"{found['date']} {clock.year - _YEARS_BACK[found['back']]}", lowered)
    lowered = _HAN_MONTH_BESIDE.sub(lambda found: "{}年{}月".format(*_month_back(clock, found["back"])), lowered)
    return _MONTH_BESIDE.sub(lambda found: found["before"] + _month_named(clock, found["back"]), lowered)


def _month_back(clock: datetime, back: str) -> tuple[int, int]:
    before = clock.replace(day=1) - DAY if back in ("last", "上", "上个") else clock
    return before.year, before.month


def _month_named(clock: datetime, back: str) -> str:
    known, month = _month_back(clock, back)
    return f"{next(name for name, place in MONTH_NUMBERS.items() if place == month)} {known}"


def _read(
    lowered: str,
    clock: datetime,
    rules: tuple[tuple[re.Pattern[str], Reader], ...],
    read: bytearray,
    spans: list[tuple[int, int]] | None = None,
) -> dict[Window, None]:
    """The matches of the rules outside the spans already `read`, each window once; their places go to `spans`."""
    found: dict[Window, None] = {}
    for pattern, reader in rules:
        for match in pattern.finditer(lowered):
            start, end = match.span()
            if read.find(1, start, end) < 0:
                read[start:end] = b"\1" * (end - start)
                window = _window(reader, match, clock)
                if window is not None:
                    found[window] = None
                    if spans is not None:
                        spans.append((start, end))
    return found


def _window(reader: Reader, match: Match, clock: datetime) -> Window | None:
    try:
        window = reader(match, clock)
    except (ValueError, OverflowError):  # 30 February, month 13, a million years ago
        return None
    return window if window is not None and window[0] < window[1] else None


def _iso(match: Match, _: datetime) -> Window:
    return day_of(int(match[1]), int(match[2]), int(match[3]))


def _han_range(match: Match, clock: datetime) -> Window:
    month = number(match["m1"])
    last_month = number(match["m2"]) if match["m2"] else month
    known = int(match["year"]) if match["year"] else year_of(clock, month)
    start, _ = day_of(known, month, int(match["d1"]))
    turn = last_month < month  # over New Year
    return start, day_of(known + turn, last_month, int(match["d2"]))[1]


def _han_date(match: Match, clock: datetime) -> Window:
    month, part = number(match["month"]), match["part"]
    known = int(match["year"]) if match["year"] else year_of(clock, month)
    start, end = month_of(known, month)
    if not part:
        return start, end
    return _third(start, end, _THIRDS[part]) if part in _THIRDS else day_of(known, month, number(part))


def _third(start: datetime, end: datetime, third: int) -> Window:
    """Ten days of a month, or the rest of it for the last third."""
    return start + 10 * third * DAY, end if third == 2 else start + 10 * (third + 1) * DAY


def _english_date(match: Match, clock: datetime) -> Window:
    month = MONTH_NUMBERS[match["m1"] or match["m2"]]
    day = int(match["d1"] or match["d2"])
    named = match["y1"] or match["y2"]
    return day_of(int(named) if named else year_of(clock, month, min(day, 28)), month, day)


def _english_month(match: Match, clock: datetime) -> Window | None:
    name, named, part = match["month"], match["year"], match["part"]
    if name in _VERBS and not (named or part):
        before = match.string[max(0, match.start() - _LONGEST_BEFORE) : match.start()]
        stem = before.rstrip(" -")
        if stem == before or not stem.endswith(_BEFORE_MONTH):
            return None
    month = MONTH_NUMBERS[name]
    start, end = month_of(int(named) if named else year_of(clock, month), month)
    if part and part.endswith("week of"):
        return (start, start + 7 * DAY) if part.startswith("first") else (end - 7 * DAY, end)
    return _third(start, end, _THIRDS[part]) if part else (start, end)


def _season(match: Match, clock: datetime) -> Window:
    month, named = _SEASONS[match["season"] or match["han"]], match["year"] or match["han_year"]
    first = int(named) if named else year_of(clock, month)
    return month_of(first, month)[0], month_of(first + (month == 12), (month + 1) % 12 + 1)[1]


def _explicit_year(match: Match, _: datetime) -> Window:
    return year(int(match[1]))


_EXPLICIT: tuple[tuple[re.Pattern[str], Reader], ...] = (
    # 2024-05-02, 2024/5/2, 2024.5.2, 2024_05_02
    (re.compile(r"(?<!\d)(\d{4})[-/._](\d{1,2})[-/._](\d{1,2})(?!\d)"), _iso),
    # 5月1日到3日, 2024年5月30号至6月2号
    (
        re.compile(
            rf"(?:(?P<year>\d{{4}})\s?年\s?)?(?P<m1>{HAN_MONTH})\s?月\s?(?P<d1>\d{{1,2}})\s?(?:[日号]\s?)?[至到\-~—]\s?"
            rf"(?:(?P<m2>{HAN_MONTH})\s?月\s?)?(?P<d2>\d{{1,2}})\s?[日号]"
        ),
        _han_range,
    ),
    # 5月2号, 五月十二日, 2024年5月, 五月初, 12月下旬
    (
        re.compile(
            rf"(?:(?P<year>\d{{4}})\s?年\s?)?(?P<month>{HAN_MONTH})\s?月\s?份?的?"
            r"(?P<part>上旬|中旬|下旬|初|底|末|中(?!旬)"
            rf"|(?:\d{{1,2}}|{_HAN_DAY})(?=\s?[日号]))?(?:(?<=[\d一二三四五六七八九十])\s?[日号])?"
        ),
        _han_date,
    ),
    # May 2nd, 2024; 2 May; 2nd of May 2024
    (
        re.compile(
            rf"(?P<m1>{MONTH})\.?\s(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s?(?P<y1>\d{{4}}))?"
            rf"|\b(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<m2>{MONTH})\.?(?:,?\s?(?P<y2>\d{{4}}))?"
        ),
        _english_date,
    ),
    # last May, in June, July 2023, August of 2023, late June, the last week of March
    (
        re.compile(
            r"\b(?:(?P<part>early|late|mid|beginning of|start of|middle of|end of|(?:first|last) week of)[\s-])?"
            rf"(?P<month>{MONTH})\.?(?:,?\s?(?:of\s)?(?P<year>\d{{4}}))?\b"
        ),
        _english_month,
    ),
    # in the spring, last summer, winter 2024; 2025年春天
    (
        re.compile(
            r"\b(?:in(?: the)?|last|this|during the|over the)\s(?P<season>spring|summer|autumn|fall|winter)\b"
            r"(?:,?\s(?:of\s)?(?P<year>\d{4})\b)?|(?P<han_year>\d{4})\s?年的?(?P<han>[春夏秋冬])[天季]"
        ),
        _season,
    ),
    *FEASTS,
    # 2023, 2023年
    (re.compile(r"(?<!\d)((?:19|20)\d{2})(?:\s?年|(?!\d|[-/年]))"), _explicit_year),
)
