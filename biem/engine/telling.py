"""The last step of recall: the best memories as they are now, each with what spoke for it."""

import math

from biem.domain.node import Hit
from biem.engine.answer import Answer
from biem.engine.request import Request
from biem.ports import Records

_PLAIN, _SCALE = 4.0, 2.0
"""Where a ranking score becomes 0.5, and its spread: on the dev dialogues the best hit of a question reaches 5–12."""


def tell(records: Records, request: Request, answer: Answer, way: str) -> tuple[list[Hit], bool]:
    """The best as they are now, with their originals where asked for; and whether any differs from what was ranked.

    Differing means that it is gone, or holds otherwise than the ranking thought.
    """
    ordering, ranked, found = answer.ordering, answer.ranked, answer.found
    places, count = answer.places(request.top_k), request.top_k
    hits: list[Hit] = []
    ceiling, changed = 1.0, False
    # All that are wanted, then the spare ones if any of these is gone. The orbit needs none: then a search answers.
    for part in (places[:count], () if way == "orbit" else places[count:]):
        ids = [ordering.candidates[place].id for place in part]
        if len(hits) == count or not ids:
            break
        live = records.candidates(
            request.scope.readable, ids, (), request.where, pending_limit=0, evidence=request.strict
        )
        for place, key in zip(part, ids, strict=True):
            node, turn = live.nodes.get(key), answer.turns[key]
            if node is None:  # erased or archived a moment ago
                changed = True
                continue
            changed |= (node.valid_to, node.superseded_by) != (turn.valid_to, turn.superseded_by)
            ceiling = min(ceiling, _share(float(ranked.scores[place])))
            why: dict[str, float | str] = {**ranked.why(place), **ordering.why(key)}
            if key in found.dense:
                why["dense"] = found.dense[key]
            why |= {"energy": node.energy, "status": node.status, "way": way}
            hits.append(Hit(node, ceiling, why, live.evidence.get(key)))
            if len(hits) == count:
                break
    return hits, changed


def _share(score: float) -> float:
    """A score in (0, 1): its odds, around what a plain answer reaches."""
    return 1.0 / (1.0 + math.exp(-(score - _PLAIN) / _SCALE))
