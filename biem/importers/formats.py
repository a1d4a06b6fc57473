"""The formats that can be imported, recognised by content."""

import re
from typing import BinaryIO

from biem.domain.transfer import is_export
from biem.errors import InvalidInput
from biem.importers.json_stream import JsonShape, shape_of

FORMATS = {
    "jsonl": 'transcripts, one JSON object a line: a message with "text" or "content", or a conversation with "turns"',
    "chatgpt": "ChatGPT export: conversations.json or the whole zip",
    "claude": "Claude export: conversations.json, memories.json or the whole zip",
    "claude-code": "Claude Code sessions: *.jsonl or a folder of them",
    "mem0": "mem0 get_all: a JSON list or an object with results",
    "mcp-memory": "memory.jsonl of the MCP reference server: entities and relations",
    "markdown": "Markdown notes: Basic Memory, Obsidian; a file or a folder",
}
"""Each with a description. A reader for each is in `biem.importers.source`."""

_HEAD = 1 << 16
_MESSAGE = {"text", "content", "caption", "turns", "messages"}
_SESSION = {"sessionId", "leafUuid", "parentUuid"}
_SESSION_TYPES = {"file-history-snapshot", "queue-operation"}
_CLAUDE = ({"uuid", "chat_messages"}, {"conversations_memory"}, {"uuid", "prompt_template"}, {"uuid", "full_name"})
_NOTE = re.compile(r"^(?:#{1,6} \S|\s*[-*] \[[^\]\n]+\] \S)|\[\[[^\]\n]+\]\]", re.MULTILINE)
_UUID = rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_EXPORTED = re.compile(rb'---\nscope: "[^\n]*"\ntitle: "[^\n]*"\nids:\n  - ' + _UUID)
"""As notes they would lose the date and the speaker of each memory."""
_MIRRORED = re.compile(rb'---\nid: "' + _UUID + rb'"\n(?:[a-z_]+: [^\n]*\n){4,20}?state: "')
_NOTE_NAMES = (".md", ".markdown")
_SHOWN_KEYS = 8


def require_format(name: str | None) -> None:
    """Reject names that are no format."""
    if name is not None and (not isinstance(name, str) or name not in FORMATS):
        raise InvalidInput(f"format {name!r} is unknown; choose one of {', '.join(FORMATS)}")


def detect(stream: BinaryIO, name: str, *, alone: bool) -> tuple[str | None, str]:
    """The format of a UTF-8 stream, None where it is unknown, and a description of the content.

    Markdown has no mark: among the files of a folder, only those that are named like notes are.
    """
    head = stream.read(_HEAD)
    start = head.lstrip()
    named = name.lower().endswith(_NOTE_NAMES)
    if not start:
        return ("markdown" if named else "jsonl" if alone else None), "an empty file"
    if is_export(start.partition(b"\n")[0]):
        return None, "an export of biem, which is taken back alone (biem import FILE, Memory.import_, POST /v1/imports)"
    if _EXPORTED.match(start):
        return None, "a Markdown export of biem, which is to be read only; take back what `biem export` writes as jsonl"
    if _MIRRORED.match(start):
        return None, "a memory in a Markdown file of biem; `biem mirror import FOLDER` takes such folders back"
    if start[:1] in (b"{", b"["):
        shape = shape_of(_Joined(head, stream))
        if (found := _of_shape(shape)) or not _NOTE.match(start.decode(errors="replace")):
            return found, _seen(shape)
    if b"\0" in head:
        return None, f"binary data that begins with {head[:8].hex(' ')}"
    text = head.decode(errors="replace")
    marked = alone and not start.startswith(b"<") and (head.startswith(b"---\n") or _NOTE.search(text) is not None)
    return ("markdown" if named or marked else None), f"text that begins with {text.strip()[:40]!r}"


def unknown(name: str, seen: str) -> str:
    """The error for content of no known format."""
    known = "; ".join(f"{name} ({what})" for name, what in FORMATS.items())
    return f"{name}: unknown content: {seen}. Known formats: {known}. Name one with format=NAME"


def _of_shape(shape: JsonShape) -> str | None:
    keys = shape.keys
    if "mapping" in keys:
        return "chatgpt"
    if any(keys >= marks for marks in _CLAUDE):
        return "claude"
    if shape.outer & {"results"} and (not keys - shape.outer or "memory" in keys):
        return "mem0"
    if shape.top == "list":
        return "mem0" if {"id", "memory"} <= keys else None
    if shape.types & {"entity", "relation"} and keys & {"entityType", "relationType"}:
        return "mcp-memory"
    if keys & _SESSION or shape.types & _SESSION_TYPES:
        return "claude-code"
    # A first line that is no JSON, of a file that was meant as lines: their reader says where it is wrong.
    return "jsonl" if shape.top == "object" and (keys & _MESSAGE or shape.broken) else None


def _seen(shape: JsonShape) -> str:
    keys = sorted(shape.keys)
    named = ", ".join(keys[:_SHOWN_KEYS]) + (", …" if len(keys) > _SHOWN_KEYS else "")
    if shape.top == "list" and shape.keys & _MESSAGE:
        named += "; put each message on a separate line (jq -c '.[]')"
    what = "a JSON list" if shape.top == "list" else "JSON objects" if shape.top == "object" else "JSON"
    return f"{what} with the keys {named}" if keys else f"{what} without objects"


class _Joined:
    """A stream whose beginning was read already."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        head, self._head = self._head, b""
        return head or self._stream.read(size)
