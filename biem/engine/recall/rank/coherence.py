"""Whether turns that stand together belong together, measured in the pool in hand.

In a talk a turn is more like the next one than like any other, and more like those of its session. Under labels that
say nothing, in a channel where several talk at once, or in lists of facts it is not: then what stands beside a turn
says nothing about it. Both are differences of mean cosines, in standard deviations of the cosines of this pool, so that
they mean the same for every embedder. Everything is linear in the number of turns.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from biem.engine.recall.rank.term_matrix import Indices
from biem.ports import Vectors

_LEAST_PAIRS = 8
"""Fewer pairs show nothing."""
_SHIFTS = (2, 3, 5, 7)
"""The spread of all cosines is that of each turn with those so many parts of the pool further on."""


class Coherence(NamedTuple):
    """In standard deviations; about 0 for chance, None where too few pairs can be compared."""

    beside: float | None
    """How much more alike than any two turns are two that follow each other."""
    session: float | None
    """How much more alike are two turns of one session than two of different ones."""


def coherence(vectors: Vectors, known: NDArray[np.bool_], session: Indices, following: Indices) -> Coherence:
    """Of a pool. `vectors`: a row of length 1 for each turn, zero for one that is not `known`; `session`: the number of
    each turn's session; `following`: the place of the turn after it in its session, or -1.
    """
    count = int(known.sum())
    if count < _LEAST_PAIRS:
        return Coherence(None, None)
    alike = vectors[known]
    sample = np.concatenate([_cosines(alike, np.roll(alike, count // part, axis=0)) for part in _SHIFTS])
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


def _cosines(some: Vectors, others: Vectors) -> NDArray[np.float64]:
    return np.asarray(np.einsum("ij,ij->i", some, others), dtype=np.float64)
