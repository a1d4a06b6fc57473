"""Scores of different kinds made comparable."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.rank import bm25, min_max, positive_max

scores = st.dictionaries(st.text(max_size=3), st.floats(-1e6, 1e6), max_size=12)
words = st.sampled_from(["a", "b", "c", "d"])
documents = st.dictionaries(st.integers(0, 30).map(str), st.lists(words, max_size=8), max_size=8)
queries = st.lists(words, max_size=4)


@given(values=scores)
def test_min_max_lies_in_zero_to_one_and_keeps_the_order(values: dict[str, float]) -> None:
    # Given any scores / When they are scaled
    scaled = min_max(values)

    # Then all keys stay, the best is 1, and no order is turned round
    assert scaled.keys() == values.keys()
    assert all(0.0 <= value <= 1.0 for value in scaled.values())
    assert not scaled or max(scaled.values()) == 1.0
    _same_order(values, scaled)


def test_min_max_of_equal_scores_is_one_for_all() -> None:
    # Given scores without differences / When they are scaled / Then none is punished
    assert min_max({"a": 0.4, "b": 0.4}) == {"a": 1.0, "b": 1.0}
    assert min_max({"only": -3.0}) == {"only": 1.0}
    assert min_max({}) == {}
    assert min_max({"a": 1.0, "b": 2.0, "c": 3.0}) == {"a": 0.0, "b": 0.5, "c": 1.0}


@given(values=scores)
def test_dividing_by_the_best_keeps_no_match_at_nothing(values: dict[str, float]) -> None:
    # Given any scores / When they are divided by the best
    scaled = positive_max(values)

    # Then only matches are left, in (0, 1] and in order
    assert scaled.keys() == {key for key, value in values.items() if value > 0.0 and max(values.values()) > 0.0}
    assert all(0.0 <= value <= 1.0 for value in scaled.values())
    assert not scaled or max(scaled.values()) == 1.0
    _same_order({key: values[key] for key in scaled}, scaled)


@given(query=queries, texts=documents)
def test_bm25_scores_exactly_the_documents_that_share_a_word(query: list[str], texts: dict[str, list[str]]) -> None:
    # Given documents / When they are scored
    found = bm25(query, texts)

    # Then those with a word of the query have a finite score above zero, and no others
    assert found.keys() == {key for key, held in texts.items() if set(query) & set(held)}
    assert all(value > 0.0 and math.isfinite(value) for value in found.values())


def test_bm25_is_the_formula() -> None:
    # Given two documents, worked out by hand
    texts = {"x": ["rain", "rain", "sun"], "y": ["sun"]}
    idf = math.log(1 + (2 - 1 + 0.5) / (1 + 0.5))

    # When a word of one is asked for / Then its score is Robertson's
    expected = idf * 2 * 2.2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / 2))
    assert bm25(["rain"], texts) == {"x": pytest.approx(expected)}


@pytest.mark.req("X41", partly="BM25")
def test_every_input_of_bm25_counts() -> None:
    # Given documents that differ in one thing each
    texts = {
        "once": ["rain", "x", "y"],
        "twice": ["rain", "rain", "y"],
        "long": ["rain", *"abcdefgh"],
        "rare": ["quokka", "x", "y"],
    }

    # When they are scored
    found = bm25(["rain", "quokka"], texts)

    # Then frequency raises, length lowers, rarity raises, and order and repeats in the query do not matter
    assert found["twice"] > found["once"] > found["long"]
    assert found["rare"] > found["once"]
    assert bm25(["quokka", "rain", "rain"], texts) == pytest.approx(found)


def _same_order(before: Mapping[str, float], after: Mapping[str, float]) -> None:
    ordered = sorted(before, key=lambda key: before[key])
    values = [after[key] for key in ordered]
    assert values == sorted(values)
