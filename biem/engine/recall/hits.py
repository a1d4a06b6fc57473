"""The last step of recall: the best memories as they are now, each with what spoke for it."""

import math

from biem.domain.node import Hit
from biem.domain.speech_acts import is_courtesy
from biem.engine.query.request import Request
from biem.engine.recall.rank.newer_first import newest_first
from biem.engine.recall.rank.ranker import Answer
from biem.ports import Records
from biem.ports.contradiction import ContradictionRules

_PLAIN, _SCALE = 4.0, 2.0
"""Where a ranking score becomes 0.5, and its spread: on the dev dialogues the best hit of a question reaches 5–12."""


def tell(
    records: Records, rules: ContradictionRules, request: Request, answer: Answer, way: str
) -> tuple[list[Hit], bool]:
    """The best as they are now, with their originals where asked for; and whether any differs from what was ranked.

    Of two values of one thing the newer comes first, also where it is one of the spare ones.

    Differing means that it is gone, or holds otherwise than the ranking thought. Messages of thanks and assent alone
    are left out, unless the query is one itself: they answer nothing.
    """
    ordering, ranked, found = answer.ordering, answer.ranked, answer.found
    count, known = request.top_k + request.more, request.known
    places = answer.places(count + known.spare, known)
    hits: list[Hit] = []
    ceiling, changed, thanks = 1.0, False, is_courtesy(request.text)
    ids = [ordering.candidates[place].id for place in places]
    if not ids:
        return [], False
    # the spare ones, too: in place of what was left out, and where one gives a newer value of what is told
    live = records.candidates(request.scope.readable, ids, (), request.where, pending_limit=0, evidence=request.strict)
    likeness = answer.likeness(ids)
    for place, key in zip(places, ids, strict=True):
        node, turn = live.nodes.get(key), answer.turns[key]
        if len(hits) < count:  # what is gone or holds otherwise
            changed |= node is None or (node.valid_to, node.superseded_by) != (turn.valid_to, turn.superseded_by)
        if node is None or known.has(node) or (node.kind == "event" and not thanks and is_courtesy(node.text)):
            continue
        ceiling = min(ceiling, _share(float(ranked.scores[place])))
        why: dict[str, float | str] = {**ranked.why(place), **ordering.why(key)}
        if key in found.dense:
            why["dense"] = found.dense[key]
        if key in likeness:
            why["likeness"] = likeness[key]
        why |= {"energy": node.energy, "status": node.status, "way": way}
        hits.append(Hit(node, ceiling, why, live.evidence.get(key), answer.reasons(place, likeness.get(key))))
    return newest_first(request.text, hits, rules)[:count], changed


def _share(score: float) -> float:
    """A score in (0, 1): its odds, around what a plain answer reaches."""
    return 1.0 / (1.0 + math.exp(-(score - _PLAIN) / _SCALE))
