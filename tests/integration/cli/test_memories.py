"""The real `biem` command on real embedded servers: what it prints, what it exits with, and what survives it."""

import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.cli_process import Cli, finish, lines, running
from tests.support.fakes import eventually

UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"
PEANUTS = "我对花生严重过敏，随身带着肾上腺素笔"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("cli") / "home") as command:
        yield command


# -- the life of a memory ---------------------------------------------------------------------------------------------


def test_a_memory_is_kept_found_shown_and_erased(cli: Cli) -> None:
    scope = ("--user", "life")
    arguments = ("--speaker", "林晓", "--tag", "health", "--at", "2025-09-01T16:05+08:00", "--ref", "m1", "--wait")
    memory_id = cli("remember", PEANUTS, *arguments, *scope).stdout.strip()
    assert cli("remember", PEANUTS, *arguments, *scope, "--json").document["id"] == memory_id  # its ref is known

    block = cli("context", "What is Lin Xiao allergic to?", *scope, "--json").document
    assert block["text"].startswith("## Relevant Memories")
    assert PEANUTS in block["text"]
    (hit,) = block["hits"]
    assert (hit["rank"], hit["node"]["id"], hit["node"]["text"], hit["node"]["ref"]) == (1, memory_id, PEANUTS, "m1")
    assert hit["node"]["tags"] == ["health"]
    assert hit["node"]["at"] == "2025-09-01T08:05:00+00:00"
    assert hit["why"]

    shown = cli("recall", "花生", "--why", *scope).stdout
    assert PEANUTS in shown
    assert "林晓" in shown
    assert "含有你的词：花生" in shown or "说的正是所问的内容" in shown or "与所问意思相近" in shown
    assert "energy" not in shown
    assert "energy" in cli("recall", "花生", "--signals", *scope).stdout
    assert cli("recall", "花生", *scope, "--json").document["hits"][0]["reasons"]
    for condition in (("--speaker", "Bob"), ("--tag", "work"), ("--until", "2025-01-01"), ("--kind", "task")):
        assert cli("context", "花生", *condition, *scope, "--json").document["text"] == ""
    assert "unknown" in cli("context", "花生", "--kind", "fact", *scope, "--json", code=2).error["message"]

    receipt = cli("erase", memory_id, *scope, "--json").document
    assert receipt["complete"] is True
    assert {count["store"]: count["after"] for count in receipt["stores"]} == {
        count["store"]: 0 for count in receipt["stores"]
    }
    assert sum(count["before"] for count in receipt["stores"]) >= 3
    assert cli("get", memory_id, *scope, "--json", code=3).error["kind"] == "NotFound"


@pytest.mark.long
def test_memories_are_listed_counted_and_reported_in_order_of_time(cli: Cli) -> None:
    # Given three memories said on three days, one of them archived
    scope = ("--user", "lists")
    told = ["The lemon tree needs water", "The hedge is cut", "The gate squeaks"]
    days = ("2026-05-02", "2026-05-01", "2026-05-03")
    ids = [
        cli("remember", text, "--at", day, "--speaker", "Ann", "--tag", f"t{n}", *scope).stdout.strip()
        for n, (text, day) in enumerate(zip(told, days, strict=True))
    ]
    cli("archive", ids[2], *scope)

    # When they are listed, page by page / Then the newest come first, and the archived one only if asked for
    page = cli("list", "--limit", "1", *scope, "--json").document
    assert [node["id"] for node in page["memories"]] == [ids[0]]
    rest = cli("list", "--limit", "1", "--after", page["next"], *scope, "--json").document
    assert ([node["id"] for node in rest["memories"]], rest["next"]) == ([ids[1]], "")
    archived = cli("list", "--status", "archived", *scope, "--json").document["memories"]
    assert [node["id"] for node in archived] == [ids[2]]
    shown = cli("list", "--limit", "1", *scope)
    assert told[0] in shown.stdout
    assert f"--after {page['next']}" in shown.stderr
    assert "order='newest'" in cli("list", "--order", "oldest", "--after", page["next"], *scope, code=2).stderr

    # And the timeline of a period has what was said in it, in that order
    assert [n["id"] for n in cli("timeline", *scope, "--json").document["memories"]] == [ids[1], ids[0]]
    early = cli("timeline", "--until", "2026-05-02", *scope, "--json").document["memories"]
    assert [node["id"] for node in early] == [ids[1]]

    # And counts are of the same conditions
    assert cli("count", *scope).stdout.strip() == "2"
    assert cli("count", "--status", "all", "--tag", "t2", *scope, "--json").document == {"count": 1}
    assert cli("count", "--where", "project=x", *scope).stdout.strip() == "0"
    assert cli("count", "--min-trust", "trusted", *scope).stdout.strip() == "2"
    assert "no memories" in cli("list", "--where", '{"project": "x"}', *scope).stderr


