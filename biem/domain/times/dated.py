"""Days that a clause names, past or ahead: "on Friday", "in two weeks", "the 14th", 下周三, 月底, 三天后.

`windows` reads what a question says of the past. Here a time without a year, month or week is the next one or the last
one, as the tense of its clause says. Weeks begin on Monday; days are those of the clock's time zone.
"""

import re
from datetime import datetime
from typing import NamedTuple

from biem.domain.times import days_of
from biem.domain.times.days_of import FEASTS, NTH, Ahead, Reader
from biem.domain.times.spans import HAN_MONTH, MONTH, Window


class Dated(NamedTuple):
    """A time expression: where it stands in the text, and its days."""

    start: int
    end: int
    window: Window


_SHORT = {
    "wknd": "weekend", "nite": "night", "2nite": "tonight", "tonite": "tonight", "2moro": "tomorrow",
    "tmrw": "tomorrow", "tmr": "tomorrow", "tomoz": "tomorrow", "yday": "yesterday", "yest": "yesterday",
    "ystd": "yesterday",
    "arvo": "afternoon", "aft": "afternoon", "whats": "what's",
}  # fmt: skip
_IS_SHORT = re.compile(rf"\b(?:{'|'.join(_SHORT)})\b", re.IGNORECASE)


_MAY_NAME = re.compile(
    rf"\d|day|week|month|year|fortnight|night|morrow|morning|afternoon|evening|lunchtime|hence|ago|\b(?:{MONTH}|mon|tues?|weds?"
    r"|thurs?|fri|sat|sun)\b|spring|summer|autumn|fall|winter|christmas|halloween|valentine|patrick|first|second|third"
    r"|th\b|[周月日号天年晚早昨今明前后末刚假节夕初旬底]|星期|礼拜|三十|五一|六一|国庆|中秋|清明|圣诞|元旦|冬至|三八|双十一|跨年"
)
"""Every expression below has one of these: most clauses have none, and seventy patterns take half a millisecond."""


def expanded(text: str) -> str:
    """The text with short forms of times as words: "wknd", "2nite"."""
    return _IS_SHORT.sub(lambda found: _SHORT[found[0].lower()], text)


def dated(text: str, clock: datetime, *, ahead: Ahead) -> list[Dated]:
    """The time expressions of a clause in lower case, in the order of their places; `clock` (aware): when it was said.

    `ahead`: whether the clause speaks of the future, so that "on Friday" is the next one. None if it does not say:
    then a month is the nearest one, and a day the next one.
    """
    if _MAY_NAME.search(text) is None:
        return []
    today = clock.replace(hour=0, minute=0, second=0, microsecond=0)
    read, found = bytearray(len(text)), list[Dated]()
    for pattern, reader in _RULES:
        for match in pattern.finditer(text):
            start, end = match.span()
            if read.find(1, start, end) >= 0:
                continue
            try:
                window = reader(match, today, ahead)
            except (KeyError, ValueError, OverflowError):  # 30 February, or more days than there are
                continue
            read[start:end] = b"\1" * (end - start)
            found.append(Dated(start, end, window))
    return sorted(found)


