"""What a dead server left running: found by what it holds, never by a name, and only where it is provably of this home.

A process inherits the lock file of its server and works in the folder of its data. One that has both belongs to that
server, whatever it calls itself: PostgreSQL's processes change their titles, and one that was frozen (a debugger, a
stopped shell job) outlives its postmaster and ends by itself only when it goes on.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROCESSES = Path("/proc")


def leftovers(data: Path, lock: Path) -> list[int]:
    """Processes that work in `data` and hold `lock`, without this one; none where the system does not tell (macOS)."""
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
    except OSError:  # it has ended, or is another user's
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
