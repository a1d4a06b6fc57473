"""`Tiers` while the canvas is away: nothing that matters may fail, and nothing may be decided without it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

import numpy as np
import pytest

from biem.config import Settings
from biem.domain.energy import energy_key
from biem.domain.node import Node
from biem.domain.policies.life import TierPolicy
from biem.domain.scope import Scope
from biem.engine.life.tiers import Swept, Tiers
from biem.errors import StoreUnavailable
from biem.ports import Records, Touched
from biem.ports.hot import Canvas, CanvasEntry
from biem.ports.life import LifeRecords
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

SCOPE = Scope("t", "u")
VECTOR = np.ones(4, dtype=np.float32)


class Life:
    """The halves of the ports `Records` and `LifeRecords` that tiers use: a set of hot ids."""

    def __init__(self) -> None:
        self.hot_now: dict[str, set[str]] = {}
        self.touches: list[str] = []
        self.faded: list[tuple[str, str]] = []
        self.asked: list[tuple[str, int]] = []
        self.bare: set[str] = set()
        """Without a vector."""

    def touch(self, scope: Scope, ids: Sequence[str], at: datetime) -> list[Touched]:
        self.touches += ids
        self.hot_now.setdefault(scope.ns, set()).update(ids)
        return [Touched(each, scope.ns, energy_key(0.8, at, 0.1), at, "L1", "L2") for each in ids]

    def fade(self, at: datetime, limit: int) -> list[tuple[str, str]]:
        gone, self.faded = self.faded[:limit], self.faded[limit:]
        for ns, each in gone:
            self.hot_now[ns].discard(each)
        return gone

    def hot_scopes(self, after: str, limit: int) -> list[str]:
        self.asked.append((after, limit))
        return [ns for ns in sorted(self.hot_now) if ns > after and self.hot_now[ns]][:limit]

    def hot_ids(self, ns: str) -> set[str]:
        return set(self.hot_now.get(ns, ()))

    def hot(self, ns: str, at: datetime, limit: int, ids: Sequence[str] | None = None) -> list[CanvasEntry]:
        wanted = [each for each in sorted(self.hot_now.get(ns, ())) if ids is None or each in ids]
        known = [each for each in wanted[:limit] if each not in self.bare]
        return [CanvasEntry(each, energy_key(0.8, at, 0.1), at, "", VECTOR) for each in known]

    def cool(self, ns: str, ids: Sequence[str]) -> int:
        cooled = self.hot_now.get(ns, set()) & set(ids)
        self.hot_now[ns] -= cooled
        return len(cooled)

    def cool_all_but(self, ns: str, ids: Sequence[str], limit: int) -> int:
        return self.cool(ns, sorted(self.hot_now[ns] - set(ids))[:limit])


class Place:
    """The port `Canvas` as a dict without limits, which may be down."""

    def __init__(self) -> None:
        self.down = False
        self.held: dict[str, dict[str, CanvasEntry]] = {}
        self.writes = 0

    def _answer(self) -> None:
        if self.down:
            raise StoreUnavailable("Redis is down")

    def enter(self, ns: str, entries: Sequence[CanvasEntry], at: datetime, *, rebuilt: bool = False) -> list[str]:
        self._answer()
        self.writes += 1
        if rebuilt or ns in self.held:
            self.held.setdefault(ns, {}).update({entry.id: entry for entry in entries})
        return []

    def renew(self, ns: str, touched: Sequence[Touched], at: datetime) -> list[str]:
        self._answer()
        return [each.id for each in touched if each.id not in self.held.get(ns, {})]

    def read(self, ns: str, at: datetime) -> list[CanvasEntry] | None:
        self._answer()
        return list(self.held[ns].values()) if ns in self.held else None

    def ids(self, ns: str) -> set[str] | None:
        self._answer()
        return set(self.held[ns]) if ns in self.held else None

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        self._answer()
        self.writes += 1
        for each in ids:
            self.held.get(ns, {}).pop(each, None)


@pytest.fixture
def life() -> Life:
    return Life()


@pytest.fixture
def place() -> Place:
    return Place()


def build(life: Life, place: Place, **policy: Any) -> Tiers:
    return Tiers(
        records=cast(Records, life),
        life=cast(LifeRecords, life),
        canvas=cast(Canvas, place),
        clock=HeldClock(),
        policy=TierPolicy(**policy),
        telemetry=Telemetry(),
    )


@pytest.mark.req("X50", partly="without the canvas")
def test_accesses_and_feedback_are_counted_although_the_canvas_is_down(life: Life, place: Place) -> None:
    # Given a canvas that is down
    place.down = True
    tiers = build(life, place)

    # When memories are returned, praised and encoded
    touched = tiers.accessed(SCOPE, ["a"])
    rewarded = life.touch(SCOPE, ["b"], START)
    tiers.follow(rewarded)
    tiers.enter([(_node("c"), VECTOR)])

    # Then the records know, and reading says that the canvas is down
    assert [each.id for each in (*touched, *rewarded)] == ["a", "b"]
    assert life.touches == ["a", "b"]
    with pytest.raises(StoreUnavailable):
        tiers.read(SCOPE)


@pytest.mark.req("X13", partly="after an outage")
def test_the_first_sweep_after_an_outage_puts_back_what_became_hot(life: Life, place: Place) -> None:
    # Given memories that became hot, and one that faded, while the canvas was down
    tiers = build(life, place)
    place.down = True
    tiers.accessed(SCOPE, ["a", "b", "old"])
    life.faded = [(SCOPE.ns, "old")]
    assert tiers.sweep() == Swept(1, 0, 1)

    # When it is back and swept
    place.down = False
    swept = tiers.sweep()

    # Then it holds them, and a second sweep writes nothing
    assert swept == Swept(0, 2, 1)
    assert {entry.id for entry in tiers.read(SCOPE)} == {"a", "b"}
    writes = place.writes
    assert tiers.sweep() == Swept(0, 0, 1)
    assert place.writes == writes


def test_nothing_to_do_asks_nothing(life: Life, place: Place) -> None:
    # Given no memories / When nothing is returned, praised or encoded / Then no store is asked
    place.down = True
    tiers = build(life, place)
    assert tiers.accessed(SCOPE, []) == []
    tiers.follow([])
    tiers.enter([])
    assert life.touches == []


def test_one_sweep_looks_at_a_bounded_number_of_scopes_and_the_next_goes_on(life: Life, place: Place) -> None:
    # Given five scopes with hot memories, two of which are looked at in one sweep
    scopes = sorted(Scope("t", str(number)).ns for number in range(5))
    life.hot_now = {ns: {"x"} for ns in scopes}
    tiers = build(life, place, sweep_scopes=2)

    # When four sweeps run / Then each scope has its turn, and the round starts again
    assert [tiers.sweep().scopes for _ in range(4)] == [2, 2, 1, 2]
    assert [after for after, _ in life.asked] == ["", scopes[1], scopes[3], ""]
    assert set(place.held) == set(scopes)


@pytest.mark.parametrize(
    "wrong",
    [{"minimum": 0.0}, {"demote": 0.05}, {"enter": 0.2}, {"promote": 1.1}, {"max_nodes": 0}, {"idle_s": 0.0}],
)
def test_thresholds_out_of_order_are_refused(wrong: dict[str, Any]) -> None:
    # Given a wrong number / When a policy is made of it / Then it says so
    with pytest.raises(ValueError, match=rf"ordered|{next(iter(wrong))}"):
        Settings(tiers=TierPolicy(**wrong))


def _node(memory_id: str) -> Node:
    return Node(
        id=memory_id,
        scope=SCOPE,
        text="x",
        kind="event",
        status="active",
        layer="short_term",
        at=START,
        created_at=START,
        energy=0.9,
        energy_key=energy_key(0.9, START, 0.1),
    )


def test_a_canvas_that_is_just_full_is_kept_and_one_beyond_is_built_again(life: Life, place: Place) -> None:
    # Given a canvas that holds as many as it may, all of them hot
    life.hot_now = {SCOPE.ns: {"a", "b"}}
    tiers = build(life, place, max_nodes=2)
    tiers.sweep()
    writes = place.writes

    # When it is swept / Then nothing is written; and with one more it is
    assert tiers.sweep() == Swept(0, 0, 1)
    assert place.writes == writes
    life.hot_now[SCOPE.ns].add("c")
    assert tiers.sweep() == Swept(1, 2, 1)


def test_what_became_hot_without_a_vector_leaves_again(life: Life, place: Place) -> None:
    # Given a canvas, and two that became hot, one of which this model has no vector of
    tiers = build(life, place)
    life.hot_now = {SCOPE.ns: {"a"}}
    tiers.sweep()
    life.hot_now[SCOPE.ns] |= {"bare", "b"}
    life.bare = {"bare"}

    # When it is swept / Then one is entered, and the other is of L1 no more
    assert tiers.sweep() == Swept(1, 1, 1)
    assert life.hot_now[SCOPE.ns] == {"a", "b"}
    assert {entry.id for entry in tiers.read(SCOPE)} == {"a", "b"}
