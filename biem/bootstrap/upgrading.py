"""Embedded databases come to this version's schema by themselves; what they hold is backed up before (X42)."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from biem.adapters.clock import SystemClock
from biem.adapters.migrations import migrate
from biem.domain.node import AutomaticBackup

_KEPT = 2
"""Backups of this kind that are kept."""
_KEPT_FOR = timedelta(days=30)
"""And for how long: what was erased meanwhile is still in them."""
_BROKEN_OFF = timedelta(days=1)
"""A file that is still not whole by then belongs to no process."""


def upgrade(dsn: str, home: Path) -> list[str]:
    """Apply what is missing, after a backup where an older version wrote something; returns the names applied.

    Raises as `migrate` and `backup` do: without room for a copy, the schema stays as it is.
    """
    applied = migrate(dsn, before=lambda name: _copy(dsn, home / "backups", name))
    automatic_backups(home, SystemClock().now())
    return applied


def automatic_backups(home: Path, now: datetime) -> list[AutomaticBackup]:
    """The copies there are, the oldest first, each with the moment when it is deleted; those that expired go now."""
    made = _made(home, "before-*.biem")
    kept = [path for path in sorted(made, key=lambda path: made[path])[-_KEPT:] if made[path] + _KEPT_FOR > now]
    broken_off = {path for path, at in _made(home, ".before-*.new").items() if at + _BROKEN_OFF <= now}
    for path in (made.keys() - set(kept)) | broken_off:
        path.unlink(missing_ok=True)
    return [AutomaticBackup(str(path), made[path] + _KEPT_FOR) for path in kept]


def delete_automatic_backups(home: Path) -> list[str]:
    """Delete all of them now, also what was broken off; returns their paths."""
    found = sorted(_made(home, "before-*.biem") | _made(home, ".before-*.new"))
    for path in found:
        path.unlink(missing_ok=True)
    return [str(path) for path in found]


def _made(home: Path, pattern: str) -> dict[Path, datetime]:
    """When each of these files was written last."""
    made: dict[Path, datetime] = {}
    for path in (home / "backups").glob(pattern):
        try:
            made[path] = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        except FileNotFoundError:  # another process was faster
            continue
    return made


def _copy(dsn: str, folder: Path, name: str) -> None:
    from biem.adapters.backup import backup  # hardly ever needed, and takes its time to load

    folder.mkdir(mode=0o700, exist_ok=True)
    backup(dsn, folder / f"before-{name}.biem")
