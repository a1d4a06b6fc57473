"""Chats of ChatGPT, Claude and Claude Code: who said what and when, on the branch that was shown last."""

import json
import zipfile
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from biem.importers.tree import newest_leaf, path_to
from tests.unit.importers.files import START, chat, found, long_chat, node, records, said, write

AT = datetime.fromtimestamp(START, tz=UTC)


# -- ChatGPT ----------------------------------------------------------------------------------------------------------


def test_chatgpt_is_read_along_the_branch_last_shown(tmp_path: Path) -> None:
    # Given a question with two answers, of which the second was shown, parts that are null or images, and other roles
    speech = {"content_type": "audio_transcription", "text": "那就这样"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file://1"}
    conversation = chat(
        node("root", None),
        node("s", "root", said("s", "system", "")),
        node("q", "s", said("q", "user", "下周三住哪儿？", None, picture, at=START + 1)),
        node("a1", "q", said("a1", "assistant", "Hotel One")),
        node("a2", "q", said("a2", "assistant", "Hotel", "Avenida", at=START + 2, metadata={"model_slug": "m-1"})),
        node("t", "a2", said("t", "tool", "42 rooms")),
        node("call", "t", said("call", "assistant", "search()", recipient="browser")),
        node("i", "call", said("i", "user", picture)),
        node("v", "i", said("v", "user", at=None, content={"content_type": "multimodal_text", "parts": [speech]})),
        node("h", "v", said("h", "assistant", "x", content={"content_type": "thoughts", "thoughts": []})),
        current="h",
    )  # fmt: skip

    # When it is read / Then the branch is there in its order, with times, roles, ids; the rest is counted
    read, left, bad = found(write(tmp_path / "any.name", [conversation]))
    assert bad == []
    assert [(r.speaker, r.text) for r in read] == [
        ("user", "下周三住哪儿？"),
        ("assistant", "Hotel\nAvenida"),
        ("user", "那就这样"),
    ]
    assert [r.at for r in read] == [
        AT + timedelta(seconds=1),
        AT + timedelta(seconds=2),
        AT + timedelta(seconds=2, microseconds=1),  # its own is missing: said after the one before
    ]
    assert {r.conversation for r in read} == {"c1"}
    assert read[1].metadata == {"conversation_id": "c1", "message_id": "a2", "title": "Lisbon", "model": "m-1"}
    assert left == {
        "system message": 1, "tool message": 1, "tool call": 1, "without text": 1, "not text": 1, "other branch": 1,
    }  # fmt: skip


def test_chatgpt_is_read_from_the_zip_and_from_one_conversation(tmp_path: Path) -> None:
    conversations = [long_chat("one", 3), long_chat("two", 2)]
    plain = records(write(tmp_path / "conversations.json", conversations))
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps(conversations))
        archive.writestr("chat.html", "<html># no note</html>")
        archive.writestr("user.json", '{"id": "u", "email": "a@b.example"}')
        archive.writestr("../../outside.json", json.dumps([long_chat("three", 1)]))
    packed, left, bad = found(str(tmp_path / "export.zip"))
    assert bad == []
    assert {r.ref for r in packed} > {r.ref for r in plain}
    assert {r.conversation for r in packed} == {"one", "two", "three"}
    assert left == {"file of another format": 2}
    assert not (tmp_path.parent.parent / "outside.json").exists()
    alone = records(write(tmp_path / "one.json", conversations[0]))
    assert [r.ref for r in alone] == [r.ref for r in plain[:3]]


def test_a_conversation_that_is_no_longer_whole_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    broken = [
        chat(node("a", "gone", said("a", "user", "没有父节点")), current="a", name="orphan"),
        chat(node("a", "b", said("a", "user", "one")), node("b", "a", said("b", "user", "two")),
             current="a", name="ring"),
        chat(node("a", None, said("a", "user", "early", at=1.0)), node("b", None, said("b", "user", "late")),
             current="unknown", name="nowhere"),
        chat(node("a", None, said("a", "user", "no id")), current="a", name="", title="X"),
        chat({"id": "a", "message": 7, "parent": []}, node("b", "a", {"content": []}), current="b", name="odd"),
        {"mapping": None}, None, 5,
    ]  # fmt: skip
    read, left, bad = found(write(tmp_path / "c.json", broken))
    assert bad == []
    assert [(r.conversation, r.text) for r in read][:4] == [
        ("orphan", "没有父节点"),
        ("ring", "two"),
        ("ring", "one"),
        ("nowhere", "late"),
    ]
    assert read[4].conversation.startswith("chatgpt:")
    assert left == {"other branch": 1, "unknown role": 2, "not a conversation": 3}


