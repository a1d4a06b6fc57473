"""Conditions on a memory's metadata: `{"project": "x", "score": {"$gte": 3}}`, all of which must hold.

A value stands for `$eq`. Numbers are compared as numbers, strings by code points; a number and a string are never equal
and have no order. A list in the metadata meets `$eq`, `$in` and the comparisons if any of its elements does. `$ne` and
`$nin` are the opposites of `$eq` and `$in`, so a memory without the key meets them.
"""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biem.domain.text import require_clean
from biem.errors import InvalidInput

Scalar = str | int | float | bool | None

COMPARISONS: Mapping[str, str] = {"$eq": "==", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<="}
OPERATORS: tuple[str, ...] = (*COMPARISONS, "$in", "$nin", "$exists")
_ORDERED = ("$gt", "$gte", "$lt", "$lte")
_MOST_CONDITIONS, _MOST_VALUES, _MOST_CHARS = 32, 256, 4_096


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition on one key. `values` are those of `$in` and `$nin`, and a single one for the others."""

    key: str
    operator: str
    values: tuple[Scalar, ...]

    @property
    def needs_key(self) -> bool:
        """Whether only memories that have the key meet it."""
        return self.operator not in ("$ne", "$nin") and not (self.operator == "$exists" and self.values == (False,))


def parse_where(where: object) -> tuple[Condition, ...]:
    """The conditions of a `where` argument; None and an empty mapping give none. Raises `InvalidInput`."""
    if where is None:
        return ()
    if not isinstance(where, Mapping):
        raise InvalidInput(f'where must be a mapping such as {{"project": "x"}}, not {type(where).__name__}')
    found = [condition for key, given in where.items() for condition in _of_key(key, given)]
    if len(found) > _MOST_CONDITIONS:
        raise InvalidInput(f"where has {len(found)} conditions; at most {_MOST_CONDITIONS} are allowed")
    return tuple(found)


def _of_key(key: object, given: object) -> list[Condition]:
    if not isinstance(key, str) or not key:
        raise InvalidInput(f"a key of where must be a non-empty string, not {key!r:.60}")
    require_clean(key, "a key of where")
    if key.startswith("$"):
        raise InvalidInput(f'where has {key!r} in the place of a key; write {{"key": {{{key!r}: value}}}}')
    if not isinstance(given, Mapping):
        return [Condition(key, "$eq", (_scalar(key, given),))]
    if not given:
        raise InvalidInput(f"where has no condition for {key!r}; the operators are {', '.join(OPERATORS)}")
    return [_condition(key, operator, value) for operator, value in given.items()]


def _condition(key: str, operator: object, value: object) -> Condition:
    if operator not in OPERATORS:
        raise InvalidInput(f"operator {operator!r:.60} of {key!r} is unknown; known are {', '.join(OPERATORS)}")
    if operator == "$exists":
        if not isinstance(value, bool):
            raise InvalidInput(f"$exists of {key!r} must be true or false, not {value!r:.60}")
        return Condition(key, operator, (value,))
    if operator in ("$in", "$nin"):
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise InvalidInput(f"{operator} of {key!r} must be a list of values, not {type(value).__name__}")
        if len(value) > _MOST_VALUES:
            raise InvalidInput(f"{operator} of {key!r} has {len(value):,} values; at most {_MOST_VALUES} are allowed")
        return Condition(key, str(operator), tuple(_scalar(key, one) for one in value))
    scalar = _scalar(key, value)
    if operator in _ORDERED and (scalar is None or isinstance(scalar, bool)):
        raise InvalidInput(f"{operator} of {key!r} needs a number or a string, not {value!r}")
    return Condition(key, str(operator), (scalar,))


def _scalar(key: str, value: object) -> Scalar:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        require_clean(value, f"the value of {key!r}")
        if len(value) > _MOST_CHARS:
            raise InvalidInput(
                f"the value of {key!r} has {len(value):,} characters; at most {_MOST_CHARS:,} are allowed"
            )
        return value
    if isinstance(value, int) and abs(value) > sys.float_info.max:  # Python may refuse to print it, too
        raise InvalidInput(f"the value of {key!r} is a number beyond ±{sys.float_info.max:.1e}")
    if isinstance(value, int | float) and math.isfinite(value):
        return value
    raise InvalidInput(
        f"the value of {key!r} must be a string, a finite number, true, false or null, not {value!r:.60}"
    )


def meets(conditions: Sequence[Condition], metadata: Mapping[str, Any]) -> bool:
    """Whether metadata meet all conditions, by the semantics of the records."""
    return all(_met(condition, metadata) for condition in conditions)


def _met(condition: Condition, metadata: Mapping[str, Any]) -> bool:
    if condition.operator == "$exists":
        return (condition.key in metadata) == condition.values[0]
    held: list[Any] = []
    if condition.key in metadata:
        value = metadata[condition.key]
        held = value if isinstance(value, list) else [value]
    if condition.operator in ("$eq", "$in"):
        return any(_equal(one, value) for one in held for value in condition.values)
    if condition.operator in ("$ne", "$nin"):
        return not any(_equal(one, value) for one in held for value in condition.values)
    return any(_ordered(condition.operator, one, condition.values[0]) for one in held)


def _equal(one: Any, other: Scalar) -> bool:
    return _type(one) == _type(other) and _type(one) != "" and bool(one == other)


def _ordered(operator: str, one: Any, other: Any) -> bool:
    if _type(one) != _type(other) or _type(one) not in ("number", "string"):
        return False
    return bool({"$gt": one > other, "$gte": one >= other, "$lt": one < other, "$lte": one <= other}[operator])


def _type(value: Any) -> str:
    """The JSON type of a scalar; empty for lists and objects, which nothing is equal to."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "string" if isinstance(value, str) else "number" if isinstance(value, int | float) else ""
