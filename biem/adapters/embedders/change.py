"""How much a text tells that something changed, by its vector: a linear reading of a packaged embedder's space.

"I chickened out of sage" and 没忍住，又开始每天喝美式了 share no word, but both lie where texts about changes lie. The
direction was fitted by `python -m benchmarks.fit_succession`; only packaged models have one.
"""

import base64
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biem.ports import Vectors
from biem.ports.embedding import row_products

PACKAGED = Path(__file__).with_name("change.json")


def change_odds(embedder_id: str) -> Callable[[Vectors], NDArray[np.float32]] | None:
    """Log-odds that each of these passages tells of a change; None for a model without a direction."""
    found = _directions().get(embedder_id)
    if found is None:
        return None
    direction, bias = found

    def odds(passages: Vectors) -> NDArray[np.float32]:
        return np.asarray(row_products(passages, direction) + bias, dtype=np.float32)

    return odds


@cache
def _directions() -> dict[str, tuple[NDArray[np.float32], np.float32]]:
    read = json.loads(PACKAGED.read_text("utf-8"))
    return {
        model: (np.frombuffer(base64.b64decode(one["direction"]), dtype="<f4"), np.float32(one["bias"]))
        for model, one in read.items()
    }


def to_json(model: str, direction: NDArray[np.float64], bias: float) -> str:
    """What the file holds for one model."""
    packed = base64.b64encode(direction.astype("<f4").tobytes()).decode()
    return json.dumps({model: {"bias": round(bias, 4), "direction": packed}}, indent=1) + "\n"