def test_a_question_is_read_with_the_chat_before_it(cli: Cli, tmp_path: Path) -> None:
    # Given memories of two persons, and a chat about one of them
    scope = ("--user", "chat")
    for told in ("My sister Maren lives in Halden", "My mother lives in Bergvik"):
        cli("remember", told, *scope, "--wait")
    chat = [
        {"role": "user", "content": "When does my sister come?"},
        {"role": "assistant", "content": "On Friday."},
    ]
    lines_of_it = "\n".join(map(json.dumps, chat))
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(chat, indent=1), "utf-8")

    # When a question leans on it, from a file and from stdin / Then the block is that of the question in full
    asked = ("context", "Where does she live?", *scope, "--json", "--history")
    for given in (cli(*asked, str(file)), cli(*asked, "-", stdin=lines_of_it.encode())):
        assert given.document["asked"] == "Where does my sister live?"
        assert "Halden" in given.document["text"]
    assert "no chat messages" in cli(*asked, "-", stdin=b"Where?", code=2).error["message"]
    assert "an object with role" in cli(*asked, "-", stdin=b'["Where?"]', code=2).error["message"]


def test_metadata_are_given_selected_by_and_replaced(cli: Cli) -> None:
    # Given a memory with metadata, and one with others
    scope = ("--user", "metadata")
    given = ("--metadata", "project=花园", "--metadata", "score=3", "--metadata", '{"seen": {"by": ["Ann"]}}')
    memory_id = cli("remember", "The hose leaks at the tap", *given, *scope).stdout.strip()
    cli("remember", "The hose of the neighbour is green", "--metadata", "project=other", *scope)
    assert cli("get", memory_id, "--json", *scope).document["metadata"] == {
        "project": "花园", "score": 3, "seen": {"by": ["Ann"]},
    }  # fmt: skip

    # When a question names some / Then only what has them answers it
    found = cli("recall", "hose", "--where", "project=花园", "--where", "score>=3", "--json", *scope).document
    assert [hit["node"]["id"] for hit in found["hits"]] == [memory_id]
    block = cli("context", "What do we know of the hose?", "--where", "project=花园", *scope).stdout
    assert ("tap" in block, "green" in block) == (True, False)

    # And a revision replaces them as a whole
    cli("revise", memory_id, "--metadata", "score=4", *scope)
    assert cli("get", memory_id, "--json", *scope).document["metadata"] == {"score": 4}
    assert "KEY=VALUE" in cli("remember", "x", "--metadata", "score", *scope, "--json", code=2).error["message"]


