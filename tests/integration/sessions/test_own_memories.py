"""Memories of the layer `session` are shown in their own conversation, and leave with it."""

import uuid
from collections.abc import Iterator

import pytest

import biem
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.servers import Configure

CODE = "the door code of today is 4711"


@pytest.fixture(scope="module")
def system(settings: Configure) -> Iterator[biem.Memory]:
    """One system for the module, whose clock, and with it every job, moves by hand."""
    with biem.connect(settings(), embedder=WordEmbedder(), clock=HeldClock()) as opened:
        yield opened


@pytest.fixture
def memory(system: biem.Memory) -> biem.Memory:
    """The memory of a user that no other test is."""
    return system.scope(user=uuid.uuid4().hex)


def told(memory: biem.Memory, *, session: str = "", conversations: tuple[str, ...] = ()) -> bool:
    """Whether a recall finds the code."""
    hits = memory.recall("What is the door code?", session=session, conversations=conversations)
    return CODE in {hit.node.text for hit in hits}


@pytest.mark.req("M15", partly="told in no other session, archived with its own")
@pytest.mark.parametrize("indexed", [True, False])
def test_a_memory_of_a_session_is_shown_in_no_other_one(memory: biem.Memory, *, indexed: bool) -> None:
    # Given a memory of a session, and one of the user
    memory.remember(CODE, layer="session", conversation="a")
    memory.remember("the door is red", layer="long_term", kind="knowledge")
    if indexed:
        assert memory.flush()

    # When each session asks / Then only its own is shown, and who names its conversation, or no session at all
    assert told(memory, session="a")
    assert not told(memory, session="b")
    assert told(memory)
    assert told(memory, conversations=("a",))
    assert memory.recall("What colour is the door?", session="b")[0].node.text == "the door is red"
    # And lists and counts have it
    assert CODE in {node.text for node in memory.list(limit=5).items}


@pytest.mark.parametrize("count", [15, 120])
@pytest.mark.parametrize("profile", ["", "aimate"])
def test_memories_of_other_sessions_displace_nothing(memory: biem.Memory, count: int, profile: str) -> None:
    # Given some of other sessions, or more than a search returns, all nearer to the question than what it is about
    memory.remember_many(
        {"text": f"What is the door code? {number}", "layer": "session", "conversation": f"c{number}"}
        for number in range(count)
    )
    memory.remember("the door code is on the paper", kind="knowledge", layer="long_term")
    assert memory.flush()
    # When it is asked / Then it is found
    hits = memory.recall("What is the door code?", session="b", profile=profile or None)
    assert [hit.node.text for hit in hits] == ["the door code is on the paper"]


def test_it_is_archived_with_its_session_and_comes_back_with_it(memory: biem.Memory) -> None:
    # Given a session with its own memory
    session = memory.sessions.open()
    key = memory.remember(CODE, layer="session", conversation=session.id)
    assert memory.flush()
    built = memory.build_context("What is the door code?", session=session.id)
    assert CODE in built.system

    # When it is closed and archived / Then the memory is shown no more, and resumed it is
    memory.sessions.close(session.id)
    other = memory.sessions.open()
    assert CODE not in memory.build_context("What is the door code?", session=other.id).system
    runner = memory._system.job_runner
    runner.run("sessions", memory.bound_to)
    assert memory.get(key).status == "archived"
    memory.sessions.resume(session.id)
    assert memory.get(key).status == "active"
    assert told(memory, session=session.id)
    # And after the hour's maintenance it is in the archive for good, until it is restored
    memory.sessions.close(session.id)
    assert not memory.maintain().failed
    memory.maintain()
    memory.sessions.resume(session.id)
    assert (memory.get(key).status, memory.get(key).archive_reason) == ("archived", "expired")
    assert memory.restore(key)


def test_a_conversation_that_another_session_goes_on_with_keeps_its_memories(memory: biem.Memory) -> None:
    session = memory.sessions.open("kitchen")
    key = memory.remember(CODE, layer="session", conversation="kitchen")
    memory.sessions.close(session.id)
    memory.sessions.open("kitchen")
    memory._system.job_runner.run("sessions", memory.bound_to)
    assert memory.get(key).status != "archived"
