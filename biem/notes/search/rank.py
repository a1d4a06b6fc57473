"""From a pool of chunks to one order: α · words + β · content + γ · tags, each scaled to [0, 1] over the pool.

    tags = cosine of the query and Σ wᵢ · rareᵢ · vᵢ, with rareᵢ = ln(1 + N / dfᵢ) / ln(1 + N)
    told = score + κ · covered + η · together + μ · near_note + ν · named + δ · when
    told + ε · guided, once the memories of the same query are known

A tag is compared by its id; a directory that every chunk has says nothing. Every chunk of the pool has its own score of
tags and of content, also where no search returned it. `covered` is the share of the query's terms that a chunk has, by
their rareness in the pool, those that none has included: BM25 alone gives a chunk that repeats one term as much as one
that has two. `together` is what the chunks of a note that were found by words say between them: the best one's BM25,
half of the second's, a quarter of the third's, …, again scaled over the pool. `near_note` is for content: how far the
second and the third best chunk of a note lie above the pool's farthest, on the mean; the best one has its own score.
`named` is the share, by rareness, of the tags named in the query that a chunk has, each by the weight of its source: of
two equal texts in two folders it prefers the one whose folder the query names, and a keyword of a text says little.
`guided` is the share of a chunk's tag weight that the best memories name.
"""

import math
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from biem.domain.policies.notes import NoteRankPolicy
from biem.domain.times.spans import Window
from biem.lazy import lazy
from biem.ports import Vector
from biem.ports.notes.records import PoolChunk, TagInfo

Values = NDArray[np.float64]
PARTS = ("words", "content", "tags", "covered", "together", "near_note", "named", "when", "guided")
"""What a score is made of; the last one is added when the memories are known."""
_OTHERS = 2
"""The number of hits that are not of the note with most hits, at least."""
_FALLING = 0.5
"""How much less each further chunk of a note counts in `together`."""
_FURTHER = 2
"""Chunks of a note, after the nearest, that count in `near_note`."""
_NOTE_NOISE = 0.03
"""As `NoteRankPolicy.noise`, of these means."""


@dataclass(slots=True)
class RankedChunk:
    """A chunk of the pool with its score and the parts of it. Not frozen: a search makes 140, which takes three times
    as long then.
    """

    chunk: PoolChunk
    score: float
    parts: tuple[float, ...]
    """What the score is made of, in the order of `PARTS`."""
    roots: Mapping[int, float] = field(default_factory=dict, repr=False)
    """Weight of each of its tags."""

    @property
    def why(self) -> dict[str, float]:
        """The parts by name: only the few hits that are returned need them."""
        return dict(zip(PARTS, self.parts, strict=True))


TagKey = tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""All that decides the tags of a chunk, where tags are as they are."""


def tag_key(chunk: PoolChunk) -> TagKey:
    """What tells the tags of one chunk from those of another."""
    return (chunk.ns, chunk.tag_ids, chunk.tag_counts, chunk.note_tag_ids, chunk.note_tag_counts)


@dataclass(frozen=True, slots=True)
class ChunkTags:
    """The tags of a chunk, as those that stand for them."""

    roots: Mapping[int, float]
    """The weight of each: that of its heaviest source, times its rareness."""
    total: Vector | None
    """The weighted sum of their vectors; None where none has one."""
    complete: bool
    """Each has a vector."""


@dataclass(frozen=True, slots=True)
class NoteQuestion:
    """What the pool is compared with."""

    vector: Vector | None
    """None while the embedder is down."""
    words: Mapping[str, float]
    """BM25 scores by chunk."""
    times: Sequence[Window] = ()
    """Half-open windows that the query names."""
    named: frozenset[int] = frozenset()
    """Tags that the query names."""
    times_only: bool = False
    """It names times and nothing else: the content of a chunk is not what is asked for."""
    own_terms: int = 0
    """How many of the terms that are looked for are the query's own: the first ones. Others stand for one of these."""