def test_what_was_there_already_is_said_and_part_of_an_id_is_enough(cli: Cli) -> None:
    # Given a fact / When it is remembered again / Then it is the same memory, and the command says so
    scope = ("--user", "again")
    first = cli("remember", "The harbour closes at nine", *scope, "--json").document
    second = cli("remember", "The harbour closes at nine", *scope, "--json")
    assert (first["created"], second.document["created"]) == (True, False)
    assert second.document["id"] == first["id"]
    assert "it was there already" in second.stderr

    # When a file of one message is imported twice / Then the second summary says one, not several
    message = lines({"text": "Good morning", "conversation": "c", "id": "m1"})
    for said in ("1 imported", "0 imported, 1 was there already"):
        assert said in cli("import", "-", "--no-wait", *scope, stdin=message).stdout

    # When the end of an id is given in its place / Then it stands for it, in its scope only
    short = first["id"][-8:]
    assert cli("get", short, *scope, "--json").document["id"] == first["id"]
    assert cli("get", short, "--user", "life", "--json", code=3).error["kind"] == "NotFound"
    assert cli("archive", short, *scope, "--json").document == {"archived": True}
    assert cli("unarchive", short, *scope, "--json").document == {"restored": True}


def test_the_id_comes_with_the_acknowledgement_and_survives_a_kill(cli: Cli) -> None:
    process = cli.start("remember", "The ferry to Barreiro leaves at 7:40", "--user", "killed")
    assert process.stdout
    memory_id = process.stdout.readline().decode().strip()
    process.kill()
    process.communicate()
    assert cli.kept("killed", "id") == [memory_id]
    assert cli("get", memory_id, "--user", "killed").stdout.endswith("\n\nThe ferry to Barreiro leaves at 7:40\n")


_COUNTED = """
import os, sys
from biem.adapters.embedders import e5_weights
from biem.cli import main
sizes, made, left = [], e5_weights.Pieces._of, os._exit
def counted(self, ids, unknown):
    sizes.append(len(ids))
    return made(self, ids, unknown)
def leave(code):
    print(max(sizes), flush=True)
    left(code)
e5_weights.Pieces._of, os._exit = counted, leave
main()
"""


def test_a_command_that_indexes_one_text_builds_a_tokenizer_of_its_words_only(cli: Cli) -> None:
    # Given a command in its own process / When it waits until its text is indexed
    command = [
        sys.executable,
        "-c",
        _COUNTED,
        "--home",
        str(cli.home),
        "remember",
        "The key is under the mat",
        "--wait",
    ]
    done = subprocess.run(command, cwd=cli.home.parent, capture_output=True, text=True, timeout=300, check=True)

    # Then it embedded it without the whole vocabulary, which takes longer to build than all the rest
    memory_id, pieces = done.stdout.split()
    assert cli("get", memory_id, "--json").document["status"] == "active"
    assert 0 < int(pieces) < 1_000


@pytest.mark.long
def test_stdin_is_read_and_ctrl_c_says_what_is_kept(cli: Cli) -> None:
    scope = ("--user", "stdin", "--json")
    cli("remember", "-", *scope, stdin="第一行\n第二行\n".encode())
    assert cli.kept("stdin", "text") == ["第一行\n第二行"]

    process = cli.start("import", "-", *scope, env={"BIEM_CLOSE_TIMEOUT_S": "0.2"})
    assert process.stdin
    assert process.stderr
    process.stdin.write(lines(*({"text": f"turn {n}", "conversation": "c"} for n in range(600))))
    process.stdin.flush()
    eventually(lambda: len(cli.kept("stdin", "id")) > 500)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=300)
    error = json.loads(stderr.splitlines()[-1])["error"]
    assert (process.returncode, error["kind"], error["exit_code"]) == (130, "Interrupted", 130)
    assert "messages are stored; the same command again goes on from there" in error["message"]
    cli("erase", "--scope", "--yes", *scope)  # or the next import waits until all of it is embedded


def test_a_tenant_without_keys_is_told_how_to_make_one(cli: Cli) -> None:
    assert "biem keys add" in cli("keys", "list", "--tenant", "keyless").stderr
    assert cli("keys", "list", "--tenant", "keyless", "--json").document == []


