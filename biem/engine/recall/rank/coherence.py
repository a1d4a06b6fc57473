"""Whether neighbouring turns are about the same topic, measured in the current pool.

In a dialogue a turn is more similar to the next one than to others, and to those of its session. With meaningless
session labels, in a channel with interleaved talks, or in lists of facts it is not: then neighbours are no evidence for
a turn. Both measures are differences of mean cosines, in standard deviations of the cosines of this pool, which makes
them comparable between embedders. The cost is linear in the number of turns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biem.engine.recall.rank.term_matrix import Indices
from biem.ports import Vectors

_LEAST_PAIRS = 8
"""Minimum pairs for a measurement."""
_SHIFTS = (2, 3, 5, 7)
"""Shifts, as fractions of the pool (1/2, 1/3, …), of the turn pairs that estimate the spread of all cosines."""


class Coherence(NamedTuple):
    """In standard deviations; about 0 for chance, None where too few pairs can be compared."""

    beside: float | None
    """How much more similar consecutive turns are than any two turns."""
    session: float | None
    """How much more similar two turns of one session are than two of different ones."""


def coherence(vectors: Vectors, known: NDArray[np.bool_], session: Indices, following: Indices) -> Coherence:
    """Coherence of a pool. `vectors`: a unit row for each turn, zero if not `known`; `session`: number of each turn's
    session; `following`: index of the next turn in its session, or -1.
    """
    count = int(known.sum())
    if count < _LEAST_PAIRS:
        return Coherence(None, None)
    alike = vectors if count == len(vectors) else vectors[known]
    sample = np.concatenate([_shifted(alike, count // part) for part in _SHIFTS])
    spread = float(sample.std())
    if spread <= 0:
        return Coherence(None, None)
    pairs, whole = count * (count - 1), float(np.square(alike.sum(axis=0)).sum()) - count
    return Coherence(
        _beside(vectors, known, following, whole / pairs, spread), _within(vectors, known, session, whole, spread)
    )


def _beside(vectors: Vectors, known: NDArray[np.bool_], following: Indices, mean: float, spread: float) -> float | None:
    first = np.flatnonzero((following >= 0) & known)
    first = first[known[following[first]]]
    if len(first) < _LEAST_PAIRS:
        return None
    return (float(_cosines(vectors[first], vectors[following[first]]).mean()) - mean) / spread


def _within(vectors: Vectors, known: NDArray[np.bool_], session: Indices, whole: float, spread: float) -> float | None:
    sizes = np.bincount(session[known])
    count = int(known.sum())
    inside = int((sizes * (sizes - 1)).sum())
    across = count * (count - 1) - inside
    if min(inside, across) < 2 * _LEAST_PAIRS:
        return None
    order = np.argsort(session, kind="stable")
    begins = np.flatnonzero(np.diff(session[order], prepend=-1))
    alike = float(np.square(np.add.reduceat(vectors[order], begins, axis=0)).sum()) - count
    return (alike / inside - (whole - alike) / across) / spread


def _shifted(rows: Vectors, by: int) -> NDArray[np.float64]:
    """The cosine of each row and the row `by` places before it; those of the first rows are of the last."""
    return np.concatenate([_cosines(rows[:by], rows[len(rows) - by :]), _cosines(rows[by:], rows[: len(rows) - by])])


def _cosines(some: Vectors, others: Vectors) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", some, others), dtype=np.float64)
