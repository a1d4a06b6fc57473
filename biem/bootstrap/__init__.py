"""Builds the object graph: the only place where adapters meet the core."""

import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from biem.adapters import embedded
from biem.adapters.clock import SystemClock
from biem.adapters.embedded import Status
from biem.adapters.embedded import indexer as _indexer
from biem.adapters.embedders import build
from biem.adapters.jobs.celery import ENCODE_TASK, JOB_TASK, broker_options
from biem.adapters.kept_open import close_kept
from biem.adapters.postgres.migrations import migrate as apply_migrations
from biem.adapters.tokens import counter_of
from biem.bootstrap.check_settings import require_kinds, warn_of_misspelt
from biem.bootstrap.embedder import agreed
from biem.bootstrap.observe import serve_levels, serve_spans_of_children
from biem.bootstrap.servers import Servers, broker_of, home_of, servers
from biem.bootstrap.upgrade import upgrade
from biem.config import Settings, load_settings
from biem.domain.scope import Scope
from biem.domain.tokens import estimate_tokens
from biem.ports import Clock, Embedder, Work
from biem.ports.layers.sessions import TokenCounter, Tokens

if TYPE_CHECKING:
    from biem.memory import Memory
    from biem.system import System
    from biem.telemetry import Telemetry

__all__ = [
    "ENCODE_TASK",
    "JOB_TASK",
    "Servers",
    "WorkerRuntime",
    "broker_of",
    "broker_options",
    "build_embedder",
    "close_kept",
    "connect",
    "connect_late",
    "local_down",
    "local_indexer",
    "local_status",
    "local_up",
    "migrate",
    "open_worker",
    "serve_levels",
    "serve_spans_of_children",
    "servers",
]

logger = logging.getLogger("biem")


def build_embedder(settings: Settings, *, late: bool = False) -> Embedder:
    """The configured embedder, loaded and probed; `late`: the packaged default is loaded at its first use only."""
    wanted = settings.embedder
    embedder = build(
        wanted.provider,
        model=wanted.model,
        url=wanted.url.get_secret_value(),
        api_key=wanted.api_key.get_secret_value(),
        cache_dir=home_of(settings) / "cache",
        cache_bytes=wanted.cache_mb * 1_000_000,
        threads=wanted.threads,
        query_prefix=wanted.query_prefix,
        passage_prefix=wanted.passage_prefix,
        timeout_s=wanted.timeout_s,
        devices=wanted.devices,
        late=late,
    )
    return _prototyped(embedder, settings)


def _prototyped(embedder: Embedder, settings: Settings) -> Embedder:
    """The embedder itself, or a wrapper that embeds summaries and fields of passages, as in AIM-Memory."""
    if settings.aim.prototype == "text":
        return embedder
    from biem.adapters import analyzers
    from biem.adapters.embedders.aim_prototype import PrototypeEmbedder

    return PrototypeEmbedder(embedder, analyzers.build(settings.names_pipeline), settings.aim.summary_chars)


def connect(
    settings: Settings | None = None,
    *,
    home: Path | str | None = None,
    scope: Scope | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    tokens: Tokens | None = None,
) -> "Memory":
    """Open a memory: on the configured servers or, where none are, on embedded ones under `home` (default `~/.biem`).

    `settings` default to the environment. `embedder` and `clock` replace the configured ones. `tokens` counts the
    tokens of a text for budgets and sessions: a function, or the path of a model's `tokenizer.json`; by default they
    are estimated. Only embedded databases are migrated here; for others run `biem migrate`. Raises `ConfigError`,
    `SchemaOutdated`, `StoreUnavailable`, `EmbedderUnavailable`.
    """
    from biem.memory import Memory

    require_kinds(settings=settings, home=home, scope=scope, embedder=embedder, clock=clock)
    if settings is None:
        settings = load_settings()
        warn_of_misspelt()
    if home is not None:
        settings = settings.model_copy(update={"home": Path(home)})

    def begin(system: "System") -> None:
        system.start()
        if embedder is None:
            _follow(system, settings, clock, count)

    count = counter_of(tokens)
    system = _open(settings, embedder, clock, serve=True, count=count)
    begin(system)
    _survive_forks(system, lambda: _open(settings, embedder, clock, serve=False, count=count), begin)
    return Memory(system, scope or Scope(settings.tenant, settings.user, settings.project))


def connect_late(settings: Settings, scope: Scope, *, embeds: bool = False) -> "Memory":
    """As `connect`, for one command of a process that ends with it: the packaged model is loaded at its first use, and
    its whole tokenizer where more than a few texts are embedded.

    `embeds`: it will be used, so it is loaded while servers are connected to.
    """
    from biem.adapters.embedders.shared_model import MODELS
    from biem.memory import Memory

    MODELS.keep()
    system = _open(settings, None, None, serve=True, late=True, warm=embeds)
    system.start()
    if settings.queue != "none":  # indexing may take hours
        _follow(system, settings, None)
    _survive_forks(system, lambda: _open(settings, None, None, serve=False, late=True), lambda system: system.start())
    return Memory(system, scope)


