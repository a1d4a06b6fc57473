"""What `Database` promises beyond running statements."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, nullcontext

import psycopg
import pytest
from psycopg.adapt import PyFormat, Transformer
from psycopg.pq import Format

from biem.adapters.postgres.database import ALL_SCOPES, Database
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.scope import Scope
from biem.errors import StoreUnavailable
from tests.contract.conftest import Admin, write


def setting(pool: Database) -> str:
    with pool.connection() as connection:
        row = connection.execute("SHOW synchronous_commit").fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.req("D2", partly="which commits wait for the disk")
def test_only_what_a_thread_defers_does_not_wait_for_the_disk(pool: Database) -> None:
    # Given a thread that defers / When it asks, and another one meanwhile
    others: list[str] = []
    with pool.deferring():
        inside = setting(pool)
        other = threading.Thread(target=lambda: others.append(setting(pool)))
        other.start()
        other.join()

    # Then only its own commits do not wait, and only inside
    assert (inside, others, setting(pool)) == ("off", ["on"], "on")


def test_deferring_inside_of_deferring_ends_with_the_outer_one(pool: Database) -> None:
    # Given work that defers as part of other work that does
    with pool.deferring():
        with pool.deferring():
            pass

        # When the inner part is over / Then the outer one still defers
        assert setting(pool) == "off"
    assert setting(pool) == "on"


def test_after_its_end_a_database_refuses_deferred_work_too(database: str) -> None:
    # Given a closed database / When a user still works on it / Then it says so, and opens nothing again
    closed = Database(database, pool_size=2, retry_s=0.0)
    closed.close()
    with closed.deferring(), pytest.raises(StoreUnavailable):
        closed.fetch("", "backlog", {"ns": None, "due_only": False})


def backend(pool: Database) -> int:
    """The process of the server behind its next statement."""
    with pool.connection() as connection:
        return connection.info.backend_pid


def test_the_next_one_takes_the_connections_of_a_closed_one(database: str) -> None:
    # Given a closed database / When another one like it is opened / Then it has the connection, the closed one not
    first = Database(database, pool_size=1, retry_s=0.0)
    used = backend(first)
    first.close()
    first.close()
    with closing(Database(database, pool_size=1, retry_s=0.0)) as second:
        assert backend(second) == used
        with pytest.raises(StoreUnavailable):
            backend(first)

        # And one beside it, or one that waits for another time, has connections of its own
        with closing(Database(database, pool_size=1, retry_s=0.0)) as beside:
            assert backend(beside) != used
    with closing(Database(database, pool_size=1, retry_s=0.0, limit_s=7.0)) as other:
        with other.connection() as connection:
            limit = connection.execute("SHOW idle_in_transaction_session_timeout").fetchone()
        assert (backend(other) != used, limit) == (True, ("12s",))


def test_a_connection_in_use_is_not_left_to_the_next_one(database: str) -> None:
    # Given a database that is closed in the middle of a transaction
    first = Database(database, pool_size=1, retry_s=0.0)
    with first.connection() as connection:
        used = connection.info.backend_pid
        first.close()

        # When another one is opened / Then it does not have that connection, which is closed at its end
        with closing(Database(database, pool_size=1, retry_s=0.0)) as second:
            assert backend(second) != used
    assert connection.closed


def test_connections_that_the_server_closed_meanwhile_are_not_taken(database: str, admin: Admin) -> None:
    # Given a closed database whose server was restarted / When another one is opened / Then its first call succeeds
    first = Database(database, pool_size=1, retry_s=0.0)
    used = backend(first)
    first.close()
    admin.execute("SELECT pg_terminate_backend(%s, 5000)", (used,))
    with closing(Database(database, pool_size=1, retry_s=0.0)) as second:
        assert backend(second) != used


def test_a_failure_inside_ends_the_deferring(pool: Database) -> None:
    # Given work that fails while it defers
    with pytest.raises(ZeroDivisionError), pool.deferring():
        _ = 1 // 0

    # When something else commits / Then it waits for the disk
    assert setting(pool) == "on"


@pytest.mark.parametrize(
    ("sent", "binary"),
    [([bytes(range(256)), b"", None], True), ([None, b"\\x00"], True), ([], False), ([None], False)],
)
def test_a_list_of_bytes_is_sent_without_escaping_it(pool: Database, sent: list[bytes | None], *, binary: bool) -> None:
    # Given a list of keys / When it is sent, again as a prepared statement
    with pool.connection() as connection:
        writer = Transformer(connection)
        writer.dump_sequence([sent], [PyFormat.AUTO])
        rows = [connection.execute("SELECT %s::bytea[] AS keys", (sent,)).fetchone() for _ in range(3)]
    # Then the server has the same bytes, and none was written as text
    assert [row and row.keys for row in rows] == [sent] * 3
    assert list(writer.formats or ()) == [Format.BINARY if binary else Format.TEXT]


@pytest.mark.req("D2", partly="which commits wait for the disk")
def test_the_next_commit_outside_writes_what_was_deferred(pool: Database, database: str) -> None:
    # Given a deferred commit
    with pool.deferring():
        pool.execute(ALL_SCOPES, "save_vectors", ("nobody's", [], [], []))
        with pool.connection() as connection:
            connection.execute("CREATE TEMPORARY TABLE deferred AS SELECT 1 AS one")
            row = connection.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            assert row is not None

    # When another commits and waits for the disk
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("CREATE TABLE IF NOT EXISTS kept (one integer)")
        other.execute("DROP TABLE kept")
        flushed = other.execute("SELECT pg_current_wal_flush_lsn() >= %s::pg_lsn", row).fetchone()

    # Then both are on it
    assert flushed == (True,)


def test_a_deferred_commit_is_seen_at_once(pool: Database, database: str) -> None:
    # Given a job that is added while deferring
    with pool.deferring(), pool.connection() as connection:
        connection.execute("INSERT INTO outbox (task, memory_id, ns) VALUES ('purge', gen_random_uuid(), 'deferred')")

    # When another process looks / Then it is there
    with psycopg.connect(database, autocommit=True) as other:
        assert other.execute("DELETE FROM outbox WHERE ns = 'deferred' RETURNING task").fetchall() == [("purge",)]


def test_deferred_work_takes_three_connections_at_most_and_waits_for_one_of_them(pool: Database) -> None:
    # Given three connections that deferred work holds
    with pool.deferring(), ExitStack() as held:
        others = [held.enter_context(ExitStack()) for _ in range(3)]
        taken = [other.enter_context(pool.connection()).info.backend_pid for other in others]

        # When there is more deferred work, and one of the three is given back
        def work() -> int:
            with pool.deferring(), pool.connection() as connection:
                return connection.info.backend_pid

        with ThreadPoolExecutor(1) as thread:
            more = thread.submit(work)
            others[0].close()

            # Then it takes that one
            assert more.result(30.0) == taken[0]


def test_what_comes_before_a_statement_holds_no_connection(database: str) -> None:
    # Given a database with one connection, and something that reads before each statement
    seen: list[int] = []

    def before() -> None:
        with opened.connection() as connection:
            row = connection.execute("SELECT 1").fetchone()
            assert row is not None
            seen.append(row[0])

    opened = Database(database, pool_size=1, retry_s=0.0, before=before)
    try:
        # When statements run / Then each finds the connection free
        opened.fetch("", "backlog", {"ns": None, "due_only": False})
        opened.execute(ALL_SCOPES, "save_vectors", ("nobody's", [], [], []))
    finally:
        opened.close()
    assert seen == [1, 1]


@pytest.fixture
def hasty(database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database whose server waits for a second, for a process that waits for the server much longer."""
    monkeypatch.setattr("biem.adapters.postgres.database._SLACK_S", -9.0)
    with closing(Database(database, pool_size=1, retry_s=0.0)) as opened:
        yield opened


