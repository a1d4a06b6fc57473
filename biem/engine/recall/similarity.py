"""Similarity of candidates to a query: of their text, calibrated, and of their tags."""

import logging
from collections.abc import Mapping, Sequence

import numpy as np

from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.domain.scores import clamp01
from biem.errors import BiemError
from biem.ports import Embedder, Filter, Vector
from biem.ports.readers import TurnReader

logger = logging.getLogger("biem.recall")

_MOST_TAGS = 256
"""Maximum number of distinct tags embedded per query."""


class Similarities:
    """Compares memories with a query's vector. Thread-safe; without that vector there are no similarities."""

    def __init__(self, *, turns: TurnReader, embedder: Embedder) -> None:
        self._turns = turns
        self._embedder = embedder

    def cosines(self, scope: Scope, ids: Sequence[str], vector: Vector | None, where: Filter) -> Mapping[str, float]:
        """Cosines of all candidates that have a vector, including those found only by words."""
        if vector is None:
            return {}
        return {key: float(other @ vector) for key, other in self._vectors(scope, ids, vector, where).items()}

    def similarities(
        self, scope: Scope, ids: Sequence[str], vector: Vector | None, where: Filter
    ) -> Mapping[str, float]:
        """Calibrated similarities in [0, 1], to which the designs' thresholds apply."""
        if vector is None or not (known := self._vectors(scope, ids, vector, where)):
            return {}
        values = self._embedder.similarity(vector, np.stack(list(known.values())))
        return dict(zip(known, values.tolist(), strict=True))

    def of_tags(self, nodes: Sequence[Node], vector: Vector | None, degraded: list[str]) -> Mapping[str, float]:
        """For every node, in [0, 1]: cosine of the query and the mean of the tags' vectors; 0 without tags."""
        likeness = dict.fromkeys((node.id for node in nodes), 0.0)
        tags = list(dict.fromkeys(tag for node in nodes for tag in node.tags))[:_MOST_TAGS]
        if vector is None or not tags:
            return likeness
        try:
            known = dict(zip(tags, self._embedder.embed(tags, "passage"), strict=True))
        except BiemError as error:
            logger.warning("recall ignores tags: %s", error)
            degraded.append("embedder")
            return likeness
        for node in nodes:
            own = [known[tag] for tag in node.tags if tag in known]
            if own:
                mean = np.mean(own, axis=0)
                length = float(np.linalg.norm(mean))
                likeness[node.id] = clamp01(float(mean @ vector) / length) if length > 0 else 0.0
        return likeness

    def _vectors(self, scope: Scope, ids: Sequence[str], vector: Vector, where: Filter) -> Mapping[str, Vector]:
        if not ids:
            return {}
        turns = self._turns.around(scope.readable, ids, (), where, pending_limit=0).by_id
        vectors = ((key, turns[key].vector) for key in ids if key in turns)
        return {key: other for key, other in vectors if other is not None and len(other) == len(vector)}
