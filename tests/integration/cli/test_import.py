"""Exports of other systems on real servers: what a kill leaves, what a second import adds, and what can be asked."""

import json
import signal
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import biem
from biem.engine.remember.importing import ImportReport
from biem.errors import InvalidInput
from tests.support.cli_process import Cli, finish, running
from tests.support.fakes import eventually
from tests.unit.importers.files import START, chat, long_chat, node, said, write
from tests.unit.importers.test_chats import SESSION
from tests.unit.importers.test_notes import BASIC, GRAPH, MEMORIES


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("import") / "home") as command:
        yield command


def export(path: Path, conversations: int, turns: int) -> str:
    """The zip of a ChatGPT export."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", json.dumps([long_chat(f"c{n}", turns) for n in range(conversations)]))
        archive.writestr("chat.html", "<html></html>")
    return str(path)


@pytest.mark.long
def test_an_import_that_is_killed_again_and_again_stores_everything_once(cli: Cli, tmp_path: Path) -> None:
    # Given the export of 4,000 messages, and an import of it that is killed three times
    path, scope = export(tmp_path / "export.zip", 200, 20), ("--user", "killed", "--json")
    left = [0]
    for least in (1, 1_000, 2_000):
        process = cli.start("import", path, "--no-wait", *scope)
        eventually(lambda least=least: len(cli.kept("killed")) >= least)  # type: ignore[misc]
        process.send_signal(signal.SIGKILL)
        finish(process)
        left.append(len(cli.kept("killed")))
    assert left == sorted(left)
    assert left[-1] < 4_000

    # When it is run once more / Then the counts are right, nothing is there twice, and all times are the original ones
    planned = cli("import", path, "--dry-run", *scope).document
    done = cli("import", path, "--no-wait", *scope).document
    for summary in (planned, done):
        assert (summary["created"], summary["already_there"]) == (4_000 - left[-1], left[-1])
        assert (summary["formats"], summary["skipped"]) == ({"chatgpt": 4_000}, {"file of another format": 1})
    refs = cli.kept("killed")
    assert len(refs) == len(set(refs)) == 4_000
    times = [datetime.fromisoformat(at).timestamp() for at in cli.kept("killed", "at")]
    assert sorted(times) == sorted(START + 60 * turn for turn in range(20) for _ in range(200))
    assert set(cli.kept("killed", "source")) == {"chatgpt"}
    cli("erase", "--scope", "--yes", "--user", "killed")  # or the next import waits until all of it is embedded


@pytest.mark.long
def test_ctrl_c_says_what_is_stored_and_loses_none_of_it(cli: Cli, tmp_path: Path) -> None:
    path = export(tmp_path / "export.zip", 200, 20)
    process = cli.start("import", path, "--no-wait", "--user", "stopped")
    eventually(lambda: len(cli.kept("stopped")) >= 500)
    process.send_signal(signal.SIGINT)
    (result,) = finish(process)
    assert result.code == 130
    stored = int(result.stderr.partition("at least ")[2].partition(" messages are stored")[0])
    assert 500 <= stored <= len(cli.kept("stopped")) < 4_000
    assert "the same command again goes on from there" in result.stderr
    cli("erase", "--scope", "--yes", "--user", "stopped")


@pytest.mark.long
def test_every_format_is_imported_and_found(cli: Cli, tmp_path: Path) -> None:
    # Given a folder with a file of each format
    folder = tmp_path / "all"
    question = chat(node("a", None, said("a", "user", "下周三飞里斯本，住 Hotel Avenida", at=START)), current="a")
    write(folder / "1", [question])
    write(folder / "2", [{"uuid": "c", "chat_messages": [{"uuid": "m", "sender": "human", "text": "My cat is Miso"}]}])
    write(folder / "3", *SESSION)
    write(folder / "4", MEMORIES)
    write(folder / "5", *GRAPH)
    write(folder / "6", {"text": "the deposit is 300 EUR", "speaker": "Mei"})
    (folder / "brew.md").write_text(BASIC, encoding="utf-8")

    # When it is imported / Then each is there, with its origin, and found by meaning; again adds nothing
    scope = ("--user", "all", "--json")
    summary = cli("import", str(folder), *scope).document
    assert summary["formats"] == {
        "chatgpt": 1, "claude": 1, "claude-code": 3, "mem0": 2, "mcp-memory": 5, "jsonl": 1, "markdown": 6,
    }  # fmt: skip
    assert (summary["files"], summary["created"], summary["indexed"]) == (7, 19, True)
    assert set(cli.kept("all", "source")) == set(summary["formats"])
    (hit, *_) = cli("recall", "里斯本的酒店", *scope).document["hits"]
    assert hit["node"]["text"] == "下周三飞里斯本，住 Hotel Avenida"
    assert hit["node"]["at"] == datetime.fromtimestamp(START, tz=UTC).isoformat()
    assert hit["node"]["metadata"]["title"] == "Lisbon"
    again = cli("import", str(folder), "--no-wait", *scope).document
    assert (again["created"], again["already_there"]) == (0, 19)
    shown = cli("import", str(folder), "--dry-run", "--user", "all").stdout
    assert shown.startswith("0 would be imported, 19 were there already")
    assert "1 × tool result" in shown


@pytest.mark.long
def test_an_export_that_breaks_off_keeps_what_precedes(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps([long_chat("one", 5), long_chat("two", 5)])[:-200])
    stopped = cli("import", str(path), "--user", "cut", "--json", code=2).error
    assert "c.json: the JSON breaks off after element 1, before byte" in stopped["message"]
    assert "5 earlier messages are stored" in stopped["message"]
    path.write_text(json.dumps([long_chat("one", 5), long_chat("two", 5)]))
    summary = cli("import", str(path), "--no-wait", "--user", "cut", "--json").document
    assert (summary["created"], summary["already_there"]) == (5, 5)
    assert len(set(cli.kept("cut"))) == 10


@pytest.mark.long
def test_texts_that_no_database_holds_are_mended_or_divided(memory: biem.Memory, tmp_path: Path) -> None:
    # Given a message of 3 MB, one with NUL and a lone surrogate, and a speech of emoji
    long = "\n".join(f"line {number} of a log" for number in range(150_000))
    nodes = [node("a", None, said("a", "user", long)), node("b", "a", said("b", "user", "nul \0 and \ud800 alone"))]
    path = write(tmp_path / "c.json", [chat(*nodes, node("c", "b", said("c", "user", "😀" * 9)), current="c")])

    # When they are imported / Then nothing is lost, and again adds nothing
    heard: list[ImportReport] = []
    report = memory.import_file(path, on_progress=heard.append)
    assert report.stored == report.read > 10
    assert heard[-1] is report
    kept = [node for node in memory.list(limit=100).items if not node.metadata.get("part")]
    assert {node.text for node in kept} == {"nul \ufffd and \ufffd alone", "😀" * 9}
    assert memory.import_file(tmp_path / "c.json").stored == 0
    with pytest.raises(InvalidInput, match="format 'song' is unknown"):
        memory.import_file(path, format="song")
