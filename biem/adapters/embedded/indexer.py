"""A process beside the kept servers that works for programs which write and leave, such as an import.

    HOME/run/indexer.lock   exclusive: held while it lives; holds its pid
    HOME/log/indexer.log    what it has to say

It ends with `stop`, with the wish that the servers stay up, and with its home; one that was killed is started by the
next `start`.
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
"""How often it looks whether it is still wanted."""
_DETACH = (
    "import os, sys\n"
    "if os.fork() > 0: os._exit(0)\n"  # its parent collects this one, and the indexer belongs to init
    "os.execv(sys.executable, [sys.executable, '-P', '-m', *sys.argv[1:]])\n"
)


def start(home: Path, module: str, settings: bytes) -> None:
    """Run `python -m module HOME LOCK_FD` beside the servers, unless one runs; it reads `settings` from its stdin."""
    place = Home.at(home)
    with place.explained():
        lock = try_lock(_lock(place), exclusive=True)
        if lock is None:
            return
        os.ftruncate(lock, 0)  # the pid of the one before may be another process by now
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
    """The process that runs; None where there is none, or where it has only just begun."""
    place = Home.at(home)
    if not is_locked(_lock(place)):
        return None
    with suppress(OSError, ValueError):
        return int(_lock(place).read_text())
    return None


def stop(home: Path) -> None:
    """End it and wait until it is gone; one that does not leave is killed: what it held is done by the next."""
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
    """Called by the indexer: note its pid under the inherited lock. The answer says whether it is still wanted."""
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
    """Return when it is not wanted any more, or `told(seconds)` says so."""
    while wanted() and not told(_LOOK_S):
        pass


def _lock(place: Home) -> Path:
    return place.run / "indexer.lock"