@dataclass(frozen=True)
class TagVectors:
    """The tags of the pool: their infos by id, and vectors of one length by root. `sizes`: chunks by `ns`."""

    infos: Mapping[int, TagInfo]
    vectors: Mapping[int, Vector]
    sizes: Mapping[str, int]
    known: dict[TagKey, ChunkTags] = field(default_factory=dict)
    """The tags of chunks; those that are missing are added when they are asked for."""

    def of(self, chunk: PoolChunk, weights: Sequence[float]) -> ChunkTags:
        """The tags of a chunk. `weights`: of the sources of tags."""
        key = tag_key(chunk)
        found = self.known.get(key)
        if found is None:
            roots = _roots(chunk, self.rare, weights)
            column, matrix = self._matrix
            columns = [column[root] for root in roots if root in column]
            total = None
            if columns:  # of all chunks at once, BLAS would keep every core busy
                shares = np.array([weight for root, weight in roots.items() if root in column], dtype=np.float32)
                total = np.dot(shares, matrix.take(columns, axis=0))
            found = self.known[key] = ChunkTags(roots, total, len(columns) == len(roots))
        return found

    @lazy
    def _matrix(self) -> tuple[Mapping[int, int], Vector]:
        """The row of each root in a matrix of all vectors, and this matrix."""
        rows = {root: place for place, root in enumerate(self.vectors)}
        return rows, _stacked(list(self.vectors.values())) if rows else np.zeros((0, 0), dtype=np.float32)

    @lazy
    def rare(self) -> Mapping[int, tuple[int, float]]:
        """Root and rareness of each tag that is no idle one."""
        seen: dict[tuple[str, int], float] = {}  # many tags have as few chunks
        found: dict[int, tuple[int, float]] = {}
        for info in self.infos.values():
            if info.idle:
                continue
            key = (info.ns, info.uses)
            share = seen.get(key)
            if share is None:
                share = seen[key] = rareness(info.uses, self.sizes.get(info.ns, 1))
            found[info.id] = (info.root, share)
        return found


def ranked(
    pool: Sequence[PoolChunk],
    question: NoteQuestion,
    tags: TagVectors,
    weights: Sequence[float],
    policy: NoteRankPolicy,
) -> list[RankedChunk]:
    """All chunks of the pool, best first. `weights`: of the sources of tags."""
    if not pool:
        return []
    words = np.array([question.words.get(chunk.id, 0.0) for chunk in pool])
    content = _cosines(question.vector, [chunk.vector for chunk in pool])
    of_tags = [tags.of(chunk, weights) for chunk in pool]
    roots = [each.roots for each in of_tags]
    when = np.array([float(falls(chunk, question.times)) for chunk in pool])
    near = (policy.beta, policy.gamma, policy.near_note)
    beta, gamma, near_note = (0.0, 0.0, 0.0) if question.times_only and policy.when and when.any() else near
    tagged = _tag_cosines(question.vector, [each.total for each in of_tags])
    said = scaled(words, least=0.0)
    parts = (
        policy.alpha * said,
        beta * _near(pool, content, said, question.vector, policy.noise),
        gamma * scaled(tagged, noise=policy.noise),
    )
    together, nearest = _together(pool, words), _near_note(pool, content)
    covered = _covered(pool, question.own_terms)
    named = _named(roots, question.named, tags)
    bonus = (
        policy.covered * covered
        + policy.together * scaled(together, least=0.0)
        + near_note * scaled(nearest, least=0.0, noise=_NOTE_NOISE)
        + policy.named * named
        + policy.when * when
    )
    scores = sum(parts) + bonus
    most = _most(policy)
    columns = (words, content, tagged, covered, together, nearest, named, when)
    found = [
        RankedChunk(chunk, score, (*values, 0.0), tags_of)
        for chunk, score, values, tags_of in zip(
            pool, (scores / most).tolist(), np.stack(columns, axis=1).tolist(), roots, strict=True
        )
    ]
    return sorted(found, key=_best_first)


def guided(found: Sequence[RankedChunk], guides: Collection[int], policy: NoteRankPolicy) -> list[RankedChunk]:
    """The same, best first, after what the best memories name is added; `guides` are the tags of these names."""
    if not guides or not policy.guided:
        return list(found)
    weight, names = policy.guided / _most(policy), frozenset(guides)
    raised = []
    for one in found:
        if not names.isdisjoint(one.roots):
            share = _guided(one.roots, names)
            one = replace(one, score=one.score + weight * share, parts=(*one.parts[:-1], share))
        raised.append(one)
    return sorted(raised, key=_best_first)


def _most(policy: NoteRankPolicy) -> float:
    """The highest possible sum of all parts."""
    bonuses = (policy.covered, policy.together, policy.near_note, policy.named, policy.when, policy.guided)
    return 1.0 + sum(bonuses)


def _best_first(one: RankedChunk) -> tuple[float, str]:
    return (-one.score, one.chunk.id)


