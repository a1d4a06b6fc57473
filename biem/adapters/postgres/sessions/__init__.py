"""Sessions in PostgreSQL: an append is one statement in one round trip, a trimmed slice one transaction."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Connection, Database, Row
from biem.adapters.postgres.node_rows import scope_of
from biem.adapters.postgres.trust.repeated import settle_repeated
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.sessions.session import Appended, ChatSession, SessionMessage
from biem.domain.sessions.trimming import Outline, Slice
from biem.domain.trust import LEVELS
from biem.errors import InvalidInput, NotFound, RefConflict
from biem.ports import Clock, Write, Written
from biem.ports.layers.sessions import NewMessage, StoredMessage, Summable

WriteRow = Callable[[Scope, Write, datetime], dict[str, Any]]
"""The parameters of a write; see `PostgresRecords.write_row`."""


class PostgresSessions:
    """The port `SessionRecords`. The database is shared with other adapters."""

    def __init__(self, database: Database, *, write_row: WriteRow, clock: Clock) -> None:
        self._database = database
        self._sql = database.sql
        self._write_row = write_row
        self._clock = clock

    # -- opening and closing ----------------------------------------------------------------------------------------

    def open(self, scope: Scope, name: str, at: datetime, metadata: Mapping[str, Any], *, alone: bool) -> ChatSession:
        row = {"id": new_id(), "ns": scope.ns, "name": name, "at": at, "metadata": Jsonb(dict(metadata))}

        def attempt() -> ChatSession:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["ensure_scope"], (scope.ns, scope.tenant, scope.user, scope.project))
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                connection.execute(self._sql["session_open"], row)
                [found] = connection.execute(self._sql["session_named"], row).fetchall()
                if alone:
                    others = {"ns": scope.ns, "session": found.id, "name": None, "at": at}
                    connection.execute(self._sql["session_close_others"], others)
                return _session(scope, found)

        return self._database.retrying(attempt)

    def get(self, scope: Scope, session_id: str) -> ChatSession | None:
        rows = self._database.fetch(scope.ns, "session_get", _key(scope, session_id))
        return _session(scope, rows[0]) if rows else None

    def listed(self, scope: Scope, status: str | None, limit: int) -> list[ChatSession]:
        row = {"ns": scope.ns, "status": status, "limit": limit}
        return [_session(scope, each) for each in self._database.fetch(scope.ns, "session_list", row)]

    def close(self, scope: Scope, session_id: str, at: datetime) -> bool:
        return self._database.execute(scope.ns, "session_close", {**_key(scope, session_id), "at": at}) > 0

    def resume(self, scope: Scope, session_id: str, at: datetime, *, alone: bool) -> ChatSession:
        key = {**_key(scope, session_id), "at": at}

        def attempt() -> ChatSession:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                there = connection.execute(self._sql["session_lock"], key).fetchone()
                if there is None:
                    raise NotFound(f"no session {session_id} in scope {scope}")
                others = {**key, "name": None if alone else there.name}
                connection.execute(self._sql["session_close_others"], others)
                connection.execute(self._sql["session_resume"], key)
                [found] = connection.execute(self._sql["session_get"], key).fetchall()
                return _session(scope, found)

        return self._database.retrying(attempt)

    def archive(self, scope: Scope | None, at: datetime) -> int:
        row = {"ns": None if scope is None else scope.ns, "at": at}
        return self._database.execute(_seen(scope), "session_archive", row)

    # -- messages ---------------------------------------------------------------------------------------------------

    def append(self, scope: Scope, message: NewMessage, write: Write | None) -> StoredMessage:
        now = self._clock.now()
        row = {
            **({"id": None, "ref": None, "fact_key": None} if write is None else self._write_row(scope, write, now)),
            "ns": scope.ns,
            "session": message.session_id,
            "role": message.role,
            "text": message.content,
            "tokens": message.tokens,
            "begins": int(message.role == "user"),
            "at": message.at,
            "now": now,
            "key": message.key,
            "most": message.most,
            "data": Jsonb(dict(message.data)),
            "memory": None,
        }
        named = row["key"] is not None or row["ref"] is not None or row["fact_key"] is not None

        def attempt() -> StoredMessage:
            with self._database.connection() as connection:
                # another writer may be storing the same
                lock = [("lock_scope", (scope.ns,))] if named and write is not None else []
                statement = "session_append_only" if write is None else "session_append"
                found = connection.send(("see_scopes", (scope.ns,)), *lock, (statement, row))[-1].rows
                if found:
                    [stored] = found
                    memory_id = None if write is None else write.id
                    written = None if memory_id is None else Written(memory_id, True)
                    return StoredMessage(Appended(stored.seq, memory_id, stored.tokens), written)
                with connection.transaction():
                    return self._append_slowly(connection, scope, row, remembers=write is not None)

        return self._database.retrying(attempt)

    def _append_slowly(
        self, connection: Connection, scope: Scope, row: dict[str, Any], *, remembers: bool
    ) -> StoredMessage:
        """Find out why a message was not stored, and store one whose memory exists."""
        connection.execute(self._sql["see_scopes"], (scope.ns,))
        connection.execute(self._sql["lock_scope"], (scope.ns,))
        session_id = row["session"]
        there = connection.execute(self._sql["session_lock"], row).fetchone()
        if there is None:
            raise NotFound(f"no session {session_id} in scope {scope}")
        same = connection.execute(self._sql["session_said"], row).fetchone()
        if same is not None:
            if (same.role, same.content) != (row["role"], row["text"]):
                raise RefConflict(
                    f"ref {row['key']!r} already names message {same.seq} of this session with another text; write "
                    "under another ref"
                )
            written = None if same.memory_id is None else Written(same.memory_id, False)
            return StoredMessage(Appended(same.seq, same.memory_id, same.tokens, created=False), written)
        if there.status != "open":
            raise InvalidInput(f"session {session_id} is {there.status}; resume it, or open another")
        written = None
        if remembers:
            new = connection.execute(self._sql["remember"], row).fetchone()
            written = Written(row["id"], True) if new is not None else settle_repeated(connection, self._sql, row)
        memory_id = None if written is None else written.id
        keyed = {**row, "memory": memory_id}
        [stored] = connection.execute(self._sql["session_append_only"], keyed).fetchall()
        return StoredMessage(Appended(stored.seq, memory_id, stored.tokens), written)

    def messages(self, scope: Scope, session_id: str, after: int, limit: int) -> list[SessionMessage]:
        row = {**_key(scope, session_id), "after": after, "limit": limit}
        return [_message(each) for each in self._database.fetch(scope.ns, "session_messages", row)]

    def last(self, scope: Scope, session_id: str, limit: int) -> list[SessionMessage]:
        row = {**_key(scope, session_id), "limit": limit}
        return [_message(each) for each in self._database.fetch(scope.ns, "session_last", row)]

    def retract(self, scope: Scope, session_id: str, limit: int | None, at: datetime) -> list[SessionMessage]:
        row = {**_key(scope, session_id), "limit": limit, "at": at}

        def attempt() -> list[SessionMessage]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                connection.execute(self._sql["session_lock"], row)
                return [_message(each) for each in connection.execute(self._sql["session_retract"], row)]

        return self._database.retrying(attempt)

    def system(self, scope: Scope, session_id: str) -> list[SessionMessage]:
        return [_message(row) for row in self._database.fetch(scope.ns, "session_system", _key(scope, session_id))]

    def newest(self, scope: Scope, session: ChatSession, before: int, limit: int) -> list[SessionMessage]:
        row = {**_key(scope, session.id), "head": session.head_seq, "before": before, "limit": limit}
        return [_message(each) for each in self._database.fetch(scope.ns, "session_newest", row)]

    # -- trimming ---------------------------------------------------------------------------------------------------

    def due(self, scope: Scope | None, at: datetime, limit: int) -> list[tuple[Scope, str]]:
        row = {"at": at, "ns": None if scope is None else scope.ns, "limit": limit}
        return [(scope_of(each), each.id) for each in self._database.fetch(_seen(scope), "session_due", row)]

    def outline(self, scope: Scope, session_id: str, protected: int) -> list[Outline]:
        row = {**_key(scope, session_id), "protected": protected}
        return [Outline(**each._asdict()) for each in self._database.fetch(scope.ns, "session_outline", row)]

    def summable(self, scope: Scope, session_id: str, part: Slice) -> list[Summable]:
        rows = self._database.fetch(scope.ns, "session_summable", _slice_key(scope, session_id, part))
        return [Summable(**{**each._asdict(), "trust": LEVELS[each.trust]}) for each in rows]

    def trim(
        self, scope: Scope, session: ChatSession, part: Slice, summary: Write | None, sources: Sequence[Summable]
    ) -> Written | None:
        key = {**_slice_key(scope, session.id, part), "head": session.head_seq, "tokens": part.tokens}
        row = None if summary is None else self._write_row(scope, summary, self._clock.now())

        def attempt() -> Written | None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                there = connection.execute(self._sql["session_lock"], key).fetchone()
                if there is None or there.head_seq != session.head_seq:
                    return None
                rows = connection.execute(self._sql["session_summable"], key).fetchall()
                if [each.memory_id for each in rows] != [each.memory_id for each in sources]:
                    return None  # one was erased, or is no longer to be told
                if connection.execute(self._sql["session_slice"], key).fetchall()[0].tokens != part.tokens:
                    return None
                connection.execute(self._sql["session_trim"], key)
                if row is None:
                    return Written("", False)
                new = connection.execute(self._sql["remember"], row).fetchone()
                written = Written(row["id"], True) if new is not None else settle_repeated(connection, self._sql, row)
                derived = {"ns": scope.ns, "summary": written.id, "sources": [each.memory_id for each in sources]}
                connection.execute(self._sql["session_derived"], derived)
                return written

        return self._database.retrying(attempt)

    def trimmed(self, scope: Scope, session: ChatSession) -> None:
        row = {**_key(scope, session.id), "next": session.next_seq}
        self._database.execute(scope.ns, "session_trimmed", row)

    def put_off(self, scope: Scope, session_id: str, at: datetime) -> None:
        self._database.execute(scope.ns, "session_put_off", {**_key(scope, session_id), "at": at})

    # -- diagnosis --------------------------------------------------------------------------------------------------

    def stuck(self, before: datetime, tries: int, limit: int) -> list[str]:
        row = {"before": before, "tries": tries, "limit": limit}
        return [each.id for each in self._database.fetch(ALL_SCOPES, "session_stuck", row)]

    def miscounted(self, limit: int) -> list[str]:
        return [each.id for each in self._database.fetch(ALL_SCOPES, "session_miscounted", {"limit": limit})]

    def recount(self, ids: Sequence[str]) -> None:
        self._database.execute(ALL_SCOPES, "session_recount", {"ids": list(ids)})


def _seen(scope: Scope | None) -> str:
    return ALL_SCOPES if scope is None else scope.ns


def _key(scope: Scope, session_id: str) -> dict[str, Any]:
    return {"ns": scope.ns, "session": session_id}


def _slice_key(scope: Scope, session_id: str, part: Slice) -> dict[str, Any]:
    return {**_key(scope, session_id), "first": part.first, "last": part.last}


def _session(scope: Scope, row: Row) -> ChatSession:
    return ChatSession(scope=scope, **row._asdict())


def _message(row: Row) -> SessionMessage:
    return SessionMessage(**row._asdict())
