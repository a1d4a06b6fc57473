"""The names of everything that Redis or Valkey keeps for this program, in one place.

    biem:<kind>[.<format>]:{<scope>}[:<part>]        biem:celery:…  the broker's own

The name says the format of the value. The first format of a kind has no number; a version that writes a kind otherwise
raises its format, so that no version reads what it does not know, and versions that run beside each other for a while
do not overwrite each other's. Whoever raises a format also removes the earlier names when something is erased: the test
of versions on one server looks for what was erased under every name. The braces keep a scope's keys in one slot of a
Redis Cluster.
"""

from typing import Literal, get_args

Kind = Literal["canvas", "hot", "mind", "mind-readers", "heading", "heading-readers", "rate"]
EVERYTHING = "biem:*"
"""Matches every key of this program."""
BROKER = "biem:celery:"
"""Before every key of the broker, which may share its Redis with the canvas and with others."""

_FORMATS: dict[Kind, int] = dict.fromkeys(get_args(Kind), 1)
_PARTS: dict[Kind, dict[str, str]] = {
    "canvas": {"": "zset", "accessed": "zset", "vectors": "hash", "conversations": "hash", "packed": "string"},
    "hot": {"": "list", "words": "hash"},
    "mind": {"": "hash", "used": "zset"},
    "mind-readers": {"": "set"},
    "heading": {"": "hash", "used": "zset"},
    "heading-readers": {"": "set"},
    "rate": {"": "string"},
}
"""The parts of each kind with their types, in the order in which adapters and scripts take them."""


def keys_of(kind: Kind, ns: str) -> list[str]:
    """The keys of one kind for one scope; `ns` is the scope's hash."""
    number = _FORMATS[kind]
    stem = f"biem:{kind}{f'.{number}' if number > 1 else ''}:{{{ns}}}"
    return [f"{stem}:{part}" if part else stem for part in _PARTS[kind]]


def types_of(kind: Kind) -> list[str]:
    """The Redis types of these keys, in the same order."""
    return list(_PARTS[kind].values())
