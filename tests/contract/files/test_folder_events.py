"""The port `FolderEvents` on folders of a disk."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from biem.adapters.files.folder_events import SystemFolderEvents, is_about_notes, remote_system
from biem.errors import StoreUnavailable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a note."""
    folder = tmp_path / "vault"
    (folder / "v1.0").mkdir(parents=True)
    (folder / "v1.0" / "a.md").write_text("# A\n")
    return folder


@pytest.fixture
def changes(root: Path) -> Iterator[Iterator[bool]]:
    """Its changes; quiet for half a second is said."""
    stopped = threading.Event()
    found = SystemFolderEvents(quiet_s=0.5).changes(str(root), stopped)
    assert next(found) is True  # watching has begun
    yield found
    stopped.set()
    assert list(found) == []


def until_changed(found: Iterator[bool]) -> bool:
    """Whether a change is said within twenty messages."""
    return any(next(found) for _ in range(20))


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "b.md").write_text("# B\n"),
        lambda root: (root / "v1.0" / "a.md").write_text("# A\n\nmore\n"),
        lambda root: (root / "v1.0" / "a.md").rename(root / "moved.md"),
        lambda root: (root / "v1.0" / "a.md").unlink(),
        lambda root: shutil.rmtree(root / "v1.0"),
        lambda root: (root / ".gitignore").write_text("a.md\n"),
    ],
    ids=["new", "changed", "moved", "deleted", "folder-deleted", "ignore-file"],
)
def test_changes_of_notes_are_said(root: Path, changes: Iterator[bool], change: Callable[[Path], object]) -> None:
    change(root)
    assert until_changed(changes)


def test_a_new_folder_is_watched_too(root: Path, changes: Iterator[bool]) -> None:
    (root / "new" / "deeper").mkdir(parents=True)
    assert until_changed(changes)
    (root / "new" / "deeper" / "c.md").write_text("# C\n")
    assert until_changed(changes)


def test_an_idle_watcher_says_that_it_is_alive(changes: Iterator[bool]) -> None:
    assert [next(changes), next(changes)] == [False, False]


def test_what_is_no_note_is_no_change(root: Path) -> None:
    (root / "image.png").write_bytes(b"x")
    (root / ".git").mkdir()
    others = ["image.png", ".git", ".git/HEAD", ".obsidian/workspace", "a.md~", ".#a.md", "gone.tmp/.x"]
    assert not is_about_notes(str(root), [str(root / each) for each in others])
    for path in ("v1.0", "v1.0/a.md", "gone", "gone.d", ".biemignore"):
        assert is_about_notes(str(root), [str(root / path)]), path


@pytest.mark.parametrize("replaced", [False, True], ids=["unmounted", "replaced"])
def test_a_folder_that_vanishes_ends_the_watch(root: Path, changes: Iterator[bool], *, replaced: bool) -> None:
    shutil.move(root, root.parent / "away")
    if replaced:
        root.mkdir()
    with pytest.raises(StoreUnavailable, match="watched again later"):
        list(changes)


def test_a_missing_folder_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="cannot be read"):
        next(SystemFolderEvents().changes(str(tmp_path / "none"), threading.Event()))


def test_a_network_file_system_is_recognised_by_its_mount(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "30 22 0:40 / /srv/shared\\040notes rw - nfs4 host:/x rw\n"
        "31 30 8:2 / /srv/shared\\040notes/local rw - ext4 /dev/sdb1 rw\n"
        "broken line\n"
    )
    assert remote_system("/srv/shared notes/a", mounts) == "nfs4"
    assert remote_system("/srv/shared notes/local/b", mounts) == ""
    assert remote_system("/srv/shared notes2", mounts) == ""
    assert remote_system("/srv", tmp_path / "none") == ""


def test_without_a_watch_left_the_error_names_the_limit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> object:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr("biem.adapters.files.folder_events.RustNotify", full)
    with pytest.raises(StoreUnavailable, match=r"limit reached.*scans only.*max_user_watches"):
        next(SystemFolderEvents().changes(str(root), threading.Event()))
