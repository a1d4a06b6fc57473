"""Whether a newer statement is about one day only: "today my shift starts at 10", after when it starts as a rule."""

import re

from biem.adapters.contradiction.statements.core import Core, Piece
from biem.adapters.contradiction.statements.number_kinds import by_kind, unit

_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_COMING = re.compile(
    rf"(?<!from )(?<!of )(?<!to )(?<!until )(?<!since )(?<!starting )\b(?:tonight|tomorrow|this {_WEEKDAY})\b(?!['’]s)"
    r"|(?<![从到至])(?:[明后]天|[今明]晚|明早)(?!起|开始|[以之]后|的)",
    re.IGNORECASE,
)
"""A day to come, unless something begins then or is moved to it."""
_DAY = re.compile(
    r"(?<!from )(?<!of )(?<!since )\b(?i:today|this (?:morning|afternoon|evening))\b"
    r"|^(?:[Oo]n|[Aa]t) (?:[A-Z][a-z]+(?:['’]s)? ?)+(?=,? ?(?:the|my|our|his|her|their|I|we|he|she|they|it)\b)"
    r"|(?<![从到至])今[天早](?!起|开始|[以之]后|[^，。]{0,2}(?:通知|发现|知道|看到|听说))"
    r"|^[^，。到至]{2,8}?[那当]天|^(?:我们?)?(?:除夕|元旦|(?:春|国庆|中秋|端午|清明|劳动|圣诞)节?)(?!起|开始|[以之]?后)"
)
"""Today, or a day that the statement begins with: "On New Year's Eve the pool …"."""
_DONE = re.compile(
    r"\b(?:went|gone|changed|moved|was|were|been|became|raised|lowered|switched|rescheduled|postponed|got|heard|found"
    r"|told|learnt|learned|decided|announced|any ?more|no longer)\b",
    re.IGNORECASE,
)
"""Happened on a day, and lasts: "today it was moved"."""
_AT = re.compile(r"\b(?:at|until|till|by|around) $", re.IGNORECASE)


_FOR_ONCE = re.compile(
    r"\b(?:cancelled|canceled|closed|off|out|late|delayed|full|broke(?:n)? down)\b.{0,16}\b(?:today|tonight"
    r"|this (?:morning|afternoon|evening))\b"
    r".{0,40}\b(?:had to|took|got|went|used|for once|walked|drove)\b"
    r"|今天[^，。]{1,8}[坏停堵][^，。]{0,4}[，,][^，。]{0,4}[改只就][^，。]{0,6}的$"
    "|今天[^，。]{1,8}[坏停堵][^，。]{0,4}[，,]改?打车",
    re.IGNORECASE,
)
"""What one did instead on a day when the usual was not possible."""


def is_of_one_day(old: Core, new: Core) -> bool:
    """Whether the newer tells what holds on one day, and the older names no day."""
    if any(pattern.search(old.text) for pattern in (_COMING, _DAY)) or _names_day(old):
        return False
    if _COMING.search(new.text) or _FOR_ONCE.search(new.text):
        return True
    if not (any(_is_hour(one, old) for one in old.numbers) and any(_is_hour(one, new) for one in new.numbers)):
        return False
    return _DAY.search(new.text) is not None and _DONE.search(new.text) is None


def _names_day(core: Core) -> bool:
    return not by_kind(core.numbers).keys().isdisjoint(("date", "weekday", "month"))


def _is_hour(number: Piece, core: Core) -> bool:
    return unit(number.stem) == "time" or _AT.search(core.text, 0, number.start) is not None
