"""Similar memories of a scope: the vector index proposes, the embedder's calibrated similarity decides.

A batch is also compared with itself, because a vector index may not return recent writes yet.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports import EVERYTHING, Embedder, Records, Vector, VectorIndex


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Live memories by id, and for each queried one the similarity in [0, 1] of its neighbours, highest first."""

    nodes: Mapping[str, Node]
    similar: Mapping[str, Mapping[str, float]]


class Neighbourhood:
    """Finds the neighbours of given memories; `k` each, so the cost does not grow with the scope."""

    def __init__(self, *, records: Records, index: VectorIndex, embedder: Embedder, k: int) -> None:
        self._records = records
        self._index = index
        self._embedder = embedder
        self._k = k

    def of(self, scope: Scope, ids: Sequence[str], least: float) -> Neighbours:
        """Neighbours at least `least` similar to these memories; archived memories and those without a vector are
        left out.
        """
        nodes = self._nodes(scope, ids)
        vectors = self._vectors(nodes)
        asked = [key for key in ids if key in vectors]
        if not asked:
            return Neighbours(nodes, {})
        near = self._index.nearest(scope, np.stack([vectors[key] for key in asked]), self._k + 1)
        found = {other for hits in near for other in hits} - nodes.keys()
        nodes |= self._nodes(scope, sorted(found))
        vectors |= self._vectors({key: node for key, node in nodes.items() if key in found})
        similar: dict[str, dict[str, float]] = {}
        for key, hits in zip(asked, near, strict=True):
            others = sorted((hits.keys() | set(asked)) & vectors.keys() - {key})
            if not others:
                continue
            values = self._embedder.similarity(vectors[key], np.stack([vectors[other] for other in others]))
            alike = {other: float(value) for other, value in zip(others, values, strict=True) if value >= least}
            similar[key] = dict(sorted(alike.items(), key=lambda item: (-item[1], item[0])))
        return Neighbours(nodes, similar)

    def similarity(self, scope: Scope, ids: Sequence[str]) -> dict[tuple[str, str], float]:
        """The similarity of each pair of these memories that have vectors, by (smaller id, greater id)."""
        vectors = self._vectors(self._nodes(scope, ids))
        keys = sorted(vectors)
        pairs: dict[tuple[str, str], float] = {}
        for place, key in enumerate(keys[:-1]):
            rest = keys[place + 1 :]
            values = self._embedder.similarity(vectors[key], np.stack([vectors[other] for other in rest]))
            pairs |= {(key, other): float(value) for other, value in zip(rest, values, strict=True)}
        return pairs

    def _nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        if not ids:
            return {}
        return dict(self._records.candidates([scope], ids, (), EVERYTHING, pending_limit=0, evidence=False).nodes)

    def _vectors(self, nodes: Mapping[str, Node]) -> dict[str, Vector]:
        keys = {key: sha256(node.indexed_text) for key, node in nodes.items()}
        known = self._records.load_vectors(self._embedder.info.id, list(dict.fromkeys(keys.values()))) if keys else {}
        return {key: known[sha] for key, sha in keys.items() if sha in known}
