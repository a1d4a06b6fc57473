"""Whether a worker or beat is alive: each touches a file as long as its loop turns, and a probe looks at its age.

    python -m workers.health worker|beat      exit code 0 when alive

Cheaper than asking over the broker, and true when the broker is down: a worker that waits for Redis must not be killed.
So a worker that has lost the broker says that it waits (`workers.pulse`), and is alive however long that takes. Beat is
taken for dead when it has not sent a wake-up for two minutes; started anew it has lost nothing.
"""

import sys
import tempfile
import time
from pathlib import Path

_OLDEST_S = {"worker": 30.0, "beat": 120.0}
"""A worker touches its file every five seconds; beat at least once a period of its most frequent job."""
_WAITS = "waits for the broker"


def pulse_of(role: str) -> Path:
    """The file that `role` touches."""
    return Path(tempfile.gettempdir()) / f"biem-{role}.alive"


def begin(role: str) -> None:
    """Forget what an earlier process of this role said: from now on it is alive once it has said so itself."""
    pulse_of(role).unlink(missing_ok=True)


def beat(role: str) -> None:
    """Say that `role` is alive."""
    pulse_of(role).write_text("", encoding="utf-8")


def wait(role: str) -> None:
    """Say that `role` is alive and waits for its broker, so it will not be heard of for a while."""
    pulse_of(role).write_text(_WAITS, encoding="utf-8")


def is_alive(role: str, now: float) -> bool:
    """Whether `role` said so lately; `now` in seconds since 1970."""
    try:
        return (
            now - pulse_of(role).stat().st_mtime < _OLDEST_S[role]
            or pulse_of(role).read_text(encoding="utf-8") == _WAITS
        )
    except FileNotFoundError:
        return False


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in _OLDEST_S:
        sys.exit(f"usage: python -m workers.health {'|'.join(_OLDEST_S)}")
    sys.exit(0 if is_alive(sys.argv[1], time.time()) else f"{sys.argv[1]} has not turned its loop lately")
