"""Quantities of a text, and how near those of two texts are."""

import re
from collections.abc import Iterator

from biem.domain.conflict import Matter

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
