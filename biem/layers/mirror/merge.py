"""A merge of three: what file and memory said when they agreed, what the file says now, and what the memory has now."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from biem.domain.mirror.root import FIELDS, Fields

_ABSENT: Fields = {"related": []}
"""Of a memory whose base was written before files had this field."""


@dataclass(frozen=True, slots=True)
class Merged:
    """The changes of either side. `lost`: fields that both changed; the file's value goes into the memory,
    whose own stays in its revisions.
    """

    to_memory: Mapping[str, Any]
    to_file: Mapping[str, Any]
    lost: tuple[str, ...] = ()


def merge(base: Mapping[str, Fields], file: Fields, memory: Fields) -> Merged:
    """Merge field by field. `base` has what each said: `file`, which may have left fields out, and `memory`.

    A file that leaves a field out does not say that it is empty.
    """
    said, had = base["file"], {**_ABSENT, **base["memory"]}
    to_memory: dict[str, Any] = {}
    to_file: dict[str, Any] = {}
    lost: list[str] = []
    for name in FIELDS:
        by_file = name in file and not equal(name, file[name], said.get(name, had[name]))
        by_memory = not equal(name, memory[name], had[name])
        agree = name in file and equal(name, file[name], memory[name])
        if agree or not (by_file or by_memory):
            continue
        if not by_file:
            to_file[name] = memory[name]
            continue
        to_memory[name] = file[name]
        if by_memory:
            lost.append(name)
    return Merged(to_memory, to_file, tuple(lost))


def equal(name: str, one: Any, other: Any) -> bool:
    """Whether two values of a field say the same."""
    return same_text(one, other) if name == "text" else bool(one == other)


def same_text(one: str, other: str) -> bool:
    """Whether two texts differ in line breaks only, which editors and Git change unasked."""
    return one == other or _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").rstrip("\n")
