"""Applies missing migrations after an automatic backup; lists and deletes such backups."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from biem.adapters.clock import SystemClock
from biem.adapters.postgres.migrations import migrate
from biem.domain.node import AutomaticBackup

_KEPT = 2
"""Backups of this kind that are kept."""
_KEPT_FOR = timedelta(days=30)
"""How long a backup is kept: it still contains memories erased since."""
_BROKEN_OFF = timedelta(days=1)
"""Age of an unfinished file from which no process is writing it."""


def upgrade(dsn: str, home: Path) -> list[str]:
    """Apply missing migrations, after a backup if an older version was in use; returns the names applied.

    Raises as `migrate` and `backup` do: without room for a copy, the schema stays as it is.
    """
    applied = migrate(dsn, before=lambda name: _copy(dsn, home / "backups", name))
    automatic_backups(home, SystemClock().now())
    return applied


def automatic_backups(home: Path, now: datetime) -> list[AutomaticBackup]:
    """Existing backups, oldest first, each with its expiry; deletes expired ones."""
    made = _made(home, "before-*.biem")
    kept = [path for path in sorted(made, key=lambda path: made[path])[-_KEPT:] if made[path] + _KEPT_FOR > now]
    broken_off = {path for path, at in _made(home, ".before-*.new").items() if at + _BROKEN_OFF <= now}
    for path in (made.keys() - set(kept)) | broken_off:
        path.unlink(missing_ok=True)
    return [AutomaticBackup(str(path), made[path] + _KEPT_FOR) for path in kept]


def delete_automatic_backups(home: Path) -> list[str]:
    """Delete all of them now, unfinished ones too; returns their paths."""
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
    from biem.adapters.postgres.backup import backup  # rarely needed, and slow to import

    folder.mkdir(mode=0o700, exist_ok=True)
    backup(dsn, folder / f"before-{name}.biem")
