"""Whether a text denies a time or date that an earlier one gave, and gives another: "9:10, not 8:40"."""

import re

from biem.domain.conflict import Matter

_DENIES = re.compile(
    r"\b(?:not|cannot|instead of|rather than|no longer|moved from)\b|n['’]t\b|不是|而不是|不再", re.IGNORECASE
)
_TIME = re.compile(r"\d\d:(?!00)\d\d")
"""A time of day, but no full hour: that many things have."""
_DATE = re.compile(r"\d\d-(?P<day>\d\d)")
_NTH = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b", re.IGNORECASE)


def denies_former(text: str, newer: Matter, older: Matter) -> bool:
    """Whether the newer text has a time or date of the older, another one, and a denial."""
    if _DENIES.search(text) is None:
        return False
    told, said = newer.numbers, older.numbers
    for value in (_TIME, _DATE):
        given, former = (frozenset(filter(value.fullmatch, numbers)) for numbers in (told, said))
        if given & former and given - former:
            return True
    nth = frozenset(int(day) for day in _NTH.findall(text))
    days = frozenset(int(found["day"]) for found in map(_DATE.fullmatch, said) if found)
    return bool(nth & days and nth - days)
