"""Ranking by words."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.scores import bm25

words = st.sampled_from(["a", "b", "c", "d"])
documents = st.dictionaries(st.integers(0, 30).map(str), st.lists(words, max_size=8), max_size=8)
queries = st.lists(words, max_size=4)


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
