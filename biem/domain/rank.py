"""Turning raw scores of different kinds into one order."""

from collections.abc import Mapping


def min_max(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores scaled to [0, 1] over the candidates of one query; equal scores all become 1."""
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if high - low < 1e-12:
        return dict.fromkeys(scores, 1.0)
    return {key: (value - low) / (high - low) for key, value in scores.items()}


def positive_max(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores divided by the best one: for scores whose 0 means "no match at all" (BM25), 0 must stay 0."""
    high = max(scores.values(), default=0.0)
    if high <= 0.0:
        return {}
    return {key: value / high for key, value in scores.items() if value > 0.0}
