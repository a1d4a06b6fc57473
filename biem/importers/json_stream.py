"""JSON documents of any size, one element of their list at a time."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

_DEEPEST = 200
"""Levels of nesting. Exports have a dozen; a parser's memory grows with them."""
_OPENS = ("start_map", "start_array")
_CLOSES = ("end_map", "end_array")
_LOOKED_AT = 20
"""Objects whose keys decide what a document is."""
_MOST_EVENTS = 200_000
_LOOKED_INTO = (["map"], ["list", "map"], ["map", "results", "map"])
"""Where these objects are."""


_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)
"""An escape: a pair of surrogates, a lone one (the group), or any other."""
_UNFINISHED = re.compile(
    rb"(?<!\\)(?:\\\\)*((?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?)\Z", re.DOTALL
)
"""An escape, or the first half of a pair, that the next bytes may go on with."""
_RUN = 4_096


class Readable(Protocol):
    """What a parser needs of a stream."""

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes; none at the end."""


class BrokenJson(Exception):
    """The document ends early or is not JSON; the message says where, and why."""


@dataclass(slots=True)
class JsonShape:
    """What the beginning of a document looks like."""

    top: str = ""
    """list, object or value; empty without JSON."""
    keys: set[str] = field(default_factory=set)
    """Keys of the first objects: of the list's elements, of the lines, or of those under `results`."""
    types: set[str] = field(default_factory=set)
    """What their key `type` says."""
    outer: set[str] = field(default_factory=set)
    """Keys of the top-level object, or of the objects on each line."""
    broken: bool = False
    """It stops being JSON after a while, or at once."""


def elements(stream: Readable, key: str = "") -> Iterator[Any]:
    """The elements of the list that the document is, or that it has under a top-level `key`; without a key, a document
    that is no list is the one element.

    Raises `BrokenJson` where it breaks off; the elements before are yielded.
    """
    import ijson
    from ijson.common import ObjectBuilder

    counted = _Input(stream)
    number, depth, level = 0, 0, -1
    wanted, named = True, False
    builder: Any = None
    try:
        for event, value in ijson.basic_parse(counted, use_float=True):
            depth -= event in _CLOSES
            if level < 0:
                level = 1 if event == "start_array" else 2 if key and event == "start_map" else 0
            elif level == 2 and depth == 1:
                if event == "map_key":
                    named = value == key
                wanted = event == "start_array" and named
            if wanted and depth >= level:
                builder = builder or ObjectBuilder()
                builder.event(event, value)
                if depth == level and event not in _OPENS:
                    number += 1
                    yield builder.value
                    builder = None
            depth += event in _OPENS
            if depth > _DEEPEST:
                raise BrokenJson(f"after element {number}: nested more than {_DEEPEST} levels deep")
    except ijson.JSONError as error:
        raise BrokenJson(f"after element {number}, before byte {counted.count:,}: {_reason(error)}") from None


def shape_of(stream: Readable) -> JsonShape:
    """Read as much of a document, or of lines of documents, as tells what it is."""
    import ijson

    shape = JsonShape()
    path: list[str] = []
    key, objects = "", 0
    try:
        parsed = ijson.basic_parse(_Input(stream), use_float=True, multiple_values=True)
        for number, (event, value) in enumerate(parsed):
            if not path:
                shape.top = shape.top or {"start_array": "list", "start_map": "object"}.get(event, "value")
            if event == "map_key":
                key = value
                if len(path) == 1:
                    shape.outer.add(key)
                if path in _LOOKED_INTO:
                    shape.keys.add(key)
            elif event == "string" and key == "type" and path in _LOOKED_INTO:
                shape.types.add(value)
            if event in _CLOSES:
                objects += path in _LOOKED_INTO
                path.pop()
            elif event in _OPENS:
                path.append("map" if event == "start_map" else key if path == ["map"] else "list")
            if objects >= _LOOKED_AT or number >= _MOST_EVENTS or len(path) > _DEEPEST:
                break
    except (ijson.JSONError, UnicodeDecodeError):
        shape.broken = True
    return shape


def _reason(error: Exception) -> str:
    said = str(error).strip().splitlines()
    return said[0] if said else "not JSON"


class _Input:
    """What a parser reads. Escapes of lone surrogates become U+FFFD: the parser would fail on them, or take the
    character after them for their other half.
    """

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._held = b""
        self.count = 0

    def read(self, size: int = -1) -> bytes:
        if size == 0:
            return b""
        while True:
            data = self._stream.read(size)
            self.count += len(data)
            text, self._held = self._held + data, b""
            if data and b"\\" in text[-_RUN:]:
                end = _UNFINISHED.search(text, max(0, len(text) - _RUN))
                text, self._held = (text[: end.start(1)], text[end.start(1) :]) if end else (text, b"")
            if text or not data:
                return _ESCAPE.sub(_whole, text) if b"\\u" in text else text


def _whole(escape: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if escape[1] else escape[0]
