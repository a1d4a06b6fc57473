"""Arithmetic of scores: BM25 of a few documents in memory, log-odds, and the interval of probabilities and energies."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence


def clamp01(value: float) -> float:
    """`value` limited to [0, 1]."""
    return min(1.0, max(0.0, value))


def probability(log_odds: float) -> float:
    """The probability, 0 to 1, of these log-odds, which are capped at ±700."""
    return 1.0 / (1.0 + math.exp(-max(-700.0, min(700.0, log_odds))))


def rarity(holders: int, size: int) -> float:
    """Lucene's idf of a term that `holders` of `size` documents contain: ln(1 + (N − n + ½) / (n + ½)), always > 0."""
    return math.log1p((size - holders + 0.5) / (holders + 0.5))


def bm25(
    query: Sequence[str], documents: Mapping[str, Sequence[str]], k1: float = 1.2, b: float = 0.75
) -> dict[str, float]:
    """BM25 (Robertson; Lucene's idf) of a few documents, with statistics of these documents only; only scores > 0.

    Used where no index can answer: rows too new for it, or all rows during an outage.
    """
    if not documents:
        return {}
    average = sum(map(len, documents.values())) / len(documents) or 1.0
    counts = {key: Counter(words) for key, words in documents.items()}
    scores: dict[str, float] = {}
    for term in dict.fromkeys(query):
        holders = [key for key, count in counts.items() if term in count]
        idf = rarity(len(holders), len(documents))
        for key in holders:
            frequency = counts[key][term]
            norm = k1 * (1 - b + b * len(documents[key]) / average)
            scores[key] = scores.get(key, 0.0) + idf * frequency * (k1 + 1) / (frequency + norm)
    return scores
