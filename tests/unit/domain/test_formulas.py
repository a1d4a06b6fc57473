"""The designs' formulas, against the numbers of their documents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.designs.formulas import (
    aimate_score,
    biem_score,
    frequency_factor,
    importance_factor,
    notes_score,
    squared_shares,
    time_factor,
)
from biem.domain.policies.designs import FormulaPolicy

share = st.floats(0.0, 1.0)


@pytest.mark.req("B46", partly="in the profile biem; the default adds activation to log-odds")
@pytest.mark.parametrize(
    ("vector", "activation", "score"),
    [
        (0.9, 1.0, 0.93),
        (0.8, 0.5, 0.71),
        (0.0, 0.5, 0.15),  # found by links alone
        (0.0, 0.25, 0.075),
        (0.6, 0.0, 0.42),  # nothing leads to it
        (1.0, 1.0, 1.0),
        (0.0, 0.0, 0.0),
    ],
)
def test_biem_fuses_likeness_and_activation(vector: float, activation: float, score: float) -> None:
    # Given both / When they are fused / Then it is 0.7 of the one and 0.3 of the other
    assert biem_score(vector, activation) == pytest.approx(score, abs=1e-12)


@pytest.mark.req("G46", partly="the formula; notes themselves come later")
@pytest.mark.parametrize(
    ("bm25", "content", "tag", "score"),
    [(1.0, 0.0, 0.0, 0.3), (0.0, 1.0, 0.0, 0.4), (0.0, 0.0, 1.0, 0.3), (1.0, 1.0, 1.0, 1.0), (0.5, 0.6, 0.2, 0.45)],
)
def test_notes_weigh_words_content_and_tags(bm25: float, content: float, tag: float, score: float) -> None:
    # Given the three / When they are weighed / Then it is 0.3, 0.4 and 0.3 of them
    assert notes_score(bm25, content, tag) == pytest.approx(score, abs=1e-12)


@pytest.mark.req("G46", partly="configurable weights that sum to 1")
def test_weights_that_do_not_sum_to_one_are_refused() -> None:
    # Given weights / When they sum to one / Then they move the score, else no one may use them
    towards_tags = FormulaPolicy(notes_bm25=0.1, notes_content=0.1, notes_tag=0.8)
    assert notes_score(1.0, 0.0, 0.2, towards_tags) < notes_score(0.0, 0.0, 1.0, towards_tags)
    with pytest.raises(ValueError, match="sum to 1"):
        FormulaPolicy(notes_tag=0.5)
    with pytest.raises(ValueError, match="sum to 1"):
        FormulaPolicy(biem_vector=0.6)
    with pytest.raises(ValueError, match="shares"):
        FormulaPolicy(biem_vector=-0.3, biem_activation=1.3)
    with pytest.raises(ValueError, match="nothing could be found"):
        FormulaPolicy(aimate_vector=False, aimate_keyword=False)


@pytest.mark.req("H30")
def test_activations_are_squared_and_normalised() -> None:
    # Given activations / When they are normalised / Then each has a²/Σa²
    assert squared_shares({"a": 1.0, "b": 0.5, "c": 0.5}) == pytest.approx({"a": 4 / 6, "b": 1 / 6, "c": 1 / 6})
    assert squared_shares({"a": 3.0}) == {"a": 1.0}
    assert squared_shares({"a": 0.0}) == squared_shares({}) == {}


@given(st.dictionaries(st.text(max_size=3), st.floats(0.0, 1e300), max_size=9))
def test_shares_of_activation_sum_to_one_whatever_their_size(activation: dict[str, float]) -> None:
    # Given any activations / When they are normalised / Then the shares sum to 1, in the order of the activations
    shares = squared_shares(activation)
    assert not shares or sum(shares.values()) == pytest.approx(1.0)
    for a in shares:
        for b in shares:
            assert activation[a] < activation[b] or shares[a] >= shares[b]


@pytest.mark.req("M39")
@pytest.mark.parametrize(("days", "factor"), [(0, 1.0), (30, 0.95), (60, 0.9025), (15, 0.9746794345), (-5, 1.0)])
def test_thirty_days_leave_ninety_five_hundredths(days: float, factor: float) -> None:
    # Given an age / When it is weighed / Then it is 0.95 per 30 days, and the future is today
    assert time_factor(days) == pytest.approx(factor, abs=1e-9)


@pytest.mark.req("M40")
@pytest.mark.parametrize(("importance", "factor"), [(1, 0.84), (2, 0.88), (3, 0.92), (4, 0.96), (5, 1.0)])
def test_importance_lifts_by_a_fifth_at_most(importance: float, factor: float) -> None:
    assert importance_factor(importance) == pytest.approx(factor, abs=1e-12)


@pytest.mark.req("M41")
@pytest.mark.parametrize(("count", "factor"), [(0, 1.0), (9, 1.1), (99, 1.2), (999, 1.3)])
def test_frequency_lifts_by_its_logarithm(count: int, factor: float) -> None:
    assert frequency_factor(count) == pytest.approx(factor, abs=1e-12)


@pytest.mark.req("M38", "X41", partly="X41: this formula")
def test_aimate_multiplies_all_four_and_each_of_them_counts() -> None:
    # Given a memory of 30 days, importance 5, returned nine times / When it is scored / Then all four are multiplied
    assert aimate_score(0.8, 30, 5, 9) == pytest.approx(0.8 * 0.95 * 1.0 * 1.1, abs=1e-12)

    # And each input changes the score
    assert aimate_score(0.7, 30, 5, 9) < aimate_score(0.8, 30, 5, 9)
    assert aimate_score(0.8, 60, 5, 9) < aimate_score(0.8, 30, 5, 9)
    assert aimate_score(0.8, 30, 4, 9) < aimate_score(0.8, 30, 5, 9)
    assert aimate_score(0.8, 30, 5, 8) < aimate_score(0.8, 30, 5, 9)


@pytest.mark.req("M21", partly="time weight")
def test_without_time_weight_age_does_not_count() -> None:
    policy = FormulaPolicy(aimate_time_weight=False)
    assert aimate_score(0.5, 3_000, 3, 0, policy) == aimate_score(0.5, 0, 3, 0, policy)


@given(share, share, share)
def test_formulas_of_shares_are_shares(a: float, b: float, c: float) -> None:
    # Given likenesses in [0, 1] / When they are weighed / Then the score is, too
    assert 0.0 <= biem_score(a, b) <= 1.0 + 1e-12
    assert 0.0 <= notes_score(a, b, c) <= 1.0 + 1e-12
