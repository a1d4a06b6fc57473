"""Reads exported chat transcripts: one JSON object per line, streamed.

A line is either one message, `{"text"|"content", "speaker"|"name"|"role", "at"|"timestamp", "conversation"|"session",
"ref"|"id"|"turn_id", "kind", "tags", …}`, or one whole conversation, `{"id", "turns"|"messages": [message, …]}`.

Every message gets a `ref` that depends only on the file's content, so importing again, or after a kill at any moment,
writes nothing twice. A turn's id is unique only inside its conversation: its ref is `conversation/id`.
"""

import gzip
import hashlib
import json
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, cast

from biem.domain.node import KINDS
from biem.errors import InvalidInput
from biem.importers.record import BadLine, LeftOut, Record
from biem.importers.times import Times, parse_time

_TEXT = ("text", "content")
_SPEAKER = ("speaker", "name", "role")
_TIME = ("at", "timestamp")
_CONVERSATION = ("conversation", "session")
_REF = ("ref", "id", "turn_id")
_TURNS = ("turns", "messages")
_PASSED_ON = ("kind", "tags", "reason", "importance", "source", "layer", "metadata")
FORMAT = "jsonl"


@dataclass(slots=True)
class TranscriptReader:
    """Reads one transcript. `bytes_read` of `size` (0 for stdin) is its progress."""

    source: str
    per_conversation: bool = False
    """Each conversation gets its own scope: the turns' ids are unique there and stay unchanged."""
    size: int = 0
    bytes_read: int = 0
    _times: dict[str, Times] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The conversation of messages without one: the file's name without suffixes; empty for stdin."""
        return "" if self.source == "-" else Path(self.source).name.removesuffix(".gz").removesuffix(".jsonl")

    def read(self) -> Iterator[Record | LeftOut | BadLine]:
        """Messages and bad lines in the file's order; blank lines are skipped."""
        try:
            with self._opened() as (raw, lines):
                for found in self.read_lines(lines):
                    self.bytes_read = raw.tell() if self.size else self.bytes_read
                    yield found
                self.bytes_read = raw.tell() if self.size else self.bytes_read
        except OSError as error:
            raise InvalidInput(f"cannot read {self.source}: {error.strerror or error}") from error

    def read_lines(self, lines: Iterable[bytes]) -> Iterator[Record | LeftOut | BadLine]:
        """As `read`, from lines that are open already."""
        number = 0
        try:
            for number, line in enumerate(lines, start=1):
                self.bytes_read += 0 if self.size else len(line)
                if line.strip():
                    yield from self._line(number, line)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            yield BadLine(self.source, number + 1, 1, f"the compressed file is damaged or cut off ({error})")

    @contextmanager
    def _opened(self) -> Iterator[tuple[BinaryIO, Iterable[bytes]]]:
        """The raw stream, for its position, and its lines; compression is detected by content, not by name."""
        with ExitStack() as stack:
            if self.source == "-":
                raw = sys.stdin.buffer
            else:
                raw = stack.enter_context(Path(self.source).open("rb"))
                self.size = Path(self.source).stat().st_size
            packed = cast(BufferedReader, raw).peek(2)[:2] == b"\x1f\x8b"
            yield raw, stack.enter_context(gzip.GzipFile(fileobj=raw)) if packed else raw

    def _line(self, number: int, line: bytes) -> Iterator[Record | LeftOut | BadLine]:
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            value = json.loads(text)
        except UnicodeDecodeError as error:
            yield self._bad(number, error.start + 1, f"not UTF-8 (byte 0x{line[error.start]:02X}); convert the file")
            return
        except json.JSONDecodeError as error:
            yield self._bad(number, error.colno, f"{error.msg}; expected one JSON object on one line")
            return
        except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
            yield self._bad(number, 1, f"not readable as JSON ({error}); expected a message or a conversation")
            return
        if not isinstance(value, dict):
            hint = "; put each element on a separate line (jq -c '.[]')" if isinstance(value, list) else ""
            yield self._bad(number, 1, f"expected a JSON object, not {_type(value)}{hint}")
            return
        turns = next((key for key in _TURNS if key in value), None)
        try:
            if turns is None:
                yield self._entry(value, number, None, self.name)
            else:
                yield from self._conversation(value, turns, number)
        except _Unfit as error:
            yield self._bad(number, text.find(f'"{error.key}"') + 1 or 1, error.reason)

    def _conversation(self, value: dict[str, Any], key: str, number: int) -> Iterator[Record | LeftOut | BadLine]:
        turns = value[key]
        if not isinstance(turns, list):
            raise _Unfit(key, f'"{key}" must be a list of messages, not {_type(turns)}')
        name = _string(value, ("id", *_CONVERSATION)) or (f"{self.name}#{number}" if self.name else f"#{number}")
        for index, turn in enumerate(turns):
            try:
                if not isinstance(turn, dict):
                    raise _Unfit(key, f"expected a message, not {_type(turn)}")
                yield self._entry(turn, number, index, name)
            except _Unfit as error:
                yield self._bad(number, 1, f"turn {index + 1}: {error.reason}")

    def _entry(self, value: dict[str, Any], number: int, index: int | None, outer: str) -> Record | LeftOut:
        reason = _without_text(value)
        return LeftOut(reason) if reason else self._message(value, number, index, outer)

    def _message(self, value: dict[str, Any], number: int, index: int | None, outer: str) -> Record:
        """`index` is the turn's position in its conversation, None for a line that is one message."""
        details: dict[str, Any] = {key: value[key] for key in _PASSED_ON if value.get(key) is not None}
        text, speaker, kind = _text(value), _string(value, _SPEAKER), details.pop("kind", "event")
        extra: dict[str, Any] = {}
        if kind not in KINDS:  # an unknown kind of another program is kept as metadata
            extra["kind"], kind = kind, "event"
        conversation = outer
        if own := _string(value, _CONVERSATION):
            if index is None:
                conversation = own
            else:
                extra["session"] = own
        raw_at, at = None, None
        for key in _TIME:
            if raw_at is None and value.get(key) is not None:
                raw_at = value[key]
                at = self._in_order(conversation, raw_at, key)
        if ref := _string(value, _REF):
            if index is not None and not self.per_conversation:
                ref, extra["turn_id"] = f"{conversation}/{ref}", ref
        else:
            place = number if index is None else index
            content = json.dumps([conversation, place, str(raw_at), speaker, text])
            ref = "import:" + hashlib.sha256(content.encode()).hexdigest()[:40]
        if extra:
            details["metadata"] = extra | _metadata(details)
        return Record(
            text=text,
            ref=ref,
            format=FORMAT,
            file=self.source,
            line=number,
            speaker=speaker,
            conversation=conversation,
            at=at,
            kind=kind,
            details=details,
            divisible=False,  # a file that was written for biem is repaired by those who wrote it
        )

    def _in_order(self, conversation: str, value: object, key: str) -> datetime:
        try:
            return self._times.setdefault(conversation, Times()).in_order(parse_time(value, f'"{key}"'))
        except (InvalidInput, OverflowError) as error:
            raise _Unfit(key, str(error)) from None

    def _bad(self, line: int, column: int, reason: str) -> BadLine:
        return BadLine(self.source, line, column, reason)


