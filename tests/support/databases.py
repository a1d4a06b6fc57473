"""A database of a test's own on the session's server."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from biem.adapters.postgres.migrations import migrate


@contextmanager
def fresh_database(dsn: str) -> Iterator[str]:
    """The name of a migrated database that no other test uses, until the end of the block."""
    name = f"own_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE DATABASE {} STRATEGY file_copy").format(sql.Identifier(name)))
        try:
            migrate(make_conninfo(dsn, dbname=name))
            yield name
        finally:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
