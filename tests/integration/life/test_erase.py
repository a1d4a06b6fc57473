"""Erasing destroys in every store, at any moment, and proves it; what others have stays."""

import threading
import uuid
from collections.abc import Sequence

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.ports import Completion, Encoded, Job, Role, Vectors
from tests.support.fakes import WordEmbedder, eventually
from tests.support.fault_proxy import through
from tests.support.servers import Configure
from tests.support.workloads import Doors, anywhere, in_milvus, in_redis

UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture
def word() -> str:
    """A word that is nowhere yet, and that no stemmer changes."""
    return f"zq{uuid.uuid4().hex[:12]}0"


def counts(receipt: biem.Receipt) -> dict[str, tuple[int | None, int | None]]:
    return {count.store: (count.before, count.after) for count in receipt.stores}


def scalar(where: Servers, statement: str, *parameters: object) -> object:
    with psycopg.connect(where.postgres_dsn, autocommit=True) as connection:
        row = connection.execute(statement.encode(), parameters).fetchone()
    return row and row[0]


def hasten_purges(where: Servers) -> None:
    """As if the time that a purge waits were over."""
    with psycopg.connect(where.postgres_dsn, autocommit=True) as connection:
        connection.execute("UPDATE outbox SET due_at = now() WHERE task = 'purge'")


@pytest.mark.req("D8")  # that forgetting archives, and what it leaves where: integration/life/test_effects
@pytest.mark.req("X16", partly="erasing; the graph is in integration/life/test_effects")
def test_an_erased_memory_is_nowhere_and_the_receipt_counts_it(memory: biem.Memory, stack: Servers, word: str) -> None:
    # Given a memory that is in every store
    kept = memory.remember("Something to keep", wait=True)
    gone = memory.remember(
        f"The {word} is a secret", speaker=word, conversation=word, tags=[word], reason=word, ref=word, source=word,
        metadata={word: word}, wait=True,
    )  # fmt: skip
    memory.recall(word)
    places = {"postgres.evidence", "postgres.memories", "redis", "milvus"}
    eventually(lambda: {place.split()[0] for place in anywhere(stack, word)} == places)
    # When it is erased
    receipt = memory.erase(gone)
    # Then it is nowhere
    assert anywhere(stack, word) == []
    assert receipt.complete
    assert (receipt.memories, receipt.target) == (1, gone)
    counted = counts(receipt)
    assert counted.pop("redis.canvas")[1] == 0  # whether it was in the canvas depends on its energy
    assert counted == {
        "postgres.memories": (1, 0),
        "postgres.evidence": (1, 0),
        "postgres.embeddings": (1, 0),
        "postgres.memory_revisions": (0, 0),
        "postgres.crystal_links": (0, 0),
        "postgres.crystal_facts": (0, 0),
        "postgres.outbox": (0, 0),
        "postgres.conflicts": (0, 0),
        "postgres.concept_items": (0, 0),
        "postgres.instant_memories": (0, 0),
        "postgres.session_messages": (0, 0),
        "postgres.sessions": (0, 0),
        "postgres.items": (0, 0),
        "milvus": (1, 0),
        "redis": (1, 0),
        "redis.running_memory": (0, 0),
        "redis.inertia": (0, 0),
    }
    # And the rest is as it was
    assert memory.get(kept).status == "active"
    assert [hit.node.id for hit in memory.recall("something to keep")] == [kept]
    with pytest.raises(biem.NotFound):
        memory.get(gone)
    with pytest.raises(biem.NotFound, match=gone):
        memory.erase(gone)
    # And the proof is kept, without the text
    assert scalar(stack, "SELECT receipt->>'target' FROM erasures WHERE id = %s", receipt.id) == gone


@pytest.mark.long
@pytest.mark.req("D8", partly="erasing")
def test_an_erased_scope_is_nowhere_and_its_neighbours_stay(memory: biem.Memory, stack: Servers, word: str) -> None:
    project, other = memory.scope(project=word), memory.scope(user=f"other {word[-6:]}")
    project.remember_many([{"text": f"{word} number {number}", "speaker": "A"} for number in range(600)])
    memory.remember("On the user's own level")
    other.remember("Of another user")
    assert memory.flush()
    assert other.flush()
    assert project.flush()
    receipt = memory.erase(project.bound_to)
    assert receipt.complete
    assert receipt.memories == 600
    found = counts(receipt)
    assert (found["postgres.memories"], found["milvus"], found["redis"]) == ((600, 0), (600, 0), (256, 0))
    # The name of the scope was a secret, too
    assert anywhere(stack, word) == []
    assert project.stats()["memories"] == 0
    assert len(memory.recall("level")) == 1
    assert len(other.recall("another user")) == 1
    # And it can be used again
    again = project.remember(f"{word} again", wait=True)
    assert project.recall(word)[0].node.id == again
    assert project.erase(project.bound_to).memories == 1
    assert memory.erase(memory.scope(user="nobody ever").bound_to).complete


