"""The weights by which a block rates lines: is it about what is asked?

Fitted by `benchmarks.fit_lines` to lives, written by hand and made ones (ADR 0055).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class LineWeights:
    """Log-odds per unit of each feature that a line is about what is asked; see `biem.engine.context.relevance`."""

    bias: float = -1.98
    odds: float = 0.16
    """Log-odds of the hit's score."""
    rank: float = -2.89
    """Place among the hits, in twentieths."""
    like: float = 2.21
    """Likeness to the question, 0 to 1 …"""
    ahead: float = 4.64
    """… minus the mean of twenty hits …"""
    behind: float = -0.11
    """… and that of the line most like it, minus this one's."""
    asked_like: float = 0.72
    """Likeness to the question of the assistant's question that it answers."""
    covered: float = 0.9
    """Share of the question's terms that it has, the rare ones weighing most …"""
    covered_nameless: float = 0.08
    """… and without the names of persons."""
    of_question: float = -0.56
    """Share of its terms that the question has."""
    topic: float = 1.32
    """1 if it shares a topic with the question."""
    apart: float = -0.21
    """1 if both have topics, and none in common."""
    asks_topic: float = -0.41
    """1 if the question has a topic."""
    tells_topic: float = -0.22
    """1 if it has a topic."""
    no_thing: float = -0.36
    """1 if it names none of the things in question."""
    other_person: float = 0.01
    """1 if it is about other persons than the question (`engine.context.persons`) …"""
    other_person_of_topic: float = -1.63
    """… and about its topic: the birthday of another one."""
    stated: float = 0.45
    """1 if it states an attribute in question of these persons: the employer, not only a salary."""
    no_value: float = -2.13
    """1 if it has no value of the kind asked for: a date, an amount."""
    other_one: float = -7.59
    """1 if it is about another one of several."""
    past: float = 0.27
    """1 if it tells of the past, and the question asks about the present."""
    supposes: float = -4.85
    """1 if it begins with a supposition or a quotation."""
    holds: float = 0.34
    """1 if it asserts a fact."""
    changes: float = 0.09
    """1 if its words state a change."""
    changed: float = 0.18
    """Log-odds, by its vector, that it tells of a change, within ±4."""
    assistant: float = -1.18
    """1 if the assistant said it."""
    brief: float = -0.57
    """1 up to 25 tokens."""
    length: float = 0.06
    """Tokens, in sixtieths, at most 1."""
    translated: float = 1.06
    """1 if it is in the other script."""
    named: float = 0.48
    """1 if it names a person of the question."""
    asks_of_person: float = -0.49
    """1 if the question names a person other than the user."""
    mine: float = 0.43
    """1 if both are about the user."""

    def __post_init__(self) -> None:
        require_finite(self)
