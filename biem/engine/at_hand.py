"""What of all that is at hand a question may be about: as many candidates as a search would find, without one.

    candidates = the nearest by meaning + the best by words + up to two turns around each + what was written since

Ranking costs milliseconds for each hundred candidates; this costs a matrix product. Built once, behind an answer.
"""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import chain

import numpy as np

from biem.ports import Vector
from biem.ports.turns import Turns

_NEAR = 2
"""Turns on each side, as a search has them."""
_FEW = 6
"""Times `limit`: what is around ten answers is ranked as it is, a small memory as a whole is not."""


class AtHand:
    """Finds candidates among turns that stay as they are. Thread-safe."""

    def __init__(self, turns: Turns) -> None:
        self._ids = list(turns.by_id)
        self._all = frozenset(self._ids)
        vectors = {place: turn.vector for place, turn in enumerate(turns.by_id.values()) if turn.vector is not None}
        width = Counter(len(vector) for vector in vectors.values()).most_common(1)
        self._width = width[0][0] if width else 0
        self._known = [place for place, vector in vectors.items() if len(vector) == self._width]
        self._vectors = np.stack([vectors[place] for place in self._known]) if self._known else np.zeros((0, 0))
        self._holders: dict[str, list[int]] = {}
        for place, turn in enumerate(turns.by_id.values()):
            for term in dict.fromkeys(turn.lexemes):
                self._holders.setdefault(term, []).append(place)
        self._around: dict[str, tuple[str, ...]] = {}
        for stretch in turns.stretches:
            for place, key in enumerate(stretch):
                if key in self._all:
                    self._around[key] = stretch[max(0, place - _NEAR) : place + _NEAR + 1]

    def candidates(self, turns: Turns, vector: Vector | None, lexemes: Sequence[str], limit: int) -> Turns:
        """Of `turns`, which are those of this and news: `limit` of each kind, what stands around them, and the news.

        All of them where they are few.
        """
        if len(turns.by_id) <= _FEW * limit:
            return turns
        kept: dict[str, None] = {}
        if vector is not None and len(vector) == self._width:
            cosines = self._vectors @ vector
            for index in np.argsort(-cosines, kind="stable")[:limit].tolist():
                kept[self._ids[self._known[index]]] = None
        for place in self._by_words(lexemes, limit):
            kept[self._ids[place]] = None
        windows = [self._around[key] for key in kept if key in self._around]
        kept |= dict.fromkeys(chain.from_iterable(windows))
        chosen = {key: turn for key, turn in turns.by_id.items() if key in kept or key not in self._all}
        heirs = (turn.superseded_by for turn in list(chosen.values()) if turn.superseded_by is not None)
        chosen |= {key: turns.by_id[key] for key in heirs if key in turns.by_id}
        return Turns(chosen, windows, turns.openings & chosen.keys())

    def _by_words(self, lexemes: Sequence[str], limit: int) -> list[int]:
        """The turns that hold most of the query, in rarity."""
        scores: dict[int, float] = {}
        for term in dict.fromkeys(lexemes):
            holders = self._holders.get(term, ())
            rarity = math.log1p((len(self._ids) - len(holders) + 0.5) / (len(holders) + 0.5))
            for place in holders:
                scores[place] = scores.get(place, 0.0) + rarity
        return sorted(scores, key=lambda place: (-scores[place], place))[:limit]
