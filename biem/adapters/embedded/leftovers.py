"""Finds processes that a dead server left running: by their files, never by name, so they provably belong to this home.

A process inherits the lock file of its server and works in its data folder. A process with both belongs to that server
under any name: PostgreSQL's processes change their titles, and a stopped one (by a debugger or a shell) outlives its
postmaster and ends only when it is continued.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROCESSES = Path("/proc")


def leftovers(data: Path, lock: Path) -> list[int]:
    """Other processes that work in `data` and hold `lock`; none if the system does not expose this (macOS)."""
    try:
        folder, file = data.stat(), lock.stat()
    except OSError:
        return []
    return [pid for pid in _pids() if pid != os.getpid() and _works_in(pid, folder) and _holds(pid, file)]


def _pids() -> Iterator[int]:
    with suppress(OSError):
        for entry in _PROCESSES.iterdir():
            if entry.name.isdecimal():
                yield int(entry.name)


def _works_in(pid: int, folder: os.stat_result) -> bool:
    try:
        return os.path.samestat((_PROCESSES / str(pid) / "cwd").stat(), folder)
    except OSError:  # it has ended, or belongs to another user
        return False


def _holds(pid: int, file: os.stat_result) -> bool:
    try:
        for descriptor in (_PROCESSES / str(pid) / "fd").iterdir():
            with suppress(OSError):
                if os.path.samestat(descriptor.stat(), file):
                    return True
    except OSError:
        return False
    return False
