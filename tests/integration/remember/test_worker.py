"""Indexing in the background: each memory exactly once, anyone who dies, sleeps or fails on the way."""

import os
import signal
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil
import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.policies.writing import EncodePolicy
from biem.ports import Role, Vectors
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure
from tests.support.workloads import in_milvus, line, process

HASTY = {"BIEM_ENCODE__LEASE_S": "1", "BIEM_ENCODE__POLL_S": "0.1", "BIEM_ENCODE__BACKOFF_S": "0.05"}
IMPATIENT = EncodePolicy(lease_s=1.0, poll_s=0.1, backoff_s=0.02)


class Picky(WordEmbedder):
    """An embedder that breaks on one word."""

    poison = "poison"

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        if self.poison and any(self.poison in text for text in texts):
            raise ZeroDivisionError("a bug in the model")
        return super().embed(texts, role)


@pytest.fixture
def scope() -> biem.Scope:
    return biem.Scope(user=uuid.uuid4().hex)


@pytest.fixture
def impatient(settings: Configure, stack: Servers, scope: biem.Scope) -> Iterator[biem.Memory]:
    """A memory whose worker gives others one second."""
    with biem.connect(settings(encode=IMPATIENT), scope=scope, embedder=WordEmbedder()) as memory:
        yield memory


def test_what_is_acknowledged_is_indexed_within_a_second(memory: biem.Memory) -> None:
    memory.remember("Warm up", wait=True)
    took = []
    for number in range(20):
        written = memory.remember(f"Measured text {number}", speaker="A")
        began = time.monotonic()
        eventually(lambda key=written: memory.get(key).status == "active")  # type: ignore[misc]
        took.append(time.monotonic() - began)
    assert sorted(took)[10] <= 1.0  # the median: on a busy machine some take longer


def test_rows_without_a_wake_up_of_the_worker_are_indexed_too(settings: Configure, memory: biem.Memory) -> None:
    idle = settings(queue="none")
    with biem.connect(idle, scope=memory.bound_to, embedder=WordEmbedder()) as writer:
        written = writer.remember("From a process without a worker")
        eventually(lambda: memory.get(written).status == "active")


@pytest.mark.long
@pytest.mark.req("X8", partly="a kill between Milvus and PostgreSQL")
def test_a_worker_killed_between_milvus_and_postgres_leaves_exactly_one_row(
    home: Path, settings: Configure, environment: dict[str, str], stack: Servers, scope: biem.Scope
) -> None:
    # Given a process that is killed when Milvus has the row and PostgreSQL does not know
    with process("kill_between", home, scope.user, "The bridge opened in 1932", env=HASTY | environment) as doomed:
        said = {line(doomed), line(doomed)} - {""}
        assert doomed.wait(300) == -signal.SIGKILL
    assert "between" in said
    (written,) = in_milvus(stack.milvus_uri, ns=scope.ns)
    assert said <= {"between", written}
    with psycopg.connect(stack.postgres_dsn) as connection:
        row = connection.execute("SELECT status FROM memories WHERE id = %s", (written,)).fetchone()
    assert row == ("pending",)
    # When another process comes
    with biem.connect(settings(encode=IMPATIENT), scope=scope, embedder=WordEmbedder()) as memory:
        assert [hit.node.id for hit in memory.recall("bridge")] == [written]
        assert memory.flush()
        # Then the memory is active, and there once
        assert memory.get(written).status == "active"
        assert [hit.node.id for hit in memory.recall("bridge")] == [written]
    assert in_milvus(stack.milvus_uri, ns=scope.ns) == [written]


