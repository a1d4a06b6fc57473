"""Read-only views of the records: candidates, links nearby, core memories, scopes, conditions."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from biem.adapters.postgres.database import ALL_SCOPES, Database, Row
from biem.adapters.postgres.metadata_path import scoped_path
from biem.adapters.postgres.node_rows import Store, parts_of, scope_of, vector_of
from biem.adapters.postgres.records import conditions, searched, tsquery
from biem.domain.node import Node
from biem.domain.scope import Scope, ScopeSummary
from biem.domain.scores import bm25
from biem.domain.text import Terms
from biem.ports import Filter, Vector
from biem.ports.readers import Former, Turn, Turns, Vicinity

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
        seen = ",".join(scope.ns for scope in scopes)
        then: dict[str, Turn] = {}
        if where.as_of is not None:
            rows = self._database.fetch(seen, "turns_then", parameters, binary=True)
            then = {row.id: _turn(row)._replace(former=True) for row in rows}
        parameters["then"] = [turn.id for turn in then.values() if turn.matches]
        turns: dict[str, Turn] = {}
        stretches: list[tuple[str, ...]] = []
        openings: set[str] = set()
        for row in self._database.fetch(seen, "turns", parameters, binary=True):
            turns[row.id] = then.get(row.id) or _turn(row)
            if row.before is not None:
                stretch = (*reversed(row.before[:_REACH]), row.id, *row.after)
                stretches.append(stretch)
                if len(row.before) <= _REACH:
                    openings.add(stretch[0])
        return Turns(turns, stretches, frozenset(openings))


class PostgresCore(Store):
    """One statement each."""

    def core(self, scopes: Sequence[Scope], limit: int, *, as_of: datetime | None = None) -> list[Node]:
        """As the port says."""
        now = self._clock.now()
        by_ns = {scope.ns: scope for scope in scopes}
        parameters = {"scopes": list(by_ns), "now": now, "as_of": as_of, "most": limit}
        rows = self._database.fetch(",".join(by_ns), "core_memories", parameters)
        if as_of is not None:
            rows = [*rows, *self._database.fetch(",".join(by_ns), "core_then", parameters)]
        nodes = [self.node(row, by_ns[row.ns], now) for row in rows]
        return sorted(nodes, key=lambda node: (-node.importance, -node.write_seq, node.id))[:limit]

    def useful(self, scopes: Sequence[Scope], slots: Mapping[str, int]) -> list[Node]:
        """As the port says."""
        now = self._clock.now()
        by_ns = {scope.ns: scope for scope in scopes}
        parameters = {"scopes": list(by_ns), "now": now, "kinds": list(slots), "sizes": list(slots.values())}
        rows = self._database.fetch(",".join(by_ns), "useful_memories", parameters)
        return [self.node(row, by_ns[row.ns], now) for row in rows]


class PostgresOrbits(Store):
    """One statement for what came since, two for gathering."""

    def gather(self, scopes: Sequence[Scope], chosen: Sequence[str], others: Sequence[str], whole: int) -> Vicinity:
        names = [scope.ns for scope in scopes]
        seen = ",".join(names)
        # The numbers first: a memory written in between is then read twice rather than never.
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
            turns[row.id] = _turn(row)
            if row.before is not None:
                stretch = (*reversed(row.before), row.id, *row.after)
                stretches.append(stretch)
                if len(row.before) < row.reach:
                    openings.add(stretch[0])
        return Vicinity(Turns(turns, stretches, frozenset(openings)), written)

    def _everything(self, names: Sequence[str], written: Mapping[str, int]) -> Vicinity:
        turns: dict[str, Turn] = {}
        talks: dict[tuple[str, str], list[str]] = {}
        complete = True
        for row in self._database.fetch(",".join(names), "orbit_everything", {"scopes": names, **self._at()}):
            turn = _turn(row)
            complete &= turn.vector is not None and not row.archived
            if not row.archived:
                turns[turn.id] = turn
                if turn.conversation and turn.believed:
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
        revised = 0
        for row in self._database.fetch(",".join(names), "orbit_since", parameters):
            known = written.get(row.known_ns, 0)
            number = row.written or 0
            if not known <= number <= known + limit:
                return None
            now[row.known_ns] = number
            if row.id is not None:
                turns[row.id] = _turn(row)
                revised += row.write_seq <= known
                if revised > limit:
                    return None
        return Vicinity(Turns(turns, (), frozenset()), now)

    def _at(self) -> dict[str, Any]:
        """Whose vectors are read, and when energies are looked at."""
        return {"model": self._model, "now": self._clock.now(), "decay": self._decay}


def _turn(row: Row) -> Turn:
    return Turn(
        row.id,
        row.ns,
        Terms(row.lexemes),
        vector_of(row.vector),
        row.kind,
        row.speaker,
        row.conversation,
        row.at,
        row.write_seq,
        row.asks,
        row.matches,
        row.valid_to,
        row.superseded_by,
        row.sources,
        row.importance,
        row.accesses,
        row.energy,
        believed=row.trust > 0,
        parts=parts_of(row.parts, row.vector),
    )


class PostgresScopeDirectory:
    """Looks scopes up by name, which row-level security cannot limit; the queries limit the tenant and user."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self, tenant: str | None, user: str | None) -> list[ScopeSummary]:
        rows = self._database.fetch(ALL_SCOPES, "scopes_listed", {"tenant": tenant, "user": user})
        return [ScopeSummary(scope_of(row), row.memories, row.pending, row.written_at) for row in rows]

    def reading(self, scope: Scope) -> list[Scope]:
        if scope.project:
            return [scope]
        rows = self._database.fetch(ALL_SCOPES, "scopes_of_user", (scope.tenant, scope.user))
        return [scope, *(Scope(scope.tenant, scope.user, project) for (project,) in rows if project)]


