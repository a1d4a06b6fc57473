"""How a memory is left: by closing what is in use last, by exits without a close, and what that frees."""

import gc
import os
import subprocess
import sys
import threading
import uuid
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

import psutil
import psycopg
import pytest

import biem
from biem.adapters.embedders import shared_model
from biem.adapters.embedders.e5 import E5Encoder
from biem.adapters.embedders.shared_model import Lease, Models
from biem.bootstrap import Servers
from biem.errors import BiemError
from biem.ports import Role, Vectors
from tests.support.fakes import WordEmbedder, eventually
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

T = TypeVar("T")

PROGRAM = """
import threading
import biem
from tests.support.fakes import WordEmbedder, eventually

class Stuck(WordEmbedder):
    entered = threading.Event()
    def embed(self, texts, role):
        self.entered.set()
        threading.Event().wait()

memory = biem.connect(embedder=Stuck())
print(memory.remember("left in the middle of a batch"))
assert Stuck.entered.wait(60)
"""


@pytest.mark.long
def test_an_exit_in_the_middle_of_a_batch_charges_no_attempt(stack: Servers, environment: dict[str, str]) -> None:
    # Given a program whose worker is in the middle of a batch / When it ends without closing
    given = os.environ | environment | {"BIEM_USER": uuid.uuid4().hex, "BIEM_QUEUE": "thread"}
    words = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(words, env=given, capture_output=True, text=True, timeout=120, check=False)

    # Then it says nothing, and the memory waits as if no worker had tried
    assert (done.returncode, done.stderr) == (0, "")
    with psycopg.connect(stack.postgres_dsn) as connection:
        query = "SELECT attempts, dead_at, due_at <= clock_timestamp() FROM outbox WHERE memory_id = %s"
        row = connection.execute(query, (done.stdout.strip(),)).fetchone()
    assert row == (0, None, True)


def test_a_scope_that_took_the_place_of_its_memory_closes_everything(settings: Configure) -> None:
    # Given a variable that a view took over / When it is closed / Then the system is, and soon its connections with
    # their threads
    before = {thread.name for thread in threading.enumerate()}
    memory = biem.connect(settings(queue="thread"), embedder=WordEmbedder())
    memory = memory.scope(user="x")
    memory.close()
    with pytest.raises(BiemError, match="closed"):
        memory.stats()
    ends = {"biem-postgres-watchdog", "biem-embedder"}
    eventually(lambda: {thread.name for thread in threading.enumerate()} - before <= ends)


def test_a_second_scope_of_a_memory_closes_nothing(settings: Configure) -> None:
    # Given a view next to the memory it was made of / When it is closed / Then both are of use until that is
    with biem.connect(settings(), embedder=WordEmbedder()) as memory:
        with memory.scope(user="y") as view:
            assert view.stats()["memories"] == 0
        assert memory.scope(user="y").stats()["memories"] == 0
    with pytest.raises(BiemError, match="closed"):
        view.stats()


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> Models:
    """A command of the command line, run in this process by another test, keeps the models of its process."""
    fresh = Models()
    monkeypatch.setattr(shared_model, "MODELS", fresh)
    return fresh


def test_a_model_is_loaded_once_and_freed_by_the_last_who_used_it(models: Models) -> None:
    # Given two users of one model / When it is taken twice
    loads: list[object] = []

    def load() -> object:
        loads.append(object())
        return loads[-1]

    first, second = Lease.of("a test's", load), Lease.of("a test's", load)
    assert first.model is second.model

    # Then it was loaded once, outlives the first who leaves, and is loaded again after the last
    first.end()
    assert Lease.of("a test's", load).model is second.model
    second.end()
    models.give_back("a test's")
    assert len(loads) == 1
    Lease.of("a test's", load).end()
    assert len(loads) == 2


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="glibc keeps freed pages; what others do is not known")
def test_a_closed_embedder_gives_its_memory_back() -> None:
    # Given the packaged model, loaded and closed once / When that is done again, three times
    process = psutil.Process()

    def cycle() -> int:
        first, second = E5Encoder(1), E5Encoder(1)
        first.encode(["a text"], "passage")
        second.close()
        first.close()
        return int(process.memory_info().rss)

    before = cycle()
    after = [cycle() for _ in range(3)][-1]

    # Then the process is no larger than before: one that is kept would take 300 MB
    assert after - before < 100 << 20