@pytest.mark.long
def test_a_worker_that_slept_through_its_lease_doubles_nothing(
    home: Path, settings: Configure, environment: dict[str, str], stack: Servers, scope: biem.Scope
) -> None:
    # Given a worker that is stopped between Milvus and PostgreSQL
    with process("stop_between", home, scope.user, "The tunnel opened in 1994", env=HASTY | environment) as sleeper:
        said = {line(sleeper)}
        eventually(lambda: psutil.Process(sleeper.pid).status() == psutil.STATUS_STOPPED)
        (written,) = in_milvus(stack.milvus_uri, ns=scope.ns)
        with biem.connect(settings(encode=IMPATIENT), scope=scope, embedder=WordEmbedder()) as memory:
            # When its lease runs out, another one does the work
            assert memory.flush()
            assert memory.get(written).status == "active"
            assert in_milvus(stack.milvus_uri, ns=scope.ns) == [written]
            # And the first one wakes up and goes on
            os.kill(sleeper.pid, signal.SIGCONT)
            said.add(line(sleeper))
            sleeper.communicate(timeout=300)
            # Then there is still one
            assert in_milvus(stack.milvus_uri, ns=scope.ns) == [written]
            assert memory.get(written).status == "active"
            assert [hit.node.id for hit in memory.recall("tunnel")] == [written]
            assert memory.stats()["dead_letters"] == 0
    assert {"between", written} >= said


@pytest.mark.long
def test_several_workers_at_once_index_everything_once(
    home: Path, settings: Configure, environment: dict[str, str], stack: Servers, impatient: biem.Memory
) -> None:
    scope = impatient.bound_to
    with (
        process("work", home, scope.user, env=HASTY | environment) as one,
        process("work", home, scope.user, env=HASTY | environment) as two,
        biem.connect(settings(encode=IMPATIENT), scope=scope, embedder=WordEmbedder()) as third,
    ):
        assert {line(one), line(two)} == {"working"}
        ids = []
        for batch in range(10):
            memory = (impatient, third)[batch % 2]
            ids += memory.remember_many({"text": f"load{batch}n{n}", "speaker": "A"} for n in range(60))
        assert impatient.flush(300)
    found = in_milvus(stack.milvus_uri, ns=scope.ns)
    assert len(found) == 600
    assert sorted(found) == sorted(ids)
    assert impatient.stats()["active"] == 600
    assert impatient.dead_letters() == []


@pytest.mark.long
def test_a_worker_killed_again_and_again_loses_and_doubles_nothing(
    home: Path, settings: Configure, environment: dict[str, str], stack: Servers, scope: biem.Scope
) -> None:
    idle = settings(queue="none")
    with biem.connect(idle, scope=scope, embedder=WordEmbedder()) as writer:
        ids: list[str] = []
        for number in range(2):
            ids += writer.remember_many({"text": f"round{number}n{n}", "speaker": "A"} for n in range(100))
            with process("work", home, scope.user, env=HASTY | environment) as doomed:
                assert line(doomed) == "working"
                wanted = writer.stats()
                eventually(lambda seen=wanted: writer.stats()["active"] != seen["active"])  # type: ignore[misc]
                doomed.kill()
    with biem.connect(settings(encode=IMPATIENT), scope=scope, embedder=WordEmbedder()) as memory:
        assert memory.flush(300)
        assert memory.stats()["active"] == 200
    assert sorted(in_milvus(stack.milvus_uri, ns=scope.ns)) == sorted(ids)


@pytest.mark.long
def test_a_poison_row_goes_to_the_dead_letter_alone_and_retry_brings_it_back(
    settings: Configure, stack: Servers, scope: biem.Scope
) -> None:
    picky = Picky()
    with biem.connect(settings(encode=IMPATIENT), scope=scope, embedder=picky) as memory:
        # Given a row that breaks the code among good ones
        good = memory.remember_many({"text": f"good{n}", "speaker": "A"} for n in range(10))
        bad = memory.remember("poison in the well")
        good += memory.remember_many({"text": f"fine{n}", "speaker": "A"} for n in range(10))
        # Then it is given up with its reason, and it alone
        assert memory.flush()
        eventually(memory.dead_letters)
        (letter,) = memory.dead_letters()
        assert (letter.memory_id, letter.scope, letter.attempts) == (bad, scope, 5)
        assert letter.reason == "ZeroDivisionError: a bug in the model"
        assert [memory.get(key).status for key in good] == ["active"] * 20
        assert memory.stats()["dead_letters"] == 1
        # And it is still found by its words, and no one else's business
        assert [hit.node.id for hit in memory.recall("well")][:1] == [bad]
        assert memory.scope(user="other").dead_letters() == []
        assert memory.scope(user="other").retry() == 0
        # When the code is repaired, retry brings it back
        picky.poison = ""
        assert memory.retry() == 1
        assert memory.flush()
        assert memory.get(bad).status == "active"
        assert memory.dead_letters() == []
        assert memory.retry() == 0
    assert sorted(in_milvus(stack.milvus_uri, ns=scope.ns)) == sorted([*good, bad])


