"""What `biem notes sync` tells a script."""

import pytest

from biem.cli.notes import unfinished
from biem.domain.notes.library import ScanOutcome, ScanReport, SyncReport


@pytest.mark.parametrize(
    ("outcomes", "pending", "code"),
    [
        ((), 0, 0),
        (("read", "read"), 0, 0),
        (("read", "unreadable"), 0, 6),
        (("busy",), 0, 6),
        (("read",), 3, 6),
        (("read", "held"), 0, 10),
        (("held", "unreadable"), 0, 6),
        (("elsewhere", "read", "removed"), 0, 0),
    ],
)
def test_one_library_that_was_not_synced_is_an_exit_code(
    outcomes: tuple[ScanOutcome, ...], pending: int, code: int
) -> None:
    report = SyncReport(tuple(ScanReport(library=name, outcome=name) for name in outcomes), pending)
    assert unfinished(report, named=False, wait=True) == code


def test_what_was_not_asked_for_is_no_failure() -> None:
    assert unfinished(SyncReport((), pending=3), named=False, wait=False) == 0
    elsewhere = SyncReport((ScanReport(library="lib", outcome="elsewhere"),))
    assert unfinished(elsewhere, named=True, wait=True) == 6
