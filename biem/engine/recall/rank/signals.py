"""Ranking signals: one array per signal over a pool of candidates, named as in `SignalWeights`.

Most signals lie in [0, 1]. All statistics (idf, means, maxima) are of this pool only, so other scopes have no effect
and the newest turns are measured like the others. Language-independent except for the short lists of
`biem.engine.query.question`. Sources: BM25 (Robertson), hubness (Radovanović et al. 2010), passage context windows
(Liu & Croft 2002), two-step association between a first hit and the rest of the question. The weights are explained in
`biem.domain.policies.ranking`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from biem.domain.policies.ranking import RankPolicy
from biem.domain.scores import clamp01
from biem.domain.times.windows import earlier, windows
from biem.engine.query.question import Query, named_in
from biem.engine.recall.rank.pool import Pool
from biem.engine.recall.rank.term_matrix import Numbers, TermMatrix, rarities
from biem.ports import Vector
from biem.ports.embedding import row_products, weighted_rows

_DAY_S = 86_400.0
_PRECISE_DAYS = 6.5
"""A named time shorter than a week counts as a day: lying within it weighs more than being near."""
_LEAST_FADE_DAYS = 2.0
"""Minimum tolerance: people err by a day or two, or by a quarter of a longer named time."""
_MOST_TIMES = 32
"""Maximum times of a query; with more it is a pasted document."""
_EARLIER = 0.7
"""Decay per year of a date that is named without a year."""
_ALL_ASKED = 3.0
"""Weight of a time if the pool contains no word of the question ("what did I write on 1 December?")."""
_WORDS_SHARE = 0.6
"""Weight of words in `served`; the rest is vector similarity."""
_CHANCE = 0.25
"""Share of `RankPolicy.coherent` that unordered turns may reach by chance."""
_PROVEN = 0.5
"""Weight of structure from which it counts as informative."""
_SPREAD = 0.1
"""Minimum range of cosines that is scaled to [0, 1]."""


@dataclass(frozen=True, slots=True)
class Signals:
    """Every signal of every candidate, in pool order, and how well each candidate matches each asked sentence (row)."""

    table: Mapping[str, Numbers]
    served: Numbers
    """No rows if the query asks only one thing."""
    plain: Numbers
    """Score of a plain search: words and similarity of each candidate's own text to the whole query, in [0, 2]; 0 if
    all structure is informative."""


@dataclass(frozen=True, slots=True)
class _Words:
    """Matches of the query's words in the pool: rows are terms, columns candidates."""

    terms: Sequence[str]
    counts: Numbers
    idf: Numbers
    total: float
    """Sum of all idf: about the score of a turn with every term once."""
    gain: Numbers
    """BM25's saturated frequency, before idf."""
    scores: Numbers
    """BM25 of each candidate over the best one's, in [0, 1]."""


def signals(query: Query, pool: Pool, names: Mapping[str, Sequence[str]], policy: RankPolicy) -> Signals:
    """All signals of a pool of at least one candidate. `names`: terms of every speaker's name."""
    named = named_in(query.lexemes, names)
    words = _words(_terms(query.lexemes, {term for name in named for term in names[name]}), pool, policy)
    dense, hub, around = _dense(query.meant(policy.nameless), pool)
    dense, around = (_or_words(found, words, pool) for found in (dense, around))
    best_dense, own_dense, own_words, served = _sentences(query, pool, words, dense)
    best_dense, own_dense = (_or_words(found, words, pool) for found in (best_dense, own_dense))
    beside, session = trusts = [_trust(value, policy) for value in pool.coherence]
    near, day = _times(query.text, pool, _ALL_ASKED if not words.counts.any() else 1.0)
    opening = session * pool.opening
    log_length = pool.log_length
    machine = pool.machine
    table = {
        "words_around": _words_around(words, pool, policy, beside),
        "reply": beside * pool.moved(words.scores * pool.asks, -1),
        "session_words": _mixed(_session_words(words, pool, policy), words.scores, session),
        "dense_around": _mixed(around, dense, beside),
        "hub": hub,
        "session_dense": _mixed(_best_of_session(dense, pool), dense, session),
        "session_dense3": _mixed(_mean_of_best(dense, pool, 3), dense, session),
        "sentence_dense": best_dense,
        "sentence_words": own_words,
        "longer": np.clip(log_length - log_length.mean(), -2, 2),
        "longer_than_own": pool.longer_than_own,
        "short": np.clip(1 - pool.bag.lengths / policy.short_words, 0, 1),
        "opening": opening,
        "opening_to_machine": opening * min(1.0, 2 * float(machine.mean())),  # a program says half of it
        "speaker": np.array([float(one.speaker in named) for one in pool.candidates]),
        "machine": machine,
        "when": near,
        "day": day,
        "bridge": _bridge((1 - _WORDS_SHARE) * own_dense + _WORDS_SHARE * own_words, words, pool, policy),
        **pool.standing,
    }
    proven = pool.coherence != (None, None) and min(trusts) >= _PROVEN
    return Signals(table, served, np.zeros(pool.size) if proven else dense + words.scores)


