"""Builds the object graph: the only place where adapters meet the core."""

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from biem.adapters import embedded
from biem.adapters.celery import ENCODE_TASK, broker_options
from biem.adapters.clock import SystemClock
from biem.adapters.embedded import Status
from biem.adapters.embedders import build
from biem.adapters.migrations import migrate as apply_migrations
from biem.bootstrap.assembly import assemble
from biem.bootstrap.metrics import serve_levels, serve_spans_of_children
from biem.bootstrap.places import Servers, home_of, servers
from biem.bootstrap.stores import broker_of
from biem.config import Settings, load_settings
from biem.domain.scope import Scope
from biem.memory import Memory, Parts
from biem.ports import Clock, Embedder, Work

__all__ = [
    "ENCODE_TASK",
    "Servers",
    "Workshop",
    "broker_of",
    "broker_options",
    "build_embedder",
    "connect",
    "home_of",
    "local_down",
    "local_status",
    "local_up",
    "migrate",
    "open_workshop",
    "serve_levels",
    "serve_spans_of_children",
    "servers",
]

logger = logging.getLogger("biem")


def build_embedder(settings: Settings) -> Embedder:
    """The configured embedder, loaded and probed."""
    wanted = settings.embedder
    return build(
        wanted.provider,
        model=wanted.model,
        url=wanted.url,
        api_key=wanted.api_key.get_secret_value(),
        cache_dir=home_of(settings) / "cache",
        cache_bytes=wanted.cache_mb * 1_000_000,
        threads=wanted.threads,
        query_prefix=wanted.query_prefix,
        passage_prefix=wanted.passage_prefix,
        timeout_s=wanted.timeout_s,
        devices=wanted.devices,
    )


def connect(
    settings: Settings | None = None,
    *,
    home: Path | str | None = None,
    scope: Scope | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> Memory:
    """Open a memory: on the configured servers or, where none are, on embedded ones under `home` (default `~/.biem`).

    `settings` default to the environment. `embedder` and `clock` replace the configured ones. Only embedded databases
    are migrated here; for others run `biem migrate`. Raises `ConfigError`, `SchemaOutdated`, `StoreUnavailable`,
    `EmbedderUnavailable`.
    """
    settings = settings or load_settings()
    if home is not None:
        settings = settings.model_copy(update={"home": Path(home)})
    parts = _open(settings, embedder, clock, serve=True)
    parts.start()
    return Memory(parts, scope or Scope(settings.tenant, settings.user, settings.project))


def _open(settings: Settings, embedder: Embedder | None, clock: Clock | None, *, serve: bool) -> Parts:
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs whole tracebacks of what we raise and explain
    with ExitStack() as stack, ThreadPoolExecutor(1) as loader:
        loading = None if embedder else loader.submit(build_embedder, settings)  # a second of CPU while servers start
        where = stack.enter_context(servers(settings))
        if where.embedded:
            apply_migrations(where.postgres_dsn)
        if loading:
            embedder = loading.result()
            stack.callback(embedder.close)
        assert embedder is not None
        parts = assemble(settings, where, embedder, clock or SystemClock(), stack, serve=serve)
    info = embedder.info
    logger.info("embedder %s (%d dimensions, languages: %s)", info.id, info.dim, " ".join(info.languages))
    return parts


@dataclass(frozen=True, slots=True)
class Workshop:
    """What a worker process needs: one batch of encoding, any job of the night by name, and the way out."""

    encode: Work
    run: Callable[[str], Mapping[str, int]]
    close: Callable[[], None]


def open_workshop(settings: Settings) -> Workshop:
    """Open everything for a worker process, without threads of its own. Raises as `connect` does."""
    parts = _open(settings.model_copy(update={"queue": "none", "close_timeout_s": 0.0}), None, None, serve=False)
    return Workshop(encode=parts.encoder, run=parts.upkeep.run, close=Memory(parts, Scope()).close)


def migrate(settings: Settings | None = None) -> list[str]:
    """Bring the configured (or embedded) database to this version's schema; returns the migrations applied."""
    with servers(settings or load_settings()) as where:
        return apply_migrations(where.postgres_dsn)


def local_up(settings: Settings) -> Servers:
    """Start the embedded servers and leave them running for other programs, until `local_down`."""
    urls = embedded.keep(home_of(settings))
    apply_migrations(urls.postgres_dsn)
    return Servers(urls.postgres_dsn, urls.redis_url, urls.milvus_uri, "", embedded=True)


def local_status(settings: Settings) -> Status:
    """What runs under the home; starts nothing."""
    return embedded.status(home_of(settings))


def local_down(settings: Settings) -> bool:
    """Stop the embedded servers although others may use them; whether they stopped in time."""
    return embedded.stop(home_of(settings))
