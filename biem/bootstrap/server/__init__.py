"""Opens what the HTTP server needs: a memory, its keys, the counters of requests, and health."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from biem.adapters.clock import SystemClock
from biem.adapters.postgres.access import PostgresKeys
from biem.adapters.postgres.database import small_pool
from biem.bootstrap import build_embedder, connect
from biem.bootstrap.health import health
from biem.bootstrap.servers import home_of, servers
from biem.bootstrap.upgrade import upgrade
from biem.config import Settings
from biem.domain.diagnosis import Health
from biem.domain.scope import Scope
from biem.layers.keys import Keys
from biem.layers.request_rates import RequestLimit
from biem.ports import Embedder

if TYPE_CHECKING:
    from biem.memory import Memory

_MB = 1_000_000


@dataclass(frozen=True, slots=True)
class Backend:
    """What a process of the server works with."""

    memory: "Memory"
    """Of all scopes: each call takes the one of its key."""
    keys: Keys
    limit: RequestLimit
    health: Callable[[], Health]
    body_bytes: int
    """Largest body of a request that is no upload."""
    upload_bytes: int
    threads: int
    """Calls that run at a time; others wait."""


@contextmanager
def open_backend(settings: Settings, *, embedder: Embedder | None = None) -> Iterator[Backend]:
    """The configured memory with its keys. `embedder` replaces the configured one. Raises as `connect` does."""
    from biem.adapters.redis.requests import RedisRequestRates
    from biem.bootstrap.stores import REDIS_TIMEOUT_S

    with (
        servers(settings) as where,
        connect(settings, scope=Scope(), embedder=embedder) as memory,
        small_pool(where.postgres_dsn) as keys,
    ):
        rates = RedisRequestRates(where.redis_url, timeout_s=REDIS_TIMEOUT_S)
        try:
            yield Backend(
                memory=memory,
                keys=Keys(PostgresKeys(keys), SystemClock()),
                limit=RequestLimit(rates, settings.server_requests_per_minute),
                health=lambda: health(settings),
                body_bytes=8 * settings.write.max_text_bytes,
                upload_bytes=settings.server_upload_mb * _MB,
                threads=2 * settings.postgres_pool,
            )
        finally:
            rates.close()


@contextmanager
def open_keys(settings: Settings) -> Iterator[Keys]:
    """The keys alone, for their administration. Raises `StoreUnavailable`, and `SchemaOutdated`."""
    with servers(settings) as where:
        if where.embedded:
            upgrade(where.postgres_dsn, home_of(settings))
        with small_pool(where.postgres_dsn) as database:
            yield Keys(PostgresKeys(database), SystemClock())


@contextmanager
def usable(settings: Settings) -> Iterator[None]:
    """Raises as `connect` does before processes begin that connect, and keeps embedded servers running meanwhile."""
    with open_keys(settings):
        pass
    build_embedder(settings, late=True).close()
    with servers(settings):
        yield
