"""What a sync does about each combination of a changed file and a changed memory."""

from pathlib import Path

import pytest

import biem
from biem.domain.mirror.root import MirrorReport
from tests.integration.mirror.conftest import files_of


def sync(memory: biem.Memory, *, full: bool = False, accept_deletions: bool = False) -> MirrorReport:
    """One sync of the only folder."""
    [report] = memory.mirror.sync(full=full, accept_deletions=accept_deletions)
    assert not report.reason or report.held
    return report


@pytest.fixture
def root(memory: biem.Memory, tmp_path: Path) -> Path:
    """A folder that mirrors a memory of tea and a task."""
    memory.remember("I drink green tea.", layer="core", metadata={"category": "preference", "title": "Tea"})
    memory.remember("Call the dentist.", kind="task", metadata={"category": "task"})
    memory.mirror.add(tmp_path / "m")
    assert sync(memory).written == 2
    return tmp_path / "m"


def only(root: Path, part: str) -> Path:
    """The file whose path has this part."""
    [found] = [file for file in root.rglob("*.md") if part in str(file.relative_to(root))]
    return found


def tea(memory: biem.Memory) -> biem.Node:
    """The memory of tea."""
    [found] = [node for node in memory.list(limit=100).items if "tea" in node.text]
    return found


def edit(file: Path, old: str, new: str) -> None:
    """What an editor does."""
    text = file.read_bytes().decode()
    assert old in text
    file.write_bytes(text.replace(old, new).encode())


@pytest.mark.req("M10", "M33")
def test_nothing_changed_nothing_is_written(memory: biem.Memory, root: Path) -> None:
    before = files_of(root)
    # Given files that were just written / When they are synced again, also in full / Then no byte is
    report = sync(memory)
    assert (report.files, report.altered) == (2, 0)
    assert sync(memory, full=True).altered == 0
    assert files_of(root) == before
    core, task = sorted(before)
    assert core.startswith("core/")
    assert core.endswith("_preference_Tea.md")
    assert task.startswith("short_term/tasks/")
    assert task.endswith("_task_Call-the-dentist.md")


@pytest.mark.req("M32")
def test_a_changed_memory_changes_these_values_in_its_file_and_no_others(memory: biem.Memory, root: Path) -> None:
    file = only(root, "Tea")
    edit(file, "title:", "mood: calm # mine\ntitle:")
    sync(memory)
    # Given a file with a person's own key and comment / When the memory is revised
    memory.revise(tea(memory).id, text="I drink black tea.", tags=["drink"])
    assert sync(memory).written == 1
    # Then text, tags and what follows from them are new, and the person's lines are as they were
    text = file.read_text()
    assert "mood: calm # mine\ntitle:" in text
    assert 'tags: ["drink"]' in text
    assert text.endswith("---\n\nI drink black tea.\n")
    assert tea(memory).metadata["front"] == {"mood": "calm"}
    assert sync(memory).altered == 0


def test_an_archived_memory_is_moved_to_the_archive_and_back_when_a_person_moves_it(
    memory: biem.Memory, root: Path
) -> None:
    file, key = only(root, "Tea"), tea(memory).id
    before = file.read_bytes()
    memory.archive(key)
    assert sync(memory).moved == 1
    inside = root / "archive" / file.relative_to(root)
    assert inside.read_bytes() == before
    # Given a file of the archive / When a person moves it out / Then its memory is restored
    inside.rename(file)
    report = sync(memory)
    assert (report.moved, report.restored, report.written) == (1, 1, 0)
    assert tea(memory).status == "pending"
    # and when a person moves it in, or the memory is restored otherwise, the other follows
    file.rename(inside)
    assert sync(memory).archived == 1
    memory.restore(key)
    assert sync(memory).moved == 1
    assert file.read_bytes() == before
    assert sync(memory).altered == 0


@pytest.mark.req("M43")
def test_a_changed_file_revises_its_memory_and_is_not_touched(memory: biem.Memory, root: Path) -> None:
    file, key = only(root, "Tea"), tea(memory).id
    edit(file, "green tea", "white tea")
    edit(file, "importance: 3.0", "importance: 5")
    wanted, stat = file.read_bytes(), file.stat()
    report = sync(memory)
    assert (report.revised, report.written) == (1, 0)
    node = memory.get(key)
    assert (node.text, node.importance, node.revision) == ("I drink white tea.", 5.0, 2)
    assert memory.revisions(key)[-1].by == "file"
    assert (file.read_bytes(), file.stat().st_mtime_ns) == (wanted, stat.st_mtime_ns)
    assert sync(memory).altered == 0