_LONG_AGO_H = 1e7
"""Eleven hundred years: before every access there was."""


class PostgresSelection(Store):
    """Each question is one statement."""

    def matching(self, scopes: Sequence[Scope], where: Filter, most: int | None) -> list[str] | None:
        now = self._clock.now()
        parameters: dict[str, Any] = {
            **conditions(scopes, where, now, self._decay),
            "most": None if most is None else most + 1,
        }
        least, greatest = where.sentiment
        if most is None:
            name = "matching"
        elif least > 0 or greatest < 0:
            name, parameters["least"], parameters["greatest"] = "matching_mood", least, greatest
        elif scoped := scoped_path(where.metadata, parameters["scopes"]):
            return self._by_metadata(scopes, {**parameters, "scoped": scoped}, most)
        elif where.min_energy > 0:
            name, parameters["warm_since"] = "matching_warm", self._warm_since(where.min_energy, now)
        else:
            return None
        ids = [row.id for row in self._fetch(scopes, name, parameters)]
        return ids if most is None or len(ids) <= most else None

    def _by_metadata(self, scopes: Sequence[Scope], parameters: dict[str, Any], most: int) -> list[str] | None:
        found = self._fetch(scopes, "matching_metadata", parameters)
        return [row.id for row in found if row.meets] if len(found) <= most else None

    def meeting(self, scopes: Sequence[Scope], ids: Sequence[str], where: Filter) -> frozenset[str]:
        if not ids:
            return frozenset()
        parameters = {**conditions(scopes, where, self._clock.now(), self._decay), "ids": list(ids)}
        return frozenset(row.id for row in self._fetch(scopes, "meeting", parameters))

    def vectors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, Vector]:
        parameters = {"scopes": [scope.ns for scope in scopes], "ids": list(ids), "model": self._model}
        rows = self._fetch(scopes, "selected_vectors", parameters, binary=True) if ids else []
        return {key: np.frombuffer(vector, dtype="<f4") for key, vector in rows if len(vector) % 4 == 0}

    def words(self, scopes: Sequence[Scope], ids: Sequence[str], lexemes: Sequence[str]) -> dict[str, float]:
        if not ids or not lexemes:
            return {}
        parameters = {"scopes": [scope.ns for scope in scopes], "ids": list(ids), "words": tsquery(lexemes)}
        rows = self._fetch(scopes, "selected_words", parameters)
        return bm25(lexemes, {key: stored.split(" ") for key, stored in rows})

    def former(self, scopes: Sequence[Scope], where: Filter) -> list[Former]:
        if where.as_of is None:
            return []
        parameters = {**conditions(scopes, where, self._clock.now(), self._decay), "model": self._model}
        rows = self._fetch(scopes, "selected_then", parameters, binary=True)
        return [Former(row.id, row.lexemes.split(" "), vector_of(row.vector)) for row in rows]

    def _fetch(
        self, scopes: Sequence[Scope], name: str, parameters: dict[str, Any], *, binary: bool = False
    ) -> list[Row]:
        return self._database.fetch(",".join(scope.ns for scope in scopes), name, parameters, binary=binary)

    def _warm_since(self, energy: float, now: datetime) -> datetime:
        """A memory last raised before this moment has less than `energy` by now."""
        hours = _LONG_AGO_H if self._decay <= 0 else -math.log(energy) / self._decay + 1.0  # one for rounding
        return now - timedelta(hours=min(hours, _LONG_AGO_H))
