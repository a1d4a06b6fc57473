"""CPU that processes of this machine have used, from /proc: what limits a throughput when they share few cores."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_PARENT, _GROUP, _USED = 1, 2, slice(11, 15)
"""Fields of `stat` after the name: parent, process group; time in user and system mode, and that of reaped children."""


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    parent: int
    group: int
    seconds: float
    words: str


def used_s(*, home: Path, group: int) -> float | None:
    """Seconds of CPU of the embedded servers of a home, with their children, and of a process group until now.

    None where there is no /proc.
    """
    processes = list(_processes())
    if not processes:
        return None
    counted = {one.pid for one in processes if one.group == group or str(home) in one.words}
    while more := {one.pid for one in processes if one.parent in counted} - counted:
        counted |= more
    return sum(one.seconds for one in processes if one.pid in counted and one.pid != os.getpid())


def children(parent: int) -> list[int]:
    """The processes that another one started; none where there is no /proc."""
    return [one.pid for one in _processes() if one.parent == parent]


def _processes() -> Iterator[_Process]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it ended meanwhile
            continue
        ticks = sum(map(int, fields[_USED]))
        yield _Process(int(folder.name), int(fields[_PARENT]), int(fields[_GROUP]), ticks / _TICKS_PER_S, words)
