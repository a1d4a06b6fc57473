"""Which sessions have files in the folders of the mirror."""

from typing import Any

from biem.adapters.postgres.database import Database, Row
from biem.adapters.postgres.mirror import root_of
from biem.domain.mirror.root import MirrorRoot
from biem.domain.scope import Scope
from biem.ports.layers.mirror import SessionFile, StaleSession


class PostgresSessionFiles:
    """The port `SessionFileRecords`. The database is shared with other adapters."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def stale(self, root: MirrorRoot, current: str, limit: int) -> list[StaleSession]:
        row = {**_key(root), "current": current, "limit": limit}
        return [_stale(each) for each in self._database.fetch(root.scope.ns, "mirror_sessions_stale", row)]

    def put(self, root: MirrorRoot, file: SessionFile) -> None:
        row = {
            **_key(root),
            "session": file.session_id,
            "path": file.path,
            "next_seq": file.next_seq,
            "messages": file.messages,
            "bytes": file.bytes,
        }
        self._database.execute(root.scope.ns, "mirror_session_put", row)

    def drop(self, root: MirrorRoot, session_id: str) -> None:
        self._database.execute(root.scope.ns, "mirror_session_drop", {**_key(root), "session": session_id})

    def written(self, scope: Scope) -> list[tuple[MirrorRoot, str]]:
        rows = self._database.fetch(scope.ns, "mirror_sessions_written", {"ns": scope.ns})
        return [(root_of(row), row.file) for row in rows]


def _key(root: MirrorRoot) -> dict[str, Any]:
    return {"ns": root.scope.ns, "root": root.id}


def _stale(row: Row) -> StaleSession:
    file = None
    if row.path is not None:
        file = SessionFile(
            session_id=row.id, path=row.path, next_seq=row.file_seq, messages=row.file_messages, bytes=row.bytes
        )
    if not row.exists:
        return StaleSession(session_id=row.id, file=file)
    return StaleSession(
        session_id=row.id,
        file=file,
        name=row.name,
        open=row.status == "open",
        opened_at=row.opened_at,
        next_seq=row.next_seq,
        messages=row.messages,
    )
