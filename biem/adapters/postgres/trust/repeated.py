"""A write that repeats an existing memory: the same `ref`, or the same fact.

An archived memory that is written again is found again. What an untrusted writer says changes no memory of anybody
else: neither does it bring back what was archived, nor can it take a `ref` or the text of a fact before a trusted one.
"""

from collections.abc import Mapping
from typing import Any, LiteralString

from biem.adapters.postgres.database import Connection
from biem.errors import RefConflict, StoreUnavailable
from biem.ports import Written


def settle_repeated(connection: Connection, sql: Mapping[str, LiteralString], row: Mapping[str, Any]) -> Written:
    """Combine a refused write of this `row` with the memory that exists. Raises `RefConflict`."""
    found = connection.execute(sql["find_same"], row).fetchone()
    if found is None:  # pragma: no cover - the scope's lock makes this unreachable
        raise StoreUnavailable("a memory vanished while it was being written; try again")
    believed = row["trust"] > 0
    if row["ref"] is not None and found.text != row["text"] and not _was_said(connection, sql, found.id, row):
        if believed and found.trust == 0:
            return _instead(connection, sql, row, found.id)
        raise RefConflict(
            f"ref {row['ref']!r} already names memory {found.id} with another text; write under another ref, "
            f"or erase {found.id} first"
        )
    if found.archived and (found.quarantined or (found.trust > 0 and not believed)):
        named = row["ref"] is not None or found.id == row["id"]
        return Written(found.id, False) if named else _instead(connection, sql, row, found.id)
    same = {**row, "id": found.id, "at": row["now"], "said_at": row["at"]}
    if row["trust"] > found.trust:
        connection.execute(sql["trust_more" if found.trust else "trust_first"], same)
    if found.expires_at is not None and found.trust > 0 and row["trust"] >= found.trust:
        connection.execute(sql["keep_longer"], same)
    if found.archived:  # archived and written again: an acknowledged memory must be found
        connection.execute(sql["restore"], same)
    return Written(found.id, False, restored=found.archived or row["trust"] > found.trust == 0)


def _was_said(connection: Connection, sql: Mapping[str, LiteralString], memory_id: str, row: Mapping[str, Any]) -> bool:
    """Whether it is a former text of this memory: a repeated write of what was revised since."""
    return connection.execute(sql["find_former"], {**row, "id": memory_id}).fetchone() is not None


def _instead(connection: Connection, sql: Mapping[str, LiteralString], row: Mapping[str, Any], known: str) -> Written:
    """Write a separate memory; the known one loses its `ref` or its key."""
    connection.execute(sql["let_go"], {"ns": row["ns"], "id": known})
    connection.execute(sql["remember"], row)
    return Written(row["id"], True)
