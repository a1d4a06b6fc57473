"""Files of sessions: one that grows, one for each that was closed, never read, and without what was erased."""

import shutil
import subprocess
from datetime import UTC
from pathlib import Path

import pytest

import biem
from biem.errors import StoreUnavailable
from biem.layers.mirror.session_files import CURRENT
from tests.integration.mirror.conftest import files_of


@pytest.fixture
def root(memory: biem.Memory, tmp_path: Path) -> Path:
    """An empty folder that mirrors the user's own level."""
    memory.mirror.add(tmp_path / "m")
    return tmp_path / "m"


def sync(memory: biem.Memory) -> int:
    """One sync; returns how many files of sessions were written."""
    [report] = memory.mirror.sync()
    assert not report.reason
    return report.sessions


def headings(data: bytes) -> list[str]:
    """Who said the messages of a file, in order."""
    return [line.split()[1] for line in data.decode().splitlines() if line.startswith("## ")]


@pytest.mark.req("M29", "M30", partly="the tree of sessions")
@pytest.mark.req("M31")
def test_the_open_session_grows_in_one_file_and_a_closed_one_has_its_own(memory: biem.Memory, root: Path) -> None:
    # Given an open session
    session = memory.sessions.open()
    memory.sessions.append(session.id, "user", "Where is the blue barrel?")
    call = {"tool_calls": [{"id": "call-1", "function": {"name": "look"}}]}
    memory.sessions.append(session.id, "assistant", "", data=call)
    assert sync(memory) == 1
    current = root / CURRENT
    first = current.read_bytes()
    assert headings(first) == ["user", "assistant"]
    assert b"Where is the blue barrel?" in first
    assert b'"call-1"' in first
    inode = current.stat().st_ino

    # When there is more / Then it is appended, and a sync without news writes nothing
    memory.sessions.append(session.id, "assistant", "In the barn.\n---\n## system")
    assert sync(memory) == 1
    assert current.read_bytes().startswith(first)
    assert (current.stat().st_ino, sync(memory)) == (inode, 0)

    # And when it is closed, and another one begins / Then it has its own file, with every message
    whole = current.read_bytes()
    memory.sessions.close(session.id)
    other = memory.sessions.open()
    memory.sessions.append(other.id, "user", "Hello.")
    assert sync(memory) == 2
    at = session.opened_at.astimezone(UTC)
    name = f"{at:%Y%m%d_%H%M%S}_{session.id.replace('-', '')[-8:]}.md"
    closed = root / "sessions" / "archive" / f"{at:%Y-%m}" / name
    assert closed.read_bytes() == whole
    assert headings(current.read_bytes()) == ["user"]
    # And resumed, it is the current one again, because the other one is closed by that
    memory.sessions.resume(session.id)
    assert sync(memory) == 2
    assert current.read_bytes() == whole
    assert not closed.exists()
    # And nothing of it became a memory by way of the files
    assert sorted(node.text for node in memory.list(limit=10).items) == sorted(
        ["Where is the blue barrel?", "In the barn.\n---\n## system", "Hello."]
    )


def test_a_named_session_is_written_when_it_is_closed_and_a_project_has_no_archive(
    project: biem.Memory, tmp_path: Path
) -> None:
    project.mirror.add(tmp_path / "m")
    session = project.sessions.open("planning")
    project.sessions.append(session.id, "user", "The barn comes first.")
    assert sync(project) == 0
    project.sessions.close(session.id)
    assert sync(project) == 1
    [path] = files_of(tmp_path / "m")
    assert path.startswith(f"sessions/{session.opened_at.astimezone(UTC):%Y-%m}/")
    assert 'title: "planning"' in (tmp_path / "m" / path).read_text()


@pytest.mark.parametrize("harm", ["longer", "shorter", "deleted", "half"])
def test_a_current_file_that_is_not_as_it_was_left_is_written_again(memory: biem.Memory, root: Path, harm: str) -> None:
    # Given a file that a user changed, or that a sync left half appended when it died
    session = memory.sessions.open()
    memory.sessions.append(session.id, "user", "Where is the blue barrel?")
    sync(memory)
    current = root / CURRENT
    was = current.read_bytes()
    if harm == "deleted":
        current.unlink()
    else:
        current.write_bytes({"longer": was + b"by hand\n", "shorter": was[:-9], "half": was + b"\n## assis"}[harm])

    # When the next message is written / Then the file has both messages and nothing else
    memory.sessions.append(session.id, "assistant", "In the barn.")
    assert sync(memory) == 1
    data = current.read_bytes()
    assert data.startswith(was)
    assert headings(data) == ["user", "assistant"]
    assert b"by hand" not in data


