"""The `numbers` of a text: value and unit in one spelling, for any script, width or language.

`100,000`, `１０万` and 十万 are `100000`; `10M` is never `10`, `10K` or `10%`. Dates become ISO (`2024-05-02`), times
of day `15:30`, money keeps its sign (`¥99`), 3 hours and 三小时 are both `3h`.
"""

import re
from collections.abc import Iterator

from biem.adapters.analyzers import words
from biem.adapters.analyzers.numerals import NUMERALS, spoken, times
from biem.domain.text import late

_NUMBER = r"(?:[0-9]{1,3}(?:,[0-9]{3})++(?![0-9])|[0-9]++)(?:\.[0-9]++)?+"
_MONTHS = ("", "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)(?:uary|ruary|ch|il|e|y|ust|tember|ober|ember)?\.?"
_NUMERAL = rf"[0-9{NUMERALS}]"
_SIGNS = {"$": "$", "¥": "¥", "€": "€", "£": "£"}
_LATE = frozenset(("下午", "晚上", "傍晚", "夜里", "今晚", "明晚", "昨晚", "晚"))
_WEAK_ONE = "一"
_DIGIT = "零一二三四五六七八九"
_AT_ONE = "发车|出发|开会|集合|上课|下课|起飞|开庭|开演|开场|开饭|打烊|关门|开门"
"""After 一点, which else means "a bit", these make it one o'clock."""
_ANY = late(_NUMERAL)
"""Every quantity contains one of these: most texts have none, and skip the large pattern."""


def _alternatives(spellings: list[str]) -> str:
    ordered = sorted(spellings, key=lambda s: (-len(s), s))
    return "|".join(re.escape(s) + ("(?![A-Za-z])" if s[-1].isascii() and s[-1].isalpha() else "") for s in ordered)


class Quantities:
    """The patterns, built once from the unit lists."""

    def __init__(self) -> None:
        self._units = {spelling: line[0] for line in words.load("units") for spelling in line[1:]}
        self._counters = words.load_set("counters")
        spaced = [u for u in self._units if len(u) > 1 or not u.isascii()]
        loose = _alternatives([*spaced, "%"])
        counted = _alternatives([*spaced, *(c for c in self._counters if not c.isascii())])
        self._pattern = late(
            r"(?P<iso>(?<![0-9A-Za-z])(?P<y1>[12][0-9]{3})[-/.](?P<m1>[01]?[0-9])[-/.](?P<d1>[0-3]?[0-9])(?![0-9]))"
            rf"|(?:(?P<y2>[12][0-9]{{3}}|[〇零一二三四五六七八九]{{4}})年\s?)?(?P<m2>{_NUMERAL}{{1,3}})月\s?"
            rf"(?P<d2>{_NUMERAL}{{1,3}})[日号]"
            rf"|(?P<y3>[12][0-9]{{3}}|[〇零一二三四五六七八九]{{4}})年(?:\s?(?P<m3>{_NUMERAL}{{1,3}})月(?:份|底|初)?)?"
            rf"|(?<![A-Za-z])(?P<mn4>{_MONTH})\s(?P<d4>[0-3]?[0-9])(?:st|nd|rd|th)?(?![0-9])(?:,?\s(?P<y4>[12][0-9]{{3}})(?![0-9]))?"
            rf"|(?<![0-9])(?P<d5>[0-3]?[0-9])(?:st|nd|rd|th)?\s(?:of\s)?(?P<mn5>{_MONTH})(?![A-Za-z])"
            r"(?:,?\s(?P<y5>[12][0-9]{3})(?![0-9]))?"
            r"|(?<![0-9:])(?P<h6>[0-2]?[0-9]):(?P<n6>[0-5][0-9])(?::[0-5][0-9])?(?![0-9:])\s?(?P<p6>[AaPp]\.?[Mm](?![A-Za-z]))?"
            r"|(?<![0-9.])(?P<h7>1?[0-9])\s?(?P<p7>[AaPp]\.?[Mm])(?![A-Za-z])"
            rf"|(?P<p8>早上|上午|凌晨|中午|下午|晚上|傍晚|夜里|今晚|明晚|昨晚|晚)?(?P<h8>(?<![{NUMERALS}0-9])[0-9{NUMERALS}]{{1,3}})\s?点"
            rf"(?P<n8>半|钟|整|(?:{_NUMERAL}{{1,3}})分?)?(?![A-Za-z0-9个点儿心火菜评赞击建意问原要想看])(?P<done8>(?={_AT_ONE}))?"
            rf"|(?<![0-9{NUMERALS}])(?P<metres>[12一二两])米(?P<rest>[0-9]{{1,2}}(?![0-9])|[{_DIGIT}]{{1,2}}(?![{NUMERALS}]))"
            rf"|百分之(?P<pct>{_NUMBER}|[{NUMERALS}]+)"
            rf"|(?P<sign>[$¥€£])\s?(?P<money>{_NUMBER}[百千万亿]*)(?P<scale>[KkMBT](?![A-Za-z0-9])|\s?(?:million|billion)(?![a-z]))?"
            r"|(?<![A-Za-z0-9_.\-])(?P<phone>1[0-9]{2}-[0-9]{4}-[0-9]{4}|0[0-9]{2,3}-[0-9]{7,8}|[0-9]{3}-[0-9]{3}-[0-9]{4})(?![0-9])"
            rf"|(?P<minus>(?:(?<![\w)\]\-])|(?<=[有到为是约至低]))-)?(?<![A-Za-z0-9_.])(?P<value>{_NUMBER}(?:[百千万亿](?![米克瓦卡]))*+)"
            rf"(?P<unit>\s?(?:{loose})|-?(?:year|month|week|day|hour|minute)-?(?:old)?(?![A-Za-z])|[A-Za-z]{{1,5}}(?![A-Za-z0-9]))?"
            r"(?P<old>\s(?:years?\s)?old(?![A-Za-z]))?"
            rf"|(?P<nth>第)?(?<![初{NUMERALS}])(?<!(?<!每)周)(?<!(?<!每星)期)(?<!(?<!每礼)拜)(?P<spoken>[{NUMERALS}]+)(?P<spoken_unit>\s?(?:{counted}))?"
        )

    def spans(self, text: str) -> Iterator[tuple[int, int, str]]:
        """Start, end and canonical spelling of every number of a normalised text."""
        if not _ANY.search(text):
            return
        for found in self._pattern.finditer(text):
            canonical = self._canonical(found)
            if canonical:
                yield found.start(), found.end(), canonical

    def _canonical(self, found: re.Match[str]) -> str | None:
        groups = {k: v for k, v in found.groupdict().items() if v is not None}
        for i in "12345":
            if any(k + i in groups for k in ("d", "m", "y")):
                month = groups.get("m" + i) or str(_MONTHS.index(groups.get("mn" + i, "")[:3].lower()) or "")
                return _date(groups.get("y" + i), month, groups.get("d" + i))
        for i in "678":
            if "h" + i in groups:
                if groups["h" + i] == _WEAK_ONE and (len(groups) == 1 or _is_a_bit(found)):
                    return None
                return _time(groups["h" + i], groups.get("n" + i), groups.get("p" + i))
        if "metres" in groups:
            return f"{_digits(groups['metres'])}.{_digits(groups['rest'])}m"
        if "pct" in groups:
            value = _value(groups["pct"])
            return value and f"{value}%"
        if "sign" in groups:
            scale = groups.get("scale", "").strip()
            return _SIGNS[groups["sign"]] + _trim(times(groups["money"])) + (self._units.get(scale, scale))
        if "phone" in groups:
            return groups["phone"].replace("-", "")
        if "value" in groups:
            unit = groups.get("unit", "")
            if groups.get("old", ""):
                unit = "岁"
            return self._join(groups.get("minus", "") + _trim(times(groups["value"])), unit)
        return self._spoken(groups["spoken"], groups.get("spoken_unit", ""), first="nth" in groups)

    def _spoken(self, numeral: str, unit: str, *, first: bool) -> str | None:
        if not (first or unit or len(numeral) > 1):
            return None
        if numeral == _WEAK_ONE and not first and (unit.strip() in self._counters):
            return None
        value = spoken(numeral)
        return value and self._join(value, unit)

    def _join(self, value: str, unit: str) -> str:
        unit = unit.strip()
        if unit.endswith("old"):
            unit = "岁"
        elif unit.startswith("-"):
            unit = unit.strip("-")
        if not unit or unit in self._counters or unit.lower() in self._counters:
            return value
        name = self._units.get(unit) or self._units.get(unit.lower() if len(unit) > 1 else unit) or unit
        return name + value if name in _SIGNS else value + name


def _is_a_bit(found: re.Match[str]) -> bool:
    """Whether 一点 only grades the word before it: 早一点出发."""
    return found.string[max(0, found.start() - 1) : found.start()] in ("早", "晚", "快", "慢")


def _digits(text: str) -> str:
    return "".join(str(_DIGIT.index(one)) if one in _DIGIT else "2" if one == "两" else one for one in text)


def _trim(value: str) -> str:
    whole, dot, rest = value.partition(".")
    return (whole.lstrip("0") or "0") + dot + rest if len(whole) < 4 or not whole.startswith("0") else value


def _value(text: str) -> str | None:
    return _trim(times(text)) if text[0].isascii() else spoken(text)


def _date(year: str | None, month: str | None, day: str | None) -> str | None:
    parts = []
    for text, width, limit in ((year, 4, 9999), (month, 2, 12), (day, 2, 31)):
        if text:
            value = text if text.isascii() else spoken(text)
            if value is None or not value.isascii() or not value.isdigit() or not 0 < int(value) <= limit:
                return None
            parts.append(value.zfill(width))
    return "-".join(parts)


def _time(hour: str, minute: str | None, half_day: str | None) -> str | None:
    h = hour if hour.isascii() else spoken(hour)
    if h is None or not h.isdigit() or int(h) > 24:
        return None
    m: str | None = (
        {"半": "30", "钟": "0", "整": "0", None: "0"}.get(minute)
        if minute in ("半", "钟", "整", None)
        else (_value(minute.rstrip("分")) if minute else "0")
    )
    if m is None or not m.isdigit() or int(m) > 59:
        return None
    late = half_day is not None and (half_day in _LATE or half_day[0] in "pP")
    early = half_day is not None and half_day[0] in "aA"
    value = int(h) % 12 + 12 if late and int(h) <= 12 else 0 if early and int(h) == 12 else int(h)
    return f"{value:02d}:{int(m):02d}"