_PARTS = {
    "WD": r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?",
    "FULL": r"(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    "AT": r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?,? )?(?:the )?",
    "DM": r"\d{1,2})(?:st|nd|rd|th)?",
    "TH": r"\d{1,2})(?:st|nd|rd|th)",
    "YYYY": r"(?:19|20)\d{2}",
    "TO": r"\s?(?:to|till|til|until|through|thru|and|n|&|\+|-|–|—)\s?",
    "MONTH": MONTH,
    "UNIT": r"(?P<unit>day|week|month|year|fortnight)s?",
    "COUNT": r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|(?:a )?couple(?: of)?|(?:a )?few)",
    "PART": r"(?:(?P<part>beginning|start|early|mid|middle|end|late|later)(?: of| in|-|\s)\s?(?:the )?)?",
    "WHICH": r"(?P<which>this|next|last|past|coming|following)",
    "ENDS": r"(?=$|\s*[,.;:!?)–-]|\s(?:at|in|and|or|but|to|till|until|from|for|with|then|instead|around|of (?:this|the)"
    r"|i|we|is|are|was|if|as|because|so|they|the|my|our|he|she|it|already|now|morning|afternoon|evening|night|same|clash|free|busy|booked|does|do|open|clear|still|look|then|\d))",
    "HM": HAN_MONTH,
    "HD": r"(?:\d{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])",
    "HTEN": r"(?:\d{1,2}|[二三]?十[一二三四五六七八九]?)",
    "HCOUNT": r"(?P<count>\d{1,3}|[一二两三四五六七八九]?十[一二三四五六七八九]?|[一二两三四五六七八九几半])\s?个?",
    "HUNIT": r"(?P<unit>[天日周年月]|星期|礼拜)",
    "HWEEK": r"(?:周|星期|礼拜)",
    "HWD": r"[一二三四五六日天](?![直些起共样个])",
    "HWHICH": r"(?P<which>下下|上上|[上下本这])个?",
    "NODAY": r"(?!线|楼|院|店|馆|桌|位|床|机|车厢|员|口|门|选手|公寓|码|仓)",
    "FEAST": "|".join(sorted(FEASTS, key=lambda name: (-len(name), name))),
    "NTH": "|".join(sorted(NTH, reverse=True)),
    "BREAK": r"(?P<whole>假期|长假|期间)?",
}
"""Parts of the patterns below, which name them in braces."""


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{([A-Z]+)\}", lambda found: _PARTS[found[1]], pattern))


