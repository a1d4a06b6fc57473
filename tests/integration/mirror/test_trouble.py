"""Folders that cannot be written, files that change meanwhile, values that cannot be stored, and moving house."""

import os
import uuid
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.domain.note import FileStat
from biem.errors import ImportConflict, InvalidInput
from tests.integration.mirror.conftest import files_of, text_of


@pytest.fixture
def root(memory: biem.Memory, tmp_path: Path) -> Path:
    """A folder with the file of one memory."""
    memory.remember("The harbour opens at six.", layer="core")
    memory.mirror.add(tmp_path / "m")
    memory.mirror.sync()
    return tmp_path / "m"


def only(root: Path) -> Path:
    """The only file."""
    [file] = root.rglob("*.md")
    return file


def refusing(*arguments: Any, **named: Any) -> Any:
    """What a read-only or a full disk does."""
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("call", ["link", "fsync"])
def test_a_folder_that_refuses_a_file_is_reported_and_nothing_is_half_done(
    memory: biem.Memory, root: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    memory.remember("The lighthouse is red.", layer="core")
    file = only(root)
    file.write_text(file.read_text().replace("six", "seven"))
    with monkeypatch.context() as patch:
        patch.setattr(os, call, refusing)
        [report] = memory.mirror.sync()
    # Given a folder that cannot be written / When it is synced / Then what people wrote is taken in all the same
    assert "No space left" in report.reason
    assert report.revised == 1
    assert list(files_of(root)) == [str(file.relative_to(root))]
    assert not list(root.rglob(".tmp-*"))
    assert memory.mirror.sync()[0].written == 1


@pytest.mark.parametrize("years", [-30, 10], ids=["back", "ahead"])
def test_a_clock_that_jumps_loses_no_edit_and_writes_nothing_twice(memory: biem.Memory, root: Path, years: int) -> None:
    # Given files that were edited while the clock was wrong: their times lie decades away
    file = only(root)
    at = file.stat().st_mtime_ns + years * 365 * 86_400 * 10**9
    for former, word in (("six", "seven"), ("seven", "eight")):
        file.write_text(file.read_text().replace(former, word))
        os.utime(file, ns=(at, at))
        # When the job runs, which leaves files alone that were changed a moment ago
        memory.mirror._system.run(memory.bound_to)
        # Then the edit is taken in, and the next sync changes nothing
        assert [node.text for node in memory.list(limit=5).items] == [f"The harbour opens at {word}."]
        assert memory.mirror.sync()[0].altered == 0
        at += 10**9
    # And a memory that changes is written over it
    [node] = memory.list(limit=5).items
    memory.revise(node.id, importance=5.0)
    assert memory.mirror.sync()[0].written == 1
    assert "importance: 5.0" in file.read_text()


def test_a_file_that_is_changed_while_it_is_to_be_written_is_not_replaced(
    memory: biem.Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, folder = only(root), memory.mirror._system.folder
    [node] = memory.list(limit=1).items
    memory.revise(node.id, importance=5.0)
    usual = type(folder).write

    def late(self: Any, path: str, name: str, data: bytes, expected: FileStat | None) -> FileStat | None:
        file.write_text(file.read_text().replace("six", "eight o'clock"))  # an editor is faster
        return usual(self, path, name, data, expected)

    with monkeypatch.context() as patch:
        patch.setattr(type(folder), "write", late)
        memory.mirror.sync()
    assert "eight o'clock" in file.read_text()
    memory.mirror.sync()
    assert memory.get(node.id).text == "The harbour opens at eight o'clock."
    assert "importance: 5.0" in file.read_text()


def test_a_value_that_cannot_be_stored_holds_the_file_until_it_can(memory: biem.Memory, root: Path) -> None:
    other = memory.remember("The ferry is late.", layer="core")
    memory.mirror.sync()
    file = next(root.rglob("*harbour*.md"))
    file.write_text(file.read_text().replace("The harbour opens at six.", "The ferry is late."))
    held = file.read_bytes()
    [report] = memory.mirror.sync()
    assert report.troubled == 1
    [(path, state, reason)] = memory.mirror.status()[0].troubled
    assert (path, state) == (str(file.relative_to(root)), "held")
    assert other in reason
    assert file.read_bytes() == held
    # Given that the cause is gone / When it is synced again / Then it is taken in
    memory.revise(other, text="The ferry is on time.")
    memory.mirror.sync()
    assert memory.mirror.sync()[0].troubled == 0
    assert not memory.mirror.status()[0].troubled


def test_a_link_out_of_the_folder_is_neither_read_nor_written(memory: biem.Memory, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("A secret of this machine.\n")
    (root / "long_term").symlink_to(outside)
    (root / "core" / "secret.md").symlink_to(outside / "secret.md")
    memory.remember("The buoy is green.", layer="long_term", kind="knowledge")
    [report] = memory.mirror.sync()
    assert "leads out" in report.reason
    assert [file.name for file in outside.iterdir()] == ["secret.md"]
    assert all("secret" not in node.text for node in memory.list(limit=10).items)


def test_what_git_ignores_is_mirrored_all_the_same(memory: biem.Memory, root: Path) -> None:
    (root / ".gitignore").write_text("core/\n")
    file = only(root)
    file.write_text(file.read_text().replace("six", "nine"))
    [report] = memory.mirror.sync()
    assert (report.archived, report.revised) == (0, 1)


def test_a_merge_that_git_left_undecided_is_not_taken_in(memory: biem.Memory, root: Path) -> None:
    file = only(root)
    ours, theirs = "The harbour opens at six.\n", "The harbour opens at ten.\n"
    merged = file.read_text().replace(ours, f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> side\n")
    file.write_text(merged)
    assert memory.mirror.sync()[0].troubled == 1
    assert "Git left both sides" in memory.mirror.status()[0].troubled[0][2]
    assert memory.list(limit=1).items[0].text == ours.strip()
    file.write_text(merged.replace("<<<<<<< HEAD\n", "").replace(f"{ours}=======\n", "").replace(">>>>>>> side\n", ""))
    memory.mirror.sync()
    assert memory.list(limit=1).items[0].text == theirs.strip()


def test_a_folder_mirrors_one_scope(memory: biem.Memory, root: Path) -> None:
    with pytest.raises(InvalidInput, match="mirrors another scope"):
        memory.scope(user=uuid.uuid4().hex).mirror.add(root)
    assert memory.mirror.add(root).path == str(root)
    memory.mirror.remove(root)
    assert memory.mirror.roots() == []
    assert only(root).exists()
    # Added again, its files are the same memories
    memory.mirror.add(root)
    assert memory.mirror.sync()[0].altered == 0


def state(memory: biem.Memory) -> list[dict[str, Any]]:
    """All that memories have, but what changes when they are indexed."""
    names = (
        "id", "text", "kind", "layer", "tags", "reason", "importance", "source", "speaker", "conversation", "at",
        "created_at", "ref", "metadata", "origin", "trust", "access_count", "accessed_at", "revision", "revised_at",
        "expires_at", "on_expiry", "archive_reason", "archived_at", "valid_from", "valid_to", "initial_energy",
    )  # fmt: skip
    found = memory.list(limit=100, status="all").items
    return [{name: getattr(node, name) for name in names} for node in sorted(found, key=lambda node: node.id)]


@pytest.mark.req("M28")
def test_export_wipe_import_gives_identical_state(memory: biem.Memory, tmp_path: Path) -> None:
    first = memory.remember("---\nI drink tea: “green”.\r\n---\n😀", layer="core", tags=["a", "2024"], importance=4.5)
    memory.remember("Call.", kind="task", metadata={"category": "task", "title": "Dentist", "n": {"deep": [1, None]}})
    memory.remember("Hello there.", speaker="ada", conversation="c1", ref="m1")
    memory.revise(first, reason="she said so")
    gone = memory.remember("Archived.", layer="long_term", kind="knowledge")
    memory.archive(gone, "not needed")
    before = state(memory)
    report = memory.mirror.export(tmp_path / "out")
    assert report.memories == 4
    # Given an export / When the scope is wiped and the folder is imported / Then all is as it was
    memory.erase(memory.bound_to)
    assert memory.mirror.import_folder(tmp_path / "out").created == 4
    assert state(memory) == before
    # Repeated it adds nothing, and another export is the same, byte for byte
    assert memory.mirror.import_folder(tmp_path / "out").already_there == 4
    memory.mirror.export(tmp_path / "again")
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")


def test_edits_of_an_exported_folder_hold_when_it_is_imported(memory: biem.Memory, tmp_path: Path) -> None:
    key = memory.remember("The old text.", layer="core")
    memory.mirror.export(tmp_path / "out")
    file = only(tmp_path / "out")
    file.write_text(file.read_text().replace("The old text.\n", "The new text.\n").replace("tags: []", "tags: [x]"))
    with pytest.raises(ImportConflict, match=r"core/.*\.md"):
        memory.mirror.import_folder(tmp_path / "out")
    memory.erase(key)
    memory.mirror.import_folder(tmp_path / "out")
    assert (memory.get(key).text, memory.get(key).tags) == ("The new text.", ("x",))
    assert text_of(file.read_bytes()) == "The new text."


@pytest.mark.parametrize(
    ("text", "said"),
    [("no front matter", "names no id"), ("---\nid: [\n---\n\nx\n", "line 3"), ('---\nstate: "{"\n---\n\nx\n', "id")],
)
def test_a_folder_that_cannot_be_read_is_reported_by_file_and_stores_nothing(
    memory: biem.Memory, tmp_path: Path, text: str, said: str
) -> None:
    memory.remember("Before.", layer="core")
    memory.mirror.export(tmp_path / "out")
    (tmp_path / "out" / "bad.md").write_text(text)
    memory.erase(memory.bound_to)
    with pytest.raises(InvalidInput, match=rf"bad\.md.*{said}"):
        memory.mirror.import_folder(tmp_path / "out")
    assert memory.count() == 0
