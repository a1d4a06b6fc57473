"""Tombstones in PostgreSQL, beside the memories, so that an erasure leaves them in its own transaction."""

from collections.abc import Sequence

from biem.adapters.database import ALL_SCOPES, Database


class PostgresTombstones:
    """The port `Tombstones`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def due(self, limit: int) -> list[tuple[str, str]]:
        self._database.execute(ALL_SCOPES, "tombstones_void", ())
        return [(row[0], row[1]) for row in self._database.fetch(ALL_SCOPES, "tombstones_due", {"limit": limit})]

    def looked(self, ids: Sequence[str], kept_s: float) -> None:
        self._database.execute(ALL_SCOPES, "tombstones_forget", {"ids": list(ids), "kept_s": kept_s})
        self._database.execute(ALL_SCOPES, "tombstones_looked", {"ids": list(ids)})
