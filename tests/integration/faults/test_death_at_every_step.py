"""A move to another embedder, a restore, a backup cut at every step: repeated, each ends as if no process had died.

A step is a statement to PostgreSQL, a command to Redis or a write to Milvus. A death within a transaction leaves what
was there before it began, so it suffices to die wherever something has changed since the last place.
"""

import threading
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pymilvus
import pytest
import redis
from psycopg.pq import TransactionStatus

from biem.adapters.postgres.sql import queries
from biem.adapters.postgres.sql.sending import Sender
from biem.bootstrap import Servers
from biem.bootstrap.admin import backup, reembed, restore_backup
from biem.domain.scope import Scope
from biem.ports import Filter
from tests.integration.admin.test_backup import live
from tests.support.fakes import WordEmbedder
from tests.support.systems import System, system

_IDLE = ("SELECT", "SET", "SHOW", "BEGIN", "ANALYZE", "GRANT", "CREATE TABLE IF NOT EXISTS")
"""Statements that begin so change nothing that is there."""
_WRITES = ("create_collection", "create_index", "drop_collection", "insert", "upsert", "delete")
_OWN = ("schema_migrations", "metrics")
"""Tables that say when a program ran and not what it was given."""


class Death(BaseException):
    """What no code of ours expects."""


class Fate:
    """Ends this thread at the `end`-th place; `anywhere`: before every statement, not only after a change."""

    def __init__(self, end: int, *, anywhere: bool = False) -> None:
        self._thread = threading.get_ident()
        self._left = end
        self._anywhere = anywhere
        self._changed = anywhere

    @property
    def fulfilled(self) -> bool:
        """Whether it came to that."""
        return self._left <= 0

    def step(self, *, changes: bool, between: bool = True) -> None:
        """Something is about to be sent. `between`: outside of any transaction."""
        if threading.get_ident() != self._thread or self.fulfilled:
            return
        if self._changed and (between or self._anywhere):
            self._changed = self._anywhere
            self._left -= 1
            if self.fulfilled:
                raise Death
        self._changed |= changes


@contextmanager
def fated(end: int, *, anywhere: bool = False) -> Iterator[Fate]:
    """Anyone who speaks to a server on this thread meets their fate; where they die, nothing more is done."""
    fate = Fate(end, anywhere=anywhere)

    def heard(call: Callable[..., Any], known: Callable[..., dict[str, bool]]) -> Callable[..., Any]:
        def told(self: Any, *arguments: Any, **options: Any) -> Any:
            fate.step(**known(self, *arguments))
            return call(self, *arguments, **options)

        return told

    with pytest.MonkeyPatch.context() as patch, suppress(Death):
        for name in ("execute", "copy"):
            patch.setattr(psycopg.Cursor, name, heard(getattr(psycopg.Cursor, name), _statement))
        patch.setattr(Sender, "__call__", heard(Sender.__call__, _named))
        patch.setattr(redis.Redis, "execute_command", heard(redis.Redis.execute_command, _command))
        for name in _WRITES:
            patch.setattr(pymilvus.MilvusClient, name, heard(getattr(pymilvus.MilvusClient, name), _write))
        yield fate


def _statement(cursor: psycopg.Cursor[Any], query: Any, *_: Any) -> dict[str, bool]:
    text = query.as_string(None) if isinstance(query, psycopg.sql.Composable) else query
    words = (text.decode() if isinstance(text, bytes) else text).lstrip().upper()
    idle = cursor.connection.info.transaction_status == TransactionStatus.IDLE
    return {"changes": not words.startswith(_IDLE), "between": idle}


def _named(sender: Sender[Any], *statements: tuple[str, Any]) -> dict[str, bool]:
    changes = any(not queries()[name].upper().startswith(_IDLE) for name, _ in statements)
    return {"changes": changes, "between": sender._connection.info.transaction_status == TransactionStatus.IDLE}


def _command(_: Any, name: str, *__: Any) -> dict[str, bool]:
    return {"changes": name == "UNLINK"}


def _write(*_: Any) -> dict[str, bool]:
    return {"changes": True}


