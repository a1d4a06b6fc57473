"""Where the servers are: the configured ones or, where none are, the embedded ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from biem.adapters import embedded
from biem.adapters.celery import broker_url
from biem.config import Settings


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the three servers are. URLs may hold passwords, so its repr shows none."""

    postgres_dsn: str = field(repr=False)
    redis_url: str = field(repr=False)
    milvus_uri: str = field(repr=False)
    milvus_token: str = field(repr=False)
    embedded: bool
    milvus_ca: str = ""
    """File with the certificate of the authority that signed Milvus'; empty: those that this machine trusts."""


@contextmanager
def servers(settings: Settings) -> Iterator[Servers]:
    """The configured servers or, where none are, the embedded ones: shared, and left again at the end."""
    dsn, milvus = settings.postgres_url(), settings.milvus_url()
    token = settings.milvus_token.get_secret_value()
    ca = str(settings.milvus_ca.expanduser()) if settings.milvus_ca else ""
    if dsn is not None and settings.redis_url is not None and milvus is not None:
        yield Servers(dsn, settings.redis_url.get_secret_value(), milvus, token, embedded=False, milvus_ca=ca)
        return
    with embedded.EmbeddedStack(home_of(settings)) as urls:
        yield Servers(
            dsn or urls.postgres_dsn,
            settings.redis_url.get_secret_value() if settings.redis_url else urls.redis_url,
            milvus or urls.milvus_uri,
            token if milvus else "",
            embedded=dsn is None,
            milvus_ca=ca if milvus else "",
        )


def broker_of(settings: Settings, where: Servers) -> str:
    """The URL of Celery's broker: the configured one, else the Redis."""
    return broker_url(settings.broker_url.get_secret_value() if settings.broker_url else where.redis_url)


def home_of(settings: Settings) -> Path:
    """The folder of the embedded servers and caches, absolute."""
    return settings.home.expanduser().absolute()
