"""How probably a line is about what is asked: a fitted logistic regression.

    worth = bias + Σ weight · feature      log-odds      (`LineWeights`)

The features compare the words, the meaning and the subject of a line with those of the question and of the other hits.
The weights are of one user's talks with an assistant. In dialogues of several people a neighbour of a hit may be the
evidence, which the ranking knows and the text of a line does not. There

    worth = log-odds of the ranking's score − penalty for other persons + half of the above
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from biem.domain.conflict import Matter
from biem.domain.node import Hit
from biem.domain.policies.relevance import LineWeights
from biem.domain.retention import ASSISTANT
from biem.domain.text import is_han
from biem.domain.tokens import estimate_tokens
from biem.engine.context.lines import (
    BEGINNING,
    BRIEF,
    UNCHANGED,
    LineQuestion,
    RatedLine,
    odds,
    rare_share,
)
from biem.engine.context.persons import FOREIGN, named_speakers
from biem.engine.context.same_subject import relatives

_WEIGHTS: dict[str, float] = asdict(LineWeights())
_HITS, _UNLIKE = 20, 0.1
"""Number of hits that a line is compared with, and the likeness to the question of those that are missing."""
_OF_AN_ANSWER = ("answering_known", "answering", "answering_behind")
_OWN = 0.5
"""Share of these log-odds in the worth of a line of a dialogue."""
_SUREST = 3.0
"""Log-odds at which those of a score are capped: in a memory of a few messages scores are 0 or 1."""
_LONG = 60
"""Tokens from which a text counts as long as any."""
_FURTHEST = 4.0
"""Log-odds at which those of a change are capped."""
_MOST_ANSWERING = 2.0
"""Log-odds at which those of an answer are capped."""
_LEAST_ON_TOPIC = -0.75
"""Least of these of a line with the topic, the person and the kind of value in question: by its words it may answer."""


def are_of_several_people(lines: Sequence[RatedLine]) -> bool:
    """Whether several named speakers said them; the only one is the user, whose name the program records."""
    return len(named_speakers([line.hit for line in lines])) > 1


def rate(lines: Sequence[RatedLine], question: LineQuestion) -> list[dict[str, float]]:
    """Set the worth of each line, and return its features."""
    measured = line_features(lines, question) if lines else []
    named = are_of_several_people(lines)
    for line, features in zip(lines, measured, strict=True):
        line.answering = sum(_WEIGHTS[name] * features[name] for name in _OF_AN_ANSWER)
        line.worth = odds(line.hit.score) - line.foreign + _OWN * log_odds(features) if named else log_odds(features)
    return measured


def log_odds(features: Mapping[str, float]) -> float:
    """That a line with these features is about what is asked."""
    return _WEIGHTS["bias"] + sum(_WEIGHTS[name] * value for name, value in features.items())


def line_features(lines: Sequence[RatedLine], question: LineQuestion) -> list[dict[str, float]]:
    """The features of each line, named as the weights are."""
    asked = question.matter
    best = dict[str, float]()
    for line in lines:
        best[line.hit.whole] = max(line.like, best.get(line.hit.whole, 0.0))
    place_of = {whole: place for place, whole in enumerate(best)}
    usual = (sum(best.values()) + max(0, _HITS - len(best)) * _UNLIKE) / max(_HITS, len(best))
    likest = max(line.like for line in lines)
    holders = Counter(term for line in lines for term in line.terms & question.terms)
    persons, asked_kin = asked.persons - {"you", "me"}, relatives(asked)
    names = {part for person in persons for part in person.split(".")}
    answering = answering_odds(lines, question)
    most = max(answering, default=0.0)
    found = []
    for place, line in enumerate(lines):
        node, told, common = line.hit.node, line.matter, line.terms & question.terms
        topics, event = bool(asked.topics and told.topics), node.kind == "event"
        kin = relatives(told)
        common_topics = _shares_topic(line, question)
        found.append(
            {
                "odds": min(max(odds(line.hit.score), -_SUREST), _SUREST),
                "rank": place_of[line.hit.whole] / _HITS,
                "like": line.like,
                "ahead": line.like - usual,
                "behind": likest - line.like,
                "asked_like": number_of(line.hit, "asked_likeness", 0.0),
                "covered": rare_share(holders, common, question.terms),
                "covered_nameless": rare_share(holders, common - names, question.terms - names),
                "of_question": len(common) / max(1, len(line.terms)),
                "topic": float(common_topics),
                "apart": float(topics and not common_topics),
                "asks_topic": float(bool(asked.topics)),
                "tells_topic": float(bool(told.topics)),
                "no_thing": float(bool(asked.things) and asked.things.isdisjoint(told.things)),
                "other_person": float(line.foreign >= FOREIGN),
                "other_person_of_topic": float(line.foreign >= FOREIGN and common_topics),
                "of_relatives": float(_is_of_relatives(told, asked)),
                "of_other_relatives": float(bool(kin and asked_kin) and kin.isdisjoint(asked_kin)),
                "stated": float(_states(told, asked)),
                "no_value": float(event and not asked.wants <= told.gives),
                "other_one": float(bool(asked.which and told.which) and asked.which.isdisjoint(told.which)),
                "past": float(told.past and question.now),
                "supposes": float(event and line.supposed),
                "holds": float(told.holds),
                "changes": float(told.changes),
                "changed": min(max(number_of(line.hit, "changed", UNCHANGED), -_FURTHEST), _FURTHEST),
                "assistant": float(node.source == ASSISTANT and not line.hit.reports),
                "brief": float(estimate_tokens(node.text) <= BRIEF),
                "length": min(estimate_tokens(node.text), _LONG) / _LONG,
                "answering_known": float(bool(answering)),
                "answering": answering[place] if answering else 0.0,
                "answering_behind": most - answering[place] if answering else 0.0,
                "translated": float(is_han(node.text) != is_han(question.text)),
                "named": float(bool(persons & told.persons or names & line.terms)),
                "asks_of_person": float(bool(persons)),
                "mine": float("me" in asked.persons and "me" in told.persons),
            }
        )
    return found


def answering_odds(lines: Sequence[RatedLine], question: LineQuestion) -> list[float]:
    """Log-odds, within ±2, by its vector, that each line answers; empty if they are known of none.

    A line without a vector gets the highest of the others, as with the likeness, and so does a long one, whose vector
    is about its beginning. A supposition, though it may be on the subject, answers no better than chance.
    """
    found = [line.hit.why.get("answering") if len(line.hit.node.text) <= BEGINNING else None for line in lines]
    known = [one for one in found if isinstance(one, float)]
    if not known:
        return []
    most = max(known)
    odds_of = [one if isinstance(one, float) else most for one in found]
    lowest = (_LEAST_ON_TOPIC if _may_answer(line, question) else -_MOST_ANSWERING for line in lines)
    within = (min(max(one, low), _MOST_ANSWERING) for one, low in zip(odds_of, lowest, strict=True))
    return [
        min(one, 0.0) if line.supposed or _is_of_relatives(line.matter, question.matter) else one
        for one, line in zip(within, lines, strict=True)
    ]


def _is_of_relatives(told: Matter, asked: Matter) -> bool:
    """Whether it is about relatives alone, and the question about the user: my stepson's bank, and mine."""
    return asked.persons == {"me"} and bool(told.persons) and told.persons == relatives(told)


def states_it(line: RatedLine, question: LineQuestion) -> bool:
    """Whether it states an attribute in question of the persons in question, with a value of the kind asked for."""
    return _states(line.matter, question.matter) and question.matter.wants <= line.matter.gives


def _states(told: Matter, asked: Matter) -> bool:
    return told.holds and told.persons <= asked.persons and bool(asked.attributes & told.attributes)


def _may_answer(line: RatedLine, question: LineQuestion) -> bool:
    return line.foreign < FOREIGN and _shares_topic(line, question) and question.matter.wants <= line.matter.gives


def _shares_topic(line: RatedLine, question: LineQuestion) -> bool:
    return bool(question.matter.topics & line.matter.topics or question.aspect & line.terms)


def number_of(hit: Hit, name: str, otherwise: float) -> float:
    """The signal of this name that the recall measured of a hit; `otherwise` where it measured none."""
    found = hit.why.get(name)
    return found if isinstance(found, float) else otherwise
