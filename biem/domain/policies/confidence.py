"""The numbers by which recall judges its own answer: does this memory know, and does what is at hand suffice?"""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """What one unit of each ground adds to the log-odds of yes; see `biem.engine.recall.rank.confidence`.

    Fitted by `benchmarks.fit_confidence` on the dev dialogues, those of names and of small memories set by a search
    over all files beside it (ADR 0048); 0 leaves a ground out.
    """

    bias: float = -5.82
    known: float = 3.56
    """Share of the question's words that any candidate holds."""
    named: float = 0.59
    """1 where the question names somebody who speaks here."""
    mentions: float = -2.4
    """1 where the question has names at all: somebody or something in particular is asked for."""
    heard: float = 3.2
    """Share of these names that some candidate holds whole."""
    lead: float = 10.15
    """The best score over the fiftieth, as a share of the most that a score can be."""
    similarity: float = 5.12
    """The best calibrated similarity of the three best answers, with the question or a sentence of it that asks."""
    lift: float = 7.21
    """How far the five most similar candidates stand out of all: a difference of calibrated similarities."""
    day: float = 1.45
    """How exactly one of the five best is of a day that the question names: the signal `day` of the ranking."""
    together: float = 0.36
    """Share of the ten best that are from one conversation."""
    small: float = 0.51
    """1 for a memory of one candidate, 0 from fifty on: comparisons say less there."""
    small_similarity: float = 1.5
    """`small` times `similarity`: there, likeness must say what comparisons cannot."""
    small_mentions: float = 2.4
    """`small` times `mentions`: few texts have heard of few names, so not to know one says less."""

    def __post_init__(self) -> None:
        require_finite(self)


def require_finite(weights: "DataclassInstance") -> None:
    """Refuse weights of confidence that are not finite, with a `ValueError`."""
    if not all(math.isfinite(weight) for weight in asdict(weights).values()):
        raise ValueError("weights of confidence must be finite; 0 leaves a ground out")