@pytest.mark.req("X39")
def test_erasing_a_scope_needs_a_yes_and_touches_no_other(cli: Cli) -> None:
    odd = ("--tenant", "o'brien; DROP TABLE memories", "--user", '../"x"/%_*', "--project", "项目 {ns}\\")
    cli("remember", "secret of the odd scope", *odd)
    cli("remember", "secret of the plain scope", "--user", "plain")
    assert "--yes" in cli("erase", "--scope", *odd, "--json", code=2).error["message"]
    receipt = cli("erase", "--scope", "--yes", *odd)
    assert "complete" in receipt.stdout
    assert "postgres" in receipt.stdout
    assert cli.kept(odd[3], "text") == []
    assert cli.kept("plain", "text") == ["secret of the plain scope"]


@pytest.mark.long
@pytest.mark.req("D8", partly="erasing a person from the command line")
def test_a_user_is_erased_with_the_projects_that_an_import_made(cli: Cli, tmp_path: Path) -> None:
    # Given a user whose conversations became projects, and another user
    path = tmp_path / "talk.jsonl"
    path.write_bytes(lines(*({"speaker": "Ann", "text": f"Note {n}", "conversation": f"c{n % 3}"} for n in range(6))))
    cli("import", str(path), "--scope-per-conversation", "--no-wait", "--user", "leaver")
    cli("remember", "On the user's own level", "--user", "leaver")
    cli("remember", "Of one who stays", "--user", "stayer")
    listed = cli("scopes", "--user", "leaver", "--json").document["scopes"]
    assert [(one["scope"]["project"], one["memories"]) for one in listed] == [("", 1), ("c0", 2), ("c1", 2), ("c2", 2)]
    assert {"leaver", "stayer"} <= {line.split("\t")[1] for line in cli("scopes").stdout.splitlines()}
    # When the user is to be erased / Then it is said what of, and a yes is needed
    refused = cli("erase", "--user", "leaver", code=2).stderr
    assert "default/leaver/c2: 2 memories" in refused
    assert "--yes" in refused
    assert len(cli.kept("leaver", "text")) == 7
    # And that who erases the user's own scope leaves the projects
    elsewhere = "6 memories of moved left in 3 other scopes"
    cli("import", str(path), "--scope-per-conversation", "--no-wait", "--user", "moved")
    assert elsewhere in cli("erase", "--scope", "--yes", "--user", "moved").stderr
    cli("erase", "--user", "moved", "--yes")
    # And with it all scopes go, and are counted
    receipt = cli("erase", "--user", "leaver", "--yes", "--json").document
    assert receipt["complete"] is True
    assert (receipt["memories"], receipt["scopes"]["default/leaver/c1"]) == (7, 2)
    assert cli.kept("leaver", "text") == []
    assert cli("scopes", "--user", "leaver", "--json").document == {"scopes": []}
    assert cli.kept("stayer", "text") == ["Of one who stays"]
    assert "left in" not in cli("erase", "--scope", "--yes", "--user", "stayer").stderr


def test_upkeep_commands_answer_in_json_and_in_words(cli: Cli) -> None:
    answers = cli.each(("dead", "--json"), ("retry", "--json"), ("migrate", "--json"))
    assert [answer.document for answer in answers] == [{"dead": []}, {"retried": 0}, {"applied": []}]
    stats, migrate, status = cli.each(("stats",), ("migrate",), ("local", "status"))
    assert "\ndead_letters" in stats.stdout
    assert "schema is current" in migrate.stdout
    assert status.stdout.count("ready") == 3
    assert cli("local", "status", "--json").document["ready"] is True

    # And what is to be indexed again is all there is
    cli("remember", "to be indexed anew", "--user", "anew", "--wait")
    stored = cli("stats", "--json", "--user", "anew").document["memories"]
    assert cli("reindex", "--json", "--user", "anew").document["reindexed"] >= stored == 1  # all scopes


# -- import -----------------------------------------------------------------------------------------------------------


