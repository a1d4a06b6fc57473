"""How probably a passage answers a query, by their vectors: a fitted bilinear form.

    log-odds = bias + (slope · q' + (q · down) · up) · p      q: the query, q' mapped (`query_map`), p: the passage

"When is my brother's exam?" is near "my sister's exam is on the 3rd", which does not answer it: likeness compares
subjects, this also what is asked for. Fitted by `python -m benchmarks.fit_answers` to messages with questions that they
answer and questions that they only seem to answer; only packaged models have one.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders.query_map import packed, unpacked
from biem.ports import Vector, Vectors
from biem.ports.embedding import AnswerOdds, row_products, weighted_rows

PACKAGED = Path(__file__).with_name("answers.json")


@dataclass(frozen=True, slots=True)
class BilinearOdds:
    """The weights of the form; see above."""

    down: NDArray[np.float32]
    """Shape (dim, rank)."""
    up: NDArray[np.float32]
    """Shape (rank, dim)."""
    slope: float
    bias: float

    def __call__(self, query: Vector, mapped: Vector, passages: Vectors) -> NDArray[np.float32]:
        """The log-odds of each passage, shape (n,)."""
        bent = weighted_rows(row_products(self.down.T, query), self.up)
        sought = self.slope * mapped + bent
        return np.asarray(row_products(passages, sought) + self.bias, dtype=np.float32)


def answer_odds(embedder_id: str) -> AnswerOdds | None:
    """The log-odds of this model's vectors; None for a model without them."""
    return _packaged().get(embedder_id)


@cache
def _packaged() -> dict[str, BilinearOdds]:
    read = json.loads(PACKAGED.read_text("utf-8"))
    return {
        model: BilinearOdds(
            unpacked(one["down"]).reshape(one["dim"], -1),
            unpacked(one["up"]).reshape(-1, one["dim"]),
            one["slope"],
            one["bias"],
        )
        for model, one in read.items()
    }


def to_json(model: str, fitted: BilinearOdds) -> str:
    """What the file holds for one model."""
    numbers = {"slope": round(fitted.slope, 4), "bias": round(fitted.bias, 4)}
    weights = {"down": packed(fitted.down), "up": packed(fitted.up)}
    return json.dumps({model: {"dim": len(fitted.down), **numbers, **weights}}, indent=1) + "\n"
