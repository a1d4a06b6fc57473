"""Quantities of a text, also those in English words, and how near those of two texts are."""

import re
from collections.abc import Iterator

from biem.domain.conflict import Matter

_FIGURES = re.compile(r"\D?(\d+(?:\.\d+)?)(?::(\d\d))?([KM]?)(?![\d-])")
"""A number as `Matter` has it: `18K`, `09:30`, `€1200`, `45d`; no date."""
_TIMES = {"": 1.0, "K": 1e3, "M": 1e6}
_SMALL = dict(
    zip(
        (
            *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
            *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        ),
        map(float, range(2, 20)),
        strict=True,
    )
)
"""Without one, which is mostly an article or a pronoun."""
_TENS = {
    word: 10.0 * ten
    for ten, word in enumerate(("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"), 2)
}
_LARGE = {"dozen": 12.0, "hundred": 100.0, "thousand": 1000.0}
_UNITS = "|".join(("one", *list(_SMALL)[:8]))
_WORDS = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS)})(?:[- ](?P<unit>{_UNITS}))?|(?P<small>{'|'.join(_SMALL)}))"
    rf"(?: (?P<large>{'|'.join(_LARGE)}))?\b(?!['’])",
    re.IGNORECASE,
)
_NUMBER = rf"(?:(?P<figures>\d+(?:[.,]\d+)?k?)|(?P<words>{re.sub('[?]P<[a-z]+>', '?:', _WORDS.pattern)}))"
_COUNTS_ON = re.compile(
    r"\b(?:(?:i|we|it|they|that|which)(?:['’](?:s|m|re|ve|ll be)| is| am| are| has| have| will be)?"
    r" (?:(?:gone|went|come|came|got|just|only|now|already|makes?|leaves?|brings?) )?"
    r"(?:(?:us|me|it) )?(?:(?:just|only|now) )?(?:(?:back |right )?(?:up|down) )?(?:to |at )?"
    rf"(?:about |around |almost |nearly )?){_NUMBER}"
    r"(?:(?= (?:now|again|of (?:us|them)|in all|altogether)\b|[.,;!](?!\d)|$)| (?P<noun>[a-z]{3,})\b)",
    re.IGNORECASE,
)
"""Says a number of what is spoken of: "I'm down to 58", "that leaves seven", "so we're 64"."""


def amounts(matter: Matter) -> Iterator[float]:
    """The numbers of a subject that are written in figures."""
    for number in matter.numbers:
        if found := _FIGURES.match(number):
            whole, minutes, times = found.groups()
            yield (float(whole) + float(minutes or 0.0) / 60.0) * _TIMES[times]


def quantities(text: str, matter: Matter) -> Iterator[float]:
    """The numbers of a text with this subject, those in words, too. Some of these are names: chapter three."""
    yield from amounts(matter)
    yield from map(_value, _WORDS.finditer(text))


def nearness(one: list[float], other: list[float]) -> float:
    """Of the nearest two unequal quantities the square of the smaller by the larger; 0 if one side has none."""
    pairs = ((left, right) for left in one for right in other if left != right)
    return max(((min(pair) / max(pair)) ** 2 for pair in pairs), default=0.0)


def counts_on(text: str, asked: str = "") -> float | None:
    """The number that a text gives of something that it calls by a pronoun alone, or by a word of the question."""
    found = _COUNTS_ON.search(text)
    if found is None or (found["noun"] and re.search(rf"\b{found['noun']}\b", asked, re.IGNORECASE) is None):
        return None
    if found["figures"]:
        figures = found["figures"].lower().replace(",", "")
        return float(figures.rstrip("k")) * (_TIMES["K"] if figures.endswith("k") else 1.0)
    spelled = _WORDS.match(found["words"])
    return None if spelled is None else _value(spelled)


def _value(spelled: re.Match[str]) -> float:
    tens, unit = _TENS.get((spelled["tens"] or "").lower(), 0.0), (spelled["unit"] or "").lower()
    small = _SMALL.get((spelled["small"] or "").lower(), 0.0) + _SMALL.get(unit, float(unit == "one"))
    return (tens + small) * _LARGE.get((spelled["large"] or "").lower(), 1.0)
