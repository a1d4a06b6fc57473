"""Processes that die at every statement of a session's verbs, or are killed while they append and trim."""

import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

import biem
from biem.adapters.postgres.database import named_row
from biem.bootstrap import Servers
from biem.domain.policies.layers import LayerPolicy
from biem.domain.policies.sessions import SessionPolicy
from tests.integration.faults.test_death_at_every_statement import Cast, cut_everywhere, differing
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.savepoint_stage import on_stage
from tests.support.servers import Testbed

SMALL = SessionPolicy(max_tokens=300, protected_rounds=2)
LIMITED = LayerPolicy(short_term_most=3)
WRITER = """
import sys, biem
from tests.integration.sessions.test_death import SMALL, WordEmbedder
from biem.config import Settings
user, note = sys.argv[1:]
settings = Settings().model_copy(update={"session": SMALL, "queue": "none"})
with biem.connect(settings, scope=biem.Scope(user=user), embedder=WordEmbedder()) as memory, open(note, "a") as told:
    chat = memory.sessions.open("loop")
    number = len(memory.sessions.messages(chat.id))
    while True:
        role = "assistant" if number % 2 else "user"
        text = f"step {number} of the long walk to the lake"
        done = memory.sessions.append(chat.id, role, text, ref=f"r{number}", tokens=25)
        told.write(f"{number} {done.memory_id}\\n")
        told.flush()
        if done.tokens >= SMALL.max_tokens:
            memory.sessions.trim(chat.id)
        number += 1
"""


class Unlocked:
    """The lock of a process that died: its server has given it back."""

    @contextmanager
    def hold(self, scope: object, job: str) -> Iterator[bool]:
        """Grant it."""
        yield True

    def close(self) -> None:
        """Nothing to release."""


@pytest.fixture(scope="module")
def players(testbed: Testbed) -> Iterator[Cast]:
    """Two processes whose sessions are full with 300 tokens."""
    clock, settings = HeldClock(), testbed.settings(sleep=ONLY_SLEEP, session=SMALL, layers=LIMITED)
    with (
        biem.connect(settings, embedder=WordEmbedder(), clock=clock) as living,
        biem.connect(settings, embedder=WordEmbedder(), clock=clock) as heir,
        psycopg.connect(testbed.where.postgres_dsn, autocommit=True, row_factory=named_row) as connection,
    ):
        connection.execute("SET ROLE biem_service")
        yield Cast(living, heir, connection, clock)


@pytest.mark.long
@pytest.mark.req("X21", "X38", partly="sessions")
def test_each_verb_of_a_session_dies_before_any_statement_and_is_made_good_by_asking_again(players: Cast) -> None:
    living, heir, stage = players.enter()
    for memory in (living, heir):
        trimmer: Any = memory.sessions._system.trimmer
        trimmer._exclusive = Unlocked()
    # Given a full session, a closed one, and an open one that has its name
    chat, old = living.sessions.open("barn"), living.sessions.open("shed")
    first = living.sessions.append(chat.id, "user", "The key hangs under the third stair", ref="first", tokens=25)
    for number in range(7):
        long = f"Crate {number} stands behind door {number}. " * 200  # a slice each
        living.sessions.append(chat.id, "assistant", long, tokens=25)
        living.sessions.append(chat.id, "user", f"And which door has crate {number + 1}?", tokens=25)
    living.sessions.append(old.id, "user", "The shed is empty")
    living.sessions.close(old.id)
    living.sessions.open("shed")
    known = living.remember("Bo paints", kind="event", ref="known")
    assert living.flush()  # no worker writes while the processes die
    call = {"tool_calls": [{"id": "c1"}]}

    def full(memory: biem.Memory) -> object:
        """The job, until it finds nothing."""
        job = memory._system.job_runner.jobs["sessions"]
        return [job.run(memory.bound_to) for _ in range(2)]

    stories: dict[str, Callable[[biem.Memory], object]] = {
        "append": lambda memory: memory.sessions.append(chat.id, "user", "Where is Ann?", ref="a", tokens=9),
        "append known": lambda memory: memory.sessions.append(chat.id, "user", "Bo paints", ref="known", tokens=9),
        "append a call": lambda memory: memory.sessions.append(chat.id, "assistant", "", ref="b", data=call, tokens=9),
        "append a result": lambda memory: memory.sessions.append(chat.id, "tool", "in the barn", ref="c", tokens=9),
        "open": lambda memory: memory.sessions.open("new", exclusive=True),
        "close": lambda memory: memory.sessions.close(chat.id),
        "resume": lambda memory: memory.sessions.resume(old.id),
        "trim": lambda memory: memory.sessions.trim(chat.id),
        "job": full,
        "erase": lambda memory: erased(memory, first.memory_id or ""),
        "erase all": lambda memory: memory.erase(memory.bound_to),
    }
    different: dict[str, object] = {}
    cuts: dict[str, int] = {}
    with on_stage(living, stage), on_stage(heir, stage):
        for name, ask in stories.items():
            with stage.transaction(put_back=True):
                before = stage.state()
                with stage.transaction(put_back=True):
                    ask(living)
                    expected = stage.state()
                assert expected != before, name

                def inherit(ask: Callable[[biem.Memory], object] = ask) -> None:
                    ask(heir)

                # When the process dies before any statement, and another one is asked for the same
                ends = cut_everywhere(stage, lambda ask=ask: ask(living), inherit)  # type: ignore[misc]
                different[name], cuts[name] = differing(ends, expected), ends.places
    # Then each time all ends as if no process had died
    assert {name: found for name, found in different.items() if found} == {}
    assert cuts["trim"] > 2, cuts
    assert living.get(known).text == "Bo paints"


