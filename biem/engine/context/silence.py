"""Whether any line of a block answers the question; else the block is empty. Two fitted logistic regressions.

    line  = bias + Σ weight · feature      log-odds that a line is about what is asked      (`LineWeights`)
    sure  = σ(bias + Σ weight · feature)   of the likeliest line and of all lines           (`SilenceWeights`)

The features compare the words, the meaning and the subject of a line with those of the question and of the other hits.
The weights are of one user's talks with an assistant. In dialogues of several people the confidence of the recall
decides alone: they name each other, and it is fitted to such dialogues.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from biem.domain.node import Hit
from biem.domain.policies.silence import LineWeights, SilenceWeights
from biem.domain.text import estimate_tokens
from biem.engine.context.worth import BRIEF, LineQuestion, RatedLine, is_han, odds, supposes

_LINE, _BLOCK = asdict(LineWeights()), asdict(SilenceWeights())
_HITS, _UNLIKE = 20, 0.1
"""Number of hits that a line is compared with, and the likeness to the question of those that are missing."""
_LONG = 60
"""Tokens from which a text counts as long as any."""
_SUREST = 2.0
"""Log-odds at which the confidence of a recall is capped: common words prove little."""
_OF_BEST = (
    *("like", "topic", "apart", "asks_topic", "no_value", "foreign"),
    *("covered", "covered_nameless", "asks_of_person"),
)
"""Features of the likeliest line that count again."""
_FURTHEST, _USUALLY = 4.0, -1.5
"""Log-odds at which those of a change are capped, and what stands for them with an embedder that gives none."""


def sureness(confidence: float, lines: Sequence[RatedLine], question: LineQuestion) -> float:
    """The probability, 0 to 1, that one of the lines answers; 0 without lines. `confidence`: that of the recall."""
    if not lines:
        return 0.0
    if any(line.hit.node.speaker not in ("", "assistant") for line in lines):
        return confidence
    measured = line_features(lines, question)
    likely = [_sum(_LINE, one) for one in measured]
    total = _sum(_BLOCK, block_features(confidence, lines, measured, likely, question))
    return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, total))))


def line_features(lines: Sequence[RatedLine], question: LineQuestion) -> list[dict[str, float]]:
    """The features of each line, named as the weights are."""
    asked = question.matter
    usual = (sum(line.like for line in lines) + max(0, _HITS - len(lines)) * _UNLIKE) / max(_HITS, len(lines))
    likest = max(line.like for line in lines)
    holders = Counter(term for line in lines for term in line.terms & question.terms)
    rarity = {term: 1.0 / (1.0 + holders[term]) for term in question.terms}
    persons = asked.persons - {"you", "me"}
    names = {part for person in persons for part in person.split(".")}
    found = []
    for place, line in enumerate(lines):
        node, told, common = line.hit.node, line.matter, line.terms & question.terms
        topics, event = bool(asked.topics and told.topics), node.kind == "event"
        found.append(
            {
                "odds": odds(line.hit.score),
                "rank": place / _HITS,
                "like": line.like,
                "ahead": line.like - usual,
                "behind": likest - line.like,
                "asked_like": _number(line.hit, "asked_likeness", 0.0),
                "covered": _share(rarity, common, question.terms),
                "covered_nameless": _share(rarity, common - names, question.terms - names),
                "of_question": len(common) / max(1, len(line.terms)),
                "topic": float(topics and not asked.topics.isdisjoint(told.topics)),
                "apart": float(topics and asked.topics.isdisjoint(told.topics)),
                "asks_topic": float(bool(asked.topics)),
                "tells_topic": float(bool(told.topics)),
                "no_thing": float(bool(asked.things) and asked.things.isdisjoint(told.things)),
                "foreign": line.foreign,
                "no_value": float(event and not asked.wants <= told.gives),
                "other_one": float(bool(asked.which and told.which) and asked.which.isdisjoint(told.which)),
                "past": float(told.past and question.now),
                "supposes": float(event and supposes(node.text)),
                "holds": float(told.holds),
                "changes": float(told.changes),
                "changed": min(max(_number(line.hit, "changed", _USUALLY), -_FURTHEST), _FURTHEST),
                "assistant": float(node.source == "assistant"),
                "brief": float(estimate_tokens(node.text) <= BRIEF),
                "length": min(estimate_tokens(node.text), _LONG) / _LONG,
                "translated": float(is_han(node.text) != is_han(question.text)),
                "named": float(bool(persons & told.persons or names & line.terms)),
                "asks_of_person": float(bool(persons)),
                "mine": float("me" in asked.persons and "me" in told.persons),
            }
        )
    return found


def block_features(
    confidence: float,
    lines: Sequence[RatedLine],
    measured: Sequence[Mapping[str, float]],
    likely: Sequence[float],
    question: LineQuestion,
) -> dict[str, float]:
    """The features of all lines, named as the weights are. `likely`: the log-odds of each line."""
    place = max(range(len(lines)), key=lambda one: likely[one])
    own, asked = measured[place], question.matter
    things = frozenset[str]().union(*(line.matter.things for line in lines))
    topics = frozenset[str]().union(*(line.matter.topics for line in lines))
    return {
        "confidence": min(max(odds(confidence), -_SUREST), _SUREST),
        "best": likely[place],
        "likest": max(line.like for line in lines),
        "asks_thing": float(bool(asked.things)),
        "things_unnamed": len(asked.things - things) / max(1, len(asked.things)),
        "topic_untold": float(bool(asked.topics) and asked.topics.isdisjoint(topics)),
        "asks_of_user": float("me" in asked.persons),
    } | {f"best_{name}": own[name] for name in _OF_BEST}


def _sum(weights: Mapping[str, float], measured: Mapping[str, float]) -> float:
    return weights["bias"] + sum(weights[name] * value for name, value in measured.items())


def _number(hit: Hit, name: str, otherwise: float) -> float:
    found = hit.why.get(name)
    return found if isinstance(found, float) else otherwise


def _share(rarity: Mapping[str, float], common: frozenset[str], terms: frozenset[str]) -> float:
    """Share of these terms that are common, by their rarity among the lines."""
    return sum(rarity[term] for term in common) / (sum(rarity[term] for term in terms) or 1.0)
