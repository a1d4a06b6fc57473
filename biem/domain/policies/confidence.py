"""The weights by which recall rates its own answer: does this memory have the answer, and is a search needed?"""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """Log-odds per unit of each feature; see `biem.engine.recall.rank.confidence`.

    Fitted by `benchmarks.fit_confidence` on the dev dialogues, except those of names and of small memories, which a
    search over all files determined (ADR 0048); 0 disables a feature.
    """

    bias: float = -5.82
    known: float = 3.56
    """Share of the question's words that occur in any candidate."""
    named: float = 0.59
    """1 where the question names a speaker of this memory."""
    mentions: float = -2.4
    """1 where the question contains names."""
    heard: float = 3.2
    """Share of these names that some candidate contains whole."""
    lead: float = 10.15
    """The best score minus the fiftieth, as a share of the maximum score."""
    similarity: float = 5.12
    """The best calibrated similarity of the three best candidates with the question or an asking sentence of it."""
    lift: float = 7.21
    """How far the five most similar candidates exceed the mean: a difference of calibrated similarities."""
    day: float = 1.45
    """How well one of the five best matches a day named in the question: the ranking signal `day`."""
    together: float = 0.36
    """Share of the ten best that are from one conversation."""
    small: float = 0.51
    """1 for a memory of one candidate, 0 from fifty on: comparisons mean less there."""
    small_similarity: float = 1.5
    """`small` times `similarity`: in small memories similarity replaces comparisons."""
    small_mentions: float = 2.4
    """`small` times `mentions`: few texts contain few names, so an unknown name means less."""

    def __post_init__(self) -> None:
        require_finite(self)


def require_finite(weights: "DataclassInstance") -> None:
    """Raise `ValueError` for weights that are not finite."""
    if not all(math.isfinite(weight) for weight in asdict(weights).values()):
        raise ValueError("weights of confidence must be finite; 0 leaves a ground out")
