"""Faults that pydantic finds in arguments, in words for the one who sent them."""

from collections.abc import Mapping
from typing import Any

_TIME = "must be a time in ISO 8601, such as 2026-05-04T09:30:00Z"
_WORDS = {
    "datetime_parsing": _TIME,
    "datetime_from_date_parsing": _TIME,
    "missing": "is missing",
    "string_type": "must be a string",
    "string_unicode": "must be a string",
    "list_type": "must be a list",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "extra_forbidden": "there is no such field",
    "model_attributes_type": "must be a JSON object, with Content-Type: application/json",
    "model_type": "must be a JSON object",
    "dict_type": "must be a JSON object",
}


_UNKNOWN: Any = object()


def place_of(fault: Mapping[str, Any], sent: Mapping[str, Any] = _UNKNOWN) -> str:
    """Where it is, as `body.items[0].text`.

    pydantic also names the form that it took a value for, which is none of its fields: with what was `sent`, by its
    parts such as `body`, these names are left out.
    """
    if fault["type"] == "json_invalid":  # a number of a character follows, which the words have
        return str(fault["loc"][0])
    said, here, last = "", sent, len(fault["loc"]) - 1
    for number, part in enumerate(fault["loc"]):
        is_known = here is not _UNKNOWN and _is_in(here, part)
        is_field = is_known or here is _UNKNOWN or number == 0 or (number == last and fault["type"] == "missing")
        if not is_field:
            continue
        here = here[part] if is_known else _UNKNOWN
        said += f"[{part}]" if isinstance(part, int) else f".{part}" if said else str(part)
    return said


def _is_in(value: object, part: object) -> bool:
    """Whether a value has this field, or this place of a list."""
    if isinstance(value, list):
        return isinstance(part, int) and part < len(value)
    return isinstance(value, Mapping) and part in value


def words_of(fault: Mapping[str, Any]) -> str:
    """The fault; never the value, which may be a secret."""
    if fault["type"] == "json_invalid":
        place = fault["loc"][-1]
        where = f", at character {place + 1}" if isinstance(place, int) else ""
        return f"no JSON: {fault.get('ctx', {}).get('error', 'it breaks off')}{where}"
    said: str = _WORDS.get(fault["type"], fault["msg"])
    return said.removeprefix("Value error, ").replace("Input should", "must", 1)