def test_both_changed_in_different_fields_both_hold(memory: biem.Memory, root: Path) -> None:
    file = only(root, "Tea")
    edit(file, "tags: []", "tags: [leaf, 2024]")
    memory.revise(tea(memory).id, importance=4.0)
    sync(memory)
    assert (tea(memory).tags, tea(memory).importance) == (("leaf", "2024"), 4.0)
    assert "importance: 4.0" in file.read_text()
    assert "tags: [leaf, 2024]" in file.read_text()
    assert sync(memory).altered == 0


def test_both_changed_in_the_same_field_the_persons_holds_and_the_other_is_a_revision(
    memory: biem.Memory, root: Path
) -> None:
    file, key = only(root, "Tea"), tea(memory).id
    edit(file, "green tea", "white tea")
    memory.revise(key, text="I drink black tea.")
    sync(memory)
    assert memory.get(key).text == "I drink white tea."
    assert [each.text for each in memory.revisions(key)][1] == "I drink black tea."
    [status] = memory.mirror.status()
    assert [(path, state) for path, state, _ in status.troubled] == [(str(file.relative_to(root)), "clean")]
    assert "both sides changed text" in status.troubled[0][2]
    assert sorted(files_of(root)) == sorted(str(each.relative_to(root)) for each in (file, only(root, "dentist")))


def test_a_deleted_file_archives_its_memory_and_a_file_that_is_back_restores_it(
    memory: biem.Memory, root: Path
) -> None:
    file, key = only(root, "Tea"), tea(memory).id
    before = file.read_bytes()
    file.unlink()
    assert sync(memory).archived == 1
    assert memory.get(key).archive_reason == "file deleted"
    assert sync(memory).altered == 0
    file.write_bytes(before.replace(b"green", b"oolong"))
    report = sync(memory)
    assert (report.restored, report.revised) == (1, 1)
    assert memory.get(key).text == "I drink oolong tea."
    # and one that is restored otherwise gets its file back
    file.unlink()
    sync(memory)
    memory.restore(key)
    assert sync(memory).written == 1
    assert b"oolong" in file.read_bytes()


def test_when_most_files_are_missing_nothing_is_archived(memory: biem.Memory, tmp_path: Path) -> None:
    root = tmp_path / "many"
    ids = memory.remember_many([{"text": f"Fact number {n}.", "layer": "core"} for n in range(30)])
    memory.mirror.add(root)
    sync(memory)
    for file in sorted(root.rglob("*.md"))[:20]:
        file.unlink()
    # Given a folder that lost most of its files / When it is synced / Then their memories stay until a person says so
    report = sync(memory)
    assert (report.held, report.archived, report.written) == (20, 0, 0)
    assert "accept-deletions" in report.reason
    assert sync(memory, accept_deletions=True).archived == 20
    assert sum(memory.get(key).status == "archived" for key in ids) == 20


def test_a_folder_without_its_files_and_our_mark_is_left_alone(memory: biem.Memory, root: Path) -> None:
    aside = root.with_name("aside")
    root.rename(aside)
    [gone] = memory.mirror.sync()
    assert "no folder" in gone.reason
    root.mkdir()
    [empty] = memory.mirror.sync()
    assert "mount it" in empty.reason
    root.rmdir()
    aside.rename(root)
    assert sync(memory).altered == 0


def test_a_new_file_becomes_a_memory_of_its_folder_and_is_not_touched(memory: biem.Memory, root: Path) -> None:
    file = root / "long_term" / "decisions" / "编辑器.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\ntags: 工具, vim\nwhy: mine\n---\n我们用 Vim。\n", encoding="utf-8")
    wanted = file.read_bytes()
    assert sync(memory).taken == 1
    [node] = [each for each in memory.list(limit=10).items if "Vim" in each.text]
    assert (node.text, node.layer, node.kind) == ("我们用 Vim。", "long_term", "knowledge")
    assert node.tags == ("工具", "vim")
    assert node.metadata == {"category": "decision", "front": {"why": "mine"}}
    assert (node.source, node.origin, node.trust) == ("file", "file", "normal")
    assert file.read_bytes() == wanted
    assert sync(memory).altered == 0
    # Its id is written with the next change
    memory.revise(node.id, importance=5.0)
    sync(memory)
    assert f'id: "{node.id}"' in file.read_text(encoding="utf-8")
    assert "tags: 工具, vim\nwhy: mine\n" in file.read_text(encoding="utf-8")
    assert sync(memory).altered == 0


