"""Operations on a whole system: diagnose, measure, back up, restore, scrub, move to another embedder."""

import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from biem.adapters.clock import SystemClock
from biem.adapters.postgres import backup as archives
from biem.adapters.postgres.database import small_pool
from biem.adapters.postgres.inspection import PostgresInspection
from biem.adapters.postgres.locks import PostgresExclusive
from biem.adapters.postgres.migrations import migrate
from biem.adapters.postgres.operation_log import recorded
from biem.adapters.postgres.readers import PostgresScopeDirectory
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.probes import PostgresProbe
from biem.adapters.redis.forget import forget_projections
from biem.adapters.scrubbing import empty_logs, scrub_milvus_lite, scrub_postgres, scrub_redis
from biem.bootstrap import build_embedder, connect
from biem.bootstrap.diagnosis import look_from_outside, unopened
from biem.bootstrap.embedder import agreed, of_the_model
from biem.bootstrap.embedder_change import EVERY_S
from biem.bootstrap.servers import Servers, home_of, servers
from biem.bootstrap.stores import milvus_index, milvus_inspection
from biem.bootstrap.system import assemble
from biem.bootstrap.upgrade import delete_automatic_backups
from biem.config import Settings
from biem.domain.diagnosis import Depth, Diagnosis, Finding, StageTime
from biem.domain.scope import Scope, ScopeSummary
from biem.engine.admin.counts import counts
from biem.engine.admin.reembed import Reembedder
from biem.errors import BiemError, ConfigError, StoreUnavailable
from biem.ports import Clock, Embedder

logger = logging.getLogger("biem")

_ALONE: dict[str, Any] = {"queue": "none", "close_timeout_s": 0.0}
_SAID = "Key number {0} lies under flower pot {0} 第{0}把备用钥匙放在花盆下"
_ASKED = "where is key number {}?"


