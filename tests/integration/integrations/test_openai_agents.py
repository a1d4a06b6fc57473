"""Sessions of the OpenAI Agents SDK on those of a memory, compared with the SDK's own session in SQLite."""

import asyncio
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

import pytest

import biem
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure

if TYPE_CHECKING:
    from agents.memory import Session

    from biem.integrations.openai_agents import BiemSession

ITEMS: list[Any] = [
    {"role": "user", "content": "Where is the blue kettle?"},
    {"role": "developer", "content": "Answer in one sentence."},
    {"type": "reasoning", "id": "r1", "summary": [], "encrypted_content": "x"},
    {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"at": "stove"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "kettle: on the stove"},
    {"type": "function_call_output", "call_id": "c2", "output": [{"type": "input_text", "text": "parts"}]},
    {
        "type": "message", "id": "m1", "role": "assistant", "status": "completed",
        "content": [{"type": "output_text", "text": "The kettle is on the stove.", "annotations": []}],
    },
    {"role": "user", "content": [{"type": "input_text", "text": "And the lid?"}]},
    {"role": "assistant", "content": ""},
    {"role": "assistant", "content": "Nobody knows.", "type": "message"},
]  # fmt: skip
"""Items of every form that the SDK hands to a session."""


@pytest.fixture(scope="module")
def connected(settings: Configure) -> Iterator[biem.Memory]:
    """One connection for the tests of this file."""
    with biem.connect(settings(), embedder=WordEmbedder()) as memory:
        yield memory


def opened(memory: biem.Memory, name: str, **options: Any) -> "BiemSession":
    """A session. The SDK takes seconds to import, which every process that collects this file would spend."""
    from biem.integrations.openai_agents import BiemSession

    return BiemSession(memory, name, **options)


@pytest.fixture
def own(connected: biem.Memory) -> biem.Memory:
    """A scope of the test's own."""
    return connected.scope(user=uuid.uuid4().hex)


def test_a_message_of_strings_is_remembered_and_comes_back_as_it_was(own: biem.Memory) -> None:
    item: Any = {"role": "user", "content": ["The blue kettle", {"type": "input_image"}, "is Bo's"]}
    session = opened(own, "strings")
    asyncio.run(session.add_items([item]))
    assert asyncio.run(session.get_items()) == [item]
    assert [node.text for node in own.list().items] == ["The blue kettle\nis Bo's"]


def test_every_item_comes_back_as_from_the_sdks_own_session(own: biem.Memory) -> None:
    async def program(session: "Session") -> list[Any]:
        answers: list[Any] = [await session.get_items()]
        await session.add_items(list(ITEMS))
        answers += [await session.get_items(), await session.get_items(3), await session.get_items(100)]
        answers += [await session.pop_item(), await session.pop_item(), await session.get_items(2)]
        await session.add_items([cast(Any, {"role": "user", "content": "Never mind."})])
        answers += [await session.get_items(2), await session.get_items(0)]
        await session.clear_session()
        answers += [await session.get_items(), await session.pop_item()]
        await session.add_items(list(ITEMS[:1]))
        answers.append(await session.get_items())
        return answers

    from agents import SQLiteSession
    from agents.memory import Session

    # Given a session of biem and the SDK's own / When one program runs on both
    session = opened(own, "kitchen")
    expected, got = asyncio.run(program(SQLiteSession("kitchen"))), asyncio.run(program(session))

    # Then they answer alike
    assert isinstance(session, Session)
    assert got == expected
    # And biem knows the conversation under that name
    assert [one.name for one in own.sessions.list(status="open")] == ["kitchen"]


def test_what_was_said_is_remembered_until_it_is_taken_back(own: biem.Memory) -> None:
    session = opened(own, "kitchen")
    asyncio.run(session.add_items(list(ITEMS)))

    # Then recall finds what was said, and neither tools nor instructions
    said = {node.text for node in own.list(limit=50).items}
    assert said == {"Where is the blue kettle?", "The kettle is on the stove.", "And the lid?", "Nobody knows."}

    # When the last item is popped
    asyncio.run(session.pop_item())

    # Then recall does not find it, and the counts of the session are right
    assert "Nobody knows." not in {hit.node.text for hit in own.recall("Nobody knows")}
    [chat] = own.sessions.list()
    messages = own.sessions.messages(chat.id)
    assert (chat.messages, chat.tokens) == (len(messages), sum(message.tokens for message in messages))

    # And when the session is cleared, none of it is left after the jobs ran
    asyncio.run(session.clear_session())
    own.sleep()
    assert (own.stats()["memories"], own.sessions.messages(chat.id)) == (0, [])


def test_a_memory_that_was_there_before_its_message_stays(own: biem.Memory) -> None:
    # Given a fact that is also said in a session
    fact = own.remember("The barn is red", ref="barn")
    chat = own.sessions.open("kitchen")
    own.sessions.append(chat.id, "user", "The barn is red", kind="knowledge", ref="barn")

    # When the message is taken back
    [gone] = own.sessions.retract(chat.id)

    # Then the fact stays
    assert gone.memory_id == fact
    assert own.get(fact).status != "archived"


def test_settings_of_a_session(own: biem.Memory) -> None:
    from agents.memory.session_settings import SessionSettings

    quiet = opened(own, "quiet", remember=False, session_settings=SessionSettings(limit=1))
    asyncio.run(quiet.add_items(list(ITEMS[:2])))
    assert asyncio.run(quiet.get_items()) == ITEMS[1:2]
    assert own.recall("kettle") == []
    with pytest.raises(biem.InvalidInput, match="name"):
        opened(own, "")
