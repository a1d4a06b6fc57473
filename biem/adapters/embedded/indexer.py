"""A separate process next to kept servers that indexes for short-lived programs, such as an import.

    HOME/run/indexer.lock   exclusive: held while it runs; holds its pid
    HOME/log/indexer.log    its log

It ends with `stop`, when the servers are no longer kept, and when its home is removed; after a kill the next `start`
starts it again.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from biem.adapters.embedded.home import Home, is_locked, open_log, try_lock

_STOP_S, _POLL_S = 10.0, 0.05
_LOOK_S = 0.5
"""Interval of checks whether it should still run."""
_DETACH = (
    "import os, sys\n"
    "if os.fork() > 0: os._exit(0)\n"  # the parent reaps this process, and init adopts the indexer
    "os.execv(sys.executable, [sys.executable, '-P', '-m', *sys.argv[1:]])\n"
)


def start(home: Path, module: str, settings: bytes) -> None:
    """Run `python -m module HOME LOCK_FD`, unless one runs; it reads `settings` from its stdin."""
    place = Home.at(home)
    with place.explained():
        lock = try_lock(_lock(place), exclusive=True)
        if lock is None:
            return
        os.ftruncate(lock, 0)  # the previous pid may belong to another process by now
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PG")}  # noqa: TID251
        environment["PYTHONPATH"] = os.pathsep.join(str(Path(entry).resolve()) for entry in sys.path)
        log = open_log(place.log("indexer"))
        try:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _DETACH, module, str(place.root), str(lock)],
                stdin=subprocess.PIPE, stdout=log, stderr=log, pass_fds=(lock,),
                cwd=place.root, env=environment, start_new_session=True,
            )  # fmt: skip
            process.communicate(settings)
        finally:
            os.close(log)
            os.close(lock)


def pid(home: Path) -> int | None:
    """The pid of the running process; None if there is none, or it has only just started."""
    place = Home.at(home)
    if not is_locked(_lock(place)):
        return None
    with suppress(OSError, ValueError):
        return int(_lock(place).read_text())
    return None


def stop(home: Path) -> None:
    """Stop it and wait until it has ended; after a timeout it is killed, and the next one repeats its jobs."""
    place = Home.at(home)
    deadline, sign = time.monotonic() + _STOP_S, signal.SIGTERM
    told: int | None = None
    while is_locked(_lock(place)):
        found = pid(home)
        if time.monotonic() > deadline:
            sign, told = signal.SIGKILL, None
        if found is not None and found != told:
            with suppress(ProcessLookupError):
                os.kill(found, sign)
            told = found
        time.sleep(_POLL_S)


def claim(home: Path, lock: int) -> Callable[[], bool]:
    """Called by the indexer: write its pid to the inherited lock file. The result: whether to continue."""
    place = Home.at(home)
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode(), 0)

    def wanted() -> bool:
        try:
            same = os.path.samestat(_lock(place).stat(), os.fstat(lock))
        except OSError:  # the home was removed
            return False
        return same and place.keep.exists() and not place.stopped.exists()

    return wanted


def wait(wanted: Callable[[], bool], told: Callable[[float], bool]) -> None:
    """Return when `wanted()` is false, or when `told(seconds)` returns true."""
    while wanted() and not told(_LOOK_S):
        pass


def _lock(place: Home) -> Path:
    return place.run / "indexer.lock"
