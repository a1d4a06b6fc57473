"""Anchors: exact values of a query (numbers, names, symbols), and how candidates match them.

anchor score = Σ weight·matched/asked ÷ Σ weight, over the kinds of fields that the query has
"""

import re
from collections.abc import Iterable
from typing import Literal

from biem.domain.fields import Fields
from biem.domain.policies.aim import FieldWeights

FIELD_KINDS = ("numbers", "names", "definitions", "symbols")
"""The kinds of anchors, as named in `Fields` and `FieldWeights`."""

_TIME = re.compile(
    r"(?:\d{4}-)?\d{2}-\d{2}|\d{4}-\d{2}|\d{1,2}:\d{2}"  # dates and times of day
    r"|-?[\d.]+(?:y|mo|w|d|h|min|s)"  # "last 3 days", "for 2 weeks"
)
_NUMBER = re.compile(r"([¥$€£]?)-?([\d.]+)(.*)")
_LONG_NUMBER = 5
"""A number with this many digits is an order, a telephone or an account number, not a count or a year."""
_COUNTS = frozenset(("", "K", "M", "B", "T"))
_BOUND = re.compile(
    r"\b(?:than|under|below|above|over|least|most|within|between|about|around|up to|exceed\w*|max\w*|min\w*)\b|[<>≤≥]"
    r"|以下|以上|以内|之内|及以|超过|不到|大于|小于|高于|低于|多于|少于|至少|最多|左右|约"
)


def anchors_of(fields: Fields, kind: str) -> frozenset[str]:
    """The anchors of one kind in comparable form: units and symbols exact, words case-folded."""
    values: tuple[str, ...] = getattr(fields, kind)
    return frozenset(values if kind in ("numbers", "symbols") else (value.casefold() for value in values))


def anchor_score(query: Fields, node: Fields, weights: FieldWeights) -> float:
    """The share of a query's anchors that a node matches, in [0, 1]; 0 for a query without anchors."""
    got = total = 0.0
    for kind in FIELD_KINDS:
        asked = anchors_of(query, kind)
        if asked:
            weight: float = getattr(weights, kind)
            total += weight
            got += weight * len(asked & anchors_of(node, kind)) / len(asked)
    return got / total if total > 0 else 0.0


def unsaid(fields: Fields, known: Iterable[Fields], weights: FieldWeights) -> float:
    """The summed weights of the anchors in `fields` that none of the `known` has."""
    others = list(known)
    news = 0.0
    for kind in FIELD_KINDS:
        said = frozenset[str]().union(*(anchors_of(one, kind) for one in others))
        news += getattr(weights, kind) * len(anchors_of(fields, kind) - said)
    return news


def binding(query: Fields, which: Literal["off", "rival", "exact", "all"]) -> Fields:
    """The anchors of a query that decide which candidates stay, if any candidate matches one.

    *all*: its numbers, names and symbols. *exact* and *rival*: its symbols, and its identifying numbers: those with a
    unit or of five digits. Times ("3 days", "5月2号", a year) tell when something was said, and are excluded.
    """
    if which == "off":
        return Fields()
    if which == "all":
        return Fields(numbers=query.numbers, names=query.names, symbols=query.symbols)
    return Fields(numbers=tuple(filter(_names_one_thing, query.numbers)), symbols=query.symbols)


def shares_anchor(asked: Fields, node: Fields) -> bool:
    """Whether a node has any of the asked anchors, of the same kind."""
    return any(
        anchors_of(asked, kind) & anchors_of(node, kind)
        for kind in FIELD_KINDS
        if getattr(asked, kind) and getattr(node, kind)
    )


def is_rival(asked: Fields, node: Fields) -> bool:
    """Whether a node has another value of a kind in the query, and not that value: 128K for 10M, v2 for v1."""
    if shares_anchor(asked, node):
        return False
    dimensions, shapes = set(map(_dimension, asked.numbers)), set(map(_shape, asked.symbols))
    return any(_dimension(one) in dimensions for one in node.numbers) or any(
        _shape(one) in shapes for one in node.symbols
    )


def names_a_bound(query: str) -> bool:
    """Whether a query asks for more or less than a value: "under 160cm", "超过100公里"; then the value is no anchor."""
    return _BOUND.search(query.lower()) is not None


def _names_one_thing(number: str) -> bool:
    return _TIME.fullmatch(number) is None and (bool(_unit(number)) or _digits(number) >= _LONG_NUMBER)


def _digits(number: str) -> int:
    return sum(map(str.isdigit, number))


def _unit(number: str) -> str:
    found = _NUMBER.fullmatch(number)
    return number if found is None else found[1] or found[3]


def _dimension(number: str) -> str:
    """The dimension of a number: its unit; "count" for plain numbers up to trillions; long ones by their length."""
    unit = _unit(number)
    if not unit and _digits(number) >= _LONG_NUMBER:
        return f"{_digits(number)} digits"
    return "count" if unit in _COUNTS else unit


def _shape(symbol: str) -> str:
    """The pattern of a symbol: an address, or its alternation of letters and digits."""
    if "@" in symbol:
        return "@"
    return re.sub(r"[^\W\d_]+", "a", re.sub(r"\d+", "0", symbol))