def test_transcripts_are_imported_once_however_often(cli: Cli, tmp_path: Path) -> None:
    scope = ("--user", "import", "--json")
    turns = [{"turn_id": f"D1:{n}", "timestamp": "2023-05-08T13:56:00", "speaker": "Mel", "text": f"fact number {n}"}
             for n in range(5)]  # fmt: skip
    whole = tmp_path / "whole.jsonl.gz"
    whole.write_bytes(gzip.compress(lines({"id": "conv-1", "turns": turns}, {"id": "conv-2", "turns": turns})))
    chat = tmp_path / "chat.jsonl"
    chat.write_bytes(lines({"text": "下周三去苏州", "speaker": "林晓"}, {"content": "ok", "role": "assistant"}))

    first = cli("import", str(whole), str(chat), *scope).document
    assert (first["messages"], first["created"], first["already_there"]) == (12, 12, 0)
    assert (first["files"], first["conversations"], first["bad"], first["indexed"]) == (2, 3, 0, True)
    again = cli("import", str(whole), str(chat), "--no-wait", *scope).document
    assert (again["created"], again["already_there"]) == (0, 12)
    refs = cli.kept("import")
    assert len(refs) == len(set(refs)) == 12
    assert "conv-1/D1:0" in refs
    hits = cli("recall", "什么时候去苏州", "--conversation", "chat", *scope).document["hits"]
    assert hits[0]["node"]["text"] == "下周三去苏州"


def test_each_conversation_can_have_its_own_scope(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "two.jsonl"
    turns = [{"id": "1", "text": "blue"}, {"id": "2", "text": "green"}]
    path.write_bytes(lines({"id": "a/b", "turns": turns}, {"id": "c'd", "turns": turns}))
    cli("import", str(path), "--scope-per-conversation", "--user", "split")
    assert cli.kept("split", "project") == ["a/b", "a/b", "c'd", "c'd"]
    assert cli.kept("split", "ref") == ["1", "1", "2", "2"]  # its own id is unique there


@pytest.mark.req("X30")
def test_an_import_that_was_killed_goes_on_and_writes_nothing_twice(cli: Cli) -> None:
    transcript = [
        {"text": f"reading {n} is {n * 7} NTU", "conversation": "log", "at": 1_700_000_000 + n} for n in range(1_300)
    ]
    process = cli.start("import", "-", "--no-wait", "--user", "resumed", "--json")
    assert process.stdin
    process.stdin.write(lines(*transcript[:700]))
    process.stdin.flush()
    eventually(lambda: len(cli.kept("resumed")) >= 500)
    process.kill()
    with suppress(BrokenPipeError):
        process.communicate()
    there = len(cli.kept("resumed"))
    assert 500 <= there < 1_300

    summary = cli("import", "-", "--no-wait", "--user", "resumed", "--json", stdin=lines(*transcript)).document
    assert (summary["messages"], summary["already_there"]) == (1_300, there)
    refs = cli.kept("resumed")
    assert len(refs) == len(set(refs)) == 1_300
    cli("erase", "--scope", "--yes", "--user", "resumed")  # or the next import waits until all of it is embedded


def test_a_malformed_line_stops_the_import_and_says_where(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    good = [json.dumps({"text": f"good {n}"}) for n in range(4)]
    broken = ['{"text": "no end', json.dumps({"speaker": "nobody"}), '{"text": "lone \\ud800 surrogate"}',
              '{"text": "nul \\u0000"}', '{"text": "x", "importance": NaN}', '{"text": "x", "at": "0001-01-01"}',
              json.dumps({"text": "x", "tags": [str(n) for n in range(10_000)]})]  # fmt: skip
    path.write_text("\n".join([*good[:3], *broken, good[3]]), encoding="utf-8")

    stopped = cli("import", str(path), "--user", "bad", "--json", code=2).error
    assert f"{path}:4:10: Unterminated string" in stopped["message"]
    assert "3 earlier messages are stored" in stopped["message"]
    assert "--skip-bad" in stopped["message"]
    assert len(cli.kept("bad")) == 3

    rest = cli("import", str(path), "--skip-bad", "--user", "bad", "--json", code=2)
    summary = rest.document
    assert (summary["messages"], summary["created"], summary["bad"]) == (4, 1, len(broken))
    assert [bad["line"] for bad in summary["first_bad"]] == [4, 5, 6, 7, 8, 9, 10]
    for words in ("lone surrogate (U+D800)", "NUL character", "importance must be", "in the year 1", "10,000 tags"):
        assert words in rest.stderr
    assert len(cli.kept("bad")) == 4


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        (("remember", "   "), b"", "text is empty"),
        (("remember", "-"), b"x" * 10_000_000, "10,000,000 bytes; at most"),
        (("remember", "-"), b"lone \xed\xa0\x80 surrogate", "stdin is not UTF-8"),
        (("remember", "-"), b"nul \0 byte", "NUL character at position 4"),
        (("remember", "x", "--tenant", " "), b"", "tenant is empty"),
    ],
    ids=["empty", "huge", "surrogate", "nul", "scope"],
)
def test_bad_input_is_refused_with_advice_and_nothing_written(
    cli: Cli, arguments: tuple[str, ...], stdin: bytes, words: str
) -> None:
    error = cli(*arguments, "--user", "careless", "--json", stdin=stdin, code=2).error
    assert words in error["message"]
    assert (error["kind"], error["retryable"], error["exit_code"]) == ("InvalidInput", False, 2)
    assert cli.kept("careless", "id") == []


