"""Memories from one scope to another: one transaction that locks both. The port `Moves`."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
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
            "after_s": self._policies.encode.lease_s + 5.0,
        }
        done: list[Moved] = []  # by an attempt whose answer may have been lost

        def attempt() -> Moved:
            with self._database.connection(patient=True) as connection, connection.transaction():
                self._enter_both(connection, source, target)
                if not done or not self._kept(connection, move_id):
                    done[:] = [self._move(connection, source, target, keys, at)]
            return done[0]

        return self._database.retrying(attempt)

    def _enter_both(self, connection: Connection, source: Scope, target: Scope) -> None:
        connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
        connection.execute(self._sql["ensure_scope"], (target.ns, target.tenant, target.user, target.project))
        connection.execute(self._sql["aim_ensure"], {"ns": target.ns})
        for ns in sorted((source.ns, target.ns)):  # in a fixed order, so that two moves do not deadlock
            connection.execute(self._sql["lock_scope"], (ns,))

    def _kept(self, connection: Connection, move_id: str) -> bool:
        return bool(connection.execute(self._sql["move_kept"], {"id": move_id}).fetchall())

    def _move(self, connection: Connection, source: Scope, target: Scope, keys: dict[str, Any], at: datetime) -> Moved:
        def run(name: str) -> list[Row]:
            cursor = connection.execute(self._sql[f"move_{name}"], keys)
            return cursor.fetchall() if cursor.description else []

        chosen = connection.execute(self._sql["move_chosen"], keys).rowcount
        there: set[str] = set()
        if keys["ids"] is not None and chosen < len(keys["ids"]):
            there = {row.id for row in run("there")}
            found = there | {row.id for row in run("lock")}
            missing = [each for each in keys["ids"] if each not in found]
            if missing:
                raise NotFound(f"no memory {missing[0]} in scope {source}")
        grown = chosen
        while grown:
            grown = sum(connection.execute(self._sql[f"move_{name}"], keys).rowcount for name in ("family", "facts"))
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
        report = MoveReport(
            id=keys["id"],
            source=str(source),
            target=str(target),
            memories=len(moving),
            already_there=len(there),
            moved={"links": links.moved, **rows._asdict()},
            cut={"links": links.cut, "facts": len(mixed), **{name: cut[name] for name in _TOLD}},
            equal_facts=tuple((row.id, row.there) for row in equal[:_MOST_TOLD]),
        )
        self._keep(connection, keys, report, at)
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

    def _keep(self, connection: Connection, keys: Mapping[str, Any], report: MoveReport, at: datetime) -> None:
        shown = asdict(replace(report, source="", target=""))  # names of scopes are text
        del shown["source"], shown["target"]
        connection.execute(self._sql["move_keep"], {**keys, "at": at, "report": Jsonb(shown)})
