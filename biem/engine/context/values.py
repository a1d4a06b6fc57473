"""The values of a text: its quantities and how near those of two texts are, and whether two lines give one kind."""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from biem.domain.conflict import Matter
from biem.engine.context.lines import LineQuestion, RatedLine

_KINDS: Mapping[str, frozenset[str]] = {
    "time": frozenset(("time", "date", "weekday")),
    "amount": frozenset(("amount", "nth")),
    "digits": frozenset(("amount", "code")),
    "span": frozenset(("amount", "date")),
    "age": frozenset(("amount",)),
    "often": frozenset(("amount", "weekday")),
    "name": frozenset(("name", "code")),
    "place": frozenset(("name", "code", "nth", "amount")),
}
"""Kinds of values that answer, by what a question asks for (`Matter.wants`)."""
_NAMED = frozenset(("weekday", "code", "floor", "grade", "row", "year"))
"""Kinds that stand before the value in `Matter.numbers`."""
_TIME, _DATE = re.compile(r"\d\d:\d\d"), re.compile(r"(?:\d{4}-)?\d\d-\d\d|\d{4}-\d\d|month:.*")
_SPELLED = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)t(?:een|y)"
    r"|twenty|forty|eighty|hundred|thousand)(?:[ -](?:two|three|four|five|six|seven|eight|nine|hundred|thousand))*\b",
    re.IGNORECASE,
)
_NTH = re.compile(
    r"\b(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\d+(?:st|nd|rd|th))\b", re.IGNORECASE
)
_NAME = re.compile(
    r"(?<=[a-z\d,;] )(?!I\b)[A-Z][\w-]+|(?:^|(?<=[.!?:] ))(?!(?:I|It|He|She|We|They|You|That|This|There|Here|What|Who"
    r"|Where|How|One|Every\w+|No\w+|Let|My|Our|The)\b)[A-Z][\w-]+(?=['’]s\b| (?:is|was|has|and|will|[a-z]+s)\b| [A-Z])"
)
"""A name within a sentence, or at its beginning before a verb, an "and" or another name."""
_CALENDAR = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august"
    r"|(?:septem|octo|novem|decem)ber"
)
_WHO = re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE)
_READ = 500
"""Characters of a text that are read."""
_FIGURES = re.compile(r"\D?(\d+(?:\.\d+)?)(?::(\d\d))?([KM]?)(?![\d-])")
"""A number as `Matter` has it: `18K`, `09:30`, `€1200`, `45d`; no date."""
_TIMES = {"": 1.0, "K": 1e3, "M": 1e6}


def amounts(matter: Matter) -> Iterator[float]:
    """The numbers of a subject that are written in figures."""
    for number in matter.numbers:
        if found := _FIGURES.match(number):
            whole, minutes, times = found.groups()
            yield (float(whole) + float(minutes or 0.0) / 60.0) * _TIMES[times]


def nearness(one: list[float], other: list[float]) -> float:
    """Of the nearest two unequal quantities the square of the smaller by the larger; 0 if one side has none."""
    pairs = ((left, right) for left in one for right in other if left != right)
    return max(((min(pair) / max(pair)) ** 2 for pair in pairs), default=0.0)


def give_one_kind(newer: RatedLine, older: RatedLine, question: LineQuestion) -> bool:
    """Whether both give a value of a kind that answers, besides the values of the question.

    Any kind may answer where it is unknown what the question asks for.
    """
    wanted = _wanted(question)
    one, other, asked = (
        _values(text[:_READ], matter.numbers)
        for text, matter in (
            (newer.hit.node.text, newer.matter),
            (older.hit.node.text, older.matter),
            (question.text, question.matter),
        )
    )
    none = frozenset[str]()
    return any(
        one[kind] - asked.get(kind, none) and other[kind] - asked.get(kind, none)
        for kind in one.keys() & other.keys()
        if wanted is None or kind in wanted
    )


def _wanted(question: LineQuestion) -> frozenset[str] | None:
    if _WHO.search(question.text):
        return frozenset(("name",))
    wants = question.matter.wants
    return frozenset[str]().union(*(_KINDS[kind] for kind in wants)) if wants else None


@lru_cache(512)
def _values(text: str, numbers: frozenset[str]) -> dict[str, frozenset[str]]:
    """The values of a text by their kind."""
    found: dict[str, set[str]] = {}
    for number in numbers:
        found.setdefault(_kind(number), set()).add(number)
    if "time" not in found:  # "half past seven" is no amount
        found.setdefault("amount", set()).update(_small(_SPELLED, text))
    found.setdefault("nth", set()).update(_small(_NTH, text))
    names = _small(_NAME, text)
    found.setdefault("name", set()).update(name for name in names if _CALENDAR.fullmatch(name) is None)
    return {kind: frozenset(values) for kind, values in found.items() if values}


def _small(pattern: re.Pattern[str], text: str) -> set[str]:
    return {one.group().lower() for one in pattern.finditer(text)}


def _kind(number: str) -> str:
    """Kind of a canonical number of `Matter`."""
    named = number.partition(":")[0]
    if named in _NAMED:
        return named
    if _TIME.fullmatch(number):
        return "time"
    return "date" if _DATE.fullmatch(number) else "amount"
