"""Brings a database to the schema this version needs, and says so when it is not there."""

import hashlib
from collections.abc import Callable
from functools import cache
from typing import LiteralString

import psycopg

from biem.adapters.postgres.sql import migrations
from biem.errors import ConfigError, SchemaOutdated, StoreUnavailable

LOCK = 0x6269656D  # "biem": one migrator at a time


def migrate(dsn: str, before: Callable[[str], object] | None = None) -> list[str]:
    """Apply missing migrations, each in a separate transaction; returns the names applied now.

    `before` is called once, with the name of the first that is missing, where others were applied earlier.
    """
    applied: list[str] = []
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as connection:
            if _is_current(connection):
                return applied
            connection.execute("SET client_min_messages = warning")
            connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
            connection.execute(
                "CREATE TABLE IF NOT EXISTS schema_migrations (number integer PRIMARY KEY, name text NOT NULL,"
                " sha256 text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
            )
            known = _known(connection)
            for number, name, statements in migrations():
                if number in known:
                    _require_same(name, known[number], digest(statements))
                    continue
                if before and known and not applied:
                    before(name)
                _apply(connection, number, name, statements)
                applied.append(name)
    except psycopg.errors.InsufficientPrivilege as error:
        raise ConfigError(
            f"the PostgreSQL user may not migrate ({error.diag.message_primary}); run `biem migrate` as the owner "
            "of the database with CREATEROLE, or have an administrator run: CREATE ROLE biem_service NOLOGIN"
        ) from error
    except psycopg.OperationalError as error:
        raise StoreUnavailable(f"PostgreSQL cannot be reached to migrate: {str(error).strip()}") from error
    return applied


def _is_current(connection: psycopg.Connection) -> bool:
    """Whether every migration is applied, in this wording: the usual case, which takes no lock and writes nothing."""
    try:
        known = _known(connection)
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
        return False
    return all(known.get(number) == digest(statements) for number, _, statements in migrations())


def _known(connection: psycopg.Connection) -> dict[int, str]:
    """The checksums of applied migrations, by number."""
    return dict(connection.execute("SELECT number, sha256 FROM schema_migrations").fetchall())


def _require_same(name: str, applied: str, present: str) -> None:
    if applied != present:
        raise ConfigError(f"migration {name} was applied in another wording; this database belongs to another build")


def _apply(connection: psycopg.Connection, number: int, name: str, statements: LiteralString) -> None:
    with connection.transaction():
        connection.execute(statements)
        connection.execute(
            "INSERT INTO schema_migrations (number, name, sha256) VALUES (%s, %s, %s)",
            (number, name, digest(statements)),
        )
        connection.execute("GRANT SELECT ON schema_migrations TO biem_service")


@cache
def digest(text: str) -> str:
    """The checksum of a migration, by which a changed one is recognised."""
    return hashlib.sha256(text.encode()).hexdigest()


def require_current(connection: psycopg.Connection) -> None:
    """Raise `SchemaOutdated` unless every migration of this version is applied."""
    try:
        rows = connection.execute("SELECT number FROM schema_migrations").fetchall()
    except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege):
        rows = []
    missing = [name for number, name, _ in migrations() if (number,) not in rows]
    if missing:
        raise SchemaOutdated(f"the database lacks {', '.join(missing)}; run `biem migrate`")
