"""Quarantine in PostgreSQL: one transaction under the scope's lock; jobs remove the memories from the other stores."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from biem.adapters.postgres.database import Connection, Row
from biem.adapters.postgres.erasure import closure
from biem.adapters.postgres.node_rows import Store
from biem.domain.retention import Lived, retention_days
from biem.domain.scope import Scope
from biem.domain.trust import is_quarantine, quarantine_reason, rank

EFFECTS = ("erase_revive", "erase_supersessions", "erase_successors", "erase_conflicts")
"""What ends as if the memories had been erased: what they replaced is valid again, and conflicts about them vanish."""


class PostgresQuarantine(Store):
    """The part of the port `LifeRecords` that withdraws memories."""

    def quarantine(self, scope: Scope, memory_id: str, reason: str, at: datetime) -> bool:
        tried: list[str] = []

        def attempt() -> bool:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                ids = closure(connection, self._sql, scope.ns, memory_id)
                rows = connection.execute(self._sql["quarantine_targets"], {"ns": scope.ns, "ids": ids}).fetchall()
                held = {row.id: row.archive_reason for row in rows}
                if memory_id not in held or is_quarantine(held[memory_id]):
                    return bool(tried)  # by the attempt whose answer was lost
                reasons = [reason if key == memory_id else f"made of {memory_id}" for key in held]
                self._withdraw(connection, scope, list(held), list(map(quarantine_reason, reasons)), at)
                tried.append(memory_id)
            return True

        return self._database.retrying(attempt)

    def _withdraw(
        self, connection: Connection, scope: Scope, ids: Sequence[str], reasons: Sequence[str], at: datetime
    ) -> None:
        keys: dict[str, Any] = {
            "ns": scope.ns,
            "ids": ids,
            "all": False,
            "reasons": reasons,
            "at": at,
            "superseded_by": None,
            "after_s": self._policies.encode.lease_s + 5.0,
        }
        for step in (*EFFECTS, "archive", "quarantine_mark", "quarantine_facts", "quarantine_notes"):
            connection.execute(self._sql[step], keys)
        concepts = [row.id for row in connection.execute(self._sql["quarantine_concepts"], keys)]
        if concepts:
            named = {"ns": scope.ns, "ids": concepts}
            connection.execute(self._sql["concept_lock"], named)
            connection.execute(self._sql["quarantine_items"], keys)
            connection.execute(self._sql["concept_empty"], named)

    def release(self, scope: Scope, memory_id: str, trust: str | None, at: datetime) -> bool:
        tried: list[str] = []

        def attempt() -> bool:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                found = connection.execute(
                    self._sql["archived"], {"ns": scope.ns, "id": memory_id, "at": at}
                ).fetchone()
                if found is None or not is_quarantine(found.archive_reason):
                    return bool(tried)
                keys: dict[str, Any] = {"ns": scope.ns, "id": memory_id, "ids": [memory_id], "all": False, "at": at}
                level = found.trust if trust is None else rank(trust)
                days = retention_days(lived(found, believed=level > 0), self._policies.retention)
                due_at = None if days is None else at + timedelta(days=days)
                if level == 0:
                    for step in ("erase_links", "release_layer"):
                        connection.execute(self._sql[step], keys)
                if trust is not None:
                    connection.execute(self._sql["release_trust"], {**keys, "trust": level})
                connection.execute(self._sql["restore"], {**keys, "due_at": due_at})
                connection.execute(self._sql["release_fact"], keys)
                tried.append(memory_id)
            return True

        return self._database.retrying(attempt)


def lived(row: Row, *, believed: bool) -> Lived:
    """What the retention of a memory depends on."""
    return Lived(
        text=row.text,
        source=row.source,
        kind=row.kind,
        layer=row.layer,
        importance=row.importance,
        reason=row.reason,
        access_count=row.access_count,
        useful_count=row.useful_count,
        believed=believed,
    )
