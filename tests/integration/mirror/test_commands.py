"""`biem mirror` and `biem project` in a shell, and the job that syncs on its own."""

import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

import biem
from biem.domain.policies.jobs import SleepPolicy
from tests.integration.mirror.conftest import files_of
from tests.support.cli_process import Cli, running
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("cli") / "home") as command:
        yield command


@pytest.mark.long
def test_memories_are_files_and_files_are_memories_in_a_shell(cli: Cli, tmp_path: Path) -> None:
    scope, root = ("--user", "mirrored"), tmp_path / "m"
    assert "no folders" in cli("mirror", "status", *scope).stderr
    cli("remember", "The lake is frozen.", "--layer", "core", *scope)
    assert cli("mirror", "add", str(root), *scope, "--json").document["path"] == str(root)
    [report] = cli("mirror", "sync", *scope, "--json").document["roots"]
    assert (report["written"], report["troubled"]) == (1, 0)
    [file] = root.rglob("*.md")
    file.write_text(file.read_text().replace("frozen", "open"))
    assert "1 revised" in cli("mirror", "sync", *scope).stdout
    assert "The lake is open." in cli("recall", "lake", *scope).stdout
    # What needs a person is an exit code, and status names the line
    (root / "core" / "odd.md").write_text("---\ntags: [\n---\nx\n")
    assert cli("mirror", "sync", *scope, "--json", code=10).document["roots"][0]["troubled"] == 1
    assert "core/odd.md: broken: line" in cli("mirror", "status", *scope, code=10).stdout
    assert cli("mirror", "sync", *scope, "--json", code=10).document["roots"][0]["troubled"] == 0
    root.rename(tmp_path / "away")
    assert "no folder" in cli("mirror", "sync", *scope, code=6).stdout
    (tmp_path / "away").rename(root)
    assert cli("mirror", "sync", str(tmp_path / "else"), *scope, "--json", code=3).error["kind"] == "NotFound"
    # Export, wipe, import
    cli("mirror", "export", str(tmp_path / "out"), *scope)
    assert "exists" in cli("mirror", "export", str(tmp_path / "out"), *scope, "--json", code=2).error["message"]
    cli("mirror", "remove", str(root), *scope)
    cli("erase", "--scope", "--yes", *scope)
    assert cli("mirror", "import", str(tmp_path / "out"), *scope, "--json").document["created"] == 1
    assert "The lake is open." in cli("recall", "lake", *scope).stdout


@pytest.mark.long
def test_a_project_is_shown_linked_listed_and_renamed(cli: Cli, tmp_path: Path) -> None:
    scope = ("--user", "builder")
    for name in ("lake", "pond"):
        (tmp_path / name / ".aimate").mkdir(parents=True)
        (tmp_path / name / ".aimate" / "project").write_text("house\n")
    assert cli("project", "show", str(tmp_path / "lake"), *scope).stdout == "house\n"
    assert "project link" in cli("project", "show", str(tmp_path / "pond"), *scope, "--json", code=2).error["message"]
    cli("project", "link", str(tmp_path / "pond"), "house", *scope)
    cli("project", "rename", "house", "The house", *scope)
    [project] = cli("project", "list", *scope, "--json").document["projects"]
    assert (project["key"], project["name"], len(project["roots"])) == ("house", "The house", 2)


@pytest.mark.long
def test_the_job_syncs_automatically_and_leaves_a_file_alone_that_is_being_written(
    settings: Configure, tmp_path: Path
) -> None:
    wanted = settings(
        queue="thread", sleep=SleepPolicy(off=("notes", "sessions"), tick_s=0.05, mirror_s=0.1, lifecycle_s=0.0)
    )
    root = tmp_path / "m"
    with biem.connect(wanted, scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder()) as memory:
        memory.mirror.add(root)
        key = memory.remember("The boat is blue.", layer="core")
        eventually(lambda: len(files_of(root)) == 1)
        [file] = root.rglob("*.md")
        # Given a file that was saved this second / When the job runs / Then it is taken in only when it is quiet
        file.write_text(file.read_text().replace("blue", "green"))
        memory._system.job_runner.run_everywhere("mirror")
        assert memory.get(key).text == "The boat is blue."
        past = time.time_ns() - 5_000_000_000
        os.utime(file, ns=(past, past))
        eventually(lambda: memory.get(key).text == "The boat is green.")
        memory.erase(memory.bound_to)
    assert files_of(root) == {}
