"""`BIEMContextPlugin(sessions=True)`: each message is in the session of the conversation, and a memory."""

from typing import Any

import pytest

import biem
from biem import BIEMContextPlugin


def test_a_loop_with_sessions_keeps_every_message_and_gives_a_window(memory: biem.Memory) -> None:
    # Given an agent with a tool
    plugin = BIEMContextPlugin(memory, conversation="kitchen", sessions=True)
    assert plugin.window() == []
    call = {"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}]}

    # When it records a turn
    asked = plugin.record_user_message("Is the blue kettle on?", speaker="Ann", tokens=6)
    assert plugin.record_assistant_message("", data=call) is None
    tool = plugin.record_tool_message("kettle: on", data={"tool_call_id": "c1"})
    said = plugin.record_assistant_message("Yes, it is on")

    # Then the window is the chat, with the call and its result
    assert plugin.window() == [
        {"role": "user", "content": "Is the blue kettle on?"},
        {"role": "assistant", "content": "", **call},
        {"role": "tool", "content": "kettle: on", "tool_call_id": "c1"},
        {"role": "assistant", "content": "Yes, it is on"},
    ]
    [chat] = memory.sessions.list()
    assert chat.name == "kitchen"
    # And the messages are memories as without sessions
    nodes = [memory.get(key or "") for key in (asked, tool, said)]
    assert [(one.source, one.conversation, one.origin) for one in nodes] == [
        ("user", "kitchen", "user"),
        ("tool", "kitchen", "tool"),
        ("assistant", "kitchen", "assistant"),
    ]
    assert nodes[0].speaker == "Ann"
    # And a second plugin of the conversation goes on in the same session
    BIEMContextPlugin(memory, conversation="kitchen", sessions=True).record_user_message("And now?")
    assert len(plugin.window()) == 5


def test_a_session_that_was_closed_meanwhile_is_followed_by_a_new_one(memory: biem.Memory) -> None:
    # Given a loop whose session a user closes
    plugin = BIEMContextPlugin(memory, conversation="kitchen", sessions=True)
    plugin.record_user_message("one")
    memory.sessions.open("other", exclusive=True)

    # When it goes on / Then the message is in a new session of the name
    assert plugin.record_user_message("two") is not None
    assert [one["content"] for one in plugin.window()] == ["two"]
    assert [(one.name, one.status) for one in memory.sessions.list()] == [
        ("kitchen", "open"),
        ("other", "open"),
        ("kitchen", "closed"),
    ]


def test_a_message_that_cannot_be_stored_waits_and_is_stored_once(
    memory: biem.Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a server that is down for one message, after it was stored
    plugin = BIEMContextPlugin(memory, conversation="kitchen", sessions=True)
    plugin.record_user_message("zero")
    records: Any = memory.sessions._system.records
    original: Any = records.append

    def lost(*arguments: Any) -> Any:
        original(*arguments)
        raise biem.StoreUnavailable("the answer was lost")

    with monkeypatch.context() as here:
        here.setattr(records, "append", lost)
        assert plugin.record_user_message("one") is None
        assert plugin.unsaved == 1

    # When it is back / Then the message is there once, before the next
    plugin.record_user_message("two")
    assert plugin.unsaved == 0
    assert [one["content"] for one in plugin.window()] == ["zero", "one", "two"]


def test_without_sessions_a_message_has_no_data_and_there_is_no_window(memory: biem.Memory) -> None:
    # Given a plugin as before / When a message has data of a session / Then it is refused as any unknown argument
    plugin = BIEMContextPlugin(memory)
    with pytest.raises(TypeError, match="sessions=True"):
        plugin.record_user_message("one", data={"name": "x"})
    assert plugin.record_user_message("one") is not None
    assert plugin.window() == []
    assert memory.sessions.list() == ()


def test_commands_of_the_user_are_answered_and_change_the_session(memory: biem.Memory) -> None:
    # Given a loop with a session
    plugin = BIEMContextPlugin(memory, conversation="kitchen", sessions=True)
    plugin.record_user_message("The blue kettle belongs to Ann", tokens=20)
    [first] = memory.sessions.list()

    # When the user types commands / Then they are answered, and other input is for the model
    assert "20 tokens" in (plugin.command("/session status") or "")
    assert plugin.command("where is the kettle?") is None
    assert "new session" in (plugin.command("/new") or "")
    plugin.record_user_message("The red kettle belongs to Bo", tokens=20)
    assert [message["content"] for message in plugin.window()] == ["The red kettle belongs to Bo"]
    assert "messages: 1" in (plugin.command(f"/session restore {first.id}") or "")
    assert [message["content"] for message in plugin.window()] == ["The blue kettle belongs to Ann"]
    assert "no session" in (plugin.command("/session restore 0190b0a0-0000-7000-8000-000000000000") or "")
    assert "kettle" in (plugin.command("/memory search kettle") or "")
    # And in the language of the talk, unless the line has another one
    plugin.prepare_context("红色的水壶是谁的？")
    assert (plugin.command("/memory stats") or "").startswith("核心记忆：")
    assert "core: " in (plugin.command("/memory stats", "en") or "")
    plugin.prepare_context("Whose is the red kettle?")
    assert "core: " in (plugin.command("/memory stats") or "")
    assert "会话" in (plugin.command("/session restore 没有") or "")
    # And without sessions, or without a memory, nothing breaks
    assert BIEMContextPlugin(memory).command("/new") == "this loop keeps no sessions"
    assert BIEMContextPlugin(memory, enabled=False).command("/memory stats") is None

    def down() -> biem.Memory:
        raise OSError

    assert BIEMContextPlugin(down).command("/memory stats") == "the command failed; the log has the reason"
