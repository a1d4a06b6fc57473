"""The weights by which a block rates lines: is it about what is asked?

Fitted by `benchmarks.fit_lines` to lives, written by hand and made ones (ADR 0055).
"""

from dataclasses import dataclass

from biem.domain.policies.confidence import require_finite


@dataclass(frozen=True, slots=True)
class LineWeights:
    """Log-odds per unit of each feature that a line is about what is asked; see `biem.engine.context.relevance`."""

    bias: float = -1.82
    odds: float = 0.21
    """Log-odds of the hit's score, within ±3."""
    rank: float = -3.34
    """Place among the hits, in twentieths."""
    like: float = -0.88
    """Likeness to the question, 0 to 1 …"""
    ahead: float = 8.07
    """… minus the mean of twenty hits …"""
    behind: float = -0.47
    """… and that of the line most like it, minus this one's."""
    asked_like: float = 0.35
    """Likeness to the question of the assistant's question, or the user's request, that it answers."""
    covered: float = 0.38
    """Share of the question's terms that it has, the rare ones weighing most …"""
    covered_nameless: float = 0.25
    """… and without the names of persons."""
    of_question: float = -0.56
    """Share of its terms that the question has."""
    topic: float = 0.97
    """1 if it shares a topic with the question."""
    apart: float = -0.09
    """1 if both have topics, and none in common."""
    asks_topic: float = -0.33
    """1 if the question has a topic."""
    tells_topic: float = -0.21
    """1 if it has a topic."""
    no_thing: float = -0.16
    """1 if it names none of the things in question."""
    other_person: float = 0.07
    """1 if it is about other persons than the question (`engine.context.persons`) …"""
    other_person_of_topic: float = -0.92
    """… and about its topic: the birthday of another one."""
    of_relatives: float = -0.72
    """1 if the question is about the user alone, and the line about relatives alone."""
    of_other_relatives: float = -1.66
    """1 if both name relatives, and none in common."""
    stated: float = 0.57
    """1 if it states an attribute in question of these persons: the employer, not only a salary."""
    no_value: float = -1.86
    """1 if it has no value of the kind asked for: a date, an amount."""
    other_one: float = -3.13
    """1 if it is about another one of several."""
    past: float = -0.02
    """1 if it tells of the past, and the question asks about the present."""
    supposes: float = -3.07
    """1 if its beginning has a supposition, hearsay or a quotation."""
    holds: float = 0.3
    """1 if it asserts a fact."""
    changes: float = -0.14
    """1 if its words state a change."""
    changed: float = 0.07
    """Log-odds, by its vector, that it tells of a change, within ±4."""
    assistant: float = -1.29
    """1 if the assistant said it, and reports nothing that it did for the user."""
    brief: float = -0.58
    """1 up to 25 tokens."""
    length: float = -0.05
    """Tokens, in sixtieths, at most 1."""
    answering_known: float = 0.45
    """1 if it is known by vectors how probably lines answer …"""
    answering: float = 0.67
    """… the log-odds of this line, within ±2 …"""
    answering_behind: float = -0.17
    """… and those of the likeliest line, minus this one's."""
    translated: float = 1.27
    """1 if it is in the other script."""
    named: float = 0.26
    """1 if it names a person of the question."""
    asks_of_person: float = -0.38
    """1 if the question names a person other than the user."""
    mine: float = 0.4
    """1 if both are about the user."""

    def __post_init__(self) -> None:
        require_finite(self)