def contents(town: System) -> dict[str, Any]:
    """All rows of PostgreSQL that hold memories, and what each scope finds in the collection of its embedder."""
    tables = [name for (name,) in town.sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")]
    each = " UNION ALL ".join(
        f"SELECT '{name}', count(*), md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {name} t"
        for name in tables
        if name not in _OWN
    )
    return {name: rows for name, *rows in town.sql(each)} | {"found": found(town)}


def found(town: System) -> dict[str, list[str]]:
    """Ids in the index, by whose they are."""
    vector = town.embedder.embed(["tea"], "query")[0]
    with town.index() as index:
        scopes = {"ours": town.scope, "others": Scope(user="other"), "nobody's": Scope(user=uuid.uuid4().hex)}
        ids = {whose: sorted(index.dense([scope], vector, 100, Filter())) for whose, scope in scopes.items()}
        assert index.count() == sum(map(len, ids.values()))
        return ids


def lived(town: System) -> None:
    """Memories of all kinds in one scope, and something that another process said."""
    with town.connect() as memory:
        live(memory)
        memory.scope(user="other").remember("The other one drinks tea, too", wait=True)


def until_it_survives(attempt: Callable[[int], bool], *, at_least: int) -> None:
    """Try with one place of death after the other, until none is left."""
    places = next(end for end in count(1) if not attempt(end)) - 1
    assert places >= at_least


@pytest.mark.long
@pytest.mark.req("X8", partly="a move to another embedder, restore and backup")
def test_a_move_that_dies_at_any_step_is_ended_by_the_next(stack: Servers) -> None:
    with system(stack) as town:
        # Given memories, and what is there when no process dies while they are moved
        lived(town)
        before = found(town)

        def attempt(end: int) -> bool:
            town.embedder = new = WordEmbedder(model=f"model-{end}")
            # When a move dies, and another one is begun
            with fated(end) as fate:
                reembed(town.settings, embedder=new)
            reembed(town.settings, embedder=new)
            # Then all belongs to the new one, once, and to whom it belonged before
            assert found(town) == before
            ((vectors,),) = town.sql("SELECT count(*) FROM embeddings WHERE model = %s", new.info.id)
            assert vectors == sum(map(len, before.values()))
            for table in ("memories WHERE status = 'active'", "concept_items"):
                assert town.sql(f"SELECT DISTINCT model FROM {table}") == [(new.info.id,)]
            assert town.sql("SELECT model FROM embedders WHERE state <> 'retired'") == [(new.info.id,)]
            return fate.fulfilled

        until_it_survives(attempt, at_least=7)


@pytest.mark.long
def test_a_restore_that_dies_at_any_step_is_ended_by_the_next(stack: Servers, tmp_path: Path) -> None:
    with system(stack) as town:
        # Given two backups, and what is there when no process dies while they are brought back
        paths = [tmp_path / "early", tmp_path / "late"]
        states: list[Mapping[str, Any]] = []
        lived(town)
        backup(town.settings, paths[0])
        town.filled(["Ann planted a quince tree"])
        backup(town.settings, paths[1])
        for path in paths:
            restore_backup(town.settings, path, replace=True, embedder=town.embedder)
            states.append(contents(town))
        assert states[0] != states[1]

        def attempt(end: int) -> bool:
            # When bringing back the one over the other dies, and is begun again
            turn = (end + 1) % 2
            with fated(end) as fate:
                restore_backup(town.settings, paths[turn], replace=True, embedder=town.embedder)
            restore_backup(town.settings, paths[turn], replace=True, embedder=town.embedder)
            # Then all of the one is there, and nothing of the other
            assert {name: now for name, now in contents(town).items() if now != states[turn][name]} == {}
            return fate.fulfilled

        until_it_survives(attempt, at_least=8)


def test_a_backup_that_dies_at_any_step_leaves_the_earlier_one(stack: Servers, tmp_path: Path) -> None:
    with system(stack) as town:
        path = tmp_path / "b"
        town.filled(["Ann likes tea"])
        backup(town.settings, path)
        earlier = path.read_bytes()

        def attempt(end: int) -> bool:
            with fated(end, anywhere=True) as fate:
                backup(town.settings, path)
            if fate.fulfilled:
                assert path.read_bytes() == earlier
            assert list(tmp_path.iterdir()) == [path]
            return fate.fulfilled

        until_it_survives(attempt, at_least=20)
