"""The map of a packaged embedder's queries."""

import numpy as np
import pytest

from biem.adapters.embedders.query_map import LowRankMap, query_map
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


def test_a_map_adds_what_lies_on_its_first_factor_along_its_second() -> None:
    down, up = np.zeros((4, 1), np.float32), np.zeros((1, 4), np.float32)
    down[0, 0] = up[0, 1] = 1.0
    found = Found()
    vector = found.embedded(np.eye(4, dtype=np.float32)[[0, 2]], LowRankMap(down, up))
    assert np.allclose(vector, [0.5**0.5, 0.5**0.5, 0.0, 0.0], atol=1e-6)
    # Then what has no part of the first factor stays, and the plain vectors are kept
    assert np.array_equal(found.parts[0], [0.0, 0.0, 1.0, 0.0])
    assert np.array_equal(found.plain[0], [1.0, 0.0, 0.0, 0.0])


def test_without_a_map_vectors_stay_as_they_are() -> None:
    found = Found()
    vector = found.embedded(np.eye(4, dtype=np.float32)[:2], None)
    assert np.array_equal(vector, [1.0, 0.0, 0.0, 0.0])
    assert not found.plain
