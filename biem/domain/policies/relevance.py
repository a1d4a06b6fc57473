"""The weights by which a block rates lines: is it about what is asked?

Fitted by `benchmarks.fit_lines` to lives, written by hand and made ones (ADR 0055).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class LineWeights:
    """Log-odds per unit of each feature that a line is about what is asked; see `biem.engine.context.relevance`."""

    bias: float = -1.55
    odds: float = 0.26
    """Log-odds of the hit's score."""
    rank: float = -3.61
    """Place among the hits, in twentieths."""
    like: float = 1.04
    """Likeness to the question, 0 to 1 …"""
    ahead: float = 4.34
    """… minus the mean of twenty hits …"""
    behind: float = -0.96
    """… and that of the line most like it, minus this one's."""
    asked_like: float = 1.6
    """Likeness to the question of the assistant's question that it answers."""
    covered: float = 0.75
    """Share of the question's terms that it has, the rare ones weighing most …"""
    covered_nameless: float = -0.28
    """… and without the names of persons."""
    of_question: float = -1.05
    """Share of its terms that the question has."""
    topic: float = 1.08
    """1 if it shares a topic with the question."""
    apart: float = -0.14
    """1 if both have topics, and none in common."""
    asks_topic: float = -0.35
    """1 if the question has a topic."""
    tells_topic: float = -0.21
    """1 if it has a topic."""
    no_thing: float = -0.2
    """1 if it names none of the things in question."""
    other_person: float = -0.05
    """1 if it is about other persons than the question (`engine.context.persons`) …"""
    other_person_of_topic: float = -1.48
    """… and about its topic: the birthday of another one."""
    stated: float = 0.37
    """1 if it states an attribute in question of these persons: the employer, not only a salary."""
    no_value: float = -1.75
    """1 if it has no value of the kind asked for: a date, an amount."""
    other_one: float = -4.77
    """1 if it is about another one of several."""
    past: float = 0.17
    """1 if it tells of the past, and the question asks about the present."""
    supposes: float = -3.07
    """1 if its beginning has a supposition, hearsay or a quotation."""
    holds: float = 0.22
    """1 if it asserts a fact."""
    changes: float = 0.05
    """1 if its words state a change."""
    changed: float = 0.17
    """Log-odds, by its vector, that it tells of a change, within ±4."""
    assistant: float = -1.23
    """1 if the assistant said it."""
    brief: float = -0.27
    """1 up to 25 tokens."""
    length: float = 0.58
    """Tokens, in sixtieths, at most 1."""
    translated: float = 0.86
    """1 if it is in the other script."""
    named: float = 0.4
    """1 if it names a person of the question."""
    asks_of_person: float = -0.48
    """1 if the question names a person other than the user."""
    mine: float = 0.32
    """1 if both are about the user."""

    def __post_init__(self) -> None:
        require_finite(self)
