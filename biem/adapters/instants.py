"""Instant memories in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime

from psycopg.types.json import Jsonb

from biem.adapters.database import Database, Row
from biem.domain.scope import Scope
from biem.ports.concepts import InstantMemory


class PostgresInstants:
    """The port `Instants`. The database is shared with other adapters."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, scope: Scope, note: InstantMemory) -> bool:
        return self.add_all(scope, [note]) > 0

    def add_all(self, scope: Scope, notes: Sequence[InstantMemory]) -> int:
        rows = [
            {
                "id": note.id,
                "memory_id": note.memory_id,
                "text": note.text,
                "keywords": note.keywords,
                "at": note.created_at.isoformat(),
            }
            for note in notes
        ]
        return self._database.execute(scope.ns, "instant_add", {"ns": scope.ns, "notes": Jsonb(rows)}) if rows else 0

    def recent(self, scope: Scope, conversation: str, limit: int, at: datetime) -> list[InstantMemory]:
        row = {"ns": scope.ns, "conversation": conversation, "limit": limit, "at": at}
        notes = [_note(found) for found in self._database.fetch(scope.ns, "instant_view", row)]
        return sorted(notes, key=lambda note: (note.created_at, note.id), reverse=True)

    def due(self, scope: Scope, before: datetime, limit: int) -> list[InstantMemory]:
        row = {"ns": scope.ns, "before": before, "limit": limit}
        return [_note(found) for found in self._database.fetch(scope.ns, "instant_due", row)]

    def done(self, scope: Scope, ids: Sequence[str], at: datetime) -> None:
        self._database.execute(scope.ns, "instant_built", {"ns": scope.ns, "ids": list(ids), "at": at})

    def forget(self, scope: Scope, before: datetime, limit: int) -> int:
        return self._database.execute(scope.ns, "instant_forget", {"ns": scope.ns, "before": before, "limit": limit})


def _note(row: Row) -> InstantMemory:
    return InstantMemory(row[0], row[1], row[2], row[3], tuple(row[4]), row[5], row[6])
