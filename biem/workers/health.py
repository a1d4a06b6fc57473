"""Liveness and readiness of a worker or beat: each touches a file in its loop, and a probe reads it.

    python -m biem.workers.health worker|beat            exit code 0 when alive
    python -m biem.workers.health --ready worker|beat    exit code 0 when it has its broker, too

Cheaper than a request over the broker, and correct when the broker is down: a worker that waits for Redis must not be
killed, because a restarted one would wait, too. A process that waits for the broker keeps touching its file, and writes
into it that it waits (`biem.workers.heartbeat`): alive, and not ready. A process that has not touched it for long is
assumed to hang.
"""

import os
import stat
import sys
import tempfile
import time
from pathlib import Path

from biem.errors import ConfigError

_OLDEST_S = {"worker": 30.0, "beat": 120.0}
"""Maximum age of the file: a worker touches it every five seconds, beat every half minute at least, and a waiting
process every second.
"""
_WAITS = "waits for the broker"
_READY = "--ready"


def heartbeat_of(role: str) -> Path:
    """The file of `role`, in a private folder of this user: others may write to the folder around it."""
    return Path(tempfile.gettempdir()) / f"biem-{os.geteuid()}" / f"{role}.alive"


def begin(role: str) -> None:
    """Discard the state of an earlier process of this role: from now on it is alive after its own first heartbeat.

    Raises `ConfigError` where the folder belongs to another user, or is open to others: its owner could fake a
    heartbeat, or have this process write through a symbolic link.
    """
    folder = heartbeat_of(role).parent
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{folder} cannot be made ({error.strerror}); set TMPDIR to a folder that you own") from error
    if not _is_private(folder):
        raise ConfigError(f"{folder} is not a folder of this user alone; remove it, or set TMPDIR to one that you own")
    heartbeat_of(role).unlink(missing_ok=True)


def beat(role: str) -> None:
    """Record that `role` is alive and has its broker."""
    _say(role, "")


def wait(role: str) -> None:
    """Record that `role` is alive and waits for its broker."""
    _say(role, _WAITS)


def _say(role: str, text: str) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(heartbeat_of(role), flags, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.utime(file.fileno())  # truncating an empty file does not change its time


def _is_private(folder: Path) -> bool:
    """Whether it is a folder, no symbolic link, that only this user may enter."""
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077


def is_alive(role: str, now: float) -> bool:
    """Whether `role` had a heartbeat recently; `now` in seconds since 1970."""
    touched = heartbeat_of(role)
    try:
        return _is_private(touched.parent) and now - touched.lstat().st_mtime < _OLDEST_S[role]
    except FileNotFoundError:
        return False


def is_ready(role: str, now: float) -> bool:
    """Whether `role` is alive and does not wait for its broker."""
    try:
        return is_alive(role, now) and heartbeat_of(role).read_text(encoding="utf-8") != _WAITS
    except FileNotFoundError:
        return False


def main(arguments: list[str]) -> int | str:
    """The command; returns the argument of `sys.exit`."""
    wanted = [word for word in arguments if word != _READY]
    if len(wanted) != 1 or wanted[0] not in _OLDEST_S:
        return f"usage: python -m biem.workers.health [{_READY}] {'|'.join(_OLDEST_S)}"
    (role,) = wanted
    now = time.time()
    if not is_alive(role, now):
        return f"no recent heartbeat of {role}"
    if _READY in arguments and not is_ready(role, now):
        return f"{role} {_WAITS}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
