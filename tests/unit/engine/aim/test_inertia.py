"""Directions of search: how they move, what they pull, and how λ, γ and K follow a conversation."""

import logging
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.engine.aim.inertia import Inertia, adapted, direction, moved, norm
from biem.errors import StoreUnavailable
from biem.ports import Vector
from biem.ports.hot import InertiaState
from biem.telemetry import Telemetry

SCOPE = Scope(user="inertia")
POLICY = AimPolicy()


def vector(*values: float) -> Vector:
    return np.array(values, dtype=np.float32)


X, Y = vector(1, 0), vector(0, 1)
BETWEEN = vector(0.70710677, 0.70710677)


@pytest.mark.req("A3")
def test_the_direction_is_query_and_inertia() -> None:
    assert direction(X, InertiaState(vector(0.2, 0.4)), 0.5) == pytest.approx([1.1, 0.2], abs=1e-6)
    query = vector(0.1, -0.3)
    assert direction(query, InertiaState(Y), 0.0) is query
    assert direction(query, InertiaState(), 0.5) is query


@pytest.mark.req("A5")
def test_inertia_follows_the_closed_form_and_stays_bit_by_bit_when_nothing_was_selected() -> None:
    first = moved(InertiaState(), [X, Y], 0.85)
    assert first.vector == pytest.approx([0.075, 0.075], abs=1e-6)
    second = moved(first, [X], 0.85)
    assert second.vector == pytest.approx([0.85 * 0.075 + 0.15, 0.85 * 0.075], abs=1e-6)
    assert moved(second, [], 0.85) is second


@pytest.mark.req("A6", "A52", "X41", partly="continuity")
@pytest.mark.parametrize(("strength", "margin"), [(0.0, 0.0), (0.5, 0.1), (0.6, 0.12)])
def test_an_ambiguous_query_is_pulled_into_the_cluster_of_the_last_three(strength: float, margin: float) -> None:
    # Given three queries in cluster X
    state = InertiaState()
    for _ in range(3):
        state = moved(state, [X], 0.85)

    # When one equally far from X and Y follows / Then X is nearer by λ, and a tie without it
    pulled = direction(BETWEEN, state, strength)
    assert float(pulled @ X - pulled @ Y) == pytest.approx(strength * (1 - 0.85**3), abs=1e-6)
    assert float(pulled @ X - pulled @ Y) >= margin


@given(st.lists(st.sampled_from([X, Y, BETWEEN]), max_size=40))
def test_inertia_is_never_longer_than_one(selected: list[Vector]) -> None:
    state = InertiaState()
    for one in selected:
        state = moved(state, [one], 0.85)
    assert 0.0 <= norm(state) <= 1.0 + 1e-6


@pytest.mark.req("A62", partly="the rules")
def test_switching_topics_lowers_lambda_within_bounds_and_staying_raises_it() -> None:
    # Given a conversation that jumps between topics, and one that stays
    jumping = staying = InertiaState()
    jumps, stays = [], []
    for turn in range(60):
        topic = X if turn % 2 else Y
        jumping = adapted(moved(jumping, [topic], 0.1), X if topic is Y else Y, [1], [0], POLICY)
        staying = adapted(moved(staying, [X], 0.85), X, [1], [0], POLICY)
        jumps.append(jumping.strength or 0.0)
        stays.append(staying.strength or 0.0)

    # When λ is looked at / Then it fell and rose, and never left its bounds
    assert jumps[-1] < POLICY.inertia_strength < stays[-1]
    assert all(0.25 * 0.5 <= value <= 1.5 * 0.5 for value in (*jumps, *stays))