_RULES: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (_compiled(pattern), reader)
    for pattern, reader in (
        # 2026-03-14, 20260314, 14.03.2026, 14/3 - 16/3
        (r"(?<!\d)(?P<year>{YYYY})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", days_of.iso),
        (r"(?<!\d)(?P<year>20\d{2})(?P<month>0[1-9]|1[0-2])(?P<day>[0-3]\d)(?!\d)", days_of.iso),
        (r"(?<![\d./])(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>{YYYY})(?!\d)", days_of.iso),
        (
            r"(?<![\d./])(?P<first>\d{1,2})/(?P<second>\d{1,2})"
            r"(?:\s?(?:-|–|to)\s?(?P<until>\d{1,2})/(?P<last>\d{1,2}))?(?![\d/])",
            days_of.numeric,
        ),
        (
            r"(?<![\d.])(?P<first>1[0-2]|[1-9])\.(?P<second>[0-3]?\d)"
            r"(?:[到至-](?P<until>1[0-2]|[1-9])\.(?P<last>[0-3]?\d))?(?=[早晚上下中那号去回])",
            days_of.numeric,
        ),
        (r"\bweekend of (?:the )?(?P<day>{TH}", days_of.weekend_of),
        (r"\bweekend of (?:the )?(?P<d1>{DM} (?:of )?(?P<month>{MONTH})\b", days_of.weekend_of),
        # the week of 12 January, 1月12号那周; the first half of January
        (
            r"\bweek (?:of|commencing|starting|beginning|from) {AT}(?P<d1>{DM} (?:of )?(?P<month>{MONTH})\b",
            days_of.week_of,
        ),
        (
            r"\bweek (?:of|commencing|starting|beginning|from) {AT}(?P<month>{MONTH}) (?:the )?(?P<d1>{DM}\b",
            days_of.week_of,
        ),
        (r"\bweek of {AT}(?P<day>{TH}", days_of.week_of),
        (r"(?P<month>{HM})\s?月\s?(?P<d1>{HD})\s?[日号](?:那|这|所在的?|开始的?)(?:一个?)?{HWEEK}", days_of.week_of),
        (
            r"\b(?P<half>first|second|1st|2nd) half of (?P<month>{MONTH})\b"
            r"|(?P<han>{HM})\s?月\s?(?P<which>[上下])半(?:个?月|旬)",
            days_of.half_of_month,
        ),
        (r"(?:\b(?:the )?|(?<=[\u4e00-\u9fff])|^)(?P<name>{FEAST})(?:'s)?(?: day)?节?{BREAK}", days_of.feast),
        # 24 December to 2 January; April 4th - 9th; 4 to 9 April; 4月4号到9号
        (
            r"\b{AT}(?P<d1>{DM}\s(?:of\s)?(?P<month>{MONTH}){TO}{AT}(?P<until>{DM}\s(?:of\s)?(?P<last>{MONTH})\b",
            days_of.date,
        ),
        (
            r"\b{AT}(?P<month>{MONTH})\.?\s(?:the )?(?P<d1>{DM}\b"
            r"(?:{TO}{AT}(?:(?P<last>{MONTH})\.?\s)?(?P<until>{DM}\b(?!:|\s?[ap]m))?(?:,?\s(?P<year>{YYYY}))?",
            days_of.date,
        ),
        (
            r"\b{AT}(?P<d1>{DM}(?:{TO}{AT}(?P<until>{DM})?\s(?:of\s)?(?P<month>{MONTH})\b\.?(?:,?\s(?P<year>{YYYY}))?",
            days_of.date,
        ),
        (
            r"(?:(?P<year>{YYYY})\s?年\s?)?(?P<month>{HM})\s?月\s?(?P<d1>{HD})\s?[日号]?(?:\s?[到至\-~—、和跟]?\s?"
            r"(?:(?P<last>{HM})\s?月\s?)?(?P<until>{HD})\s?(?:[日号]|(?!点|:)))?(?<=[日号\d])",
            days_of.date,
        ),
        (
            r"\b(?:in|this|last|next|the|my|during|over)(?: the| this| last| next)? "
            r"(?P<season>spring|summer|autumn|fall|winter)\b"
            r"(?: (?:holidays?|break))?|(?<!大)(?P<han>春天|夏天|秋天|冬天|暑假|寒假)",
            days_of.season,
        ),
        # the 14th to the 18th, the 4th of next month, on the eleventh
        (r"\b(?:{WD},? )?(?:the )?(?P<day>{TH}{TO}{AT}(?P<until>{TH}\b", days_of.day_of_month),
        (r"\b(?:on )?{AT}(?P<day>{TH} of (?P<which>this|next|last) month\b", days_of.day_of_month),
        (r"\b(?:{WD},? (?:the )?|the |on )(?P<day>{TH}\b{ENDS}", days_of.day_of_month),
        (r"\b(?:on|by|until|till) the (?P<word>{NTH})\b{ENDS}", days_of.nth_in_words),
        (r"\b{WD},? (?:the )?(?P<day>{TH}\b", days_of.day_of_month),
        (r"\b{WD},? (?P<day>[12]\d|3[01])\b(?!:|\.|\s?(?:[ap]m|h\b|o'clock|people|minutes|%))", days_of.day_of_month),
        (r"\bthe (?P<word>{NTH}) of (?P<which>this|next|last) month\b", days_of.nth_in_words),
        (r"\bthe (?P<word>{NTH}) of (?P<month>{MONTH})\b", days_of.nth_in_words),
        (
            r"\b(?P<nth>first|second|third|fourth|last) (?P<day>{WD}) (?:of|in) "
            r"(?:the month|(?P<which>this|next|last) month|(?P<month>{MONTH})\b)",
            days_of.nth_weekday,
        ),
        (r"\blast day of (?P<month>{MONTH})\b|(?P<han>{HM})\s?月份?的?最后一天", days_of.end_of_named_month),
        # weekdays
        (r"\b(?P<day>{WD}){TO}(?P<until>{WD}) (?:of )?(?P<week>next|last|this) week\b", days_of.weekdays),
        (r"\b(?:from )?(?:{WHICH} )?(?P<day>{WD}){TO}(?P<until>{WD})\b", days_of.weekdays),
        (r"\b(?P<day>{WD}) of (?:the )?(?P<which>week after next)\b", days_of.day_of_week),
        (
            r"(?:{HWHICH})?{HWEEK}(?P<day>[一二三四五六日天])\s?[到至~-]\s?(?:[上下本这]个?)?{HWEEK}?(?P<until>[一二三四五六日天])",
            days_of.weekdays,
        ),
        (r"\b(?P<day>{WD}) (?:of )?(?P<which>next|last|this) week\b", days_of.day_of_week),
        (r"\b(?P<which>next|last|this) week,? (?:on )?(?P<day>{WD})\b", days_of.day_of_week),
        (r"\b(?:a )?week (?:from|on) (?P<day>{WD})\b", days_of.week_after),
        (r"\b(?P<day>{WD}) (?:week|after next)\b", days_of.week_after),
        (r"{HWHICH}{HWEEK}(?P<day>{HWD})", days_of.day_of_week),
        (r"\b(?:{WHICH} )?(?P<day>{FULL}|tues?|weds?|thurs?|fri)\b", days_of.weekday),
        (r"(?<=on )(?P<day>mon|sat|sun)\b", days_of.weekday),
        (r"\b{WHICH} (?P<day>mon|sat|sun)\b", days_of.weekday),
        (r"\b(?P<day>mon|sat|sun)(?= (?:morning|afternoon|evening|night|at|\d)|\s*$)", days_of.weekday),
        (r"{HWEEK}(?P<day>{HWD})", days_of.weekday),
        # weekends
        (r"\bweekend after this(?: one)?\b", days_of.weekend(1)),
        (r"\bweekend after next\b|下下个?(?:周末|礼拜天)", days_of.weekend(2)),
        (r"\bweekend before last\b|上上个?周末", days_of.weekend(-2)),
        (r"\bnext weekend\b|下个?周末", days_of.weekend(1)),
        (r"\b(?:last|past) weekend\b|上个?周末|刚?过去的?(?:这|那)?个?周末", days_of.weekend(-1)),
        (r"\b(?:this|coming) weekend\b|[这本]个?周末", days_of.weekend(0)),
        (r"\bweekend\b|(?<!那)(?<!那个)周末", days_of.plain_weekend),
        # distances
        (r"\b{COUNT} {UNIT} ago\b(?: today)?", days_of.ago),
        (r"\b(?:a )?(?P<unit>week|fortnight) (?P<from>today|tomorrow)\b", days_of.week_from),
        (r"\b(?P<from>today|tomorrow) (?P<unit>week)\b", days_of.week_from),
        (r"\b(?:in|within) {COUNT} {UNIT}\b(?! (?:of|ago))", days_of.after),
        (r"\b{COUNT} {UNIT} (?:from (?:now|today)|today|hence)\b", days_of.after),
        (r"\b(?:the )?(?:last|past|previous) {COUNT} {UNIT}\b", days_of.past_days),
        (r"\b(?P<count>the) (?:last|past|previous) (?P<unit>fortnight)\b", days_of.past_days),
        (r"\b(?P<count>the) (?:next|coming|following) (?P<unit>fortnight)\b", days_of.coming_days),
        (r"前(?P<count>几)(?P<unit>天)(?!前)", days_of.past_days),
        (r"\b(?:the )?(?:next|coming|following) {COUNT} {UNIT}\b", days_of.coming_days),
        (r"{HCOUNT}{HUNIT}(?:[以之]?前(?!后)|以前)", days_of.ago),
        (r"{HCOUNT}{HUNIT}(?:[以之]?后|以后)", days_of.after),
        (r"再?过{HCOUNT}{HUNIT}", days_of.after),
        (r"(?:过去|最近|这|近){HCOUNT}{HUNIT}", days_of.past_days),
        (r"(?:未来|接下来|之后)的?{HCOUNT}{HUNIT}", days_of.coming_days),
        (
            r"\blast day of (?:the|this|(?P<which>next)) month\b|(?P<han>[这本下])个?月的?最后一天",
            days_of.last_of_month,
        ),
        # single days
        (r"\bday after tomorrow\b|(?<!大)后天", days_of.from_today(2)),
        (r"大后天", days_of.from_today(3)),
        (r"\b(?:day|night) before (?:yesterday|last)\b|(?<!大)前[天晚日]", days_of.from_today(-2)),
        (r"大前天", days_of.from_today(-3)),
        (r"今明(?:两|二)?[天日]", days_of.from_today(0, 2)),
        (r"\btomorrow\b|\btmrw\b|明[天晚早日儿]", days_of.from_today(1)),
        (r"\byesterday\b|\blast night\b|昨[天晚日儿夜早]", days_of.from_today(-1)),
        (
            r"\b(?:today|tonight|this (?:morning|afternoon|evening|lunchtime))\b|今[天晚早日儿]|刚[才刚]",
            days_of.from_today(0),
        ),
        # weeks and months
        (r"\bweek after next\b|下下个?{HWEEK}", days_of.whole_week(2)),
        (r"\bweek before last\b|上上个?{HWEEK}", days_of.whole_week(-2)),
        (r"\b{PART}{WHICH} week\b", days_of.week),
        (r"(?P<which>[上下本这])个?{HWEEK}(?!末)", days_of.week),
        (
            r"\b(?P<week>first|second|third|fourth|last|[1234](?:st|nd|rd|th)) week (?:of|in) (?P<month>{MONTH})\b",
            days_of.named_month,
        ),
        (r"(?P<month>{HM})\s?月\s?份?的?第?(?P<week>[一二三四1234]|最后一)个?{HWEEK}", days_of.named_month),
        (r"\b{PART}(?P<which>this|next|last) month\b", days_of.month),
        (r"\b(?P<part>end|beginning|start|middle) of the month\b", days_of.month),
        (
            r"(?P<which>[上下本这])个?月(?P<part>初|中旬?|底|末|[上下]旬)?(?!\s?(?:\d|[一二三四五六七八九十]))",
            days_of.month,
        ),
        (r"(?<![一二三四五六七八九十\d个])月(?P<part>初|中旬|底|末)", days_of.month),
        (r"(?P<month>{HM})\s?月\s?份?(?P<part>初|中旬?|底|末|[上下]旬)?", days_of.named_month),
        (r"\b{PART}(?P<month>(?!may|mar\b){MONTH})\b(?:,? (?P<year>{YYYY}))?", days_of.named_month),
        (r"\b(?:in|of|by|until|since|during|early|late|mid|end of) (?P<month>may)\b", days_of.named_month),
        # lunar holidays, years
        (r"(?P<lunar>除夕|大年三十|年三十|大年?初[一二三四五六七]|春节|过年|中秋)(?:当天|那天)?{BREAK}", days_of.lunar),
        (
            r"\b(?P<which>this|last|next) year\b|(?P<han>今|去|前|明)年(?!\s?[\d一二三四五六七八九十]+\s?月)",
            days_of.year,
        ),
        (
            r"(?<![\d.])(?P<year>20\d{2})(?:\s?年(?!\s?[\d一二三四五六七八九十]+\s?月)|(?= ?[?？.,]|$))",
            days_of.year,
        ),
        # days of a month
        (
            r"(?:(?P<which>[上下本这])个?月)?(?<![\d.])(?P<day>{HTEN})(?:\s?[日号]?\s?[到至~、-]|[日号])\s?"
            r"(?P<until>{HTEN})\s?[日号]{NODAY}",
            days_of.day_of_month,
        ),
        (
            r"(?:(?P<which>[上下本这])个?月)?(?<![\d.])"
            r"(?P<day>{HTEN}|(?<![一二三四五六七八九十第大小])[一二三四五六七八九])\s?[日号]{NODAY}",
            days_of.day_of_month,
        ),
    )
)
"""In matching order: no character is matched twice, so more specific expressions come first."""