@pytest.mark.req("M54", "M23", partly="a process that dies in any step")
def test_maintenance_dies_before_any_statement_and_is_made_good_by_the_next_one(players: Cast) -> None:
    living, heir, stage = players.enter()
    for memory in (living, heir):
        runner: Any = memory._system.job_runner
        runner._exclusive = Unlocked()
    # Given tasks that have expired, one of which was used enough, more tasks than may stay, and a closed session
    soon = players.clock.now() + timedelta(days=1)
    task = {"kind": "task", "metadata": {"category": "task"}}
    ending = living.remember_many([{**task, "text": f"carry crate {n}", "expires_at": soon} for n in range(3)])
    staying = living.remember_many([{**task, "text": f"paint door {n}", "importance": n} for n in range(1, 6)])
    assert living.flush()
    used = living.get(ending[0]).scope.ns
    players.connection.execute("SELECT set_config('biem.ns', %s, false)", (used,))
    players.connection.execute("UPDATE memories SET access_count = 5 WHERE id = %s", (ending[0],))
    living.sessions.close(living.sessions.open("shed").id)
    players.clock.advance(days=2)
    with on_stage(living, stage), on_stage(heir, stage), stage.transaction(put_back=True):
        with stage.transaction(put_back=True):
            done = living.maintain()
            expected = stage.state()
            assert (living.get(ending[0]).layer, living.get(ending[1]).archive_reason) == ("long_term", "expired")
            assert [living.get(key).status for key in staying] == ["archived", "archived", *["active"] * 3]
        assert [done.counts[step] for step in ("promote", "expire", "limits", "sessions")] == [1, 2, 2, 1]

        # When a process dies before any statement of it, and another one maintains
        ends = cut_everywhere(stage, living.maintain, heir.maintain)

    # Then each time all ends as if no process had died
    assert differing(ends, expected) == {}
    assert ends.places > 3


def erased(memory: biem.Memory, key: str) -> None:
    """Gone, by this call or by the one that died."""
    try:
        memory.erase(key)
    except biem.NotFound:
        return


@pytest.mark.long
@pytest.mark.req("M12", "X21", partly="kill -9 while an agent writes")
def test_a_loop_that_is_killed_loses_no_message_and_doubles_none(
    testbed: Testbed, stack: Servers, environment: dict[str, str], tmp_path: Path
) -> None:
    # Given a process that appends and trims, killed again and again
    user, note = f"killed-{uuid.uuid4().hex}", tmp_path / "told"
    note.touch()
    for round_ in range(2):
        known = len(note.read_text().splitlines())
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, user, str(note)],
            env={**os.environ, **environment},
            cwd=Path(__file__).parents[3],
            stderr=subprocess.PIPE,
        )
        try:
            while len(note.read_text().splitlines()) < known + 40 + 7 * round_:
                assert process.poll() is None, process.stderr and process.stderr.read().decode()[-2000:]
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.stderr is not None
            process.stderr.close()

    # When another process looks
    settings = testbed.settings(session=SMALL, queue="none")
    with biem.connect(settings, scope=biem.Scope(user=user), embedder=WordEmbedder()) as memory:
        [chat] = memory.sessions.list()
        said = memory.sessions.messages(chat.id)
        memory.sessions.trim(chat.id)
        after = memory.sessions.get(chat.id)
        summaries = [node for node in memory.timeline(limit=500).items if node.source == "session"]

    # Then every acknowledged message is there once, with its memory, and none without one
    told = dict(line.split() for line in note.read_text().splitlines() if line.count(" ") == 1 and line[-1:] != " ")
    assert [one.content for one in said] == [f"step {n} of the long walk to the lake" for n in range(len(said))]
    assert {number: said[int(number)].memory_id for number in told} == told
    with psycopg.connect(stack.postgres_dsn) as connection:
        rows = connection.execute("SELECT id::text FROM memories WHERE ns = %s", (chat.scope.ns,)).fetchall()
    ids = [one.memory_id for one in said]
    assert sorted(key for (key,) in rows) == sorted([*map(str, ids), *(node.id for node in summaries)])
    assert len(set(ids)) == len(ids)
    # And summaries tell of all slices, none twice, up to the head
    parts = sorted((node.metadata["from"], node.metadata["to"]) for node in summaries)
    assert parts
    assert [first for first, _ in parts] == [1, *(last + 1 for _, last in parts[:-1])]
    assert parts[-1][1] + 1 == after.head_seq
    assert after.messages == len(said)
    assert json.dumps(after.metadata) == "{}"
