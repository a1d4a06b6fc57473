"""How good one ranking is, and how good many are on average.

Gold is a set of groups; any member of a group stands for it, and only the first one counts. With one turn a group this
is the usual turn-level metric: R@k = gold found in the top k / gold.
"""

import math
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

DEPTH = 20
"""How many results are asked for and judged."""


@dataclass(frozen=True, slots=True)
class Score:
    """The metrics of one question, or their mean over several. All in [0, 1]."""

    recall_5: float
    recall_10: float
    recall_20: float
    ndcg_10: float
    mrr: float
    session_any_5: float

    def as_row(self) -> dict[str, float]:
        """Under the names that reports use."""
        return {
            "R@5": self.recall_5,
            "R@10": self.recall_10,
            "R@20": self.recall_20,
            "nDCG@10": self.ndcg_10,
            "MRR": self.mrr,
            "session_any@5": self.session_any_5,
        }


def new_gold(ranked: Sequence[str], groups: Sequence[AbstractSet[str]]) -> list[int]:
    """For each result, how many groups it is the first to find."""
    missing = list(groups)
    gains = []
    for result in ranked:
        left = [group for group in missing if result not in group]
        gains.append(len(missing) - len(left))
        missing = left
    return gains


def recall_at(k: int, gains: Sequence[int], groups: int) -> float:
    """Share of the groups found among the first k results; 0 without groups."""
    return sum(gains[:k]) / groups if groups else 0.0


def ndcg_at(k: int, gains: Sequence[int], groups: int) -> float:
    """Discounted gain of the first k results over that of a ranking with one group in each of the first places.

    A turn that belongs to several groups finds them all at once, so the value is capped at 1.
    """
    found = sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains[:k]))
    ideal = sum(1 / math.log2(rank + 2) for rank in range(min(k, groups)))
    return min(1.0, found / ideal) if ideal else 0.0


def reciprocal_rank(gains: Sequence[int]) -> float:
    """1 / rank of the first result that is gold, 0 if none is."""
    return next((1 / rank for rank, gain in enumerate(gains, 1) if gain), 0.0)


def session_any_at(k: int, ranked: Sequence[str], session_of: Mapping[str, str], gold: AbstractSet[str]) -> float:
    """1 if one of the first k results lies in a session with evidence."""
    return float(any(session_of.get(result) in gold for result in ranked[:k]))


def score(
    ranked: Sequence[str],
    groups: Sequence[AbstractSet[str]],
    session_of: Mapping[str, str],
    sessions: AbstractSet[str],
) -> Score:
    """All metrics of one question. A result that is repeated counts once, at its best rank."""
    unique = list(dict.fromkeys(ranked))[:DEPTH]
    gains = new_gold(unique, groups)
    return Score(
        recall_5=recall_at(5, gains, len(groups)),
        recall_10=recall_at(10, gains, len(groups)),
        recall_20=recall_at(20, gains, len(groups)),
        ndcg_10=ndcg_at(10, gains, len(groups)),
        mrr=reciprocal_rank(gains),
        session_any_5=session_any_at(5, unique, session_of, sessions),
    )


def mean(scores: Sequence[Score]) -> Score:
    """The average over questions; all zero without any."""
    if not scores:
        return Score(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    columns = zip(*(tuple(one.as_row().values()) for one in scores), strict=True)
    return Score(*(math.fsum(column) / len(scores) for column in columns))


def percentiles(milliseconds: Sequence[float], *ranks: int) -> dict[str, float]:
    """`{"p50_ms": …}`, interpolated between neighbours; empty input gives no keys."""
    if not milliseconds:
        return {}
    values = np.percentile(np.asarray(milliseconds, dtype=np.float64), ranks)
    return {f"p{rank}_ms": float(value) for rank, value in zip(ranks, values, strict=True)}
