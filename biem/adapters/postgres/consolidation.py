"""The port `Consolidations` and its small companions in PostgreSQL: replacing memories is one transaction under the
scope's lock, in which nothing is deleted."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Connection, Database, Row
from biem.adapters.postgres.node_rows import FIRST_ID, Store, scope_of
from biem.domain.policies import Policies
from biem.domain.scope import Scope
from biem.ports import Clock, Write
from biem.ports.consolidation import CrystalFact, Mark, Origin, Replacement, Work

_MOST_REFERENCES = 100
"""Ids in a memory's metadata; `sources` knows all."""

WriteRow = Callable[[Scope, Write, datetime], Mapping[str, Any]]
"""The parameters of the statement `remember` for a new memory."""


class PostgresConsolidations(Store):
    """`write_row` is how `Records` writes a memory. The database is shared with other adapters."""

    def __init__(
        self,
        database: Database,
        *,
        write_row: WriteRow,
        clock: Clock,
        decay_per_hour: float,
        policies: Policies | None = None,
    ) -> None:
        super().__init__(database, clock=clock, decay_per_hour=decay_per_hour, policies=policies)
        self._write_row = write_row

    # -- what there is to do ----------------------------------------------------------------------------------------

    def waiting(self, scope: Scope, job: Work, limit: int) -> list[Mark]:
        rows = self._database.fetch(scope.ns, "consolidation_waiting", (scope.ns, job, limit))
        return [Mark(**row._asdict()) for row in rows]

    def looked(self, scope: Scope, job: Work, marks: Sequence[Mark]) -> None:
        parameters = {
            "ns": scope.ns,
            "job": job,
            "ids": [mark.id for mark in marks],
            "marks": [mark.marks for mark in marks],
        }
        self._database.execute(scope.ns, "consolidation_looked", parameters)

    # -- replacing --------------------------------------------------------------------------------------------------

    def absorb(self, scope: Scope, kept: str, replaced: Sequence[str], at: datetime) -> bool:
        ids = sorted(set(replaced) - {kept})

        def attempt(connection: Connection) -> bool:
            rows = self._lock(connection, scope, [kept, *ids])
            if _stands_for(rows, kept, ids):
                return True
            if kept not in rows or not all(_is_current(rows.get(key)) for key in (kept, *ids)):
                return False
            if any(rows[key].trust == 0 or rows[key].trust > rows[kept].trust for key in ids):
                return False
            if self._was_taken_back(connection, scope, kept, ids):
                return False
            tags = self._replace(connection, scope, kept, ids, "dedupe", [kept, *ids], at)
            if set(tags) != set(rows[kept].tags):
                connection.execute(self._sql["encode_again"], {"ns": scope.ns, "kept": kept})
            return True

        return bool(ids) and self._transaction(scope, attempt)

    def merge(self, scope: Scope, write: Write, sources: Sequence[str], at: datetime) -> bool:
        ids = sorted(set(sources) - {write.id})
        row = self._write_row(scope, write, at)

        def attempt(connection: Connection) -> bool:
            rows = self._lock(connection, scope, [write.id, *ids])
            if _stands_for(rows, write.id, ids):
                return True
            if write.id in rows or not all(_is_current(rows.get(key)) for key in ids):
                return False
            if {rows[key].trust for key in ids} != {row["trust"]} or not row["trust"]:
                return False
            if self._was_taken_back(connection, scope, ids[0], ids[1:]):
                return False
            if connection.execute(self._sql["remember"], row).fetchone() is None:
                return False  # another memory has its ref
            self._replace(connection, scope, write.id, ids, "merge", ids, at)
            return True

        return len(ids) > 1 and self._transaction(scope, attempt)

    def crystallise(self, scope: Scope, fact: CrystalFact, write: Write, grown_from: str | None, at: datetime) -> bool:
        row = self._write_row(scope, write, at)
        sources = sorted(fact.source_node_ids)
        keys = {"ns": scope.ns, "kept": fact.id}

        def attempt(connection: Connection) -> bool:
            rows = self._lock(connection, scope, [fact.id, *sources, *([grown_from] if grown_from else [])])
            if fact.id in rows:
                return True
            if not rows.keys() >= set(sources) or any(_is_revised(rows[key], at) for key in sources):
                return False
            if min(rows[key].trust for key in sources) < max(1, row["trust"]):
                return False
            held: dict[str, str] = dict(connection.execute(self._sql["facts_of"], (scope.ns, sources)).fetchall())
            if any(other != grown_from for other in held.values()):
                return False
            if connection.execute(self._sql["remember"], row).fetchone() is None:
                return False
            connection.execute(self._sql["add_fact"], _fact_row(scope, fact, at))
            derived = {**keys, "ids": sources, "origin": "crystal", "linked": True}
            connection.execute(self._sql["derive"], derived)
            if grown_from is not None:
                connection.execute(self._sql["derive_grown"], {**keys, "old": grown_from})
                connection.execute(
                    self._sql["supersede_fact"], {"ns": scope.ns, "id": grown_from, "by": fact.id, "at": at}
                )
                if _is_current(rows.get(grown_from), fact=True):
                    self._replace(connection, scope, fact.id, [grown_from], "merge", [grown_from], at)
            return True

        return self._transaction(scope, attempt)

    def _lock(self, connection: Connection, scope: Scope, ids: Sequence[str]) -> dict[str, Row]:
        connection.execute(self._sql["lock_scope"], (scope.ns,))
        return {row.id: row for row in connection.execute(self._sql["consolidate_lock"], (scope.ns, list(ids)))}

    def _was_taken_back(self, connection: Connection, scope: Scope, kept: str, ids: Sequence[str]) -> bool:
        """Whether one of these was replaced by the other before and then restored: a user wants both."""
        known = connection.execute(self._sql["sources_of"], (scope.ns, [kept, *ids])).fetchall()
        return any({row.memory_id, row.source_id} <= {kept, *ids} for row in known)

    def _replace(
        self,
        connection: Connection,
        scope: Scope,
        kept: str,
        ids: Sequence[str],
        origin: Origin,
        energies: Sequence[str],
        at: datetime,
    ) -> list[str]:
        keys = {
            "ns": scope.ns,
            "kept": kept,
            "ids": list(ids),
            "energies": list(energies),
            "reasons": [origin] * len(ids),
            "origin": origin,
            "linked": False,
            "at": at,
            "decay": self._decay,
            "max_tags": self._policies.write.max_tags,
            "max_sources": _MOST_REFERENCES,
            "superseded_by": kept,
            "after_s": self._policies.encode.lease_s + 5.0,
        }
        inherited = connection.execute(self._sql["inherit"], keys).fetchone()
        for step in ("archive", "derive", "derive_facts"):
            connection.execute(self._sql[step], keys)
        return list(inherited.tags or ()) if inherited else []

    def _transaction(self, scope: Scope, attempt: Callable[[Connection], bool]) -> bool:
        def run() -> bool:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                return attempt(connection)

        return self._database.retrying(run)

    # -- reading ----------------------------------------------------------------------------------------------------

    def facts(self, scope: Scope, limit: int, *, after: str = "") -> list[CrystalFact]:
        parameters = {"ns": scope.ns, "after": after or FIRST_ID, "limit": limit, "now": self._clock.now()}
        return [_fact(row) for row in self._database.fetch(scope.ns, "list_facts", parameters)]

    def fact(self, scope: Scope, fact_id: str) -> CrystalFact | None:
        rows = self._database.fetch(scope.ns, "get_fact", (scope.ns, fact_id))
        return _fact(rows[0]) if rows else None

    def facts_of(self, scope: Scope, ids: Sequence[str]) -> dict[str, str]:
        return dict(self._database.fetch(scope.ns, "facts_of", (scope.ns, list(ids))))

    def sources(self, scope: Scope, ids: Sequence[str]) -> dict[str, list[tuple[str, Origin]]]:
        found: dict[str, list[tuple[str, Origin]]] = {}
        for memory_id, source_id, origin in self._database.fetch(scope.ns, "sources_of", (scope.ns, list(ids))):
            found.setdefault(memory_id, []).append((source_id, origin))
        return found

    def unlinked(self, scope: Scope, limit: int) -> list[Replacement]:
        rows = self._database.fetch(scope.ns, "unlinked", (scope.ns, limit))
        return [Replacement(kept, tuple(ids)) for kept, ids in rows]

    def linked(self, scope: Scope, replacement: Replacement) -> None:
        keys = {"ns": scope.ns, "kept": replacement.kept, "ids": list(replacement.replaced)}
        self._database.execute(scope.ns, "linked", keys)