class Forgetful(WordEmbedder):
    """Keeps no list of what it was asked."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        self.calls = []
        return super().embed(texts, role)


def held() -> int:
    """Python objects that may hold others, and what is in them, but for the queues that drop their oldest."""
    gc.collect()
    objects = gc.get_objects()
    endless = [
        one for one in objects if isinstance(one, dict | list | set | deque) and not getattr(one, "maxlen", None)
    ]
    return len(objects) + sum(map(len, endless))


@pytest.mark.long
def test_a_process_that_only_asks_does_not_grow(settings: Configure) -> None:
    # Given a memory that has been asked all its questions already
    quiet = settings(sleep=ONLY_SLEEP)  # jobs load modules when they first run
    with biem.connect(quiet, scope=biem.Scope(user=uuid.uuid4().hex), embedder=Forgetful()) as memory:
        memory.remember_many([{"text": f"lamp {n} stands in room {n % 7}"} for n in range(60)])
        assert memory.flush()

        def ask(times: int) -> int:
            for number in range(times):
                assert memory.recall(f"where does lamp {number % 10} stand?")
            return held()

        # When it is asked again and again / Then soon nothing stays of an answer, which would be 200 objects or
        # entries at least in two rounds; up to then caches fill and modules load
        sizes = [ask(100), ask(100), ask(100)]
        while sizes[-1] - sizes[-3] >= 100:
            assert len(sizes) < 15, f"it still grows: {sizes}"
            sizes.append(ask(100))


@pytest.mark.long
def test_opening_and_closing_leaves_nothing_behind(settings: Configure) -> None:
    # Given a program that has opened and closed a memory some times
    def cycles(times: int) -> int:
        for _ in range(times):
            with biem.connect(settings(), embedder=WordEmbedder()) as memory:
                memory.recall("lamp")
        return held()

    before = cycles(3)
    after = cycles(10)

    # Then it holds what it held before
    assert after - before < 10 * 20


@pytest.mark.long
def test_two_memories_of_a_process_share_the_packaged_model(
    settings: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a process that counts how often a model is loaded
    loads: list[str] = []

    class Counted(Models):
        def take(self, key: Hashable, load: Callable[[], T]) -> T:
            def counted() -> T:
                loads.append(str(key))
                return load()

            return super().take(key, counted)

    monkeypatch.setattr(shared_model, "MODELS", Counted())

    # When two memories are open at once, and one is closed / Then one model was loaded, and the other goes on with it
    with biem.connect(settings()) as first:
        with biem.connect(settings()) as second:
            second.recall("lamp")
        assert first.recall("a question that nobody asked").degraded == ()
    assert len(loads) == 1


def test_short_reprs_tell_what_an_object_is(memory: biem.Memory) -> None:
    # Given a memory and hits / When they are shown / Then in a line, without vectors or settings
    memory.remember("the lamp is green " * 50, wait=True)
    hits = memory.recall("lamp")
    assert str(memory.bound_to) in repr(memory)
    assert repr(hits).startswith("<1 Hits: ")
    assert max(len(repr(hits)), len(repr(memory))) < 200
    assert repr(biem.Hits()) == "<0 Hits>"
    assert {"connect", "aconnect", "Memory", "__version__"} <= set(dir(biem))
    assert biem.__version__[0].isdigit()


async def _opened(settings: Configure) -> dict[str, object]:
    somebody = biem.Scope(user=uuid.uuid4().hex)
    async with biem.aconnect(settings=settings(), scope=somebody, embedder=WordEmbedder()) as memory:
        return dict(memory.stats())


def test_a_memory_opens_while_an_event_loop_runs(settings: Configure) -> None:
    # Given an asynchronous program / When it opens a memory / Then it is of use, and closed afterwards
    import asyncio

    assert asyncio.run(_opened(settings))["memories"] == 0


class Stuck(WordEmbedder):
    """Embeds nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.entered, self.go_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        self.entered.set()
        self.go_on.wait(60.0)
        return super().embed(texts, role)


def test_closing_in_the_middle_of_a_batch_charges_no_attempt(stack: Servers, settings: Configure) -> None:
    # Given a memory whose worker is in the middle of a batch
    embedder = Stuck()
    memory = biem.connect(
        settings(queue="thread", close_timeout_s=0.1), scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder
    )
    key = memory.remember("closed in the middle of a batch")
    assert embedder.entered.wait(60.0)

    # When it is closed, and the batch goes on only then
    try:
        memory.close()
    finally:
        embedder.go_on.set()

    # Then the row waits as if no worker had tried, for the next who has a worker
    def row() -> object:
        with psycopg.connect(stack.postgres_dsn) as connection:
            query = "SELECT attempts, dead_at, due_at <= clock_timestamp() FROM outbox WHERE memory_id = %s"
            return connection.execute(query, (key,)).fetchone()

    eventually(lambda: row() == (0, None, True))
