"""Conditions on metadata: what they mean, and what is refused."""

from typing import Any

import pytest

from biem.domain.metadata_filter import OPERATORS, meets, parse_where
from biem.errors import InvalidInput


@pytest.mark.parametrize(
    ("where", "metadata", "met"),
    [
        ({"a": 1}, {"a": 1.0}, True),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": 1}, {"a": True}, False),
        ({"a": True}, {"a": 1}, False),
        ({"a": True}, {"a": True}, True),
        ({"a": "true"}, {"a": True}, False),
        ({"a": None}, {"a": None}, True),
        ({"a": None}, {}, False),
        ({"a": {"$exists": True}}, {"a": None}, True),
        ({"a": {"$exists": False}}, {}, True),
        ({"a": {"$ne": 1}}, {}, True),
        ({"a": {"$ne": 1}}, {"a": [1, 2]}, False),
        ({"a": {"$nin": [1, 2]}}, {"a": 3}, True),
        ({"a": {"$in": []}}, {"a": 3}, False),
        ({"a": 2}, {"a": [1, 2]}, True),
        ({"a": {"$gt": 5, "$lt": 3}}, {"a": [1, 9]}, True),
        ({"a": {"$gte": 10}}, {"a": "9"}, False),
        ({"a": {"$gte": "10"}}, {"a": "9"}, True),
        ({"a": {"$lt": 2**53 + 1}}, {"a": 2**53}, True),
        ({"a": 1}, {"a": {"b": 1}}, False),
        ({"a": 1, "b": {"$lte": 2}}, {"a": 1, "b": 2}, True),
        ({"a": 1, "b": {"$lte": 2}}, {"a": 1, "b": 3}, False),
        ({"a.b": 1}, {"a": {"b": 1}}, False),
        ({}, {"a": 1}, True),
        (None, {}, True),
    ],
)
def test_conditions_mean_what_they_say(where: Any, metadata: dict[str, Any], met: bool) -> None:
    assert meets(parse_where(where), metadata) is met


@pytest.mark.parametrize(
    ("where", "told"),
    [
        ([("a", 1)], "mapping"),
        ("a=1", "mapping"),
        ({1: 2}, "non-empty string"),
        ({"": 2}, "non-empty string"),
        ({"$or": [{"a": 1}]}, "in the place of a key"),
        ({"a": {}}, "no condition"),
        ({"a": {"$like": "x"}}, "known are"),
        ({"a": {"b": 1}}, "known are"),
        ({"a": {"$not": {"$eq": 1}}}, "known are"),
        ({"a": {"$exists": 1}}, "true or false"),
        ({"a": {"$in": "abc"}}, "list"),
        ({"a": {"$in": [[1]]}}, "string, a finite number"),
        ({"a": {"$gt": None}}, "number or a string"),
        ({"a": {"$gt": True}}, "number or a string"),
        ({"a": float("nan")}, "finite"),
        ({"a": {"$lt": float("inf")}}, "finite"),
        ({"a": 10**400}, "beyond"),
        ({"a": {"$gt": -(10**5_000)}}, "beyond"),
        ({"a": [1, 2]}, "string, a finite number"),
        ({"a": b"x"}, "string, a finite number"),
        ({"a": "\0"}, "NUL"),
        ({"a\0": 1}, "NUL"),
        ({"a": "\ud800"}, "surrogate"),
        ({"a": "x" * 5_000}, "characters"),
        ({"a": {"$in": list(range(300))}}, "at most 256"),
        ({f"k{n}": n for n in range(40)}, "at most 32"),
    ],
)
def test_anything_else_is_refused_with_what_would_be_right(where: Any, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        parse_where(where)


def test_only_conditions_that_a_missing_key_cannot_meet_need_the_key() -> None:
    values: dict[str, Any] = {"$in": [1], "$nin": [1], "$exists": True}
    for operator in OPERATORS:
        [condition] = parse_where({"a": {operator: values.get(operator, 1)}})
        assert condition.needs_key is not meets([condition], {})
    [absent] = parse_where({"a": {"$exists": False}})
    assert not absent.needs_key
