"""The port `TurnReader` in PostgreSQL."""

from collections.abc import Sequence

import numpy as np

from biem.adapters.postgres import conditions, searched
from biem.adapters.rows import Store
from biem.domain.scope import Scope
from biem.domain.terms import Terms
from biem.ports import Filter
from biem.ports.turns import Turn, Turns

_REACH = 2
"""How many neighbours the statement reads on each side."""


class PostgresTurns(Store):
    """One statement a recall."""

    def around(
        self,
        scopes: Sequence[Scope],
        ids: Sequence[str],
        lexemes: Sequence[str],
        where: Filter,
        *,
        pending_limit: int,
    ) -> Turns:
        parameters = {
            **conditions(scopes, where, self._clock.now(), self._decay),
            **searched(scopes, lexemes),
            "ids": list(ids),
            "pending_limit": pending_limit,
            "model": self._model,
        }
        turns: dict[str, Turn] = {}
        stretches: list[tuple[str, ...]] = []
        openings: set[str] = set()
        for row in self._database.fetch(",".join(scope.ns for scope in scopes), "turns", parameters, binary=True):
            *values, before, after = row
            key, ns, words, vector, *rest = values
            packed = None if vector is None else np.frombuffer(vector, dtype="<f4")
            turns[key] = Turn(key, ns, Terms(words), packed, *rest)
            if before is not None:
                stretch = (*reversed(before[:_REACH]), key, *after)
                stretches.append(stretch)
                if len(before) <= _REACH:
                    openings.add(stretch[0])
        return Turns(turns, stretches, frozenset(openings))
