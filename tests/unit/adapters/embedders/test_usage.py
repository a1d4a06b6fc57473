"""Calls of an embedding server are counted, kept now and then, and never lost to an outage."""

import logging

import pytest

from biem.adapters.embedders.usage import CallCounter
from biem.errors import StoreUnavailable


class Ledger:
    """All calls and texts so far; fails while `down`."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, int]] = []
        self.down = False

    def __call__(self, calls: int, texts: int) -> int:
        if self.down:
            raise StoreUnavailable("down")
        self.rows.append((calls, texts))
        return sum(calls for calls, _ in self.rows)


def test_calls_are_kept_every_few_seconds_and_at_the_end() -> None:
    # Given calls before there is a ledger, and a clock
    now = [0.0]
    counter, ledger = CallCounter(lambda: now[0]), Ledger()
    counter.add(1)
    counter.begin(ledger, 0)
    # When more are made within seconds, and one later / Then they are kept in few writes, each call once
    for _ in range(3):
        counter.add(64)
    now[0] = 60.0
    counter.add(2)
    assert ledger.rows == [(2, 65), (3, 130)]
    counter.add(5)
    counter.flush()
    counter.flush()
    assert ledger.rows == [(2, 65), (3, 130), (1, 5)]


def test_calls_counted_during_an_outage_are_kept_after_it() -> None:
    counter, ledger = CallCounter(), Ledger()
    counter.begin(ledger, 0)
    ledger.down = True
    counter.add(3)
    counter.flush()
    ledger.down = False
    counter.flush()
    assert ledger.rows == [(1, 3)]


def test_one_warning_says_that_most_of_the_quota_is_used(caplog: pytest.LogCaptureFixture) -> None:
    counter, ledger = CallCounter(lambda: 0.0), Ledger()
    counter.begin(ledger, 10)
    with caplog.at_level(logging.WARNING, logger="biem.embedder"):
        for made in range(1, 11):
            counter.add(1)
            counter.flush()
            assert len(caplog.records) == (1 if made >= 8 else 0)
    assert "8 of 10 calls" in caplog.text
