"""Untrusted memories in a recall: ranked apart from all others, and told behind them.

Nothing that an untrusted memory says moves another one: neither its score nor its neighbours, its newer value or the
confidence. So an answer has the same trusted hits as without them. Only where the untrusted ones answer with more
confidence than the trusted ones do, they take at most a tenth of the places, the last ones, if they rank higher: texts
made to resemble questions nearly always outrank the tenth hit. Near-copies of an untrusted hit are left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from biem.domain.node import Hit
from biem.domain.text import jaccard
from biem.domain.trust import UNTRUSTED
from biem.engine.recall.rank.ranker import Answer
from biem.ports import Vector
from biem.ports.readers import Turn, Turns

_SHARE = 0.1
"""Share of the places of a recall that untrusted hits may take from trusted ones."""
_COPY = 0.6
"""Share of common index terms (Jaccard) from which two untrusted texts are copies of each other."""
_TOLD = 10
"""Distinct untrusted candidates that are kept, best first."""
_FEW = 9
"""Multiple of the rows of a search up to which all prefetched untrusted candidates are ranked."""


@dataclass(frozen=True, slots=True)
class Parted:
    """The candidates of a recall, and the untrusted ones apart."""

    believed: Turns
    untrusted: Turns


def parted(turns: Turns, more: Mapping[str, Turn] | None = None) -> Parted:
    """Part the candidates; `more`: further untrusted ones. Turns without untrusted ones are returned as they are."""
    apart = {key: turn for key, turn in turns.by_id.items() if not turn.believed}
    if not apart:
        return Parted(turns, Turns(more or {}, (), frozenset()))
    kept = {key: turn for key, turn in turns.by_id.items() if turn.believed}
    stretches = [tuple(key for key in stretch if key not in apart) for stretch in turns.stretches]
    believed = Turns(kept, [stretch for stretch in stretches if stretch], turns.openings - apart.keys())
    return Parted(believed, Turns({**(more or {}), **apart}, (), frozenset()))


def near(untrusted: Turns, vector: Vector | None, limit: int) -> Turns:
    """Of many prefetched ones the nearest `limit`."""
    if len(untrusted.by_id) <= _FEW * limit:
        return untrusted
    likeness = {
        key: float(turn.vector @ vector)
        for key, turn in untrusted.by_id.items()
        if vector is not None and turn.vector is not None and turn.vector.shape == vector.shape
    }
    best = sorted(likeness, key=lambda key: (-likeness[key], key))[:limit]
    return Turns({key: untrusted.by_id[key] for key in best}, (), frozenset())


def without_copies(answer: Answer) -> Answer:
    """The best untrusted candidates, each of another content."""
    kept: list[int] = []
    said: list[frozenset[str]] = []
    for place in answer.ranked.order:
        if len(kept) == _TOLD:
            break
        words = frozenset(answer.turns[answer.ordering.candidates[place].id].lexemes)
        if not any(jaccard(words, other) >= _COPY for other in said):
            kept.append(place)
            said.append(words)
    return replace(answer, ranked=replace(answer.ranked, order=kept))


def followed_by(
    hits: Sequence[Hit], untrusted: Sequence[Hit], top_k: int, *, more: int = 0, surer: bool = True
) -> list[Hit]:
    """At most `top_k` hits and `more`: the trusted ones, then untrusted ones that rank among them, or whose places are
    free. Unless the untrusted ones are `surer`, the first `top_k` trusted hits stay.
    """
    room = top_k + more
    free = max(0, room - len(hits))
    taken = int(_SHARE * room) or int(room > 1)
    told = list(untrusted[: free + taken if surer else min(free + taken, room - min(len(hits), top_k))])
    while len(told) > free and told[-1].score <= hits[room - len(told)].score:
        told.pop()
    kept = list(hits[: room - len(told)])
    least = min((hit.score for hit in kept), default=1.0)
    return [*kept, *(replace(hit, score=min(hit.score, least)) for hit in told)]


def believed_first(hits: Sequence[Hit], believed: Sequence[Hit], top_k: int) -> list[Hit]:
    """For a ranking that mixes both in `hits`: the hits that it gives without untrusted memories, then those."""
    return followed_by(believed, [hit for hit in hits if hit.node.trust == UNTRUSTED], top_k)