def _near(pool: Sequence[PoolChunk], content: Values, said: Values, vector: Vector | None, noise: float) -> Values:
    """Scaled cosines; for a chunk that is not embedded yet what its words say, or it would be told after all others."""
    known = np.array([chunk.vector is not None for chunk in pool])
    if vector is None or known.all() or not known.any():
        return scaled(content, noise=noise)
    near = said.copy()
    near[known] = scaled(content[known], noise=noise)
    return near


def few_of_each(found: Sequence[RankedChunk], per_note: int, limit: int) -> list[RankedChunk]:
    """The best `limit`, best first; of the first n, at most `per_note`, or all but two, are of one note.

    A chunk that comes too early waits for the next place that its note may have.
    """
    taken: dict[str, int] = {}
    kept: list[RankedChunk] = []
    waiting: deque[RankedChunk] = deque()
    rest = iter(found)
    while len(kept) < limit:
        most = max(per_note, len(kept) + 1 - _OTHERS)
        one = _first(waiting, taken, most)
        while one is None:
            each = next(rest, None)
            if each is None:
                return kept
            if taken.get(each.chunk.note_id, 0) < most:
                one = each
            else:
                waiting.append(each)
        taken[one.chunk.note_id] = taken.get(one.chunk.note_id, 0) + 1
        kept.append(one)
    return kept


def _first(waiting: deque[RankedChunk], taken: Mapping[str, int], most: int) -> RankedChunk | None:
    """Take the first of a note that has fewer than `most` places."""
    for place, each in enumerate(waiting):
        if taken.get(each.chunk.note_id, 0) < most:
            del waiting[place]
            return each
    return None


def scaled(values: Values, *, least: float | None = None, noise: float = 0.0) -> Values:
    """Values in [0, 1] by their minimum (or `least`) and maximum; all 0 where these are equal.

    Those that lie within `noise` of each other take a part of the range only.
    """
    low = float(values.min()) if least is None else least
    span = float(values.max()) - low
    span = max(span, noise) if span > 0 else 0.0
    return np.zeros_like(values) if span <= 0 else (values - low) / span


def _together(pool: Sequence[PoolChunk], words: Values) -> Values:
    """For each chunk, the words' scores of its note: the best, and each further one by half as much as the last."""
    by_note: dict[str, list[float]] = {}
    for chunk, score in zip(pool, words.tolist(), strict=True):
        if score:
            by_note.setdefault(chunk.note_id, []).append(score)
    totals = {
        note: sum(score * _FALLING**place for place, score in enumerate(sorted(scores, reverse=True)))
        for note, scores in by_note.items()
    }
    return np.array([totals.get(chunk.note_id, 0.0) for chunk in pool])


def _near_note(pool: Sequence[PoolChunk], content: Values) -> Values:
    """For each chunk, how far further near chunks of its note lie above the farthest of the pool, on the mean.

    The nearest does not count, or the content of notes with one chunk would weigh more, and their words and tags less.
    """
    near_each = content.tolist()
    known = [near for chunk, near in zip(pool, near_each, strict=True) if chunk.vector is not None]
    least = min(known, default=0.0)
    by_note: dict[str, list[float]] = {}
    for chunk, near in zip(pool, near_each, strict=True):
        by_note.setdefault(chunk.note_id, []).append(max(0.0, near - least))
    several = {note: each for note, each in by_note.items() if len(each) > 1}
    means = {note: sum(sorted(each)[-1 - _FURTHER : -1]) / _FURTHER for note, each in several.items()}
    return np.array([means.get(chunk.note_id, 0.0) for chunk in pool])


def _covered(pool: Sequence[PoolChunk], own: int) -> Values:
    """For each chunk, the share of the query's terms that it has, each by its rareness in the pool.

    A term of the question that no chunk has counts, too, unless a term that stands for one is there: a chunk that
    shares one everyday word with a question of six has little of it. `own`: how many are the query's own.
    """
    size = len(pool)
    terms = np.fromiter(chain.from_iterable(chunk.asked for chunk in pool), dtype=np.intp)
    if not terms.size:
        return np.zeros(size)
    counts = np.bincount(terms, minlength=own)
    rare = np.array([math.log1p((size - count + 0.5) / (count + 0.5)) if count else 0.0 for count in counts.tolist()])
    missing = max(0, int(np.sum(counts[:own] == 0)) - int(np.count_nonzero(counts[own:])))
    asked = rare.sum() + missing * math.log1p((size + 0.5) / 0.5)
    chunks = np.repeat(np.arange(size), [len(chunk.asked) for chunk in pool])
    found: Values = np.bincount(chunks, weights=rare[terms], minlength=size) / asked
    return found