@pytest.mark.req("A62", partly="the rules")
@given(
    ages=st.lists(st.integers(0, 100_000), max_size=3),
    places=st.lists(st.integers(0, 127), max_size=3),
    turns=st.integers(1, 30),
)
def test_gamma_and_k_stay_within_bounds(ages: list[int], places: list[int], turns: int) -> None:
    state = InertiaState(X)
    for _ in range(turns):
        state = adapted(state, Y, ages, places, POLICY)
    assert 0.5 <= (state.gamma or 0) <= 0.99
    assert 16 <= (state.cluster or 0) <= 128


@pytest.mark.req("A52", "A62", partly="cost and retention")
def test_k_grows_where_the_last_are_needed_and_gamma_where_old_ones_are() -> None:
    deep = adapted(InertiaState(X), X, [200], [31], POLICY)
    shallow = adapted(InertiaState(X), X, [0], [0], POLICY)
    assert (shallow.cluster or 0) < POLICY.local_cluster_k < (deep.cluster or 0)
    assert (shallow.gamma or 0) < POLICY.weight_decay_gamma < (deep.gamma or 0)


class InertiaStore:
    """The port, in a dictionary, which can be down."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], InertiaState] = {}
        self.down = False
        self.saves = 0

    def _check(self) -> None:
        if self.down:
            raise StoreUnavailable("Redis is down")

    def load(self, scope: Scope, conversation: str) -> InertiaState:
        self._check()
        return self.kept.get((scope.ns, conversation), InertiaState())

    def save(self, scope: Scope, conversation: str, state: InertiaState, *, most: int, ttl_s: float) -> None:
        self._check()
        self.saves += 1
        self.kept[scope.ns, conversation] = state

    def all(self, scope: Scope) -> Mapping[str, InertiaState]:
        self._check()
        return {name: state for (ns, name), state in self.kept.items() if ns == scope.ns}

    def forget(self, spaces: Collection[str]) -> None:
        self.kept = {key: value for key, value in self.kept.items() if key[0] not in spaces}

    def count(self, spaces: Collection[str]) -> int:
        return sum(key[0] in spaces for key in self.kept)

    def close(self) -> None:
        """Holds nothing."""


def inertia(inertia_store: InertiaStore, **policy: Any) -> Inertia:
    return Inertia(inertia_store=inertia_store, policy=replace(POLICY, **policy), telemetry=Telemetry())


def test_while_redis_is_down_a_process_goes_on_with_what_it_knows() -> None:
    # Given a conversation on its way, and Redis gone
    inertia_store = InertiaStore()
    here = inertia(inertia_store)
    here.follow(SCOPE, "c", here.of(SCOPE, "c"), X, [X], [0], [0])
    inertia_store.down = True

    # When it goes on / Then with what it knew, and another process without
    after = here.follow(SCOPE, "c", here.of(SCOPE, "c"), X, [X], [0], [0])
    assert norm(after) == pytest.approx(1 - 0.85**2)
    assert norm(here.of(SCOPE, "c")) == pytest.approx(1 - 0.85**2)
    assert norm(inertia(inertia_store).of(SCOPE, "c")) == 0.0
    here.drop(SCOPE)
    assert norm(here.of(SCOPE, "c")) == 0.0


@pytest.mark.req("A5", "A62", partly="off by default; decisions are logged")
def test_nothing_selected_saves_nothing_and_adapting_is_off_by_default(caplog: pytest.LogCaptureFixture) -> None:
    inertia_store = InertiaStore()
    still = inertia(inertia_store)
    assert still.follow(SCOPE, "c", InertiaState(X), X, [], [], []) == InertiaState(X)
    assert inertia_store.saves == 0
    caplog.set_level(logging.INFO)
    after = still.follow(SCOPE, "c", InertiaState(X), X, [X], [50], [30])
    assert (after.strength, after.gamma, after.cluster) == (None, None, None)
    assert not caplog.text
    after = inertia(inertia_store, adaptive=True).follow(SCOPE, "c", InertiaState(X), X, [X], [50], [30])
    assert after.cluster != POLICY.local_cluster_k
    assert "adapted to λ" in caplog.text
