"""Inertia saved behind the caller: who saved sees it at once, and what removes or lists it comes after it."""

import threading
from collections.abc import Collection, Iterator, Mapping

import numpy as np
import pytest

from biem.domain.scope import Scope
from biem.engine.aim.inertia_write_behind import InertiaWriteBehind
from biem.errors import StoreUnavailable
from biem.ports.hot import InertiaState
from tests.support import aim_fakes

HERE = Scope(user="ann")


def state(value: float) -> InertiaState:
    return InertiaState(np.array([value], dtype=np.float32))


class Held(aim_fakes.InertiaStore):
    """InertiaStore whose server takes its time, or is down."""

    def __init__(self) -> None:
        super().__init__()
        self.let = threading.Event()
        self.begun = threading.Event()
        self.down = False
        self.saved: list[InertiaState] = []

    def save(self, scope: Scope, conversation: str, state: InertiaState, *, most: int, ttl_s: float) -> None:
        self.begun.set()
        assert self.let.wait(60)
        if self.down:
            raise StoreUnavailable("down")
        self.saved.append(state)
        super().save(scope, conversation, state, most=most, ttl_s=ttl_s)

    def all(self, scope: Scope) -> Mapping[str, InertiaState]:
        return {name: one for (ns, name), one in self.kept.items() if ns == scope.ns}

    def forget(self, spaces: Collection[str]) -> None:
        self.kept.clear()

    def count(self, spaces: Collection[str]) -> int:
        return sum(key[0] in spaces for key in self.kept)

    def close(self) -> None:
        raise AssertionError("whoever made it closes it")


@pytest.fixture
def held() -> Held:
    return Held()


@pytest.fixture
def feed(held: Held) -> Iterator[InertiaWriteBehind]:
    opened = InertiaWriteBehind(held)
    yield opened
    held.let.set()
    opened.close()
    opened.close()


def save(feed: InertiaWriteBehind, conversation: str, value: float) -> InertiaState:
    given = state(value)
    feed.save(HERE, conversation, given, most=9, ttl_s=9.0)
    return given


def test_who_saved_sees_it_before_it_has_arrived_and_of_several_only_the_newest_follows(
    held: Held, feed: InertiaWriteBehind
) -> None:
    # Given a server that takes its time
    first = save(feed, "c", 1.0)
    assert held.begun.wait(60)
    assert feed.load(HERE, "c") is first
    assert held.kept == {}

    # When more is saved meanwhile / Then that is seen, and the newest is what is there in the end
    save(feed, "c", 2.0)
    newest = save(feed, "c", 3.0)
    assert feed.load(HERE, "c") is newest
    held.let.set()
    assert feed.all(HERE) == {"c": newest}
    assert held.saved == [first, newest]
    assert feed.load(HERE, "c") is newest


def test_what_is_forgotten_stays_forgotten_though_it_was_on_its_way(held: Held, feed: InertiaWriteBehind) -> None:
    # Given inertia_store on their way / When the scope is forgotten / Then none arrives afterwards
    for name in "abc":
        save(feed, name, 1.0)
    assert held.begun.wait(60)
    forgetting = threading.Thread(target=feed.forget, args=([HERE.ns],))
    forgetting.start()
    held.let.set()
    forgetting.join(60)
    assert len(held.saved) == 3
    assert (feed.count([HERE.ns]), held.kept) == (0, {})
    assert feed.load(HERE, "a") == InertiaState()


def test_an_outage_is_shown_and_costs_the_heading_only(
    held: Held, feed: InertiaWriteBehind, caplog: pytest.LogCaptureFixture
) -> None:
    # Given a server that hangs, and inertia_store that wait for it / When it turns out to be down
    held.down = True
    for name in "cde":
        save(feed, name, 1.0)
    assert held.begun.wait(60)
    held.let.set()

    # Then this is shown once, no caller waits for each of them, and what is saved later arrives
    assert feed.count([HERE.ns]) == 0
    assert caplog.text.count("stored in this process only") == 1
    held.down = False
    later = save(feed, "c", 2.0)
    assert feed.all(HERE) == {"c": later}


def test_what_is_on_its_way_arrives_before_the_end_and_nothing_is_taken_afterwards(held: Held) -> None:
    feed = InertiaWriteBehind(held)
    given = save(feed, "c", 1.0)
    held.let.set()
    feed.close()
    assert held.saved == [given]
    assert feed.count([HERE.ns]) == 1
    with pytest.raises(StoreUnavailable, match="closed"):
        save(feed, "c", 2.0)
    assert feed.load(HERE, "c") is given
