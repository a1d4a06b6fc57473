"""The names of all keys in Redis or Valkey.

    biem:<kind>[.<format>]:{<scope>}[:<part>]        biem:celery:…  the broker's own

    canvas           memories of tier L1: energies, accesses, vectors
    hot              the newest texts, before they are indexed
    mind             running memory of conversations          mind-readers     processes that keep copies of it
    heading          inertia of conversations                 heading-readers  processes that keep copies of it
    rate             writes of a scope in a minute
    requests         HTTP requests of an API key, whose hashed id stands in the place of the scope

The name includes the format of the value. The first format of a kind has no number; a version that changes a format
increments it, so that no version reads a format it does not know, and versions that run concurrently do not overwrite
each other's values. A new format must also add the earlier names to erasure: the test of versions on one server
searches for erased data under every name. The braces keep a scope's keys in one slot of a Redis Cluster.
"""

from typing import Literal, get_args

# A kind keeps its first name, which older versions know.
Kind = Literal["canvas", "hot", "mind", "mind-readers", "heading", "heading-readers", "rate", "requests"]
EVERYTHING = "biem:*"
"""Matches every key of this program."""
BROKER = "biem:celery:"
"""Prefix of the broker's keys, which may share the Redis server."""

_FORMATS: dict[Kind, int] = dict.fromkeys(get_args(Kind), 1)
_PARTS: dict[Kind, dict[str, str]] = {
    "canvas": {"": "zset", "accessed": "zset", "vectors": "hash", "conversations": "hash", "packed": "string"},
    "hot": {"": "list", "words": "hash"},
    "mind": {"": "hash", "used": "zset"},
    "mind-readers": {"": "set"},
    "heading": {"": "hash", "used": "zset"},
    "heading-readers": {"": "set"},
    "rate": {"": "string"},
    "requests": {"": "string"},
}
"""The parts of each kind with their types, in the order of the adapters' and scripts' arguments."""


def keys_of(kind: Kind, ns: str) -> list[str]:
    """The keys of one kind for one scope; `ns` is the scope's hash."""
    number = _FORMATS[kind]
    stem = f"biem:{kind}{f'.{number}' if number > 1 else ''}:{{{ns}}}"
    return [f"{stem}:{part}" if part else stem for part in _PARTS[kind]]


def types_of(kind: Kind) -> list[str]:
    """The Redis types of these keys, in the same order."""
    return list(_PARTS[kind].values())