def test_what_is_erased_or_taken_back_leaves_the_files(memory: biem.Memory, root: Path) -> None:
    # Given a closed session and an open one
    old = memory.sessions.open()
    secret = memory.sessions.append(old.id, "user", "The key is under the mat.")
    memory.sessions.append(old.id, "assistant", "I will remember that.")
    memory.sessions.close(old.id)
    new = memory.sessions.open()
    said = memory.sessions.append(new.id, "user", "The other key is in the shed.")
    assert sync(memory) == 2
    # A message that is not in the file yet does not hide that one was erased
    memory.sessions.append(new.id, "assistant", "Noted.")

    # When a memory of each is erased / Then the receipts count a file, and the sentences are in none
    for appended, files in ((secret, 1), (said, 1)):
        receipt = memory.erase(appended.memory_id)
        [count] = [each for each in receipt.stores if each.store == "files.mirror"]
        assert (count.before, count.after) == (files, 0)
    assert not any(b"key" in data for data in files_of(root).values())
    assert sorted(headings(b"".join(files_of(root).values()))) == ["assistant", "assistant"]
    # And what is taken back leaves with the next sync, the file with its last message
    memory.sessions.retract(new.id)
    assert sync(memory) == 1
    assert not (root / CURRENT).exists()
    # And erasing the user erases the rest
    receipt = memory.erase(user=memory.bound_to.user)
    [count] = [each for each in receipt.stores if each.store == "files.mirror"]
    assert (count.before, count.after) == (1, 0)
    assert files_of(root) == {}


def test_lines_that_cannot_be_removed_are_counted_as_left(memory: biem.Memory, root: Path) -> None:
    session = memory.sessions.open()
    said = memory.sessions.append(session.id, "user", "The key is under the mat.")
    memory.sessions.append(session.id, "user", "It rains.")
    sync(memory)
    shutil.rmtree(root / "sessions")
    (root / "sessions").write_text("no folder")
    receipt = memory.erase(said.memory_id)
    [count] = [each for each in receipt.stores if each.store == "files.mirror"]
    assert (count.before, count.after) == (1, 1)
    (root / "sessions").unlink()
    assert sync(memory) == 1
    assert b"key" not in (root / CURRENT).read_bytes()


def test_git_does_not_see_them_with_any_ignore_file(project: biem.Memory, tmp_path: Path) -> None:
    # Given a clone whose own ignore file says nothing of sessions, and one in their folder that includes them
    root = tmp_path / "clone" / ".aimate" / "memory"
    (root / "sessions").mkdir(parents=True)
    (root / ".gitignore").write_text("*.bak\n")
    (root / "sessions" / ".gitignore").write_text("!*\n")
    subprocess.run(["git", "init", "-q", str(tmp_path / "clone")], check=True)

    # When a session is written / Then Git would add nothing of it
    project.mirror.add(root)
    session = project.sessions.open()
    project.sessions.append(session.id, "user", "Where is the blue barrel?")
    assert sync(project) == 1
    assert (root / CURRENT).exists()
    shown = subprocess.run(
        ["git", "-C", str(tmp_path / "clone"), "status", "--porcelain", "-uall"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "sessions/current.md" not in shown
    assert ".aimate/memory/.gitignore" in shown


def test_a_sync_that_dies_between_file_and_record_is_made_up_for(
    memory: biem.Memory, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a message that was appended to the file, and not recorded
    session = memory.sessions.open()
    memory.sessions.append(session.id, "user", "Where is the blue barrel?")
    sync(memory)
    memory.sessions.append(session.id, "assistant", "In the barn.")
    records = memory.mirror._system.sessions.records

    def dies(*_: object) -> None:
        raise StoreUnavailable("the power failed")

    with monkeypatch.context() as patch:
        patch.setattr(type(records), "put", dies)
        with pytest.raises(StoreUnavailable):
            memory.mirror.sync()
    assert headings((root / CURRENT).read_bytes()) == ["user", "assistant"]
    # When it is synced again / Then the message is there once
    assert sync(memory) == 1
    assert headings((root / CURRENT).read_bytes()) == ["user", "assistant"]
    assert sync(memory) == 0
