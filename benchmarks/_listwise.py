"""Learning the weights of signals from pools of candidates: first likelihood, then the contents of the first ten.

1. Listwise softmax (Cao et al. 2007): a question spreads its probability over its pool by exp(Σ weight · signal), and
   what falls on evidence is raised. Convex, so that the start does not matter.
2. From there, smooth recall: of each piece of evidence the logistic of its lead over the candidate that it must beat to
   be among the first k. The softmax depends on how sure the best answer is; this, on which candidates get in.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks._pools import Case
from biem.engine.recall.rank.score import NAMES
from biem.engine.recall.rank.term_matrix import Indices, Numbers

_MOMENTUM, _DAMPING = 0.9, 0.99
"""Of Adam (Kingma & Ba 2015)."""
_TINY = 1e-9
_PLAIN = 50
"""The place in a pool where candidates are nothing special any more."""


@dataclass(frozen=True, slots=True)
class FitPolicy:
    """Every number of the fit."""

    l2: float = 0.1
    """Pulls standardised weights of the softmax towards 0."""
    steps: int = 60
    rate: float = 0.05
    """Of the softmax, per step."""
    recall_steps: int = 200
    recall_rate: float = 0.03
    hold: float = 0.003
    """Pulls towards the weights of the softmax while recall is raised."""
    softness: float = 0.4
    """Standardised score: a lead of several times as much counts as a sure place among the first."""
    depths: tuple[tuple[int, float], ...] = ((1, 0.1), (5, 0.25), (10, 0.45), (20, 0.2))
    """How much recall counts at each depth."""
    lead: float = 5.5
    """Log-odds by which the best of a pool leads the fiftieth in the end. Which order wins does not depend on it, but
    penalties and confidence are counted in these units."""


class Lists:
    """Questions as one matrix: the candidates of all of them below each other."""

    def __init__(self, cases: Sequence[Case], weights: Sequence[float]) -> None:
        """`weights`: how much each question counts. Those without evidence in their pool teach nothing."""
        kept = [(case, weight) for case, weight in zip(cases, weights, strict=True) if any(map(len, case.gold))]
        if not kept:
            raise ValueError("no question has evidence among its candidates")
        signals = np.concatenate([case.table for case, _ in kept]).astype(np.float64)
        self.spread = signals.std(axis=0)
        self.rows = (signals - signals.mean(axis=0)) / np.maximum(self.spread, _TINY)
        self.given = np.concatenate([case.added for case, _ in kept]).astype(np.float64)
        sizes = np.array([len(case.table) for case, _ in kept])
        self.starts: Indices = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.intp)
        self.question = np.repeat(np.arange(len(kept)), sizes)
        share = np.array([weight for _, weight in kept])
        self.share: Numbers = share / share.sum()
        self.wanted = np.concatenate([wanted(len(case.table), case.gold) for case, _ in kept])
        groups = [
            (number, start + group, 1 / len(case.gold))
            for number, ((case, _), start) in enumerate(zip(kept, self.starts, strict=True))
            for group in case.gold
            if len(group)
        ]
        self.members: Indices = np.concatenate([rows for _, rows, _ in groups])
        lengths = [len(rows) for _, rows, _ in groups]
        self.first: Indices = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.intp)
        self.group = np.repeat(np.arange(len(groups)), lengths)
        self.asked_by = np.array([number for number, _, _ in groups])
        self.counts: Numbers = np.array([part for _, _, part in groups]) * self.share[self.asked_by]
        self.others = self._others(sizes)
        self.found = np.bincount(self.asked_by, minlength=len(kept))

    def _others(self, sizes: NDArray[np.int_]) -> Indices:
        """For each question (row) the rows of candidates that are no evidence, padded with -1."""
        out = np.full((len(sizes), int(sizes.max())), -1, np.intp)
        for number, (start, size) in enumerate(zip(self.starts.tolist(), sizes.tolist(), strict=True)):
            own = np.arange(start, start + size)
            free = own[self.wanted[own] == 0]
            out[number, : len(free)] = free
        return out

    def probability(self, scores: Numbers) -> Numbers:
        """Softmax within each question."""
        lifted = np.exp(scores - np.maximum.reduceat(scores, self.starts)[self.question])
        out: Numbers = lifted / np.add.reduceat(lifted, self.starts)[self.question]
        return out

    def likely(self, at: Numbers) -> Numbers:
        """Slope of the cross-entropy."""
        error = self.probability(self.rows @ at + self.given) - self.wanted
        out: Numbers = self.rows.T @ (error * self.share[self.question])
        return out

    def lead(self, at: Numbers) -> float:
        """How far the best of a pool is before the fiftieth, on average."""
        pools = [np.sort(pool)[::-1] for pool in np.split(self.rows @ at, self.starts[1:])]
        return float(np.dot([pool[0] - pool[min(len(pool), _PLAIN) - 1] for pool in pools], self.share))

    def let_in(self, at: Numbers, policy: FitPolicy) -> Numbers:
        """Slope of minus the smooth recall."""
        scores = self.rows @ at + self.given
        deepest = min(max(depth for depth, _ in policy.depths), self.others.shape[1])
        rivals = np.where(self.others >= 0, scores[self.others], -np.inf)
        near = np.argpartition(-rivals, deepest - 1, axis=1)[:, :deepest]
        near = np.take_along_axis(near, np.argsort(-np.take_along_axis(rivals, near, 1), axis=1, kind="stable"), 1)
        best = np.maximum.reduceat(scores[self.members], self.first)
        chosen = scores[self.members] == best[self.group]
        alike = np.add.reduceat(chosen.astype(np.float64), self.first)
        push = np.zeros(len(scores))
        for depth, part in policy.depths:
            place = np.clip(depth - self.found, 0, deepest - 1)  # the other evidence takes places, too
            rival = self.others[np.arange(len(near)), near[np.arange(len(near)), place]][self.asked_by]
            lead = np.where(rival >= 0, best - scores[rival], np.inf) / policy.softness
            sure = 1 / (1 + np.exp(-np.clip(lead, -30, 30)))
            force = np.where(rival >= 0, part * sure * (1 - sure) / policy.softness * self.counts, 0.0)
            np.add.at(push, self.members[chosen], -(force / alike)[self.group[chosen]])
            np.add.at(push, rival[rival >= 0], force[rival >= 0])
        out: Numbers = self.rows.T @ push
        return out


def wanted(size: int, gold: Sequence[Indices]) -> Numbers:
    """The distribution to learn: every group of evidence alike, any member of a group alike."""
    found = [group for group in gold if len(group)]
    out = np.zeros(size)
    for group in found:
        out[group] += 1 / len(found) / len(group)
    return out


def fit(
    cases: Sequence[Case], weights: Sequence[float], policy: FitPolicy, off: Collection[str] = frozenset()
) -> Numbers:
    """Weights of `NAMES`; 0 for those `off`, and for a signal that says the same of every candidate."""
    lists = Lists(cases, weights)
    still = [NAMES.index(name) for name in off]
    lists.rows[:, still], lists.spread[still] = 0.0, 0.0
    likely = _Adam(np.zeros(len(NAMES)), policy.rate)
    for _ in range(policy.steps):
        likely.step(lists.likely(likely.at) + policy.l2 * likely.at)
    recall = _Adam(likely.at, policy.recall_rate)
    for _ in range(policy.recall_steps):
        recall.step(lists.let_in(recall.at, policy) + policy.hold * (recall.at - likely.at))
    unit = policy.lead / max(lists.lead(recall.at), _TINY)
    out: Numbers = np.where(lists.spread < _TINY, 0.0, unit * recall.at / np.maximum(lists.spread, _TINY))
    return out


class _Adam:
    """Gradient descent whose steps are alike in every direction."""

    def __init__(self, start: Numbers, rate: float) -> None:
        self.at = start.copy()
        self._rate = rate
        self._steps = 0
        self._mean, self._square = np.zeros_like(start), np.zeros_like(start)

    def step(self, slope: Numbers) -> None:
        self._steps += 1
        self._mean = _MOMENTUM * self._mean + (1 - _MOMENTUM) * slope
        self._square = _DAMPING * self._square + (1 - _DAMPING) * slope**2
        mean = self._mean / (1 - _MOMENTUM**self._steps)
        square = self._square / (1 - _DAMPING**self._steps)
        self.at -= self._rate * mean / (np.sqrt(square) + _TINY)
