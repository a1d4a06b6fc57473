"""Parses a mirrored file into the fields of a memory."""

import re
from datetime import UTC, datetime
from typing import Any

from biem.domain.node import KINDS, LAYERS, is_id
from biem.domain.note import SkippedNote
from biem.layers.mirror.front import BrokenFront, FrontValue, parse
from biem.layers.mirror.render import KEYS
from biem.layers.mirror.text import MirrorText
from biem.notes.decode import decode

_BOM = b"\xef\xbb\xbf"
_CATEGORY = re.compile("[a-z_]{0,32}")
_OURS, _THEIRS = "<<<<<<< ", ">>>>>>> "
"""Around the two sides of a merge that Git left undecided."""
_WORDS = re.compile(r"[,，]")


def read(path: str, data: bytes) -> MirrorText:
    """The fields of a file's bytes. It never raises: a file that cannot be read says why."""
    mark = data.startswith(_BOM)
    text, breaks = decoded(path, data.removeprefix(_BOM))
    if isinstance(text, SkippedNote):
        return MirrorText(problem=text.reason, line=1)
    if line := _undecided(text):
        return MirrorText(problem="Git left both sides of a merge here: decide for one", line=line)
    try:
        front = parse(text)
        body = front.body.removeprefix("\n") if front.present else front.body
        fields: dict[str, Any] = {"text": body.removesuffix("\n")}
        fields |= {name: _READ[name](value) for name, value in front.values.items() if name in _READ}
        related = _ids(front.values.get("related"))
        fields |= {} if related is None else {"related": related}
    except BrokenFront as error:
        return MirrorText(problem=str(error), line=error.line)
    except _Wrong as error:
        return MirrorText(problem=str(error), line=_line(text, error.name))
    if not fields["text"].strip():
        return MirrorText(problem="it has no text", line=1)
    if "type" in fields:
        fields["layer"] = fields.pop("type")
    ours = KEYS if "related" in fields else [name for name in KEYS if name != "related"]
    extra = {name: value.value for name, value in front.values.items() if name not in ours}
    named = front.values.get("id")
    created = front.values.get("created_at")
    return MirrorText(
        fields={**fields, "front": extra},
        id=str(named.plain) if named is not None and is_id(str(named.plain)) else None,
        at=None if created is None else _moment(created),
        front=front,
        breaks=breaks,
        mark=mark,
    )


def _undecided(text: str) -> int:
    """The line where Git left both sides of a merge; 0 where it did not."""
    begun = 0
    if _OURS in text:
        for number, line in enumerate(text.split("\n"), 1):
            if line.startswith(_OURS):
                begun = number
            elif begun and line.startswith(_THEIRS):
                return begun
    return 0


def decoded(path: str, data: bytes) -> tuple[str | SkippedNote, str]:
    """The text with `\\n` as line break, and the line breaks of the file.

    Where the file mixes them, those of its body belong to the text.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError:
        found = decode(path, data, max_bytes=len(data))
        return (found if isinstance(found, SkippedNote) else found.text), "\n"
    if "\x00" in text:
        return SkippedNote(path, "unreadable", "it has a NUL character: it is no text"), "\n"
    if "\r\n" in text and text.count("\r\n") == text.count("\n"):
        return text.replace("\r\n", "\n"), "\r\n"
    return text, "\n"


class _Wrong(Exception):
    """A value that cannot be used."""

    def __init__(self, name: str, wanted: str) -> None:
        super().__init__(f"{name} must be {wanted}")
        self.name = name


def _string(name: str) -> Any:
    def read_one(value: FrontValue) -> str:
        if isinstance(value.value, list | dict):
            raise _Wrong(name, "one line")
        return "" if value.value is None else str(value.plain)

    return read_one


def _choice(name: str, choices: tuple[str, ...]) -> Any:
    def read_one(value: FrontValue) -> str:
        if value.plain not in choices:
            raise _Wrong(name, f"one of {', '.join(choices)}")
        return str(value.plain)

    return read_one


def _category(value: FrontValue) -> str:
    said = "" if value.value is None else value.plain
    if not isinstance(said, str) or not _CATEGORY.fullmatch(said):
        raise _Wrong("category", "a name of at most 32 lower-case letters or _")
    return said


def _tags(value: FrontValue) -> list[str]:
    plain = value.plain
    if value.value is None:
        return []
    if isinstance(plain, str):
        plain = _WORDS.split(plain)
    if not isinstance(plain, list) or not all(isinstance(tag, str) for tag in plain):
        raise _Wrong("tags", "a list of words")
    return list(dict.fromkeys(tag.strip() if isinstance(value.plain, str) else tag for tag in plain if tag.strip()))


def _ids(value: FrontValue | None) -> list[str] | None:
    """The ids of related memories; None for any other value, such as a link of an editor, which is a person's own."""
    if value is None:
        return None
    plain = [] if value.value is None else value.plain
    if not isinstance(plain, list) or not all(isinstance(one, str) and is_id(one) for one in plain):
        return None
    return list(dict.fromkeys(plain))


def _importance(value: FrontValue) -> float:
    try:
        number = float(value.plain)
    except (TypeError, ValueError):
        number = 0.0
    if not 1 <= number <= 5:
        raise _Wrong("importance", "a number from 1 to 5")
    return number


def _expiry(value: FrontValue) -> str | None:
    if value.value is None:
        return None
    moment = _moment(value)
    if moment is None:
        raise _Wrong("expires_at", "a time such as 2026-03-14T15:09:26+00:00, or empty")
    return moment.isoformat()


def _moment(value: FrontValue) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(value.plain))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _line(text: str, name: str) -> int:
    """The line of a key."""
    lines = text.split("\n")
    return next((number for number, line in enumerate(lines, 1) if line.lstrip("\"' ").startswith(name)), 1)


_READ = {
    "title": _string("title"),
    "reason": _string("reason"),
    "kind": _choice("kind", KINDS),
    "type": _choice("type", LAYERS),
    "category": _category,
    "tags": _tags,
    "importance": _importance,
    "expires_at": _expiry,
}
