"""Addresses of the servers, configured or embedded."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from biem.adapters import embedded
from biem.adapters.addresses import require_broker, require_milvus, require_postgres, require_redis
from biem.adapters.jobs.celery import broker_url
from biem.config import Settings


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
