"""Turns the vector of a query towards the messages that it needs: a fitted map of an embedder's space.

    t  = q + tanh(q · down + bias) · up        down: (dim, hidden), bias: (hidden,), up: (hidden, dim)
    q' = t / |t|

Questions resemble questions, and a request ("suggest a cake for Sunday") hardly has a word of the message that it needs
("walnuts make me ill"). The map was fitted by `python -m benchmarks.fit_queries` to questions and requests with the
messages that they need; vectors of passages stay as they are. Only packaged models have one.

Questions for all things of a kind ("Which books have I read?") are turned by a separate map towards these things
("Finally got through Middlemarch"), fitted by `python -m benchmarks.fit_lists`.
"""

import base64
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biem.ports import Vectors
from biem.ports.embedding import DirectionOdds, QueryMap, pair_products

PACKAGED = Path(__file__).with_name("query_map.json")
OF_LISTS = Path(__file__).with_name("list_map.json")
_STORED = "<f2"
"""How weights stand in files: two bytes each."""


@dataclass(frozen=True, slots=True)
class ResidualMap:
    """The weights of the map; see above."""

    down: NDArray[np.float32]
    bias: NDArray[np.float32]
    up: NDArray[np.float32]

    def __call__(self, queries: Vectors) -> Vectors:
        """The mapped vectors, shape (n, dim), of unit length."""
        turned = queries + pair_products(np.tanh(pair_products(queries, self.down.T) + self.bias), self.up.T)
        return np.ascontiguousarray(turned / np.linalg.norm(turned, axis=1, keepdims=True), dtype=np.float32)


def query_map(embedder_id: str) -> QueryMap | None:
    """The map of this model's queries; None for a model without one."""
    return _maps(PACKAGED).get(embedder_id)


def list_map(embedder_id: str) -> QueryMap | None:
    """The map of this model's questions for all things of a kind; None for a model without one."""
    return _maps(OF_LISTS).get(embedder_id)


def map_by_kind(plain: QueryMap | None, of_lists: QueryMap | None, odds: DirectionOdds | None) -> QueryMap | None:
    """Both maps in one: the second is for queries that by these odds rather ask for all things of a kind."""
    if plain is None or of_lists is None or odds is None:
        return plain

    def turned(queries: Vectors) -> Vectors:
        lists = odds(queries) > 0
        found = plain(queries)
        if lists.any():
            found[lists] = of_lists(queries[lists])
        return found

    return turned


@cache
def _maps(file: Path) -> dict[str, ResidualMap]:
    read = json.loads(file.read_text("utf-8"))
    return {
        model: ResidualMap(
            unpacked(one["down"]).reshape(one["dim"], -1),
            unpacked(one["bias"]),
            unpacked(one["up"]).reshape(-1, one["dim"]),
        )
        for model, one in read.items()
    }


def unpacked(text: str) -> NDArray[np.float32]:
    """Weights as `packed` wrote them, in one row."""
    return np.frombuffer(base64.b64decode(text), dtype=_STORED).astype(np.float32)


def packed(weights: NDArray[np.float32]) -> str:
    """Weights as a text for a file of JSON."""
    return base64.b64encode(weights.astype(_STORED).tobytes()).decode()


def to_json(model: str, fitted: ResidualMap) -> str:
    """What the file holds for one model."""
    weights = {"down": packed(fitted.down), "bias": packed(fitted.bias), "up": packed(fitted.up)}
    return json.dumps({model: {"dim": len(fitted.down), **weights}}, indent=1) + "\n"
