"""The port `MemoryMap` without a server: exact, in memory, for one thread and for as many rows as fit there."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from biem.domain.scope import Scope
from biem.ports import Entry, Filter, Vector, Vectors

Conditions = tuple[str, str, str, str]
"""Scope, kind, speaker, conversation."""


def at_once(work: Callable[..., Any], *arguments: Any) -> Future[Any]:
    """What a pool of threads is asked with `submit`, done in this thread: nothing runs at the same time as a route."""
    done: Future[Any] = Future()
    done.set_result(work(*arguments))
    return done


class ExactMap:
    """Cosines with every row, in one product of matrix and vector."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[Conditions, Vector]] = {}
        self._known: set[Conditions] = set()
        self._keys: Sequence[str] = []
        self._matrix: Vectors = np.empty((0, 0), dtype=np.float32)

    def load(self, scope: Scope, keys: Sequence[str], vectors: Vectors) -> None:
        """Replace everything by these rows of one scope, uncopied; nothing is inserted or purged afterwards."""
        self._rows = {}
        self._known, self._keys, self._matrix = {(scope.ns, "event", "", "")}, keys, vectors

    def insert(self, entries: Sequence[Entry], *, again: bool) -> None:  # noqa: ARG002  an id is one row in any case
        """As `VectorIndex.insert`."""
        for entry in entries:
            self._rows[entry.id] = (entry.scope.ns, entry.kind, entry.speaker, entry.conversation), entry.vector
        self._keys = []

    def purge(self, ids: Sequence[str]) -> None:
        """As `VectorIndex.purge`."""
        for key in ids:
            self._rows.pop(key, None)
        self._keys = []

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        """As the port says; of the conditions it knows kinds, speakers and conversations."""
        if not self._keys:
            if not self._rows:
                return {}
            self._keys = list(self._rows)
            self._known = {conditions for conditions, _ in self._rows.values()}
            self._matrix = np.stack([vector for _, vector in self._rows.values()])
        fitting = sum(_fits(one, scopes, where) for one in self._known)
        if not fitting:
            return {}
        cosines = self._matrix @ vector
        if fitting < len(self._known):
            fits = [_fits(self._rows[key][0], scopes, where) for key in self._keys]
            cosines = np.where(fits, cosines, -np.inf)
        most = min(limit, len(self._keys))
        best = np.argpartition(-cosines, most - 1)[:most]
        ranked = best[np.argsort(-cosines[best], kind="stable")]
        return {self._keys[one]: float(cosines[one]) for one in ranked if np.isfinite(cosines[one])}


def _fits(row: Conditions, scopes: Sequence[Scope], where: Filter) -> bool:
    ns, *values = row
    wanted = (where.kinds, where.speakers, where.conversations)
    return ns in {scope.ns for scope in scopes} and all(
        not allowed or value in allowed for value, allowed in zip(values, wanted, strict=True)
    )
