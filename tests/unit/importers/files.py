"""Small exports of our own making, in the shapes of other systems."""

import json
from pathlib import Path
from typing import Any

from biem.importers.record import BadLine, LeftOut, Record
from biem.importers.source import ImportSource

START = 1_700_000_000.0


def said(name: str, role: str, *parts: object, at: float | None = START, **more: object) -> dict[str, Any]:
    """A message as ChatGPT writes it."""
    content = {"content_type": "text", "parts": list(parts)}
    return {"id": name, "author": {"role": role}, "create_time": at, "content": content} | more


def node(name: str, parent: str | None, message: object = None) -> dict[str, Any]:
    return {"id": name, "parent": parent, "message": message, "children": []}


def chat(*nodes: dict[str, Any], current: str | None, name: str = "c1", **more: object) -> dict[str, Any]:
    """A conversation as ChatGPT writes it."""
    tree = {one["id"]: one for one in nodes}
    told = {"title": "Lisbon", "create_time": START, "mapping": tree, "current_node": current, "conversation_id": name}
    return told | more


def long_chat(name: str, turns: int, words: str = "turn") -> dict[str, Any]:
    """A conversation of that many turns, a minute apart."""
    nodes = [node("root", None)]
    for number in range(turns):
        role = ("user", "assistant")[number % 2]
        message = said(f"m{number}", role, f"{words} {number} of {name}", at=START + 60 * number)
        nodes.append(node(f"m{number}", nodes[-1]["id"], message))
    return chat(*nodes, current=nodes[-1]["id"], name=name)


def write(path: Path, *values: object) -> str:
    """One value: a JSON document; several: one a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(json.dumps(value) for value in values) + "\n", encoding="utf-8")
    return str(path)


def found(*sources: str, format: str | None = None) -> tuple[list[Record], dict[str, int], list[BadLine]]:  # noqa: A002
    """The records, the rest out by reason, and the errors."""
    records: list[Record] = []
    left: dict[str, int] = {}
    bad: list[BadLine] = []
    for entry in ImportSource(sources, format).entries():
        if isinstance(entry, Record):
            records.append(entry)
        elif isinstance(entry, LeftOut):
            left[entry.reason] = left.get(entry.reason, 0) + entry.count
        else:
            bad.append(entry)
    return records, left, bad


def records(*sources: str) -> list[Record]:
    """The records of files in which nothing is wrong."""
    read, _, bad = found(*sources)
    assert bad == []
    return read
