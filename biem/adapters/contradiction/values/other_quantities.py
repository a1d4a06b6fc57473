"""Whether a number of the newer statement is another quantity than that of the older: what is left of a budget and the
budget, the dose of the morning and that of the evening, minutes and pages.
"""

import re
from collections.abc import Iterable

from biem.adapters.contradiction.lexicon import takeovers as words
from biem.adapters.contradiction.statements.core import Core, Piece
from biem.adapters.contradiction.statements.number_kinds import kind_of

_TIMES = frozenset(("time", "date", "weekday", "month"))
"""Kinds of numbers that say when: a part of the day belongs to their value."""
_NAMING = frozenset(("code", "floor", "grade", "row", "year"))
_SETS = re.compile(r"(?:\bto|[到至成为]) ?[$€£¥]?$", re.IGNORECASE)
_PARTS = {
    "morning": re.compile(r"\bmornings?\b|\bbreakfast\b|早[上晨饭]|清早|上午", re.IGNORECASE),
    "noon": re.compile(r"\bnoon\b|\blunch\b|中午|午饭", re.IGNORECASE),
    "afternoon": re.compile(r"\bafternoons?\b|下午", re.IGNORECASE),
    "evening": re.compile(r"\bevenings?\b|\bdinner\b|晚[上饭]|傍晚", re.IGNORECASE),
    "night": re.compile(r"(?<!\ba )(?<!per )\bnights?\b|\bbedtime\b|睡前|夜里", re.IGNORECASE),
    "day": re.compile(r"\bday (?=[a-z])|白天", re.IGNORECASE),
}
_COUNTERS = words.COUNTERS - {"号"}
"""Characters that count things; 25号 may be a day."""
_REST = re.compile(r"\b(?:left|remain(?:s|ing)?)\b(?! (?:the|my|our|a|work|school)\b)|剩|余下", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?P<en>budget|grants?|costs?|price|turnover|target)\b|\b(?:go(?:es)? to|spent|came|attended)\b"
    r"|(?P<zh>预算|成本|单价|售价|目标)|花了|来了|[是归]给",
    re.IGNORECASE,
)
"""A total, a price, a share or those who came: no stock of which something may be left."""
_RATE = re.compile(r"\d[\d.,]*\s?[^\W\d_]{0,8}\s?\b(?:an?|per|each|every) $")
"""Before the word of a rate, which names no thing: 95 a night."""


def is_another_quantity(old: Core, new: Core, kinds: Iterable[str]) -> bool:
    """Whether what the newer counts or measures is not what the older does. `kinds`: of the numbers that differ."""
    if is_rest_of_total(old, new):
        return True
    return not _TIMES.issuperset(kinds) and _are_of_other_parts(old.text, new.text)


def is_rest_of_total(old: Core, new: Core) -> bool:
    """Whether the newer tells what is left, and the older a total, a price or a share that it does not name again."""
    return bool(_REST.search(new.text) and not _REST.search(old.text)) and _is_total(old, new)


def counts(core: Core, numbers: Iterable[Piece]) -> bool:
    """Whether one of the plain numbers counts something: 17 张, "17 pages"; it is no measure without its unit."""
    starts = {piece.start for piece in core.words}
    return any(
        not kind_of(one.stem) and (core.text[one.end :].lstrip()[:1] in _COUNTERS or one.end + 1 in starts)
        for one in numbers
    )


def sets_number(core: Core) -> bool:
    """Whether the value that it sets is a number: "upped to 35", "moved to 3 pm"."""
    return any(
        kind_of(one.stem) not in _NAMING and _SETS.search(core.text, 0, one.start) is not None for one in core.numbers
    )


def is_rate(core: Core, piece: Piece) -> bool:
    """Whether a word only says for what an amount is: "95 a night"."""
    return _RATE.search(core.text, 0, piece.start) is not None


def _is_total(old: Core, new: Core) -> bool:
    """Whether the older tells a total that the newer does not name again."""
    found = _TOTAL.search(old.text)
    if found is None:
        return False
    named = found["en"] or found["zh"]
    return named is None or named.lower() not in new.text.lower()


def _are_of_other_parts(old: str, new: str) -> bool:
    """Whether they name different parts of the day."""
    one, other = ({name for name, part in _PARTS.items() if part.search(text)} for text in (old, new))
    return bool(one and other) and one.isdisjoint(other)
