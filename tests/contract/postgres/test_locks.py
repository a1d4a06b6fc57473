"""The promises of `Exclusive` on a real PostgreSQL."""

import socket
import threading
import time
from collections.abc import Iterator

import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.locks import PostgresExclusive
from biem.domain.scope import Scope
from biem.errors import StoreUnavailable
from tests.contract.conftest import Admin
from tests.support.fakes import eventually


@pytest.fixture
def exclusive(database: str) -> Iterator[PostgresExclusive]:
    """One adapter; locks belong to its connection."""
    opened = PostgresExclusive(database)
    yield opened
    opened.close()


@pytest.fixture
def elsewhere(database: str) -> Iterator[PostgresExclusive]:
    """Another adapter, with its own connection, as another process has it."""
    opened = PostgresExclusive(database)
    yield opened
    opened.close()


def holders(admin: Admin) -> set[int]:
    rows = admin.execute(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'biem-exclusive' AND datname = current_database()"
    ).fetchall()
    return {int(row[0]) for row in rows}


@pytest.mark.req("C15", "X38", partly="the lock")
def test_one_holder_a_scope_and_job_over_connections(
    exclusive: PostgresExclusive, elsewhere: PostgresExclusive, scope: Scope
) -> None:
    # Given a job held on one connection
    with exclusive.hold(scope, "merge") as mine:
        # When another asks for it
        with elsewhere.hold(scope, "merge") as theirs:
            # Then only the first has it
            assert (mine, theirs) == (True, False)
        # And asking in vain gave nothing back
        with elsewhere.hold(scope, "merge") as again:
            assert not again
    # And after the block the other may
    with elsewhere.hold(scope, "merge") as freed:
        assert freed


def test_threads_of_one_process_exclude_each_other(exclusive: PostgresExclusive, scope: Scope) -> None:
    # Given a job held by one thread
    answers: list[bool] = []

    def ask() -> None:
        with exclusive.hold(scope, "merge") as granted:
            answers.append(granted)

    with exclusive.hold(scope, "merge"):
        # When another thread asks
        other = threading.Thread(target=ask)
        other.start()
        other.join()
    # Then it was refused, and is granted afterwards
    ask()
    assert answers == [False, True]


def test_other_jobs_other_scopes_and_all_scopes_are_independent(
    exclusive: PostgresExclusive, elsewhere: PostgresExclusive, scope: Scope, other: Scope
) -> None:
    # Given a job held in one scope
    with (
        exclusive.hold(scope, "merge"),
        # When others ask for another job, another scope, or all scopes
        elsewhere.hold(scope, "dedupe") as job,
        elsewhere.hold(other, "merge") as place,
        elsewhere.hold(None, "merge") as everywhere,
    ):
        # Then each is granted
        assert job
        assert place
        assert everywhere


def test_a_job_that_fails_gives_its_lock_back(
    exclusive: PostgresExclusive, elsewhere: PostgresExclusive, scope: Scope
) -> None:
    # When a job raises inside the block
    with pytest.raises(RuntimeError, match="broken"), exclusive.hold(scope, "merge"):
        raise RuntimeError("broken")
    # Then another process may run it
    with elsewhere.hold(scope, "merge") as granted:
        assert granted


@pytest.mark.req("X8", "X38", partly="the lock of a killed process")
def test_the_server_frees_the_lock_of_a_connection_that_dies(
    exclusive: PostgresExclusive, elsewhere: PostgresExclusive, scope: Scope, admin: Admin
) -> None:
    # Given a job held by a process
    with exclusive.hold(scope, "merge") as held:
        assert held
        # When its connection is killed
        for pid in holders(admin):
            admin.execute("SELECT pg_terminate_backend(%s)", (pid,))

        # Then another process gets the lock
        def granted() -> bool:
            with elsewhere.hold(scope, "merge") as free:
                return free

        eventually(granted)
    # And the first goes on with a new connection
    with exclusive.hold(scope, "merge") as again:
        assert again


def test_holding_a_job_takes_no_connection_of_the_pool(
    exclusive: PostgresExclusive, database: str, scope: Scope
) -> None:
    # Given a pool whose only connection is in use
    pool = Database(database, pool_size=1, retry_s=0.0)
    try:
        # When a job is held and its lock given back
        with pool.connection(), exclusive.hold(scope, "merge") as granted:
            # Then nothing waits
            assert granted
    finally:
        pool.close()


def test_without_a_server_it_says_so(scope: Scope) -> None:
    # Given no server
    nowhere = PostgresExclusive("postgresql://nobody@127.0.0.1:1/none")
    # When a job is asked for, Then the error is ours, and may be retried
    with pytest.raises(StoreUnavailable, match="cannot be reached"), nowhere.hold(scope, "merge"):
        pass
    nowhere.close()
    nowhere.close()


@pytest.mark.long
def test_a_server_that_accepts_and_never_answers_is_given_up(scope: Scope) -> None:
    # Given a listener that says nothing
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen()
        silent = PostgresExclusive(f"postgresql://nobody@127.0.0.1:{deaf.getsockname()[1]}/none")
        # When a job is asked for, Then it ends in bounded time
        with pytest.raises(StoreUnavailable), silent.hold(scope, "merge"):
            pass
        # And the other jobs of a night do not wait for it one by one, three seconds each
        began = time.monotonic()
        for job in ("build", "forget", "links"):
            with pytest.raises(StoreUnavailable, match="a moment ago"), silent.hold(scope, job):
                pass
        assert time.monotonic() - began < 8.0


def test_a_process_holds_all_its_jobs_on_one_connection(
    exclusive: PostgresExclusive, elsewhere: PostgresExclusive, scope: Scope, admin: Admin
) -> None:
    # Given two processes that hold many jobs each, while connections of earlier tests may still end
    before = holders(admin)
    with (
        exclusive.hold(scope, "a"),
        exclusive.hold(scope, "b"),
        elsewhere.hold(scope, "c"),
        elsewhere.hold(scope, "d"),
    ):
        # Then each uses one connection
        used = holders(admin) - before
        assert len(used) == 2
    # And closing gives them back, for good: a thread that is still at work gets no other job
    exclusive.close()
    elsewhere.close()
    with exclusive.hold(scope, "e") as granted:
        assert not granted
    eventually(lambda: not used & holders(admin))