class _Unfit(Exception):
    """Valid JSON that is not a message; `key` is the location of the error."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(reason)
        self.key = key
        self.reason = reason


def _without_text(value: dict[str, Any]) -> str:
    """Why a message of a chat API rightly has no text; empty for all others."""
    content = value.get("content")
    if value.get("text") or value.get("caption") or (isinstance(content, str) and content.strip()):
        return ""
    parts = content if isinstance(content, list) else []
    if _spoken(parts):
        return ""
    if value.get("tool_calls") or value.get("function_call"):
        return "tool call"
    return "without text" if any(isinstance(part, dict) and part.get("type") for part in parts) else ""


def _text(value: dict[str, Any]) -> str:
    key = next((key for key in _TEXT if key in value), None)
    caption = value.get("caption")
    if key is None and not caption:
        raise _Unfit("", 'expected "text" (or "content"), or a conversation with "turns"')
    text = value[key] if key else ""
    if isinstance(text, list):
        text = "\n".join(_spoken(text))
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise _Unfit(key or "", f'"{key}" must be a string, not {_type(text)}')
    if isinstance(caption, str) and caption.strip():
        text = f"{text} [{caption}]".strip()
    if not text.strip():
        raise _Unfit(key or "", f'"{key}" is empty; there is nothing to remember')
    return text


def _spoken(parts: list[Any]) -> list[str]:
    """The texts of content parts of chat APIs, which are objects or plain strings; images have none."""
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return [text for text in texts if isinstance(text, str)]


def _string(value: dict[str, Any], keys: tuple[str, ...]) -> str:
    """The value of the first of `keys` that is present, as a string; numbers are accepted."""
    for key in keys:
        found = value.get(key)
        if found is None or found == "":
            continue
        if isinstance(found, bool) or not isinstance(found, str | int):
            raise _Unfit(key, f'"{key}" must be a string, not {_type(found)}')
        return str(found)
    return ""


def _metadata(item: Mapping[str, Any]) -> dict[str, Any]:
    metadata = item.get("metadata", {})
    if not isinstance(metadata, dict):
        raise _Unfit("metadata", f'"metadata" must be an object, not {_type(metadata)}')
    return metadata


def _type(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
