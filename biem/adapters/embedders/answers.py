"""How probably a passage answers a query, by their vectors: a fitted bilinear form.

    log-odds = bias + (slope · q' + (q · down) · up) · p      q: the query, q' mapped (`query_map`), p: the passage

"When is my brother's exam?" is near "my sister's exam is on the 3rd", which does not answer it: likeness compares
subjects, this also what is asked for. Fitted by `python -m benchmarks.fit_answers` to messages with questions that they
answer and questions that they only seem to answer; only packaged models have one.
"""

import base64
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biem.adapters.embedders.query_map import query_map
from biem.ports import Vector, Vectors
from biem.ports.embedding import AnswerOdds, QueryMap, row_products, weighted_rows

PACKAGED = Path(__file__).with_name("answers.json")
_STORED = "<f2"


@dataclass(frozen=True, slots=True)
class BilinearOdds:
    """The weights of the form; see above."""

    down: NDArray[np.float32]
    """Shape (dim, rank)."""
    up: NDArray[np.float32]
    """Shape (rank, dim)."""
    slope: float
    bias: float
    turned: QueryMap

    def __call__(self, query: Vector, passages: Vectors) -> NDArray[np.float32]:
        """The log-odds of each passage, shape (n,)."""
        bent = weighted_rows(row_products(self.down.T, query), self.up)
        sought = self.slope * self.turned(query[np.newaxis])[0] + bent
        return np.asarray(row_products(passages, sought) + self.bias, dtype=np.float32)


def answer_odds(embedder_id: str, turned: QueryMap | None = None) -> AnswerOdds | None:
    """The log-odds of this model's vectors; None for a model without them. `turned`: in place of the packaged map."""
    found, turned = _packaged().get(embedder_id), turned or query_map(embedder_id)
    return None if found is None or turned is None else BilinearOdds(*found, turned)


@cache
def _packaged() -> dict[str, tuple[NDArray[np.float32], NDArray[np.float32], float, float]]:
    read = json.loads(PACKAGED.read_text("utf-8"))
    return {
        model: (
            _unpacked(one["down"]).reshape(one["dim"], -1),
            _unpacked(one["up"]).reshape(-1, one["dim"]),
            one["slope"],
            one["bias"],
        )
        for model, one in read.items()
    }


def _unpacked(text: str) -> NDArray[np.float32]:
    return np.frombuffer(base64.b64decode(text), dtype=_STORED).astype(np.float32)


def to_json(model: str, fitted: BilinearOdds) -> str:
    """What the file holds for one model."""
    packed = {
        name: base64.b64encode(weights.astype(_STORED).tobytes()).decode()
        for name, weights in (("down", fitted.down), ("up", fitted.up))
    }
    numbers = {"slope": round(fitted.slope, 4), "bias": round(fitted.bias, 4)}
    return json.dumps({model: {"dim": len(fitted.down), **numbers, **packed}}, indent=1) + "\n"
