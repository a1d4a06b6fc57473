"""What `biem mirror sync` tells a script."""

from typing import Any

import pytest

from biem.cli.files.mirror import unfinished
from biem.domain.mirror.root import MirrorReport, MirrorRoot, MirrorStatus
from biem.domain.scope import Scope


def done(**counts: Any) -> MirrorReport:
    return MirrorReport(root="/m", **counts)


def left(state: str, path: str = "/m") -> MirrorStatus:
    root = MirrorRoot(id="1", scope=Scope(), path=path, kind="user", host="here")
    return MirrorStatus(root, {state: 1}, (("core/a.md", state, "line 2: no value"),))


@pytest.mark.parametrize(
    ("report", "status", "code"),
    [
        (done(files=3, written=1), [], 0),
        (done(troubled=1), [], 10),
        (done(held=20, reason="20 of 21 files are missing"), [], 10),
        (done(reason="/m is no folder that can be read"), [], 6),
        (done(reason="/m is no folder that can be read"), [left("broken")], 6),
        (done(busy=True, reason="another process is syncing it"), [], 6),
        (done(files=3), [left("broken")], 10),
        (done(files=3), [left("refused")], 10),
        (done(files=3), [left("clean")], 0),
        (done(files=3), [left("stranger")], 0),
        (done(files=3), [left("broken", "/another")], 0),
    ],
)
def test_a_folder_or_file_that_was_not_synced_is_an_exit_code(
    report: MirrorReport, status: list[MirrorStatus], code: int
) -> None:
    assert unfinished([report], status) == code


def test_no_folders_are_no_failure() -> None:
    assert unfinished([], []) == 0
