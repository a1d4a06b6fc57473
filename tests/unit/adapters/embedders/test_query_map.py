"""The map of a packaged embedder's queries."""

import numpy as np
import pytest

from biem.adapters.embedders.query_map import ResidualMap, list_map, map_by_kind, query_map
from biem.engine.recall.rank.pool import Found

PACKAGED = "multilingual-e5-small-q4@1571fc98+centred-ac370b"


def test_a_model_without_a_map_has_none() -> None:
    assert query_map("another-model") is None


@pytest.mark.parametrize("count", [1, 3])
def test_the_packaged_model_has_a_map_that_turns_queries_and_keeps_their_length(count: int) -> None:
    queries = np.random.default_rng(5).standard_normal((count, 384)).astype(np.float32)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    turned = query_map(PACKAGED)
    assert turned is not None
    mapped = turned(queries)
    assert mapped.shape == (count, 384)
    assert mapped.dtype == np.float32
    assert mapped.flags.c_contiguous
    assert np.allclose(np.linalg.norm(mapped, axis=1), 1.0, atol=1e-5)
    moved = np.einsum("ij,ij->i", mapped, queries)
    assert (moved < 0.999).all()
    assert (moved > 0.0).all()
    # and each by itself as in any batch
    assert np.array_equal(turned(queries[:1])[0], mapped[0])


def test_a_map_adds_along_the_second_matrix_what_a_bent_product_with_the_first_gives() -> None:
    down, bias, up = np.zeros((4, 1), np.float32), np.zeros(1, np.float32), np.zeros((1, 4), np.float32)
    down[0, 0], up[0, 1] = 1.0, 2.0
    found = Found()
    vector = found.embedded(np.eye(4, dtype=np.float32)[[0, 2]], ResidualMap(down, bias, up))
    added = 2.0 * np.tanh(1.0)
    assert np.allclose(vector, np.array([1.0, added, 0.0, 0.0]) / np.hypot(1.0, added), atol=1e-6)
    # Then what has no part of the first matrix stays, and the plain vectors are kept
    assert np.array_equal(found.parts[0], [0.0, 0.0, 1.0, 0.0])
    assert np.array_equal(found.plain[0], [1.0, 0.0, 0.0, 0.0])


def test_the_bias_is_added_before_the_bend() -> None:
    down, bias, up = np.zeros((2, 1), np.float32), np.full(1, 0.5, np.float32), np.array([[0.0, 1.0]], np.float32)
    turned = ResidualMap(down, bias, up)(np.array([[1.0, 0.0]], np.float32))
    assert np.allclose(turned, np.array([[1.0, np.tanh(0.5)]]) / np.hypot(1.0, np.tanh(0.5)), atol=1e-6)


def test_without_a_map_vectors_stay_as_they_are() -> None:
    found = Found()
    vector = found.embedded(np.eye(4, dtype=np.float32)[:2], None)
    assert np.array_equal(vector, [1.0, 0.0, 0.0, 0.0])
    assert not found.plain


def test_queries_for_all_things_of_a_kind_are_turned_by_a_separate_map() -> None:
    def odds(queries: np.ndarray) -> np.ndarray:
        return queries[:, 0]

    rows = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]], np.float32)
    turned = map_by_kind(lambda queries: queries.copy(), lambda queries: -queries, odds)
    assert turned is not None
    assert np.array_equal(turned(rows), [[-1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    assert np.array_equal(turned(rows[1:]), rows[1:])


def test_without_a_second_map_or_odds_a_model_has_one_map_for_all() -> None:
    plain = query_map(PACKAGED)
    assert map_by_kind(plain, None, None) is plain
    assert map_by_kind(None, list_map(PACKAGED), lambda rows: rows[:, 0]) is None
    assert list_map("another-model") is None
