"""A memory as a file: front matter in a fixed order, then its text. The same memory gives the same bytes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from biem.domain.mirror.root import Fields
from biem.domain.node import Node
from biem.domain.text import one_line
from biem.layers.mirror.front import edited, joined, rendered
from biem.layers.mirror.text import MirrorText

KEYS = (
    "id", "type", "scope", "category", "title", "tags", "created_at", "updated_at", "accessed_at", "access_count",
    "importance", "content_hash", "related", "kind", "reason", "status", "expires_at", "revision", "state",
)  # fmt: skip
"""The keys of front matter that are ours, in this order; all others are a person's own."""
TITLE_CHARS = 80
_IN_METADATA = ("title", "category", "related", "front")
_KEY_OF = {"layer": "type"}
_BOM = b"\xef\xbb\xbf"


def fields_of(node: Node) -> dict[str, Any]:
    """What a memory says of `FIELDS`."""
    front = node.metadata.get("front")
    return {
        "text": node.text,
        "title": _string(node.metadata.get("title")),
        "tags": list(node.tags),
        "importance": node.importance,
        "kind": node.kind,
        "category": _string(node.metadata.get("category")),
        "layer": node.layer,
        "reason": node.reason,
        "expires_at": _time(node.expires_at),
        "related": list(node.related),
        "front": dict(front) if isinstance(front, Mapping) else {},
    }


def written_fields(node: Node) -> dict[str, Any]:
    """What a new file of a memory says of `FIELDS`."""
    return {**fields_of(node), "title": title_of(node)}


def title_of(node: Node) -> str:
    """Its title, or the beginning of its text."""
    title = _string(node.metadata.get("title"))
    return title or one_line(node.text.lstrip("# \t\n"), TITLE_CHARS)


def values_of(values: Fields) -> dict[str, Any]:
    """Arguments of a revision: fields that stand in metadata are left to `metadata_of`."""
    found = {name: value for name, value in values.items() if name not in _IN_METADATA}
    if found.get("expires_at") is not None:
        found["expires_at"] = datetime.fromisoformat(found["expires_at"])
    return found


def metadata_of(metadata: Mapping[str, Any], values: Fields) -> dict[str, Any]:
    """Metadata with the fields that stand there; those that are empty are removed."""
    found = dict(metadata)
    for name in _IN_METADATA:
        if name in values:
            if values[name]:
                found[name] = values[name]
            else:
                found.pop(name, None)
    return found


def front_of(node: Node) -> dict[str, Any]:
    """The front matter of a memory."""
    said = fields_of(node)
    return {
        "id": node.id,
        "type": node.layer,
        "scope": "project" if node.scope.project else "global",
        "category": said["category"],
        "title": title_of(node),
        "tags": said["tags"],
        "created_at": _time(node.created_at),
        "updated_at": _time(node.revised_at or node.created_at),
        "accessed_at": _time(node.accessed_at),
        "access_count": node.access_count,
        "importance": said["importance"],
        "content_hash": f"sha256:{node.evidence_ptr}",
        "related": said["related"],
        "kind": node.kind,
        "reason": node.reason,
        "status": node.status if node.status == "archived" else "active",
        "expires_at": said["expires_at"],
        "revision": node.revision,
        **{name: value for name, value in said["front"].items() if name not in KEYS or name == "related"},
    }


def whole(node: Node, more: Fields | None = None) -> bytes:
    """A new file, with `more` keys at the end."""
    return joined(rendered({**front_of(node), **(more or {})}), _body(node.text)).encode()


def changed(text: MirrorText, node: Node, to_file: Fields) -> bytes:
    """A file with some values replaced, and what else follows from the memory; all other bytes are as they were.

    Raises `BrokenFront`.
    """
    front = front_of(node)
    values = {_KEY_OF.get(name, name): front[_KEY_OF.get(name, name)] for name in to_file if name not in _NO_KEYS}
    values |= {name: value for name, value in fields_of(node)["front"].items() if "front" in to_file}
    values |= {name: front[name] for name in _FOLLOWING if name in text.front.values}
    if "id" not in text.front.values or text.id != node.id:
        values = {"id": node.id, **values}
    as_it_was = text.front.body if text.front.present else f"\n{text.front.body}"
    body = _body(node.text) if "text" in to_file else as_it_was
    whole_text = joined(edited(text.front, values), body)
    data = whole_text.replace("\n", text.breaks).encode()
    return _BOM + data if text.mark else data


_NO_KEYS = ("text", "front")
_FOLLOWING = ("updated_at", "accessed_at", "access_count", "content_hash", "status", "revision")
"""Keys that a change of the memory sets again, too."""


def _body(text: str) -> str:
    return f"\n{text}\n"


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat()
