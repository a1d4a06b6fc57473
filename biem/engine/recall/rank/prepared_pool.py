"""Selects candidates for a question from prefetched turns, as many as a search would find.

    candidates = the nearest vectors + the best text matches + up to two turns around each + turns written since

Ranking costs milliseconds for each hundred candidates; this selection costs a matrix product. Data that does not depend
on the question is computed once, in the background after an answer.
"""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from biem.engine.recall.rank.pool import Pool
from biem.engine.recall.rank.term_matrix import rarities
from biem.ports import Vector
from biem.ports.embedding import weighted_rows
from biem.ports.readers import Turns

_NEAR = 2
"""Neighbouring turns on each side, as in a search."""
_FEW = 9
"""Multiple of `limit` up to which all prefetched turns are ranked: this includes the surroundings of ten answers and a
small memory, but not a whole large one."""


class PreparedPool:
    """Finds candidates among a fixed set of turns. Thread-safe."""

    def __init__(self, turns: Turns, names: Mapping[str, Sequence[str]], pool: Pool) -> None:
        """`names`: the terms of each speaker's name; `pool`: of all these turns."""
        self.turns, self.names, self.pool = turns, names, pool
        pool.prepare()
        self._around: dict[str, tuple[str, ...]] = {}
        for stretch in turns.stretches:
            for place, key in enumerate(stretch):
                if key in turns.by_id:
                    self._around[key] = stretch[max(0, place - _NEAR) : place + _NEAR + 1]

    def candidates(self, turns: Turns, vector: Vector | None, lexemes: Sequence[str], limit: int) -> Turns:
        """Select from `turns` (the fixed ones and newer ones): `limit` of each kind, their neighbours, and the newer,
        also those that replace a fixed one.

        Returns all if they are few.
        """
        if len(turns.by_id) <= _FEW * limit:
            return turns
        places = [*self._by_meaning(vector, limit), *self._by_words(lexemes, limit)]
        kept = dict.fromkeys(self.pool.candidates[place].id for place in places)
        windows = [self._around[key] for key in kept if key in self._around]
        kept |= dict.fromkeys(chain.from_iterable(windows))
        fixed = self.turns.by_id
        chosen = {key: turn for key, turn in turns.by_id.items() if key in kept or turn is not fixed.get(key)}
        heirs = (turn.superseded_by for turn in list(chosen.values()) if turn.superseded_by is not None)
        chosen |= {key: turns.by_id[key] for key in heirs if key in turns.by_id}
        return Turns(chosen, windows, turns.openings & chosen.keys())

    def _by_meaning(self, vector: Vector | None, limit: int) -> Sequence[int]:
        """The turns with the nearest vectors."""
        if vector is None or len(vector) != self.pool.dimension:
            return []
        cosines = np.where(self.pool.known, self.pool.cosines(vector), -np.inf)
        nearest = np.argsort(-cosines, kind="stable")[:limit]
        return [place for place in nearest.tolist() if self.pool.known[place]]

    def _by_words(self, lexemes: Sequence[str], limit: int) -> Sequence[int]:
        """The turns with the largest idf sum of matching query terms."""
        held = self.pool.bag.counts(list(dict.fromkeys(lexemes))) > 0
        holders = held.sum(axis=1)
        scores = weighted_rows(rarities(holders, self.pool.size), held)
        best = np.argsort(-scores, kind="stable")[:limit]
        return [place for place in best.tolist() if scores[place] > 0]
