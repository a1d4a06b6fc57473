"""The embedded stack when processes are killed, leave in a hurry, or left something behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from biem.adapters.embedded import status
from tests.support import stacks
from tests.support.fakes import PATIENCE_S, eventually
from tests.support.stacks import (
    LINGER_S,
    client,
    down,
    joined,
    kill_owner,
    lives,
    owner_seen_by,
    processes,
    query,
    recovered,
    server_pid,
)

# Fixtures, not in a conftest: only these two files want them.
base, cluster, own_home, new_home = stacks.base, stacks.cluster, stacks.own_home, stacks.new_home

WRITER = f"""
import sys
from pathlib import Path
import psycopg
from biem.adapters.embedded import EmbeddedStack
with EmbeddedStack(Path(sys.argv[1]), linger_s={LINGER_S}) as urls:
    connection = None
    for number in range(int(sys.argv[3])):
        text = f"{{sys.argv[2]}}-{{number}}"
        while True:
            try:
                connection = connection or psycopg.connect(urls.postgres_dsn, autocommit=True)
                connection.execute("INSERT INTO texts VALUES (%s) ON CONFLICT DO NOTHING", (text,))
                break
            except psycopg.OperationalError:
                connection = connection and connection.close()
        print(text, flush=True)
    connection.close()