def test_a_moved_file_is_the_same_memory_and_its_folder_says_what_it_is(memory: biem.Memory, root: Path) -> None:
    file, key = only(root, "dentist"), tea(memory).id
    task = next(each for each in memory.list(limit=10).items if "dentist" in each.text)
    target = root / "long_term" / "knowledge" / "teeth.md"
    target.parent.mkdir(parents=True)
    file.rename(target)
    report = sync(memory)
    assert (report.moved, report.revised, report.taken, report.archived, report.written) == (1, 1, 0, 0, 0)
    node = memory.get(task.id)
    assert (node.layer, node.metadata["category"]) == ("long_term", "knowledge")
    assert sync(memory).altered == 0
    edit(target, "Call the", "Phone the")
    sync(memory)
    assert (memory.get(task.id).text, memory.get(task.id).layer) == ("Phone the dentist.", "long_term")
    assert memory.get(key).revision == 1


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_is_moved_while_its_memory_is_archived_goes_to_the_archive_from_there(
    memory: biem.Memory, root: Path, *, edited: bool
) -> None:
    # Given a memory that a program archives, and its file that a person moves at the same time, and may have edited
    file, key = only(root, "Tea"), tea(memory).id
    target = root / "long_term" / "tea.md"
    target.parent.mkdir(parents=True)
    file.rename(target)
    if edited:
        edit(target, "green tea", "white tea")
    memory.archive(key)
    # When it is synced / Then the file is in the archive, word for word, and a second sync changes nothing
    said = target.read_bytes()
    sync(memory)
    sync(memory)
    assert sync(memory).altered == 0
    assert files_of(root)["archive/long_term/tea.md"] == said
    assert not target.exists()
    assert memory.get(key).status == "archived"
    # And moved out again, it is taken in
    (root / "archive/long_term/tea.md").rename(target)
    sync(memory)
    assert (memory.get(key).text == "I drink white tea.") == edited
    assert memory.get(key).status != "archived"
    assert sync(memory).altered == 0


