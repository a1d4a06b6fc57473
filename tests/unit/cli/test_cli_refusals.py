"""What the command line says before it opens anything, and how it writes for shells."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from biem import bootstrap
from biem.bootstrap import Servers
from biem.cli.app import run
from biem.cli.output import shown_time

WRONG = [
    ["remember", "x", "--kind", "song"],
    ["remember", "x", "--layer", "cellar"],
    ["remember", "x", "--importance", "9"],
    ["remember", "  "],
    ["recall", "x", "--mode", "loud"],
    ["recall", "x", "--kind", "song"],
    ["recall", "x", "--profile", "nobody"],
    ["recall", "x", "--selection", "dice"],
    ["recall", " "],
    ["context", ""],
    ["get", "not an id"],
    ["erase", "not an id"],
    ["archive", "not an id"],
    ["links", "not an id"],
    ["get", "12345"],
    ["undo", "not an id"],
    ["feedback", "--useful", "not an id"],
    ["feedback", "--new", "not an id"],
    ["diagnose", "--full", "--after", "not an id"],
    ["resolve", "not an id", "keep_new"],
    ["resolve", "0123456789ab", "keep_neither"],
    ["conflicts", "--status", "open"],
    ["conflicts", "--limit", "1001"],
    ["facts", "--limit", "0"],
    ["dead", "--limit", "5000"],
    ["related", " "],
    ["remember", "x", "--at", "9000-01-01"],
    ["remember", "x", "--at", "1870-01-01"],
    ["recall", "x", "--top-k", "0"],
    ["recall", "x", "--top-k", "1000000"],
    ["recall", "x", "--since", "some day"],
    ["recall", "x", "--min-energy", "2"],
    ["recall", "x", "--sentiment", "0.5", "-0.5"],
    ["context", "x", "--top-k", "1000000"],
    ["context", "x", "--history", "none.json"],
    ["context", "-", "--history", "-"],
    ["import", "none.jsonl"],
    ["import", "none.json", "--format", "song"],
    ["remember", "x", "--ttl", "soon"],
    ["remember", "x", "--ttl", "0s"],
    ["remember", "x", "--ttl", "999999999999w"],
    ["remember", "x", "--expires", "2001-01-01"],
    ["remember", "x", "--expires", "2999-01-01", "--ttl", "1d"],
    ["remember", "x", "--on-expiry", "forget"],
    ["list", "--order", "loudest"],
    ["list", "--limit", "501"],
    ["list", "--status", "gone"],
    ["count", "--layer", "cellar"],
    ["count", "--min-trust", "sure"],
    ["timeline", "--since", "some day"],
    ["recall", "x", "--where", "score"],
    ["recall", "x", "--where", "score>="],
    ["recall", "x", "--where", "score>=true"],
    ["context", "x", "--where", '{"a": {"$like": 1}}'],
    ["list", "--where", "{broken"],
    ["count", "--where", "a=1", "--where", "a=2"],
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_what_cannot_be_meant_is_refused_before_a_server_starts(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Given a home that no one made yet / When a command is wrong / Then it says so, and nothing was started for it
    home = tmp_path / "home"
    assert run(["--home", str(home), *words]) == 2
    assert capsys.readouterr().err.startswith("biem: ")
    assert not home.exists()


def test_a_backup_replaces_no_file_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Given a file / When a backup is to have its name / Then it stays, and --force is named
    kept = tmp_path / "mine.biem"
    kept.write_text("mine", encoding="utf-8")
    assert run(["--home", str(tmp_path / "home"), "backup", str(kept)]) == 2
    assert "--force" in capsys.readouterr().err
    assert kept.read_text(encoding="utf-8") == "mine"


def test_the_version_is_an_option_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("biem ")


def test_a_shell_gets_the_completions_of_a_word() -> None:
    # Given what bash asks when a user presses the tabulator / Then the commands that begin so are named
    asked = {"_BIEM_COMPLETE": "complete_bash", "COMP_WORDS": "biem re", "COMP_CWORD": "1", "PATH": os.environ["PATH"]}
    biem = str(Path(sys.executable).with_name("biem"))
    done = subprocess.run([biem], capture_output=True, text=True, check=False, env=asked, timeout=60)
    assert {"recall", "remember", "resolve"} <= set(done.stdout.split())
    assert "forget" not in done.stdout


@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_a_shell_takes_what_local_up_prints(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Given servers whose URLs have what a shell would take for its own
    dsn = "postgresql://postgres@/biem?host=/a 'b'/$c&port=5432"
    where = Servers(dsn, "unix:///run/valkey.sock", "unix:/run/milvus.sock", "", embedded=True)
    monkeypatch.setattr(bootstrap, "local_up", lambda _: where)
    assert run(["--home", str(tmp_path), "local", "up", "--no-indexer"]) == 0

    # When a shell evaluates what is printed / Then its programs have the settings as they are
    script = 'eval "$1"; exec printenv BIEM_POSTGRES_DSN'
    words = [shell, "-c", script, shell, capsys.readouterr().out]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]})
    assert done.stdout == f"{dsn}\n"


def test_times_name_their_zone() -> None:
    shown = shown_time(datetime(2026, 3, 2, 9, 0, tzinfo=UTC))
    assert datetime.fromisoformat(shown) == datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
