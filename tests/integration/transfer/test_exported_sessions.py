"""Sessions go out into a file word for word, and come back."""

import io
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

import biem
from biem.domain.policies.sessions import SessionPolicy
from tests.support.life_workloads import ONLY_SLEEP, embedder
from tests.support.servers import Testbed
from tests.support.transfers import exported, lines

SMALL = SessionPolicy(max_tokens=300, protected_rounds=2)
CALL = {"tool_calls": [{"id": "c1"}]}


@pytest.fixture(scope="module")
def opened(testbed: Testbed) -> Iterator[biem.Memory]:
    """Connecting takes as long as a test."""
    with biem.connect(testbed.settings(sleep=ONLY_SLEEP, session=SMALL), embedder=embedder()) as memory:
        yield memory


@pytest.fixture
def talked(opened: biem.Memory) -> biem.Memory:
    """A scope with a trimmed session, a closed one, and messages of every role."""
    memory = opened.scope(user=uuid.uuid4().hex)
    chat, old = memory.sessions.open("barn", metadata={"client": "cli"}), memory.sessions.open("shed")
    memory.sessions.append(chat.id, "system", "Be brief.", tokens=5)
    for number in range(8):
        memory.sessions.append(chat.id, "user", f"Where is crate {number}? 它在哪里", ref=f"r{number}", tokens=25)
        memory.sessions.append(chat.id, "assistant", f"Crate {number} stands behind door {number}.", tokens=25)
    memory.sessions.append(chat.id, "assistant", "", data=CALL, tokens=5)
    memory.sessions.append(chat.id, "tool", "in the barn", data={"tool_call_id": "c1"}, tokens=5)
    memory.sessions.append(old.id, "user", "The shed is empty", tokens=5)
    memory.sessions.close(old.id)
    assert memory.sessions.trim(chat.id) > 0
    assert memory.flush()
    return memory


def seen(memory: biem.Memory) -> list[Any]:
    """What sessions hold, without the names of other things."""
    found = []
    for one in sorted(memory.sessions.list(), key=lambda one: one.name):
        said = [
            (m.seq, m.role, m.content, m.tokens, m.round, m.at, m.ref, m.data) for m in memory.sessions.messages(one.id)
        ]
        counts = (one.messages, one.tokens, one.all_tokens, one.head_seq, one.next_seq, one.round)
        found.append((one.name, one.status, one.opened_at, one.closed_at, counts, dict(one.metadata), said))
    return found


@pytest.mark.req("X21", partly="through a file")
def test_sessions_that_are_erased_come_back_from_a_file_as_they_were(talked: biem.Memory) -> None:
    # Given a file of a scope with sessions
    before, sessions = exported(talked), seen(talked)
    assert {line["type"] for line in lines(before)} >= {"session", "message"}
    windows = [talked.sessions.window(one.id).chat for one in talked.sessions.list()]

    # When all is erased and taken back, twice
    talked.erase(talked.bound_to)
    assert talked.sessions.list() == ()
    for _ in range(2):
        talked.import_(io.BytesIO(before))

    # Then all is as it was: messages, counts, windows, the memories of the messages, and every byte of a file
    assert seen(talked) == sessions
    assert [talked.sessions.window(one.id).chat for one in talked.sessions.list()] == windows
    assert exported(talked) == before
    [barn] = talked.sessions.list(status="open")
    [said] = talked.sessions.messages(barn.id, after=1, limit=1)
    assert talked.get(said.memory_id or "").text == said.content
    # And the conversation goes on, a repeated message is known
    assert not talked.sessions.append(barn.id, "user", said.content, ref="r0").created
    assert talked.sessions.append(barn.id, "user", "And crate 9?", tokens=25).seq == barn.next_seq


def test_in_another_scope_they_have_other_ids_and_do_not_close_what_is_open_there(talked: biem.Memory) -> None:
    # Given a scope that has an open session of the same name
    other = talked.scope(user=uuid.uuid4().hex)
    own = other.sessions.open("barn")

    # When the file is taken in
    other.import_(io.BytesIO(exported(talked)))

    # Then the own one is open, and the other one is there under another id, closed
    assert [one.id for one in other.sessions.list(status="open")] == [own.id]
    [barn] = [one for one in other.sessions.list(status="closed") if one.name == "barn"]
    [there] = talked.sessions.list(status="open")
    assert barn.id != there.id
    assert [m.content for m in other.sessions.messages(barn.id)] == [
        m.content for m in talked.sessions.messages(there.id)
    ]
    [said] = other.sessions.messages(barn.id, after=1, limit=1)
    assert other.get(said.memory_id or "").text == said.content
    assert other.sessions.resume(barn.id).status == "open"


def test_conditions_choose_memories_and_no_sessions(talked: biem.Memory) -> None:
    file = io.BytesIO()
    talked.export(file, kinds=["event"])
    assert {"session", "message"}.isdisjoint(line["type"] for line in lines(file.getvalue()))


@pytest.mark.parametrize(
    ("section", "wrong", "told"),
    [
        ("session", {"status": "gone"}, "status"),
        ("session", {"head_seq": 0}, "head_seq"),
        ("session", {"metadata": [1]}, "metadata"),
        ("message", {"role": "king"}, "role"),
        ("message", {"tokens": -1}, "tokens"),
        ("message", {"content": "a\0b"}, "content"),
        ("message", {"memory": "01890a5d-ac96-774b-bcce-b302099a8057"}, "no memory"),
    ],
)
def test_wrong_lines_are_refused_with_their_number(
    talked: biem.Memory, section: str, wrong: dict[str, Any], told: str
) -> None:
    rows = lines(exported(talked))
    place = next(place for place, row in enumerate(rows) if row["type"] == section)
    rows[place] |= wrong
    file = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    with pytest.raises(biem.BiemError, match=f"line {place + 1}: .*{told}"):
        talked.scope(user=uuid.uuid4().hex).import_(io.BytesIO(file))
