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
from benchmarks._vault_edits import VaultEdits
from benchmarks.note_chaos import differences
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
        eventually(lambda: [one for one in memory.notes.get("lamp.md").chunks if "petrol" in one.body])
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


def test_an_edit_of_a_known_file_leads_to_a_look_at_this_file_only(memory: biem.Memory, tmp_path: Path) -> None:
    # Given a library of several files, one of which has two names
    for name in ("lamp", "oak", "fox"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nIt is a {name}.\n")
    (tmp_path / "tree.md").hardlink_to(tmp_path / "oak.md")
    memory.notes.add(tmp_path, name="lib")
    memory.notes.sync()
    with watching(memory) as scans:
        eventually(lambda: len(scans) == 1)
        scanned_at = memory.notes.libraries()[0].scanned_at
        # When known files are edited / Then these are looked at, under each name, and no others
        (tmp_path / "lamp.md").write_text("# lamp\n\nIt burns petrol.\n")
        eventually(lambda: len(scans) == 2)
        with (tmp_path / "oak.md").open("a") as stream:
            stream.write("It has acorns.\n")
        eventually(lambda: len(scans) == 3)
        assert [(scan.files, scan.changed) for scan in scans] == [(4, 0), (1, 1), (2, 2)]
        assert "petrol" in memory.notes.get("lamp.md").chunks[0].body
        assert {tag.shown: tag.uses for tag in memory.notes.tags("petrol")} == {"petrol": 1}
        # And the time of the last scan of all files stays: what was written since is read again by the next one
        assert memory.notes.libraries()[0].scanned_at == scanned_at
        # When another one appears / Then all are looked at
        (tmp_path / "owl.md").write_text("# owl\n\nIt hoots.\n")
        eventually(lambda: len(scans) == 4)
        assert (scans[-1].files, scans[-1].new) == (5, 1)


@pytest.mark.long
def test_what_programs_do_to_watched_files_ends_in_the_index_of_a_fresh_scan(
    memory: biem.Memory, tmp_path: Path
) -> None:
    # Given a folder that is watched
    edits = VaultEdits(tmp_path, 9)
    for _ in range(8):
        edits.step("write")
    memory.notes.add(tmp_path, name="lib")
    fresh = memory.scope(user=uuid.uuid4().hex)
    with watching(memory) as scans:
        eventually(lambda: len(scans) > 0)
        # When programs and people do everything to its files, each thing in a scan or two
        for kind in ("paragraph", *edits.odd, "section", "move", "paragraph", "shuffle", "copy", "delete", "folder"):
            before = len(scans)
            edits.step(kind)
            eventually(lambda before=before: len(scans) > before)  # type: ignore[misc]
            edits.step("paragraph")
        fresh.notes.add(tmp_path, name="lib")
        fresh.notes.sync()
        # Then all is as if it had been read for the first time; rows of erased chunks are removed later, by a job
        eventually(lambda: not [each for each in differences(memory, fresh, tmp_path) if not each.startswith("row ")])
        assert any(scan.files == 1 for scan in scans)
    memory.erase(user=fresh.bound_to.user)


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
