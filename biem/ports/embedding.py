"""Embeddings, their similarity, and reranking.

Products of matrices are made here, too, in a way that is safe beside a fork: NumPy's `@` on a matrix calls a BLAS
library, which has its own threads and locks, and a process that is forked while another thread is inside it can
hang, parent and child. `einsum` computes in the calling thread without a lock. A product of two vectors takes no lock,
so `@` may stay there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Shape (n, dim), C-contiguous, rows of unit length."""
Vector = NDArray[np.float32]
"""Shape (dim,), unit length."""
Role = Literal["query", "passage"]
DirectionOdds = Callable[[Vectors], NDArray[np.float32]]
"""Log-odds of texts, by their vectors: that passages tell of a change or are courtesies, that queries need memories,
ask for everything that happens at a time, or for all things of a kind."""
QueryMap = Callable[[Vectors], Vectors]
"""Turns vectors of queries towards the passages that they need; of unit length, as before."""
AnswerOdds = Callable[[Vector, Vector, Vectors], NDArray[np.float32]]
"""Log-odds that each of these passages answers a query, by the query's vector before and after it is mapped."""


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts that a model reads together."""

    first: str
    second: str
    marked: bool = False
    """One fact about the pair that is not in its texts."""


PairOdds = Callable[[Sequence[TextPair]], NDArray[np.float32]]
"""Log-odds of each pair, shape (n,), of what a model was fitted to: that the second of two messages ends what the first
says (marked: it follows within minutes, in the same conversation), or that a line answers a question (marked: the
assistant said it)."""


@dataclass(frozen=True, slots=True)
class PairReaders:
    """Models that read two texts together; None where there is none."""

    answering: PairOdds | None = None
    """That a line answers a question."""
    ending: PairOdds | None = None
    """That the second of two messages ends what the first says."""


NO_READERS = PairReaders()


@dataclass(frozen=True, slots=True)
class Fitted:
    """What was fitted to the space of one embedder; all None for a model that nothing was fitted to."""

    query_map: QueryMap | None = None
    change_odds: DirectionOdds | None = None
    personal_odds: DirectionOdds | None = None
    agenda_odds: DirectionOdds | None = None
    list_odds: DirectionOdds | None = None
    answer_odds: AnswerOdds | None = None


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """The identity of an embedder. `id` changes whenever the same text would get another vector; it names the
    collection.
    """

    id: str
    dim: int
    languages: tuple[str, ...]
    """ISO 639-1 codes it was made for; `("mul",)` for about a hundred languages."""
    max_tokens: int
    """Longer texts are cut to this many tokens."""


class Embedder(Protocol):
    """Text to vectors, and the only source of similarities between vectors."""

    @property
    def info(self) -> EmbedderInfo:
        """Known without network traffic after construction; the dimension was measured, not assumed."""

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:
        """One unit vector per text, in order; `[]` gives shape (0, dim).

        The same text and role give the same vector in any batch. Empty text, NUL and lone surrogates are embedded as if
        cleaned. Thread-safe. Raises `EmbedderUnavailable` for an outage and `EmbedderMismatch` for another dimension;
        never returns zero, partial or non-finite vectors.
        """

    def similarity(self, vector: Vector, others: Vectors) -> NDArray[np.float32]:
        """Calibrated similarity in [0, 1] of one passage's vector to each of n others, shape (n,).

        Near 0 for unrelated texts and near 1 for paraphrases, for any distribution of the embedder's raw cosines: all
        thresholds of the designs (0.7, 0.8, 0.85) apply to this and never to a cosine.
        """

    def close(self) -> None:
        """Release its resources; a second call does nothing."""


class Reranker(Protocol):
    """A cross-encoder, local or remote. Thread-safe."""

    def rerank(self, query: str, texts: Sequence[str], timeout_s: float) -> list[float]:
        """How well each text answers the query, in [0, 1], in the order of the texts; `[]` for no texts.

        One attempt, which ends after `timeout_s` seconds. Raises `RerankerUnavailable` for an outage, a timeout, or an
        answer that is not a finite number for each text.
        """

    def close(self) -> None:
        """Release its resources; a second call does nothing."""


def row_products(rows: NDArray[Any], vector: NDArray[Any]) -> NDArray[Any]:
    """The product of each row with the vector: (n, d) and (d,) give (n,)."""
    return np.asarray(np.einsum("ij,j->i", rows, vector))


def weighted_rows(weights: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
    """The sum of the rows, each times its weight: (n,) and (n, d) give (d,)."""
    return np.asarray(np.einsum("i,ij->j", weights, rows))


def pair_products(rows: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """The product of each row with each other row: (n, d) and (m, d) give (n, m)."""
    return np.asarray(np.einsum("ij,kj->ik", rows, others))
