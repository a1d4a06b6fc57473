"""What happens to a library while it is scanned: notes are erased, its folder moves, another process stands still."""

import signal
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import biem
from benchmarks._vault_edits import VaultEdits
from benchmarks.note_chaos import differences
from biem.adapters.files.tree import FolderFiles
from tests.support.cli_process import Cli, running
from tests.support.fakes import PATIENCE_S, eventually


@pytest.fixture
def reading(memory: biem.Memory, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[], object]], None]:
    """Has something done right after the scan has read a file, once."""

    def after(path: str, work: Callable[[], object]) -> None:
        waiting = [work]

        class Files(FolderFiles):
            def read(self, root: str, file: str, most: int) -> Any:
                content = super().read(root, file, most)
                if file == path and waiting:
                    waiting.pop()()
                return content

        monkeypatch.setattr(memory._system.notes.scanner, "_files", Files())

    return after


def written(root: Path, count: int = 3) -> None:
    for number in range(count):
        (root / f"note-{number}.md").write_text(f"# Subject {number}\n\nThe harbour has berth number {number}.\n")


def paths(memory: biem.Memory) -> set[str]:
    """Those of all notes that a search finds."""
    return {hit.note.path for hit in memory.notes.search("Which berth has the harbour?", top_k=50)}


def test_a_sync_pauses_while_another_thread_is_in_a_call(memory: biem.Memory, tmp_path: Path) -> None:
    # Given a new file, and a call under way
    written(tmp_path, 1)
    memory.notes.add(tmp_path, name="lib")
    syncing = threading.Thread(target=memory.notes.sync)
    with memory._system.notes.searcher._calling():
        # When another thread syncs / Then nothing is stored at first
        syncing.start()
        syncing.join(0.5)
        assert sum(memory.notes.stats()[0].files.values()) == 0
    # And everything once the call has ended
    syncing.join(30)
    assert memory.notes.stats()[0].files["indexed"] == 1