def test_erasing_what_is_not_in_this_scope_is_refused(memory: biem.Memory) -> None:
    mine = memory.remember("Mine")
    for elsewhere in (memory.scope(user="thief"), memory.scope(project="p"), memory.scope(tenant="t")):
        with pytest.raises(biem.NotFound):
            elsewhere.erase(mine)
    assert memory.get(mine).text == "Mine"
    with pytest.raises(biem.NotFound):
        memory.erase(UNKNOWN)
    with pytest.raises(biem.InvalidInput):
        memory.erase("%")


@pytest.mark.long
def test_a_text_that_others_have_too_stays_theirs(memory: biem.Memory, stack: Servers, word: str) -> None:
    # Given one text in two scopes, and twice in one of them
    text = f"We both know {word}"
    theirs = memory.scope(user=f"friend {uuid.uuid4().hex}")
    friend = theirs.remember(text, wait=True)
    first = memory.remember(text, speaker="A", wait=True)
    second = memory.remember(text, speaker="A", wait=True)
    third = memory.remember(text, wait=True)
    # When one copy after the other is erased
    assert counts(memory.erase(first))["postgres.embeddings"] == (0, 0)
    assert counts(memory.erase(third))["postgres.embeddings"] == (0, 0)
    assert [hit.node.id for hit in memory.recall(word)] == [second]
    assert memory.recall(word, mode="strict")[0].evidence == text
    assert counts(memory.erase(second))["postgres.embeddings"] == (1, 0)
    # Then the other user's is whole
    assert memory.recall(word) == []
    (hit,) = theirs.recall(word, mode="strict")
    assert (hit.node.id, hit.evidence) == (friend, text)
    assert in_milvus(stack.milvus_uri, needle=word) == [friend]
    assert theirs.erase(friend).complete
    assert anywhere(stack, word) == []


def test_a_memory_erased_while_pending_is_never_indexed(doors: Doors, stack: Servers, word: str) -> None:
    embedder = WordEmbedder()
    embedder.failure = biem.StoreUnavailable("not now")
    with through(doors, embedder=embedder) as memory:
        gone = memory.remember(f"Pending {word}")
        receipt = memory.erase(gone)
        assert receipt.complete
        assert counts(receipt)["postgres.outbox"] == (1, 0)
        assert anywhere(stack, word) == []
        embedder.failure = None
        memory.remember("Another one", wait=True)
        hasten_purges(stack)
        eventually(lambda: scalar(stack, "SELECT count(*) FROM outbox WHERE memory_id = %s", gone) == 0)
        assert anywhere(stack, word) == []
        assert word not in str(embedder.calls)


@pytest.mark.req("D8", partly="erasing")
def test_erasing_between_milvus_and_postgres_leaves_no_ghost(memory: biem.Memory, stack: Servers, word: str) -> None:
    # Given a worker that has put the vector into Milvus and not yet told PostgreSQL
    records = memory._system.records
    complete = records.complete
    arrived, proceed = threading.Event(), threading.Event()

    def waiting(encoded: Sequence[Encoded]) -> Completion:
        arrived.set()
        assert proceed.wait(60)
        return complete(encoded)

    records.complete = waiting  # type: ignore[method-assign]
    gone = memory.remember(f"Half indexed {word}")
    assert arrived.wait(60)
    assert in_milvus(stack.milvus_uri, needle=word) == [gone]
    # When the memory is erased just then
    receipt = memory.erase(gone)
    assert counts(receipt)["milvus"] == (1, 0)
    proceed.set()
    # Then nothing is left of it after the worker went on
    memory.remember("The next one", wait=True)
    assert anywhere(stack, word) == []
    assert scalar(stack, "SELECT count(*) FROM outbox WHERE memory_id = %s AND task = 'encode'", gone) == 0


@pytest.mark.long
def test_erasing_before_milvus_has_it_leaves_no_ghost_and_no_vector(
    settings: Configure, stack: Servers, word: str
) -> None:
    # Given a worker that is embedding the text
    class Slow(WordEmbedder):
        arrived, proceed = threading.Event(), threading.Event()

        def embed(self, texts: Sequence[str], role: Role) -> Vectors:
            if role == "passage" and word in str(texts):
                self.arrived.set()
                assert self.proceed.wait(60)
            return super().embed(texts, role)

    slow = Slow()
    with biem.connect(settings(), scope=biem.Scope(user=uuid.uuid4().hex), embedder=slow) as memory:
        gone = memory.remember(f"Being embedded {word}")
        assert slow.arrived.wait(60)
        digest = scalar(stack, "SELECT embed_sha FROM memories WHERE id = %s", gone)
        # When the memory is erased just then
        receipt = memory.erase(gone)
        assert receipt.complete
        slow.proceed.set()
        memory.remember("The next one", wait=True)
        # Then neither its row in Milvus nor its vector in PostgreSQL comes back
        hasten_purges(stack)
        eventually(lambda: scalar(stack, "SELECT count(*) FROM outbox WHERE memory_id = %s", gone) == 0)
        assert anywhere(stack, word) == []
        assert scalar(stack, "SELECT count(*) FROM embeddings WHERE sha256 = %s", digest) == 0


