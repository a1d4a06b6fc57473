"""Looking at the records and mending them, for `biem diagnose`."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from biem.adapters.postgres.database import ALL_SCOPES, Database, Row
from biem.adapters.postgres.locks import lock_key
from biem.adapters.postgres.node_rows import FIRST_ID, scope_of
from biem.domain.scope import Scope
from biem.ports.diagnosis import KnownRows, Move, OutboxState, ScopeMove, ScopeState


class PostgresInspection:
    """The ports `RecordsInspection` and `Repairs`. The database is shared with other adapters."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def outbox(self, samples: int) -> OutboxState:
        row = self._database.fetch(ALL_SCOPES, "outbox_state", {"samples": samples})[0]
        lists = {"dead_ids": tuple(row.dead_ids), "refused_ids": tuple(row.refused_ids)}
        return OutboxState(**{**row._asdict(), **lists})

    def moves(self) -> list[Move]:
        rows = self._database.fetch("", "unfinished_moves", {"key": lock_key(None, "reembed")})
        return [Move(**row._asdict()) for row in rows]

    def scope_moves(self, limit: int) -> list[ScopeMove]:
        rows = self._database.fetch(ALL_SCOPES, "unfinished_scope_moves", {"limit": limit})
        return [
            ScopeMove(
                Scope(row.tenant, row.usr, row.project), Scope(row.tenant_to, row.usr_to, row.project_to), row.memories
            )
            for row in rows
        ]

    def bounds(self) -> tuple[str, str] | None:
        lowest, highest = self._database.fetch(ALL_SCOPES, "memory_bounds", ())[0]
        return None if lowest is None else (lowest, highest)

    def page(self, after: str, limit: int) -> list[KnownRows]:
        rows = self._database.fetch(ALL_SCOPES, "known_page", (after or FIRST_ID, limit))
        return [KnownRows(**row._asdict()) for row in rows]

    def known(self, ids: Sequence[str]) -> Mapping[str, KnownRows]:
        strange = {
            memory_id: KnownRows(memory_id, "", "gone", "", False) for memory_id in ids if not _is_uuid(memory_id)
        }
        asked = [memory_id for memory_id in ids if memory_id not in strange]
        rows: list[Row] = self._database.fetch(ALL_SCOPES, "known", (asked,)) if asked else []
        return {row.id: KnownRows(**row._asdict()) for row in rows} | strange

    def scopes(self, after: str, limit: int, model: str) -> list[ScopeState]:
        parameters = {"after": after, "limit": limit, "model": model}
        rows = self._database.fetch(ALL_SCOPES, "scope_states", parameters)
        return [ScopeState(scope_of(row), row.unseen_links, row.foreign_rows) for row in rows]

    def reencode(self, ids: Sequence[str]) -> int:
        return self._database.execute(ALL_SCOPES, "reencode", (list(ids),)) if ids else 0

    def hurry(self) -> int:
        return self._database.execute(ALL_SCOPES, "try_refused", ())

    def clear(self, rows: Mapping[str, str]) -> int:
        real = {memory_id: ns for memory_id, ns in rows.items() if _is_uuid(memory_id)}
        return self._database.execute(ALL_SCOPES, "clear_rows", (list(real), list(real.values()))) if real else 0

    def renumber(self, ns: str) -> int:
        def attempt() -> int:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._database.sql["see_scopes"], (ns,))
                connection.execute(self._database.sql["lock_scope"], (ns,))  # before a version is taken
                connection.execute(self._database.sql["renumber_scope"], {"ns": ns})
                return connection.execute(self._database.sql["renumber_links"], {"ns": ns}).rowcount

        return self._database.retrying(attempt)


def _is_uuid(text: str) -> bool:
    """Our collections hold only UUIDs, unless another program wrote to them."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
