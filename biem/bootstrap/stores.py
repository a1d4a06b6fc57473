"""The adapters of one process: one pool for PostgreSQL, one client per role for Redis, one for Milvus."""

import logging
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Protocol, TypeVar

from biem.adapters.jobs.celery import CeleryQueue
from biem.adapters.jobs.thread import InProcessQueue, NoQueue
from biem.adapters.milvus.index import MilvusIndex
from biem.adapters.milvus.inspection import MilvusInspection
from biem.adapters.postgres.aim import PostgresAim
from biem.adapters.postgres.browse import PostgresBrowser
from biem.adapters.postgres.concepts import PostgresConcepts, PostgresInstants
from biem.adapters.postgres.conflicts import PostgresConflicts
from biem.adapters.postgres.consolidation import PostgresConsolidations, PostgresScopes
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.life import PostgresFeedbacks, PostgresLife, PostgresTombstones
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.locks import PostgresExclusive
from biem.adapters.postgres.readers import (
    PostgresCore,
    PostgresOrbits,
    PostgresScopeDirectory,
    PostgresSelection,
    PostgresTurns,
)
from biem.adapters.postgres.reasoner_ledger import PostgresReasonerLedger
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.postgres.reindexing import PostgresAnalyses, PostgresEmbedders
from biem.adapters.postgres.revisions import PostgresRevisions
from biem.adapters.postgres.transfer import PostgresTransfer
from biem.adapters.redis.canvas import RedisCanvas
from biem.adapters.redis.conversation_state import RedisInertia, RedisRunningMemory
from biem.adapters.redis.hot import RedisHotStore
from biem.adapters.redis.rates import RedisRates
from biem.bootstrap.servers import Servers, broker_of
from biem.config import Settings
from biem.domain.policies import Policies
from biem.engine.priority import ForegroundPriority
from biem.engine.recall.filtered_search import SelectiveIndex
from biem.errors import EmbedderMismatch, StoreUnavailable
from biem.ports import Clock, Embedder, EmbedderInfo, JobQueue
from biem.ports.embedding import Reranker
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry

logger = logging.getLogger("biem")
S = TypeVar("S", covariant=True)

_EMBEDDED_RETRY_S = 15.0
"""Embedded servers restart automatically after a crash, so calls may wait for them."""
_REMOTE_RETRY_S = 2.0


@dataclass(frozen=True, slots=True)
class Stores:
    """All adapters, by role."""

    database: Database
    records: PostgresRecords
    revisions: PostgresRevisions
    turns: PostgresTurns
    orbits: PostgresOrbits
    core: PostgresCore
    browser: PostgresBrowser
    life: PostgresLife
    links: PostgresLinks
    concepts: PostgresConcepts
    instants: PostgresInstants
    conflicts: PostgresConflicts
    consolidations: PostgresConsolidations
    feedbacks: PostgresFeedbacks
    scopes: PostgresScopes
    directory: PostgresScopeDirectory
    tombstones: PostgresTombstones
    analyses: PostgresAnalyses
    transfer: PostgresTransfer
    exclusive: PostgresExclusive
    ledger: PostgresReasonerLedger
    embedders: PostgresEmbedders
    hot: RedisHotStore
    canvas: RedisCanvas
    running_memory: RedisRunningMemory
    rates: RedisRates
    aim: PostgresAim
    inertia_store: RedisInertia
    index: MilvusIndex
    search: SelectiveIndex
    reasoner: Reasoner | None
    reranker: Reranker | None
    queue: JobQueue

    def forget_talk(self, ns: str) -> None:
        """Remove cached conversation states with memories of a scope, for all scopes that may read it."""
        self.running_memory.forget([ns])
        self.inertia_store.forget([ns])


class _PostgresStore(Protocol[S]):
    def __call__(
        self, database: Database, *, clock: Clock, decay_per_hour: float, model: str, policies: Policies
    ) -> S: ...


