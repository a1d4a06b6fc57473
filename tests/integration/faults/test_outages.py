"""Each server down, hanging or full in turn: what still works, what says why it does not, and that nothing is lost."""

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import psycopg
import pytest

import biem
from biem.adapters.embedded import status, stop
from biem.adapters.milvus.light_import import MilvusClient
from biem.bootstrap import Servers
from biem.config import Settings
from biem.errors import EmbedderUnavailable, StoreFull
from tests.support.fakes import WordEmbedder, eventually
from tests.support.fault_proxy import through
from tests.support.servers import Configure, Testbed
from tests.support.workloads import Doors, in_milvus, processes


def timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def usual(work: Callable[[], object]) -> float:
    """The best of five: a busy machine delays some, waiting for a server would delay each."""
    return min(timed(work) for _ in range(5))


def found(memory: biem.Memory, query: str) -> list[str]:
    return [hit.node.text for hit in memory.recall(query)]


# -- Milvus -----------------------------------------------------------------------------------------------------------


# D6: both scores, raw, of one search: contract/milvus/test_vector_index; their fusion: test_signals, test_ranker; a
# Milvus without words: milvus_server/test_old_milvus; one tokenizer: test_lexemes
@pytest.mark.req("M34", "D6")
def test_without_milvus_memories_are_kept_and_found_by_words_and_indexed_when_it_is_back(
    doors: Doors, stack: Servers
) -> None:
    with through(doors) as memory:
        old = memory.remember("The old oak fell in the storm", wait=True)
        # When Milvus is gone
        doors.milvus.shut()
        new = memory.remember("The new oak was planted in March")
        # Then recall answers from PostgreSQL at once, and says so
        hits = memory.recall("oak")
        assert {hit.node.id for hit in hits} == {old, new}
        assert hits.degraded == ("milvus",)
        assert usual(lambda: memory.recall("oak")) < 1
        assert memory.recall("oak", mode="strict")[0].evidence is not None
        assert memory.context("oak").degraded == ("milvus",)
        assert [hit.node.id for hit in memory.recall("oak", speakers=["nobody"])] == []
        # And filters and scopes hold there, too
        assert memory.scope(user="stranger").recall("oak") == []
        # And what waits is indexed when Milvus is back, without blame
        assert memory.get(new).status == "pending"
        doors.milvus.open()
        assert memory.flush()
        eventually(lambda: memory.recall("oak").degraded == ())
        assert {hit.node.id for hit in memory.recall("oak")} == {old, new}
        assert sorted(in_milvus(stack.milvus_uri, ns=memory.bound_to.ns)) == sorted([old, new])
        assert memory.dead_letters() == []


def test_a_memory_can_be_opened_while_milvus_is_down(doors: Doors, stack: Servers) -> None:
    doors.milvus.shut()
    with through(doors) as memory:
        written = memory.remember("Opened in the dark")
        hits = memory.recall("dark")
        assert ([hit.node.id for hit in hits], hits.degraded) == ([written], ("milvus",))
        doors.milvus.open()
        assert memory.flush()
        assert in_milvus(stack.milvus_uri, ns=memory.bound_to.ns) == [written]


@pytest.fixture
def impatient(settings: Configure, stack: Servers) -> Iterator[biem.Memory]:
    """A memory that does not wait long when it closes."""
    hasty = settings(close_timeout_s=1)
    with biem.connect(hasty, scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder()) as memory:
        yield memory


@pytest.mark.long
def test_a_milvus_that_hangs_delays_one_recall_by_seconds_and_the_next_not_at_all(
    testbed: Testbed, impatient: biem.Memory
) -> None:
    memory = impatient
    memory.remember("Glass is a slow liquid, they say", wait=True)
    with testbed.freeze("milvus"):
        assert timed(lambda: memory.recall("glass")) < 20
        # Given a worker that hangs on Milvus, too
        assert usual(lambda: memory.remember("Glass is no liquid")) < 1
        assert usual(lambda: memory.recall("glass")) < 1
        hits = memory.recall("glass")
        assert (len(hits), hits.degraded) == (2, ("milvus",))
    eventually(lambda: memory.recall("glass").degraded == ())
    assert memory.flush()


@pytest.mark.long
def test_with_a_milvus_that_keeps_hanging_no_recall_takes_longer_than_the_first(
    testbed: Testbed, impatient: biem.Memory
) -> None:
    memory = impatient
    memory.remember("Ice is solid", wait=True)

    def ask_for_a_while() -> float:
        slowest, ends = 0.0, time.monotonic() + 5
        while time.monotonic() < ends:
            slowest = max(slowest, timed(lambda: memory.recall("ice")))
        return slowest

    with ThreadPoolExecutor(1) as another, testbed.freeze("milvus"):
        # Given a worker that waits for Milvus
        memory.remember("Ice floats")
        # When an agent asks again and again, for longer than an outage is remembered
        assert another.submit(ask_for_a_while).result(timeout=60) < 10
    assert len(memory.recall("ice")) == 2


