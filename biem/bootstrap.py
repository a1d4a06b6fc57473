"""Builds the object graph: the only place where adapters meet the core."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from biem.adapters import embedded
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.clock import SystemClock
from biem.adapters.database import Database
from biem.adapters.embedded import Status
from biem.adapters.embedders import build
from biem.adapters.migrations import migrate as apply_migrations
from biem.adapters.milvus import MilvusIndex
from biem.adapters.postgres import PostgresRecords
from biem.adapters.queue import InProcessQueue, NoQueue
from biem.adapters.redis import RedisHotStore
from biem.config import Settings, load_settings
from biem.domain.scope import Scope
from biem.engine.encode import Encoder
from biem.engine.erase import Eraser
from biem.engine.hotfeed import HotFeed
from biem.engine.recall import Recaller
from biem.engine.reindex import Reindexer
from biem.engine.remember import Writer
from biem.errors import StoreUnavailable
from biem.memory import Memory, Parts
from biem.ports import Clock, Embedder
from biem.telemetry import Telemetry

logger = logging.getLogger("biem")

_EMBEDDED_RETRY_S = 15.0
"""The embedded servers come back by themselves after a crash, so calls may wait for them."""
_REMOTE_RETRY_S = 2.0
_REDIS_TIMEOUT_S = 0.5


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the three servers are. URLs may hold passwords, so its repr shows none."""

    postgres_dsn: str = field(repr=False)
    redis_url: str = field(repr=False)
    milvus_uri: str = field(repr=False)
    milvus_token: str = field(repr=False)
    embedded: bool


@contextmanager
def servers(settings: Settings) -> Iterator[Servers]:
    """The configured servers or, where none are, the embedded ones: shared, and left again at the end."""
    dsn, milvus = settings.postgres_url(), settings.milvus_url()
    token = settings.milvus_token.get_secret_value()
    if dsn is not None and settings.redis_url is not None and milvus is not None:
        yield Servers(dsn, settings.redis_url.get_secret_value(), milvus, token, embedded=False)
        return
    with embedded.EmbeddedStack(home_of(settings)) as urls:
        yield Servers(
            dsn or urls.postgres_dsn,
            settings.redis_url.get_secret_value() if settings.redis_url else urls.redis_url,
            milvus or urls.milvus_uri,
            token if milvus else "",
            embedded=dsn is None,
        )


def home_of(settings: Settings) -> Path:
    """The folder of the embedded servers and caches, absolute."""
    return settings.home.expanduser().absolute()


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
    scope = scope or Scope(settings.tenant, settings.user, settings.project)
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
        return _assemble(settings, where, embedder, clock or SystemClock(), scope, stack)


def _assemble(
    settings: Settings, where: Servers, embedder: Embedder, clock: Clock, scope: Scope, stack: ExitStack
) -> Memory:
    policies = settings.policies
    telemetry = Telemetry()
    analyzer = RuleAnalyzer()
    database = Database(
        where.postgres_dsn,
        pool_size=settings.postgres_pool,
        retry_s=_EMBEDDED_RETRY_S if where.embedded else _REMOTE_RETRY_S,
    )
    stack.callback(database.close)
    records = PostgresRecords(
        database, clock=clock, decay_per_hour=policies.energy.decay_per_hour, model=embedder.info.id
    )
    hot = RedisHotStore(where.redis_url, timeout_s=_REDIS_TIMEOUT_S)
    stack.callback(hot.close)
    feed = HotFeed(hot, window=policies.write.hot_window)
    stack.callback(feed.close)
    index = MilvusIndex(
        where.milvus_uri,
        token=where.milvus_token,
        prefix=settings.milvus_collection,
        info=embedder.info,
        index_type=settings.milvus_index,
        timeout_s=policies.recall.search_timeout_s,
    )
    stack.callback(index.close)
    try:
        index.open()
    except StoreUnavailable as error:
        logger.warning("starting without the vector index: %s", error)
    queue = (
        InProcessQueue(
            poll_s=policies.encode.poll_s,
            backoff_s=policies.encode.backoff_s,
            backoff_max_s=policies.encode.backoff_max_s,
        )
        if settings.worker
        else NoQueue()
    )
    encoder = Encoder(
        records=records,
        index=index,
        hot=hot,
        embedder=embedder,
        analyzer=analyzer,
        policy=policies.encode,
        telemetry=telemetry,
    )
    parts = Parts(
        records=records,
        queue=queue,
        writer=Writer(
            records=records,
            hot=feed,
            queue=queue,
            analyzer=analyzer,
            clock=clock,
            policy=policies.write,
            telemetry=telemetry,
        ),
        recaller=Recaller(
            records=records,
            index=index,
            hot=hot,
            embedder=embedder,
            analyzer=analyzer,
            clock=clock,
            policy=policies.recall,
            telemetry=telemetry,
        ),
        eraser=Eraser(
            records=records,
            index=index,
            hot=hot,
            feed=feed,
            clock=clock,
            policy=policies.encode,
            telemetry=telemetry,
        ),
        reindexer=Reindexer(records=records, index=index, embedder=embedder, encoder=encoder, telemetry=telemetry),
        clock=clock,
        policies=policies,
        telemetry=telemetry,
        embedder=embedder.info,
        collection=index.collection,
        close_timeout_s=settings.close_timeout_s,
        release=stack.pop_all().close,
    )
    queue.start(encoder)
    info = embedder.info
    logger.info("embedder %s (%d dimensions, languages: %s)", info.id, info.dim, " ".join(info.languages))
    return Memory(parts, scope)


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