def open_stores(
    *,
    settings: Settings,
    where: Servers,
    embedder: Embedder,
    clock: Clock,
    telemetry: Telemetry,
    stack: ExitStack,
    priority: ForegroundPriority,
) -> Stores:
    """Connect to every server; connections close with `stack`."""
    policies, info, decay = settings.policies, embedder.info, settings.policies.energy.decay_per_hour
    database = open_database(settings=settings, where=where, priority=priority, stack=stack)

    def stored(kind: _PostgresStore[S]) -> S:
        return kind(database, clock=clock, decay_per_hour=decay, model=info.id, policies=policies)

    _require_one_dimension(embedders := stored(PostgresEmbedders), info)
    records = stored(PostgresRecords)
    kept = open_projections(settings, where, info, stack)
    index = open_index(settings, where, info, stack)
    ledger = _ledger(settings, database)
    return Stores(
        database=database,
        records=records,
        revisions=stored(PostgresRevisions),
        turns=stored(PostgresTurns),
        orbits=stored(PostgresOrbits),
        core=stored(PostgresCore),
        browser=stored(PostgresBrowser),
        life=stored(PostgresLife),
        links=PostgresLinks(database),
        concepts=PostgresConcepts(database, model=info.id, clock=clock),
        instants=PostgresInstants(database),
        conflicts=PostgresConflicts(database, model=info.id, purge_after_s=policies.encode.lease_s + 5.0, clock=clock),
        consolidations=PostgresConsolidations(
            database, write_row=records.write_row, clock=clock, decay_per_hour=decay, policies=policies
        ),
        feedbacks=stored(PostgresFeedbacks),
        scopes=PostgresScopes(database),
        directory=PostgresScopeDirectory(database),
        tombstones=PostgresTombstones(database),
        analyses=stored(PostgresAnalyses),
        transfer=stored(PostgresTransfer),
        exclusive=stack.enter_context(closing(PostgresExclusive(where.postgres_dsn))),
        ledger=ledger,
        embedders=embedders,
        hot=kept.hot,
        canvas=kept.canvas,
        running_memory=kept.running_memory,
        rates=kept.rates,
        inertia_store=kept.inertia_store,
        aim=stored(PostgresAim),
        index=index,
        search=SelectiveIndex(index, stored(PostgresSelection)),
        reasoner=_reasoner(settings, ledger=ledger, clock=clock, telemetry=telemetry, stack=stack),
        reranker=_reranker(settings, stack),
        queue=_queue(settings, where, priority),
    )


def open_database(*, settings: Settings, where: Servers, priority: ForegroundPriority, stack: ExitStack) -> Database:
    """The pool of connections to PostgreSQL; its statements yield to foreground calls.

    The schema of embedded servers was migrated when they were opened.
    """
    database = Database(
        where.postgres_dsn,
        pool_size=settings.postgres_pool,
        retry_s=_EMBEDDED_RETRY_S if where.embedded else _REMOTE_RETRY_S,
        before=priority.give_way,
        migrated=where.embedded,
    )
    stack.callback(database.close)
    return database


def open_index(settings: Settings, where: Servers, info: EmbedderInfo, stack: ExitStack) -> MilvusIndex:
    """The vector index; a Milvus that is down is only logged, because it may come back while the program runs."""
    index = milvus_index(settings, where, info)
    stack.callback(index.close)
    try:
        index.open()
    except StoreUnavailable as error:
        logger.warning("starting without the vector index: %s", error)
    return index


def _require_one_dimension(embedders: PostgresEmbedders, info: EmbedderInfo) -> None:
    """Raise `EmbedderMismatch` for another dimension: vectors are stored by model name, so names must be unique."""
    stored = embedders.stored_dimension(info.id)
    if stored not in (None, info.dim):
        raise EmbedderMismatch(
            f"embedder {info.id} makes {info.dim}-dimensional vectors now, and {stored}-dimensional ones are kept "
            "under its name; serve the old model again, or give the new one another name in BIEM_EMBEDDER__MODEL and "
            "run `biem reembed`"
        )


def milvus_inspection(settings: Settings, where: Servers) -> MilvusInspection:
    """Inspects all collections of biem; connects when called."""
    return MilvusInspection(
        where.milvus_uri, token=where.milvus_token, prefix=settings.milvus_collection, ca=where.milvus_ca
    )


