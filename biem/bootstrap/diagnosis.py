"""Builds the diagnosis of a system, from outside (it may not open) or from within, and the reindexer."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from random import Random

from biem.adapters.clock import SystemClock
from biem.adapters.milvus.collection import collection_name
from biem.adapters.milvus.inspection import MilvusInspection
from biem.adapters.postgres.consolidation import PostgresScopes
from biem.adapters.postgres.database import small_pool
from biem.adapters.postgres.inspection import PostgresInspection
from biem.adapters.postgres.life import PostgresLife
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.probes import CeleryWorkers, HomeDisk, MilvusProbe, NoWorkers, PostgresProbe, RedisProbe
from biem.bootstrap.layers import session_check
from biem.bootstrap.layers.mirror import mirror_check
from biem.bootstrap.notes import note_check
from biem.bootstrap.servers import Servers, broker_of, home_of
from biem.bootstrap.stores import milvus_inspection, open_projections
from biem.config import Settings
from biem.domain.diagnosis import Depth, Diagnosis, Finding, Limits
from biem.engine.admin.diagnosis import (
    CanvasCheck,
    Check,
    ClockCheck,
    Diagnoser,
    DiskCheck,
    GraphCheck,
    IndexCheck,
    MoveCheck,
    OutboxCheck,
    ProjectionCheck,
    RowCheck,
    SchemaCheck,
    ServerCheck,
)
from biem.ports import Clock, Embedder, EmbedderInfo, Records, Work
from biem.ports.diagnosis import PlaceInspection, Workers
from biem.telemetry import Telemetry


@contextmanager
def diagnoser(
    *,
    settings: Settings,
    where: Servers,
    info: EmbedderInfo,
    clock: Clock,
    telemetry: Telemetry,
    records: Records | None = None,
    work: Work | None = None,
    sweep: Callable[[], object] | None = None,
    limits: Limits | None = None,
) -> Iterator[Diagnoser]:
    """All checks, on separate connections; with `records`, `work` and `sweep` it can also repair."""
    limits = limits or Limits()
    with ExitStack() as stack:
        index = milvus_inspection(settings, where)
        stack.callback(index.close)
        postgres = PostgresProbe(where.postgres_dsn)
        places: list[PlaceInspection] = [postgres, RedisProbe(where.redis_url), MilvusProbe(index)]
        collection = collection_name(settings.milvus_collection, info)
        checks: list[Check] = [
            ServerCheck(places, _starts(settings, where)),
            ClockCheck(places, clock, limits),
            SchemaCheck(postgres),
            IndexCheck(index, collection, info),
        ]
        if where.embedded:
            checks.append(DiskCheck(HomeDisk(home_of(settings)), limits))
        yield Diagnoser(
            checks,
            contents=lambda: _contents(
                settings=settings,
                where=where,
                info=info,
                clock=clock,
                index=index,
                collection=collection,
                records=records,
                sweep=sweep,
                limits=limits,
                stack=stack,
            ),
            work=work,
            limits=limits,
            telemetry=telemetry,
        )


def _contents(
    *,
    settings: Settings,
    where: Servers,
    info: EmbedderInfo,
    clock: Clock,
    index: MilvusInspection,
    collection: str,
    records: Records | None,
    sweep: Callable[[], object] | None,
    limits: Limits,
    stack: ExitStack,
) -> list[Check]:
    """Checks that need our schema in the database; built once PostgreSQL is known to have it."""
    policies, random = settings.policies, Random()
    decay = policies.energy.decay_per_hour
    database = stack.enter_context(small_pool(where.postgres_dsn))
    inspection = PostgresInspection(database)
    sessions = session_check(database, clock=clock, settings=settings, limits=limits)
    kept = open_projections(settings, where, info, stack)
    projections = (kept.canvas, kept.hot, kept.running_memory, kept.rates, kept.inertia_store)
    life = PostgresLife(database, clock=clock, decay_per_hour=decay, model=info.id, policies=policies)
    workers: Workers = CeleryWorkers(broker_of(settings, where)) if settings.queue == "celery" else NoWorkers()
    return [
        OutboxCheck(inspection, inspection, records, workers=workers, limits=limits),
        RowCheck(inspection, index, inspection, collection=collection, model=info.id, random=random, limits=limits),
        MoveCheck(inspection),
        note_check(
            settings=settings, where=where, info=info, clock=clock, database=database, limits=limits, stack=stack
        ),
        sessions,
        mirror_check(database, limits=limits),
        ProjectionCheck(PostgresScopes(database), projections, random=random, limits=limits),
        CanvasCheck(
            inspection,
            life,
            kept.canvas,
            kept.canvas.spoilt,
            sweep=sweep,
            pause=time.sleep,
            random=random,
            limits=limits,
        ),
        GraphCheck(
            inspection, inspection, PostgresLinks(database), model=info.id, clock=clock, random=random, limits=limits
        ),
    ]


def look_from_outside(
    settings: Settings, where: Servers, embedder: Embedder, depth: Depth, *, clock: Clock | None = None
) -> Diagnosis:
    """Diagnose a system without opening it: nothing is created or changed."""
    with diagnoser(
        settings=settings,
        where=where,
        info=embedder.info,
        clock=clock or SystemClock(),
        telemetry=Telemetry(),
    ) as found:
        return found.look(depth)


def unopened(what: str, error: Exception) -> Diagnosis:
    """A diagnosis with the finding that nothing could be opened."""
    return Diagnosis((Finding(f"{what}_unusable", "error", str(error), "do what the message says"),), {}, whole=False)


def _starts(settings: Settings, where: Servers) -> dict[str, str]:
    """How to restart each server."""
    if where.embedded:
        log = home_of(settings) / "log"
        again = "run `biem local down`, then `biem local up`; its log is "
        return {
            "postgres": f"{again}{log / 'postgres.log'}",
            "redis": f"{again}{log / 'valkey.log'}",
            "milvus": f"{again}{log / 'milvus.log'}",
        }
    return {
        "postgres": "start it (`make up` for the containers), or check BIEM_POSTGRES_DSN",
        "redis": "start it (`make up` for the containers), or check BIEM_REDIS_URL",
        "milvus": "start it (`make up` for the containers), or check BIEM_MILVUS_URI",
    }
