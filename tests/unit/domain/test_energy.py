"""The arithmetic of energy."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from biem.domain.designs.aim import mirror_weight
from biem.domain.designs.formulas import time_factor
from biem.domain.energy import energy_at, energy_key, hours_since_epoch, indicator, initial_energy, key_threshold
from biem.domain.policies.aim import AimPolicy
from tests.support.fakes import START

RATE = 0.1
energies = st.floats(0.0, 1.0)
alive = st.floats(1e-6, 1.0)
moments = st.integers(0, 10 * 365 * 86_400).map(lambda seconds: START + timedelta(seconds=seconds))
spans = st.integers(0, 5 * 365 * 86_400).map(lambda seconds: timedelta(seconds=seconds))


@pytest.mark.req("B33")
@pytest.mark.parametrize(("hours", "factor"), [(0, 1.0), (1, 0.904837), (6.931472, 0.5), (24, 0.090718), (10_000, 0.0)])
def test_energy_fades_by_a_tenth_per_hour_not_per_second(hours: float, factor: float) -> None:
    # Given a memory of energy 0.8 / When hours go by / Then it has what the law leaves
    assert energy_at(0.8, START, START + timedelta(hours=hours), RATE) == pytest.approx(0.8 * factor, abs=1e-6)


@pytest.mark.req("C1", partly="three of four; the strength of links falls by runs of forgetting, see there")
def test_what_fades_fades_by_its_own_law() -> None:
    # Given a day without a write, and a write without time
    day, one_later = START + timedelta(days=1), 1

    # Then energy falls with hours alone, w with writes alone, and what a ranking makes of age with days
    assert energy_at(0.8, START, day, RATE) == pytest.approx(0.8 * math.exp(-2.4))
    assert mirror_weight(one_later, AimPolicy()) == pytest.approx(0.8)
    assert time_factor(30.0) == pytest.approx(0.95)
    assert energy_at(0.8, START, START, RATE) == 0.8
    assert mirror_weight(0, AimPolicy()) == time_factor(0.0) == 1.0


@pytest.mark.req("B33")
@pytest.mark.req("X6", partly="evaluating keeps no state")
@given(anchor=energies, first=spans, sweeps=st.lists(st.floats(0, 1), max_size=8))
def test_looking_many_times_is_looking_once(anchor: float, first: timedelta, sweeps: list[float]) -> None:
    # Given energy that is evaluated at any moments before an instant, each time from what was read the last time
    energy, at = anchor, START
    for moment in [START + first * share for share in sorted(sweeps)] + [START + first]:
        energy, at = energy_at(energy, at, moment, RATE), moment

    # When it is compared with the law, which knows of no looking / Then it is the same
    hours = first.total_seconds() / 3600
    assert energy == pytest.approx(anchor * math.exp(-0.1 * hours), rel=1e-6, abs=1e-12)


@pytest.mark.req("C20", partly="anchor pairs")
@given(anchor=alive, first=st.floats(0, 200), second=st.floats(0, 200))
def test_moving_the_anchor_loses_and_gains_nothing(anchor: float, first: float, second: float) -> None:
    # Given a moment between two others
    middle = START + timedelta(hours=first)
    end = middle + timedelta(hours=second)

    # When the pair is rewritten there
    moved = energy_at(energy_at(anchor, START, middle, RATE), middle, end, RATE)

    # Then the energy at the end is the same
    assert moved == pytest.approx(energy_at(anchor, START, end, RATE), rel=1e-6, abs=1e-12)


@given(anchor=energies, at=moments, span=spans, rate=st.floats(0, 5))
def test_energy_lies_between_zero_and_its_anchor_and_never_rises(
    anchor: float, at: datetime, span: timedelta, rate: float
) -> None:
    # Given any energy / When time goes by
    now, later = energy_at(anchor, at, at + span, rate), energy_at(anchor, at, at + 2 * span, rate)

    # Then it fades within its bounds
    assert 0.0 <= later <= now <= anchor


def test_energy_is_cut_at_one() -> None:
    assert energy_at(1.01, START, START, RATE) == 1.0


@given(anchor=energies, at=moments, span=spans)
def test_a_clock_that_ran_backwards_does_not_raise_energy(anchor: float, at: datetime, span: timedelta) -> None:
    # Given an anchor in the future / When it is evaluated / Then it is what it was
    assert energy_at(anchor, at, at - span, RATE) == anchor


@pytest.mark.req("D3", partly="the order never changes")
@given(first=alive, second=alive, at=moments, gap=spans, later=spans, rate=st.floats(0.001, 1))
def test_the_key_orders_energies_at_every_later_instant(
    first: float, second: float, at: datetime, gap: timedelta, later: timedelta, rate: float
) -> None:
    # Given two memories anchored at different times
    keys = energy_key(first, at, rate), energy_key(second, at + gap, rate)
    assume(abs(keys[0] - keys[1]) > 1e-6 * max(1.0, abs(keys[0])))

    # When both are looked at later
    moment = at + gap + later
    values = energy_at(first, at, moment, rate), energy_at(second, at + gap, moment, rate)

    # Then the greater key has no less energy
    assert (values[0] >= values[1]) if keys[0] > keys[1] else (values[0] <= values[1])


@pytest.mark.req("D3", partly="below θ is a range query")
@given(anchor=alive, at=moments, span=spans, theta=st.sampled_from([0.05, 0.1, 0.3, 0.5, 0.7, 1.0]))
def test_below_a_threshold_is_a_range_of_keys(anchor: float, at: datetime, span: timedelta, theta: float) -> None:
    # Given a memory and an instant
    now = at + span
    energy = energy_at(anchor, at, now, RATE)
    assume(abs(energy - theta) > 1e-6)

    # When the key is compared with the threshold / Then that is comparing energies
    assert (energy_key(anchor, at, RATE) < key_threshold(theta, now, RATE)) == (energy < theta)


def test_energy_zero_has_a_key_below_every_threshold() -> None:
    # Given a dead memory / When thresholds of now and in a century are asked / Then it lies below
    for years in (0, 100):
        now = START + timedelta(days=365 * years)
        assert energy_key(0.0, START, RATE) < key_threshold(0.01, now, RATE)


@pytest.mark.req("B57")
@pytest.mark.parametrize(
    ("energy", "drawn"),
    [(1.0, "●"), (0.7001, "●"), (0.7, "○"), (0.5, "○"), (0.3001, "○"), (0.3, "◌"), (0.0, "◌")],
)
def test_the_indicator_has_its_boundaries(energy: float, drawn: str) -> None:
    # Given an energy / When it is drawn / Then the band is that of the design
    assert indicator(energy) == drawn


@pytest.mark.req("C26", "B39")
@pytest.mark.parametrize(
    ("importance", "reason", "expected"),
    [
        (3.0, "", 0.6),
        (3.0, "he told me so himself this morning", 0.7),
        (3.0, "他今天早上亲口告诉我的", 0.7),
        (3.0, "ok", 0.5),
        (3.0, "   ", 0.6),
        (5.0, "he told me so himself this morning", 1.0),
        (1.0, "", 0.2),
        (1.0, "hm", 0.1),
    ],
)
def test_a_new_memory_starts_with_what_its_importance_and_reason_are_worth(
    importance: float, reason: str, expected: float
) -> None:
    # Given an importance and a reason / When energy is estimated / Then both count, within bounds
    assert initial_energy(importance, reason) == pytest.approx(expected)


@pytest.mark.req("B39", "X41", partly="bounded, deterministic, growing with importance")
@given(low=st.floats(1, 5), high=st.floats(1, 5), reason=st.text(max_size=200))
def test_more_important_is_never_less_alive(low: float, high: float, reason: str) -> None:
    # Given two importances / When both are estimated with one reason
    low, high = min(low, high), max(low, high)
    values = initial_energy(low, reason), initial_energy(high, reason)

    # Then the order holds, within bounds, each time
    assert 0.1 <= values[0] <= values[1] <= 1.0
    assert initial_energy(low, reason) == values[0]
    assert math.isfinite(values[1])


@pytest.mark.parametrize(("first", "weighs"), [("\u2e80", True), ("é", False)])
def test_a_reason_counts_characters_from_the_first_that_is_chinese(first: str, weighs: bool) -> None:
    # Given eight characters without a space / When they are a reason / Then each is one of eight only where it is CJK
    assert (initial_energy(3.0, first * 8) > initial_energy(3.0, "")) == weighs


def test_keys_that_were_stored_stay_comparable_because_their_epoch_never_moves() -> None:
    # Given an instant a day after the start of 2020 / When its key is made / Then it counts from that start
    assert hours_since_epoch(datetime(2020, 1, 2, tzinfo=UTC)) == 24.0
    assert energy_key(1.0, datetime(2020, 1, 2, tzinfo=UTC), RATE) == pytest.approx(2.4)
