"""Memories from one scope to another, in transactions that lock both. The port `Moves`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Connection, Row
from biem.adapters.postgres.erasure import PostgresErasure
from biem.adapters.postgres.records import conditions
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.transfer import MoveReport
from biem.errors import NotFound, RefConflict, StoreUnavailable
from biem.ports import Filter
from biem.ports.transfer import Moved

_MOST_TOLD = 100
_SLICE = 1_000
"""Memories of one transaction: both scopes are locked meanwhile, for half a millisecond each."""
_CUT = ("supersessions", "successors", "conflicts", "derivations", "facts", "items")
_TOLD = ("conflicts", "derivations")
"""Of what is cut, what counts for a reader."""


class PostgresMoves(PostgresErasure):
    """Everything of a move but the projections, for which it leaves jobs."""

    def move(
        self, source: Scope, target: Scope, ids: Sequence[str] | None, where: Filter | None, at: datetime
    ) -> Moved:
        move_id = new_id()
        filtered = where is not None
        keys: dict[str, Any] = {
            **conditions([source], where or Filter(), at, self._decay),
            "id": move_id,
            "ns": source.ns,
            "target": target.ns,
            "ids": None if ids is None else list(ids),
            "filtered": filtered,
            **self._at(at),
        }
        done: list[Moved] = []  # by an attempt whose answer may have been lost

        def attempt() -> Moved:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                if done and self._kept(connection, move_id):
                    return done[0]
                [row] = connection.execute(self._sql["move_many"], keys).fetchall()
                if not row.many:
                    self._enter_both(connection, source, target)
                done[:] = [self._begin(connection, source, target, keys, slices=row.many)]
            return done[0]

        return self._database.retrying(attempt)

    def proceed(self, source: Scope, target: Scope, at: datetime) -> Moved | None:
        """As the port says."""

        def attempt() -> Moved | None:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                between = {"ns": source.ns, "target": target.ns}
                plans = connection.execute(self._sql["move_unfinished"], between).fetchall()
                if not plans:
                    return None
                self._enter_both(connection, source, target)
                keys = {**conditions([source], Filter(), at, self._decay), **between, **self._at(at), "id": plans[0].id}
                return self._slice(connection, source, target, keys, plans[0].report)

        return self._database.retrying(attempt)

    def _at(self, at: datetime) -> dict[str, Any]:
        return {"at": at, "most": _SLICE, "after_s": self._policies.encode.lease_s + 5.0}

    def _enter_both(self, connection: Connection, source: Scope, target: Scope) -> None:
        connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
        connection.execute(self._sql["ensure_scope"], (target.ns, target.tenant, target.user, target.project))
        connection.execute(self._sql["aim_ensure"], {"ns": target.ns})
        for ns in sorted((source.ns, target.ns)):  # in a fixed order, so that two moves do not deadlock
            connection.execute(self._sql["lock_scope"], (ns,))

    def _kept(self, connection: Connection, move_id: str) -> bool:
        return bool(connection.execute(self._sql["move_kept"], {"id": move_id}).fetchall())

    def _begin(
        self, connection: Connection, source: Scope, target: Scope, keys: dict[str, Any], *, slices: bool
    ) -> Moved:
        """Choose the memories, and move them, or plan it."""
        run = partial(self._run, connection, keys)
        chosen = connection.execute(self._sql["move_chosen"], keys).rowcount
        there: set[str] = set()
        if keys["ids"] is not None and chosen < len(keys["ids"]):
            there = {row.id for row in run("there")}
            found = there | {row.id for row in run("members")}
            missing = [each for each in keys["ids"] if each not in found]
            if missing:
                raise NotFound(f"no memory {missing[0]} in scope {source}")
        self._grow(connection, keys, ("family", "facts"))
        report = MoveReport(keys["id"], str(source), str(target), 0, already_there=len(there))
        if not slices:
            moved = self._move(connection, source, keys, report)
            self._keep(connection, keys, moved.report)
            return moved
        self._require_free((), run("refs"))
        connection.execute(self._sql["move_plan"], {**keys, "report": Jsonb(_shown(report))})
        run("done")
        [row] = run("left")
        return Moved(report, (), (), row.memories)

    def _slice(
        self, connection: Connection, source: Scope, target: Scope, keys: dict[str, Any], so_far: Mapping[str, Any]
    ) -> Moved:
        """Move the next memories of a plan, and what is joined with them."""
        pairs = tuple((mine, there) for mine, there in so_far["equal_facts"])
        report = MoveReport(**{**so_far, "source": str(source), "target": str(target), "equal_facts": pairs})
        run = partial(self._run, connection, keys)
        run("slice")
        self._grow(connection, keys, ("joined", "family", "facts"))
        run("advance")
        run("absent")
        moved = self._move(connection, source, keys, report)
        [row] = run("left")
        if row.memories:
            connection.execute(self._sql["move_report"], {**keys, "report": Jsonb(_shown(moved.report))})
        else:
            self._keep(connection, keys, moved.report)
            run("ended")
        return replace(moved, left=row.memories)

    def _run(self, connection: Connection, keys: Mapping[str, Any], name: str) -> list[Row]:
        cursor = connection.execute(self._sql[f"move_{name}"], keys)
        return cursor.fetchall() if cursor.description else []

    def _grow(self, connection: Connection, keys: Mapping[str, Any], names: Sequence[str]) -> None:
        """Add what belongs to the members until nothing is added."""
        while sum(connection.execute(self._sql[f"move_{name}"], keys).rowcount for name in names):
            pass

    def _move(self, connection: Connection, source: Scope, keys: dict[str, Any], before: MoveReport) -> Moved:
        """Move the members; the report adds to the one of earlier slices."""
        run = partial(self._run, connection, keys)
        moving = tuple(row.id for row in run("lock"))
        self._require_free(run("planned"), run("refs"))
        mixed = [row.id for row in run("mixed")]
        if mixed:
            self.erase_here(connection, source, mixed, keys["after_s"])
        equal = run("equal")
        cut = {name: connection.execute(self._sql[f"move_cut_{name}"], keys).rowcount for name in _CUT}
        [links] = run("links")
        for name in ("marks", "originals", "jobs", "memories"):
            run(name)
        [rows] = run("rows")
        [arrived] = run("arrived")
        moved = {"links": links.moved + arrived.moved, **rows._asdict()}
        gone = {"links": links.cut + arrived.cut, "facts": len(mixed), **{name: cut[name] for name in _TOLD}}
        report = replace(
            before,
            memories=before.memories + len(moving),
            moved=_sum(before.moved, moved),
            cut=_sum(before.cut, gone),
            equal_facts=(*before.equal_facts, *((row.id, row.there) for row in equal))[:_MOST_TOLD],
        )
        run("done")
        return Moved(report, moving, tuple(mixed))

    def _require_free(self, planned: Sequence[Row], refs: Sequence[Row]) -> None:
        if planned:
            raise StoreUnavailable(f"conflict {planned[0].id} of these memories is being merged; try again")
        if refs:
            taken = refs[0]
            raise RefConflict(
                f"ref {taken.ref!r} of memory {taken.id} names memory {taken.there} in the target; move without it, or "
                "erase one of the two"
            )

    def _keep(self, connection: Connection, keys: Mapping[str, Any], report: MoveReport) -> None:
        connection.execute(self._sql["move_keep"], {**keys, "report": Jsonb(_shown(report))})


def _shown(report: MoveReport) -> dict[str, Any]:
    shown = asdict(replace(report, source="", target=""))  # names of scopes are text
    del shown["source"], shown["target"]
    return shown


def _sum(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + count for name, count in other.items()}
