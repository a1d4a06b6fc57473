"""Embedded databases come to this version's schema by themselves; what they hold is backed up before (X42)."""

from pathlib import Path

from biem.adapters.migrations import migrate

_KEPT = 2
"""Backups of this kind that are kept."""


def upgrade(dsn: str, home: Path) -> list[str]:
    """Apply what is missing, after a backup where an older version wrote something; returns the names applied.

    Raises as `migrate` and `backup` do: without room for a copy, the schema stays as it is.
    """
    return migrate(dsn, before=lambda name: _copy(dsn, home / "backups", name))


def _copy(dsn: str, folder: Path, name: str) -> None:
    from biem.adapters.backup import backup  # hardly ever needed, and takes its time to load

    folder.mkdir(mode=0o700, exist_ok=True)
    backup(dsn, folder / f"before-{name}.biem")
    for old in sorted(folder.glob("before-*.biem"), key=lambda path: path.stat().st_mtime)[:-_KEPT]:
        old.unlink(missing_ok=True)