class PostgresScopes:
    """The port `ScopeList`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def scopes(self, after: str, limit: int) -> list[Scope]:
        return [scope_of(row) for row in self._database.fetch(ALL_SCOPES, "scope_page", (after, limit))]


def _is_revised(row: Row, read_at: datetime) -> bool:
    return row.revised_at is not None and row.revised_at > read_at


def _stands_for(rows: Mapping[str, Row], kept: str, ids: Sequence[str]) -> bool:
    """Whether this was done before: the answer may have been lost with the connection."""
    return kept in rows and all(
        key in rows and rows[key].status == "archived" and rows[key].superseded_by == kept for key in ids
    )


def _is_current(row: Row | None, *, fact: bool = False) -> bool:
    """Whether a memory stands for itself; a fact may be replaced before it is indexed."""
    return (
        row is not None
        and row.status in (("active", "pending") if fact else ("active",))
        and row.superseded_by is None
        and bool(row.is_fact) == fact
    )


def _fact_row(scope: Scope, fact: CrystalFact, at: datetime) -> dict[str, Any]:
    return {
        "id": fact.id,
        "ns": scope.ns,
        "content": fact.content,
        "sources": list(fact.source_node_ids),
        "confidence": fact.confidence,
        "at": at,
        "metadata": Jsonb(dict(fact.metadata)),
    }


def _fact(row: Row) -> CrystalFact:
    return CrystalFact(**{**row._asdict(), "source_node_ids": tuple(row.source_node_ids)})
