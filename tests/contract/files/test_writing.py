"""Writing into folders where a person saves at the same time: no byte of theirs is lost."""

from collections.abc import Callable
from pathlib import Path

import pytest

from biem.adapters.files import renaming, writing
from biem.adapters.files.writing import WritableFolder
from biem.domain.note import FileStat
from biem.ports.layers.mirror import FolderUnwritable


def seen(file: Path) -> FileStat:
    """A file as a scan sees it."""
    about = file.stat()
    return FileStat(file.name, about.st_size, about.st_mtime_ns, about.st_ino)


def save(file: Path, text: str) -> None:
    """As most editors save: another file, renamed over it."""
    other = file.with_name("editor.swp")
    other.write_text(text)
    other.replace(file)


def append(file: Path, text: str) -> None:
    """As simple programs write."""
    with file.open("a") as stream:
        stream.write(text)


def needs_the_call(folder: Path) -> None:
    """The race can be closed only where the system has the call, as Linux and macOS do."""
    (folder / "a").touch()
    (folder / "b").touch()
    assert renaming.exchanged(folder / "a", folder / "b")


@pytest.mark.parametrize("saved", [save, append])
def test_what_is_saved_at_the_last_moment_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Callable[[Path, str], None]
) -> None:
    # Given a file that a person saves after it was compared, and before it is replaced
    needs_the_call(tmp_path)
    file = tmp_path / "note.md"
    file.write_text("old\n")
    expected = seen(file)
    calls: list[Path] = []

    def slow(one: Path, other: Path) -> bool:
        if not calls:
            saved(file, "mine\n")
        calls.append(one)
        return renaming.exchanged(one, other)

    monkeypatch.setattr(writing, "exchanged", slow)
    # When it is written / Then it says so, and the person's words stand there
    assert WritableFolder().write(str(tmp_path), "note.md", b"new\n", expected) is None
    assert "mine\n" in file.read_text()
    assert not list(tmp_path.glob(".tmp-*"))
    # And the next write, which has seen them, is done
    monkeypatch.undo()
    done = WritableFolder().write(str(tmp_path), "note.md", b"new\n", seen(file))
    assert done == seen(file)
    assert file.read_text() == "new\n"


@pytest.mark.parametrize("has_call", [True, False])
def test_a_file_that_is_moved_takes_no_name_that_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, has_call: bool
) -> None:
    # Given a system with and without the call
    if not has_call:
        monkeypatch.setattr(renaming, "_call", lambda: None)
    folder = WritableFolder()
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b.md").write_text("b")
    # When a file is moved to a free name / Then it is there; to a taken one, both stay
    assert folder.move(str(tmp_path), "a.md", "deep/c.md")
    assert not folder.move(str(tmp_path), "b.md", "deep/c.md")
    assert {file.name: file.read_text() for file in tmp_path.rglob("*.md")} == {"b.md": "b", "c.md": "a"}
    assert not folder.move(str(tmp_path), "none.md", "d.md")
    # And a changed file is written where it is as it was seen, and only there
    about = seen(tmp_path / "b.md")
    assert folder.write(str(tmp_path), "b.md", b"bb", about) == seen(tmp_path / "b.md")
    assert folder.write(str(tmp_path), "b.md", b"bbb", about) is None
    assert (tmp_path / "b.md").read_text() == "bb"


def test_a_move_that_was_interrupted_is_ended(tmp_path: Path) -> None:
    # Given a file under both names, as a link and a death between leave it
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "c.md").hardlink_to(tmp_path / "a.md")
    # When it is moved again / Then it has the new one
    assert WritableFolder().move(str(tmp_path), "a.md", "c.md")
    assert [file.name for file in tmp_path.iterdir()] == ["c.md"]


@pytest.mark.parametrize("path", ["a.md", "core/deep/a.md"])
def test_a_root_that_was_moved_away_is_not_created_again(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    with pytest.raises(FolderUnwritable):
        WritableFolder().write(str(root), path, b"x", None)
    with pytest.raises(FolderUnwritable):
        WritableFolder().put(str(root), path, b"x")
    assert not root.exists()
    root.mkdir()
    assert WritableFolder().write(str(root), path, b"x", None) is not None
