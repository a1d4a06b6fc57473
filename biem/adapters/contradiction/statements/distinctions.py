"""Words, labels, ranks and numbers that distinguish one of several: the return flight, machine 2, PR 88."""

import re
from collections.abc import Sequence

from biem.adapters.analyzers.numerals import spoken
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.statements.core import Piece

_ITEM = re.compile(
    r"\b(?P<of>PR|MR|pull request|merge request|issue|ticket|bug|order|invoice|case|task|RFC)"
    r"(?: no\.?| number)? ?#?(?P<no>\d+)"
    r"|(?P<zh>工单|订单|发票|任务|缺陷|需求|议题) ?#?(?P<nr>\d+)",
    re.IGNORECASE,
)
"""An item of a series, whose number is its name and no value."""
_DATED = re.compile(
    r"(?:^|[.;:,!?]\s|(?<!\bto )(?<!\bwith )(?<!\bfor )\b(?:(?i:the|my|our|his|her|their|your)|[A-Z][a-z]+['’]s)\s)"
    r"(?P<of>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|January|February|March|April|May|June|July|August|September"
    r"|October|November|December|(?i:spring|summer|autumn|winter)|Q[1-4])(?:['’]s)?\s"
    r"(?!(?:morning|afternoon|evening|night|noon|lunchtime|the|at|from|until|till|and|but|instead|was|has|had|will|now|again|with"
    r"|for|because|onwards?|works?|is|isn|may|can|comes?|came|of|not)s?\b)[a-z]{3,}"
)
"""A thing of a day, month or season, and no time at which something is."""
_WAYS = {"out": "outbound", "home": "return", "back": "return", "inbound": "return", "回程": "返程"}
_WAY = re.compile(r"\b(?:flight|train|way) $", re.IGNORECASE)
_OF_ANOTHER_WORD = re.compile("[周期拜月拿利0-9].")
"""Two characters of which the second is no rank: 周二妈妈去, 在加拿大妈妈."""


def are_other_items(one: str, other: str) -> bool:
    """Whether both are about items of one series, and none is in both: PR 88 and PR 91."""
    items, others = (
        {((found["of"] or found["zh"]).lower(), found["no"] or found["nr"]) for found in _ITEM.finditer(text)}
        for text in (one, other)
    )
    return items.isdisjoint(others) and not {of for of, _ in items}.isdisjoint(of for of, _ in others)


def are_of_other_days(one: str, other: str) -> bool:
    """Whether both name a thing by a day, month or season, and not the same: the Monday class, my Tuesday class."""
    named, named_too = ({found["of"].lower() for found in _DATED.finditer(text)} for text in (one, other))
    return bool(named and named_too) and named.isdisjoint(named_too)


def way_of(found: re.Match[str]) -> str:
    """What a word that distinguishes names: `return` for "the way back", and `back` for "the back room"."""
    word = found.group().lower()
    of_a_thing = (
        word == "back"
        and re.match(r" [a-z]", found.string[found.end() :])
        and not _WAY.search(found.string, 0, found.start())
    )
    return word if of_a_thing else _WAYS.get(word, word)


def labels_of(text: str, numbers: Sequence[Piece], *, asked: bool) -> frozenset[str]:
    """The numbers and letters that distinguish one of several things: `#2` of "machine 2" and of 二号机床."""
    plain = {one.start: one.stem for one in numbers}
    found = set()
    for match in (marks.LABEL_ASKED if asked else marks.LABEL).finditer(text, 0, marks.LABELLED):
        kind = next(name for name, value in match.groupdict().items() if value is not None)
        label = match[kind]
        if not label.isalpha() or kind == "no":
            label = plain.get(match.start(kind)) or spoken(label) or ""  # 一号 is no quantity
        if label.isdigit() or label.isalpha():
            found.add(f"#{label.lower()}")
    return frozenset(found)


def ranks_of(text: str, relatives: Sequence[tuple[int, int]], *, chinese: bool) -> frozenset[str]:
    """Which of several relatives these spans name: `#elder` of 大女儿 and "my older daughter", `#maternal` of 外婆."""
    if chinese:
        found = {_han_rank(text[max(0, start - 2) : start], text[start:end]) for start, end in relatives}
    else:
        found = {match.lastgroup or "" for span in relatives if (match := marks.RANK.search(text, *span))}
    return frozenset(f"#{rank}" for rank in found if rank)


def _han_rank(before: str, relative: str) -> str:
    """The rank by the character before, else by the relation, else the side of the family. `before`: two characters."""
    first = "" if _OF_ANOTHER_WORD.match(before) else marks.HAN_RANKS.get(before[-1:], "")
    side = next((marks.HAN_SIDES[one] for one in relative if one in marks.HAN_SIDES), "")
    return first or marks.HAN_RANKS.get(relative[-1], "") or side
