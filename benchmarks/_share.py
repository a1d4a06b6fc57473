"""Hold processes to a share of a core each, by a control group of Linux: as if each had a slower machine of its own.

What several processes gain on few cores says more of the cores than of the software. Held to a share, they leave cores
for the servers they work with, and what holds them back then is each other: locks, transactions, one server of a kind.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from biem.errors import ConfigError

_ROOT = Path("/sys/fs/cgroup")
_PERIOD_US = 10_000
"""Short, so that no holder of a lock stands still for long."""


@contextmanager
def held(pids: Sequence[int], share: float) -> Iterator[None]:
    """Each process has at most `share` (above 0) of one core until the end of the block.

    Raises `ConfigError` where this system has no such groups, or does not let us make one.
    """
    old = _ROOT / "cpu"
    base = old if old.is_dir() else _ROOT
    made = [base / f"biem-bench-{os.getpid()}-{pid}" for pid in pids]
    try:
        try:
            for group, pid in zip(made, pids, strict=True):
                _hold(group, pid, share)
        except OSError as error:
            raise ConfigError(
                f"no control group for a share of a core: {error}; leave --share out, or be root"
            ) from error
        yield
    finally:
        for group, pid in zip(made, pids, strict=True):
            with suppress(OSError):  # it may have ended
                (base / "cgroup.procs").write_text(str(pid))
            with suppress(OSError):
                group.rmdir()


def _hold(group: Path, pid: int, share: float) -> None:
    group.mkdir()
    quota = str(max(1_000, round(share * _PERIOD_US)))
    if (group / "cpu.max").exists():
        (group / "cpu.max").write_text(f"{quota} {_PERIOD_US}")
    else:  # the first version of control groups
        (group / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(quota)
    (group / "cgroup.procs").write_text(str(pid))
