"""Adapters built directly on the session's real servers: a database of the suite's own, and one scope a test."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.migrations import migrate
from biem.adapters.postgres.records import PostgresRecords
from biem.bootstrap import Servers
from biem.domain.fields import Analysis, Fields
from biem.domain.node import Draft, new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports import Clock, Encoded, Filter, Job, Vector, Write
from tests.support.fakes import START, HeldClock

ANY = Filter()
MODEL = "contract-model"
LEARNED = Analysis(Fields(numbers=("10M",), names=("Li Ming",)), ("Li Ming",), 0.5, "en")

Admin = psycopg.Connection[tuple[Any, ...]]


def write(text: str, *, memory_id: str | None = None, fact: bool = False, lexemes: str = "", **draft: Any) -> Write:
    """One row to acknowledge; its lexemes are its lower-case words, and it is a fact only when asked for."""
    draft.setdefault("at", START)
    return Write(
        id=memory_id or new_id(),
        draft=Draft(text=text, **draft),
        lexemes=lexemes or " ".join(text.lower().split()),
        energy=0.6,
        fact_key=sha256(text) if fact else None,
    )


def encoded(jobs: Sequence[Job], learned: Analysis = LEARNED) -> list[Encoded]:
    """What encoding these jobs is said to have learned."""
    return [Encoded(job, learned) for job in jobs]


def claim_all(records: PostgresRecords, lease_s: float = 60.0) -> list[Job]:
    """Every fresh job that is due."""
    return records.claim(10_000, lease_s, retried=False)


def unit(*values: float) -> Vector:
    """A vector of length 1."""
    raw = np.array(values, dtype=np.float32)
    return np.ascontiguousarray(raw / np.linalg.norm(raw))


def instant(day: int) -> datetime:
    """A day of May 2026."""
    return datetime(2026, 5, day, tzinfo=UTC)


def in_scope(admin: Admin, table: str, scope: Scope) -> int:
    """Rows of a table that carry this scope, seen by an administrator."""
    query = sql.SQL("SELECT count(*) FROM {} WHERE ns = %s").format(sql.Identifier(table))
    row = admin.execute(query, (scope.ns,)).fetchone()
    assert row is not None
    return int(row[0])


@pytest.fixture
def scope() -> Scope:
    """A scope of the test's own."""
    return Scope(tenant="contract", user=uuid.uuid4().hex)


@pytest.fixture
def other() -> Scope:
    """Another user."""
    return Scope(tenant="contract", user=uuid.uuid4().hex)


@contextmanager
def _database(stack: Servers) -> Iterator[str]:
    name = f"contract_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(stack.postgres_dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} STRATEGY file_copy").format(sql.Identifier(name)))
        try:
            yield make_conninfo(stack.postgres_dsn, dbname=name)
        finally:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


@pytest.fixture
def empty_database(stack: Servers) -> Iterator[str]:
    """The DSN of a database without our schema."""
    with _database(stack) as dsn:
        yield dsn


@pytest.fixture(scope="session")
def migrated(stack: Servers) -> Iterator[str]:
    """The DSN of a migrated database that no worker looks into."""
    with _database(stack) as dsn:
        migrate(dsn)
        yield dsn


@pytest.fixture(scope="module")
def database(migrated: str) -> str:
    """The same, without what other files left there that belongs to no scope.

    Equal texts have one vector and all jobs one queue, and which files share a database is a matter of chance.
    """
    with psycopg.connect(migrated, autocommit=True) as connection:
        for table in ("embeddings", "outbox"):
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))
    return migrated


@pytest.fixture(scope="module")
def pool(database: str) -> Iterator[Database]:
    """Connections that adapters of one process share, as the service."""
    opened = Database(database, pool_size=4, retry_s=10.0)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def records(database: str) -> Iterator[PostgresRecords]:
    """One adapter for tests that do not care about connections and time."""
    opened = build_records(database)
    yield opened
    opened.close()


@pytest.fixture
def jobs(records: PostgresRecords, admin: Admin) -> PostgresRecords:
    """The same adapter with an empty outbox: claiming knows no scopes."""
    admin.execute("DELETE FROM outbox")
    return records


@pytest.fixture
def admin(database: str) -> Iterator[Admin]:
    """An administrator's connection, who sees everything."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


@pytest.fixture
def service(database: str) -> Iterator[Admin]:
    """A connection that acts as the service and writes SQL by hand."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("SET ROLE biem_service")
        yield connection


@pytest.fixture
def another(database: str) -> Iterator[Callable[..., PostgresRecords]]:
    """Builds further adapters on the same database, as other processes would, and closes them."""
    opened: list[PostgresRecords] = []

    def build(**options: Any) -> PostgresRecords:
        opened.append(build_records(database, **options))
        return opened[-1]

    yield build
    for records in opened:
        records.close()


def build_records(
    dsn: str, *, clock: Clock | None = None, pool_size: int = 4, retry_s: float = 10.0
) -> PostgresRecords:
    """The adapter as bootstrap builds it."""
    database = Database(dsn, pool_size=pool_size, retry_s=retry_s)
    return PostgresRecords(database, clock=clock or HeldClock(), decay_per_hour=0.1)