def weighted(chunk: PoolChunk, weights: Sequence[float]) -> Iterator[tuple[int, float]]:
    """The tags of a chunk and of its note, each with the weight of its source."""
    by_source = tuple(weights)
    return chain(
        zip(chunk.note_tag_ids, _spread(chunk.note_tag_counts, by_source), strict=False),
        zip(chunk.tag_ids, _spread(chunk.tag_counts, by_source), strict=False),
    )


@lru_cache(maxsize=4_096)
def _spread(counts: tuple[int, ...], weights: tuple[float, ...]) -> tuple[float, ...]:
    """The weight of each place, by the number of places that each source has: few chunks differ in these numbers."""
    return tuple(weight for weight, count in zip(weights, counts, strict=False) for _ in range(count))


def rareness(uses: int, size: int) -> float:
    """1 for a tag of one chunk only, near 0 for one that all have."""
    return math.log1p(size / max(1, min(uses, size))) / math.log1p(size) if size > 0 else 0.0


def _cosines(vector: Vector | None, others: Sequence[Vector | None]) -> Values:
    """The cosine of each with a vector; 0 where either is missing, or their models differ."""
    found = np.zeros(len(others))
    if vector is None:
        return found
    known = {place: one for place, one in enumerate(others) if one is not None and one.shape == vector.shape}
    if known:
        found[list(known)] = _stacked(list(known.values())) @ vector
    return found


def _stacked(vectors: Sequence[Vector]) -> Vector:
    """As rows of a matrix: `numpy.stack` takes three times as long for hundreds."""
    return np.concatenate(vectors).reshape(len(vectors), -1)


def nearest(vector: Vector, keys: Mapping[str, bytes], vectors: Mapping[bytes, Vector], limit: int) -> list[str]:
    """The chunks whose content is nearest to a vector, at most `limit`. `keys`: of the vector of each chunk."""
    near = {chunk: vectors[key] for chunk, key in keys.items() if key in vectors}
    chunks = [chunk for chunk, one in near.items() if one.shape == vector.shape]
    if len(chunks) <= limit:
        return chunks
    cosines = _stacked([near[chunk] for chunk in chunks]) @ vector
    return [chunks[place] for place in np.argpartition(-cosines, limit)[:limit].tolist()]


def _tag_cosines(vector: Vector | None, totals: Sequence[Vector | None]) -> Values:
    """For each chunk the cosine of the query and the weighted sum of the vectors of its tags."""
    found = np.zeros(len(totals))
    if vector is None:
        return found
    known = {place: one for place, one in enumerate(totals) if one is not None and one.shape == vector.shape}
    if known:
        sums = _stacked(list(known.values()))
        lengths, cosines = np.sqrt(np.einsum("ij,ij->i", sums, sums)), np.zeros(len(sums))
        np.divide(sums @ vector, lengths, out=cosines, where=lengths > 0)
        found[list(known)] = cosines
    return found


def _roots(chunk: PoolChunk, rare: Mapping[int, tuple[int, float]], weights: Sequence[float]) -> dict[int, float]:
    """The weight of each tag of a chunk: that of its heaviest source, times its rareness."""
    found: dict[int, float] = {}
    for tag, weight in weighted(chunk, weights):
        known = rare.get(tag)
        if known is not None:
            root, share = known
            if (value := weight * share) >= found.get(root, 0.0):
                found[root] = value
    return found


def falls(chunk: PoolChunk, times: Sequence[Window]) -> bool:
    """Whether the day of a chunk, or else of its note, lies in one of these times."""
    at = chunk.day or chunk.at
    return at is not None and any(start <= at < end for start, end in times)


def _named(roots: Sequence[Mapping[int, float]], named: frozenset[int], tags: TagVectors) -> Values:
    """For each chunk the share of the tags in `named` that it has, by the weight of their source; those that the whole
    pool lacks do not count.
    """
    if not named:
        return np.zeros(len(roots))
    has = [[tag for tag in named if tag in each] for each in roots]
    there = set().union(*has)
    size = max(tags.sizes.values(), default=1)
    rare = {info.root: rareness(info.uses, size) for info in tags.infos.values() if info.root in there}
    total = sum(rare.values())
    if total <= 0:
        return np.zeros(len(roots))
    return np.array([sum(each[tag] for tag in tags_of) / total for each, tags_of in zip(roots, has, strict=True)])


def _guided(roots: Mapping[int, float], guides: Collection[int]) -> float:
    """The share of a chunk's tag weight among the tags that the best memories name."""
    total = sum(roots.values())
    return sum(weight for root, weight in roots.items() if root in guides) / total if total > 0 else 0.0
