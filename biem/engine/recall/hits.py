"""The last step of recall: reads the current state of the best memories and builds hits with their signals."""

import math
from collections.abc import Sequence
from dataclasses import replace

from biem.domain.node import Hit, Node
from biem.domain.retention import ASSISTANT
from biem.domain.speech.acts import is_courtesy
from biem.domain.speech.reports import is_report, knows_nothing
from biem.domain.trust import UNTRUSTED
from biem.engine.query.request import Request
from biem.engine.recall.rank.newer_first import newest_first
from biem.engine.recall.rank.ranker import Answer
from biem.ports import Records
from biem.ports.contradiction import ContradictionRules

_PLAIN, _SCALE = 4.0, 2.0
"""Ranking score that maps to 0.5, and its scale: on the dev dialogues the best hit of a question scores 5–12."""


def hydrate(
    records: Records, rules: ContradictionRules, request: Request, answer: Answer, way: str
) -> tuple[list[Hit], bool]:
    """Build hits from the current state of the best, with originals on request; and whether any changed since ranking.

    Of two values of one attribute the newer comes first, even if it is one of the spare hits.

    Changed means erased, or with a validity other than the ranking assumed. Messages of only thanks or assent are left
    out, unless the query is one: they answer nothing.
    """
    ordering, ranked, found = answer.ordering, answer.ranked, answer.found
    count, known = request.top_k + request.more, request.known
    places = answer.places(count + known.spare, known)
    hits: list[Hit] = []
    ceiling, changed, thanks = 1.0, False, is_courtesy(request.text)
    ids = [ordering.candidates[place].id for place in places]
    if not ids:
        return [], False
    # include the spare hits: they replace those left out, and one may hold a newer value
    replaced = _replaced(ids, answer)
    before = answer.answered(ids)
    read = list(dict.fromkeys([*ids, *replaced.values(), *before.values()]))
    live = records.candidates(request.scope.readable, read, (), request.where, pending_limit=0, evidence=request.strict)
    likeness, alike, changes = answer.likeness(read), answer.alike(ids), answer.changed(ids)
    for place, key in zip(places, ids, strict=True):
        node, turn = live.nodes.get(key), answer.turns[key]
        if len(hits) < count:  # erased, or of another validity
            changed |= node is None or (node.valid_to, node.superseded_by) != (turn.valid_to, turn.superseded_by)
        if node is None or known.has(node) or (node.kind == "event" and not thanks and is_courtesy(node.text)):
            continue
        ceiling = min(ceiling, score_of(float(ranked.scores[place])))
        why: dict[str, float | str] = {**ranked.why(place), **ordering.why(key)}
        if key in found.dense:
            why["dense"] = found.dense[key]
        if key in likeness:
            why["likeness"] = likeness[key]
        if key in changes:
            why["changed"] = changes[key]
        former = live.nodes.get(replaced.get(key, ""))
        if former is not None and former.id in likeness:
            why["former_likeness"] = likeness[former.id]
        asked = request_of(answer, live.nodes.get(before.get(key, "")), node)
        if asked is not None and asked.id in likeness:
            why["asked_likeness"] = likeness[asked.id]
        why |= {"energy": node.energy, "status": node.status, "way": way}
        hits.append(
            Hit(node, ceiling, why, live.evidence.get(key), alike=alike.get(key, {}), replaces=former, answers=asked)
        )
    place_of = dict(zip(ids, places, strict=True))
    returned = newest_first(request.text, hits, rules)[:count]
    return [
        replace(hit, reasons=answer.reasons(place_of[hit.node.id], likeness.get(hit.node.id))) for hit in returned
    ], changed


def request_of(answer: Answer, before: Node | None, node: Node) -> Node | None:
    """The message that this one answers: the question before a short answer, or what a person asked for before the
    assistant reports what it has done, which is more than that. It is no less trusted.
    """
    if before is None or (before.source == ASSISTANT) == (node.source == ASSISTANT):
        return None
    answers = answer.answers_question(node.id, before.id) and not knows_nothing(node.text)
    if node.source == ASSISTANT and not answers:
        answers = is_report(node.text) and answer.adds(node.id, before.id)
    return before if answers and not (before.trust == UNTRUSTED != node.trust) else None


def _replaced(ids: Sequence[str], answer: Answer) -> dict[str, str]:
    """The candidate that each of these replaced, the latest of several."""
    returned = frozenset(ids)
    found = [turn for turn in answer.turns.values() if turn.superseded_by in returned]
    return {str(turn.superseded_by): turn.id for turn in sorted(found, key=lambda turn: turn.at)}


def score_of(score: float) -> float:
    """Logistic of a score, in (0, 1), centred on a typical answer's score."""
    return 1.0 / (1.0 + math.exp(-(score - _PLAIN) / _SCALE))