@pytest.mark.long
def test_erasing_and_closing_while_milvus_hangs_take_seconds(testbed: Testbed, impatient: biem.Memory) -> None:
    memory = impatient
    gone = memory.remember("A hanging garden", wait=True)
    with ThreadPoolExecutor(1) as another, testbed.freeze("milvus"):
        memory.remember("Another garden")
        assert not another.submit(memory.erase, gone).result(timeout=60).complete
        another.submit(memory.stats).result(timeout=60)
        another.submit(memory.close).result(timeout=60)


# -- Redis ------------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_without_redis_memories_are_kept_found_indexed_and_erased(doors: Doors) -> None:
    with through(doors) as memory:
        old = memory.remember("Copper conducts", wait=True)
        doors.redis.shut()
        assert usual(lambda: memory.remember("Copper shines")) < 0.5
        hits = memory.recall("copper")
        assert (len(hits), hits.degraded) == (2, ("redis",))
        assert memory.flush()
        assert memory.stats()["active"] == 2
        assert not memory.erase(old).complete
        assert found(memory, "copper") == ["Copper shines"]
        doors.redis.open()
        eventually(lambda: memory.recall("copper").degraded == ())


@pytest.mark.long
def test_a_redis_that_hangs_costs_little(doors: Doors) -> None:
    with through(doors) as memory:
        memory.remember("Tin is soft", wait=True)
        doors.redis.stall()
        assert timed(lambda: memory.recall("tin")) < 20
        assert usual(lambda: memory.recall("tin")) < 0.5
        # Eighty writes do not wait for it eighty times
        assert timed(lambda: [memory.remember(f"Tin has number {n}") for n in range(80)]) < 20
        doors.redis.open()


# -- PostgreSQL -------------------------------------------------------------------------------------------------------


def test_without_postgres_a_write_says_so_in_seconds_and_works_again_when_it_is_back(doors: Doors) -> None:
    with through(doors) as memory:
        kept = memory.remember("Before the outage", wait=True)
        doors.postgres.shut()
        for use in (lambda: memory.remember("Never acknowledged"), lambda: memory.recall("outage")):
            began = time.monotonic()
            with pytest.raises(biem.StoreUnavailable, match=r"PostgreSQL.*check") as failure:
                use()
            assert time.monotonic() - began < 30
            assert failure.value.retryable
            assert failure.value.exit_code == 6
        doors.postgres.open()
        eventually(lambda: found(memory, "outage") == ["Before the outage"])
        memory.remember("After the outage", wait=True)
        assert sorted(found(memory, "outage")) == ["After the outage", "Before the outage"]
        assert memory.get(kept).status == "active"


def test_opening_without_postgres_says_what_to_check(doors: Doors) -> None:
    doors.postgres.shut()
    began = time.monotonic()
    with pytest.raises(biem.StoreUnavailable, match="BIEM_POSTGRES_DSN"), through(doors):
        pass
    assert time.monotonic() - began < 30


@pytest.mark.long
def test_a_postgres_that_hangs_is_reported_in_seconds(doors: Doors) -> None:
    with through(doors, worker=False) as memory, ThreadPoolExecutor(1) as another:
        memory.remember("Before")
        doors.postgres.stall()
        hanging = another.submit(memory.remember, "Hanging")
        try:
            with pytest.raises(biem.StoreUnavailable):
                hanging.result(timeout=60)
        finally:
            doors.postgres.open()


@pytest.mark.req("X30", partly="after a lost answer")
def test_a_write_whose_answer_was_lost_is_one_memory(doors: Doors, stack: Servers) -> None:
    with through(doors) as memory:
        memory.remember("Warm", wait=True)
        # When the connection breaks after PostgreSQL did what it was asked, and before we hear of it
        doors.postgres.swallow(b"lost and found")
        written = memory.remember("A message lost and found", speaker="A")
        assert doors.postgres.swallowed
        # Then it is there once, under the id that was returned
        assert [hit.node.id for hit in memory.recall("lost and found") if "lost" in hit.node.text] == [written]
        assert memory.flush()
        assert memory.stats()["memories"] == 2
        assert in_milvus(stack.milvus_uri, needle="lost").count(written) <= 1


def test_all_servers_restarting_under_load_lose_nothing(doors: Doors) -> None:
    with through(doors) as memory:
        ids = []
        for number, door in enumerate([doors.postgres, doors.redis, doors.milvus] * 3):
            door.shut()
            door.open()
            ids.append(memory.remember(f"Restart number {number}", speaker="A"))
        assert memory.flush()
        eventually(lambda: memory.recall("restart").degraded == ())
        assert {hit.node.id for hit in memory.recall("restart number", top_k=20)} == set(ids)
        assert memory.stats()["memories"] == 9


# -- the embedder -----------------------------------------------------------------------------------------------------


