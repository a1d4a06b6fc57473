"""Items in PostgreSQL: a write is one transaction with the memories by which queries find the items."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Connection, Database, Row
from biem.adapters.postgres.revisions import PostgresRevisions
from biem.domain.items.item import Namespace, StoredItem
from biem.domain.node import Draft, Node
from biem.domain.scope import Scope
from biem.ports import Clock, Write, Written
from biem.ports.layers.items import ItemPut, ItemWrite, NamespaceCondition
from biem.ports.revisions import Change

WriteRow = Callable[[Scope, Write, datetime], dict[str, Any]]
_BEYOND_ALL = 1 << 62


class PostgresItems:
    """The port `ItemRecords`. The database is shared with other adapters."""

    def __init__(self, database: Database, *, write_row: WriteRow, revisions: PostgresRevisions, clock: Clock) -> None:
        self._database = database
        self._sql = database.sql
        self._write_row = write_row
        self._revisions = revisions
        self._clock = clock

    def put(self, scope: Scope, writes: Sequence[ItemWrite]) -> list[ItemPut]:
        now = self._clock.now()
        keys = _keys(scope, [(write.namespace, write.key) for write in writes])

        def attempt() -> list[ItemPut]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["ensure_scope"], (scope.ns, scope.tenant, scope.user, scope.project))
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                rows = connection.execute(self._sql["item_lock"], keys).fetchall()
                there = {(row.path, row.key): row.memory_id for row in rows}
                return [
                    self._put(connection, scope, write, there.get((_path(write.namespace), write.key)), now)
                    for write in writes
                ]

        return self._database.retrying(attempt)

    def _put(
        self, connection: Connection, scope: Scope, write: ItemWrite, former: str | None, now: datetime
    ) -> ItemPut:
        written, revised, memory_id = None, False, None
        if write.memory is not None:
            node = None if former is None else self._revisions.locked(connection, scope, former)
            if node is not None and node.status != "archived":
                revised, memory_id = self._revise(connection, scope, node, write.memory, now), node.id
            else:
                connection.execute(self._sql["remember"], self._write_row(scope, write.memory, now))
                memory_id = write.memory.id
                written = Written(memory_id, True)
        if former is not None and memory_id != former:
            connection.execute(self._sql["item_ended"], {"ns": scope.ns, "ids": [former], "now": now})
        row = {
            "ns": scope.ns,
            "path": _path(write.namespace),
            "key": write.key,
            "value": write.value,
            "memory": memory_id,
            "ttl_s": write.ttl_s,
            "expires_at": None if write.ttl_s is None else now + timedelta(seconds=write.ttl_s),
            "now": now,
        }
        if memory_id is not None:
            connection.execute(self._sql["item_kept"], row)
        [stored] = connection.execute(self._sql["item_put"], row).fetchall()
        return ItemPut(_item(stored), written, revised)

    def _revise(self, connection: Connection, scope: Scope, node: Node, write: Write, now: datetime) -> bool:
        """Give a memory the text of a new value; False where it has it already."""
        if node.text == write.draft.text:
            return False
        draft = Draft(**{field.name: getattr(node, field.name) for field in fields(Draft)})
        draft = replace(draft, text=write.draft.text)
        change = Change(node.id, node.revision, draft, write.lexemes, None, frozenset({"text"}), "item")
        self._revisions.revise_here(connection, scope, node, change, now)
        return True

    def delete(self, scope: Scope, keys: Sequence[tuple[Namespace, str]]) -> int:
        row = {**_keys(scope, keys), "now": self._clock.now()}

        def attempt() -> int:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                gone = connection.execute(self._sql["item_delete"], row).fetchall()
                ended = [each.memory_id for each in gone if each.memory_id is not None]
                if ended:
                    connection.execute(self._sql["item_ended"], {**row, "ids": ended})
                return sum(each.live for each in gone)

        return self._database.retrying(attempt)

    def get(self, scope: Scope, keys: Sequence[tuple[Namespace, str]]) -> list[StoredItem]:
        row = {**_keys(scope, keys), "now": self._clock.now()}
        return [_item(each) for each in self._database.fetch(scope.ns, "item_get", row)]

    def page(
        self,
        scope: Scope,
        prefix: Namespace,
        contains: Mapping[str, Any],
        *,
        before: int | None,
        limit: int,
        found: bool = False,
    ) -> list[tuple[int, StoredItem]]:
        first = _path(prefix)
        row = {
            "ns": scope.ns,
            "first": first,
            "beyond": f"{first[:-1]}/",  # the character after the dot
            "contains": Jsonb(dict(contains)) if contains else None,
            "found": found,
            "before": _BEYOND_ALL if before is None else before,
            "limit": limit,
            "now": self._clock.now(),
        }
        rows = self._database.fetch(scope.ns, "item_page" if prefix else "item_page_of_all", row)
        return [(each.seq, _item(each)) for each in rows]

    def namespaces(
        self, scope: Scope, conditions: Sequence[NamespaceCondition], depth: int | None, limit: int, offset: int
    ) -> list[Namespace]:
        row = {
            "ns": scope.ns,
            "conditions": Jsonb([{"labels": list(each.labels), "at_end": each.at_end} for each in conditions]),
            "depth": depth,
            "limit": limit,
            "offset": offset,
            "now": self._clock.now(),
        }
        return [tuple(each.labels) for each in self._database.fetch(scope.ns, "item_namespaces", row)]

    def refresh(self, scope: Scope, keys: Sequence[tuple[Namespace, str]]) -> None:
        row = {**_keys(scope, keys), "now": self._clock.now()}
        with self._database.deferring():
            self._database.execute(scope.ns, "item_refresh", row)

    def sweep(self, scope: Scope | None) -> int:
        row = {"ns": None if scope is None else scope.ns, "now": self._clock.now()}
        return self._database.execute(ALL_SCOPES if scope is None else scope.ns, "item_sweep", row)


def _path(namespace: Namespace) -> str:
    """A namespace as it is stored: each label ends with a dot, so that none is the beginning of another."""
    return "".join(f"{label}." for label in namespace)


def _keys(scope: Scope, keys: Sequence[tuple[Namespace, str]]) -> dict[str, Any]:
    paths = [_path(namespace) for namespace, _ in keys]
    return {"ns": scope.ns, "paths": paths, "keys": [key for _, key in keys]}


def _item(row: Row) -> StoredItem:
    return StoredItem(
        namespace=tuple(row.path[:-1].split(".")),
        key=row.key,
        value=json.loads(row.value),
        created_at=row.created_at,
        updated_at=row.updated_at,
        expires_at=row.expires_at,
        memory_id=row.memory_id,
    )
