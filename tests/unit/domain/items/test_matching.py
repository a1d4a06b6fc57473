"""Conditions on values of items."""

from typing import Any

import pytest

from biem.domain.items.matching import contained, matches, parse_filter
from biem.errors import InvalidInput

VALUE: dict[str, Any] = {
    "n": 9, "f": 2.5, "yes": True, "s": "b", "none": None, "list": ["a", {"x": 1}], "map": {"p": 1, "q": {"r": "z"}}
}  # fmt: skip


@pytest.mark.parametrize(
    ("where", "met"),
    [
        ({}, True),
        ({"n": 9}, True),
        ({"n": 9.0}, True),
        ({"n": "9"}, False),
        ({"yes": True}, True),
        ({"yes": 1}, False),
        ({"none": None, "missing": None}, True),
        ({"s": None}, False),
        ({"list": ["a", {"x": 1}]}, True),
        ({"list": ["a", {}]}, True),  # a mapping within a list must be contained, too
        ({"list": "a"}, False),
        ({"list": ["a"]}, False),
        ({"map": {"p": 1}}, True),
        ({"map": {"q": {"r": "z"}}}, True),
        ({"map": {}}, True),
        ({"s": {}}, False),
        ({"map": {"$eq": {"p": 1}}}, False),
        ({"map": {"$eq": {"q": {"r": "z"}, "p": 1}}}, True),
        ({"n": {"$gt": 8, "$lt": 10}}, True),
        ({"n": {"$gt": 9}}, False),
        ({"n": {"$gte": 9}, "f": {"$lte": 2.5}}, True),
        ({"n": {"$lt": 10}}, True),  # as strings it would not be
        ({"s": {"$gt": "a"}}, True),
        ({"s": {"$gt": 1}}, False),
        ({"missing": {"$gt": 1}}, False),
        ({"yes": {"$gte": 1}}, False),
        ({"s": {"$ne": "b"}}, False),
        ({"missing": {"$ne": "b"}}, True),
        ({"map": {"p": {"$gt": 0}}}, True),
    ],
)
def test_whether_a_value_meets_conditions(where: dict[str, Any], met: bool) -> None:
    assert matches(parse_filter(where), VALUE) is met


def test_what_matching_values_contain() -> None:
    # Given conditions of all kinds
    where = parse_filter({
        "s": "b", "n": {"$eq": 9}, "f": {"$gt": 1}, "none": None, "list": ["a"],
        "map": {"p": 1, "q": {"r": {"$ne": 1}}},
    })  # fmt: skip

    # Then equalities of scalars can be looked up, and nothing else
    assert contained(where) == {"s": "b", "n": 9, "map": {"p": 1}}
    assert contained({"map": {"$gt": 1}, "list": [], "other": {"deep": None}}) == {}


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ([], "mapping"),
        ({"n": {"$near": 1}}, "known are"),
        ({"n": {"$gt": 1, "plain": 2}}, "known are"),
        ({"n": float("nan")}, "compared"),
        ({"n": object()}, "compared"),
        ({"s": "a\0"}, "NUL"),
        ({"list": ["a\0"]}, "NUL"),
        ({"a\0": 1}, "NUL"),
    ],
)
def test_conditions_that_say_nothing_are_refused(where: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        parse_filter(where)
