"""Which lines tell of one of the things that a question asks for: "Which books have I read?", 我在吃哪些药？

Such a question is answered by many lines, of which each resembles it little ("Finally got through Middlemarch"). They
resemble each other. A fitted logistic regression:

    worth = bias + Σ weight · feature      log-odds that a line tells of one of them      (`MemberWeights`)
    sure  = σ(bias + Σ weight · feature)   that any line does, of all of them             (`MembershipWeights`)
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from biem.domain.policies.lists import MembershipWeights, MemberWeights
from biem.domain.retention import ASSISTANT
from biem.domain.scores import probability
from biem.domain.speech.acts import is_statement
from biem.engine.context.lines import RatedLine, odds
from biem.engine.context.relevance import number_of

_WEIGHTS, _OF_ALL = asdict(MemberWeights()), asdict(MembershipWeights())
_OF_LINES = ("changed", "holds", "answering", "covered")
"""Features of any line (`biem.engine.context.relevance`) that count here, too."""
_MOST_ODDS = 4.0


def rate_members(lines: Sequence[RatedLine], measured: Sequence[Mapping[str, float]]) -> None:
    """Raise the worth of each line to the log-odds that it tells of one of the things; `measured`: its features."""
    found = [_total(_WEIGHTS, features) for features in member_features(lines, measured)]
    for line, worth in zip(lines, found, strict=True):
        line.worth = max(line.worth, worth)


def member_features(lines: Sequence[RatedLine], measured: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The features of each line, named as the weights are; the lines are rated as of any question."""
    if not lines:
        return []
    best, usual = max(line.worth for line in lines), sum(line.like for line in lines) / len(lines)
    return [
        {
            "worth": line.worth,
            "behind": best - line.worth,
            "ahead": line.like - usual,
            "group": number_of(line.hit, "group", 0.0),
            "statement": float(is_statement(line.hit.node.text)),
            "assistant": float(line.hit.node.source == ASSISTANT),
        }
        | {name: features[name] for name in _OF_LINES}
        for line, features in zip(lines, measured, strict=True)
    ]


def membership(lines: Sequence[RatedLine], sure: float) -> float:
    """The probability, 0 to 1, that a line tells of one of the things; 0 without lines, which are rated as members.

    `sure`: the probability that a line answers, as of any question.
    """
    return probability(_total(_OF_ALL, membership_features(lines, sure))) if lines else 0.0


def membership_features(lines: Sequence[RatedLine], sure: float) -> dict[str, float]:
    """The features of all lines, named as the weights are."""
    return {
        "best": max(line.worth for line in lines),
        "sure": min(max(odds(sure), -_MOST_ODDS), _MOST_ODDS),
        "likest": max(line.like for line in lines),
    }


def _total(weights: Mapping[str, float], features: Mapping[str, float]) -> float:
    return weights["bias"] + sum(weights[name] * value for name, value in features.items())
