"""Values that all readers yield: records to remember, omissions with their reason, and unreadable lines."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One text of another system, ready to be remembered.

    `ref` depends only on what the file says, so that importing again stores nothing twice. `format` is the name of the
    format that it was read from. `file`, `line` (from 1; 0: not a format of lines) and `place` say where it stands.
    """

    text: str
    ref: str
    format: str
    file: str
    line: int = 0
    place: str = ""
    speaker: str = ""
    conversation: str = ""
    at: datetime | None = None
    kind: str = "event"
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)
    """More arguments of `Memory.remember`, not checked, from files written for it."""
    divisible: bool = True
    """A text that is too long is cut into parts; otherwise it is refused."""

    @property
    def item(self) -> dict[str, Any]:
        """The arguments of `Memory.remember`."""
        named = {"text": self.text, "speaker": self.speaker, "conversation": self.conversation, "kind": self.kind}
        item = {**self.details, **named, "ref": self.ref}
        if self.at is not None:
            item["at"] = self.at
        if self.tags:
            item["tags"] = self.tags
        if self.metadata:
            item["metadata"] = self.metadata
        return item


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Parts of a file that are deliberately not imported, such as tool results; `reason` is one of a few words."""

    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line, a turn or a file that cannot be imported. Lines and columns count from 1; 0: not a format of lines."""

    file: str
    line: int
    column: int
    reason: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.reason}" if self.line else f"{self.file}: {self.reason}"


Entry = Record | LeftOut | BadLine


def content_ref(source: str, *parts: object) -> str:
    """A ref of at most 60 characters, made from a format's name and JSON values."""
    return f"{source}:{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:40]}"
