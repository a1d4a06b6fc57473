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


def place_of(fault: Mapping[str, Any]) -> str:
    """Where it is: `body/text`."""
    return "/".join(map(str, fault["loc"]))


def words_of(fault: Mapping[str, Any]) -> str:
    """The fault; never the value, which may be a secret."""
    if fault["type"] == "json_invalid":
        return f"no JSON: {fault.get('ctx', {}).get('error', 'it breaks off')}"
    said: str = _WORDS.get(fault["type"], fault["msg"])
    return said.removeprefix("Value error, ").replace("Input should", "must", 1)
