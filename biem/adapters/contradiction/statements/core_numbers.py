"""The numbers of a statement: quantities, codes, weekdays, ordinals and months, each in canonical form."""

import re

from biem.adapters.analyzers.quantities import Quantities
from biem.adapters.contradiction.lexicon.spelled_days import HOURS, ORDINALS, days, hours
from biem.adapters.contradiction.statements.core import Piece, blanked

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    r"\b(?P<en>mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])(?!起|[次趟遍])",
    re.IGNORECASE,
)
_ZH_DAYS = dict(zip("一二三四五六日天", (*_DAYS, "sun"), strict=True))
_CODE = re.compile(
    r"(?<![\w.-])(?:\d+(?:-\d+){2,}(?<!\d{4}-\d\d-\d\d)|[A-Za-z]+\d[A-Za-z0-9]*|\d+[A-HJ-LN-Z])(?![\w-])", re.ASCII
)
"""12-33-8, hunter2, 14A."""
_FIGURES = {word: str(number) for number, word in enumerate(("zero", *HOURS))}
COUNTED = re.compile(
    rf"\b({'|'.join(_FIGURES)})( and a half)?"
    r"(?=\s(?:hours?|minutes?|days?|weeks?|months?|years?|times?|people|kids|children|persons)\b)",
    re.IGNORECASE,
)
_ORDINALS = ORDINALS[:10]
_NTH = {word: str(number) for number, word in enumerate(_ORDINALS, 1)}
_FLOOR = re.compile(
    rf"\b({'|'.join(_ORDINALS)}|\d+(?=st|nd|rd|th))(?:st|nd|rd|th)? (floor|grade|row|year)\b", re.IGNORECASE
)
_MONTH = re.compile(
    r"\b(?P<month>jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r"|(?<=\b(?:in|to|by|of) )(?:march|may)|(?<=\buntil )(?:march|may)|(?<=\bsince )(?:march|may))\b(?! \d)(?<!\d )",
    re.IGNORECASE,
)


class CoreNumbers:
    """Reads the numbers of statements. Thread-safe."""

    def __init__(self) -> None:
        self._quantities = Quantities()

    def of(self, text: str, *, chinese: bool) -> list[Piece]:
        """Quantities, codes, weekdays, ordinals and months; a month of a date counts once, with its date."""
        codes = [Piece(f"code:{found.group().lower()}", *found.span()) for found in _CODE.finditer(text)]
        codes += [Piece(f"weekday:{_day(found)}", *found.span()) for found in _WEEKDAY.finditer(text)]
        codes += [
            Piece(f"{found[2]}:{_NTH.get(found[1].lower(), found[1])}", *found.span())
            for found in _FLOOR.finditer(text)
        ]
        codes += [Piece(canonical, start, end) for start, end, canonical in (*days(text), *hours(text))]
        rest = blanked(text, [(one.start, one.end) for one in codes]) if codes else text
        rest = COUNTED.sub(_figure, rest) if not chinese else rest
        numbers = [Piece(canonical, start, end) for start, end, canonical in self._quantities.spans(rest)] + codes
        dated = {place for one in numbers for place in range(one.start, one.end)}
        return numbers + [
            Piece(f"month:{found['month'][:3].lower()}", *found.span())
            for found in _MONTH.finditer(text)
            if found.start() not in dated
        ]


def _figure(found: re.Match[str]) -> str:
    """A spelled number in figures, at the same place: six hours, seven and a half hours."""
    return f"{_FIGURES[found[1].lower()]}{'.5' if found[2] else ''}".rjust(len(found.group()))


def _day(found: re.Match[str]) -> str:
    return _ZH_DAYS[found["zh"]] if found["zh"] else found["en"][:3].lower()
