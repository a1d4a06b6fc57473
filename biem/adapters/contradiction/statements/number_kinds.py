"""Numbers by their kind, and which of them can be compared: amounts of a unit, dates, times, weekdays, codes."""

import re
from collections.abc import Sequence

from biem.adapters.contradiction.lexicon.spelled_days import HOURS
from biem.adapters.contradiction.statements.core import Core, Piece

SMALL = ("zero", *HOURS[:10])
UNIT = re.compile(r"[^\d.]")
NO_UNITS = frozenset(("date", "time", "weekday", "month", "code", "floor", "grade", "row", "year"))
"""Kinds of numbers that have no unit to be left out."""
Kinds = dict[str, set[str]]
"""Numbers by their kind."""
_READ_BY = 12
_BY = re.compile(
    r"\bby (?:about |around |nearly |almost )?[$€£¥]?$"
    r"|[涨降加减多少省贵宜长短重轻瘦胖早晚迟前快慢高低升跌缩]了"
    r"(?:快|近|约|大概|差不多|整整)?[$€£¥]?$",
    re.IGNORECASE,
)
"""Before a number that is a difference."""


def unit(number: str) -> str:
    """Unit of a canonical number: `¥`, `h`, `time`, `date` … or empty."""
    if re.fullmatch(r"\d\d:\d\d", number):
        return "time"
    if re.fullmatch(r"(?:\d{4}-)?\d\d-\d\d|\d{4}-\d\d", number):
        return "date"
    return re.sub(r"[\d.,-]", "", number)


def kind_of(number: str) -> str:
    kind = number.partition(":")[0]
    return kind if kind in ("weekday", "code", "month", "floor", "grade", "row", "year") else unit(number)


def is_difference(core: Core, number: Piece) -> bool:
    """Whether a number tells by how much a value changed, and not the value: "by 400", 涨了四百."""
    return _BY.search(core.text, max(0, number.start - _READ_BY), number.start) is not None


def by_kind(numbers: Sequence[Piece]) -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    for one in numbers:
        kinds.setdefault(kind_of(one.stem), set()).add(one.stem)
    return kinds


def by_unit(numbers: Sequence[str]) -> Kinds:
    kinds: Kinds = {}
    for number in numbers:
        kinds.setdefault(unit(number), set()).add(number)
    return kinds


def comparable(one: Kinds, other: Kinds) -> tuple[Kinds, Kinds]:
    """The same numbers; where only one has a unit, both without: 61 pounds, up to 72."""
    kinds = one.keys() | other.keys()
    if len(one) != 1 or len(other) != 1 or len(kinds) != 2 or not kinds.isdisjoint(NO_UNITS) or "" not in kinds:
        return one, other
    plain = ({"": {UNIT.sub("", value) for values in side.values() for value in values}} for side in (one, other))
    return next(plain), next(plain)