def test_a_memory_that_is_archived_the_moment_its_file_is_back_takes_the_file_along(
    memory: biem.Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a file that a person moves out of the archive, and a program that archives its memory during the sync
    key, incoming = tea(memory).id, memory.mirror._system.syncer._incoming
    memory.archive(key)
    sync(memory)
    inside = only(root, "Tea")
    (root / "long_term").mkdir()
    inside.rename(root / "long_term" / "tea.md")
    restore = incoming._lifecycle.restore

    def restored(scope: biem.Scope, memory_id: str) -> bool:
        done = restore(scope, memory_id)
        memory.archive(key)
        return done

    monkeypatch.setattr(incoming._lifecycle, "restore", restored)
    # When it is synced / Then the file is in the archive as its memory is
    sync(memory)
    monkeypatch.undo()
    sync(memory)
    assert memory.get(key).status == "archived"
    assert only(root, "tea").relative_to(root).as_posix() == "archive/long_term/tea.md"
    assert sync(memory).altered == 0


@pytest.mark.parametrize("edited", [False, True])
def test_a_file_that_no_sync_recorded_goes_to_the_archive_with_its_memory(
    memory: biem.Memory, root: Path, *, edited: bool
) -> None:
    # Given a sync that died after it wrote a file, whose memory was archived before the next one
    key, file = tea(memory).id, only(root, "Tea")
    [at] = memory.mirror.roots()
    memory.mirror._system.records.drop(at, [file.relative_to(root).as_posix()])
    if edited:
        edit(file, "green tea", "white tea")
    memory.archive(key)
    said = file.read_bytes()
    # When it is synced / Then the file is in the archive, word for word
    sync(memory)
    sync(memory)
    moved = only(root, "Tea")
    assert moved.relative_to(root).as_posix().startswith("archive/")
    assert moved.read_bytes() == said
    assert sync(memory).altered == 0
    # And moved out again, it is taken in
    (root / "long_term").mkdir()
    moved.rename(root / "long_term" / "tea.md")
    sync(memory)
    assert (memory.get(key).text == "I drink white tea.") == edited
    assert memory.get(key).status != "archived"
    assert sync(memory).altered == 0


def test_a_file_that_is_back_broken_restores_its_memory_when_it_is_mended(memory: biem.Memory, root: Path) -> None:
    # Given a deleted file that comes back without an end of its front matter
    key, file = tea(memory).id, only(root, "Tea")
    said = file.read_bytes()
    file.unlink()
    sync(memory)
    assert memory.get(key).status == "archived"
    file.write_bytes(said[: said.rindex(b"---")].replace(b"type: ", b"type: un"))
    sync(memory)
    assert memory.get(key).status == "archived"
    # When it is mended / Then its memory is there again
    file.write_bytes(said)
    sync(memory)
    assert memory.get(key).status != "archived"
    assert file.read_bytes() == said
    assert sync(memory).altered == 0


def test_a_file_that_is_moved_to_the_archive_broken_archives_its_memory_when_it_is_mended(
    memory: biem.Memory, root: Path
) -> None:
    key, file = tea(memory).id, only(root, "Tea")
    said, target = file.read_bytes(), root / "archive" / file.name
    target.parent.mkdir(exist_ok=True)
    file.write_bytes(said[: said.rindex(b"---")].replace(b"type: ", b"type: un"))
    sync(memory)
    file.rename(target)
    sync(memory)
    assert memory.get(key).status != "archived"
    target.write_bytes(said)
    sync(memory)
    assert memory.get(key).status == "archived"
    assert target.read_bytes() == said
    assert sync(memory).altered == 0


def test_a_copied_file_is_another_memory(memory: biem.Memory, root: Path) -> None:
    file, key = only(root, "Tea"), tea(memory).id
    copy = file.with_name("copy.md")
    copy.write_bytes(file.read_bytes().replace(b"green tea", b"iced coffee"))
    assert sync(memory).taken == 1
    [coffee] = [each for each in memory.list(limit=10).items if "coffee" in each.text]
    assert coffee.id != key
    assert memory.get(key).text == "I drink green tea."
    # and an exact copy says what is there already: it is shown, and nothing is doubled
    (file.parent / "same.md").write_bytes(file.read_bytes())
    assert sync(memory).troubled == 1
    [status] = memory.mirror.status()
    assert [(path, state) for path, state, _ in status.troubled] == [("core/same.md", "held")]
    assert memory.count() == 3


def test_unreadable_front_matter_leaves_both_alone_and_names_its_line(memory: biem.Memory, root: Path) -> None:
    file, key = only(root, "Tea"), tea(memory).id
    before = file.read_bytes()
    edit(file, "tags: []", "tags: [unclosed")
    broken = file.read_bytes()
    assert sync(memory).troubled == 1
    memory.revise(key, importance=5.0)
    sync(memory)
    assert file.read_bytes() == broken
    assert memory.get(key).text == "I drink green tea."
    [status] = memory.mirror.status()
    [(_, state, reason)] = status.troubled
    assert state == "broken"
    assert reason.startswith("line ")
    file.write_bytes(before)
    sync(memory)
    assert "importance: 5.0" in file.read_text()
    assert not memory.mirror.status()[0].troubled


@pytest.mark.req("M43")
def test_the_file_of_an_erased_memory_is_deleted_and_a_copy_of_it_refused(memory: biem.Memory, root: Path) -> None:
    file, key = only(root, "Tea"), tea(memory).id
    before = file.read_bytes()
    receipt = memory.erase(key)
    assert [(each.before, each.after) for each in receipt.stores if each.store == "files.mirror"] == [(1, 0)]
    assert not file.exists()
    # Given the id of an erased memory / When Git brings its file back / Then it is shown, and nothing is stored
    file.write_bytes(before)
    assert sync(memory).troubled == 1
    assert memory.count() == 1
    assert memory.mirror.status()[0].troubled[0][1] == "refused"
    assert file.read_bytes() == before


def test_a_scope_that_is_erased_leaves_no_file_and_no_folder_behind(memory: biem.Memory, root: Path) -> None:
    receipt = memory.erase(memory.bound_to)
    assert [(each.before, each.after) for each in receipt.stores if each.store == "files.mirror"] == [(2, 0)]
    assert files_of(root) == {}
    assert memory.mirror.roots() == []
