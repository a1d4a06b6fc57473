"""Confidence of a recall: a logistic function of absolute features, while the ranking has only relative ones.

    confidence = σ(bias + Σ weight · ground)

The same features (grounds) answer two questions with different weights: does this memory know the answer at all (else
nothing is injected), and are the prefetched candidates as good as a search. An unknown name lowers confidence most;
questions without names are judged by their words and similarity. Of several sentences only those that ask count, so
that small talk around a question does not lower confidence. Pure functions, thread-safe.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain

import numpy as np

from biem.domain.policies.confidence import ConfidenceWeights
from biem.domain.policies.orbit import OrbitWeights
from biem.domain.scores import probability
from biem.domain.scores import rarity as idf
from biem.engine.query.question import Query, named_in
from biem.engine.recall.rank.pool import Candidate, Pool
from biem.engine.recall.rank.score import NAMES, Ranked
from biem.ports import Vector, Vectors

Similarity = Callable[[Vector, Vectors], Sequence[float] | np.ndarray[tuple[int], np.dtype[np.float32]]]
"""As `Embedder.similarity`."""

_BEST = 5
_NEAREST = 3
_TOGETHER = 10
_DAY = NAMES.index("day")
_PLAIN = 50
"""Rank at which candidates are no longer answers."""
_MOST_TERMS = 30
_USUAL = {"covered": 0.55, "known": 0.7, "lead": 0.22, "similarity": 0.4, "lift": 0.25, "together": 0.5}
"""Typical values of answerable questions of the dev dialogues. They stand in where a feature cannot be measured: the
embedder is down, or the memory is too small for comparisons or in another language."""
_HAN = range(0x3400, 0xA000)


def grounds(
    query: Query,
    mentioned: Collection[Sequence[str]],
    candidates: Sequence[Candidate],
    names: Mapping[str, Sequence[str]],
    ranked: Ranked,
    similarity: Similarity,
) -> dict[str, float]:
    """Features for `ConfidenceWeights` and `OrbitWeights` of a ranked pool; empty for an empty pool.

    `mentioned`: the terms of each name in the query; `names`: those of each speaker's name.
    """
    if not candidates:
        return {}
    named = named_in(query.lexemes, names)
    of_names = {term for name in named for term in names[name]}
    terms = list(dict.fromkeys(query.lexemes))
    terms = [term for term in terms if term not in of_names] or terms
    pool = ranked.pool or Pool(candidates, names, 0.0, None if query.vector is None else len(query.vector))
    held = _held([*dict.fromkeys([*terms, *(term for name in mentioned for term in name)])], pool, names)
    holders = Counter(chain.from_iterable(held))
    heard = holders.keys()
    in_question = _in_question(query, mentioned)
    best = list(ranked.order[:_BEST])
    in_best = set().union(*(held[place] for place in best))
    rarity = {term: idf(holders[term], len(held)) for term in terms}
    scores = np.sort(ranked.scores)[::-1]
    found = {
        "covered": sum(rarity[term] for term in terms if term in in_best) / (sum(rarity.values()) or 1.0),
        "known": sum(term in heard for term in terms) / max(1, len(terms)),
        "named": float(bool(named)),
        "strangers": sum(heard.isdisjoint(name) for name in mentioned) / max(1, len(mentioned)),
        "mentions": float(bool(in_question)),
        "heard": sum(any(words.issuperset(name) for words in held) for name in in_question) / max(1, len(in_question)),
        "terms": min(len(terms), _MOST_TERMS) / _MOST_TERMS,
        "lead": _settled("lead", float(scores[0] - scores[min(_PLAIN, len(scores)) - 1]) / most(ranked), len(scores)),
        "day": float(ranked.signals[best, _DAY].max()),
        "together": _together([candidates[place] for place in ranked.order[:_TOGETHER]]),
        "small": 1.0 - _many(len(candidates)),
        **_likeness(query, pool, best, similarity),
    }
    found |= {f"small_{name}": found["small"] * found[name] for name in ("similarity", "mentions")}
    if _is_chinese(query.lexemes) != _is_chinese(candidates[best[0]].lexemes):
        found |= _by_meaning(found)
    return found


def confidence(measured: Mapping[str, float], weights: ConfidenceWeights | OrbitWeights) -> float:
    """Confidence in (0, 1); exactly 0 without measurements."""
    if not measured:
        return 0.0
    parts = asdict(weights)
    odds = parts.pop("bias") + sum(weight * measured[name] for name, weight in parts.items())
    return probability(odds)


def most(ranked: Ranked) -> float:
    """Maximum possible score; dividing by it makes confidence independent of the scale of the ranking weights."""
    return float(ranked.weights[ranked.weights > 0].sum()) or 1.0


def _in_question(query: Query, mentioned: Collection[Sequence[str]]) -> list[Sequence[str]]:
    """Names in the asking sentences; none if several sentences contain no question, since news has new names."""
    if query.sentences and not any(one.asked for one in query.sentences):
        return []
    asked = [set(one.lexemes) for one in query.asked]
    return [name for name in mentioned if not asked or any(words.issuperset(name) for words in asked)]


def _together(best: Sequence[Candidate]) -> float:
    """Share of the best that are from one conversation; facts, which belong to none, are ignored."""
    talks = Counter(one.conversation for one in best if not one.conversation.startswith("\0"))
    return max(talks.values()) / talks.total() if talks else _USUAL["together"]


def _is_chinese(lexemes: Sequence[str]) -> bool:
    return sum(ord(term[0]) in _HAN for term in lexemes if term) * 2 > len(lexemes)


def _by_meaning(found: Mapping[str, float]) -> dict[str, float]:
    """Words and names of one script cannot match texts in the other: there, similarity stands in for them."""
    share = min(1.0, found["similarity"] / _USUAL["similarity"])
    words = {name: max(found[name], share * _USUAL[name]) for name in ("covered", "known")}
    return {**words, "strangers": (1 - share) * found["strangers"], "heard": max(found["heard"], share)}


def _settled(name: str, value: float, size: int) -> float:
    """Shrink a comparison among few candidates towards its typical value."""
    share = _many(size)
    return share * value + (1 - share) * _USUAL[name]


def _many(size: int) -> float:
    """Weight of comparisons by pool size: 0 for one candidate, up to 1."""
    return min(1.0, (size - 1) / (_PLAIN - 1))


def _held(terms: Sequence[str], pool: Pool, names: Mapping[str, Sequence[str]]) -> list[set[str]]:
    """Which of these distinct terms each candidate contains, including its speaker's name."""
    held: list[set[str]] = [set() for _ in pool.candidates]
    rows, places = np.nonzero(pool.bag.counts(terms))
    for row, place in zip(rows.tolist(), places.tolist(), strict=True):
        held[place].add(terms[row])
    own = {name: set(terms).intersection(parts) for name, parts in names.items()}
    if any(own.values()):
        for place in np.flatnonzero(pool.named).tolist():
            held[place] |= own[pool.candidates[place].speaker]
    return held


def _likeness(query: Query, pool: Pool, best: Sequence[int], similarity: Similarity) -> dict[str, float]:
    vector = query.vector
    if vector is None or not pool.known.any():
        return {name: _USUAL[name] for name in ("similarity", "lift")}
    known = np.flatnonzero(pool.known).tolist()
    asked = [vector, *(one.vector for one in query.asked if one.vector is not None and len(one.vector) == len(vector))]
    values = np.max([pool.nearest(partial(similarity, one)) for one in asked], axis=0)
    like = dict(zip(known, values[pool.known].tolist(), strict=True))
    top = sorted(like.values(), reverse=True)[:_BEST]
    nearest = [like[place] for place in best[:_NEAREST] if place in like]
    return {
        "similarity": max(nearest, default=0.0),
        "lift": _settled("lift", sum(top) / len(top) - sum(like.values()) / len(like), len(like)),
    }