@pytest.mark.long
@pytest.mark.req("D8", "X16", partly="erasing while a worker sleeps")
def test_a_worker_killed_after_it_slept_through_an_erasure_leaves_a_row_that_is_removed(
    settings: Configure, stack: Servers, word: str
) -> None:
    class Killed(BaseException):
        """The end of a process, which no code of ours sees."""

    scope = biem.Scope(user=uuid.uuid4().hex)
    with (
        biem.connect(settings(queue="none"), scope=scope, embedder=WordEmbedder()) as memory,
        biem.connect(settings(queue="none"), scope=scope, embedder=WordEmbedder()) as other,
    ):
        gone = memory.remember(f"Never to be found {word}")
        records = memory._system.records
        renew = records.renew

        # Given a worker that sleeps just before it writes to Milvus, for longer than any lease
        def asleep(jobs: Sequence[Job], lease_s: float) -> list[Job]:
            held = renew(jobs, lease_s)
            # When the memory is erased meanwhile, all delayed work is done, and the worker goes on with its write
            assert other.erase(gone).complete
            hasten_purges(stack)
            while other._system.encoder():
                pass
            return held

        def killed(encoded: Sequence[Encoded]) -> Completion:
            raise Killed

        records.renew = asleep  # type: ignore[method-assign]
        records.complete = killed  # type: ignore[method-assign]
        # And is killed before it learns that no one wants the row
        with pytest.raises(Killed):
            memory._system.encoder()
        assert in_milvus(stack.milvus_uri, needle=word) == [gone]
        assert other.recall(word) == []
        # Then a later sweep removes it
        with psycopg.connect(stack.postgres_dsn, autocommit=True) as connection:
            connection.execute("UPDATE tombstones SET look_at = now() WHERE memory_id = %s", (gone,))
        assert other._system.schedule.run("sweep")["removed"] == 1
        assert anywhere(stack, word) == []
        # And the one after that finds nothing to do
        assert "removed" not in other._system.schedule.run("sweep")


@pytest.mark.long
def test_erasing_while_milvus_is_down_is_finished_when_it_is_back(doors: Doors, stack: Servers, word: str) -> None:
    with through(doors) as memory:
        gone = memory.remember(f"In Milvus {word}", wait=True)
        # When Milvus cannot be reached
        doors.milvus.shut()
        receipt = memory.erase(gone)
        # Then the receipt says so, and the memory is not shown
        assert not receipt.complete
        assert counts(receipt)["milvus"] == (None, None)
        assert counts(receipt)["redis"] == (1, 0)
        assert memory.recall(word) == []
        assert in_milvus(stack.milvus_uri, needle=word) == [gone]
        # And it is not shown either when Milvus is back with its row
        doors.milvus.open()
        eventually(lambda: memory.recall(word).degraded == ())
        assert memory.recall(word) == []
        assert in_milvus(stack.milvus_uri, needle=word) == [gone]
        # And the worker removes it when its time has come
        hasten_purges(stack)
        eventually(lambda: in_milvus(stack.milvus_uri, needle=word) == [])
        assert anywhere(stack, word) == []


@pytest.mark.long
def test_erasing_while_redis_is_down_says_so_and_nothing_is_shown(doors: Doors, stack: Servers, word: str) -> None:
    with through(doors) as memory:
        gone = memory.remember(f"In HotKV {word}", wait=True)
        eventually(lambda: in_redis(stack.redis_url, word))
        doors.redis.shut()
        receipt = memory.erase(gone)
        assert not receipt.complete
        assert counts(receipt)["redis"] == (None, None)
        doors.redis.open()
        assert memory.recall(word) == []
        # And the rest in Redis goes with the delayed job
        assert in_redis(stack.redis_url, word) != []
        hasten_purges(stack)
        eventually(lambda: in_redis(stack.redis_url, word) == [])


def test_erasing_while_postgres_is_down_erases_nothing_and_says_so(doors: Doors, stack: Servers, word: str) -> None:
    with through(doors) as memory:
        kept = memory.remember(f"Still there {word}", wait=True)
        doors.postgres.shut()
        with pytest.raises(biem.StoreUnavailable, match="PostgreSQL"):
            memory.erase(kept)
        doors.postgres.open()
        eventually(lambda: [hit.node.id for hit in memory.recall(word)] == [kept])
        assert memory.erase(kept).complete
        assert anywhere(stack, word) == []
