"""Sessions when a model fails, counts are wrong, others write at the same time, or a backup is restored."""

import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest

import biem
from biem.bootstrap import Servers
from biem.domain.diagnosis import Depth
from biem.domain.policies.sessions import SessionPolicy
from biem.domain.scope import Scope
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.servers import Configure

SMALL = SessionPolicy(max_tokens=400, protected_rounds=2)


class Model:
    """A model that answers or not."""

    def __init__(self) -> None:
        self.answer: str | None = None
        self.asked = 0

    def summarise(self, scope: Scope, texts: Sequence[str], max_chars: int) -> str | None:
        """The answer that it was given."""
        self.asked += 1
        return self.answer


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def small(settings: Configure, embedder: WordEmbedder, clock: HeldClock) -> Iterator[biem.Memory]:
    """A memory whose sessions are full with 400 tokens."""
    given = settings(session=SMALL, queue="none")
    with biem.connect(given, scope=Scope(user=uuid.uuid4().hex), embedder=embedder, clock=clock) as opened:
        yield opened


def full(memory: biem.Memory) -> str:
    """A session that is to be trimmed; its id."""
    chat = memory.sessions.open("full")
    for number in range(5):
        memory.sessions.append(chat.id, "user", f"Where is crate {number}?", tokens=40)
        memory.sessions.append(chat.id, "assistant", f"Crate {number} is in the barn.", tokens=40)
    return chat.id


def run(memory: biem.Memory) -> int:
    """The job; how many slices it trimmed."""
    return memory._system.job_runner.jobs["sessions"].run(memory.bound_to)["slices"]


@pytest.mark.long
@pytest.mark.req("M48", "X20", partly="a failed summary")
def test_where_the_model_fails_nothing_is_trimmed_and_it_is_asked_again_later(
    small: biem.Memory, clock: HeldClock
) -> None:
    # Given a full session and a model that does not answer
    key, model = full(small), Model()
    trimmer: Any = small.sessions._system.trimmer
    trimmer._reasoner = model

    # When the job runs again and again / Then it asks after 1, 2 and 4 minutes, and nothing leaves the window
    asked = []
    for _ in range(8):
        assert run(small) == 0
        asked.append(model.asked)
        clock.advance(minutes=1)
    assert asked == [1, 2, 2, 3, 3, 3, 3, 4]
    assert small.sessions.get(key).head_seq == 1
    assert len(small.sessions.window(key).messages) == 10
    # And when it answers, the slice is trimmed, with its summary
    clock.advance(hours=1)
    model.answer = "Five crates are in the barn."
    assert run(small) == 1
    [summary] = [node for node in small.timeline().items if node.source == "session"]
    assert summary.text == model.answer


@pytest.mark.long
def test_diagnose_finds_sessions_that_are_not_trimmed_and_counts_again(
    small: biem.Memory, clock: HeldClock, stack: Servers
) -> None:
    # Given a full session that no one trimmed, whose counts are wrong
    key = full(small)
    right = small.sessions.get(key)
    with psycopg.connect(stack.postgres_dsn) as admin:
        admin.execute("UPDATE sessions SET messages = 3, tokens = 7, next_seq = 2 WHERE id = %s", (key,))
    clock.advance(hours=2)

    # When the system is looked at / Then both are found, and the counts are mended
    with small._system.diagnosis() as diagnoser:
        found = {one.id: one for one in diagnoser.look(Depth(full=True)).findings}
        assert key in found["session_not_trimmed"].samples
        assert key in found["session_miscounted"].samples
        diagnoser.mend(Depth(full=True))
        assert "session_miscounted" not in {one.id for one in diagnoser.look(Depth(full=True)).findings}
    assert small.sessions.get(key) == right


def test_writers_of_one_session_get_their_own_places(memory: biem.Memory) -> None:
    # Given one session / When eight threads append to it, some with the same ref / Then each message has a place
    chat = memory.sessions.open()

    def write(number: int) -> tuple[int, str | None]:
        done = memory.sessions.append(chat.id, "user", f"text {number % 40}", ref=f"r{number % 40}", tokens=1)
        return done.seq, done.memory_id

    with ThreadPoolExecutor(8) as threads:
        places = list(threads.map(write, range(80)))
    assert places[:40] == places[40:]
    said = memory.sessions.messages(chat.id)
    assert [one.seq for one in said] == list(range(1, 41))
    assert {one.memory_id for one in said} == {key for _, key in places}
    now = memory.sessions.get(chat.id)
    assert (now.messages, now.tokens, now.round) == (40, 40, 40)


def test_processes_that_open_one_name_get_one_session(memory: biem.Memory) -> None:
    # Given no session / When many open one name at once / Then there is one
    with ThreadPoolExecutor(8) as threads:
        ids = {one.id for one in threads.map(lambda _: memory.sessions.open("same"), range(16))}
    assert len(ids) == 1
    assert len(memory.sessions.list()) == 1


@pytest.mark.long
def test_a_message_that_expires_and_is_erased_leaves_its_session(small: biem.Memory, clock: HeldClock) -> None:
    # Given a message with an end
    chat = small.sessions.open()
    small.sessions.append(chat.id, "user", "The code is 4711", ttl=timedelta(hours=1), on_expiry="erase", tokens=5)
    small.sessions.append(chat.id, "user", "The garden has no code", tokens=5)

    # When its time is over / Then it is gone from the session, too
    clock.advance(hours=2)
    small._system.job_runner.jobs["lifecycle"].run(small.bound_to)
    assert [one.content for one in small.sessions.messages(chat.id)] == ["The garden has no code"]
    assert small.sessions.get(chat.id).tokens == 5


def test_erasing_a_moved_memory_takes_its_message_along(memory: biem.Memory) -> None:
    # Given a message whose memory was moved to another scope
    chat = memory.sessions.open()
    key = memory.sessions.append(chat.id, "user", "The code of the shed is 1702").memory_id or ""
    assert memory.flush()
    target = memory.scope(project="shed")
    memory.move(target.bound_to, ids=[key])

    # When it is erased there / Then the session no longer has it
    target.erase(key)
    assert memory.sessions.messages(chat.id) == []
    assert memory.sessions.get(chat.id).messages == 0
