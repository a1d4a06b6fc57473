"""Statements that go to libpq's pipeline directly: prepared once, whole or not at all, and never on a lost footing."""

import uuid
from typing import Any

import psycopg
import pytest
from psycopg.errors import InvalidSqlStatementName

from biem.adapters.postgres.database import ALL_SCOPES, Database
from biem.adapters.postgres.sql import sending
from biem.domain.scope import Scope
from biem.errors import InvalidInput

LISTS: list[list[Any]] = [
    [],
    ["plain"],
    ["a", "NULL", "null", "", " ", "two words", "a,b", "{a}", "港口", "🙂", "\t", "\u3000"],
    ['a "quoted" word', "a"],
    ["a\\b", "\\", '"'],
    ["a", None, "b"],
    [None],
    [1, 2, 3],
    [-1, 0, 1 << 40, -(1 << 60)],
    [1, None, 3],
]


def asked(scope: Scope) -> tuple[str, dict[str, Any]]:
    """A statement that changes nothing."""
    return "note_has", {"scopes": [scope.ns]}


@pytest.mark.parametrize("values", LISTS, ids=str)
def test_a_list_arrives_as_it_is(pool: Database, values: list[Any]) -> None:
    # Given a list / When it is sent / Then the server has its elements
    kind = "bigint[]" if any(isinstance(each, int) for each in values) else "text[]"
    with pool.connection() as connection:
        row = connection.execute(f"SELECT %s::{kind} AS there", (values,)).fetchone()
    assert row is not None
    assert row.there == values


def test_a_text_that_postgresql_cannot_have_is_refused_in_a_list(pool: Database) -> None:
    with pytest.raises(InvalidInput):
        pool.fetch(ALL_SCOPES, "note_has", {"scopes": ["a\0b", "c"]})
    assert pool.fetch(ALL_SCOPES, "note_has", {"scopes": ["c"]})[0].there is False


def test_statements_that_the_server_has_dropped_are_prepared_again(pool: Database, scope: Scope) -> None:
    # Given a connection whose prepared statements are gone, as after a transaction that failed
    with pool.connection() as connection:
        before = connection.send(asked(scope))
        connection.execute("DEALLOCATE ALL", prepare=False)
        # When one is sent again, and then in a transaction / Then it answers, or the transaction begins again
        assert connection.send(asked(scope)) == before
        connection.execute("DEALLOCATE ALL", prepare=False)
        with pytest.raises(psycopg.OperationalError) as raised, connection.transaction():
            connection.send(asked(scope))
        assert isinstance(raised.value.__cause__, InvalidSqlStatementName)
        with connection.transaction():
            assert connection.send(asked(scope)) == before


def test_of_statements_that_are_sent_together_all_are_done_or_none(pool: Database) -> None:
    # Given two statements, the second of which fails
    own = Scope("tenant", uuid.uuid4().hex)
    scope = ("ensure_scope", (own.ns, own.tenant, own.user, own.project))
    with pool.connection() as connection:
        for _ in range(2):  # not prepared, and prepared by then
            with pytest.raises(psycopg.errors.InvalidTextRepresentation):
                connection.send(("see_scopes", (ALL_SCOPES,)), scope, ("note_existing", {"ids": ["no id"]}))
        # Then the first one did nothing, and the connection is as good as before
        found = connection.send(("see_scopes", (ALL_SCOPES,)), scope)[-1]
    assert (found.rows, found.count) == ([], 1)


def test_a_connection_keeps_few_statements_prepared(
    pool: Database, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given room for two / When three are sent in turn / Then each answers, and the server has two
    monkeypatch.setattr(sending, "_MOST_PREPARED", 2)
    others: list[tuple[str, dict[str, Any]]] = [("note_existing", {"ids": []}), ("note_sizes", {"scopes": [scope.ns]})]
    with pool.connection() as connection:
        connection.execute("DEALLOCATE ALL", prepare=False)
        for _ in range(2):
            assert [each.count for each in connection.send(asked(scope))] == [1]
            for statement in others:
                assert connection.send(statement)[0].rows == []
        row = connection.execute(
            "SELECT count(*) AS there FROM pg_prepared_statements WHERE starts_with(name, 'biem_')", prepare=False
        ).fetchone()
    assert row is not None
    assert row.there == 2


def test_an_interrupted_call_leaves_no_connection_behind_that_waits_for_its_answer(
    pool: Database, scope: Scope
) -> None:
    # Given a call that is interrupted while it waits
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with pool.connection() as connection:
        connection.wait = interrupted  # type: ignore[assignment,method-assign]
        with pytest.raises(KeyboardInterrupt):
            connection.send(asked(scope))
        # Then its connection is closed, and the next call has another one
        assert connection.closed
    assert pool.fetch(scope.ns, *asked(scope))[0].there is False