def test_an_edited_file_is_found_before_the_walk_through_its_folder_ends(
    memory: biem.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a library with an edited file, and a walk that goes on until this file is found
    written(tmp_path)
    memory.notes.add(tmp_path, name="lib")
    memory.notes.sync()
    (tmp_path / "note-1.md").write_text("# Subject 1\n\nThe harbour has a berth for trawlers.\n")
    seen: list[bool] = []

    class Files(FolderFiles):
        def each(self, root: str, exclude: Sequence[str] = ()) -> Iterator[Any]:
            found = [*super().each(root, exclude)]
            yield from found
            until = time.monotonic() + PATIENCE_S
            while not (is_stored := "trawlers" in str(memory.notes.get("note-1.md"))) and time.monotonic() < until:
                yield from [next(one for one in found if one.path == "note-0.md")] * 64
            seen.append(is_stored and "note-1.md" in paths(memory))

    monkeypatch.setattr(memory._system.notes.scanner, "_files", Files())
    # When it is scanned / Then it is found during the walk, and is stored once
    [report] = memory.notes.sync().libraries
    assert seen == [True]
    assert report.changed == 1


def test_of_many_edited_files_each_is_stored_once(memory: biem.Memory, tmp_path: Path) -> None:
    # Given more edited files than are stored during a walk
    written(tmp_path, 20)
    memory.notes.add(tmp_path, name="lib")
    memory.notes.sync()
    for number in range(15):
        (tmp_path / f"note-{number}.md").write_text(f"# Subject {number}\n\nThe harbour has trawlers, {number}.\n")
    # When they are scanned / Then each was read and stored, once
    [report] = memory.notes.sync().libraries
    assert (report.changed, report.unchanged) == (15, 5)
    assert all("trawlers" in str(memory.notes.get(f"note-{number}.md")) for number in range(15))


@pytest.mark.parametrize("edited", [False, True])
def test_a_note_that_is_erased_during_a_scan_does_not_return(
    memory: biem.Memory, tmp_path: Path, reading: Callable[..., None], *, edited: bool
) -> None:
    # Given a library, and a scan that has just read an edited file
    written(tmp_path)
    memory.notes.add(tmp_path, name="lib")
    memory.notes.sync()
    if edited:
        (tmp_path / "note-1.md").write_text("# Subject 1\n\nThe harbour has a berth for trawlers.\n")
    # When the note is erased before it is stored
    reading("note-1.md", lambda: memory.notes.erase("note-1.md"))
    memory.notes.sync(full=True)
    # Then nothing answers from it, now and after further scans
    for _ in range(2):
        assert paths(memory) == {"note-0.md", "note-2.md"}
        assert sum(memory.notes.stats()[0].files.values()) == 2
        memory.notes.sync(full=True)


def test_a_file_that_became_unreadable_is_not_listed_after_its_erasure(
    memory: biem.Memory, tmp_path: Path, reading: Callable[..., None]
) -> None:
    written(tmp_path)
    memory.notes.add(tmp_path, name="lib")
    memory.notes.sync()
    (tmp_path / "note-1.md").write_bytes(b"\0\1\2" * 50)
    reading("note-1.md", lambda: memory.notes.erase("note-1.md"))
    memory.notes.sync()
    assert memory.notes.stats()[0].troubled == ()


def test_erasures_at_the_same_time_all_stay(memory: biem.Memory, tmp_path: Path) -> None:
    written(tmp_path, 12)
    memory.notes.add(tmp_path, name="lib")
    memory.notes.sync()
    with ThreadPoolExecutor(6) as threads:
        list(threads.map(lambda number: memory.notes.erase(f"note-{number}.md"), range(11)))
    assert len(memory.notes.libraries()[0].exclude) == 11
    memory.notes.sync(full=True)
    assert paths(memory) == {"note-11.md"}


def test_a_folder_that_is_renamed_during_its_scan_loses_nothing(
    memory: biem.Memory, tmp_path: Path, reading: Callable[..., None]
) -> None:
    # Given a scan whose folder is renamed in the middle of it
    root, other = tmp_path / "vault", tmp_path / "elsewhere"
    root.mkdir()
    written(root, 30)
    memory.notes.add(root, name="lib")
    memory.notes.sync()
    before = paths(memory)
    reading("note-3.md", lambda: root.rename(other))
    memory.notes.sync(full=True)
    # Then no note is lost, while it is away and when it is back
    assert paths(memory) == before
    assert "no folder" in memory.notes.sync().libraries[0].reason
    other.rename(root)
    [report] = memory.notes.sync(full=True).libraries
    assert (report.unchanged, report.deleted, paths(memory)) == (30, 0, before)


@pytest.mark.long
def test_syncs_and_a_watcher_beside_each_other_end_in_the_index_of_a_fresh_scan(
    memory: biem.Memory, tmp_path: Path, pass_time: Callable[[str], None]
) -> None:
    # Given a watcher and two threads that sync, while a folder changes at random
    edits, stopped = VaultEdits(tmp_path, 3), threading.Event()
    memory.notes.add(tmp_path, name="lib")

    def again() -> None:
        while not stopped.is_set():
            memory.notes.sync(accept_deletions=True)

    with ThreadPoolExecutor(3) as threads:
        running = [threads.submit(memory.notes.watch, stopped), threads.submit(again), threads.submit(again)]
        try:
            for _ in range(120):
                edits.step()
        finally:
            stopped.set()
        for each in running:
            each.result()
    # When it is synced once more / Then all is as if it had been read for the first time
    memory.notes.sync(accept_deletions=True)
    pass_time(memory.bound_to.ns)
    memory._system.job_runner.run_everywhere("sweep")
    fresh = memory.scope(user=uuid.uuid4().hex)
    fresh.notes.add(tmp_path, name="lib")
    fresh.notes.sync()
    assert list(differences(memory, fresh, tmp_path)) == []
    memory.erase(user=fresh.bound_to.user)


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    with running(tmp_path_factory.mktemp("cli") / "home") as command:
        yield command


@pytest.mark.long
def test_a_process_that_stands_still_keeps_nobody_from_answers_and_erasures(cli: Cli, tmp_path: Path) -> None:
    scope = ("--user", "still")
    written(tmp_path, 400)
    cli("notes", "add", str(tmp_path), "--name", "lib", *scope)

    def known() -> int:
        return sum(cli("notes", "stats", *scope, "--json").document["libraries"][0]["files"].values())

    # Given a process that stands still in the middle of a scan
    syncing = cli.start("notes", "sync", *scope)
    eventually(lambda: known() > 5)
    syncing.send_signal(signal.SIGSTOP)
    try:
        # When a note is erased and a question asked / Then both are done
        cli("notes", "erase", "note-0.md", *scope)
        hits = cli("notes", "search", "Which berth has the harbour?", *scope, "--json").document["hits"]
        assert hits
    finally:
        syncing.send_signal(signal.SIGCONT)
    # And the process ends its scan when it may go on
    _, said = syncing.communicate(timeout=300)
    assert syncing.returncode == 0, said
    cli("notes", "sync", *scope)
    assert known() == 399
