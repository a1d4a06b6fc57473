"""The promises of `MemoryMap`, on Milvus and on an exact map in memory: either may serve a route."""

import uuid
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pytest

from benchmarks._exact import ExactMap
from biem.adapters.milvus.index import MilvusIndex
from biem.bootstrap import Servers
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.ports import EmbedderInfo, Entry, Filter, Vector, Vectors
from biem.ports.aim import MemoryMap
from tests.contract.conftest import ANY
from tests.support.fakes import START, eventually

DIM, ROWS = 32, 1_000


class Filled(MemoryMap, Protocol):
    """A map that can be filled."""

    def insert(self, entries: Sequence[Entry], *, again: bool) -> None: ...

    def purge(self, ids: Sequence[str]) -> None: ...


@pytest.fixture(scope="module", params=["milvus", "exact"])
def memory_map(request: pytest.FixtureRequest, stack: Servers) -> Iterator[Filled]:
    """Each of the adapters, empty."""
    if request.param == "exact":
        yield ExactMap()
        return
    prefix = f"map_{uuid.uuid4().hex[:8]}"
    info = EmbedderInfo("map-model", DIM, ("mul",), 512)
    index = MilvusIndex(stack.milvus_uri, token="", prefix=prefix, info=info, index_type="auto", timeout_s=30.0)
    index.open()
    yield index
    index.drop()
    index.close()


def vectors(count: int, seed: int) -> Vectors:
    drawn = np.random.default_rng(seed).standard_normal((count, DIM), dtype=np.float32)
    unit: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return unit


def entry(scope: Scope, vector: Vector, speaker: str = "") -> Entry:
    return Entry(new_id(), scope, "word", vector, "event", speaker, "", (), START)


@pytest.mark.req("A23")
@pytest.mark.req("A60", partly="two adapters behind one port and one suite; no load test with a million vectors here")
def test_the_local_cluster_is_the_k_nearest_best_first(memory_map: Filled, scope: Scope) -> None:
    # Given a thousand nodes / When the nearest of twenty directions are asked for
    rows = [entry(scope, vector) for vector in vectors(ROWS, 1)]
    memory_map.insert(rows, again=False)
    matrix = np.stack([row.vector for row in rows])
    found = right = 0
    for direction in vectors(20, 2):
        cluster = memory_map.dense([scope], direction, 32, ANY)
        cosines = matrix @ direction
        nearest = [rows[place].id for place in np.argsort(-cosines)[:32]]

        # Then each has 32, with their cosines, and they are those that brute force finds
        assert len(cluster) == 32
        ranked = sorted(cluster, key=lambda key: -cluster[key])
        places = {row.id: place for place, row in enumerate(rows)}
        assert [cluster[key] for key in ranked] == pytest.approx([cosines[places[key]] for key in ranked], abs=1e-5)
        found += len(set(nearest) & cluster.keys())
        right += len(nearest)
    assert found / right >= (1.0 if isinstance(memory_map, ExactMap) else 0.95)


def test_a_map_knows_scopes_and_conditions_and_what_was_removed(memory_map: Filled, scope: Scope, other: Scope) -> None:
    # Given equal vectors in two scopes, of two speakers
    (east,) = vectors(1, 3)
    ada, ben, stranger = entry(scope, east, "Ada"), entry(scope, east, "Ben"), entry(other, east, "Ada")
    memory_map.insert([ada, ben, stranger], again=False)

    # When it is asked under conditions / Then it tells what fits, and nothing of another scope
    assert set(memory_map.dense([scope], east, 9, ANY)) >= {ada.id, ben.id}
    assert stranger.id not in memory_map.dense([scope], east, 9, ANY)
    assert set(memory_map.dense([other], east, 9, ANY)) == {stranger.id}
    assert set(memory_map.dense([other], east, 9, Filter(speakers=("Ben",)))) == set()
    memory_map.purge([stranger.id])
    eventually(lambda: memory_map.dense([other], east, 9, ANY) == {})