@pytest.mark.req("X5")
def test_while_the_embedder_fails_memories_wait_findable_by_words_and_all_get_real_vectors_later(
    doors: Doors, stack: Servers
) -> None:
    # Given an embedder that is out of reach
    away = WordEmbedder()
    away.failure = EmbedderUnavailable("the model is overloaded")
    items = [{"text": f"harvest{number} of the orchard", "speaker": "A"} for number in range(100)]
    with through(doors, embedder=away) as memory:
        scope = memory.bound_to
        spans: list[str] = []
        memory.telemetry.attach(lambda span: spans.append(span.error) if span.name == "biem.encode" else None)
        # When a hundred are written, and the worker has tried more often than a row may fail
        ids = memory.remember_many(items)
        eventually(lambda: spans.count("EmbedderUnavailable") > 7)
        # Then all wait, none is to blame, each is found by its words
        assert memory.stats()["pending"] == 100
        assert memory.dead_letters() == []
        for number in (0, 50, 99):
            hits = memory.recall(f"harvest{number}")
            assert hits[0].node.id == ids[number]
            assert hits.degraded == ("embedder",)
        assert in_milvus(stack.milvus_uri, ns=scope.ns) == []
    with psycopg.connect(stack.postgres_dsn) as connection:
        jobs = connection.execute("SELECT max(attempts), max(last_error) FROM outbox WHERE ns = %s", (scope.ns,))
        attempts, reason = jobs.fetchone() or (None, None)
    assert attempts in (0, 1)  # one batch may be held by a worker that was instructed to leave
    assert "overloaded" in str(reason)
    # And when the process is another one and the embedder is back, all have a vector, none is zero
    with through(doors) as memory:
        back = memory.scope(user=scope.user)
        with psycopg.connect(stack.postgres_dsn, autocommit=True) as connection:
            connection.execute("UPDATE outbox SET due_at = now() WHERE ns = %s", (scope.ns,))  # leases run out
        assert back.flush(300)
        assert back.stats()["active"] == 100
    client = MilvusClient(uri=stack.milvus_uri, dedicated=True)
    rows = client.query(memory.collection, filter=f'ns == "{scope.ns}"', output_fields=["id", "dense"], limit=1000)
    client.close()
    assert sorted(row["id"] for row in rows) == sorted(ids)
    assert np.allclose(np.linalg.norm([row["dense"] for row in rows], axis=1), 1.0, atol=1e-3)


@pytest.mark.long
@pytest.mark.req("X49", partly="seconds, not five minutes")
def test_an_embedder_that_fails_does_not_slow_the_reply_path(memory: biem.Memory, embedder: WordEmbedder) -> None:
    memory.remember("Salt preserves", wait=True)
    embedder.failure = EmbedderUnavailable("429 Too Many Requests")
    hits = memory.recall("salt")
    assert ([hit.node.text for hit in hits], hits.degraded) == (["Salt preserves"], ("embedder",))
    assert timed(lambda: [memory.recall("salt") for _ in range(20)]) < 20
    assert usual(lambda: memory.remember("Salt dissolves")) < 1
    embedder.failure = None
    eventually(lambda: memory.recall("salt").degraded == ())
    assert memory.flush()


# -- the disk ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A separate disk with little room."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", disk], check=False)
    if mounted.returncode != 0:
        pytest.skip("not allowed to mount here")
    try:
        yield disk
        stop(disk / "home")
        eventually(lambda: not processes(disk / "home"))
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def fill(disk: Path) -> Path:
    """Use up all that is left."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * (1 << 20))
    with filler.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(b"\0" * 512)
    return filler


@pytest.mark.long
def test_a_full_disk_is_an_error_that_says_so_and_nothing_acknowledged_is_lost(small_disk: Path) -> None:
    settings = Settings(home=small_disk / "home", close_timeout_s=1)
    with biem.connect(settings, embedder=WordEmbedder()) as memory:
        kept = memory.remember("Before the flood", wait=True)
        filler = fill(small_disk)
        # When writes go on until one is refused
        acknowledged: list[tuple[str, str]] = []
        refused: biem.BiemError | None = None
        for number in range(3_000):
            text = f"drop{number} " + uuid.uuid4().hex * 1_000
            try:
                acknowledged.append((memory.remember(text, speaker="A"), text))
            except biem.BiemError as error:
                refused = error
                break
        # Then the error says what to do
        assert isinstance(refused, biem.StoreUnavailable)
        assert isinstance(refused, StoreFull) or "check" in str(refused)
        # And when there is room again, all goes on, and what was acknowledged is there, once, and nothing else
        filler.unlink()
        eventually(lambda: can_write(memory))
        assert memory.flush(300)
        assert memory.get(kept).text == "Before the flood"
        for memory_id, text in acknowledged:
            assert memory.get(memory_id).text == text
        assert memory.stats()["memories"] == len(acknowledged) + 2
        assert sorted(in_milvus(status(small_disk / "home").urls.milvus_uri, ns=memory.bound_to.ns)) == sorted(
            [kept, memory.remember("After the flood"), *(memory_id for memory_id, _ in acknowledged)]
        )


def can_write(memory: biem.Memory) -> bool:
    try:
        memory.remember("After the flood")
    except biem.StoreUnavailable:
        return False
    return True
