"""The port `Files` on a folder of a disk."""

import os
from pathlib import Path

import pytest

from biem.adapters.files.tree import FolderFiles
from biem.domain.note import FileStat, SkippedNote
from biem.errors import StoreUnavailable
from biem.ports.files import FileContent, Files, Walk

FILES: Files = FolderFiles()
MOST = 1_000


def written(root: Path, *paths: str, text: str = "# a\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")


def paths(walk: Walk) -> list[str]:
    return [file.path for file in walk.files]


def skipped(walk: Walk) -> dict[str, str]:
    return {one.path: one.reason for one in walk.skipped}


# -- walk --------------------------------------------------------------------------------------------------------------


def test_markdown_files_are_found_at_any_depth_sorted_with_their_stat(tmp_path: Path) -> None:
    written(tmp_path, "b.md", "a/deep/er/c.markdown", "a/D.MD", "x.txt", "y.mdx", "z.mdxx", "武器/法器/剑.md")
    found = FILES.walk(str(tmp_path))
    assert paths(found) == ["a/D.MD", "a/deep/er/c.markdown", "b.md", "y.mdx", "武器/法器/剑.md"]
    about = (tmp_path / "b.md").stat()
    assert found.files[2] == FileStat("b.md", 4, about.st_mtime_ns, about.st_ino)
    assert found.skipped == ()


def test_hidden_temporary_and_conflicting_files_are_left_out(tmp_path: Path) -> None:
    written(
        tmp_path,
        "kept.md",
        ".hidden.md",
        ".obsidian/a.md",
        ".git/a.md",
        "x/.trash/a.md",
        ".#lock.md",
        "~$word.md",
        "old~/a.md",
        "#auto.md#",
        "a.sync-conflict-20240502-101112-ABC.md",
        "a (Ann's conflicted copy 2024-05-02).md",
        "a (小王的冲突副本 2024-05-02).md",
        "a（小王 的冲突副本）.md",
        "a (SFConflict ann@example.org 2024-05-02-10-11-12).md",
        "a (NSConflict-ann-sv3-1).md",
        "a_conflict-20240502-101112.md",
        "conflict 2024.md",
        "kept (Case Conflict).md",
        "on conflicted copies.md",
    )
    found = FILES.walk(str(tmp_path))
    assert paths(found) == ["conflict 2024.md", "kept (Case Conflict).md", "kept.md", "on conflicted copies.md"]
    assert found.skipped == ()


def test_folders_that_programs_fill_are_left_out_unless_they_are_taken_back(tmp_path: Path) -> None:
    written(
        tmp_path,
        "node_modules/lib/README.md",
        "site/node_modules/a.md",
        "logseq/bak/pages/Tea/2024-05-02.md",
        "graph/logseq/version-files/local/a.md",
        "logseq/notes.md",
        "bak/a.md",
        "pages/node_modules.md",
    )
    assert paths(FILES.walk(str(tmp_path))) == ["bak/a.md", "logseq/notes.md", "pages/node_modules.md"]
    # A pattern of the owner takes a folder back, in an ignore file or from the caller
    written(tmp_path, "site/.biemignore", text="!node_modules/\n")
    assert "site/node_modules/a.md" in paths(FILES.walk(str(tmp_path)))
    assert "node_modules/lib/README.md" in paths(FILES.walk(str(tmp_path), ["!/node_modules/"]))


def test_a_folder_whose_ignore_files_are_not_obeyed_has_plain_markdown_only(tmp_path: Path) -> None:
    written(tmp_path, "a.md", "b.mdx", "node_modules/c.md")
    assert paths(FILES.walk(str(tmp_path), obey=False)) == ["a.md", "node_modules/c.md"]


def test_ignore_files_and_the_callers_patterns_hide(tmp_path: Path) -> None:
    written(
        tmp_path, "a.md", "build/a.md", "drafts/a.md", "drafts/keep.md", "sub/a.md", "sub/b.md", "sub/own/c.md", "z.md"
    )
    written(tmp_path, ".gitignore", text="/a.md\nbuild/\n[\n")
    written(tmp_path, ".biemignore", text="drafts/*\n!drafts/keep.md\n")
    written(tmp_path, "sub/.gitignore", text="b.md\n")
    found = FILES.walk(str(tmp_path), ["z.*", "own/"])
    assert paths(found) == ["drafts/keep.md", "sub/a.md"]


def test_a_nearer_ignore_file_decides(tmp_path: Path) -> None:
    written(tmp_path, "sub/a.md", "a.md")
    written(tmp_path, ".gitignore", text="a.md\n")
    written(tmp_path, "sub/.gitignore", text="!a.md\n")
    assert paths(FILES.walk(str(tmp_path))) == ["sub/a.md"]


def test_links_that_lead_outside_and_links_to_folders_are_skipped(tmp_path: Path) -> None:
    # Given links of all kinds
    written(tmp_path, "out/secret.md", "out/folder/a.md", "root/a.md", "root/folder/b.md")
    root = tmp_path / "root"
    (root / "secret.md").symlink_to("../out/secret.md")
    (root / "other").symlink_to(tmp_path / "out" / "folder")
    (root / "again").symlink_to(root / "folder")
    (root / "alias.md").symlink_to("folder/b.md")
    (root / "lost.md").symlink_to("nowhere.md")
    (root / "loop.md").symlink_to("loop.md")
    # When the folder is walked
    found = FILES.walk(str(root))
    # Then only the file within is followed
    assert paths(found) == ["a.md", "alias.md", "folder/b.md"]
    assert "leads outside" in skipped(found)["secret.md"]
    assert "link to a folder" in skipped(found)["other/"]
    assert set(skipped(found)) - {"loop.md"} == {"secret.md", "other/", "again/"}


