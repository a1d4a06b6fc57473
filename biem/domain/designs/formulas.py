"""The score formulas of the source designs, verbatim, for the ranking profiles.

    biem         0.7 · vector + 0.3 · activation
    notes        0.3 · BM25 + 0.4 · content vector + 0.3 · tag vector
    hippocampus  a² / Σ a² of the activations
    aimate       raw · 0.95^(days/30) · (0.8 + 0.2·importance/5) · (1 + 0.1·log₁₀(accesses + 1))

Source: BIEM B46, Angel G46, Hippocampus H30, AIMate M38–M41.

The formula of `aim` is in `biem.domain.designs.aim`. Every input that is a similarity is in [0, 1]; an absent signal is
0.
"""

import math
from collections.abc import Mapping

from biem.domain.policies.designs import FormulaPolicy


def biem_score(vector: float, activation: float, policy: FormulaPolicy = FormulaPolicy()) -> float:
    """The score of `biem`, in [0, 1]. A memory found by links alone has `vector` 0, one without links `activation`
    0.
    """
    return policy.biem_vector * vector + policy.biem_activation * activation


def notes_score(bm25: float, content: float, tag: float, policy: FormulaPolicy = FormulaPolicy()) -> float:
    """The score of `notes`, in [0, 1]: BM25 as a share of the best candidate's, similarity to the text and to the
    tags.
    """
    return policy.notes_bm25 * bm25 + policy.notes_content * content + policy.notes_tag * tag


def squared_shares(activation: Mapping[str, float]) -> dict[str, float]:
    """The shares of `hippocampus`: a²/Σa² of each node; they sum to 1. Empty where nothing is active."""
    greatest = max(activation.values(), default=0.0)
    if greatest <= 0.0:
        return {}
    squares = {node: (max(0.0, value) / greatest) ** 2 for node, value in activation.items()}
    total = math.fsum(squares.values())
    return {node: square / total for node, square in squares.items()}


def time_factor(days: float, decay: float = 0.95) -> float:
    """Time factor of `aimate`: `decay` after 30 days, 1 for today and for future dates."""
    return float(decay ** (max(0.0, days) / 30.0))


def importance_factor(importance: float) -> float:
    """Importance factor of `aimate`, from 0.84 for importance 1 to 1 for 5."""
    return 0.8 + 0.2 * (importance / 5.0)


def frequency_factor(access_count: int) -> float:
    """Frequency factor of `aimate`: 1 for a memory never returned, 1.1 after 9 times, 1.2 after 99."""
    return 1.0 + math.log10(access_count + 1) * 0.1


def aimate_score(
    raw: float,
    days: float,
    importance: float,
    access_count: int,
    policy: FormulaPolicy = FormulaPolicy(),
) -> float:
    """The score of `aimate`; `raw` in [0, 1] is the better score of the two searches, `days` the age since the last
    update.
    """
    time = time_factor(days, policy.aimate_decay) if policy.aimate_time_weight else 1.0
    return raw * time * importance_factor(importance) * frequency_factor(access_count)
