"""Systems of a test's own on the session's servers: a database, collections, and scopes that no other test has."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

import biem
from biem.adapters.milvus.index import MilvusIndex
from biem.adapters.milvus.inspection import MilvusInspection
from biem.adapters.postgres.migrations import migrate
from biem.bootstrap import Servers
from biem.bootstrap.stores import milvus_index, milvus_inspection
from biem.config import Settings
from biem.domain.scope import Scope
from biem.ports import Embedder
from tests.support.fakes import WordEmbedder


@dataclass
class System:
    """One system. `embedder` is that of its programs; settings lead to it and to nothing else."""

    where: Servers
    settings: Settings
    embedder: Embedder = field(default_factory=WordEmbedder)
    scope: Scope = field(default_factory=lambda: Scope(user=uuid.uuid4().hex))

    def connect(self, embedder: Embedder | None = None, **more: Any) -> biem.Memory:
        """A program; `more` are settings."""
        settings = self.settings.model_copy(update=more)
        return biem.connect(settings, scope=self.scope, embedder=embedder or self.embedder)

    def filled(self, texts: Sequence[str]) -> list[str]:
        """Remember texts and wait until they are indexed; their ids."""
        with self.connect() as memory:
            return memory.remember_many([{"text": text} for text in texts], wait=True)

    def sql(self, statement: str, *parameters: Any) -> list[tuple[Any, ...]]:
        """What an administrator's statement answers."""
        with psycopg.connect(self.settings.postgres_url() or "", autocommit=True) as connection:
            cursor = connection.execute(statement.encode(), parameters or None)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def index(self) -> Iterator[MilvusIndex]:
        """The collection of this system's embedder, to do to it what no one should."""
        index = milvus_index(self.settings, self.where, self.embedder.info)
        yield index
        index.close()

    @contextmanager
    def inspection(self) -> Iterator[MilvusInspection]:
        """Every collection of the system."""
        inspection = milvus_inspection(self.settings, self.where)
        yield inspection
        inspection.close()


Systems = Callable[..., System]


@cache
def _template(dsn: str) -> str:
    """A migrated database of this server to copy, because migrating one takes longer than all the rest."""
    name = f"template_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {} STRATEGY file_copy").format(sql.Identifier(name)))
    migrate(make_conninfo(dsn, dbname=name))
    return name


@contextmanager
def system(where: Servers, *, migrated: bool = True, **more: Any) -> Iterator[System]:
    """A system on these servers, removed afterwards."""
    name = f"system_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(where.postgres_dsn, autocommit=True) as connection:
        template = sql.Identifier(_template(where.postgres_dsn) if migrated else "template1")
        create = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy")
        connection.execute(create.format(sql.Identifier(name), template))
        own = Servers(make_conninfo(where.postgres_dsn, dbname=name), where.redis_url, where.milvus_uri, "", False)
        # A keyword DSN is no URL, but psycopg takes either.
        settings = Settings(
            postgres_dsn=own.postgres_dsn,
            redis_url=own.redis_url,
            milvus_uri=own.milvus_uri,
            milvus_collection=name,
            **more,
        )
        built = System(own, settings)
        try:
            yield built
        finally:
            with built.inspection() as inspection:
                for collection in inspection.names():
                    inspection.drop(collection)
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