# -- the kinds of failure ---------------------------------------------------------------------------------------------


@pytest.mark.long
def test_each_kind_of_failure_has_its_exit_code(cli: Cli) -> None:
    cli("remember", "one", "--ref", "taken", "--user", "codes")
    half = {"BIEM_POSTGRES_DSN": "postgresql://127.0.0.1:1/none"}
    down = half | {"BIEM_REDIS_URL": "redis://127.0.0.1:1", "BIEM_MILVUS_URI": "http://127.0.0.1:1"}
    embedder = {"BIEM_EMBEDDER__PROVIDER": "openai", "BIEM_EMBEDDER__URL": "http://127.0.0.1:1"}
    cases = (
        (("remember", "two", "--ref", "taken", "--user", "codes"), None, 4, "RefConflict", "taken"),
        (("get", UNKNOWN), None, 3, "NotFound", UNKNOWN),
        (("stats",), half, 5, "ConfigError", "BIEM_REDIS_URL"),
        (("stats", "--env-file", "none.env"), None, 5, "ConfigError", "none.env"),
        (("stats",), down, 6, "StoreUnavailable", "PostgreSQL"),
        (("stats",), embedder | {"BIEM_EMBEDDER__MODEL": "m"}, 8, "EmbedderUnavailable", "127.0.0.1:1"),
    )
    results = finish(*(cli.start(*arguments, "--json", env=env) for arguments, env, *_ in cases))
    for result, (_, _, code, kind, words) in zip(results, cases, strict=True):
        error = result.error
        assert (result.code, error["kind"], error["exit_code"]) == (code, kind, code)
        assert error["retryable"] is (code in (6, 8))
        assert words in error["message"]


@pytest.mark.long
def test_the_environment_wins_over_the_env_file(cli: Cli, tmp_path: Path) -> None:
    env_file = tmp_path / "my.env"
    env_file.write_text("BIEM_USER=from-file\nBIEM_PROJECT=from-file\n", encoding="utf-8")
    arguments = ("remember", "where am I?", "--env-file", str(env_file), "--json")
    scope = cli.process(*arguments, env={"BIEM_PROJECT": "from-environment"}).document["scope"]
    assert scope == {"tenant": "default", "user": "from-file", "project": "from-environment"}
