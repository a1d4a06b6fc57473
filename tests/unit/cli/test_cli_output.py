"""What people and programs see: tables, one JSON document, errors without tracebacks, a terminal that stays safe."""

import errno
import io
import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any, cast

import pytest
import typer
from rich.console import Console

from biem.cli import output
from biem.cli.admin import exit_code_of, show_diagnosis
from biem.cli.app import application, command_of, hoist, run
from biem.cli.commands import COMMANDS, GROUPS
from biem.cli.memories import show_hits
from biem.cli.output import Output, Ticker, decode, on_one_line, percentile, plain, printable, to_json
from biem.domain.diagnosis import Diagnosis
from biem.domain.node import Hit, Hits, Node, Receipt, StoreCount
from biem.domain.scope import Scope
from biem.engine.sleep.jobs import JobReport
from biem.errors import BiemError, InvalidInput, StoreUnavailable

AT = datetime(2025, 10, 12, 17, 20, tzinfo=UTC)


def node(text: str = "我对花生过敏", **changes: Any) -> Node:
    fields: dict[str, Any] = {"id": "018f", "scope": Scope("acme", "lin"), "kind": "event", "status": "active"}
    return Node(**fields | {"text": text, "layer": "short_term", "at": AT, "created_at": AT} | changes)


def console(*, terminal: bool = False) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=terminal, width=80, highlight=False, markup=False, color_system=None
    )


def make(*, as_json: bool = False, terminal: bool = False, verbose: bool = False) -> Output:
    return Output(as_json, verbose, console(terminal=terminal), console(terminal=terminal), stdin_is_terminal=False)


def said(out: Output) -> str:
    assert isinstance(out.stdout.file, io.StringIO)
    return out.stdout.file.getvalue()


def noted(out: Output) -> str:
    assert isinstance(out.stderr.file, io.StringIO)
    return out.stderr.file.getvalue()


def test_hits_become_plain_values() -> None:
    hits = Hits([Hit(node(energy=float("nan")), 0.5, {"dense": 0.8, "path": "hot"})], degraded=("milvus",), mode="fast")
    document = json.loads(to_json(hits))
    (hit,) = document["hits"]
    assert (document["degraded"], document["mode"], hit["rank"], hit["score"]) == (["milvus"], "fast", 1, 0.5)
    assert hit["node"]["at"] == "2025-10-12T17:20:00+00:00"
    assert hit["node"]["scope"] == {"tenant": "acme", "user": "lin", "project": ""}
    assert hit["node"]["energy"] is None  # JSON has no NaN
    assert "我对花生过敏" in to_json(hits)


def test_a_hit_without_a_reason_says_so_when_reasons_are_asked_for() -> None:
    hits = Hits([Hit(node(), 0.5, {}, reasons=("含有你的词：花生",)), Hit(node("another"), 0.1, {})])
    out = make()
    show_hits(out, hits, why=True, signals=False, without="no single reason stands out")
    assert [line.strip() for line in said(out).splitlines()][1::2] == [
        "含有你的词：花生",
        "no single reason stands out",
    ]


def test_a_receipt_says_whether_it_is_complete() -> None:
    counts = (StoreCount("postgres", 3, 0), StoreCount("milvus", 1, 1))
    assert plain(Receipt(id="r", target="t", erased_at=AT, memories=1, stores=counts))["complete"] is False


def test_json_is_one_document_and_people_get_words() -> None:
    machine, person = make(as_json=True), make()
    for out in (machine, person):
        out.result({"retried": 2}, lambda out=out: out.line("2 given back"))  # type: ignore[misc]
    assert said(machine) == '{"retried": 2}\n'
    assert said(person) == "2 given back\n"


def test_a_table_is_columns_on_a_terminal_and_tabs_in_a_pipe() -> None:
    terminal, pipe = make(terminal=True), make()
    for out in (terminal, pipe):
        out.table(("store", "before"), [("postgres", 3), ("a\tb\nc", 0)], right=("before",))
    assert said(pipe) == "postgres\t3\na b c\t0\n"
    assert said(terminal).splitlines()[0].split() == ["store", "before"]


def test_ids_are_short_and_whole_on_a_terminal_and_all_there_in_a_pipe() -> None:
    # Given a table of ids next to long texts / When it is shown
    whole = "018f3a5e-7c01-7000-8000-0000deadbeef"
    terminal, pipe = make(terminal=True), make()
    for out in (terminal, pipe):
        out.table(("id", "older", "newer"), [(out.id(whole), "words " * 40, "more " * 40)])
        out.table(("id", "text"), [(whole, "words " * 40)])

    # Then no id is broken, however narrow the terminal, and it is one that commands take
    assert "deadbeef" in said(terminal).splitlines()[1].split()
    assert any(line.startswith(whole) for line in said(terminal).splitlines())
    assert [line.split("\t")[0] for line in said(pipe).splitlines()] == [whole, whole]