def milvus_index(settings: Settings, where: Servers, info: EmbedderInfo) -> MilvusIndex:
    """The vector index of one embedder; it connects when called."""
    return MilvusIndex(
        where.milvus_uri,
        token=where.milvus_token,
        ca=where.milvus_ca,
        prefix=settings.milvus_collection,
        info=info,
        index_type=settings.milvus_index,
        timeout_s=settings.policies.recall.search_timeout_s,
    )


def _ledger(settings: Settings, database: Database) -> PostgresReasonerLedger:
    wanted = settings.reasoner
    return PostgresReasonerLedger(database, daily_calls=wanted.daily_calls, daily_tokens=wanted.daily_tokens)


def _reasoner(
    settings: Settings, *, ledger: PostgresReasonerLedger, clock: Clock, telemetry: Telemetry, stack: ExitStack
) -> Reasoner | None:
    wanted = settings.reasoner
    if not wanted.url.get_secret_value().strip():
        return None
    # Imports an HTTP client and a JSON repair library, only if a model is configured.
    from biem.adapters import reasoner as reasoner_adapter
    from biem.adapters.reasoner.budget import ModelLimits

    built = reasoner_adapter.build(
        url=wanted.url.get_secret_value(),
        api_key=wanted.api_key.get_secret_value(),
        small_model=wanted.small_model,
        large_model=wanted.large_model,
        max_output_tokens=wanted.max_output_tokens,
        ledger=ledger,
        clock=clock,
        telemetry=telemetry,
        limits=ModelLimits(
            timeout_s=wanted.timeout_s,
            reply_timeout_s=wanted.reply_timeout_s,
            tries=wanted.retries + 1,
            pause_s=wanted.pause_s,
        ),
    )
    if built is not None:
        stack.callback(built.close)
    return built


def _reranker(settings: Settings, stack: ExitStack) -> Reranker | None:
    wanted = settings.reranker
    if not wanted.provider:
        return None
    from biem.adapters import rerankers  # imports an HTTP client or a model, only if configured

    built = rerankers.build(
        wanted.provider,
        model=wanted.model,
        url=wanted.url.get_secret_value(),
        api_key=wanted.api_key.get_secret_value(),
        devices=wanted.devices,
    )
    stack.callback(built.close)
    return built


def _queue(settings: Settings, where: Servers, priority: ForegroundPriority) -> JobQueue:
    if settings.queue == "none":
        return NoQueue()
    if settings.queue == "celery":
        return CeleryQueue(broker_of(settings, where))
    encode = settings.encode
    return InProcessQueue(
        poll_s=encode.poll_s,
        backoff_s=encode.backoff_s,
        backoff_max_s=encode.backoff_max_s,
        full=encode.batch,
        around=priority.working,
    )


REDIS_TIMEOUT_S = 0.5


@dataclass(frozen=True, slots=True)
class Projections:
    """All projections."""

    canvas: RedisCanvas
    hot: RedisHotStore
    running_memory: RedisRunningMemory
    rates: RedisRates
    inertia_store: RedisInertia


def open_projections(settings: Settings, where: Servers, info: EmbedderInfo, stack: ExitStack) -> Projections:
    """Adapters that connect when called, and are closed with the stack."""
    url, policies = where.redis_url, settings.policies
    canvas = RedisCanvas(
        url,
        timeout_s=REDIS_TIMEOUT_S,
        model=info.id,
        dim=info.dim,
        policy=policies.tiers,
        decay_per_hour=policies.energy.decay_per_hour,
    )
    opened = Projections(
        canvas=canvas,
        hot=RedisHotStore(url, timeout_s=REDIS_TIMEOUT_S),
        running_memory=RedisRunningMemory(url, timeout_s=REDIS_TIMEOUT_S),
        rates=RedisRates(url, timeout_s=REDIS_TIMEOUT_S),
        inertia_store=RedisInertia(url, timeout_s=REDIS_TIMEOUT_S, model=info.id, dim=info.dim),
    )
    for one in (opened.canvas, opened.hot, opened.running_memory, opened.rates, opened.inertia_store):
        stack.callback(one.close)
    return opened
