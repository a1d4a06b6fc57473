"""The feed of HotKV: behind the acknowledgement, in order, and settled before anything is erased."""

import threading
from collections.abc import Iterator, Sequence
from typing import cast

import pytest

from biem.domain.scope import Scope
from biem.engine.remember.hot_write_behind import HotFeed
from biem.errors import StoreUnavailable
from biem.ports import HotEntry, HotStore
from tests.support.fakes import eventually

SCOPE = Scope("t", "u")


class Gate:
    """The pushing half of the port `HotStore`, which may be held shut or fail."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()
        self.pushes: list[tuple[Scope, list[HotEntry]]] = []
        self.failure: Exception | None = None

    def push(self, scope: Scope, entries: Sequence[HotEntry], window: int) -> None:
        self.entered.set()
        self.open.wait(60.0)
        if self.failure is not None:
            raise self.failure
        self.pushes.append((scope, list(entries)))


@pytest.fixture
def gate() -> Gate:
    return Gate()


@pytest.fixture
def feed(gate: Gate) -> Iterator[HotFeed]:
    feed = HotFeed(cast(HotStore, gate), window=4)
    yield feed
    gate.open.set()
    feed.close()


def _entry(number: int) -> HotEntry:
    return HotEntry(str(number), f"word{number}")


def test_a_burst_arrives_in_order_in_fewer_pushes(gate: Gate, feed: HotFeed) -> None:
    # Given a burst of texts / When it has settled
    for number in range(100):
        feed.push(SCOPE, [_entry(number)])
    feed.settle()

    # Then all arrived, oldest first, together
    assert [entry.id for _, entries in gate.pushes for entry in entries] == [str(n) for n in range(100)]
    assert len(gate.pushes) < 50


def test_texts_of_two_scopes_are_pushed_apart(gate: Gate, feed: HotFeed) -> None:
    # Given texts of two scopes / When they settle / Then each scope got its own
    other = Scope("t", "other")
    feed.push(SCOPE, [_entry(1)])
    feed.push(other, [_entry(2)])
    feed.settle()
    assert dict(gate.pushes) == {SCOPE: [_entry(1)], other: [_entry(2)]}


def test_a_slow_server_delays_no_writer_but_holds_up_an_erasure(gate: Gate, feed: HotFeed) -> None:
    # Given a push that hangs
    gate.open.clear()
    feed.push(SCOPE, [_entry(1)])
    eventually(gate.entered.is_set)

    # When another text comes and a user wants to erase
    feed.push(SCOPE, [_entry(2)])
    settled = threading.Event()

    def erase() -> None:
        feed.settle()
        settled.set()

    waiter = threading.Thread(target=erase)
    waiter.start()

    # Then the eraser waits until both were pushed
    assert not settled.wait(0.05)
    gate.open.set()
    waiter.join(60.0)
    assert [entry.id for _, entries in gate.pushes for entry in entries] == ["1", "2"]


@pytest.mark.parametrize("failure", [StoreUnavailable("down"), RuntimeError("a bug")])
def test_a_failed_push_is_dropped_and_the_next_arrives(gate: Gate, feed: HotFeed, failure: Exception) -> None:
    # Given a server that fails once
    gate.failure = failure
    feed.push(SCOPE, [_entry(1)])
    feed.settle()

    # When it is back / Then the next text arrives
    gate.failure = None
    feed.push(SCOPE, [_entry(2)])
    feed.settle()
    assert gate.pushes == [(SCOPE, [_entry(2)])]


def test_closing_pushes_what_waits_and_a_second_time_does_nothing(gate: Gate) -> None:
    # Given a text that waits / When the feed is closed twice / Then it arrived once
    feed = HotFeed(cast(HotStore, gate), window=4)
    feed.push(SCOPE, [_entry(1)])
    feed.close()
    feed.close()
    assert gate.pushes == [(SCOPE, [_entry(1)])]
