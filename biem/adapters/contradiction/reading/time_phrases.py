"""Time phrases of clauses: the start of a state, the time of an event, or a limiting occasion.

"Since June I work at Bosch" marks a change, "in March I moved" its time, and "on Fridays I work at the library" says
nothing about other days. The first two are removed, so that the rest of the clause is read as usual, and recorded as
marks; the third stays, and such a clause is only compared with clauses of the same occasion.
"""

import re
from dataclasses import dataclass
from functools import partial

SINCE, COMING, MOMENT, OCCASION = "\ue000", "\ue001", "\ue002", "\ue003"
"""Marks: start in the past; start in the future; time of an event; limiting occasion."""
_SIGNS = re.compile(f"[{SINCE}{COMING}{MOMENT}{OCCASION}]")

_BEGINS = (
    r"(?P<begin>(?:^|[.!?;]\s+|\n[^\S\n]*)"  # blanks, but no further line end: linear
    r"(?:(?:and|but|so|well|also|yes|no|oh|actually|hey|btw|fyi|update)\b[,:]?\s+)*)"
)
_ACTOR = r"(?=\s*,?\s+(?:I|we|he|she|they|you|it|my|our|his|her|their|your|the|(?-i:[A-Z])[\w'-]+)\b)"
_PERSON = (
    r"(?=\s*,?\s+(?:I|we|he|she|they|you|my\s\w+|(?-i:[A-Z])[\w'-]+)\b(?!\s(?:do|does|am|is|are|have|has)\snot\b))"
)
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = r"(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_SPAN = (
    r"(?:days?|weeks?|months?|years?|quarters?|weekends?|semesters?|terms?|seasons?|sprints?"
    r"|spring|summer|autumn|fall|winter)"
)
_MANY = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|\d{1,2}|a few|several|some|a couple of)"
_DATE = (
    rf"(?:(?:early|mid|late)[\s-])?(?:(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?)?{_MONTH}"
    r"(?:\s\d{1,2}(?:st|nd|rd|th)?)?(?:,?\s\d{4})?|(?:19|20)\d\d|(?:19|20)\d\d-\d\d(?:-\d\d)?"
)
_THEN = (
    rf"(?:{_DATE}|(?:the\s)?(?:beginning|start|middle|end)\sof\s(?:(?:the|this|last)\s{_SPAN}|{_DATE})"
    rf"|(?:last|this)\s(?:{_SPAN}|{_DAY}|{_MONTH})|{_MANY}\s{_SPAN}\sago|yesterday|today|this\smorning|{_DAY}"
    r"|new\syear(?:'s)?|christmas|easter|graduation|the\smove|then)"
)
_AHEAD = rf"(?:next\s(?:{_SPAN}|{_DAY}|{_MONTH})|tomorrow|(?:the\s)?(?:beginning|start)\sof\snext\s{_SPAN})"
_ON = r"(?:\s(?:on|onwards?|forward))?"
_ENGLISH = (
    (
        OCCASION,
        rf"{_BEGINS}(?P<phrase>from\s(?:{_THEN}|{_AHEAD})\s(?:to|till|until|through)\s[\w ]{{1,20}}?"
        rf"|(?:until|till|before|by)\s(?:{_THEN}|{_AHEAD})|on\s{_DAY}s|on\s{_DAY}(?=,?\s(?:the|our|my)\b)|(?:on|at)\s(?:the\s)?weekends?"
        rf"|(?:every|each|in\sthe|in|during(?:\sthe|\smy|\sour)?)\s(?:other\s)?"
        rf"(?:{_SPAN}|{_DAY}s?|mornings?|afternoons?|evenings?|holidays?|night)"
        rf"|for\s{_MANY}\s{_SPAN}|(?:this|next)\s(?:{_SPAN}|{_DAY})|{_AHEAD}|tonight|for\s(?:now|once|today|the\smoment)){_ACTOR}",
    ),
    (OCCASION, rf"{_BEGINS}(?P<phrase>today)(?=,?\s+\w+\s(?:(?:do|does|am|is|are|did|have|has|can)\snot|will)\b)"),
    (
        COMING,
        rf"{_BEGINS}(?P<phrase>(?:as\sof|as\sfrom|from|starting(?:\s(?:from|on|in|with))?|beginning(?:\s(?:on|in|with))?"
        rf"|effective(?:\sfrom)?|with\seffect\sfrom)\s{_AHEAD}{_ON}){_ACTOR}",
    ),
    (
        SINCE,
        rf"{_BEGINS}(?P<phrase>(?:ever\ssince|since|as\sof|as\sfrom|from|starting(?:\s(?:from|on|in|with))?"
        rf"|beginning(?:\s(?:on|in|with))?|effective(?:\sfrom)?|with\seffect\sfrom)\s(?:on\s|in\s)?{_THEN}{_ON}"
        r"|(?:from|as\sof|starting)\s(?:right\s)?now(?:\son)?|(?:ever\s)?since\sthen|from\sthen\son|these\sdays|nowadays|lately|of\slate"
        rf"|for\s(?:the\s(?:past|last)\s)?(?:{_MANY}\s)?{_SPAN}\snow|for\sthe\s(?:past|last)\s(?:{_MANY}\s)?{_SPAN}"
        rf"|(?:in|over)\sthe\slast\sfew\s{_SPAN}){_ACTOR}",
    ),
    (
        SINCE,
        rf"(?P<begin>(?<=[\w%€$])\s)(?P<phrase>(?:since|as\sof|as\sfrom|effective)\s{_THEN}(?:\son)?)(?=\s*(?:$|[.!?;,]))",
    ),
    (
        MOMENT,
        rf"{_BEGINS}(?P<phrase>(?:just\s|only\s|back\s)?(?:(?:in|on)\s{_DATE}|last\s(?:{_SPAN}|{_DAY}|{_MONTH})|{_MANY}\s{_SPAN}\sago"
        rf"|over\sthe\s(?:summer|winter|weekend|holidays)|earlier\sthis\s{_SPAN}|(?:on\s)?{_DAY}|the\sother\sday|not\slong\sago"
        rf"|at\sthe\s(?:beginning|start|end)\sof\s(?:the|this|last)\s{_SPAN}|after\s(?:graduation|christmas|easter|the\smove)"
        rf"|this\smorning)){_PERSON}",
    ),
)  # the first match counts
_STATED = (
    (re.compile(r"\b(?:have|has) been (?=\w+ing\b)"), "am "),
    (re.compile(r"\b(?:have|has) (live|work)ed\b"), r"\1"),
    (re.compile(r"\b(?:will|is going to|are going to) be\b(?! \w+ing\b)"), "is"),
    (re.compile(r"\b(?:will|am going to|is going to) (?=\w)(?!not\b)"), ""),
)
"""English verb forms with "since", converted to the present."""

