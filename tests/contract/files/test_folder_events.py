"""The port `FolderEvents` on folders of a disk."""

import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import pytest

from biem.adapters.files.folder_events import SystemFolderEvents, about_notes, remote_system
from biem.errors import StoreUnavailable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a note."""
    folder = tmp_path / "vault"
    (folder / "v1.0").mkdir(parents=True)
    (folder / "v1.0" / "a.md").write_text("# A\n")
    return folder


@pytest.fixture
def changes(root: Path) -> Iterator[Iterator[frozenset[str]]]:
    """Its changes; quiet for half a second is said."""
    stopped = threading.Event()
    found = SystemFolderEvents(quiet_s=0.5).changes(str(root), stopped)
    assert next(found) == {""}  # watching has begun
    yield found
    stopped.set()
    assert list(found) == []


def until_named(found: Iterator[frozenset[str]], paths: set[str]) -> bool:
    """Whether just these paths are named within twenty messages."""
    named = set[str]()
    for _ in range(20):
        named |= next(found)
        if named >= paths:
            return named == paths
    return False


@pytest.mark.parametrize(
    ("change", "paths"),
    [
        (lambda root: (root / "b.md").write_text("# B\n"), {"b.md"}),
        (lambda root: (root / "v1.0" / "a.md").write_text("# A\n\nmore\n"), {"v1.0/a.md"}),
        (lambda root: (root / "v1.0" / "a.md").rename(root / "moved.md"), {"v1.0/a.md", "moved.md"}),
        (lambda root: (root / "v1.0" / "a.md").unlink(), {"v1.0/a.md"}),
        (lambda root: shutil.rmtree(root / "v1.0"), {"v1.0", "v1.0/a.md"}),
        (lambda root: (root / ".gitignore").write_text("a.md\n"), {".gitignore"}),
    ],
    ids=["new", "changed", "moved", "deleted", "folder-deleted", "ignore-file"],
)
def test_changed_notes_are_named(
    root: Path, changes: Iterator[frozenset[str]], change: Callable[[Path], object], paths: set[str]
) -> None:
    change(root)
    assert until_named(changes, paths)


def test_a_new_folder_is_watched_too(root: Path, changes: Iterator[frozenset[str]]) -> None:
    (root / "new" / "deeper").mkdir(parents=True)
    assert any("new" in next(changes) for _ in range(20))
    (root / "new" / "deeper" / "c.md").write_text("# C\n")
    assert any("new/deeper/c.md" in next(changes) for _ in range(20))


def test_an_idle_watcher_says_that_it_is_alive(changes: Iterator[frozenset[str]]) -> None:
    assert [next(changes), next(changes)] == [frozenset(), frozenset()]


def test_what_is_no_note_is_no_change(root: Path) -> None:
    (root / "image.png").write_bytes(b"x")
    (root / ".git").mkdir()
    others = ["image.png", ".git", ".git/HEAD", ".obsidian/workspace", "a.md~", ".#a.md", "gone.tmp/.x"]
    notes = ["v1.0", "v1.0/a.md", "gone", "gone.d", ".biemignore"]
    assert about_notes(str(root), [str(root / each) for each in (*others, *notes)]) == set(notes)


class Scripted:
    """Says in turn what changed, each time as after the time without changes that it is asked for."""

    def __init__(self, *bursts: Callable[[], str]) -> None:
        """`bursts`: each does something and returns the path; after the last one it is quiet."""
        self.bursts = [*bursts]
        self.steps: list[int] = []

    def __call__(self, *_: object) -> Self:
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def watch(self, _burst: int, step_ms: int, *_: object) -> set[tuple[int, str]] | str:
        self.steps.append(step_ms)
        return {(2, self.bursts.pop(0)())} if self.bursts else "timeout"


def named(root: Path, monkeypatch: pytest.MonkeyPatch, *bursts: Callable[[], str]) -> tuple[frozenset[str], list[int]]:
    """The first paths that are named, and for how long after each burst it was waited for another."""
    script = Scripted(*bursts)
    monkeypatch.setattr("biem.adapters.files.folder_events.RustNotify", script)
    found = SystemFolderEvents().changes(str(root), threading.Event())
    next(found)
    return next(found), script.steps[1:]


def test_an_edit_of_one_file_ends_soon_after_its_last_write(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = root / "v1.0" / "a.md"
    only = frozenset({"v1.0/a.md"})
    assert named(root, monkeypatch, lambda: str(note)) == (only, [25])
    assert named(root, monkeypatch, *[lambda: str(note)] * 4) == (only, [25] * 4)


@pytest.mark.parametrize("first", ["gone", "emptied"])
def test_a_file_that_is_replaced_in_steps_is_waited_for_longer(
    root: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    note = root / "v1.0" / "a.md"

    def removed() -> str:
        note.unlink() if first == "gone" else note.write_text("")
        return str(note)

    def written() -> str:
        note.write_text("# B\n")
        return str(note)

    paths, waits = named(root, monkeypatch, removed, written)
    assert paths == {"v1.0/a.md"}
    assert waits[0] == 200


def test_several_changed_files_are_one_burst(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths, waits = named(root, monkeypatch, lambda: str(root / "gone.md"), lambda: str(root / "v1.0" / "a.md"))
    assert paths == {"gone.md", "v1.0/a.md"}
    assert waits == [200, 200]


@pytest.mark.parametrize("replaced", [False, True], ids=["unmounted", "replaced"])
def test_a_folder_that_vanishes_ends_the_watch(
    root: Path, changes: Iterator[frozenset[str]], *, replaced: bool
) -> None:
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
