"""Products of matrices and vectors that are safe beside a fork.

NumPy's `@` on a matrix calls a BLAS library, which has threads and locks of its own: a process that is forked while
another thread is inside it can hang, parent and child. `einsum` computes in the calling thread without a lock. A
product of two vectors takes no lock, so `@` may stay there.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]


def row_products(rows: Numbers, vector: Numbers) -> Numbers:
    """The product of each row with the vector: (n, d) and (d,) give (n,)."""
    return np.asarray(np.einsum("ij,j->i", rows, vector))


def weighted_rows(weights: Numbers, rows: Numbers) -> Numbers:
    """The sum of the rows, each times its weight: (n,) and (n, d) give (d,)."""
    return np.asarray(np.einsum("i,ij->j", weights, rows))


def pair_products(rows: Numbers, others: Numbers) -> Numbers:
    """The product of each row with each other row: (n, d) and (m, d) give (n, m)."""
    return np.asarray(np.einsum("ij,kj->ik", rows, others))
