"""The weights by which a block decides whether any of its lines answers the question; else it is empty.

Fitted by `benchmarks.fit_silence` to lives written by hand (ADR 0055).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class LineWeights:
    """Log-odds per unit of each feature of a line that it is about what is asked; see `biem.engine.context.silence`."""

    bias: float = -2.9
    odds: float = -0.04
    """Log-odds of the hit's score."""
    rank: float = -4.54
    """Place among the hits, in twentieths."""
    like: float = -0.62
    """Likeness to the question, 0 to 1 …"""
    ahead: float = 9.89
    """… minus the mean of twenty hits …"""
    behind: float = 0.26
    """… and that of the line most like it, minus this one's."""
    asked_like: float = 2.07
    """Likeness to the question of the assistant's question that it answers."""
    covered: float = 0.43
    """Share of the question's terms that it has, the rare ones weighing most …"""
    covered_nameless: float = 1.3
    """… and without the names of persons."""
    of_question: float = -0.68
    """Share of its terms that the question has."""
    topic: float = 2.06
    """1 if it shares a topic with the question."""
    apart: float = 0.11
    """1 if both have topics, and none in common."""
    asks_topic: float = -1.04
    """1 if the question has a topic."""
    tells_topic: float = -0.73
    """1 if it has a topic."""
    no_thing: float = -0.51
    """1 if it names none of the things in question."""
    foreign: float = -0.15
    """Penalty for the persons that it is about (`engine.context.persons`)."""
    no_value: float = -2.1
    """1 if it has no value of the kind asked for: a date, an amount."""
    other_one: float = -2.32
    """1 if it is about another one of several."""
    past: float = 1.27
    """1 if it tells of the past, and the question asks about the present."""
    supposes: float = -3.23
    """1 if it begins with a supposition or a quotation."""
    holds: float = 0.87
    """1 if it asserts a fact."""
    changes: float = -0.21
    """1 if its words state a change."""
    changed: float = 0.23
    """Log-odds, by its vector, that it tells of a change, within ±4."""
    assistant: float = -4.18
    """1 if the assistant said it."""
    brief: float = 0.24
    """1 up to 25 tokens."""
    length: float = 1.58
    """Tokens, in sixtieths, at most 1."""
    translated: float = 1.17
    """1 if it is in the other script."""
    named: float = 0.88
    """1 if it names a person of the question."""
    asks_of_person: float = -0.53
    """1 if the question names a person other than the user."""
    mine: float = 0.44
    """1 if both are about the user."""

    def __post_init__(self) -> None:
        require_finite(self)


@dataclass(frozen=True, slots=True)
class SilenceWeights:
    """Log-odds per unit of each feature of all lines that one of them answers; see `biem.engine.context.silence`."""

    bias: float = -0.01
    confidence: float = 0.28
    """Log-odds of the recall's confidence, within ±2."""
    best: float = 0.47
    """Log-odds of the likeliest line."""
    likest: float = 2.43
    """Highest likeness of a line to the question, 0 to 1."""
    asks_thing: float = -0.58
    """1 if the question names a thing."""
    things_unnamed: float = -0.09
    """Share of the things in question that no line names."""
    topic_untold: float = -0.68
    """1 if no line has a topic of the question."""
    asks_of_user: float = 0.21
    """1 if the question is about the user."""
    best_like: float = 1.46
    """Of the likeliest line the features of these names again …"""
    best_topic: float = 0.52
    best_apart: float = -0.86
    best_asks_topic: float = -0.21
    best_no_value: float = -1.76
    best_foreign: float = -0.23
    best_covered: float = -0.11
    best_covered_nameless: float = 0.94
    best_asks_of_person: float = -0.63
    """… to here."""

    def __post_init__(self) -> None:
        require_finite(self)
