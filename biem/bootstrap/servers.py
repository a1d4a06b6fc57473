"""Addresses of the servers, and the upgrade of embedded ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from biem.adapters import embedded
from biem.adapters.addresses import require_broker, require_milvus, require_postgres, require_redis
from biem.adapters.clock import SystemClock
from biem.adapters.jobs.celery import broker_url
from biem.adapters.postgres.migrations import migrate
from biem.config import Settings
from biem.domain.node import AutomaticBackup


@dataclass(frozen=True, slots=True)
class Servers:
    """Addresses of the three servers. URLs may contain passwords, so its repr shows none."""

    postgres_dsn: str = field(repr=False)
    redis_url: str = field(repr=False)
    milvus_uri: str = field(repr=False)
    milvus_token: str = field(repr=False)
    embedded: bool
    milvus_ca: str = ""
    """File with the CA certificate of Milvus; empty: the CAs that this machine trusts."""


@contextmanager
def servers(settings: Settings) -> Iterator[Servers]:
    """The configured servers or, if none are, the embedded ones, shared, and left at the end."""
    if _all_are_configured(settings):
        yield _places(settings, None)
        return
    with embedded.EmbeddedStack(home_of(settings)) as urls:
        yield _places(settings, urls)


def standing(settings: Settings) -> Servers | None:
    """The same servers, without starting any; None if embedded ones are needed and do not run."""
    if _all_are_configured(settings):
        return _places(settings, None)
    found = embedded.status(home_of(settings))
    return _places(settings, found.urls) if found.ready else None


def _all_are_configured(settings: Settings) -> bool:
    return None not in (settings.postgres_url(), settings.redis_url, settings.milvus_url())


def _places(settings: Settings, urls: embedded.Urls | None) -> Servers:
    """The configured servers, with embedded ones for those not configured.

    Raises `ConfigError` for an address that cannot be read, before a client quotes it.
    """
    dsn, milvus = settings.postgres_url(), settings.milvus_url()
    redis = settings.redis_url.get_secret_value() if settings.redis_url else None
    if dsn:
        require_postgres(dsn)
    if redis:
        require_redis(redis)
    if milvus:
        require_milvus(milvus)
    return Servers(
        dsn or (urls.postgres_dsn if urls else ""),
        redis or (urls.redis_url if urls else ""),
        milvus or (urls.milvus_uri if urls else ""),
        settings.milvus_token.get_secret_value() if milvus else "",
        embedded=dsn is None,
        milvus_ca=str(settings.milvus_ca.expanduser()) if settings.milvus_ca and milvus else "",
    )


def broker_of(settings: Settings, where: Servers) -> str:
    """The URL of Celery's broker: the configured one, else the Redis."""
    if settings.broker_url is None:
        return broker_url(where.redis_url)
    return require_broker(broker_url(settings.broker_url.get_secret_value()))


def home_of(settings: Settings) -> Path:
    """The folder of the embedded servers and caches, absolute."""
    return settings.home.expanduser().absolute()


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
