"""How much a memory resembles those that resemble the question most.

    support(i) = mean of the three highest p(j) · s(i, j)        over the other candidates j
    p(j)       = σ(3 · (z(j) − z of the fourth likest))          z: likeness to the question, standardized

s is the cosine of two memories, standardized over all pairs of these candidates. Things of one kind resemble each other
more than the question for all of them: "Tomasz came in for the role" and "Met Ngozi, strong on incidents", and "Remind
me of all the applicants".
"""

from collections.abc import Mapping

import numpy as np

from biem.domain.scores import probability
from biem.ports import Vector
from biem.ports.embedding import pair_products

_SEEDS, _SLOPE = 4, 3.0
_NEAREST = 3
_FEWEST = 5
"""Candidates below which nothing can be said."""


def support_by_group(vectors: Mapping[str, Vector], likeness: Mapping[str, float]) -> dict[str, float]:
    """The support of each of these candidates, by id; empty for fewer than five, or if none is more alike than another.

    `vectors` have length 1 and one dimension; `likeness` is that to the question.
    """
    ids = [key for key in vectors if key in likeness]
    if len(ids) < _FEWEST:
        return {}
    rows, like = np.stack([vectors[key] for key in ids]), np.array([likeness[key] for key in ids])
    alike = np.asarray(pair_products(rows, rows), dtype=np.float64)
    others = ~np.eye(len(ids), dtype=bool)
    mean, spread, unequal = alike[others].mean(), alike[others].std(), like.std()
    if not spread or not unequal:
        return {}
    standard = (like - like.mean()) / unequal
    least = np.sort(standard)[-_SEEDS]
    seeds = np.array([probability(_SLOPE * float(one - least)) for one in standard])
    supported = np.where(others, (alike - mean) / spread, 0.0) * seeds
    return dict(zip(ids, np.sort(supported, axis=1)[:, -_NEAREST:].mean(axis=1).tolist(), strict=True))