def test_long_lines_are_not_broken_for_programs() -> None:
    out = make()
    out.line("x" * 500)
    out.table((), [("y" * 500, "z")])
    assert [len(line) for line in said(out).splitlines()] == [500, 502]


def test_memories_cannot_steer_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07 [bold]safe[/bold] \u202eabc :smile:\n下一行"
    out = make(terminal=True)
    out.line(evil)
    assert printable(evil) == "[2J]0;owned [bold]safe[/bold] abc :smile:\n下一行"
    assert "\x1b[2J" not in said(out)
    assert "[bold]safe[/bold]" in said(out)


def test_a_path_is_one_line_and_shows_what_it_hides() -> None:
    assert on_one_line("plans/a\nb\t\x1b[2J“c”.md") == "plans/a\\nb\\t\\x1b[2J“c”.md"
    assert on_one_line("武器/🚀 – x.md") == "武器/🚀 – x.md"


def test_a_command_that_runs_on_has_a_document_on_each_line() -> None:
    out = make(as_json=True)
    for number in range(2):
        out.report({"sha": b"\x0a\xff", "number": number}, lambda: out.line("never"))
    assert [json.loads(line) for line in said(out).splitlines()] == [
        {"sha": "0aff", "number": 0},
        {"sha": "0aff", "number": 1},
    ]


@pytest.mark.parametrize(
    ("error", "code", "kind", "retryable"),
    [
        (InvalidInput("text is empty"), 2, "InvalidInput", False),
        (StoreUnavailable("milvus is down"), 6, "StoreUnavailable", True),
        (KeyError("x"), 1, "KeyError", False),
        (OSError(errno.ENOSPC, "No space left on device"), 7, "OSError", False),
        (KeyboardInterrupt(), 130, "Interrupted", False),
    ],
)
def test_an_error_is_one_line_with_its_exit_code(error: BaseException, code: int, kind: str, retryable: bool) -> None:
    person, machine = make(), make(as_json=True)
    assert person.error(error) == machine.error(error) == code
    assert noted(person).startswith("biem: ")
    assert noted(person).count("\n") == 1
    body = json.loads(noted(machine))["error"]
    assert (body["kind"], body["retryable"], body["exit_code"]) == (kind, retryable, code)
    assert said(person) == said(machine) == ""


def test_the_traceback_is_there_for_who_asks() -> None:
    quiet, verbose = make(), make(verbose=True)
    for out in (quiet, verbose):
        with pytest.raises(RuntimeError) as caught:
            raise RuntimeError("boom")
        assert out.error(caught.value) == 1
    assert "unexpected RuntimeError: boom (--verbose shows the traceback)" in noted(quiet)
    assert "Traceback" not in noted(quiet)
    assert "Traceback" in noted(verbose)


def test_every_kind_of_error_has_its_own_exit_code() -> None:
    def family(kind: type[BiemError]) -> set[type[BiemError]]:
        return {kind}.union(*map(family, kind.__subclasses__()))

    codes = {kind.exit_code for kind in family(BiemError)}
    assert codes >= {1, 2, 3, 4, 5, 6, 7, 8, 9, output.INTERRUPTED}


@pytest.mark.parametrize(
    ("reason", "code"),
    [("StoreUnavailable: Milvus is down", 6), ("EmbedderUnavailable: no answer", 8), ("KeyError: 'x'", 1)],
)
def test_a_night_that_failed_exits_as_what_stopped_it(reason: str, code: int) -> None:
    assert exit_code_of(JobReport("merge", 0.1, {}, reason)) == code


def test_progress_without_a_terminal_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    out = make()
    ticker = Ticker(out, "stored", 200.0, _started=0.0, _spoken=0.0)
    monkeypatch.setattr("time.monotonic", lambda: 1.0)
    ticker.update(50, 10)
    monkeypatch.setattr("time.monotonic", lambda: 4.0)
    ticker.update(100, 20)
    ticker.update(150, 30)
    assert noted(out) == "stored 50%: 20 (5/s)\n"
    assert said(out) == ""


def test_progress_on_a_terminal_leaves_nothing_behind_on_stdout() -> None:
    out = make(terminal=True)
    with out.progress("indexed", 10) as ticker:
        ticker.update(5, 5)
    assert said(out) == ""


def test_the_bar_names_the_phase_and_its_own_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a hundred files read in ten seconds / When ten are indexed in the next
    shown: list[tuple[str, float, float | None, str]] = []
    ticker = Ticker(make(), "read", 100.0, lambda *said: shown.append(said), _started=0.0)
    for moment, (what, total, done) in enumerate([("read", 100, 50), ("index", 20, 0), ("index", 20, 10)], 1):
        monkeypatch.setattr("time.monotonic", lambda moment=moment: moment * 10.0)
        ticker.enter(what, total)
        ticker.update(done, done)
    # Then each has its name, and indexing the time since it began
    # And one slower than one a second tells how many a minute
    monkeypatch.setattr("time.monotonic", lambda: 60.0)
    ticker.update(12, 12)
    assert shown.pop() == ("index", 12, 20, "12 (18/min)")
    assert shown == [("read", 50, 100, "50 (5/s)"), ("index", 0, 20, "0 (0/min)"), ("index", 10, 20, "10 (1/s)")]


