"""Days of a month and times of day in English words: "the third of May", "on the seventh", "half past six"."""

import re
from collections.abc import Iterator

_UNITS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
ORDINALS = (
    *_UNITS,
    *("tenth", "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth"),
    *("eighteenth", "nineteenth", "twentieth"),
    *(f"twenty-{unit}" for unit in _UNITS),
    *("thirtieth", "thirty-first"),
)
_DAY_OF = {word: day for day, word in enumerate(ORDINALS, 1)}
_DAY = "|".join(sorted((word.replace("-", "[- ]") for word in ORDINALS), key=len, reverse=True))
_LATER_DAY = _DAY.replace("|first", "").replace("|second", "").replace("|third", "")
"""All but first to third: "she is the second" may tell a place among others."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_ENDS = (
    r"(?=\s*(?:$|[,.;:!?)])|\s(?:and|but|so|instead|because|at|in the|now|not|already|of (?:this|next|the) month)\b)"
)
"""What follows a day or an hour: no noun, as in "on the third floor"."""
_DATE = rf"\b(?:(?P<day>{_DAY}) of (?P<month>{_MONTH})|(?P<of>{_MONTH}) (?:the )?(?P<nth>{_DAY}))\b"
_ALONE = (
    rf"\b(?:on|to|till|until|by|from|before|after) the (?P<alone>{_DAY})\b{_ENDS}"
    rf"|\b(?:is|was|be|it['’]s) the (?P<later>{_LATER_DAY})\b{_ENDS}"
)
_FOUND = re.compile(f"{_DATE}|{_ALONE}", re.IGNORECASE)
HOURS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
TO_TWELVE = "|".join(HOURS)
HOUR = (
    rf"\b(?:at|until|till|before|after|by|around|about|past|to) (?:{TO_TWELVE})\b"
    rf"(?:{_ENDS}|(?=\s(?:sharp|on|every|each|to|till|until)\b))"
)
"""An hour in words."""
_MINUTES = {"five": 5, "ten": 10, "quarter": 15, "twenty": 20, "twenty-five": 25, "half": 30}
_CLOCK = re.compile(
    rf"\b(?:a )?(?P<minutes>twenty-five|{'|'.join(_MINUTES)}) (?:minutes )?(?P<side>past|to) (?P<near>{TO_TWELVE})\b"
    rf"|\bhalf (?P<half>{TO_TWELVE})\b{_ENDS}"
    rf"|\b(?P<clock>{TO_TWELVE}) o['’]clock\b"
    rf"|\b(?P<about>at|until|till|before|after|by|around) (?P<full>{TO_TWELVE})\b(?! (?:to|past) (?:{TO_TWELVE})\b)"
    rf"(?:{_ENDS}|(?=\s(?:sharp|on|every|each|to|till|until)\b))",
    re.IGNORECASE,
)
DAY = rf"{re.sub(r'[?]P<[a-z]+>', '?:', _DATE)}|{re.sub(r'[?]P<[a-z]+>', '?:', _ALONE)}"
"""A day in words, without groups of a name."""


def days(text: str) -> Iterator[tuple[int, int, str]]:
    """The days of a text, as a span and `05-03`, or `7` without a month."""
    for found in _FOUND.finditer(text):
        name = next(name for name in ("day", "nth", "alone", "later") if found[name])
        day = _DAY_OF[found[name].lower().replace(" ", "-")]
        month = found["month"] or found["of"]
        if month is None:
            yield *found.span(name), str(day)
        else:
            yield *found.span(), f"{_MONTHS.index(month[:3].lower()) + 1:02}-{day:02}"


def hours(text: str) -> Iterator[tuple[int, int, str]]:
    """The times of day of a text, as a span and `09:30`: "half nine", "ten to four", "until one"."""
    for found in _CLOCK.finditer(text):
        hour = HOURS.index((found["near"] or found["half"] or found["clock"] or found["full"]).lower()) + 1
        minutes = 30 if found["half"] else _MINUTES.get((found["minutes"] or "").lower(), 0)
        if found["side"] == "to":
            hour, minutes = (hour - 1) or len(HOURS), 60 - minutes
        start = found.start("full") if found["full"] else found.start()
        yield start, found.end(), f"{hour:02}:{minutes:02}"
