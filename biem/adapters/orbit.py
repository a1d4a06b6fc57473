"""The port `OrbitReader` in PostgreSQL."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biem.adapters.rows import Store
from biem.domain.scope import Scope
from biem.domain.terms import Terms
from biem.ports.orbit import Vicinity
from biem.ports.turns import Turn, Turns

_COLUMNS = 17
"""Of a turn."""


class PostgresOrbits(Store):
    """One statement for what came since, two for gathering."""

    def gather(self, scopes: Sequence[Scope], chosen: Sequence[str], others: Sequence[str], whole: int) -> Vicinity:
        names = [scope.ns for scope in scopes]
        seen = ",".join(names)
        # First the numbers: what is written in between is then told twice rather than never.
        written = dict.fromkeys(names, 0) | dict(self._database.fetch(seen, "orbit_written", (names,)))
        if sum(written.values()) <= whole:
            return self._everything(names, written)
        chosen = list(dict.fromkeys(chosen))
        parameters = {
            "scopes": names,
            "ids": list(dict.fromkeys([*chosen, *others])),
            "chosen": len(chosen),
            **self._at(),
        }
        turns: dict[str, Turn] = {}
        stretches: list[tuple[str, ...]] = []
        openings: set[str] = set()
        for row in self._database.fetch(seen, "orbit_gather", parameters):
            turn = _turn(row[:_COLUMNS])
            turns[turn.id] = turn
            reach, before, after = row[_COLUMNS:]
            if before is not None:
                stretch = (*reversed(before), turn.id, *after)
                stretches.append(stretch)
                if len(before) < reach:
                    openings.add(stretch[0])
        return Vicinity(Turns(turns, stretches, frozenset(openings)), written)

    def _everything(self, names: Sequence[str], written: Mapping[str, int]) -> Vicinity:
        turns: dict[str, Turn] = {}
        talks: dict[tuple[str, str], list[str]] = {}
        complete = True
        for *row, archived in self._database.fetch(
            ",".join(names), "orbit_everything", {"scopes": names, **self._at()}
        ):
            turn = _turn(row)
            complete &= turn.vector is not None and not archived
            if not archived:
                turns[turn.id] = turn
                if turn.conversation:
                    talks.setdefault((turn.ns, turn.conversation), []).append(turn.id)
        stretches = [tuple(talk) for talk in talks.values()]
        return Vicinity(Turns(turns, stretches, frozenset(talk[0] for talk in stretches)), written, complete)

    def since(self, scopes: Sequence[Scope], written: Mapping[str, int], limit: int) -> Vicinity | None:
        names = [scope.ns for scope in scopes]
        parameters = {
            "scopes": names,
            "written": [written.get(ns, 0) for ns in names],
            "limit": limit,
            **self._at(),
        }
        turns: dict[str, Turn] = {}
        now: dict[str, int] = {}
        for ns, number, *values in self._database.fetch(",".join(names), "orbit_since", parameters):
            known = written.get(ns, 0)
            number = number or 0
            if not known <= number <= known + limit:
                return None
            now[ns] = number
            if values[0] is not None:
                turn = _turn(values)
                turns[turn.id] = turn
        return Vicinity(Turns(turns, (), frozenset()), now)

    def _at(self) -> dict[str, Any]:
        """Whose vectors are read, and when energies are looked at."""
        return {"model": self._model, "now": self._clock.now(), "decay": self._decay}


def _turn(row: Sequence[Any]) -> Turn:
    key, ns, words, vector, *rest = row
    packed = None if vector is None else np.frombuffer(vector, dtype="<f4")
    return Turn(key, ns, Terms(words), packed, *rest)