def test_what_is_no_file_is_no_note(tmp_path: Path) -> None:
    (tmp_path / "folder.md").mkdir()
    os.mkfifo(tmp_path / "pipe.md")
    assert FILES.walk(str(tmp_path)) == Walk(())
    assert FILES.read(str(tmp_path), "pipe.md", MOST) is None


def test_a_name_that_is_not_unicode_is_skipped(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.md"
    with open(name, "wb") as stream:  # noqa: PTH123 - a Path of bytes there is none
        stream.write(b"# a")
    found = FILES.walk(str(tmp_path))
    assert found.files == ()
    assert "not valid Unicode" in skipped(found)["caf\\udce9.md"]


def test_names_that_differ_in_case_or_form_are_files_each(tmp_path: Path) -> None:
    written(tmp_path, "tea.md", "Tea.md", "caf\u00e9.md", "cafe\u0301.md")
    assert len(FILES.walk(str(tmp_path)).files) == 4


def test_a_root_that_is_missing_or_no_folder_is_an_outage(tmp_path: Path) -> None:
    written(tmp_path, "file.md")
    for root in (tmp_path / "missing", tmp_path / "file.md"):
        with pytest.raises(StoreUnavailable, match="mount it"):
            FILES.walk(str(root))


def test_what_may_not_be_read_is_skipped_and_a_root_is_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given a folder that may not be listed; the tests may run as a user to whom nothing is forbidden
    written(tmp_path, "a.md", "closed/b.md")
    listed = os.scandir

    def refusing(path: "os.PathLike[str]") -> object:
        if str(path).rstrip("/").endswith(closed):
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "scandir", refusing)
    # When it lies below the root / Then it is skipped; when it is the root / Then nothing is known of its files
    closed = "closed"
    found = FILES.walk(str(tmp_path))
    assert paths(found) == ["a.md"]
    assert "permission" in skipped(found)["closed/"]
    closed = tmp_path.name
    with pytest.raises(StoreUnavailable, match="Permission denied"):
        FILES.walk(str(tmp_path))


# -- read --------------------------------------------------------------------------------------------------------------


def test_reading_gives_the_bytes_and_the_stat_of_the_walk(tmp_path: Path) -> None:
    written(tmp_path, "x/a.md", text="# 茶\n")
    (file,) = FILES.walk(str(tmp_path)).files
    assert FILES.read(str(tmp_path), "x/a.md", MOST) == FileContent(file, "# 茶\n".encode())


def test_a_file_that_is_gone_or_became_a_folder_gives_none(tmp_path: Path) -> None:
    (tmp_path / "a.md").mkdir()
    assert FILES.read(str(tmp_path), "a.md", MOST) is None
    assert FILES.read(str(tmp_path), "b.md", MOST) is None


def test_more_bytes_than_allowed_are_not_read(tmp_path: Path) -> None:
    written(tmp_path, "a.md", text="x" * (MOST + 1))
    found = FILES.read(str(tmp_path), "a.md", MOST)
    assert isinstance(found, SkippedNote)
    assert (found.rule, "1,001 bytes" in found.reason) == ("too-large", True)


@pytest.mark.parametrize("path", ["../secret.md", "link.md", "folder/../../secret.md"])
def test_nothing_outside_of_the_root_is_opened(tmp_path: Path, path: str) -> None:
    written(tmp_path, "secret.md", "root/folder/a.md")
    (tmp_path / "root" / "link.md").symlink_to("../secret.md")
    found = FILES.read(str(tmp_path / "root"), path, MOST)
    assert isinstance(found, SkippedNote)
    assert "leads outside" in found.reason


@pytest.mark.parametrize("how", ["written", "replaced", "deleted"])
def test_a_file_that_changes_while_it_is_read_gives_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    # Given a file / When a writer comes between opening and the end of reading
    written(tmp_path, "a.md")
    file, opened = tmp_path / "a.md", os.fdopen

    def meanwhile(handle: int, mode: str) -> object:
        if how == "written":
            file.write_text("# b\n", encoding="utf-8")
            os.utime(file, ns=(1, 1))
        elif how == "replaced":
            written(tmp_path, "b.md")
            (tmp_path / "b.md").replace(file)
        else:
            file.unlink()
        return opened(handle, mode)

    monkeypatch.setattr(os, "fdopen", meanwhile)
    # Then the next scan has to look at it
    assert FILES.read(str(tmp_path), "a.md", MOST) is None


def test_reading_changes_nothing(tmp_path: Path) -> None:
    written(tmp_path, "x/a.md")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for file in FILES.walk(str(tmp_path)).files:
        FILES.read(str(tmp_path), file.path, MOST)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_the_top_is_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert FILES.top(str(tmp_path / "link")) == str((tmp_path / "real").resolve())
    with pytest.raises(StoreUnavailable, match="mount it"):
        FILES.top(str(tmp_path / "missing"))


def test_stats_are_those_of_files_that_are_there(tmp_path: Path) -> None:
    written(tmp_path, "b.md", "武器/剑.md", "folder.md/inside.md")
    (tmp_path / "link.md").symlink_to("b.md")
    asked = ["武器/剑.md", "gone.md", "link.md", "folder.md", "b.md", "", "b\0.md"]
    found = FILES.stats(str(tmp_path), asked)
    assert list(found) == [file for file in FILES.walk(str(tmp_path)).files if file.path in ("b.md", "武器/剑.md")]
