"""A scope as lines, read from one snapshot and added in transactions."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from psycopg import Rollback
from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Connection
from biem.adapters.postgres.node_rows import Store
from biem.adapters.postgres.records import conditions
from biem.domain.items.item import Namespace
from biem.domain.scope import Scope
from biem.domain.transfer import SECTIONS, Row, Section
from biem.ports import Filter
from biem.ports.transfer import Added, Present

_FETCHED: Mapping[Section, int] = {"item": 16}
"""Rows of a type held in this process; an item may have megabytes."""
_FETCHED_ELSE = 500
_STATEMENTS: Mapping[Section, tuple[str, ...]] = {"item": ("item_sweep", "import_item", "import_item_left")}
"""What adds lines of a type, in this order; of other types, one statement."""
_UNHURRIED = "SET LOCAL idle_in_transaction_session_timeout = 0"
"""Who reads the file may be slow."""


class PostgresScopeLines(Store):
    """The port `ScopeLines`: one read-only transaction, and a cursor of the server for each type of line."""

    def read(self, scope: Scope, where: Filter | None) -> Iterator[tuple[Section, Row]]:
        now = self._clock.now()
        asked = {**conditions([scope], where or Filter(), now, self._decay), "ns": scope.ns, "filtered": bool(where)}
        with self._database.connection(patient=True) as connection, connection.transaction():
            connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            connection.execute(_UNHURRIED)
            connection.execute(self._sql["see_scopes"], (scope.ns,))
            for section in SECTIONS:
                for row in self._rows(connection, section, asked):
                    yield section, row

    def _rows(self, connection: Connection, section: Section, asked: dict[str, Any]) -> Iterator[Row]:
        with connection.cursor(name=f"export_{section}") as cursor:
            cursor.itersize = _FETCHED.get(section, _FETCHED_ELSE)
            for row in cursor.execute(self._sql[f"export_{section}"], asked):
                yield _plain(row._asdict())


class PostgresImports(Store):
    """The port `Imports`."""

    def present(self, scope: Scope, ids: Sequence[str], refs: Sequence[str], facts: Sequence[str]) -> list[Present]:
        asked = {
            "ns": scope.ns,
            "ids": list(ids),
            "refs": list(refs),
            "fact_keys": [bytes.fromhex(fact) for fact in facts],
        }
        rows = self._database.fetch(ALL_SCOPES, "import_there", asked)
        return [Present(**row._asdict()) if row.here else Present(row.id, here=False) for row in rows]

    def add_memories(self, scope: Scope, rows: Sequence[Row]) -> Added:
        after_s = self._policies.encode.lease_s + 5.0
        given = {"ns": scope.ns, "rows": Jsonb([{**row, "place": n} for n, row in enumerate(rows)]), "after_s": after_s}
        replaced = [row["id"] for row in rows if row["superseded_by"] is not None]
        done: list[str] = []  # by an attempt whose answer may have been lost

        def attempt() -> Added:
            added: Added | None = None
            with self._database.connection(patient=True) as connection, connection.transaction():
                self._enter(connection, scope)
                created = connection.execute(self._sql["import_memories"], given).fetchall()
                found = connection.execute(self._sql["import_circles"], {"ns": scope.ns, "ids": replaced}).fetchall()
                if found:
                    added = Added((), tuple(row.id for row in found))
                    raise Rollback
                done.extend(row.id for row in created)
            return added or Added(tuple(done))

        return self._database.retrying(attempt)

    def add(self, scope: Scope, section: Section, rows: Sequence[Row], ids: Sequence[str]) -> list[str]:
        given = {"ns": scope.ns, "rows": Jsonb(list(rows)), "now": self._clock.now()}

        def attempt() -> list[str]:
            with self._database.connection(patient=True) as connection, connection.transaction():
                self._enter(connection, scope)
                missing = self._missing(connection, scope, ids)
                for statement in () if missing else _STATEMENTS.get(section, (f"import_{section}",)):
                    connection.execute(self._sql[statement], given)
            return missing

        return self._database.retrying(attempt)

    def other_items(self, scope: Scope, rows: Sequence[Row]) -> list[tuple[Namespace, str]]:
        given = {"ns": scope.ns, "rows": Jsonb(list(rows)), "now": self._clock.now()}
        found = self._database.fetch(scope.ns, "import_other_items", given)
        return [(tuple(row.namespace), row.key) for row in found]

    def cut(self, scope: Scope, ids: Sequence[str]) -> int:
        def attempt() -> int:
            with self._database.connection(patient=True) as connection, connection.transaction():
                self._enter(connection, scope)
                missing = self._missing(connection, scope, ids)
                if missing:
                    connection.execute(self._sql["import_cut"], {"ns": scope.ns, "ids": missing})
            return len(missing)

        return self._database.retrying(attempt)

    def _enter(self, connection: Connection, scope: Scope) -> None:
        """The scope, made if it is new, and locked."""
        connection.execute(self._sql["see_scopes"], (scope.ns,))
        connection.execute(self._sql["ensure_scope"], (scope.ns, scope.tenant, scope.user, scope.project))
        connection.execute(self._sql["lock_scope"], (scope.ns,))
        connection.execute(self._sql["aim_ensure"], {"ns": scope.ns})

    def _missing(self, connection: Connection, scope: Scope, ids: Sequence[str]) -> list[str]:
        rows = connection.execute(self._sql["import_here"], {"ns": scope.ns, "ids": list(ids)}).fetchall()
        return sorted(set(ids) - {row.id for row in rows})


def _plain(row: Row) -> Row:
    """The same with times in ISO 8601, in UTC."""
    return {name: _value(value, name) for name, value in row.items()}


def _value(value: Any, name: str) -> Any:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    if name == "value" and isinstance(value, str):
        return json.loads(value)  # the driver's parser rounds large numbers
    if name == "supersessions":
        return [{**each, "ended_at": _value(datetime.fromisoformat(each["ended_at"]), "")} for each in value]
    return value
