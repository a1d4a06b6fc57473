"""Copies that upgrades made are few, named, and deleted when they expire."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from biem.bootstrap.upgrade import automatic_backups, delete_automatic_backups

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def made(home: Path, name: str, age: timedelta) -> Path:
    path = home / "backups" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"everything that was remembered")
    os.utime(path, (moment := (NOW - age).timestamp(), moment))
    return path


@pytest.mark.req("D8", partly="erasing: automatic copies")
def test_copies_are_listed_with_their_end_and_deleted_at_it(tmp_path: Path) -> None:
    # Given three copies, one of which is superfluous, a backup of the user's own, and a copy that was broken off
    surplus, old, new = (made(tmp_path, f"before-000{n}.biem", (9 - n) * DAY) for n in range(3))
    own = made(tmp_path, "mine.biem", 900 * DAY)
    broken_off = made(tmp_path, ".before-0009.biem.77.new", 2 * DAY)
    unfinished = made(tmp_path, ".before-0009.biem.78.new", DAY / 24)
    # When they are listed / Then two are left, until thirty days after they were made
    found = automatic_backups(tmp_path, NOW)
    assert [(one.path, one.expires_at) for one in found] == [
        (str(old), NOW + 22 * DAY),
        (str(new), NOW + 23 * DAY),
    ]
    assert [path.exists() for path in (surplus, broken_off, unfinished, own)] == [False, False, True, True]
    # And each goes when its time has come
    assert [one.path for one in automatic_backups(tmp_path, NOW + 22 * DAY)] == [str(new)]
    assert automatic_backups(tmp_path, NOW + 23 * DAY) == []
    assert list((tmp_path / "backups").iterdir()) == [own]


def test_all_copies_can_be_deleted_at_once(tmp_path: Path) -> None:
    assert delete_automatic_backups(tmp_path) == []
    own = made(tmp_path, "mine.biem", DAY)
    copies = [made(tmp_path, ".before-0002.biem.9.new", DAY), made(tmp_path, "before-0001.biem", DAY)]
    assert sorted(delete_automatic_backups(tmp_path)) == sorted(map(str, copies))
    assert list((tmp_path / "backups").iterdir()) == [own]
