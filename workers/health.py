"""Whether a worker or beat is alive, and whether it is ready: each touches a file as its loop turns, a probe reads it.

    python -m workers.health worker|beat              exit code 0 when alive
    python -m workers.health --ready worker|beat      exit code 0 when it has its broker, too

Cheaper than asking over the broker, and true when the broker is down: a worker that waits for Redis must not be killed,
as one that is started anew would wait, too. So whoever waits for the broker goes on touching its file, and writes that
it waits (`workers.pulse`): alive, and not ready. Who has not touched it for long hangs, whatever it waited for.
"""

import sys
import tempfile
import time
from pathlib import Path

_OLDEST_S = {"worker": 30.0, "beat": 120.0}
"""A worker touches its file every five seconds, beat every half minute at least; whoever waits, every second."""
_WAITS = "waits for the broker"
_READY = "--ready"


def pulse_of(role: str) -> Path:
    """The file that `role` touches."""
    return Path(tempfile.gettempdir()) / f"biem-{role}.alive"


def begin(role: str) -> None:
    """Forget what an earlier process of this role said: from now on it is alive once it has said so itself."""
    pulse_of(role).unlink(missing_ok=True)


def beat(role: str) -> None:
    """Say that `role` is alive and has what it needs."""
    pulse_of(role).write_text("", encoding="utf-8")


def wait(role: str) -> None:
    """Say that `role` is alive and waits for its broker."""
    pulse_of(role).write_text(_WAITS, encoding="utf-8")


def is_alive(role: str, now: float) -> bool:
    """Whether `role` said so lately; `now` in seconds since 1970."""
    try:
        return now - pulse_of(role).stat().st_mtime < _OLDEST_S[role]
    except FileNotFoundError:
        return False


def is_ready(role: str, now: float) -> bool:
    """Whether `role` is alive and does not wait for its broker."""
    try:
        return is_alive(role, now) and pulse_of(role).read_text(encoding="utf-8") != _WAITS
    except FileNotFoundError:
        return False


def main(arguments: list[str]) -> int | str:
    """The command: what `sys.exit` takes."""
    wanted = [word for word in arguments if word != _READY]
    if len(wanted) != 1 or wanted[0] not in _OLDEST_S:
        return f"usage: python -m workers.health [{_READY}] {'|'.join(_OLDEST_S)}"
    (role,) = wanted
    now = time.time()
    if not is_alive(role, now):
        return f"{role} has not turned its loop lately"
    if _READY in arguments and not is_ready(role, now):
        return f"{role} {_WAITS}"
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