@pytest.mark.parametrize("pipelined", [False, True])
def test_what_a_frozen_transaction_had_locked_is_free_again(
    hasty: Database, records: PostgresRecords, scope: Scope, admin: Admin, pipelined: bool
) -> None:
    # Given a transaction that locked a row and then stood still, between two round trips or within one
    if pipelined and admin.info.server_version < 170000:
        pytest.skip("PostgreSQL 17 brought transaction_timeout")
    records.remember(scope, [write("locked")])
    admin.execute("SET lock_timeout = '60s'")

    def frozen() -> None:
        with (
            hasty.connection() as connection,
            connection.pipeline() if pipelined else nullcontext(),
            connection.transaction(),
        ):
            connection.execute("SELECT set_config('biem.ns', '*', true)")
            connection.execute("SELECT FROM scopes WHERE ns = %s FOR UPDATE", (scope.ns,)).fetchone()

            # When another one wants it / Then it has it, once the server has waited long enough
            assert admin.execute("UPDATE scopes SET room_until = room_until WHERE ns = %s", (scope.ns,)).rowcount == 1
            connection.execute("SELECT 1").fetchone()

    with pytest.raises(StoreUnavailable):  # says the one that stood still when it goes on
        frozen()
    assert hasty.fetch("", "backlog", {"ns": None, "due_only": False})


def test_work_that_says_it_takes_long_is_not_ended(hasty: Database) -> None:
    # Given a connection for long work / When its transaction takes longer than others may / Then it ends well
    with hasty.connection(patient=True) as connection, connection.transaction():
        assert connection.execute("SELECT 1 FROM pg_sleep(1.2)").fetchone() == (1,)
