"""Conditions on the value of an item: `{"status": "active", "score": {"$gte": 3}}`, all of which must hold.

A scalar must be equal, and of the same JSON type; null also stands for a missing key. A mapping without operators must
be contained, and a list is compared element by element. `$eq` and `$ne` compare whole values; `$gt`, `$gte`, `$lt` and
`$lte` compare a number with a number, or a string with a string by code points, and hold for nothing else.
"""

import json
import operator
from collections.abc import Callable, Mapping
from typing import Any

from biem.domain.text import require_clean
from biem.errors import InvalidInput

_ORDERED: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS = ("$eq", "$ne", *_ORDERED)


def parse_filter(where: object) -> dict[str, Any]:
    """A copy as JSON has it; raises `InvalidInput`."""
    if where is None:
        return {}
    if not isinstance(where, Mapping):
        raise InvalidInput(f'where must be a mapping such as {{"status": "active"}}, not {type(where).__name__}')
    try:
        decoded: dict[str, Any] = json.loads(json.dumps(dict(where), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"where cannot be compared with JSON values: {error}") from None
    for key, wanted in decoded.items():
        require_clean(key, "a key of where")
        _check(key, wanted)
    return decoded


def matches(where: Mapping[str, Any], value: Mapping[str, Any]) -> bool:
    """Whether a value meets all conditions."""
    return all(_meets(value.get(key), wanted) for key, wanted in where.items())


def contained(where: Mapping[str, Any]) -> dict[str, Any]:
    """What every value that meets the conditions contains, so that most others need not be read."""
    found: dict[str, Any] = {}
    for key, wanted in where.items():
        same = wanted["$eq"] if isinstance(wanted, dict) and wanted.keys() == {"$eq"} else wanted
        if isinstance(same, dict):
            inner = {} if _is_operation(same) else contained(same)
            if inner:
                found[key] = inner
        elif same is not None and not isinstance(same, list):
            found[key] = same
    return found


def _check(key: str, wanted: Any) -> None:
    if isinstance(wanted, str):
        require_clean(wanted, f"the value of {key!r}")
    elif isinstance(wanted, list):
        for one in wanted:
            _check(key, one)
    elif isinstance(wanted, dict):
        for name, inner in wanted.items():
            if _is_operation(wanted) and name not in OPERATORS:
                raise InvalidInput(f"operator {name!r:.60} of {key!r} is unknown; known are {', '.join(OPERATORS)}")
            _check(key, inner)


def _is_operation(wanted: Mapping[str, Any]) -> bool:
    return any(name.startswith("$") for name in wanted)


def _meets(value: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        if _is_operation(wanted):
            return all(_holds(name, value, operand) for name, operand in wanted.items())
        return isinstance(value, dict) and matches(wanted, value)
    if isinstance(wanted, list):
        return (
            isinstance(value, list)
            and len(value) == len(wanted)
            and all(_meets(one, other) for one, other in zip(value, wanted, strict=True))
        )
    return _same(value, wanted)


def _holds(name: str, value: Any, operand: Any) -> bool:
    if name in _ORDERED:
        return _kind(value) == _kind(operand) in ("number", "string") and _ORDERED[name](value, operand)
    return _same(value, operand) == (name == "$eq")


def _same(one: Any, other: Any) -> bool:
    """Equality of JSON values: `1` is `1.0`, but not `true`."""
    if _kind(one) != _kind(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, dict) else "array" if isinstance(value, list) else "null"
