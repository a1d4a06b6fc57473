"""Pairs of messages written by hand, in files.

A line `[innocent: sort]` or `[update: sort]` begins the pairs of a sort. `older => newer`: some days later; `>>`:
within a minute; `older >> assistant: … >> newer`: the assistant answers in between. Lines beginning with `#` are
comments.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import get_args

from benchmarks.lives.grammar import LANGS
from benchmarks.lives.pairs import Label, Pair

_SORT = re.compile(r"\[(\w+)(?:: ?([^\]]+))?\]")
_ANSWER = "assistant: "
_DAYS, _SECONDS = timedelta(days=9), timedelta(seconds=40)


def told(files: Sequence[Path]) -> list[Pair]:
    """The pairs of these files; ValueError names a line that is none."""
    return [pair for file in files for pair in _pairs(file)]


def _pairs(file: Path) -> Iterator[Pair]:
    label, sort = "", ""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if head := _SORT.fullmatch(line.strip()):
            label, sort = head[1], head[2] or "mixed"
            continue
        parts = re.split(r" (=>|>>) ", line.strip())
        answered = len(parts) == 5 and parts[2].startswith(_ANSWER)
        if label not in get_args(Label) or not (len(parts) == 3 or answered):
            raise ValueError(f"{file.name}:{number}: no pair of messages: {line}")
        yield Pair(
            LANGS[1] if re.search("[一-鿿]", parts[0] + parts[-1]) else LANGS[0],
            sort,
            "",
            "update" if label == "update" else "innocent",
            parts[0],
            parts[-1],
            _DAYS if parts[-2] == "=>" else _SECONDS,
            answer=parts[2].removeprefix(_ANSWER) if answered else "",
        )
