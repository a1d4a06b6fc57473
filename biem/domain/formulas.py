"""The score formulas of the source designs, verbatim: what the ranking profiles compute (requirements C10).

    biem         0.7 · vector + 0.3 · activation                                (B46)
    notes        0.3 · BM25 + 0.4 · content vector + 0.3 · tag vector           (G46)
    hippocampus  a² / Σ a² of the activations                                   (H30)
    aimate       raw · 0.95^(days/30) · (0.8 + 0.2·importance/5) · (1 + 0.1·log₁₀(accesses + 1))    (M38 – M41)

The formula of `aim` is in `biem.domain.aim`. Every input that is a likeness lies in [0, 1]; a signal that is absent
is 0.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

Profile = Literal["hybrid", "aim", "biem", "notes", "hippocampus", "angel", "aimate"]
"""`hybrid` is this package's own ranking; the others are the designs'."""
PROFILES: tuple[str, ...] = get_args(Profile)


@dataclass(frozen=True, slots=True)
class FormulaPolicy:
    """The designs' numbers in their formulas, and which memories become candidates of a profile."""

    biem_vector: float = 0.7
    biem_activation: float = 0.3
    """Weights of BIEM B46."""
    biem_candidates: int = 2
    """Nearest memories looked at for each one wanted (BIEM B44)."""
    notes_bm25: float = 0.3
    notes_content: float = 0.4
    notes_tag: float = 0.3
    """Weights of Angel G46; they sum to 1."""
    notes_candidates: int = 30
    """Nearest memories, and best ones by words, that `notes` ranks."""
    aimate_candidates: int = 10
    """Nearest memories, and best ones by words, that `aimate` ranks (M36)."""
    aimate_min_similarity: float = 0.6
    """Least calibrated likeness of what is found by meaning (M21)."""
    aimate_vector: bool = True
    aimate_keyword: bool = True
    aimate_time_weight: bool = True
    """The options of M21: whether to search by meaning, by words, and whether age counts."""
    aimate_decay: float = 0.95
    """What is left of a score after 30 days (M39; the design gives no number)."""

    def __post_init__(self) -> None:
        weights = (self.biem_vector, self.biem_activation, self.notes_bm25, self.notes_content, self.notes_tag)
        if not all(0.0 <= weight <= 1.0 for weight in weights):
            raise ValueError("weights of formulas are shares from 0 to 1")
        for name, total in (
            ("biem", self.biem_vector + self.biem_activation),
            ("notes", self.notes_bm25 + self.notes_content + self.notes_tag),
        ):
            if not math.isclose(total, 1.0, abs_tol=1e-6):
                raise ValueError(f"the weights of {name} must sum to 1, not {total:g}")
        if min(self.biem_candidates, self.notes_candidates, self.aimate_candidates) < 1:
            raise ValueError("biem_candidates, notes_candidates and aimate_candidates must be positive")
        if not 0.0 <= self.aimate_min_similarity <= 1.0 or not 0.0 < self.aimate_decay <= 1.0:
            raise ValueError("aimate_min_similarity is a share from 0 to 1, aimate_decay one above 0")
        if not (self.aimate_vector or self.aimate_keyword):
            raise ValueError("aimate_vector and aimate_keyword are both off: nothing could be found")


def biem_score(vector: float, activation: float, policy: FormulaPolicy = FormulaPolicy()) -> float:
    """BIEM B46, in [0, 1]. What was found by links alone has `vector` 0, what no link leads to `activation` 0."""
    return policy.biem_vector * vector + policy.biem_activation * activation


def notes_score(bm25: float, content: float, tag: float, policy: FormulaPolicy = FormulaPolicy()) -> float:
    """Angel G46, in [0, 1]: BM25 as a share of the best candidate's, likeness to the text and to the tags."""
    return policy.notes_bm25 * bm25 + policy.notes_content * content + policy.notes_tag * tag


def squared_shares(activation: Mapping[str, float]) -> dict[str, float]:
    """Hippocampus H30: a²/Σa² of each node; they sum to 1. Empty where nothing is active."""
    greatest = max(activation.values(), default=0.0)
    if greatest <= 0.0:
        return {}
    squares = {node: (max(0.0, value) / greatest) ** 2 for node, value in activation.items()}
    total = math.fsum(squares.values())
    return {node: square / total for node, square in squares.items()}


def time_factor(days: float, decay: float = 0.95) -> float:
    """AIMate M39: `decay` after 30 days, 1 for today and for what is dated ahead."""
    return float(decay ** (max(0.0, days) / 30.0))


def importance_factor(importance: float) -> float:
    """AIMate M40, from 0.84 for importance 1 to 1 for 5."""
    return 0.8 + 0.2 * (importance / 5.0)


def frequency_factor(access_count: int) -> float:
    """AIMate M41: 1 for what was never returned, 1.1 after 9 times, 1.2 after 99."""
    return 1.0 + math.log10(access_count + 1) * 0.1


def aimate_score(
    raw: float,
    days: float,
    importance: float,
    access_count: int,
    policy: FormulaPolicy = FormulaPolicy(),
) -> float:
    """AIMate M38; `raw` in [0, 1] is the better of what both searches say, `days` the age since the last update."""
    time = time_factor(days, policy.aimate_decay) if policy.aimate_time_weight else 1.0
    return raw * time * importance_factor(importance) * frequency_factor(access_count)
