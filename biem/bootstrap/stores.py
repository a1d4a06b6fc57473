"""The adapters of one process, on the servers: one pool for PostgreSQL, one client a role for Redis, one for Milvus."""

import logging
from contextlib import ExitStack
from dataclasses import dataclass

from biem.adapters import reasoner as reasoner_adapter
from biem.adapters.activation import RedisMinds
from biem.adapters.canvas import RedisCanvas
from biem.adapters.celery import CeleryQueue, broker_url
from biem.adapters.concepts import PostgresConcepts
from biem.adapters.conflicts import PostgresConflicts
from biem.adapters.consolidation import PostgresConsolidations, PostgresScopes
from biem.adapters.database import Database
from biem.adapters.exclusive import PostgresExclusive
from biem.adapters.feedback import PostgresFeedbacks
from biem.adapters.instants import PostgresInstants
from biem.adapters.lifecycle import PostgresLife
from biem.adapters.links import PostgresLinks
from biem.adapters.milvus import MilvusIndex
from biem.adapters.postgres import PostgresRecords
from biem.adapters.queue import InProcessQueue, NoQueue
from biem.adapters.reasoner.desk import Limits
from biem.adapters.reasoner.ledger import PostgresReasonerLedger
from biem.adapters.redis import RedisHotStore
from biem.adapters.turns import PostgresTurns
from biem.bootstrap.places import Servers
from biem.config import Settings
from biem.errors import StoreUnavailable
from biem.ports import Clock, Embedder, JobQueue
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry

logger = logging.getLogger("biem")

_EMBEDDED_RETRY_S = 15.0
"""The embedded servers come back by themselves after a crash, so calls may wait for them."""
_REMOTE_RETRY_S = 2.0
_REDIS_TIMEOUT_S = 0.5


@dataclass(frozen=True, slots=True)
class Stores:
    """Everything outside, by role."""

    database: Database
    records: PostgresRecords
    turns: PostgresTurns
    life: PostgresLife
    links: PostgresLinks
    concepts: PostgresConcepts
    instants: PostgresInstants
    conflicts: PostgresConflicts
    consolidations: PostgresConsolidations
    feedbacks: PostgresFeedbacks
    scopes: PostgresScopes
    exclusive: PostgresExclusive
    ledger: PostgresReasonerLedger
    hot: RedisHotStore
    canvas: RedisCanvas
    minds: RedisMinds
    index: MilvusIndex
    reasoner: Reasoner | None
    queue: JobQueue


def open_stores(
    settings: Settings, where: Servers, embedder: Embedder, clock: Clock, telemetry: Telemetry, stack: ExitStack
) -> Stores:
    """Connect to every server; what was opened is closed with the stack."""
    policies = settings.policies
    decay, model = policies.energy.decay_per_hour, embedder.info.id
    database = Database(
        where.postgres_dsn,
        pool_size=settings.postgres_pool,
        retry_s=_EMBEDDED_RETRY_S if where.embedded else _REMOTE_RETRY_S,
    )
    stack.callback(database.close)
    exclusive = PostgresExclusive(where.postgres_dsn)
    stack.callback(exclusive.close)
    records = PostgresRecords(database, clock=clock, decay_per_hour=decay, model=model, policies=policies)
    hot = RedisHotStore(where.redis_url, timeout_s=_REDIS_TIMEOUT_S)
    stack.callback(hot.close)
    canvas = RedisCanvas(
        where.redis_url, timeout_s=_REDIS_TIMEOUT_S, model=model, policy=policies.tiers, decay_per_hour=decay
    )
    stack.callback(canvas.close)
    minds = RedisMinds(where.redis_url, timeout_s=_REDIS_TIMEOUT_S)
    stack.callback(minds.close)
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
    ledger = PostgresReasonerLedger(
        database, daily_calls=settings.reasoner.daily_calls, daily_tokens=settings.reasoner.daily_tokens
    )
    return Stores(
        database=database,
        records=records,
        turns=PostgresTurns(database, clock=clock, decay_per_hour=decay, model=model, policies=policies),
        life=PostgresLife(database, clock=clock, decay_per_hour=decay, model=model, policies=policies),
        links=PostgresLinks(database),
        concepts=PostgresConcepts(database, model=model),
        instants=PostgresInstants(database),
        conflicts=PostgresConflicts(database, model=model, purge_after_s=policies.encode.lease_s + 5.0),
        consolidations=PostgresConsolidations(
            database, write_row=records.write_row, clock=clock, decay_per_hour=decay, policies=policies
        ),
        feedbacks=PostgresFeedbacks(database, clock=clock, decay_per_hour=decay, policies=policies),
        scopes=PostgresScopes(database),
        exclusive=exclusive,
        ledger=ledger,
        hot=hot,
        canvas=canvas,
        minds=minds,
        index=index,
        reasoner=_reasoner(settings, ledger, clock, telemetry, stack),
        queue=_queue(settings, where),
    )


def _reasoner(
    settings: Settings, ledger: PostgresReasonerLedger, clock: Clock, telemetry: Telemetry, stack: ExitStack
) -> Reasoner | None:
    wanted = settings.reasoner
    built = reasoner_adapter.build(
        url=wanted.url.get_secret_value(),
        api_key=wanted.api_key.get_secret_value(),
        small_model=wanted.small_model,
        large_model=wanted.large_model,
        max_output_tokens=wanted.max_output_tokens,
        ledger=ledger,
        clock=clock,
        telemetry=telemetry,
        limits=Limits(
            timeout_s=wanted.timeout_s,
            reply_timeout_s=wanted.reply_timeout_s,
            tries=wanted.retries + 1,
            pause_s=wanted.pause_s,
        ),
    )
    if built is not None:
        stack.callback(built.close)
    return built


def _queue(settings: Settings, where: Servers) -> JobQueue:
    if settings.queue == "none":
        return NoQueue()
    if settings.queue == "celery":
        return CeleryQueue(broker_of(settings, where))
    encode = settings.encode
    return InProcessQueue(poll_s=encode.poll_s, backoff_s=encode.backoff_s, backoff_max_s=encode.backoff_max_s)


def broker_of(settings: Settings, where: Servers) -> str:
    """The URL of Celery's broker: the configured one, else the Redis."""
    return settings.broker_url.get_secret_value() if settings.broker_url else broker_url(where.redis_url)
