"""Erasing with proof. One part of the port `Records`."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

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
    "memories",
)


class PostgresErasure(Store):
    """The only thing that deletes memories."""

    def erase(self, scope: Scope, memory_id: str | None, purge_after_s: float) -> Erasure:
        first: list[Erasure] = []

        def attempt() -> Erasure:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))  # shared vectors may belong to other scopes
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                ids = None if memory_id is None else self._doomed(connection, scope, memory_id)
                rows = connection.execute(self._sql["erase_targets"], {"ns": scope.ns, "ids": ids}).fetchall()
                found = Erasure(
                    ids=tuple(row.id for row in rows),
                    originals=tuple({row.evidence_sha for row in rows}),
                    vectors=tuple({row.embed_sha for row in rows}),
                    whole=memory_id is None,
                    before={},
                )
                keys = self._erase_keys(scope, found)
                erasure = replace(found, before=self._count(connection, keys))
                for step in _STEPS:
                    connection.execute(self._sql[f"erase_{step}"], {**keys, "after_s": purge_after_s})
                if memory_id is None:
                    connection.execute(self._sql["erase_scope"], keys)
                if not first:
                    first.append(erasure)
            return erasure

        erasure = self._database.retrying(attempt)
        return erasure if erasure.ids else first[0]  # repeated after an erasure whose answer was lost

    def _doomed(self, connection: Connection, scope: Scope, memory_id: str) -> list[str]:
        """The memory, and everything that says what it says: what it stood for, and texts made of any of these."""
        doomed: set[str] = set()
        unseen = {memory_id}
        while unseen:
            found: set[str] = set()
            for key in sorted(unseen):
                rows = connection.execute(self._sql["erase_closure"], {"ns": scope.ns, "id": key}).fetchall()
                found |= {row.id for row in rows}
            rows = connection.execute(self._sql["erase_merged"], {"ns": scope.ns, "ids": sorted(found)}).fetchall()
            doomed |= unseen | found
            unseen = {row.id for row in rows} - doomed
        return sorted(doomed)

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
            "all": erasure.whole,
            "ids": list(erasure.ids),
            "originals": list(erasure.originals),
            "vectors": list(erasure.vectors),
        }

    def _count(self, connection: Connection, keys: Mapping[str, Any]) -> dict[str, int]:
        [by_table] = connection.execute(self._sql["erase_remains"], keys).fetchall()
        return by_table._asdict()

    def save_receipt(self, scope: Scope, receipt: Mapping[str, Any]) -> None:
        row = (receipt["id"], scope.ns, receipt["erased_at"], Jsonb(dict(receipt)))
        self._database.execute(scope.ns, "save_receipt", row)