def diagnose(
    settings: Settings,
    *,
    fix: bool = False,
    full: bool = False,
    after: str = "",
    on_progress: Callable[[str, int], None] | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> Diagnosis:
    """Diagnose a system in any state; with `fix`, repair the findings that can be repaired, the schema too.

    Starts the embedded servers, with a schema where they are new, and changes nothing else without `fix`. What cannot
    be opened is a finding.
    """
    with ExitStack() as stack:
        try:
            where = stack.enter_context(servers(settings))
        except BiemError as error:
            return unopened("servers", error)
        if where.embedded:
            _begun(where)
        migrated = _migrated(where) if fix else []
        try:
            if embedder is None:
                embedder = agreed(settings, where.postgres_dsn, build_embedder(settings), build_embedder)
                stack.callback(embedder.close)
        except BiemError as error:
            return unopened("embedder", error)
        depth = Depth(full, after, on_progress)
        found = look_from_outside(settings, where, embedder, Depth() if fix else depth, clock=clock)
        if not fix or any(finding.blocks == "postgres" for finding in found.findings):
            return found
        with connect(settings.model_copy(update=_ALONE), embedder=embedder, clock=clock) as memory:
            mended = memory.diagnose(fix=True, full=full, after=after, on_progress=on_progress)
    return Diagnosis((*migrated, *mended.findings), mended.looked_at, mended.whole)


def _begun(where: Servers) -> None:
    """Give an embedded database that was just made its schema, as any program does that opens it."""
    try:
        if PostgresProbe(where.postgres_dsn).is_empty():
            migrate(where.postgres_dsn)
    except BiemError as error:
        logger.warning("the schema was not made: %s", error)


def _migrated(where: Servers) -> list[Finding]:
    """Migrate the schema to this version; the following diagnosis reports failures."""
    try:
        missing = tuple(PostgresProbe(where.postgres_dsn).missing())
        if missing:
            migrate(where.postgres_dsn)
            what = f"the database lacked {len(missing)} migrations of this version"
            mended = Finding(
                "schema_behind", "error", what, "`biem migrate`", count=len(missing), samples=missing, mended="applied"
            )
            return [mended]
    except BiemError as error:
        logger.warning("the schema was not migrated: %s", error)
    return []


def perf(settings: Settings, rounds: int, on_progress: Callable[[int], None] | None = None) -> list[StageTime]:
    """Remember and recall `rounds` times in a temporary scope, which is erased; returns the time of each stage.

    Includes the stages of encoding if this process does it.
    """
    scope = Scope(tenant="biem-perf", user=uuid.uuid4().hex)
    with connect(settings, scope=scope) as memory:
        try:
            for number in range(rounds):
                memory.remember(_SAID.format(number), kind="event", conversation="perf")
            memory.flush()
            for number in range(rounds):
                memory.context(_ASKED.format(number))
                if on_progress:
                    on_progress(number + 1)
            return memory.perf()
        finally:
            memory.erase(scope)


def perf_recorded(settings: Settings, hours: float) -> list[StageTime]:
    """Times of operations and their steps in the last `hours`, in all programs that record them."""
    with servers(settings) as where, small_pool(where.postgres_dsn) as database:
        return recorded(database, SystemClock().now() - timedelta(hours=hours))


def backup(settings: Settings, path: Path, on_progress: Callable[[int], None] | None = None) -> Mapping[str, int]:
    """Write all data of PostgreSQL to `path`; returns the numbers of rows, memories and bytes."""
    with servers(settings) as where:
        manifest = archives.backup(where.postgres_dsn, path, on_progress)
    rows = {table.name: table.rows for table in manifest.tables}
    return {"rows": sum(rows.values()), "memories": rows["memories"], "bytes": path.stat().st_size}


def restore_backup(
    settings: Settings,
    path: Path,
    *,
    replace: bool = False,
    on_progress: Callable[[int], None] | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> Mapping[str, int]:
    """Restore a backup, clear Redis and rebuild the vector index.

    Raises `StoreUnavailable` when Milvus is down: the records are restored by then, and `biem reindex` does the rest.
    """
    with servers(settings) as where:
        manifest = archives.restore(where.postgres_dsn, path, replace=replace, heard=on_progress)
        try:
            forget_projections(where.redis_url)
        except StoreUnavailable as error:
            logger.warning("%s", error)
        index = milvus_inspection(settings, where)
        try:
            for name in index.names():
                index.drop(name)
            with connect(settings.model_copy(update=_ALONE), embedder=embedder, clock=clock) as memory:
                indexed = memory.reindex()
        except StoreUnavailable as error:
            raise StoreUnavailable(f"all memories are back, but not indexed ({error}); run `biem reindex`") from error
        finally:
            index.close()
    rows = {table.name: table.rows for table in manifest.tables}
    return {"rows": sum(rows.values()), "memories": rows["memories"], "indexed": indexed}


def reembed(
    settings: Settings,
    *,
    drop_old: bool = False,
    on_progress: Callable[[int], None] | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
) -> Mapping[str, int]:
    """Move all memories to the embedder of the settings; running programs switch to it without a restart.

    An interrupted move resumes. With `drop_old`, the other models' collections and vectors are deleted.
    """
    with ExitStack() as stack:
        built = embedder or stack.enter_context(_closing(build_embedder(settings)))
        where = stack.enter_context(servers(settings))
        if where.embedded:
            migrate(where.postgres_dsn)
        alone = PostgresExclusive(where.postgres_dsn)
        stack.callback(alone.close)
        if not stack.enter_context(alone.hold(None, "reembed")):
            raise ConfigError("another `biem reembed` runs on this database; wait for it, or end it")
        reembedder = stack.enter_context(_reembedder(settings, where, built, clock or SystemClock()))
        moved = reembedder.move(of_the_model(settings), on_progress)
        dropped: Mapping[str, int] = {}
        if drop_old:
            time.sleep(3 * EVERY_S)  # running programs check every EVERY_S seconds and switch; none of them confirms it
            dropped = reembedder.drop_others()
    return {"moved": moved, **{f"dropped_{what}": count for what, count in dropped.items()}}


@contextmanager
def _reembedder(settings: Settings, where: Servers, embedder: Embedder, clock: Clock) -> Iterator[Reembedder]:
    """Moves memories to `embedder`, on connections that close at the end."""
    with ExitStack() as stack:
        alone = settings.model_copy(update=_ALONE)
        system = assemble(settings=alone, where=where, embedder=embedder, clock=clock, stack=ExitStack(), serve=False)
        stack.callback(system.release)
        stack.callback(system.unobserve)
        stack.callback(system.recaller.close)
        database = stack.enter_context(small_pool(where.postgres_dsn))
        index = milvus_index(settings, where, embedder.info)
        stack.callback(index.close)
        inspection = milvus_inspection(settings, where)
        stack.callback(inspection.close)
        yield Reembedder(
            registry=system.embedders,
            records=system.records,
            known=PostgresInspection(database),
            index=index,
            inspection=inspection,
            encoder=system.encoder,
            embedder=embedder,
            collection=index.collection,
            move_notes=system.notes.encoder.move,
            drop_notes=system.notes.index.drop_others,
            telemetry=system.telemetry,
        )


@contextmanager
def _closing(embedder: Embedder) -> Iterator[Embedder]:
    try:
        yield embedder
    finally:
        embedder.close()


def counted(settings: Settings, scope: Scope) -> Mapping[str, int | str]:
    """The counts of `Memory.stats`, without those that need an embedder. Raises `StoreUnavailable`."""
    policies, clock = settings.policies, SystemClock()
    with servers(settings) as where, small_pool(where.postgres_dsn) as database:
        decay = policies.energy.decay_per_hour
        return counts(PostgresRecords(database, clock=clock, decay_per_hour=decay, policies=policies), scope)


def scopes(settings: Settings, tenant: str | None, user: str | None) -> list[ScopeSummary]:
    """The scopes of a tenant and a user, None: of all. Raises `StoreUnavailable`."""
    with servers(settings) as where, small_pool(where.postgres_dsn) as database:
        return PostgresScopeDirectory(database).listed(tenant, user)


def scrub(settings: Settings) -> dict[str, list[str]]:
    """Remove erased data from free pages, logs and older files as far as possible.

    `deleted` are automatic backups, `left` are steps for the operator.
    """
    home = home_of(settings)
    with servers(settings) as where:
        own_redis, own_milvus = settings.redis_url is None, settings.milvus_url() is None
        left = scrub_postgres(where.postgres_dsn, log=where.embedded)
        left += scrub_redis(where.redis_url)
        if not own_redis:
            left.append("Redis: replicas and copies of its files, as you keep them")
        if own_milvus:
            scrub_milvus_lite(home / "milvus" / "milvus.db")
        else:
            left.append("Milvus: compact the collection; dropped segments go when its garbage collection has run")
        deleted = delete_automatic_backups(home) if where.embedded else []
        empty_logs(home / "log")
    left.append("backups that you made with `biem backup`, and snapshots of disks")
    return {"deleted": deleted, "left": left}