@given(st.lists(st.integers(min_value=-1, max_value=30), max_size=30), st.integers(min_value=0, max_value=40))
def test_a_walk_ends_at_a_root_and_passes_nothing_twice(picked: list[int], leaf: int) -> None:
    # Given any graph in which each node names at most one parent, rings and unknown parents among them
    parents = {str(n): str(parent) if parent >= 0 else None for n, parent in enumerate(picked)}
    path = path_to(str(leaf), parents)

    # Then the path is made of steps of the graph, each node once, from as far up as there are steps, down to the leaf
    assert len(path) == len(set(path))
    assert all(parents[child] == parent for parent, child in pairwise(path))
    assert path[-1:] == ([str(leaf)] if str(leaf) in parents else [])
    assert not path or parents[path[0]] is None or parents[path[0]] not in parents or parents[path[0]] in path
    newest = newest_leaf(parents, {name: float(name) for name in parents})
    assert (newest in parents) if parents else (newest is None)


@given(st.lists(st.integers(min_value=0, max_value=100), min_size=1, max_size=40))
def test_in_a_tree_path_and_other_branches_are_everything(picked: list[int]) -> None:
    # Given a tree: each node hangs under an earlier one
    parents: dict[str, str | None] = {"0": None}
    for number, choice in enumerate(picked, start=1):
        parents[str(number)] = str(choice % number)
    leaf = newest_leaf(parents, {name: float(name) for name in parents})
    assert leaf == str(len(picked))  # a node without children, and the last that was written
    path = path_to(leaf, parents)
    assert path[0] == "0"
    assert len(path) + len(parents.keys() - set(path)) == len(parents)


# -- Claude -----------------------------------------------------------------------------------------------------------


def turn(name: str, sender: str, text: str, **more: object) -> dict[str, object]:
    return {"uuid": name, "sender": sender, "text": text, "created_at": "2025-03-14T15:09:26.5Z"} | more


def test_claude_says_its_text_blocks_and_counts_the_rest(tmp_path: Path) -> None:
    blocks = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "第一句"},
              {"type": "tool_use", "input": {}}, {"type": "text", "text": "and the second"}]  # fmt: skip
    messages = [
        turn("m1", "human", "我对花生过敏", attachments=[{"file_name": "a.pdf"}], files=[{"file_name": "b.png"}]),
        turn("m2", "assistant", "placeholder", content=blocks, created_at=None),
        turn("m3", "assistant", "placeholder", content=[{"type": "tool_use"}]),
        turn("m4", "narrator", "who?"),
        turn("m5", "human", "  "),
    ]
    conversation = {"uuid": "c1", "name": "Food", "created_at": "2025-03-14T15:00:00Z", "chat_messages": messages}
    read, left, bad = found(write(tmp_path / "x", [conversation]))
    assert bad == []
    assert [(r.speaker, r.text) for r in read] == [("user", "我对花生过敏"), ("assistant", "第一句\nand the second")]
    assert read[0].at == datetime(2025, 3, 14, 15, 9, 26, 500_000, tzinfo=UTC)
    assert read[1].at == datetime(2025, 3, 14, 15, 9, 26, 500_001, tzinfo=UTC)
    assert read[0].metadata == {"conversation_id": "c1", "message_id": "m1", "title": "Food"}
    assert left == {"attachment": 2, "without text": 2, "unknown role": 1}


def test_claude_leaves_other_branches_out_where_it_names_the_last(tmp_path: Path) -> None:
    messages = [
        turn("q", "human", "which one?", parent_message_uuid="00000000"),
        turn("a1", "assistant", "this", parent_message_uuid="q"),
        turn("a2", "assistant", "that", parent_message_uuid="q"),
    ]
    conversation = {"uuid": "c1", "name": "", "chat_messages": messages}
    assert len(records(write(tmp_path / "all.json", [conversation]))) == 3
    read, left, _ = found(write(tmp_path / "last.json", [conversation | {"current_leaf_message_uuid": "a2"}]))
    assert [r.text for r in read] == ["which one?", "that"]
    assert left == {"other branch": 1}


