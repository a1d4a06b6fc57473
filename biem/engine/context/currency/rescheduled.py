"""Whether a text tells that an event of an earlier text was moved, put off or called off, and names it by fewer words.

"The choir concert in St. Mary's is on May 9th", then "Concert moved to the week after, the organist broke his arm";
装修验收安排在15号下午, then 验收又往后拖了.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from biem.domain.text import is_han

_PARTS = re.compile(r"[,;:!，；：。！—–]\s*|\.\s+|\s-+\s")
_SKIPPED = (
    r"(?:has|have|had|is|are|was|were|got|gets|get|been|being|just|now|also|again|only|already|will be|had to(?: be)?"
    r"|needs? to be)"
)
_MOVED = (
    r"(?:mov(?:ed|es)|postponed|delayed|rescheduled|push(?:ed|es)|shift(?:ed|s)|bumped|slipp?(?:s|ed)|slid"
    r"|put (?:back|off)|(?:brought|pulled|moved) forward|(?:mov|push|shift|bump)(?:e|ed)? (?:us|it|me|everything))"
)
_CANCELLED = (
    r"(?:cancell?ed|called off|scrapped|axed|a no[- ]go|not happening(?: any ?more| now| after all)?|not on any ?more"
    r"|not going ahead|fell through|fallen through|off(?=$|\s(?:this|next|for|because|due|again|after|until)\b))"
)
_AFTER = (
    r"(?:to|by|until|till|back|forward|out|an?|one|two|three|four|five|six|seven|eight|ten|some|several|again|from|because"
    r"|due|for|\d)"
)
_WHICH = r"(?:the|my|our|his|her|their|this|that)\s+"
_WORD = r"[\w-]+(?:['’]s?)?"
_NAME = rf"{_WORD}(?:\s+{_WORD}){{0,5}}?"
_BY_SUBJECT = re.compile(
    rf"^(?:(?:so|and|but|ok|okay|ugh|oh|well|update|news)\s+)*(?:{_WHICH})?(?P<event>{_NAME})(?:['’]s)?\s+"
    rf"(?:{_SKIPPED}\s+)*(?:{_MOVED}(?=$|\s{_AFTER})"
    rf"|(?P<ended>{_CANCELLED}))",
    re.IGNORECASE,
)
_BY_OBJECT = re.compile(
    rf"(?:^|\s)(?:moved?|postponed?|delayed?|rescheduled?|push(?:ed)?|shift(?:ed)?|bump(?:ed)?|put off"
    rf"|(?P<ended>cancell?(?:ed)?|call(?:ed)? off))\s+{_WHICH}(?P<event>{_NAME})(?=$|\s(?:{_AFTER}|off)\b)",
    re.IGNORECASE,
)
_BY_OBJECT_BETWEEN = re.compile(
    rf"(?:^|\s)(?:brought|pulled|put)\s+{_WHICH}(?P<event>{_NAME})(?=\s(?:forward|back|off)\b)", re.IGNORECASE
)
_BY_NO = re.compile(
    rf"(?:^(?:so |then |means )?|\bso |\bmeans )(?P<ended>no)\s+(?P<event>{_NAME})\s+"
    r"(?:now|after all|any ?more|this time|then)$",
    re.IGNORECASE,
)
"""So no barbecue after all."""
_BY_SUBJECT_HAN = re.compile(
    "^(?:不过|但是?|结果|刚|对了|[今明本这下][天周次个]?的?|我们?家?的?|咱们?的?)*(?P<event>[\u4e00-\u9fffA-Za-z]{2,10}?)(?:的事|的?时间|的?日期)?"
    "(?:又|也|都|要|得|被|已经|临时|再|可以|正式|突然|统一)*"
    "(?:推[迟后到]|延[期后迟到误]|提[前早]|改[期到在成]|挪[到后前]|[往向][后前][推拖挪延提移]|拖到|(?P<ended>取消|泡汤|黄了|没了$|吹了|作废|不[办开搞挖去考]了|[去看办开]不成))"
)
_BY_OBJECT_HAN = re.compile(
    "把(?:我们?的?)?(?P<event>[\u4e00-\u9fff]{2,8}?)(?:的?时间|的?日期)?(?:又|都|给|再)*(?:推[迟后到]|延[期后]|提前|改[期到在成]|挪[到后]|[往向][后前][推拖挪延提移]"
    "|(?P<ended>取消))"
)
_TO_A_PLACE = re.compile(r"\b(?:mov|shift)(?:ed?|es|s)\b[^,;.!?]*\bto\b|[改挪移]到", re.IGNORECASE)
"""May be said of a place as well."""
_GENERAL = frozenset(("thing", "stuff", "date", "time", "whole", "again", "entire"))
_NO_EVENT = re.compile(
    r"(?:i|we|you|he|she|it|they|this|that|which|who|what|there|everything|something|everyone)$", re.IGNORECASE
)
_DAY = re.compile(
    r"(?:to|this|next|last)?(?:day|week|month|year|night|morrow)['’]s"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:['’]s)?|next|this",
    re.IGNORECASE,
)
_TOKEN = re.compile(r"[\w-]+")
_LONGEST = 160
"""Maximum characters of the later text: a longer one tells of many things."""
_STEM = 4
"""Minimum common beginning of two forms of a word."""
_ENDING = 3
"""Maximum rest of a form after it: sign, signing."""


def tells_of_move(newer: str, older: str, asked: str, *, asks_time: bool, elsewhere: bool = False) -> bool:
    """Whether the newer text names, with no word that the older text and the question lack, an event of the older
    one, and says that its time changed or that it is cancelled.

    `asks_time`: whether the question asks for a time; to other questions only a cancellation matters. `elsewhere`:
    whether the newer gives a place and no time; then "moved to" tells of the place.
    """
    if len(newer) > _LONGEST:
        return False
    if elsewhere and _TO_A_PLACE.search(newer):
        asks_time = False
    return any((asks_time or ended) and _is_named(event, older, asked) for event, ended in _moved(newer))


def is_called_off(text: str) -> bool:
    """Whether a text says that an event, which it names, does not take place."""
    return len(text) <= _LONGEST and any(ended for _, ended in _moved(text))


def tells_of_any_move(text: str) -> bool:
    """Whether a text says that an event, which it names, was moved or called off."""
    return len(text) <= _LONGEST and bool(_moved(text))


@lru_cache(4_096)
def _moved(text: str) -> tuple[tuple[str, bool], ...]:
    """Names of events that a text says were moved, each with whether it was cancelled."""
    return tuple(_events(text))


def _events(text: str) -> Iterator[tuple[str, bool]]:
    for part in _PARTS.split(text):
        said = part.strip(" .。!?")
        for pattern in (_BY_SUBJECT, _BY_OBJECT, _BY_OBJECT_BETWEEN, _BY_NO, _BY_SUBJECT_HAN, _BY_OBJECT_HAN):
            found = pattern.search(said)
            if found is not None:
                yield found["event"], bool(found.groupdict().get("ended"))


def _is_named(event: str, older: str, asked: str) -> bool:
    """Whether all words of the event's name stand in the older text or the question, and the last in the older one."""
    if not event.isascii() or is_han(older):
        return event.lower() in older.lower()
    words = [
        word.lower().removesuffix("'s").removesuffix("’s") for word in event.split() if _DAY.fullmatch(word) is None
    ]
    words = [word for word in words if word not in _GENERAL]
    if not words or any(_NO_EVENT.match(word) for word in words):
        return False
    told, both = _TOKEN.findall(older.lower()), _TOKEN.findall(f"{older} {asked}".lower())
    return any(_is_form(words[-1], word) for word in told) and all(
        any(_is_form(one, word) for word in both) for one in words
    )


def _is_form(one: str, other: str) -> bool:
    """Whether two words may be forms of one: sign and signing, fitter and fitters."""
    if one == other:
        return True
    common = next((place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    same = min(len(one), len(other)) if common is None else common
    return same >= _STEM and max(len(one), len(other)) - same <= _ENDING
