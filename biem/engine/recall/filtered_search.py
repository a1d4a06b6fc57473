"""Filtered search: finds matching memories even if few match (ADR 0056).

    few match           read their ids from the records and compare them one by one: cosine and BM25, without the index
    many match          over-fetch from the index and filter by the records; fetch more until enough match or the index
                        is exhausted
    few near ones match the index is exhausted although more memories match: compare all of those

If the index supports all conditions, it answers alone. With `as_of`, memories that were revised since are compared by
the values that they had then; they are few, and no index has these.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from biem.domain.scope import Scope
from biem.domain.scores import bm25
from biem.domain.vectors import row_products
from biem.ports import Filter, SearchIndex, Vector
from biem.ports.readers import Selection

_FEW = 2_000
"""Comparing up to this many one by one takes less time than an index search of a large scope."""
_BEYOND, _DEEPER, _DEEPEST = 2, 8, 16_384
"""Over-fetch factor of the first search; growth factor of each further one; maximum rows of any index."""
_AT_ONCE = 2_000

Scores = Mapping[str, float]
Compare = Callable[[Sequence[str]], Scores]


class SelectiveIndex:
    """Implements `SearchIndex`, exact under all conditions. Thread-safe."""

    def __init__(self, index: SearchIndex, selection: Selection) -> None:
        self._index = index
        self._selection = selection

    @property
    def lexical(self) -> bool:
        return self._index.lexical

    @property
    def serial(self) -> bool:
        return self._index.serial

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        def cosines(ids: Sequence[str]) -> Scores:
            return _cosines(vector, self._selection.vectors(scopes, ids))

        def search(most: int) -> Scores:
            return self._index.dense(scopes, vector, most, where)

        found = self._searched(scopes, limit, where, search, cosines)
        if where.as_of is None:
            return found
        former = {one.id: one.vector for one in self._selection.former(scopes, where) if one.vector is not None}
        return _best([found, _cosines(vector, former)], limit)

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: Filter) -> dict[str, float]:
        terms = list(dict.fromkeys(lexemes.split()))

        def search(most: int) -> Scores:
            return self._index.words(scopes, lexemes, most, where)

        found = self._searched(scopes, limit, where, search, lambda ids: self._selection.words(scopes, ids, terms))
        if where.as_of is None:
            return found
        former = {one.id: one.lexemes for one in self._selection.former(scopes, where)}
        return _best([found, bm25(terms, former)], limit)

    def _searched(
        self, scopes: Sequence[Scope], limit: int, where: Filter, search: Callable[[int], Scores], compare: Compare
    ) -> dict[str, float]:
        if not where.late:
            return dict(search(limit))
        if where.only_ids:
            chosen = sorted(self._selection.meeting(scopes, where.only_ids, where))
            return _compared(chosen, limit, compare)
        few = self._selection.matching(scopes, where, _FEW)
        if few is not None:
            return _best([compare(few)], limit)
        most = _BEYOND * limit
        while True:
            most = min(most, _DEEPEST)
            found = search(most)
            meeting = self._selection.meeting(scopes, list(found), where)
            met = {key: score for key, score in found.items() if key in meeting}
            if len(met) >= limit or len(found) < most:
                return _best([met], limit)
            if most == _DEEPEST:
                break
            most *= _DEEPER
        ids = self._selection.matching(scopes, where, None) or []
        return _compared(ids, limit, compare)


def _compared(ids: Sequence[str], limit: int, compare: Compare) -> dict[str, float]:
    return _best([compare(ids[start : start + _AT_ONCE]) for start in range(0, len(ids), _AT_ONCE)], limit)


def _cosines(vector: Vector, others: Mapping[str, Vector]) -> Scores:
    known = {key: other for key, other in others.items() if other.shape == vector.shape}
    return dict(zip(known, row_products(np.stack(list(known.values())), vector).tolist(), strict=True)) if known else {}


def _best(parts: Sequence[Scores], limit: int) -> dict[str, float]:
    together = {key: score for part in parts for key, score in part.items()}
    return {key: together[key] for key in sorted(together, key=lambda key: (-together[key], key))[:limit]}