"""


@pytest.mark.req("D1")
def test_processes_that_arrive_together_share_one_owner_and_the_last_to_leave_ends_it(own_home: Path) -> None:
    # When four processes start at once
    with client(own_home) as a, client(own_home) as b, client(own_home) as c, client(own_home) as d:
        everybody = (a, b, c, d)
        owners = {owner_seen_by(process) for process in everybody}
        # Then one owner serves them all
        assert len(owners) == 1
        # And it stays while one is left
        for process in everybody[1:]:
            process.kill()
            process.wait()
        with joined(own_home) as urls:
            assert query(urls, "SELECT 1") == [(1,)]
        assert {status(own_home).owner_pid} == owners
        # And goes when the last one is killed
        a.kill()
        eventually(lambda: down(own_home), PATIENCE_S, "a killed client counts as gone")


@pytest.mark.req("D1")
def test_no_acknowledged_text_is_lost_or_doubled_while_the_owner_is_killed_three_times(own_home: Path) -> None:
    count = 1000
    with joined(own_home) as urls:
        query(urls, "CREATE TABLE texts (text text PRIMARY KEY)")
        words = [sys.executable, "-c", WRITER, str(own_home)]
        pipe = subprocess.PIPE
        with (
            subprocess.Popen([*words, "a", str(count)], stdout=pipe, text=True) as a,
            subprocess.Popen([*words, "b", str(count)], stdout=pipe, text=True) as b,
        ):
            # When the owner is killed three times while two processes write
            assert a.stdout is not None
            assert b.stdout is not None
            acknowledged = [a.stdout.readline(), b.stdout.readline()]
            for _ in range(3):
                dead = kill_owner(own_home)
                eventually(recovered(own_home, dead), PATIENCE_S, "the stack is back")
                acknowledged += [a.stdout.readline() for _ in range(100)]
            acknowledged += [*a.stdout, *b.stdout]
            assert (a.wait(), b.wait()) == (0, 0)
        # Then every text is there, once
        found = [str(text) for (text,) in query(urls, "SELECT text FROM texts")]
    assert len(acknowledged) == 2 * count
    assert sorted(found) == sorted(line.strip() for line in acknowledged)


@pytest.mark.req("D1")
def test_a_surviving_client_brings_the_stack_back_at_the_same_urls(own_home: Path) -> None:
    with joined(own_home) as urls:
        query(urls, "CREATE TABLE t AS SELECT 1 AS x")
        dead = kill_owner(own_home)
        eventually(recovered(own_home, dead), PATIENCE_S, "a new owner")
        assert status(own_home).urls == urls
        assert query(urls, "SELECT x FROM t") == [(1,)]


@pytest.mark.req("D1")
def test_a_server_that_is_killed_comes_back(own_home: Path) -> None:
    with joined(own_home) as urls:
        query(urls, "CREATE TABLE t AS SELECT 1 AS x")
        for name in ("postgres", "valkey", "milvus"):
            dead = server_pid(own_home, name)
            os.kill(dead, signal.SIGKILL)

            def replaced(name: str = name, dead: int = dead) -> bool:
                return any(s.name == name and s.ready and s.pid != dead for s in status(own_home).servers)

            eventually(replaced, PATIENCE_S, f"{name} is back")
        assert query(urls, "SELECT x FROM t") == [(1,)]


@pytest.mark.req("D1")
def test_nothing_is_left_after_every_process_was_killed_and_the_next_start_recovers(own_home: Path) -> None:
    with client(own_home) as process:
        owner_seen_by(process)
        with psycopg.connect(status(own_home).urls.postgres_dsn, autocommit=True) as connection:
            connection.execute("CREATE TABLE t AS SELECT 1 AS x")
            # When the client and the owner are killed at the same moment, with a connection open
            process.kill()
            kill_owner(own_home)
            # Then no server outlives them
            eventually(lambda: not processes(own_home), PATIENCE_S, "no orphans")
    with joined(own_home) as urls:
        assert query(urls, "SELECT x FROM t") == [(1,)]


@pytest.mark.req("D1", "X42")
def test_a_kill_in_the_middle_of_the_first_start_leaves_no_half_made_cluster(new_home: Path) -> None:
    with client(new_home) as process:
        eventually((new_home / "postgres.new").is_dir, PATIENCE_S, "initdb runs")
        process.kill()
        kill_owner(new_home)
    assert not (new_home / "postgres").exists()
    with joined(new_home) as urls:
        assert query(urls, "SELECT 1") == [(1,)]
    assert not (new_home / "postgres.new").exists()


@pytest.mark.long
@pytest.mark.req("D1", partly="a frozen process of a dead PostgreSQL")
@pytest.mark.parametrize(
    "owner_dies",
    [
        pytest.param(False, id="the owner lives", marks=pytest.mark.long),
        pytest.param(True, id="the owner dies, too"),
    ],
)
def test_a_frozen_backend_of_a_dead_postmaster_does_not_keep_a_home_down(own_home: Path, owner_dies: bool) -> None:
    with client(own_home) as process, client(own_home.with_name("other")) as innocent:
        owner_seen_by(process)
        owner_seen_by(innocent)
        # Given a backend that was frozen, a process that merely works in the folder of the data, and another home
        with (
            psycopg.connect(status(own_home).urls.postgres_dsn, autocommit=True) as connection,
            subprocess.Popen(
                [sys.executable, "-c", "input()"], cwd=own_home / "postgres", stdin=subprocess.PIPE
            ) as near,
        ):
            connection.execute("CREATE TABLE t AS SELECT 1 AS x")
            backend, postmaster = connection.info.backend_pid, server_pid(own_home, "postgres")
            other = server_pid(own_home.with_name("other"), "postgres")
            os.kill(backend, signal.SIGSTOP)
            # When its postmaster is killed, alone or with all that could start another one
            os.kill(postmaster, signal.SIGKILL)
            if owner_dies:
                process.kill()
                kill_owner(own_home)
            # Then the next start ends the rest of it, and nothing else, and has what was committed
            with joined(own_home) as urls:
                eventually(
                    lambda: not lives(backend) and status(own_home).ready, PATIENCE_S, "another postmaster answers"
                )
                assert query(urls, "SELECT x FROM t") == [(1,)]
            assert near.poll() is None
            assert lives(other)
            near.kill()


@pytest.mark.req("D1")
def test_a_pid_that_now_belongs_to_another_process_is_spared_and_does_no_harm(own_home: Path) -> None:
    with joined(own_home):
        pass
    eventually(lambda: down(own_home), PATIENCE_S, "the servers end")
    with client(own_home.with_name("other")) as innocent:
        # Given pid files of dead servers, whose pid was given to a process that is not ours
        for name in ("postgres", "valkey", "milvus"):
            (own_home / "run" / f"{name}.lock").write_text(str(innocent.pid))
        (own_home / "postgres" / "postmaster.pid").write_text(
            f"{innocent.pid}\n{own_home}/postgres\n1\n5432\n{own_home}/run\n\n0 0\n"
        )
        (own_home / "run" / ".s.PGSQL.5432.lock").write_text(
            f"{innocent.pid}\n{own_home}/postgres\n1\n5432\n{own_home}/run\n"
        )
        (own_home / "run" / "state.json").write_text(
            f'{{"pid": {innocent.pid}, "phase": "ready", "servers": {{}}, "trouble": "", "reason": ""}}'
        )
        # When the home is used again
        with joined(own_home) as urls:
            assert query(urls, "SELECT 1") == [(1,)]
        # Then that process lives
        assert innocent.poll() is None


@pytest.mark.req("D1")
def test_an_owner_whose_home_was_removed_leaves(base: Path, own_home: Path) -> None:
    stack = joined(own_home)
    stack.join()
    own_home.rename(base / "moved")
    eventually(lambda: not processes(own_home), PATIENCE_S, "the servers of a removed home end")
    stack.leave()
    stack.leave()
    assert not own_home.exists()