@pytest.mark.long
def test_a_dead_letter_is_found_by_its_words_also_when_it_is_old(
    settings: Configure, stack: Servers, scope: biem.Scope
) -> None:
    picky = Picky()
    with biem.connect(settings(encode=IMPATIENT), scope=scope, embedder=picky) as memory:
        bad = memory.remember("poison oak by the gate")
        eventually(memory.dead_letters)
        # A hundred newer ones push it out of what is hot
        memory.remember_many(({"text": f"Oak number {n}", "speaker": "A"} for n in range(100)), wait=True)
        assert [hit.node.id for hit in memory.recall("gate")][:1] == [bad]
        memory.erase(bad)
        assert memory.dead_letters() == []


@pytest.mark.long
def test_closing_does_not_wait_for_rows_that_another_process_holds(
    home: Path, settings: Configure, environment: dict[str, str], stack: Servers, scope: biem.Scope
) -> None:
    # Given a row whose worker was killed a moment ago: for a minute no one else may touch it
    with process("kill_between", home, scope.user, "Left behind", env=environment) as doomed:
        assert doomed.wait(300) == -signal.SIGKILL
    memory = biem.connect(settings(close_timeout_s=90.0), scope=scope, embedder=WordEmbedder())
    memory.remember("My own", wait=True)
    # When a process that indexed all its own closes
    began = time.monotonic()
    memory.close()
    took = time.monotonic() - began
    with psycopg.connect(stack.postgres_dsn, autocommit=True) as connection:
        connection.execute("UPDATE outbox SET due_at = now() WHERE ns = %s", (scope.ns,))
    # Then it does not wait for the other one's
    assert took < 30


class Held(WordEmbedder):
    """An embedder that notes what it is given, and answers when it is let."""

    def __init__(self, *, let: bool = True) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.let = threading.Event()
        if let:
            self.let.set()

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        self.texts += texts
        assert self.let.wait(60)
        return super().embed(texts, role)


@pytest.mark.long
def test_what_is_embedded_for_longer_than_the_lease_is_taken_by_no_other_worker(
    settings: Configure, stack: Servers, scope: biem.Scope
) -> None:
    # Given a worker that embeds a text, and another one that looks for work again and again
    lease_s, slow, quick = 3.0, Held(let=False), Held()
    config = settings(encode=EncodePolicy(lease_s=lease_s, poll_s=0.1))
    with biem.connect(config, scope=scope, embedder=slow) as first:
        key = first.remember("Pressed between two pages")
        eventually(lambda: "Pressed between two pages" in slow.texts)
        with (
            psycopg.connect(stack.postgres_dsn, autocommit=True) as connection,
            biem.connect(config, scope=scope, embedder=quick) as second,
        ):

            def lease() -> tuple[float, int]:
                query = "SELECT extract(epoch FROM due_at)::float8, claims FROM outbox WHERE memory_id = %s"
                (row,) = connection.execute(query, (key,)).fetchall()
                return row

            # When that takes longer than the lease
            claimed_until, _ = lease()
            eventually(lambda: lease()[0] > claimed_until + lease_s)

            # Then it is claimed still, once, and the other one has not begun it
            assert lease()[1] == 1
            second.remember("Another leaf", wait=True)
            assert "Pressed between two pages" not in quick.texts
            slow.let.set()
            assert first.flush()
            assert slow.texts.count("Pressed between two pages") == 1
    assert in_milvus(stack.milvus_uri, ids=[key]) == [key]
