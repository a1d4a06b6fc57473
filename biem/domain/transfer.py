"""Memories on their way out of a scope, into one, or from one to another: the format of the file, and the reports."""

import hashlib
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

FORMAT = "biem-export"
"""The value of `format` in the first line of a file."""
VERSION = 3
"""Higher with every change of the lines; a file is read by its version and by all later ones."""
FORMATS = ("jsonl", "markdown")
"""Formats of an export; only JSON lines can be imported again."""
ON_CONFLICT = ("error", "skip")
"""What an import does about a memory that differs from one of the same id or ref in the scope."""
Section = Literal[
    "memory",
    "revision",
    "link",
    "derivation",
    "conflict",
    "fact",
    "refusal",
    "note",
    "feedback",
    "session",
    "message",
    "item",
]
"""The type of a line. The lines of a file are in this order, so that what they refer to comes first."""
SECTIONS: tuple[Section, ...] = get_args(Section)
Row = dict[str, Any]
"""The fields of one line; times are ISO 8601 in UTC."""

_TIME_BITS = 48
_V7 = 7


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Result of an export. `lines` counts lines by type; `path` is empty for a stream."""

    format: str
    path: str
    memories: int
    lines: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TransferReport:
    """Result of the import of an export. `lines` counts the lines of the file by type."""

    memories: int
    created: int
    already_there: int
    skipped: int
    """Memories that differ from one of the same id or ref in the scope, with `on_conflict="skip"`."""
    equal_facts: tuple[tuple[str, str], ...]
    """Pairs of ids: a created memory, and the memory of the same fact that the scope had already; at most a hundred.
    The next run of the background jobs merges them."""
    lines: Mapping[str, int]
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class MoveReport:
    """Result of a move between scopes."""

    id: str
    source: str
    """Scope, as its names."""
    target: str
    memories: int
    already_there: int = 0
    """Of the ids given, those that the target has: an earlier call moved them."""
    moved: Mapping[str, int] = field(default_factory=dict)
    """Rows that went along: revisions, links, conflicts, derivations, facts."""
    cut: Mapping[str, int] = field(default_factory=dict)
    """Rows between a moved memory and one that stayed, which were deleted."""
    equal_facts: tuple[tuple[str, str], ...] = ()
    """Pairs of ids: a moved memory, and the memory of the same fact that the target had already; at most a hundred."""


def is_export(first_line: bytes) -> bool:
    """Whether a file that begins like this was written by `Memory.export`."""
    return first_line.lstrip(b"\xef\xbb\xbf \t")[:1] == b"{" and f'"{FORMAT}"'.encode() in first_line


def id_in(ns: str, old: str) -> str:
    """The id in scope `ns` of an object with the id `old` in another scope: deterministic, with the time of `old`."""
    digest = hashlib.sha256(f"{ns}:{old}".encode()).digest()
    rest = int.from_bytes(digest[:10])
    value = uuid.UUID(old).int >> (128 - _TIME_BITS) << (128 - _TIME_BITS) | rest
    value = value & ~(0xF << 76) | _V7 << 76
    return str(uuid.UUID(int=value & ~(0x3 << 62) | 0x2 << 62))
