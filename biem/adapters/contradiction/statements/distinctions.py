"""Words, labels, ranks and numbers that distinguish one of several: the return flight, machine 2, PR 88."""

import re
from collections.abc import Iterator, Sequence

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
    r"(?!(?:morning|afternoon|evening|night|noon|lunchtime|the|at|from|until|till|and|but|instead|was|has|had"
    r"|will|now|again|with"
    r"|for|because|onwards?|works?|is|isn|may|can|comes?|came|of|not)s?\b)[a-z]{3,}"
)
"""A thing of a day, month or season, and no time at which something is."""
_DATED_CHINESE = re.compile(
    r"(?<![改推挪调换到成])(?P<month>[\d一二三四五六七八九十]{1,3}月)份?(?![\d一二三四五六七八九十初中底上下])"
    r"|(?P<part>[早午晚夜])(?:市|班|餐|场|课)(?![上会])|(?<![改推挪调换到成])(?P<period>[这本上下今明去](?:个"
    r"|一)?(?:季度|学期|期|届|财年|批|轮))"
)
_BRIEF = 80
"""Maximum characters of a message that names one thing by its time or side."""
_SAME_PERIOD = str.maketrans({"本": "这", "今": "这", "个": None, "一": None})
_SIDE = re.compile(
    r"\b(?:the|my|our|at|in|on) (?P<side>north|south|east|west|upper|lower|inner|outer|front|back|left|right"
    r"|main|side)(?:ern)? "
    r"(?P<of>gate|door|entrance|exit|wing|building|block|tower|pool|field|court|terrace|platform|branch|office"
    r"|lobby|stairs"
    r"|bed|tyre|tire|wheel|brake|tank|lens|light|speaker|garden|yard|window|shelf)s?\b"
    r"|(?P<zh>[东南西北前后左右])(?P<von>门|侧)|(?P<which>[新老旧东西南北])(?P<site>校区|院区|厂区)",
    re.IGNORECASE,
)
_HAN_SIDES = "东南西北前后左右新老旧"
"""A text that begins with one is about that side, and tells of no move to it."""
_MOVED = re.compile(r"\b(?:moved?|switched|relocated|instead|changed)\b|[搬挪换改调]", re.IGNORECASE)
"""A side, and what has several."""
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
    named, named_too = (set(_times(text)) for text in (one, other))
    return bool(named and named_too) and named.isdisjoint(named_too)


def are_of_other_sides(one: str, other: str) -> bool:
    """Whether both name a side of the same thing, and not the same: the north gate, the south gate."""
    if max(len(one), len(other)) > _BRIEF:
        return False
    if _MOVED.search(other) is not None and not other.startswith(tuple(_HAN_SIDES)):
        return False
    sides, others = (
        {
            (
                (found["of"] or found["von"] or found["site"]).lower(),
                (found["side"] or found["zh"] or found["which"]).lower(),
            )
            for found in _SIDE.finditer(text)
        }
        for text in (one, other)
    )
    return sides.isdisjoint(others) and not {of for of, _ in sides}.isdisjoint(of for of, _ in others)


def _times(text: str) -> Iterator[str]:
    """The days, months and periods by which a text names things."""
    yield from (found["of"].lower() for found in _DATED.finditer(text))
    for found in _DATED_CHINESE.finditer(text) if len(text) <= _BRIEF else ():
        yield found["month"] or found["part"] or found["period"].translate(_SAME_PERIOD)


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
