"""Named SQL: the .sql files of this package hold blocks headed `-- name: purpose`; Python assembles no SQL."""

import re
from functools import cache
from importlib.resources import files
from typing import LiteralString

_HEAD = re.compile(r"^-- ([a-z_]+): .*$", re.MULTILINE)
_PARTS = ("listed", "where", "terms", "core", "node", "written", "said")
"""Blocks that others name in braces; each may name those after it."""
_PLACE = re.compile(r"%(?:\((\w+)\))?(s)|%%")


@cache
def queries() -> dict[str, LiteralString]:
    """All blocks of all files by name, with the parts that they name in braces."""
    blocks: dict[str, LiteralString] = {}
    for file in sorted(files(__package__).iterdir(), key=lambda entry: entry.name):
        if not file.name.endswith(".sql"):
            continue
        parts = _HEAD.split(file.read_text(encoding="utf-8"))
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            if name in blocks:
                raise ValueError(f"SQL block {name} of {file.name} is there twice")
            blocks[name] = body.strip().removesuffix(";")
    for part in _PARTS:
        text = blocks.pop(part)
        blocks = {name: body.replace(f"{{{part}}}", text) for name, body in blocks.items()}
    return blocks


@cache
def numbered(name: str) -> tuple[bytes, tuple[str, ...]]:
    """A block with PostgreSQL's own `$1`, `$2`, … and the names that stand for them, in that order; of a block whose
    parameters have no names, their places.

    psycopg translates a text of more than 4 KB at each call, which takes longer than sending it.
    """
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        if not found[2]:
            return "%"
        return f"${names.setdefault(found[1] or str(len(names)), len(names) + 1)}"

    return _PLACE.sub(number, queries()[name]).encode(), tuple(names)


@cache
def migrations() -> tuple[tuple[int, str, LiteralString], ...]:
    """Number, name and text of each migration, in order."""
    folder = files(__package__).joinpath("migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((int(name[:4]), name.removesuffix(".sql"), folder.joinpath(name).read_text("utf-8")) for name in names)
