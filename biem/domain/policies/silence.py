"""The weights by which a block decides whether any of its lines answers the question; else it is empty.

Fitted by `benchmarks.fit_lines` to lives, written by hand and made ones (ADR 0055).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class SilenceWeights:
    """Log-odds per unit of each feature of all lines that one of them answers; see `biem.engine.context.silence`."""

    bias: float = 1.37
    confidence: float = 0.16
    """Log-odds of the recall's confidence, within ±2."""
    best: float = 0.84
    """Log-odds of the likeliest line."""
    likest: float = 0.88
    """Highest likeness of a line to the question, 0 to 1."""
    asks_thing: float = 0.08
    """1 if the question names a thing."""
    things_unnamed: float = -0.86
    """Share of the things in question that no line names."""
    things_unnamed_like: float = 1.26
    """`things_unnamed` times `likest`."""
    names_part: float = -0.62
    """1 if the likeliest line names a thing in question and lacks another."""
    uncovered_like: float = -1.53
    """Likeness of the likeliest line, times the share of the question's index terms that it lacks, by their rarity."""
    topic_untold: float = -0.36
    """1 if no line has a topic of the question."""
    asks_of_user: float = 0.65
    """1 if the question is about the user."""
    best_linked: float = -0.47
    """1 if the likeliest line is a report of the assistant's, read with the user's message before it."""
    no_question: float = 1.4
    """1 if the message does not end with a question, as most requests do not."""
    impersonal: float = -0.5
    """Log-odds, 0 to 4, that no memory can help with the message, as with arithmetic or a poem."""
    answering_known: float = 0.38
    """1 if it is known by vectors how probably lines answer …"""
    answering: float = 0.32
    """… the log-odds of the likeliest line, within ±2 …"""
    most_answering: float = 0.48
    """… and the highest of a line."""
    best_like: float = -0.58
    """Of the likeliest line the features of these names again …"""
    best_topic: float = -0.39
    best_apart: float = -0.03
    best_asks_topic: float = -0.02
    best_no_value: float = -0.51
    best_other_person: float = -0.14
    best_covered: float = -0.1
    best_covered_nameless: float = -0.27
    best_asks_of_person: float = -0.15
    """… to here."""

    def __post_init__(self) -> None:
        require_finite(self)