_N = "[0-9一二两三四五六七八九十半几]"
_YEAR = "(?:(?:19|20)[0-9]{2}|[一二][零〇一二三四五六七八九]{3}|[今去前])年"
_MONTH_ZH = f"(?:{_YEAR}|上个|这个|本)?(?:{_N}{{1,2}}月(?:份|{_N}{{1,3}}[号日]|[初底中])?|月)"
_WEEK_DAY = "(?:周|星期|礼拜)[一二三四五六日天]"
_PAST_ZH = (
    f"(?:{_YEAR}(?:年?[初底])?|{_MONTH_ZH}|(?:上+个?|这个?|本)(?:周末|周|星期|礼拜|季度|学期)[一二三四五六日天]?|{_WEEK_DAY}"
    f"|昨天|今天|前天|前几天|前阵子|年初|月初|年底|月底|春节|国庆|元旦|(?:开学|毕业|搬家|结婚|升职|退休)后?(?=[开以之起我])|{_N}{{1,3}}个?(?:天|周|星期|月|年|礼拜)(?:之?前))"
)
_AHEAD_ZH = f"(?:下+个?(?:周末|周|星期|礼拜|月|季度|学期)[一二三四五六日天]?|明天|后天|明年{_N}{{0,2}}月?|后年)"
_FROM_ZH = "(?:自从|从|自|打)?"
_ONWARDS = "(?:开始|以来|以后|之后|起)"
_NOT_UP = "(?![床来得飞身码因点源初步头诉草名])"
"""Excludes 起床 (get up), 起来 (rise) and the like."""
_SAYS = "(?=[，,]?[\u4e00-\u9fffA-Za-z]{3})"
_BEGINS_ZH = (
    "(?P<begin>(?:^|[，,。！？；.!?;\n][^\\S\n]*)(?:嗯|哦|对了|其实|而且|所以|更新[:：]?|但是?|那|顺便说一下?[，,])?)"
)
_NOT_NOW = f"(?!今年(?!{_N}{{1,2}}月|初)|今天|这|本)"
_NOW_ON = "(?:从今以后|从今往后|从今天起|从现在起|从现在开始|从此以?后?|打那以后|今后|最近开始)"
_CHINESE = (
    (
        OCCASION,
        f"(?P<begin>)(?P<phrase>(?:从)?(?:{_PAST_ZH}|{_AHEAD_ZH})[到至](?:{_PAST_ZH}|{_AHEAD_ZH})"
        f"|(?:{_PAST_ZH}|{_AHEAD_ZH})(?:之前|以前|为止))",
    ),
    (COMING, f"(?P<begin>)(?P<phrase>{_FROM_ZH}{_AHEAD_ZH}{_ONWARDS}{_NOT_UP}[，,]?){_SAYS}"),
    (SINCE, f"(?P<begin>)(?P<phrase>{_NOW_ON}[，,]?)"),
    (
        SINCE,
        f"(?P<begin>)(?P<phrase>(?:(?:自从|从|自|打){_PAST_ZH}{_ONWARDS}|(?!{_WEEK_DAY}起)(?!这?周一起){_PAST_ZH}"
        f"(?:开始|以来|以后|之后|(?<!一)起|(?<=年)起)|(?:从|自)?{_PAST_ZH}(?:起)(?=[，,我你他她咱])){_NOT_UP}[，,]?){_SAYS}",
    ),
    (
        OCCASION,
        f"{_BEGINS_ZH}(?P<phrase>{_AHEAD_ZH}|周末|每逢?.{{0,3}}?(?:周|星期|月|年)[一二三四五六日天末]?|(?:这个?|本)(?:周末?|星期|月)|{_WEEK_DAY}"
        "|今天|今晚|今早|明早|暑假|寒假|假期|出差|放假|暂时|临时|有时(?!间)候?|偶尔)",
    ),
    (
        OCCASION,
        "(?P<begin>(?:^|[，,。！？；\n])[我你他她咱]们?)(?P<phrase>今天|今晚|今早|明天|这周|本周|下周|周末)",
    ),
    (MOMENT, f"{_BEGINS_ZH}{_NOT_NOW}(?P<phrase>{_PAST_ZH}[，,]?){_SAYS}"),
    (
        MOMENT,
        f"(?P<begin>(?:^|[，,。！？；\n])[我你他她咱]们?(?:家|全家)?){_NOT_NOW}(?P<phrase>{_PAST_ZH}){_SAYS}",
    ),
)
_COMPILED_EN = tuple((sign, re.compile(shape, re.IGNORECASE)) for sign, shape in _ENGLISH)
_COMPILED_ZH = tuple((sign, re.compile(shape)) for sign, shape in _CHINESE)
_DENSE = re.compile("[\u4e00-\u9fff]")
_MARKED = re.compile(f"(?P<sign>[{SINCE}{COMING}{MOMENT}{OCCASION}])(?P<phrase>.*?)(?P=sign)\\s*")
_COMMA = re.compile(f"(?<=[{SINCE}{COMING}{MOMENT}{OCCASION}])\\s*[,，]\\s*")
_MONTHS = _MONTH[3:-1].split("|")
_NUMERALS = {name: number for number, name in enumerate((*"一二三四五六七八九十", "十一", "十二"), 1)}
_NAMED_MONTH = re.compile(
    f"\\b({'|'.join(_MONTHS)})\\b|({'|'.join(sorted(_NUMERALS, key=len, reverse=True))}|1[0-2]|[1-9])月"
)
_NAMED_YEAR = re.compile(r"(?:19|20)\d\d")
_AGO = re.compile(r"^(?:ever )?since\b|\blast\b|以来|去年|前年|个月")


