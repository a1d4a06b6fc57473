"""Ranking of recall: a linear score of about twenty signals over one pool of candidates, then removal of repetitions.

    score(turn) = Σ weight[signal] · signal(turn)                     log-odds of being evidence, up to a constant
    answer      = greedily the best score − penalty for repeating picked turns
                  where structure is uninformative, the best by their own text stay among the first ten

The pool has the search results plus the turns around each. Greedy selection with a similarity penalty is maximal
marginal relevance (Carbonell & Goldstein 1998), here only beyond a threshold: two turns about one matter are no
repetition. Pure functions of their arguments, thread-safe; equal scores keep the pool's order.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from biem.domain.policies.ranking import RankPolicy, SignalWeights
from biem.domain.vectors import row_products, weighted_rows
from biem.engine.query.question import Query
from biem.engine.recall.rank.pool import Candidate, Pool
from biem.engine.recall.rank.signals import signals
from biem.engine.recall.rank.term_matrix import Numbers, TermMatrix

NAMES = tuple(field.name for field in fields(SignalWeights))
"""Every signal, in the order of the columns of `Ranked.signals`."""
_FIRST = 10
"""Ranks within which the best of a plain search stay."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The pool's order, best first, and every candidate's score and signals (row i belongs to candidate i)."""

    order: Sequence[int]
    scores: Numbers
    """Before the penalty for repetitions; not bounded, comparable only within one pool."""
    signals: Numbers
    weights: Numbers
    pool: Pool | None = None
    """The ranked pool, for further measurements."""

    def why(self, index: int) -> dict[str, float]:
        """Contribution of each signal to the score of a candidate; signals without effect are omitted."""
        parts = (self.signals[index] * self.weights).tolist()
        return {name: part for name, part in zip(NAMES, parts, strict=True) if abs(part) > 1e-6}


class Order(Protocol):
    """Anything that orders a pool as `rank` does."""

    def __call__(
        self,
        query: Query,
        candidates: Sequence[Candidate],
        names: Mapping[str, Sequence[str]],
        policy: RankPolicy,
        count: int = 20,
        *,
        adjust: Callable[[Numbers], Numbers] | None = None,
        pool: Pool | None = None,
    ) -> Ranked:
        """See `rank`."""


def rank(
    query: Query,
    candidates: Sequence[Candidate],
    names: Mapping[str, Sequence[str]],
    policy: RankPolicy,
    count: int = 20,
    *,
    adjust: Callable[[Numbers], Numbers] | None = None,
    pool: Pool | None = None,
) -> Ranked:
    """Order a pool, the first `count` without repetitions. `names`: the terms of every speaker's name.

    `adjust` applies the caller's changes to the scores, before the penalty for repetitions. `pool`: that of these
    candidates, if already computed.
    """
    weights = np.array([getattr(policy.weights, name) for name in NAMES])
    if not candidates:
        return Ranked([], np.zeros(0), np.zeros((0, len(NAMES))), weights)
    dimension = None if query.vector is None else len(query.vector)
    if pool is None or pool.dimension != dimension:
        pool = Pool(candidates, names, policy.session_gap_s, dimension)
    found = signals(query, pool, names, policy)
    matrix = np.stack([found.table[name] for name in NAMES], axis=1)
    scores = row_products(matrix, weights)
    if adjust is not None:
        scores = adjust(scores)
    order = distinct(scores, pool.bag, found.served, policy, count)
    return Ranked(with_plain(order, found.plain, policy), scores, matrix, weights, pool)


def with_plain(order: Sequence[int], plain: Numbers, policy: RankPolicy) -> list[int]:
    """The order, with the last of the first ten replaced by the best by `plain` that rank behind them.

    A high rank due to neighbouring turns may be an error; then the answer is among the first of a plain search.
    """
    best = [place for place in np.argsort(-plain, kind="stable")[: policy.plain].tolist() if plain[place] > 0]
    first, late = list(order[:_FIRST]), [place for place in order[_FIRST:] if place in best]
    for _ in late:
        first.remove(next(place for place in reversed(first) if place not in best))
    shown = [*first, *late]
    held = set(shown)
    return [*shown, *(place for place in order if place not in held)]


def distinct(scores: Numbers, bag: TermMatrix, served: Numbers, policy: RankPolicy, count: int) -> list[int]:
    """All indices, best first; among the best `depth`, turns lose score for repeating those before them.

    `bag` has the words of every turn. `served` has a row for each asked sentence, see `Signals`: a turn also loses
    score while another sentence has found less.
    """
    order = np.argsort(-scores, kind="stable")
    head, tail = order[: policy.depth], order[policy.depth :]
    value = scores[head]
    share = served[:, head] ** policy.balance_power
    share = share / np.maximum(share.sum(axis=0), 1e-9)
    got = np.zeros(len(share))
    picked: list[int] = []
    likeness = bag.likeness(head)
    for _ in head[:count]:
        shown = value - policy.balance * weighted_rows(got - got.min(), share) if len(got) > 1 else value
        best = int(np.argmax(shown))
        picked.append(best)
        got += share[:, best]
        over = np.maximum(likeness.to(best) - policy.repeat_from, 0.0) / (1 - policy.repeat_from)
        value = value - policy.repeat * over
        value[best] = -np.inf
    left = np.flatnonzero(np.isfinite(value))
    rest = left[np.argsort(-value[left], kind="stable")]
    return [*head[picked].tolist(), *head[rest].tolist(), *tail.tolist()]
