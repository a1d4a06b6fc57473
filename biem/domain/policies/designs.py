"""Numbers and options of the published designs that a profile selects."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

Profile = Literal["hybrid", "aim", "biem", "notes", "hippocampus", "angel", "aimate"]
"""`hybrid` is this package's own ranking; the others are the designs'."""


PROFILES: tuple[str, ...] = get_args(Profile)


@dataclass(frozen=True, slots=True)
class FormulaPolicy:
    """The designs' numbers in their formulas, and the candidates of each profile."""

    biem_vector: float = 0.7
    biem_activation: float = 0.3
    """Weights of the `biem` formula."""
    biem_candidates: int = 2
    """Nearest memories searched per wanted one."""
    notes_bm25: float = 0.3
    notes_content: float = 0.4
    notes_tag: float = 0.3
    """Weights of the `notes` formula; they sum to 1."""
    notes_candidates: int = 30
    """Nearest memories, and best ones by words, that `notes` ranks."""
    aimate_candidates: int = 10
    """Nearest memories, and best ones by words, that `aimate` ranks."""
    aimate_min_similarity: float = 0.6
    """Minimum calibrated similarity of memories found by vector."""
    aimate_vector: bool = True
    aimate_keyword: bool = True
    aimate_time_weight: bool = True
    """Options of `aimate`: search by vector, search by words, and whether age counts."""
    aimate_decay: float = 0.95
    """The factor of a score after 30 days; the design gives no number."""

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


Selection = Literal["top_k", "weighted_random", "squared_norm"]
"""The best; drawn by weight; drawn by squared weight."""


SELECTIONS: tuple[str, ...] = get_args(Selection)


@dataclass(frozen=True, slots=True)
class TypedPolicy:
    """The numbers of typed recall."""

    per_kind: int = 7
    """Candidates of each kind, and the number of memories chosen in all."""
    selection: Selection = "weighted_random"
    hops: int = 2
    """Hops in the association network from the candidates."""
    links: int = 7
    """Links followed from one memory, the strongest: bounds the chain."""
    pool: int = 30
    """Nearest memories of a kind among which its candidates are ranked."""

    def __post_init__(self) -> None:
        if min(self.per_kind, self.links, self.pool) < 1 or self.hops < 0:
            raise ValueError("typed.per_kind, typed.links and typed.pool must be positive, typed.hops not negative")
        if self.selection not in SELECTIONS:
            raise ValueError(f"typed.selection {self.selection!r} is unknown; choose one of {', '.join(SELECTIONS)}")
