"""One item: a JSON document under a namespace, which is a path of labels, and a key."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from biem.domain.text import require_clean, require_json, require_string
from biem.errors import InvalidInput

Namespace = tuple[str, ...]

ANY_LABEL = "*"
"""Stands for any one label where namespaces are listed."""
_MOST_PATH_BYTES = 1_000
_MOST_KEY_BYTES = 1_000
_MOST_VALUE_BYTES = 4_194_304
LONGEST_TTL = timedelta(days=36_500)


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item as it is now. `score` (0 to 1) is set by a search with a query, where the item was ranked."""

    namespace: Namespace
    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    memory_id: str | None = None
    """The memory by which a query finds it; None for one that no query finds."""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class ItemDraft:
    """An item to put: see `Items.put`."""

    namespace: Sequence[str]
    key: str
    value: Mapping[str, Any]
    text: str | None = None
    ttl: timedelta | None = None
    origin: str = "assistant"


def require_namespace(labels: object, what: str = "namespace") -> Namespace:
    """The labels of a namespace; raises `InvalidInput`."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Sequence):
        raise InvalidInput(f'{what} must be a list of labels such as ("notes", "ann"), not {type(labels).__name__}')
    for label in labels:
        require_string(label, f"a label of {what}")
        if not label or "." in label:
            raise InvalidInput(f"a label of {what} must not be empty and has no '.', unlike {label!r:.60}")
    if len(".".join(labels).encode()) > _MOST_PATH_BYTES:
        raise InvalidInput(f"{what} has more than {_MOST_PATH_BYTES:,} bytes")
    return tuple(labels)


def require_key(key: object) -> str:
    """The key of an item; raises `InvalidInput`."""
    require_string(key, "the key of an item")
    if len(str(key).encode()) > _MOST_KEY_BYTES:
        raise InvalidInput(f"the key of an item has more than {_MOST_KEY_BYTES:,} bytes")
    return str(key)


def encoded(value: object) -> str:
    """The JSON text of a value; raises `InvalidInput` unless it is a mapping that JSON can represent."""
    if not isinstance(value, Mapping):
        raise InvalidInput(f"the value of an item must be a mapping, not {type(value).__name__}")
    try:
        text = json.dumps(dict(value), allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"the value of an item cannot be stored as JSON: {error}") from None
    require_json(value, "the value of an item")
    if "\\u0000" in text and _has_nul(value):
        raise InvalidInput("a string in the value of an item has a NUL character; remove it, no database can store it")
    require_clean(text, "the value of an item")
    if len(text.encode()) > _MOST_VALUE_BYTES:
        raise InvalidInput(f"the value of an item has more than {_MOST_VALUE_BYTES:,} bytes as JSON")
    return text


def require_ttl(ttl: object) -> float | None:
    """Seconds to live, None for ever; raises `InvalidInput`."""
    if ttl is None:
        return None
    if not isinstance(ttl, timedelta) or not timedelta(0) < ttl <= LONGEST_TTL:
        raise InvalidInput(f"ttl must be a timedelta above 0, of at most a century, not {ttl!r}")
    return ttl.total_seconds()


def rendered(value: Mapping[str, Any]) -> str:
    """A value as text for people and models: its one string, or a line for each leaf with the way to it."""
    leaves = list(_leaves(value, ""))
    if len(leaves) == 1 and isinstance(leaves[0][1], str):
        return leaves[0][1].strip()
    return "\n".join(f"{way}: {leaf}" for way, leaf in leaves)


def _leaves(value: Any, way: str) -> list[tuple[str, Any]]:
    """Strings that say something, numbers and truth values, in order."""
    if isinstance(value, Mapping):
        return [leaf for key, inner in value.items() for leaf in _leaves(inner, f"{way}.{key}" if way else str(key))]
    if isinstance(value, list | tuple):
        return [leaf for inner in value for leaf in _leaves(inner, way)]
    return [] if value is None or (isinstance(value, str) and not value.strip()) else [(way, value)]


def _has_nul(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any("\0" in str(key) or _has_nul(inner) for key, inner in value.items())
    if isinstance(value, list | tuple):
        return any(map(_has_nul, value))
    return isinstance(value, str) and "\0" in value