def _trust(shown: float | None, policy: RankPolicy) -> float:
    """Weight of structure with this coherence, from 0 to 1; 1 if it cannot be measured."""
    if shown is None or policy.coherent == 0:
        return 1.0
    least = _CHANCE * policy.coherent
    return clamp01((shown - least) / (policy.coherent - least))


def _mixed(by_structure: Numbers, own: Numbers, trust: float) -> Numbers:
    """Mix of values from a turn's surroundings (weight `trust`) and its own."""
    return by_structure if trust == 1.0 else trust * by_structure + (1 - trust) * own


# -- words -------------------------------------------------------------------------------------------------------------


def _terms(lexemes: Sequence[str], of_names: set[str]) -> list[str]:
    """The query's terms without speakers' names (the signal `speaker` covers these), unless nothing else remains."""
    terms = list(dict.fromkeys(lexemes))
    return [term for term in terms if term not in of_names] or terms


def _saturated(counts: Numbers, lengths: Numbers, policy: RankPolicy) -> Numbers:
    norm = policy.k1 * (1 - policy.b + policy.b * lengths / max(1.0, lengths.mean()))
    gain: Numbers = counts * (policy.k1 + 1) / np.maximum(counts + norm, 1e-9)  # k1 = 0: 0 / 0 is 0
    return gain


def _over_best(scores: Numbers) -> Numbers:
    best = float(scores.max())
    return scores / best if best > 0 else scores


def _words(terms: Sequence[str], pool: Pool, policy: RankPolicy) -> _Words:
    counts = pool.bag.counts(terms)
    idf = rarities((counts > 0).sum(axis=1), pool.size)
    gain = _saturated(counts, pool.bag.lengths, policy)
    return _Words(terms, counts, idf, float(idf.sum()) or 1.0, gain, _over_best(weighted_rows(idf, gain)))


def _words_around(words: _Words, pool: Pool, policy: RankPolicy, trust: float) -> Numbers:
    """Each term counts at its best occurrence: in the turn, or with a lower weight one or two turns away; the weight is
    lower in less coherent pools.
    """
    near = words.gain
    for offset, share in ((1, trust * policy.next_1), (2, trust * policy.next_2)):
        for side in (-offset, offset):
            near = np.maximum(near, share * pool.moved(words.gain, side))
    return weighted_rows(words.idf, near) / words.total


def _session_words(words: _Words, pool: Pool, policy: RankPolicy) -> Numbers:
    """BM25 of each session's turns in the pool, divided by the best session's."""
    counts = pool.of_sessions(words.counts)
    idf = rarities((counts > 0).sum(axis=1), pool.sessions)
    return _over_best(weighted_rows(idf, _saturated(counts, pool.of_sessions(pool.bag.lengths), policy)))[pool.session]


# -- meaning -----------------------------------------------------------------------------------------------------------


def _scaled(values: Numbers, known: NDArray[np.bool_], low: float, high: float) -> Numbers:
    """Scale known values to [0, 1], others to 0; all known ones become 1 if they are equal."""
    low = min(low, high - _SPREAD)  # smaller differences are noise and must not overrule the words
    return np.where(known, np.clip((values - low) / (high - low), 0, 1), 0.0)


def _own_scale(values: Numbers, known: NDArray[np.bool_]) -> Numbers:
    return _scaled(values, known, float(values[known].min()), float(values[known].max()))


def _dense(vector: Vector | None, pool: Pool) -> tuple[Numbers, Numbers, Numbers]:
    """Similarity to the query; hubness (mean similarity to all others); similarity including both neighbours."""
    if vector is None or not pool.known.any():
        zero = np.zeros(pool.size)
        return zero, zero, zero
    around = row_products(pool.wide, vector).astype(np.float64)
    return _own_scale(pool.cosines(vector), pool.known), pool.hub, _own_scale(around, pool.known)


def _or_words(values: Numbers, words: _Words, pool: Pool) -> Numbers:
    """If a candidate has no vector yet but others have, its word score replaces its similarity."""
    return values if not pool.known.any() else np.where(pool.known, values, words.scores)


def _best_of_session(values: Numbers, pool: Pool) -> Numbers:
    best = np.zeros(pool.sessions)
    np.maximum.at(best, pool.session, values)
    return best[pool.session]


def _mean_of_best(values: Numbers, pool: Pool, count: int) -> Numbers:
    """Mean of each session's `count` best values; missing ones count as zero."""
    order = np.lexsort((-values, pool.session))
    session = pool.session[order]
    place = np.arange(pool.size) - np.searchsorted(session, session)
    chosen = order[place < count]
    return (np.bincount(pool.session[chosen], values[chosen], minlength=pool.sessions) / count)[pool.session]


