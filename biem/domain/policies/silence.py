"""The weights by which a block decides whether any of its lines answers the question; else it is empty.

Fitted by `benchmarks.fit_lines` to lives, written by hand and made ones (ADR 0055).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class SilenceWeights:
    """Log-odds per unit of each feature of all lines that one of them answers; see `biem.engine.context.silence`."""

    bias: float = 0.76
    confidence: float = 0.13
    """Log-odds of the recall's confidence, within ±2."""
    best: float = 0.62
    """Log-odds of the likeliest line."""
    likest: float = 1.32
    """Highest likeness of a line to the question, 0 to 1."""
    asks_thing: float = -0.16
    """1 if the question names a thing."""
    things_unnamed: float = -0.38
    """Share of the things in question that no line names."""
    topic_untold: float = -0.16
    """1 if no line has a topic of the question."""
    asks_of_user: float = 0.59
    """1 if the question is about the user."""
    best_like: float = -0.54
    """Of the likeliest line the features of these names again …"""
    best_topic: float = 0.19
    best_apart: float = -0.15
    best_asks_topic: float = -0.41
    best_no_value: float = -0.99
    best_other_person: float = -0.08
    best_covered: float = 0.1
    best_covered_nameless: float = 0.51
    best_asks_of_person: float = -0.23
    """… to here."""

    def __post_init__(self) -> None:
        require_finite(self)