def test_the_zip_of_claude_has_its_memories_too(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "claude.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps([{"uuid": "c", "chat_messages": [turn("m", "human", "hi")]}]))
        archive.writestr("memories.json", json.dumps([{"conversations_memory": "Likes tea\n\n住在杭州\n\nLikes tea",
                                                       "project_memories": {"p1": "Ships in May"}}]))  # fmt: skip
        archive.writestr("projects.json", json.dumps([{"uuid": "p1", "prompt_template": "", "docs": []}]))
        archive.writestr("users.json", json.dumps([{"uuid": "u", "full_name": "Ann", "email_address": "a@b.example"}]))
    read, left, bad = found(str(tmp_path / "claude.zip"))
    assert bad == []
    assert [(r.kind, r.text) for r in read] == [
        ("event", "hi"), ("knowledge", "Likes tea"), ("knowledge", "住在杭州"), ("knowledge", "Ships in May"),
    ]  # fmt: skip
    assert read[3].metadata == {"project_id": "p1"}
    assert left == {"project or account": 2}


# -- Claude Code ------------------------------------------------------------------------------------------------------


def event(name: str, kind: str, content: object, **more: object) -> dict[str, object]:
    message = (
        {"role": kind, "content": content, "model": "m-2"}
        if kind == "assistant"
        else {"role": kind, "content": content}
    )
    base = {
        "type": kind,
        "uuid": name,
        "sessionId": "s1",
        "timestamp": "2026-01-02T03:04:05.678Z",
        "cwd": "/home/ann/app",
    }
    return base | {"message": message} | more


SESSION = [
    {"type": "summary", "summary": "Fixing the parser", "leafUuid": "x"},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    event("e1", "user", "把解析器修好<system-reminder>Today is Monday.\nRemember it.</system-reminder>"),
    event("e2", "assistant", [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "I will."}]),
    event("e3", "assistant", [{"type": "tool_use", "name": "Bash", "input": {}}]),
    event("e4", "user", [{"type": "tool_result", "content": "a thousand lines"}]),
    event("e5", "user", "<user-prompt-submit-hook>## Relevant Memories\n1. old</user-prompt-submit-hook>"),
    event("e6", "user", "<command-name>/clear</command-name>"),
    event("e7", "user", "Caveat: The messages below were generated by the user", isMeta=True),
    event("e8", "user", "do a search", isSidechain=True),
    event("e9", "user", "This session is being continued", isCompactSummary=True),
    event("e10", "user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}]),
    event("e11", "assistant", [{"type": "text", "text": "overloaded"}], isApiErrorMessage=True),
    event("e12", "user", [{"type": "text", "text": "谢谢"}, {"type": "image", "source": {}}]),
    {"type": "system", "subtype": "stop_hook_summary", "content": "hook ran", "sessionId": "s1"},
]


def test_a_session_of_claude_code_is_what_was_said(tmp_path: Path) -> None:
    read, left, bad = found(write(tmp_path / "s1.jsonl", *SESSION))
    assert bad == []
    assert [(r.speaker, r.text) for r in read] == [("user", "把解析器修好"), ("assistant", "I will."), ("user", "谢谢")]
    assert read[0].at == datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    assert read[1].metadata == {"session_id": "s1", "message_id": "e2", "cwd": "/home/ann/app", "model": "m-2"}
    assert read[0].conversation == "s1"
    assert left == {
        "meta line": 5, "thoughts": 1, "tool call": 1, "tool result": 1, "hook context": 1, "command": 1, "subagent": 1,
        "summary of a compaction": 1, "API error": 1, "not text": 1,
    }  # fmt: skip


def test_a_folder_of_sessions_is_read_and_a_resumed_one_repeats_nothing(tmp_path: Path) -> None:
    write(tmp_path / "projects" / "app" / "s1.jsonl", *SESSION)
    resumed = [*SESSION, event("e20", "user", "go on", sessionId="s2")]
    write(tmp_path / "projects" / "app" / "s2.jsonl", *resumed)
    (tmp_path / "projects" / "app" / "todo.txt").write_text("no session")
    (tmp_path / "projects" / "link.jsonl").symlink_to(tmp_path / "projects" / "app" / "s1.jsonl")
    read, left, bad = found(str(tmp_path / "projects"))
    assert bad == []
    assert len(read) == 7
    assert len({r.ref for r in read}) == 4
    assert left["symbolic link"] == 1
    assert left["file of another format"] == 1


def test_a_broken_line_of_a_session_says_where(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(json.dumps(SESSION[2]).encode() + b'\n{"type": "us\n[1]\n\xff\n' + json.dumps(SESSION[3]).encode())
    read, _, bad = found(str(path))
    assert len(read) == 2
    assert [(line.line, line.column) for line in bad] == [(2, 10), (3, 1), (4, 1)]
