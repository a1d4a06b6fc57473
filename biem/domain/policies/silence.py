"""The weights by which a block decides whether any of its lines answers the question; else it is empty.

Fitted by `benchmarks.fit_lines` to lives written by hand (ADR 0055).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class SilenceWeights:
    """Log-odds per unit of each feature of all lines that one of them answers; see `biem.engine.context.silence`."""

    bias: float = 1.09
    confidence: float = 0.15
    """Log-odds of the recall's confidence, within ±2."""
    best: float = 0.65
    """Log-odds of the likeliest line."""
    likest: float = 0.7
    """Highest likeness of a line to the question, 0 to 1."""
    asks_thing: float = -0.28
    """1 if the question names a thing."""
    things_unnamed: float = -0.25
    """Share of the things in question that no line names."""
    topic_untold: float = -0.01
    """1 if no line has a topic of the question."""
    asks_of_user: float = 0.4
    """1 if the question is about the user."""
    best_like: float = -0.26
    """Of the likeliest line the features of these names again …"""
    best_topic: float = 0.43
    best_apart: float = 0.0
    best_asks_topic: float = -0.75
    best_no_value: float = -1.01
    best_other_person: float = -0.32
    best_covered: float = -0.01
    best_covered_nameless: float = 0.56
    best_asks_of_person: float = -0.35
    """… to here."""

    def __post_init__(self) -> None:
        require_finite(self)
