"""Turning raw scores of different kinds into one order."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence


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


def bm25(
    query: Sequence[str], documents: Mapping[str, Sequence[str]], k1: float = 1.2, b: float = 0.75
) -> dict[str, float]:
    """BM25 (Robertson; Lucene's idf) of a few documents at hand, with statistics of just these; only scores > 0.

    Serves where no index can be asked: rows too new for it, or all rows while it is down.
    """
    if not documents:
        return {}
    average = sum(map(len, documents.values())) / len(documents) or 1.0
    counts = {key: Counter(words) for key, words in documents.items()}
    scores: dict[str, float] = {}
    for term in dict.fromkeys(query):
        holders = [key for key, count in counts.items() if term in count]
        idf = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for key in holders:
            frequency = counts[key][term]
            norm = k1 * (1 - b + b * len(documents[key]) / average)
            scores[key] = scores.get(key, 0.0) + idf * frequency * (k1 + 1) / (frequency + norm)
    return scores