def _open(
    settings: Settings,
    embedder: Embedder | None,
    clock: Clock | None,
    *,
    serve: bool,
    telemetry: "Telemetry | None" = None,
    late: bool = False,
    warm: bool = False,
    count: TokenCounter = estimate_tokens,
) -> "System":
    with ExitStack() as stack, ThreadPoolExecutor(1) as loader:
        # Two seconds of CPU while servers start.
        built = partial(build_embedder, late=late)
        loading = None if embedder else loader.submit(built, settings)
        embedder = embedder and _prototyped(embedder, settings)
        clients = loader.submit(_assembly)
        where = stack.enter_context(servers(settings))
        if where.embedded:
            upgrade(where.postgres_dsn, home_of(settings))
        if loading:
            embedder = agreed(settings, where.postgres_dsn, loading.result(), built)
            stack.callback(embedder.close)
        assert embedder is not None
        if warm:
            loader.submit(embedder.embed, ["."], "query")  # errors are raised at its first use
        system = clients.result()(
            settings=settings,
            where=where,
            embedder=embedder,
            clock=clock or SystemClock(),
            stack=stack,
            serve=serve,
            telemetry=telemetry,
            count=count,
        )
    if (watch := getattr(embedder, "watch", None)) is not None:  # a cached embedder reports its hits
        watch(system.telemetry)
    info = embedder.info
    logger.info("embedder %s (%d dimensions, languages: %s)", info.id, info.dim, " ".join(info.languages))
    return system


def _follow(system: "System", settings: Settings, clock: Clock | None, count: TokenCounter = estimate_tokens) -> None:
    """Switch to another embedder in the running process, when all memories were moved to it."""
    from biem.bootstrap.embedder_change import follow

    follow(system, lambda: _open(settings, None, clock, serve=False, telemetry=system.telemetry, count=count))


def _survive_forks(system: "System", build: "Callable[[], System]", begin: "Callable[[System], None]") -> None:
    """Reopen the graph in a forked child at its first use there."""
    from biem.bootstrap.reopen_after_fork import survive_forks

    survive_forks(system, build, begin)


def _assembly() -> "Callable[..., System]":
    """`assemble`, imported late: its server clients would double the time of `import biem.bootstrap`."""
    from biem.bootstrap.system import assemble

    return assemble


@dataclass(frozen=True, slots=True)
class WorkerRuntime:
    """What a worker process needs: encoding one batch, indexing notes, running a background job by name, closing."""

    encode: Work
    index_notes: Work
    run: Callable[[str], Mapping[str, int]]
    paced: Callable[[], AbstractContextManager[None]]
    """Entered around a job: for a while, it leaves four fifths of the time to foreground calls of other processes."""
    close: Callable[[], None]


def open_worker(settings: Settings, *, embedder: Embedder | None = None, clock: Clock | None = None) -> WorkerRuntime:
    """Open everything for a worker process; starts no threads. Replaces and raises as `connect` does."""
    from biem.memory import Memory

    require_kinds(settings=settings, embedder=embedder, clock=clock)
    alone = settings.model_copy(update={"queue": "none", "close_timeout_s": 0.0})

    def begin(system: "System") -> None:
        if embedder is None:
            _follow(system, alone, clock)

    system = _open(alone, embedder, clock, serve=False)
    begin(system)
    _survive_forks(system, lambda: _open(alone, embedder, clock, serve=False), begin)
    return WorkerRuntime(
        encode=lambda: system.here().encoder(),
        index_notes=lambda: system.here().notes.encoder(),
        run=lambda name: system.here().schedule.run(name),
        paced=lambda: system.here().pacing(),
        close=Memory(system, Scope()).close,
    )


def migrate(settings: Settings | None = None) -> list[str]:
    """Bring the configured (or embedded) database to this version's schema; returns the migrations applied."""
    with servers(settings or load_settings()) as where:
        return apply_migrations(where.postgres_dsn)


def local_up(settings: Settings) -> Servers:
    """Start the embedded servers and leave them running for other programs, until `local_down`."""
    urls = embedded.keep(home_of(settings))
    upgrade(urls.postgres_dsn, home_of(settings))
    return Servers(urls.postgres_dsn, urls.redis_url, urls.milvus_uri, "", embedded=True)


def local_status(settings: Settings) -> Status:
    """State of the servers under the home; starts nothing."""
    return embedded.status(home_of(settings))


def local_indexer(settings: Settings) -> int | None:
    """The pid of the indexer of `biem local up`; None where none runs."""
    return _indexer.pid(home_of(settings))


def local_down(settings: Settings) -> bool:
    """Stop the indexer and the embedded servers, even if others use them; returns whether they stopped in time."""
    _indexer.stop(home_of(settings))
    return embedded.stop(home_of(settings))
