"""`biem notes`: from a folder to an answer, as typed in a shell."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli_process import Cli, running

LANTERN = (
    "# Storm lantern\n\n## Fuel\n\nThe storm lantern burns **paraffin** and holds 300 ml.\n\n"
    "## Care\n\nTrim the wick of the storm lantern after ten hours.\n"
)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("cli") / "home") as command:
        yield command


@pytest.mark.long
def test_a_folder_is_added_synced_searched_shown_and_checked(cli: Cli, tmp_path: Path) -> None:
    scope, vault = ("--user", "noted"), tmp_path / "vault"
    (vault / "lamps").mkdir(parents=True)
    (vault / "lamps" / "storm-lantern.md").write_text(LANTERN, encoding="utf-8")
    assert cli("notes", "add", str(vault), *scope, "--json").document["name"] == "vault"
    assert "1 file, 1 new, 2 chunks added" in cli("notes", "sync", *scope).stdout
    # When it is searched / Then the citation opens at the named line
    [first, *_] = cli("notes", "search", "What does the storm lantern burn?", *scope, "--json").document["hits"]
    assert first["hit"]["citation"] == "storm-lantern.md:5"
    shown = cli("notes", "show", "storm-lantern.md:5", *scope).stdout
    assert "burns **paraffin**" in shown
    assert "wick" not in shown
    expanded = cli("notes", "search", "storm lantern fuel", "-k", "1", "--expand", "siblings", *scope).stdout
    assert "paraffin" in expanded
    assert "wick" in expanded
    block = cli("context", "What does the storm lantern burn, and how much does it hold?", *scope).stdout
    assert "## Notes" in block
    # And notes that do not bear on a question are found with a remark
    assert "hardly answer" in cli("notes", "search", "Who won the chess tournament?", *scope).stderr
    assert "hardly answer" not in cli("notes", "search", "What does the storm lantern burn?", *scope).stderr
    assert "  > The storm lantern burns" in block
    # And what is wrong is an exit code
    assert cli("notes", "lint", str(vault), *scope).stdout == ""
    (vault / "thoughts.md").write_text("no heading at all\n", encoding="utf-8")
    assert "thoughts.md:1: no-heading" in cli("notes", "lint", str(vault), *scope, code=10).stdout


@pytest.mark.long
def test_tags_counts_and_what_is_forgotten(cli: Cli, tmp_path: Path) -> None:
    scope, vault = ("--user", "tagged"), tmp_path / "vault"
    vault.mkdir()
    (vault / "lantern.md").write_text(LANTERN, encoding="utf-8")
    (vault / "blob.md").write_bytes(b"\x00\x01\x02" * 50)
    cli("notes", "add", str(vault), "--name", "lib", *scope)
    for _ in range(2):
        assert "lib: 2 files (1 skipped)" in cli("notes", "sync", *scope).stdout
    unknown = cli("notes", "search", "fuel", "--library", "libary", *scope, "--json", code=3).error
    assert "no library 'libary'" in unknown["message"]
    assert "known: 'lib'" in unknown["message"]
    assert "Fuel\t1" in cli("notes", "tags", "fu", *scope).stdout
    cli("notes", "rename-tag", "fuel", "Energy", *scope)
    assert "is Energy" in cli("notes", "tags", "fu", *scope).stdout
    cli("notes", "rename-tag", "fuel", "--undo", *scope)
    assert "OLD and NEW" in cli("notes", "rename-tag", "fuel", *scope, "--json", code=2).error["message"]
    [library] = cli("notes", "stats", *scope, "--json").document["libraries"]
    assert (library["files"]["indexed"], library["files"]["skipped"], library["chunks"]) == (1, 1, 2)
    assert "blob.md" in cli("notes", "stats", *scope).stdout
    receipt = cli("notes", "erase", "lantern.md", *scope, "--json").document
    assert receipt["complete"]
    assert "1 file" in cli("notes", "sync", "lib", *scope).stdout
    vault.rename(tmp_path / "away")
    [scan] = cli("notes", "sync", *scope, "--json", code=6).document["libraries"]
    assert scan["outcome"] == "unreadable"
    assert str(vault) in scan["reason"]
    assert cli("notes", "search", "storm lantern", *scope, "--json").document["hits"] == []
    assert "is forgotten" in cli("notes", "remove", "lib", *scope).stdout
    assert cli("notes", "stats", *scope, "--json").document == {"libraries": []}
    assert cli("notes", "sync", "lib", *scope, "--json", code=3).error["kind"] == "NotFound"
