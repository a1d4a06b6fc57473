"""Checks of single values of a file that anybody may have written: each returns the value to store, or raises
`InvalidInput`.
"""

import json
import math
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from biem.domain.node import parse_id, require_time
from biem.domain.text import require_json, require_string
from biem.errors import InvalidInput

Check = Callable[[Any, str], Any]
"""Called with a value and the name of its field."""

_FAR_FUTURE_DAYS = 3_000_000
"""A time may be any that a datetime can represent: it is ahead of nothing."""
MOST_COUNTED = 2**31 - 1
_MOST_LISTED = 10_000


def flag(value: Any, name: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise InvalidInput(f"{name} must be true or false, not {value!r:.60}")
    return value


def whole(least: int, most: int = MOST_COUNTED) -> Check:
    """A whole number in a range."""

    def check(value: Any, name: str) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise InvalidInput(f"{name} must be a whole number from {least} to {most}, not {value!r:.60}")
        return value

    return check


def number(least: float, most: float) -> Check:
    """A finite number in a range."""

    def check(value: Any, name: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise InvalidInput(f"{name} must be a number from {least} to {most}, not {value!r:.60}")
        return float(value)

    return check


def finite(value: Any, name: str) -> float:
    """Any number but NaN and the infinities."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInput(f"{name} must be a finite number, not {value!r:.60}")
    return float(value)


def words(most: int) -> Check:
    """A string of at most `most` characters, without those that no store accepts."""

    def check(value: Any, name: str) -> str:
        require_string(value, name)
        if len(value) > most:
            raise InvalidInput(f"{name} has {len(value):,} characters; at most {most:,} are allowed")
        return str(value)

    return check


def one_of(*known: str) -> Check:
    """One of these strings."""

    def check(value: Any, name: str) -> str:
        if not isinstance(value, str) or value not in known:
            raise InvalidInput(f"{name} {value!r:.60} is unknown; it is one of {', '.join(known)}")
        return value

    return check


def identity(value: Any, name: str) -> str:
    """An id in its canonical form."""
    try:
        return parse_id(value)
    except InvalidInput:
        raise InvalidInput(f"{name} must be an id, not {value!r:.60}") from None


def time(value: Any, name: str) -> str:
    """An instant with its offset from UTC, in ISO 8601; returned in UTC."""
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise InvalidInput(f"{name} must be a time such as 2026-05-01T12:00:00+00:00, not {value!r:.60}") from None
    if moment.tzinfo is None:
        raise InvalidInput(f"{name} ({value}) has no offset from UTC; write it as {value}+00:00")
    return require_time(moment, name, moment, _FAR_FUTURE_DAYS).isoformat()


def listed(check: Check) -> Check:
    """A list of such values."""

    def check_all(value: Any, name: str) -> list[Any]:
        if not isinstance(value, list) or len(value) > _MOST_LISTED:
            raise InvalidInput(f"{name} must be a list of at most {_MOST_LISTED:,} values")
        return [check(each, f"{name}[{place}]") for place, each in enumerate(value)]

    return check_all


def maybe(check: Check) -> Check:
    """Such a value, or null."""
    return lambda value, name: None if value is None else check(value, name)


def anything(value: Any, name: str) -> Any:  # noqa: ARG001 - the signature of a check
    """A value that another check reads."""
    return value


def mapping(most_bytes: int) -> Check:
    """An object of JSON values, without characters that no store accepts."""

    def check(value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InvalidInput(f"{name} must be an object, not {type(value).__name__}")
        require_json(value, name)
        _require_clean(value, name)
        size = len(json.dumps(value, ensure_ascii=False).encode())
        if size > most_bytes:
            raise InvalidInput(f"{name} has {size:,} bytes as JSON; at most {most_bytes:,} are allowed")
        return value

    return check


def _require_clean(value: Any, name: str) -> None:
    waiting: list[Any] = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            require_string(each, name)
        elif isinstance(each, dict):
            waiting += [*each, *each.values()]
        elif isinstance(each, list):
            waiting += each


def fields(specified: dict[str, Check], given: Any, what: str, known: Sequence[str] = ()) -> dict[str, Any]:
    """All fields of an object, checked; raises `InvalidInput` for one too few or too many."""
    if not isinstance(given, dict):
        raise InvalidInput(f"{what} must be an object, not {type(given).__name__}")
    for name in given:
        if name not in specified and name not in known:
            raise InvalidInput(f"{what} has the unknown field {name!r:.60}")
    for name in specified:
        if name not in given:
            raise InvalidInput(f"{what} has no {name}")
    return {name: check(given[name], name) for name, check in specified.items()}
