"""Pings each server over a separate connection, without needing our schema."""

import shutil
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import scalar_row

from biem.adapters.jobs.celery import broker_options
from biem.adapters.milvus.inspection import MilvusInspection
from biem.adapters.postgres.migrations import require_current
from biem.adapters.postgres.sql import migrations
from biem.adapters.redis.light_import import redis
from biem.errors import ConfigError, SchemaOutdated, StoreUnavailable

_TIMEOUT_S = 3
_PING_S = 1.5


class PostgresProbe:
    """The ports `PlaceInspection` and `SchemaInspection`; its connections cannot write."""

    name = "postgres"

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn

    def reach(self) -> None:
        self._ask("SELECT 1")

    def now(self) -> datetime:
        moment: datetime = self._ask("SELECT clock_timestamp()")
        return moment.astimezone(UTC)

    def missing(self) -> Sequence[str]:
        try:
            with self._connected() as connection:
                require_current(connection)
        except SchemaOutdated:
            known = self._applied()
            return [name for number, name, _ in migrations() if number not in known]
        return []

    def is_empty(self) -> bool:
        """Whether no version has made its schema in the database."""
        return not self._applied()

    def later(self) -> Sequence[str]:
        known = {number for number, _, _ in migrations()}
        return [name for number, name in sorted(self._applied().items()) if number not in known]

    def _applied(self) -> dict[int, str]:
        try:
            with self._connected() as connection:
                return dict(connection.execute("SELECT number, name FROM schema_migrations").fetchall())
        except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
            return {}

    def _ask(self, statement: Any) -> Any:
        with self._connected() as connection:
            return connection.cursor(row_factory=scalar_row).execute(statement).fetchone()

    def _connected(self) -> psycopg.Connection[Any]:
        try:
            connection = psycopg.connect(
                self._dsn, autocommit=True, connect_timeout=_TIMEOUT_S, application_name="biem diagnose"
            )
            connection.execute("SET default_transaction_read_only = on")
            connection.execute("SET statement_timeout = '5s'")
        except psycopg.OperationalError as error:
            raise StoreUnavailable(f"it refuses the login ({str(error).strip().splitlines()[0]})") from error
        except psycopg.ProgrammingError:
            raise ConfigError("BIEM_POSTGRES_DSN is not a PostgreSQL URL such as postgresql://user@host/db") from None
        return connection


class RedisProbe:
    """The port `PlaceInspection` for Redis or Valkey."""

    name = "redis"

    def __init__(self, url: str) -> None:
        self._url = url

    def reach(self) -> None:
        self._ask("ping")
        try:
            memory = self._ask("info", "memory")
        except StoreUnavailable as error:
            if isinstance(error.__cause__, redis.exceptions.NoPermissionError):  # a user without permission
                return
            raise
        if 0 < memory["maxmemory"] < memory["used_memory"] and memory["maxmemory_policy"] == "noeviction":
            raise StoreUnavailable("its memory is full and it refuses writes; raise maxmemory, or set allkeys-lru")

    def now(self) -> datetime:
        seconds, microseconds = self._ask("time")
        return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)

    def _ask(self, command: str, *arguments: str) -> Any:
        try:
            client = redis.Redis.from_url(self._url, socket_timeout=_TIMEOUT_S, socket_connect_timeout=_TIMEOUT_S)
        except ValueError:
            raise ConfigError("BIEM_REDIS_URL is not a Redis URL such as redis://host:6379/0") from None
        try:
            with client:
                return getattr(client, command)(*arguments)
        except redis.RedisError as error:
            raise StoreUnavailable(f"it does not answer ({error})") from error


class MilvusProbe:
    """The port `PlaceInspection` for Milvus, which does not report its time."""

    name = "milvus"

    def __init__(self, index: MilvusInspection) -> None:
        self._index = index

    def reach(self) -> None:
        self._index.version()
        self._index.names()

    def now(self) -> None:
        return None


class HomeDisk:
    """The port `Disk`: the disk of the embedded servers' data."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def space(self) -> tuple[int, int]:
        usage = shutil.disk_usage(self._home if self._home.exists() else self._home.parent)
        return usage.free, usage.total


class NoWorkers:
    """The port `Workers` where threads of programs run the jobs, or workers that cannot be queried."""

    def alive(self) -> None:
        return None


class CeleryWorkers:
    """The port `Workers` over the broker: every worker answers a ping."""

    def __init__(self, url: str) -> None:
        self._url = url

    def alive(self) -> list[str]:
        celery: Any = import_module("celery")  # loaded only where Celery is used
        app = celery.Celery("biem", broker=self._url, set_as_current=False)
        app.conf.broker_transport_options = broker_options(self._url)
        app.conf.broker_connection_retry = False
        try:
            return [name for reply in app.control.ping(timeout=_PING_S) or () for name in reply]
        except Exception as error:
            raise StoreUnavailable(f"the broker does not answer ({type(error).__name__})") from error
        finally:
            app.close()
