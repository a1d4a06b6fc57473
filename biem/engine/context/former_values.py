"""Whether a text denies a value that an earlier one gave, and gives another: "9:10, not 8:40", 是48，不是72."""

import re

from biem.domain.conflict import Matter

_DENIES = re.compile(
    r"\b(?:not|cannot|instead of|rather than|no longer|moved from|no way)\b|n['’]t\b|不是|而不是|不再", re.IGNORECASE
)
_TIME = re.compile(r"\d\d:(?!00)\d\d")
"""A time of day, but no full hour: that many things have."""
_ANY_TIME = re.compile(r"\d\d:\d\d")
_DATE = re.compile(r"\d\d-(?P<day>\d\d)")
_SPELT = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh"),
    *("twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth"),
    *("twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth"),
    *("twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first"),
)
_NTH = re.compile(
    rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)|(?<=the )({'|'.join(reversed(_SPELT))})(?= (?:and|but|so|any)\b|\W*$|[,.;!]))\b",
    re.IGNORECASE,
)


def denies_former(text: str, newer: Matter, older: Matter) -> bool:
    """Whether the newer text has a time or date of the older, another one, and a denial."""
    if _DENIES.search(text) is None:
        return False
    told, said = newer.numbers, older.numbers
    for value, another in ((_TIME, _ANY_TIME), (_DATE, _DATE)):
        given, other, former = (
            frozenset(filter(kind.fullmatch, numbers))
            for kind, numbers in ((value, told), (another, told), (value, said))
        )
        if given & former and other - former:
            return True
    nth = frozenset(int(day or _SPELT.index(word.lower()) + 1) for day, word in _NTH.findall(text))
    days, later = (
        frozenset(int(found["day"]) for found in map(_DATE.fullmatch, numbers) if found) for numbers in (said, told)
    )
    return bool(nth & days and (nth | later) - days)
