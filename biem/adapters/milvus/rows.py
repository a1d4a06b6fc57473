"""A memory as a row of Milvus, and filters on such rows.

A filter expression contains only hashes and integers, never a caller's text, so nothing can be read as syntax.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import isfinite
from typing import Any

from biem.domain.node import is_id
from biem.domain.scope import Scope
from biem.domain.text import cut_bytes
from biem.ports import Entry, Filter

FILTERED = ("id", "kind", "speaker", "conversation", "tags", "at")
"""The fields that filters use."""
_LONGEST_LEXEMES = 65_000
"""Bytes; Milvus stores at most 65,535 of a text."""


def hashed(name: str) -> str:
    """Sixteen hexadecimal digits for a name of any length and alphabet."""
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def fitting(lexemes: str) -> str:
    """As many index terms as fit into a row or a query."""
    return cut_bytes(lexemes, _LONGEST_LEXEMES)


def row(entry: Entry) -> dict[str, Any]:
    """The values of the collection's fields, without those that the server derives."""
    return {
        "id": entry.id,
        "ns": entry.scope.ns,
        "kind": entry.kind,
        "speaker": hashed(entry.speaker),
        "conversation": hashed(entry.conversation),
        "tags": " ".join(hashed(tag) for tag in entry.tags),
        "at": microseconds(entry.at),
        "lexemes": fitting(entry.lexemes),
        "dense": entry.vector,
    }


def sound(hits: Iterable[Any]) -> list[Any]:
    """The hits of a search without spoilt rows."""
    return [hit for hit in hits if is_sound(hit["id"], hit["distance"])]


def is_sound(key: Any, distance: Any) -> bool:
    """Whether a row is not spoilt: it has an id that a memory or a chunk can have, and a distance."""
    return is_id(key) and isfinite(distance)


def meets(found: Mapping[str, Any], where: Filter) -> bool:
    """Whether a row with its fields `FILTERED` meets the conditions, with the semantics of `expression`."""
    return (
        (not where.kinds or found["kind"] in where.kinds)
        and (not where.speakers or found["speaker"] in set(map(hashed, where.speakers)))
        and (not where.conversations or found["conversation"] in set(map(hashed, where.conversations)))
        and set(map(hashed, where.tags)) <= set(found["tags"].split())
        and (not where.not_conversations or found["conversation"] not in set(map(hashed, where.not_conversations)))
        and found["id"] not in where.not_ids
        and (where.since is None or found["at"] >= microseconds(where.since))
        and (where.until is None or found["at"] < microseconds(where.until))
    )


def expression(scopes: Sequence[Scope], where: Filter) -> str:
    """The filter expression for rows of these scopes that meet the conditions."""
    parts = [one_of("ns", [scope.ns for scope in scopes])]
    if where.kinds:
        parts.append(one_of("kind", where.kinds))
    if where.speakers:
        parts.append(one_of("speaker", [hashed(name) for name in where.speakers]))
    if where.conversations:
        parts.append(one_of("conversation", [hashed(name) for name in where.conversations]))
    if where.not_conversations:
        parts.append(_none_of("conversation", [hashed(name) for name in where.not_conversations]))
    if where.not_ids:
        parts.append(_none_of("id", where.not_ids))
    parts += [f'tags like "%{hashed(tag)}%"' for tag in where.tags]
    if where.since is not None:
        parts.append(f"at >= {microseconds(where.since)}")
    if where.until is not None:
        parts.append(f"at < {microseconds(where.until)}")
    return " and ".join(parts)


def one_of(field: str, values: Sequence[str]) -> str:
    """The condition that a field has one of these values, which are hashes or names of ours."""
    if len(values) == 1:
        return f'{field} == "{values[0]}"'
    return f"{field} in [" + ", ".join(f'"{value}"' for value in values) + "]"


def _none_of(field: str, values: Sequence[str]) -> str:
    return f"{field} not in [" + ", ".join(f'"{value}"' for value in values) + "]"


def microseconds(at: datetime) -> int:
    """A time as rows have it: since 1970."""
    return int(at.timestamp() * 1_000_000)
