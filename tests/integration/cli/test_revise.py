"""`biem revise`, `history` and `revert`: what they print, and how they fail."""

from collections.abc import Iterator

import pytest

from tests.support.cli_process import Cli, running

UNKNOWN = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("revise") / "home") as command:
        yield command


def test_a_memory_is_corrected_shown_and_taken_back_by_a_part_of_its_id(cli: Cli) -> None:
    # Given a memory, named by the last digits of its id
    scope = ("--user", "corrections")
    key = cli("remember", "Ann likes tea", "--tag", "drinks", *scope, "--json").document["id"]
    part = key[-12:]
    # When it is revised, from stdin or by options
    assert "revision 2" in cli("revise", part, "--text", "-", *scope, stdin="安喜欢咖啡".encode()).stdout
    node = cli("revise", part, "--no-tags", "--importance", "5", "--expect", "2", *scope, "--json").document
    assert (node["id"], node["text"], node["tags"], node["importance"]) == (key, "安喜欢咖啡", [], 5.0)
    # Then its history has all of it
    shown = cli("history", part, *scope, "--json").document["revisions"]
    assert [(one["revision"], one["text"], one["by"]) for one in shown] == [
        (1, "Ann likes tea", ""),
        (2, "安喜欢咖啡", "revise"),
        (3, "安喜欢咖啡", "revise"),
    ]
    assert len(cli("history", part, *scope).stdout.splitlines()) == 3
    # And it can be taken back
    assert cli("revert", part, "1", *scope, "--json").document["tags"] == ["drinks"]
    assert cli("get", key, *scope, "--json").document["text"] == "Ann likes tea"
    expiring = cli("revise", part, "--expires-at", "2999-01-01", *scope, "--json").document
    assert expiring["expires_at"].startswith("2999-01-01")
    assert cli("revise", part, "--expires-at", "never", *scope, "--json").document["expires_at"] is None


@pytest.mark.long
def test_what_cannot_be_revised_has_its_exit_code(cli: Cli) -> None:
    scope = ("--user", "refusals", "--json")
    key = cli("remember", "Ann likes tea", *scope).document["id"]
    assert (
        cli("revise", key, "--text", "Ann likes milk", "--expect", "7", *scope, code=4).error["kind"]
        == "RevisionConflict"
    )
    assert cli("revise", key, *scope, code=2).error["kind"] == "InvalidInput"
    assert cli("revise", key, "--importance", "nan", *scope, code=2).error["kind"] == "InvalidInput"
    assert cli("revise", UNKNOWN, "--text", "x", *scope, code=3).error["kind"] == "NotFound"
    assert cli("history", UNKNOWN, *scope, code=3).error["kind"] == "NotFound"
    assert cli("revert", key, "9", *scope, code=3).error["kind"] == "NotFound"
    cli("archive", key, *scope)
    assert "restore it first" in cli("revise", key, "--text", "x", *scope, code=2).error["message"]
