"""The port `Selection` in PostgreSQL."""

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from biem.adapters.database import Row
from biem.adapters.postgres import conditions, tsquery
from biem.adapters.rows import Store
from biem.domain.rank import bm25
from biem.domain.scope import Scope
from biem.ports import Filter, Vector

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
        elif where.min_energy > 0:
            name, parameters["warm_since"] = "matching_warm", self._warm_since(where.min_energy, now)
        else:
            return None
        ids = [row[0] for row in self._fetch(scopes, name, parameters)]
        return ids if most is None or len(ids) <= most else None

    def meeting(self, scopes: Sequence[Scope], ids: Sequence[str], where: Filter) -> frozenset[str]:
        if not ids:
            return frozenset()
        parameters = {**conditions(scopes, where, self._clock.now(), self._decay), "ids": list(ids)}
        return frozenset(row[0] for row in self._fetch(scopes, "meeting", parameters))

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

    def _fetch(
        self, scopes: Sequence[Scope], name: str, parameters: dict[str, Any], *, binary: bool = False
    ) -> list[Row]:
        return self._database.fetch(",".join(scope.ns for scope in scopes), name, parameters, binary=binary)

    def _warm_since(self, energy: float, now: datetime) -> datetime:
        """What was last raised before this moment has less than `energy` by now."""
        hours = _LONG_AGO_H if self._decay <= 0 else -math.log(energy) / self._decay + 1.0  # one for rounding
        return now - timedelta(hours=min(hours, _LONG_AGO_H))
