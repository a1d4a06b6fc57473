"""The commands about how memories live, on real servers: what they print, and what they refuse."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.support.cli_process import Cli, lines, running

UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"
BERLIN = {"text": "Ann lives in Berlin", "kind": "knowledge", "at": "2026-03-02T09:00Z", "ref": "berlin"}
LISBON = {
    "text": "Ann no longer lives in Berlin, she moved to Lisbon",
    "kind": "knowledge",
    "at": "2026-05-02T09:00Z",
    "ref": "lisbon",
}
CAT = {"text": "Mei's cat Bamboo sleeps on the router", "kind": "knowledge", "at": "2026-05-03T09:00Z", "ref": "cat"}
WHERE = "Where does Ann live?"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("life") / "home") as command:
        yield command


def told(cli: Cli, user: str, *items: dict[str, Any]) -> dict[str, str]:
    """Import memories and wait until they are indexed; their ids by ref."""
    cli("import", "-", "--user", user, stdin=lines(*items))
    query = "SELECT ref, id::text FROM memories JOIN scopes USING (ns) WHERE usr = %s"
    with psycopg.connect(cli.dsn) as connection:
        return dict(connection.execute(query, (user,)).fetchall())


@pytest.mark.long
def test_a_change_is_noticed_and_answered_as_of_then(cli: Cli) -> None:
    # Given two facts of which the later one says that the earlier one no longer holds
    scope = ("--user", "change")
    ids = told(cli, "change", BERLIN, LISBON)
    # When a user asks, now and as of then / Then the answers differ
    now, any_mood, most_alive, then, found = cli.each(
        ("recall", WHERE, *scope, "--json"),
        ("recall", WHERE, "--sentiment", "-1", "1", *scope, "--json"),
        ("recall", WHERE, "--min-energy", "1", *scope, "--json"),
        ("recall", WHERE, "--as-of", "2026-04-01", *scope, "--json"),
        ("conflicts", "--status", "all", *scope, "--json"),
    )
    assert [hit["node"]["text"] for hit in now.document["hits"]] == [LISBON["text"]]
    assert [hit["node"]["text"] for hit in any_mood.document["hits"]] == [LISBON["text"]]
    assert most_alive.document["hits"] == []
    assert [hit["node"]["text"] for hit in then.document["hits"]] == [BERLIN["text"]]
    (conflict,) = found.document["conflicts"]
    assert (conflict["older_id"], conflict["newer_id"]) == (ids["berlin"], ids["lisbon"])
    assert (conflict["kind"], conflict["resolution"], conflict["decided_by"]) == ("update", "keep_new", "rule")
    # Then the record says whose and what was decided, on which standing, and why, as the listing for people does
    assert (conflict["possessor"], conflict["attribute"], conflict["standing"]) == ("you", "home", "own_words")
    assert conflict["explanation"].endswith("Decided by the rule: the newer one holds.")


@pytest.mark.long
def test_a_decision_is_taken_back_before_another_one(cli: Cli) -> None:
    # Given a conflict that a rule decided
    scope = ("--user", "decision")
    told(cli, "decision", BERLIN, LISBON)
    with psycopg.connect(cli.dsn) as connection:
        query = "SELECT id::text FROM conflicts JOIN scopes USING (ns) WHERE usr = 'decision'"
        ((conflict,),) = connection.execute(query).fetchall()
    # When another decision comes, or a word that is none / Then it is refused
    assert cli("resolve", conflict, "keep_old", *scope, "--json", code=4).error["kind"] == "AlreadyDecided"
    assert "keep_both" in cli("resolve", conflict, "maybe", *scope, "--json", code=2).error["message"]
    # When it is taken back / Then it is pending, and both hold
    assert cli("undo", conflict, *scope, "--json").document["status"] == "pending"
    listed, both = cli.each(("conflicts", *scope), ("recall", WHERE, *scope, "--json"))
    assert listed.stdout.split("\t")[:2] == [conflict, "update"]
    assert listed.stdout.split("\t")[3:6] == ["pending", BERLIN["text"], LISBON["text"]]
    assert "Nothing is decided" in listed.stdout.split("\t")[6]
    assert {hit["node"]["text"] for hit in both.document["hits"]} == {BERLIN["text"], LISBON["text"]}
    # When a person decides / Then it says who, and the answer follows
    assert "keep_old by user" in cli("resolve", conflict, "keep_old", *scope).stdout
    assert cli("recall", WHERE, *scope, "--json").document["hits"][0]["node"]["text"] == BERLIN["text"]


@pytest.mark.req("G15", partly="by the command")
def test_feedback_links_and_a_turn_counts_once(cli: Cli) -> None:
    # Given two memories
    scope = ("--user", "feedback")
    ids = told(cli, "feedback", LISBON, CAT)
    praise = ("feedback", "--useful", ids["lisbon"], "--useful", ids["cat"], "--turn", "t1", *scope, "--json")
    # When both were useful in one turn, said twice / Then it counts once and links them
    first, again = cli(*praise).document, cli(*praise).document
    assert (first["useful"], first["useless"], first["links"] > 0) == (2, 0, True)
    assert (again["useful"], again["useless"]) == (0, 0)
    node, links, shown = cli.each(
        ("get", ids["cat"], *scope, "--json"),
        ("links", ids["cat"], *scope, "--json"),
        ("links", ids["cat"].upper(), *scope),
    )
    assert node.document["useful_count"] == 1
    assert {link["type"] for link in links.document["links"]} >= {"causal"}
    assert all({link["source"], link["target"]} == set(ids.values()) for link in links.document["links"])
    assert LISBON["text"] in shown.stdout
    # When nothing or no one is named / Then it is refused
    assert "--useful ID" in cli("feedback", *scope, "--json", code=2).error["message"]
    assert cli("feedback", "--useful", UNKNOWN, *scope, "--json", code=3).error["kind"] == "NotFound"


def test_what_is_archived_is_no_answer_until_it_is_restored(cli: Cli) -> None:
    # Given a memory
    scope = ("--user", "archive", "--json")
    cat = told(cli, "archive", CAT)["cat"]
    # When it is archived, twice / Then only the first changed something, and it is not found
    assert cli("archive", cat, "--reason", "the cat moved out", *scope).document == {"archived": True}
    assert cli("archive", cat, *scope).document == {"archived": False}
    gone, node = cli.each(("recall", "Bamboo", *scope), ("get", cat, *scope))
    assert gone.document["hits"] == []
    assert (node.document["status"], node.document["archive_reason"]) == ("archived", "the cat moved out")
    # When it is restored / Then it is found
    assert cli("unarchive", cat, *scope).document == {"restored": True}
    assert cli("unarchive", cat, *scope).document == {"restored": False}
    assert cli("recall", "Bamboo", *scope).document["hits"][0]["node"]["id"] == cat
    # When it is no one / Then it says so
    assert cli("unarchive", UNKNOWN, *scope, code=3).error["kind"] == "NotFound"


@pytest.mark.long
@pytest.mark.req("G16", partly="on demand, by the command")
def test_a_night_is_reported_and_the_next_one_has_nothing_to_do(cli: Cli) -> None:
    # Given facts that no one has slept over
    scope = ("--user", "night")
    ids = told(cli, "night", CAT, LISBON)
    # When the scope sleeps twice
    first, second = cli("sleep", *scope, "--json").document, cli("sleep", *scope)
    # Then the first night built concepts, and the second did nothing, job by job
    jobs = [job["name"] for job in first["jobs"]]
    assert jobs[0] == "build"
    assert jobs[-1] == "sessions"
    assert first["changed"] > 0
    assert all(job["reason"] == "" for job in first["jobs"])
    assert [line.split("\t")[::2] for line in second.stdout.splitlines()] == [[name, "-"] for name in jobs]
    # And the words of the text call up what was said
    related, facts, nothing = cli.each(
        ("related", "How is Bamboo?", *scope, "--json"),
        ("facts", *scope, "--json"),
        ("related", "zzz", *scope),
    )
    assert CAT["text"] in related.document["related"][0]["memory"]
    assert facts.document == {"facts": []}
    assert (nothing.stdout, nothing.stderr) == ("", "it reminds of nothing\n")
    # And a memory that is linked with a concept shows its name
    assert "\tconcept: " in cli("links", ids["cat"], *scope).stdout


@pytest.mark.long
def test_notes_of_a_conversation_are_listed(cli: Cli) -> None:
    # Given a message of a conversation, which is worth a note
    said = {"text": "The meeting with Zalando is at 14:30", "conversation": "office", "ref": "zalando"}
    ids = told(cli, "notes", said)
    # When its notes are asked for / Then there is one, and none of another conversation
    notes, table, none = cli.each(
        ("instant", "office", "--user", "notes", "--json"),
        ("instant", "office", "--user", "notes"),
        ("instant", "home", "--user", "notes"),
    )
    (note,) = notes.document["instant"]
    assert (note["memory_id"], note["conversation"], note["text"]) == (ids["zalando"], "office", said["text"])
    assert "14:30" in table.stdout
    assert (none.stdout, none.stderr) == ("", "nothing was noted in this conversation\n")