def _sentences(query: Query, pool: Pool, words: _Words, dense: Numbers) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The best sentence's cosine; the best asked sentence's cosine and words; matches of each asked sentence.

    The first has one scale for all sentences, the others one scale each. A query of one sentence uses that one.
    """
    nothing = np.zeros((0, pool.size))
    asked = query.asked
    if not asked:
        return dense, dense, words.scores, nothing
    row = {term: number for number, term in enumerate(words.terms)}
    by_words = np.zeros((len(asked), pool.size))
    for number, one in enumerate(asked):
        rows = [row[term] for term in dict.fromkeys(one.lexemes) if term in row]
        by_words[number] = _over_best(weighted_rows(words.idf[rows], words.gain[rows]))
    several = len(asked) > 1
    known, width = pool.known, pool.vectors.shape[1]
    held = [one.vector for one in query.sentences if one.vector is not None and len(one.vector) == width]
    if len(held) < len(query.sentences) or not known.any():
        return dense, dense, by_words.max(axis=0), by_words if several else nothing
    cosines = np.stack([pool.cosines(vector) for vector in held], axis=1)
    low, high = float(cosines[known].min()), float(cosines[known].max())
    best = _scaled(cosines.max(axis=1), known, low, high)
    numbers = [number for number, one in enumerate(query.sentences) if one.asked] or range(len(query.sentences))
    own = np.stack([_own_scale(cosines[:, number], known) for number in numbers])
    served = (1 - _WORDS_SHARE) * own + _WORDS_SHARE * by_words if several else nothing
    return best, own.max(axis=0), by_words.max(axis=0), served


# -- times -------------------------------------------------------------------------------------------------------------


def _times(text: str, pool: Pool, weight: float) -> tuple[Numbers, Numbers]:
    """`weight` × nearness to the times that a query names, and × whether a turn lies in a short one (1/√days).

    Relative to the pool's newest turn; the same date of earlier years counts less with each year. Nearness is ignored
    if no turn lies within any of the times: then they are probably not times of messages.
    """
    at = pool.at
    near, day = np.zeros(pool.size), np.zeros(pool.size)
    hit = False
    oldest, clock = (datetime.fromtimestamp(float(moment), UTC) for moment in (at.min(), at.max()))
    named = [(window, 0) for window in windows(text, clock)] + earlier(text, clock, oldest)
    for (start, end), years in named[:_MOST_TIMES]:
        share = _EARLIER**years
        first, last = start.timestamp(), end.timestamp()
        inside = (at >= first) & (at < last)
        hit |= bool(inside.any())
        days = (last - first) / _DAY_S
        away = np.where(inside, 0.0, np.where(at < first, first - at, at - last)) / _DAY_S
        near = np.maximum(near, share * np.exp(-away / max(_LEAST_FADE_DAYS, days / 4)))
        if days <= _PRECISE_DAYS:
            day = np.maximum(day, share * inside / math.sqrt(max(1.0, days)))
    return weight * near if hit else np.zeros(pool.size), weight * day


# -- two steps ---------------------------------------------------------------------------------------------------------


def _bridge(base: Numbers, words: _Words, pool: Pool, policy: RankPolicy) -> Numbers:
    """Two-step match: turns with the question terms that a good hit (seed) lacks, and with the seed's rare words.

    √(base(seed) · share of the seed's links · share of the terms that the seed lacks), the best over all seeds.
    """
    out = np.zeros(pool.size)
    bag = pool.bag
    rarity = rarities(bag.holders, pool.size)
    asked = frozenset(bag.numbers(words.terms))
    present = words.counts > 0
    for seed in np.argsort(-base, kind="stable")[: policy.seeds].tolist():
        own = set(bag.opening(seed, policy.seed_words).tolist()) - asked
        links = _rarest(sorted(own), bag, policy.links)
        rest = np.where(present[:, seed], 0.0, words.idf)
        if base[seed] <= 0 or not links or rest.sum() < 1e-6:
            continue
        weights = rarity[links]
        shared = bag.sums(np.array(links), weights) / weights.sum()
        value = np.sqrt(base[seed] * shared * weighted_rows(rest, present) / words.total)
        value[seed] = 0.0
        out = np.maximum(out, value)
    return out


def _rarest(words: Sequence[int], bag: TermMatrix, most: int) -> list[int]:
    """The words in the fewest texts; ties are ordered by the word itself, so that processes agree."""
    if len(words) <= most:
        return list(words)
    holders = bag.holders[words].tolist()
    last = sorted(holders)[most - 1]
    sure = [word for word, count in zip(words, holders, strict=True) if count < last]
    tied = [word for word, count in zip(words, holders, strict=True) if count == last]
    return sure + sorted(tied, key=bag.word)[: most - len(sure)]
