"""Values of foreign JSON, of which nothing can be taken for granted."""

from collections.abc import Mapping
from typing import Any

from biem.domain.text import storable

_LONGEST = 1_000
"""Characters of a value in the metadata."""


def string(value: object) -> str:
    """A string or number as a string that a database can store; empty for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    return storable(str(value))


def mapping(value: object) -> Mapping[str, Any]:
    """A JSON object; empty for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: object) -> list[Any]:
    """A JSON list; empty for anything else."""
    return value if isinstance(value, list) else []


def strings(value: object) -> tuple[str, ...]:
    """The strings of a list that are not blank, once each."""
    return tuple(dict.fromkeys(text.strip() for text in map(string, items(value)) if text.strip()))


def known(**values: object) -> dict[str, Any]:
    """Metadata: those of the values that are there. Strings are cut at 1,000 characters."""
    short = {name: string(value)[:_LONGEST] if isinstance(value, str) else value for name, value in values.items()}
    return {name: value for name, value in short.items() if value not in (None, "", [], (), {})}