@dataclass(frozen=True, slots=True)
class Timed:
    """A part of a marked text."""

    text: str
    """Without phrases of start and of event time."""
    told: str
    """Without phrases of start."""
    signs: frozenset[str]
    """Marks of its phrases."""


def marked(text: str) -> str:
    """The text with each time phrase between two marks of its kind, and no comma after it."""
    text = _SIGNS.sub(" ", text)
    for sign, shape in _COMPILED_ZH if _DENSE.search(text) else _COMPILED_EN:
        text = shape.sub(partial(_between, sign), text)
    if SINCE in text or COMING in text:
        for shape, instead in _STATED:
            text = shape.sub(instead, text)
    return _COMMA.sub(" ", text) if _SIGNS.search(text) else text


def timed(text: str) -> Timed:
    """Read a part of a marked text."""
    if not _SIGNS.search(text):
        return Timed(text, text, frozenset())
    kinds = frozenset(_SIGNS.findall(text))
    return Timed(_without(text, SINCE, COMING, MOMENT), _without(text, SINCE, COMING), kinds)


def beginnings(text: str) -> tuple[tuple[int, int], ...]:
    """Years and months of the start phrases of a marked text; year 0 if not named."""
    found = []
    for phrase in (one["phrase"].lower() for one in _MARKED.finditer(text) if one["sign"] == SINCE):
        month = None if _AGO.search(phrase) else _NAMED_MONTH.search(phrase)
        if month:
            year = _NAMED_YEAR.search(phrase)
            number = _MONTHS.index(month[1]) + 1 if month[1] else _NUMERALS.get(month[2], 0) or int(month[2])
            found.append((int(year[0]) if year else 0, number))
    return tuple(found)


def _without(text: str, *signs: str) -> str:
    return _MARKED.sub(lambda found: "" if found["sign"] in signs else f"{found['phrase']} ", text).strip()


def _between(sign: str, found: re.Match[str]) -> str:
    """Mark a phrase unless it is, or begins within, one that was found before."""
    before = found.string[: found.start("phrase")]
    taken = _SIGNS.search(found["phrase"]) or len(_SIGNS.findall(before)) % 2
    return found.group() if taken else f"{found['begin']}{sign}{found['phrase']}{sign}"
