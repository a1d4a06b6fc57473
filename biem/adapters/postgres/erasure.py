"""Erasing with proof. One part of the port `Records`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, LiteralString

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Connection
from biem.adapters.postgres.node_rows import Store
from biem.domain.scope import Scope
from biem.ports import Erasure

_STEPS = (
    "originals",
    "vectors",
    "links",
    "facts",
    "jobs",
    "purge",
    "revive",
    "supersessions",
    "successors",
    "conflicts",
    "messages",
    "sessions",
    "mirror",
    "roots",
    "projects",
    "items",
    "memories",
)


class PostgresErasure(Store):
    """The only thing that deletes memories."""

    def erase(
        self, scope: Scope, memory_id: str | None, purge_after_s: float, *, expired_at: datetime | None = None
    ) -> Erasure:
        first: list[Erasure] = []

        def attempt() -> Erasure:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))  # shared vectors may belong to other scopes
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                ids = None if memory_id is None else closure(connection, self._sql, scope.ns, memory_id)
                if expired_at is not None and not self._has_expired(connection, scope, memory_id, expired_at):
                    ids = []
                erasure = self.erase_here(connection, scope, ids, purge_after_s)
                if memory_id is None:
                    connection.execute(self._sql["erase_scope"], self._erase_keys(scope, erasure))
                if erasure.ids:
                    self._save(connection, scope, _first_receipt(scope, memory_id, erasure, self._clock.now()))
                if not first:
                    first.append(erasure)
            return erasure

        erasure = self._database.retrying(attempt)
        return erasure if erasure.ids else first[0]  # repeated after an erasure whose answer was lost

    def _has_expired(self, connection: Connection, scope: Scope, memory_id: str | None, at: datetime) -> bool:
        keys = {"ns": scope.ns, "id": memory_id, "at": at}
        return connection.execute(self._sql["erase_expired"], keys).fetchone() is not None

    def erase_here(
        self, connection: Connection, scope: Scope, ids: Sequence[str] | None, purge_after_s: float
    ) -> Erasure:
        """Within a transaction that has locked the scope: destroy these memories, or all of it."""
        rows = connection.execute(self._sql["erase_targets"], {"ns": scope.ns, "ids": ids}).fetchall()
        keys_of = {"ns": scope.ns, "ids": [row.id for row in rows]}
        texts = [*rows, *connection.execute(self._sql["erase_former"], keys_of)]
        found = Erasure(
            ids=tuple(row.id for row in rows),
            originals=tuple({row.evidence_sha for row in texts}),
            vectors=tuple({row.embed_sha for row in texts}),
            whole=ids is None,
            before={},
        )
        keys = self._erase_keys(scope, found)
        erasure = replace(found, before=self._count(connection, keys))
        for step in _STEPS:
            connection.execute(self._sql[f"erase_{step}"], {**keys, "after_s": purge_after_s})
        return erasure

    def remains(self, scope: Scope, erasure: Erasure) -> Mapping[str, int]:
        keys = self._erase_keys(scope, erasure)

        def attempt() -> dict[str, int]:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                return self._count(connection, keys)

        return self._database.retrying(attempt)

    @staticmethod
    def _erase_keys(scope: Scope, erasure: Erasure) -> dict[str, Any]:
        return {
            "ns": scope.ns,
            "own": Scope(scope.tenant, scope.user).ns,
            "project": scope.project,
            "all": erasure.whole,
            "ids": list(erasure.ids),
            "originals": list(erasure.originals),
            "vectors": list(erasure.vectors),
        }

    def _count(self, connection: Connection, keys: Mapping[str, Any]) -> dict[str, int]:
        [by_table] = connection.execute(self._sql["erase_remains"], keys).fetchall()
        return by_table._asdict()

    def save_receipt(self, scope: Scope, receipt: Mapping[str, Any]) -> None:
        def attempt() -> None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                self._save(connection, scope, receipt)

        self._database.retrying(attempt)

    def _save(self, connection: Connection, scope: Scope, receipt: Mapping[str, Any]) -> None:
        row = {"id": receipt["id"], "ns": scope.ns, "at": receipt["erased_at"], "receipt": Jsonb(dict(receipt))}
        connection.execute(self._sql["save_receipt"], row)


def _first_receipt(scope: Scope, memory_id: str | None, erasure: Erasure, at: datetime) -> dict[str, Any]:
    """What is known when the records are gone: it stays the receipt of an erasure that is broken off then."""
    return {
        "id": erasure.receipt,
        "target": memory_id or str(scope.ns),
        "erased_at": at.isoformat(),
        "memories": len(erasure.ids),
        "stores": [
            {"store": f"postgres.{name}", "before": count, "after": None} for name, count in erasure.before.items()
        ],
    }


def closure(connection: Connection, sql: Mapping[str, LiteralString], ns: str, memory_id: str) -> list[str]:
    """A memory, and everything that says what it says: what it stood for, and texts made of any of these."""
    doomed: set[str] = set()
    unseen = {memory_id}
    while unseen:
        found: set[str] = set()
        for key in sorted(unseen):
            rows = connection.execute(sql["erase_closure"], {"ns": ns, "id": key}).fetchall()
            found |= {row.id for row in rows}
        rows = connection.execute(sql["erase_merged"], {"ns": ns, "ids": sorted(found)}).fetchall()
        doomed |= unseen | found
        unseen = {row.id for row in rows} - doomed
    return sorted(doomed)
