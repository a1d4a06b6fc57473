"""`biem session`: what was said, as typed in a shell."""

from collections.abc import Iterator

import pytest

import biem
from biem.config import Settings
from tests.support.cli_process import Cli, running


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("cli") / "home") as command:
        yield command


@pytest.mark.long
def test_sessions_are_listed_read_closed_and_resumed(cli: Cli) -> None:
    # Given a session of a program
    settings = Settings(home=cli.home, queue="none")
    with biem.connect(settings, scope=biem.Scope(user="talker"), embedder=cli.embedder) as memory:
        chat = memory.sessions.open("kitchen")
        for number in range(3):
            memory.sessions.append(chat.id, "user", f"question {number}", tokens=10)
            memory.sessions.append(chat.id, "assistant", f"answer {number}", tokens=10)

    # When it is looked at / Then the commands show it
    scope = ("--user", "talker")
    [listed] = cli("session", "list", *scope, "--json").document
    assert (listed["id"], listed["name"], listed["messages"]) == (chat.id, "kitchen", 6)
    assert "kitchen" in cli("session", "list", *scope).stdout
    assert cli("session", "status", "kitchen", *scope, "--json").document["usage"] == 60 / 128_000
    shown = cli("session", "show", "kitchen", "--after", "4", *scope).stdout.split()
    assert shown == ["5", "user", "question", "2", "6", "assistant", "answer", "2"]
    window = cli("session", "window", chat.id, "--budget", "45", *scope)
    assert window.stdout.count("answer") == 2
    assert "2 earlier messages" in window.stderr
    assert "0 slices" in cli("session", "trim", "kitchen", *scope).stdout
    # And it is closed and opened again
    assert "closed" in cli("session", "close", "kitchen", *scope).stdout
    assert "no open session" in cli("session", "show", "kitchen", *scope, code=3).stderr
    assert "6 messages" in cli("session", "resume", chat.id, "--exclusive", *scope).stdout
    assert cli("session", "list", "--status", "closed", *scope, "--json").document == []


@pytest.mark.req("M65")
def test_the_commands_of_a_chat_loop_are_commands_of_the_shell(cli: Cli) -> None:
    # Given a memory, and a session of a program
    settings = Settings(home=cli.home)
    scope = ("--user", "commander")
    with biem.connect(settings, scope=biem.Scope(user="commander"), embedder=cli.embedder) as memory:
        memory.remember("The blue barrel is in the barn", layer="core", kind="knowledge")
        former = memory.sessions.open("kitchen").id
        memory.sessions.append(former, "user", "hello there", tokens=96_000)
        memory.remember("Call Ann", kind="task", metadata={"category": "task"})
        assert memory.flush()

    # When commands are typed / Then they answer as in a chat
    shown = cli("memory", "stats", "--session", "kitchen", *scope).stdout.splitlines()
    assert shown == [
        "core: 8 tokens",
        "session: 96000 tokens, 75% of its limit",
        "short-term memories: 1",
        "long-term memories: 0",
        "indexed: 3, vectors: 3",
        "the session uses 75% of its context",
        "1 of 100 short-term memories",
    ]
    assert "核心记忆：8 tokens" in cli("memory", "stats", "--language", "zh", *scope).stdout
    assert cli("memory", "core", *scope).stdout == "1. The blue barrel is in the barn\n"
    assert cli("memory", "/memory core", *scope).stdout == "1. The blue barrel is in the barn\n"
    assert "blue barrel" in cli("memory", "search", "blue", "barrel", *scope).stdout
    assert "promote: 0" in cli("memory", "maintenance", *scope).stdout
    assert "/memory stats" in cli("memory", "sing", *scope).stdout
    assert "choose one of en, zh" in cli("memory", "stats", "--language", "fr", *scope, code=2).stderr
    # And a new session of a name takes the place of the open one
    assert "is open" in cli("session", "new", "kitchen", *scope).stdout
    [opened] = cli("session", "list", "--status", "open", *scope, "--json").document
    assert opened["id"] != former
