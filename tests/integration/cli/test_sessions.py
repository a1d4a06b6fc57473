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
