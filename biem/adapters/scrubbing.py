"""Removes the bytes of deleted data from servers: until then they are in free space, logs and older files."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.rows import scalar_row

from biem.adapters.redis.light_import import redis
from biem.errors import StoreUnavailable

_WAIT_S = 60.0
_POLL_S = 0.05
_MOST_SWITCHES = 1_000
"""Far more than the segments of the log that a server keeps: 16 GB."""
_OLDER = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND greatest(age(backend_xmin), age(backend_xid)) > age(%(began)s::xid)
"""

_STATISTICS_OF_NOTHING = """
DELETE FROM pg_catalog.pg_statistic WHERE starelid IN (
    SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND reltuples = 0
)
"""
"""An analysis of a table without rows leaves the statistics of those that it had."""


def scrub_postgres(dsn: str, *, log: bool) -> list[str]:
    """Rewrite tables and their statistics without deleted rows; returns the remaining manual steps, with reasons.

    Other programs wait meanwhile. With `log`, which needs a superuser, the write-ahead log written so far is deleted,
    too.
    """
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as connection:
            connection.execute(f"SET lock_timeout = '{_WAIT_S:.0f}s'".encode())
            left = [*_older_transactions(connection), *_rewrite_tables(connection)]
            if log:
                _rotate_wal(connection)
            else:
                left.append(
                    "PostgreSQL: its write-ahead log, archives, replicas and backups of its files, as you keep them"
                )
            return left
    except psycopg.OperationalError as error:
        raise StoreUnavailable(
            f"PostgreSQL did not finish the scrubbing: {str(error).strip()}; run it again"
        ) from error


def _older_transactions(connection: psycopg.Connection) -> Iterator[str]:
    """Wait for the transactions of other programs that may still see deleted rows, because a rewrite keeps these."""
    began = _text(connection, "SELECT pg_current_xact_id()::xid::text")
    deadline = time.monotonic() + _WAIT_S
    while connection.execute(_OLDER, {"began": began}).fetchone() != (0,):
        if time.monotonic() > deadline:
            yield "PostgreSQL: a transaction of another program may still see deleted rows; end it, then scrub again"
            return
        time.sleep(_POLL_S)


def _rewrite_tables(connection: psycopg.Connection) -> Iterator[str]:
    rows = connection.execute(
        "SELECT tablename, pg_has_role(tableowner, 'USAGE') FROM pg_tables"
        " WHERE schemaname = current_schema() ORDER BY 1"
    ).fetchall()
    foreign = [name for name, mine in rows if not mine]
    for name, mine in rows:
        if mine:
            connection.execute(sql.SQL("VACUUM (FULL, ANALYZE) {}").format(sql.Identifier(name)))
    if foreign:
        yield f"PostgreSQL: as their owner, VACUUM (FULL, ANALYZE) {', '.join(foreign)}"
    superuser = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user").fetchone()
    if superuser == (True,):
        connection.execute(_STATISTICS_OF_NOTHING)
        connection.execute("VACUUM FULL pg_catalog.pg_statistic")  # contains common words, also of older versions
        connection.execute("CHECKPOINT")
    else:
        yield "PostgreSQL: as a superuser, VACUUM FULL pg_catalog.pg_statistic; CHECKPOINT"


def _rotate_wal(connection: psycopg.Connection) -> None:
    """Switch to new segments, and delete the earlier ones instead of recycling them."""
    connection.execute("ALTER SYSTEM SET wal_recycle = off")
    try:
        connection.execute("SELECT pg_reload_conf()")
        newest = _text(connection, "SELECT max(name) FROM pg_ls_waldir()")
        for _ in range(_MOST_SWITCHES):
            connection.execute("SELECT pg_logical_emit_message(true, 'biem', 'scrub')")
            if _text(connection, "SELECT pg_walfile_name(pg_current_wal_insert_lsn())") > newest:
                break
            connection.execute("SELECT pg_switch_wal()")
        connection.execute("CHECKPOINT")
    finally:
        connection.execute("ALTER SYSTEM RESET wal_recycle")
        connection.execute("SELECT pg_reload_conf()")


def _text(connection: psycopg.Connection, statement: str) -> str:
    return str(connection.cursor(row_factory=scalar_row).execute(statement.encode()).fetchone() or "")


def scrub_redis(url: str) -> list[str]:
    """Have Redis or Valkey rewrite its files from memory; returns the remaining manual steps, with reasons."""
    try:
        with redis.Redis.from_url(url, socket_timeout=_WAIT_S) as client:
            try:
                if client.info("persistence").get("aof_enabled"):
                    client.bgrewriteaof()
                    _await(client, "aof_rewrite_scheduled", "aof_rewrite_in_progress")
                if any(client.config_get("save").values()):
                    client.bgsave(schedule=True)
                    _await(client, "rdb_bgsave_in_progress")
            except redis.ResponseError as error:
                return [f"Redis: BGREWRITEAOF and BGSAVE, which it refused ({error})"]
    except redis.RedisError as error:
        raise StoreUnavailable(f"Redis did not finish the scrubbing ({error}); run it again") from error
    return []


def _await(client: "redis.Redis", *busy: str) -> None:
    deadline = time.monotonic() + _WAIT_S
    while any(client.info("persistence").get(name) for name in busy):
        if time.monotonic() > deadline:
            raise StoreUnavailable("Redis is still rewriting its files; see `INFO persistence`")
        time.sleep(_POLL_S)


def scrub_milvus_lite(database: Path) -> None:
    """Rewrite the file of a Milvus Lite, which may be running, without its free pages."""
    if not database.exists():
        return
    try:
        with _sqlite(database) as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.Error as error:
        raise StoreUnavailable(f"the file of Milvus Lite could not be rewritten ({error}); run it again") from error


@contextmanager
def _sqlite(database: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(database, timeout=_WAIT_S, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def empty_logs(folder: Path) -> None:
    """Truncate the logs of the embedded servers, which continue to write to them."""
    for path in folder.glob("*.log*"):
        with suppress(FileNotFoundError), path.open("r+b") as log:
            log.truncate()
