"""Folders that are watched: real files, real notifications, and processes that die."""

import shutil
import signal
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import biem
from biem.domain.notes.library import ScanReport
from biem.domain.policies.jobs import SleepPolicy
from tests.support.cli_process import Cli, running
from tests.support.fakes import WordEmbedder, eventually
from tests.support.servers import Configure


@pytest.fixture
def memory(settings: Configure, embedder: WordEmbedder) -> Iterator[biem.Memory]:
    """A memory without background work, whose watcher looks for folders every twentieth of a second."""
    policy = settings().notes
    alone = settings(sleep=SleepPolicy(off=("notes",)), queue="none", notes=type(policy)(look_s=0.05, backoff_s=0.05))
    with biem.connect(alone, scope=biem.Scope(user=uuid.uuid4().hex), embedder=embedder) as opened:
        yield opened
        opened.erase(user=opened.bound_to.user)


@contextmanager
def watching(memory: biem.Memory) -> Iterator[list[ScanReport]]:
    """Watches until the end of the block; yields the scans so far."""
    stopped, scans = threading.Event(), list[ScanReport]()
    thread = threading.Thread(target=memory.notes.watch, args=(stopped, scans.append))
    thread.start()
    try:
        yield scans
    finally:
        stopped.set()
        thread.join(60)
    assert not thread.is_alive()


def found(memory: biem.Memory, query: str) -> list[str]:
    """The paths of what is found and indexed."""
    return [hit.note.path for hit in memory.notes.search(query) if hit.note.state == "indexed"]


def test_edits_moves_and_deletions_are_followed(memory: biem.Memory, tmp_path: Path) -> None:
    (tmp_path / "lamp.md").write_text("# Lamp\n\nIt burns paraffin.\n")
    memory.notes.add(tmp_path, name="lib")
    with watching(memory) as scans:
        # Given a folder as it was when the watcher began
        eventually(lambda: found(memory, "paraffin") == ["lamp.md"])
        assert memory.notes.libraries()[0].watched_at is not None
        # When files change, appear, move and go / Then answers follow
        (tmp_path / "lamp.md").write_text("# Lamp\n\nIt burns petrol.\n")
        eventually(lambda: "petrol" in memory.notes.get("lamp.md").chunks[0].body)
        eventually(lambda: found(memory, "petrol") == ["lamp.md"])
        (tmp_path / "new" / "deep").mkdir(parents=True)
        (tmp_path / "new" / "deep" / "oak.md").write_text("# Oak\n\nA tree with acorns.\n")
        eventually(lambda: "new/deep/oak.md" in found(memory, "acorns"))
        (tmp_path / "new").rename(tmp_path / "trees")
        eventually(lambda: "trees/deep/oak.md" in found(memory, "acorns"))
        shutil.rmtree(tmp_path / "trees")
        eventually(lambda: "trees/deep/oak.md" not in found(memory, "acorns"))
        assert sum(report.moved for report in scans) == 1
    assert memory.notes.libraries()[0].watched_at is None


def test_a_library_that_is_added_later_is_watched_too_and_a_removed_one_no_longer(
    memory: biem.Memory, tmp_path: Path
) -> None:
    with watching(memory):
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "a.md").write_text(f"# {name}\n\nAbout {name} giraffes.\n")
            memory.notes.add(tmp_path / name)
        eventually(lambda: found(memory, "giraffes") == ["a.md", "a.md"])
        memory.notes.remove("one")
        eventually(lambda: len([t for t in threading.enumerate() if t.name.startswith("biem-notes-watch-")]) == 1)
        assert found(memory, "giraffes") == ["a.md"]


@pytest.mark.long
def test_a_folder_that_is_unmounted_keeps_its_notes_and_is_watched_when_it_is_back(
    memory: biem.Memory, tmp_path: Path
) -> None:
    root = tmp_path / "disk"
    root.mkdir()
    (root / "a.md").write_text("# Whale\n\nA whale sings.\n")
    memory.notes.add(root)
    with watching(memory):
        eventually(lambda: found(memory, "whale") == ["a.md"])
        root.rename(tmp_path / "elsewhere")
        eventually(lambda: memory.notes.libraries()[0].watched_at is None)
        assert found(memory, "whale") == ["a.md"]
        (tmp_path / "elsewhere" / "b.md").write_text("# Walrus\n\nA walrus snores.\n")
        (tmp_path / "elsewhere").rename(root)
        eventually(lambda: "b.md" in found(memory, "walrus"))


@pytest.mark.long
def test_one_process_watches_and_another_takes_over(memory: biem.Memory, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nFirst zebra.\n")
    memory.notes.add(tmp_path)
    with watching(memory) as second_scans:
        with watching(memory) as first_scans:
            eventually(lambda: len(first_scans) + len(second_scans) == 1)  # one of them has the lock
            (tmp_path / "b.md").write_text("# B\n\nSecond zebra.\n")
            eventually(lambda: set(found(memory, "zebra")) == {"a.md", "b.md"})
        (tmp_path / "c.md").write_text("# C\n\nThird zebra.\n")
        eventually(lambda: set(found(memory, "zebra")) == {"a.md", "b.md", "c.md"})


def test_a_program_with_workers_watches_if_it_is_configured_to(
    settings: Configure, embedder: WordEmbedder, tmp_path: Path
) -> None:
    policy, user = settings().notes, uuid.uuid4().hex
    wanted = settings(
        user=user, queue="thread", sleep=SleepPolicy(off=("notes",)), notes=type(policy)(watch=True, look_s=0.05)
    )
    with biem.connect(wanted, embedder=embedder) as memory:
        memory.notes.add(tmp_path)
        (tmp_path / "later.md").write_text("# Later\n\nA file about gardening.\n")
        eventually(lambda: found(memory, "gardening") == ["later.md"])
        memory.erase(user=user)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("cli") / "home") as command:
        yield command


@pytest.mark.long
def test_a_watcher_that_is_killed_is_noticed_and_replaced(cli: Cli, tmp_path: Path) -> None:
    scope = ("--user", "watched")
    cli("notes", "add", str(tmp_path), "--name", "lib", *scope)

    def watched_at() -> object:
        return cli("notes", "stats", *scope, "--json").document["libraries"][0]["library"]["watched_at"]

    def is_indexed(path: str) -> bool:
        hits = cli("notes", "search", path, *scope, "--json").document["hits"]
        return any(each["hit"]["note"]["path"] == path for each in hits)

    # Given a process that watches / When it is killed
    first = cli.start("notes", "watch", *scope)
    (tmp_path / "harbour.md").write_text("# Harbour\n\nBoats leave at nine.\n")
    eventually(lambda: is_indexed("harbour.md"))
    assert watched_at() is not None
    first.kill()
    first.communicate(timeout=60)
    # Then its last sign of life stays, old ones of which `diagnose` reports, and another process takes over
    assert watched_at() is not None
    (tmp_path / "bridge.md").write_text("# Bridge\n\nIt opens at ten.\n")
    second = cli.start("notes", "watch", *scope)
    eventually(lambda: is_indexed("bridge.md"))
    second.send_signal(signal.SIGINT)
    _, said = second.communicate(timeout=60)
    assert second.returncode == 0
    assert b"stopped" in said
    assert watched_at() is None
