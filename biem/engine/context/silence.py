"""Whether any line of a block answers the question; else the block is empty. A fitted logistic regression.

    sure  = σ(bias + Σ weight · feature)   of the likeliest line and of all lines           (`SilenceWeights`)

The weights are of one user's talks with an assistant. In dialogues of several people the confidence of the recall
decides alone: they name each other, and it is fitted to such dialogues.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from biem.domain.policies.silence import SilenceWeights
from biem.domain.scores import probability
from biem.domain.speech.acts import asks_for_facts
from biem.engine.context.lines import LineQuestion, RatedLine, odds
from biem.engine.context.relevance import are_of_several_people, log_odds

_WEIGHTS = asdict(SilenceWeights())
_SUREST = 2.0
"""Log-odds at which the confidence of a recall is capped: common words prove little."""
_LEAST_PERSONAL = 4.0
"""Log-odds at which those that memories cannot help are capped. That they can is no reason to expect an answer."""
_OF_BEST = (
    *("like", "topic", "apart", "asks_topic", "no_value", "other_person"),
    *("covered", "covered_nameless", "asks_of_person"),
)
"""Features of the likeliest line that count again."""


def sureness(
    confidence: float, lines: Sequence[RatedLine], measured: Sequence[Mapping[str, float]], question: LineQuestion
) -> float:
    """The probability, 0 to 1, that one of the lines answers; 0 without lines.

    `confidence`: that of the recall; `measured`: the features of each line.
    """
    if not lines:
        return 0.0
    if are_of_several_people(lines):
        return confidence
    likely = [log_odds(features) for features in measured]
    found = block_features(confidence, lines, measured, likely, question)
    total = _WEIGHTS["bias"] + sum(_WEIGHTS[name] * value for name, value in found.items())
    return probability(total)


def block_features(
    confidence: float,
    lines: Sequence[RatedLine],
    measured: Sequence[Mapping[str, float]],
    likely: Sequence[float],
    question: LineQuestion,
) -> dict[str, float]:
    """The features of all lines, named as the weights are. `likely`: the log-odds of each line."""
    place = max(range(len(lines)), key=lambda one: likely[one])
    own, asked, named = measured[place], question.matter, lines[place].matter.things
    lacking = asked.things - named
    things = frozenset[str]().union(*(line.matter.things for line in lines))
    topics = frozenset[str]().union(*(line.matter.topics for line in lines))
    hit = lines[place].hit
    linked = hit.reports and not (hit.answers is None and hit.refers_to is None)
    likest, unnamed = max(line.like for line in lines), len(asked.things - things) / max(1, len(asked.things))
    return {
        "confidence": min(max(odds(confidence), -_SUREST), _SUREST),
        "best": likely[place],
        "likest": likest,
        "asks_thing": float(bool(asked.things)),
        "things_unnamed": unnamed,
        "things_unnamed_like": unnamed * likest,
        "names_part": float(bool(asked.things & named and lacking)),
        "uncovered_like": (1.0 - own["covered"]) * own["like"],
        "topic_untold": float(bool(asked.topics) and asked.topics.isdisjoint(topics)),
        "asks_of_user": float("me" in asked.persons),
        "best_linked": float(linked),
        "no_question": float(not asks_for_facts(question.text)),
        "impersonal": min(max(-question.personal, 0.0), _LEAST_PERSONAL),
        "answering_known": own["answering_known"],
        "answering": own["answering"],
        "most_answering": own["answering"] + own["answering_behind"],
    } | {f"best_{name}": own[name] for name in _OF_BEST}
