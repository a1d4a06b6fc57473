"""What a scan does about each file, from stats alone."""

from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.note import FileStat, SkippedNote
from biem.notes.scan import RACY_NS, FileChanges, collisions, compare, is_suspicious, moves
from biem.ports.files import Walk
from biem.ports.notes.known_files import KnownFiles, KnownNote

THEN = 1_000 * RACY_NS
"""When the scan before began."""


def stat(path: str, size: int = 1, mtime_ns: int = 0, inode: int = 1) -> FileStat:
    return FileStat(path, size, mtime_ns, inode)


def known(*files: FileStat) -> KnownFiles:
    return KnownFiles(
        [file.path for file in files],
        [file.size for file in files],
        [file.mtime_ns for file in files],
        [str(file.inode) for file in files],
        [file.path.encode() for file in files],
        [False for _ in files],
    )


@pytest.mark.req("G50", partly="new, changed and vanished files are told apart")
def test_new_changed_and_vanished_files_are_found_and_the_rest_is_left_alone() -> None:
    # Given three known files / When one is changed, one deleted and one added
    before = known(stat("same"), stat("changed"), stat("gone"))
    walk = Walk((stat("changed", size=2), stat("new"), stat("same")))
    # Then each is what it is
    assert compare(walk, before, scanned_ns=THEN) == FileChanges(
        unchanged=(stat("same"),), new=(stat("new"),), changed=(stat("changed", size=2),), vanished=(before["gone"],)
    )


@pytest.mark.parametrize("now", [stat("a", size=2), stat("a", mtime_ns=5), stat("a", inode=2), stat("a", mtime_ns=-5)])
def test_any_difference_of_the_stat_is_a_change(now: FileStat) -> None:
    # An older file that was restored is noticed, too
    assert compare(Walk((now,)), known(stat("a")), scanned_ns=THEN).changed == (now,)


@pytest.mark.parametrize(
    ("mtime_ns", "read"),
    [(THEN - RACY_NS - 1, False), (THEN - RACY_NS, True), (THEN, True), (THEN + 10 * RACY_NS, True)],
)
def test_a_file_written_within_two_seconds_of_its_scan_is_read_again(mtime_ns: int, read: bool) -> None:
    file = stat("a", mtime_ns=mtime_ns)
    assert bool(compare(Walk((file,)), known(file), scanned_ns=THEN).changed) is read


def test_a_file_whose_time_was_set_back_after_its_scan_is_read_again() -> None:
    # Given files of old times that were changed before the last scan and after it
    before, after = FileStat("a", 1, 0, 1, THEN - RACY_NS - 1), FileStat("a", 1, 0, 1, THEN + 1)
    # When they are compared with what is stored, which does not have that moment / Then one of them is read
    assert compare(Walk((before,)), known(stat("a")), scanned_ns=THEN).unchanged == (before,)
    assert compare(Walk((after,)), known(stat("a")), scanned_ns=THEN).changed == (after,)


def test_a_full_scan_reads_all_and_so_does_the_first() -> None:
    walk = Walk((stat("a"),))
    assert compare(walk, known(stat("a")), scanned_ns=THEN, full=True).changed == walk.files
    assert compare(walk, known(stat("a")), scanned_ns=None).changed == walk.files


def test_what_could_not_be_looked_at_has_not_vanished() -> None:
    walk = Walk((), (SkippedNote("secret/", "unreadable", ""), SkippedNote("link.md", "unreadable", "")))
    before = known(stat("secret/deep/a.md"), stat("link.md"), stat("secrets.md"))
    assert compare(walk, before, scanned_ns=THEN).vanished == (before["secrets.md"],)


def test_a_file_that_vanished_here_and_appeared_there_was_moved() -> None:
    gone = [KnownNote(stat(path), content) for path, content in [("a/x.md", b"1"), ("a/y.md", b"1"), ("a/z.md", b"2")]]
    new = {"b/y.md": b"1", "c/w.md": b"1", "d/v.md": b"1", "e/u.md": b"3"}
    assert moves(gone, new) == {"b/y.md": "a/y.md", "c/w.md": "a/x.md"}


def test_files_never_read_are_not_moved() -> None:
    assert moves([KnownNote(stat("a"), b"")], {"b": b""}) == {}


@pytest.mark.parametrize(
    ("vanished", "files", "held"), [(11, 20, True), (10, 20, False), (19, 19, False), (20, 20, True), (0, 0, False)]
)
def test_more_than_half_of_twenty_files_do_not_vanish_unasked(vanished: int, files: int, held: bool) -> None:
    assert is_suspicious(vanished, files) is held


def test_names_that_collide_elsewhere_are_reported_each() -> None:
    found = collisions(["Tea.md", "tea.md", "caf\u00e9.md", "cafe\u0301.md", "x/Tea.md"])
    assert {(finding.path, finding.rule) for finding in found} == {
        (path, "case-collision") for path in ("Tea.md", "tea.md", "caf\u00e9.md", "cafe\u0301.md")
    }
    assert "'Tea.md'" in next(finding.advice for finding in found if finding.path == "tea.md")


FILES = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3)).map(
    lambda files: [stat(path, size) for path, size in sorted(files.items())]
)


@given(FILES, FILES)
def test_every_file_is_in_one_group(before: list[FileStat], now: list[FileStat]) -> None:
    found = compare(Walk(tuple(now)), known(*before), scanned_ns=THEN)
    assert sorted([*found.unchanged, *found.new, *found.changed], key=attrgetter("path")) == now
    gone = {file.stat.path for file in found.vanished}
    assert gone == {file.path for file in before} - {file.path for file in now}
