"""What a text is like, by its vector: directions of an embedder's space, each with log-odds.

"I chickened out of sage" and 没忍住，又开始每天喝美式了 share no word, but both lie where texts about changes lie. The
directions were fitted by `python -m benchmarks.fit_succession`, `benchmarks.fit_courtesy`, `benchmarks.fit_queries`,
`benchmarks.fit_agenda` and `benchmarks.fit_lists`; only packaged models have them.
"""

import base64
import json
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from biem.ports import Vectors
from biem.ports.embedding import DirectionOdds, row_products

CHANGE = Path(__file__).with_name("change.json")
COURTESY = Path(__file__).with_name("courtesy.json")
PERSONAL = Path(__file__).with_name("personal.json")
AGENDA = Path(__file__).with_name("agenda.json")
LISTS = Path(__file__).with_name("lists.json")


def change_odds(embedder_id: str) -> DirectionOdds | None:
    """Log-odds that each of these passages tells of a change; None for a model without a direction."""
    return _odds(CHANGE, embedder_id)


def courtesy_odds(embedder_id: str) -> DirectionOdds | None:
    """Log-odds that each of these passages only greets, thanks, agrees or acknowledges; None as above."""
    return _odds(COURTESY, embedder_id)


def personal_odds(embedder_id: str) -> DirectionOdds | None:
    """Log-odds that what was told can help with each of these queries, unlike arithmetic or a poem; None as above."""
    return _odds(PERSONAL, embedder_id)


def agenda_odds(embedder_id: str) -> DirectionOdds | None:
    """Log-odds that each of these queries, without its times, asks for everything that happens then; None as above."""
    return _odds(AGENDA, embedder_id)


def list_odds(embedder_id: str) -> DirectionOdds | None:
    """Log-odds that each of these queries asks for all things of a kind: "Which books have I read?"; None as above."""
    return _odds(LISTS, embedder_id)


def _odds(file: Path, embedder_id: str) -> DirectionOdds | None:
    found = _directions(file).get(embedder_id)
    if found is None:
        return None
    direction, bias = found

    def odds(texts: Vectors) -> NDArray[np.float32]:
        return np.asarray(row_products(texts, direction) + bias, dtype=np.float32)

    return odds


@cache
def _directions(file: Path) -> dict[str, tuple[NDArray[np.float32], np.float32]]:
    read = json.loads(file.read_text("utf-8"))
    return {
        model: (np.frombuffer(base64.b64decode(one["direction"]), dtype="<f4"), np.float32(one["bias"]))
        for model, one in read.items()
    }


def to_json(model: str, direction: NDArray[np.float64], bias: float) -> str:
    """What the file holds for one model."""
    packed = base64.b64encode(direction.astype("<f4").tobytes()).decode()
    return json.dumps({model: {"bias": round(bias, 4), "direction": packed}}, indent=1) + "\n"
