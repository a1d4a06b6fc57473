"""BM25 of a few documents in memory."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence


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
        idf = math.log(1 + (len(documents) - len(holders) + 0.5) / (len(holders) + 0.5))
        for key in holders:
            frequency = counts[key][term]
            norm = k1 * (1 - b + b * len(documents[key]) / average)
            scores[key] = scores.get(key, 0.0) + idf * frequency * (k1 + 1) / (frequency + norm)
    return scores
