"""`biem export`, `biem import` of what it wrote, and `biem move`."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli_process import Cli, running
from tests.support.fakes import eventually


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("cli") / "home") as command:
        yield command


@pytest.mark.long
def test_a_scope_goes_into_a_file_and_back(cli: Cli, tmp_path: Path) -> None:
    scope, file = ("--user", "carried"), tmp_path / "out.jsonl"
    ids = [
        cli("remember", text, "--tag", "x", *scope, "--wait").stdout.strip()
        for text in ("Li Ming has a boat", "花生过敏")
    ]
    report = cli("export", "--out", str(file), *scope, "--json").document
    assert (report["memories"], report["path"], report["lines"]["memory"]) == (2, str(file), 2)
    assert cli.process("export", *scope).stdout.encode() == file.read_bytes()
    assert "exists" in cli("export", "--out", str(file), *scope, "--json", code=2).error["message"]
    cli("export", "--out", str(file), "--force", *scope)
    assert "--out" in cli("export", *scope, "--json", code=2).error["message"]
    assert "JSON" in cli("export", "--out", "x", "--where", "{", *scope, "--json", code=2).error["message"]
    cli("erase", "--scope", "--yes", *scope)
    # When it is checked, taken back, and taken back once more from stdin
    dry = cli("import", str(file), "--dry-run", *scope, "--json").document
    assert (dry["created"], dry["dry_run"], cli.kept("carried", "id")) == (2, True, [])
    assert cli("import", str(file), *scope, "--json").document["created"] == 2
    assert "2 were there already" in cli("import", "-", *scope, stdin=file.read_bytes()).stdout
    assert sorted(cli.kept("carried", "id")) == sorted(ids)
    # And as PowerShell saves what it redirects, from a file and from stdin
    recoded = tmp_path / "recoded.jsonl"
    recoded.write_bytes(file.read_text(encoding="utf-8").replace("\n", "\r\n").encode("utf-16"))
    assert "2 were there already" in cli("import", str(recoded), *scope).stdout
    assert "2 were there already" in cli("import", "-", *scope, stdin=recoded.read_bytes()).stdout
    # And elsewhere it has other ids
    assert "2 of 2 memories imported" in cli("import", str(file), "--user", "copy").stdout
    assert not set(cli.kept("copy", "id")) & set(ids)
    notes = tmp_path / "notes"
    cli("export", "--format", "markdown", "--out", str(notes), "--tag", "x", *scope)
    assert "> 花生过敏" in "".join(path.read_text(encoding="utf-8") for path in notes.iterdir())


@pytest.mark.long
def test_a_broken_file_is_refused_with_the_line(cli: Cli, tmp_path: Path) -> None:
    scope, file = ("--user", "broken"), tmp_path / "out.jsonl"
    cli("remember", "Li Ming has a boat", *scope)
    cli("export", "--out", str(file), *scope)
    whole = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(whole[:-1]) + whole[1][:40])
    error = cli("import", str(file), *scope, "--json", code=2).error
    assert error["message"].startswith(f"line {len(whole)}: not JSON")
    other = json.loads(whole[1]) | {"text": "Li Ming has a horse"}
    file.write_bytes(whole[0] + json.dumps(other).encode() + b"\n")
    file.write_bytes(file.read_bytes() + b'{"type":"end","lines":{"memory":1}}\n')
    error = cli("import", str(file), *scope, "--json", code=4).error
    assert (error["kind"], "--on-conflict skip" in error["message"]) == ("ImportConflict", True)
    assert cli("import", str(file), "--on-conflict", "skip", *scope, "--json").document["skipped"] == 1


@pytest.mark.long
def test_ctrl_c_says_what_is_stored_and_the_same_command_goes_on(cli: Cli, tmp_path: Path) -> None:
    scope, file = ("--user", "stopped"), tmp_path / "out.jsonl"
    cli("remember", "Li Ming has a boat", *scope)
    cli("export", "--out", str(file), *scope)
    first, one, *_ = file.read_bytes().splitlines(keepends=True)
    ids = [f"01890a5d-ac96-774b-bcce-{n:012x}" for n in range(1200)]
    more = [json.dumps(json.loads(one) | {"id": each, "fact": False}).encode() + b"\n" for each in ids]
    end = json.dumps({"type": "end", "lines": {"memory": len(more)}}).encode()
    process = cli.start("import", "-", *scope, "--json", env={"BIEM_CLOSE_TIMEOUT_S": "0.2"})
    assert process.stdin
    process.stdin.write(first + b"".join(more))
    process.stdin.flush()
    eventually(lambda: len(cli.kept("stopped", "id")) > 1000)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    error = json.loads(stderr.splitlines()[-1])["error"]
    assert (process.returncode, error["kind"]) == (130, "Interrupted")
    assert "lines are stored; the same command again goes on from there" in error["message"]
    file.write_bytes(first + b"".join(more) + end)
    report = cli("import", str(file), *scope, "--json").document
    assert (report["memories"], report["already_there"]) == (1200, 1000)
    assert len(cli.kept("stopped", "id")) == 1201
    cli("erase", "--scope", "--yes", *scope)


@pytest.mark.long
def test_memories_move_to_another_scope(cli: Cli) -> None:
    scope = ("--user", "from")
    one, two, three = (cli("remember", f"Bus {n} was late", *scope).stdout.strip() for n in range(3))
    for wrong in (("--ids", one), ("--to-user", "to"), ("--to-user", "to", "--all", "--ids", one)):
        cli("move", *wrong, *scope, "--json", code=2)
    report = cli("move", "--ids", one[-8:], "--ids", two, "--to-user", "to", *scope, "--json").document
    assert report["memories"] == 2
    assert (
        cli("move", "--ids", three, "--ids", two, "--to-user", "to", *scope, "--json", code=0).document["already_there"]
        == 1
    )
    assert (cli.kept("from", "id"), sorted(cli.kept("to", "id"))) == ([], sorted([one, two, three]))
    assert "3 memories moved to default/to/p" in cli("move", "--all", "--to-project", "p", "--user", "to").stdout
    assert cli("move", "--ids", one, "--to-user", "x", *scope, "--json", code=3).error["kind"] == "NotFound"