def test_percentiles_are_values_that_were_measured() -> None:
    assert [percentile([3.0, 1.0, 2.0], share) for share in (0.01, 0.5, 0.95)] == [1.0, 2.0, 3.0]


def test_stdin_must_be_utf_8() -> None:
    assert decode("你好\n".encode("utf-8-sig"), "stdin") == "你好"
    with pytest.raises(InvalidInput, match=r"stdin is not UTF-8 \(byte 0xED at position 2\); convert it"):
        decode(b"a \xed\xa0\x80", "stdin")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["recall", "x", "--json"], ["--json", "recall", "x"]),
        (["recall", "x", "--home", "h", "-k", "3"], ["--home", "h", "recall", "x", "-k", "3"]),
        (["erase", "--scope", "--user=u"], ["--user=u", "erase", "--scope"]),
        (["remember", "--", "--json"], ["remember", "--", "--json"]),
        (["remember", "x", "--home"], ["--home", "remember", "x"]),
    ],
)
def test_global_options_may_stand_after_the_command(arguments: list[str], expected: list[str]) -> None:
    assert hoist(arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["frobnicate"], "No such command"),
        ([], "Missing command"),
        (["local"], "Missing command"),
        (["remember"], "Missing argument"),
        (["recall", "x", "--top-k", "many"], "Invalid value for '--top-k'"),
        (["remember", "x", "--at", "tomorrow"], "--at is not a time: 'tomorrow'; write it like 2025-03-14"),
        (["--home", "", "health"], "--home is empty"),
        (["connect", "emacs"], "Invalid value for 'host': 'emacs' is not one of 'claude-code', "),
        (["erase"], "an ID, --scope, or --user"),
        (["erase", "x", "--scope"], "an ID, --scope, or --user"),
        (["erase", "--user", "u", "--project", "p"], "--user without --project"),
    ],
)
def test_a_wrong_command_line_is_exit_2(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments, "--json"]) == 2
    stdout, stderr = capsys.readouterr()
    assert stdout == ""
    assert words in json.loads(stderr)["error"]["message"]


def test_what_was_looked_at_is_counted_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    one = {"libraries": 1, "canvases": 1, "jobs": 1, "memories": 2}
    show_diagnosis(Output(as_json=False), Diagnosis((), one, whole=True))
    assert "looked at 1 library, 1 canvas, 1 job, 2 memories" in capsys.readouterr().err


def test_the_bare_command_shows_its_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 0
    assert "Exit codes" in capsys.readouterr().out


def test_version_needs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["biem"]


def test_a_command_ends_with_its_code_and_all_its_words_while_a_thread_goes_on() -> None:
    # Given a worker that is in the middle of something / When the command ends / Then no caller waits for it
    program = """
import threading
from biem.cli.app import leave
threading.Thread(target=threading.Event().wait).start()
print("said")
leave(7)
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (7, "said\n")


def test_a_command_ends_with_its_code_and_all_its_words_and_what_libraries_clean_up() -> None:
    # Given a library that cleans up at exit, and no thread / When the command ends / Then it has cleaned up
    program = """
import atexit
from biem.cli.app import leave
atexit.register(print, "cleaned")
print("said")
leave(7)
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (7, "said\ncleaned\n")


@pytest.mark.parametrize(("closed", "said"), [("<&-", "biem "), (">&-", ""), ("2>&-", "biem ")])
def test_a_command_runs_without_the_streams_that_its_starter_closed(closed: str, said: str) -> None:
    program = "import sys; from biem.cli.app import main; sys.argv[1:] = ['version']; main()"
    done = subprocess.run(
        ["sh", "-c", f'exec "$0" "$@" {closed}', sys.executable, "-c", program],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr, done.stdout[:5]) == (0, "", said)


@pytest.mark.parametrize(
    ("arguments", "known"),
    [
        (["recall", "--json", "cats"], ["recall"]),
        (["--home", "/h", "notes", "add", "f"], ["notes"]),
        (["--user=li", "--json", "count"], ["count"]),
        (["--user=li", "mcp"], ["mcp"]),
        (["--help"], None),
        (["rekall", "cats"], None),
        ([], None),
    ],
)
def test_a_command_line_builds_the_command_that_it_names(arguments: list[str], known: list[str] | None) -> None:
    # Given a command line / When it is read / Then it has the options of its command, or all for help and mistakes
    built = cast(Any, typer.main.get_command(application(command_of(hoist(arguments))))).commands
    assert list(built) == (known or [*COMMANDS, *GROUPS])
