"""Links in PostgreSQL: row-level changes under the lock of the scope's row, which orders the versions of its graph."""

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from biem.adapters.postgres.database import Connection, Database, PooledConnection, Row
from biem.domain.link import Key, Link, LinkType, Moment, NewLink, combined, redirected
from biem.domain.scope import Scope
from biem.ports.links import LinkChanges, Weakened

T = TypeVar("T")

_LINKS_AT_ONCE = 50
"""Links per transaction: some milliseconds, in which a `remember` of the same scope waits."""
_NODES_AT_ONCE = 4
"""Nodes per transaction with all their links."""
_PRUNED_AT_ONCE = 25
"""Changed links per transaction: twice as many nodes with all their links."""
_LINKS_LOOKED_AT = 1_000
"""Links of each of two kinds that one check for loose ends looks at: some ten milliseconds."""


class PostgresLinks:
    """The port `Links`. The database is shared with other adapters."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.sql

    # -- changing ---------------------------------------------------------------------------------------------------

    def connect(self, scope: Scope, links: Sequence[NewLink], at: datetime, *, once: str | None = None) -> int:
        wanted = [link for link in combined(links) if _is_id(link.source) and _is_id(link.target)]
        if once is not None:  # whole: of work cut in parts, a repetition that cuts it elsewhere counts some links twice
            return self._change(scope.ns, "links_connect", _connect_row(wanted, at, once))[1] if wanted else 0
        written = 0
        for _, part in _parts(wanted, _LINKS_AT_ONCE):
            # A repetition after a lost answer must not add twice.
            name = f"call:{uuid.uuid4()}" if any(link.add for link in part) else None
            written += self._change(scope.ns, "links_connect", _connect_row(part, at, name))[1]
        return written

    def weaken(
        self,
        scope: Scope,
        idle_before: datetime,
        limit: int,
        at: datetime,
        *,
        types: Sequence[LinkType],
        share: float = 1.0,
        salt: int = 0,
    ) -> Weakened:
        weakened = removed = 0
        # A sample is drawn at once: what it leaves stays in front, and would be all that a second portion sees.
        for count in _counts(limit, _LINKS_AT_ONCE) if share >= 1 else (limit,):
            row = {"types": list(types), "idle_before": idle_before, "limit": count, "share": share, "salt": salt}
            rows, looked = self._change(scope.ns, "links_weaken", {**row, "at": at})
            weakened += sum(weaker and not gone for weaker, gone in rows)
            removed += sum(gone for _, gone in rows)
            if looked < count:
                break
        return Weakened(weakened, removed)

    def prune(self, scope: Scope, max_links: int, limit: int, at: datetime) -> int:
        removed = 0
        for count in _counts(limit, _PRUNED_AT_ONCE):
            rows, _ = self._change(scope.ns, "links_prune", {"most": max_links, "limit": count, "at": at})
            removed += rows[0].removed
            if rows[0].looked < count:
                break
        return removed

    def park(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        return self._by_nodes(scope.ns, "links_drop", ids, {"at": at, "parked": True, "absent": False})

    def purge(self, ns: str, ids: Sequence[str], at: datetime) -> int:
        return self._by_nodes(ns, "links_drop", ids, {"at": at, "parked": True, "absent": True})

    def restore(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        rows = self._database.fetch(scope.ns, "links_parked", {"ns": scope.ns, "ids": list(dict.fromkeys(ids))})
        return self._by_nodes(scope.ns, "links_restore", [row.id for row in rows], {"at": at})

    def remove_nodes(self, scope: Scope, ids: Sequence[str], at: datetime) -> int:
        return self._by_nodes(scope.ns, "links_drop", ids, {"at": at, "parked": False, "absent": False})

    def redirect(self, scope: Scope, old_ids: Sequence[str], new_id: str, at: datetime) -> int:
        old = [node for node in dict.fromkeys(old_ids) if node != new_id]

        def change(connection: Connection) -> int:
            written = 0
            for _, part in _parts(old, _NODES_AT_ONCE):
                with connection.transaction():
                    self._lock(connection, scope.ns)
                    rows = connection.execute(self._sql["links_of"], {"ns": scope.ns, "ids": part}).fetchall()
                    links = redirected(map(link_of, rows), dict.fromkeys(old, new_id))
                    row = {"ns": scope.ns, **_connect_row(links, at, None)}
                    written += connection.execute(self._sql["links_connect"], row).rowcount
                    drop = {"ns": scope.ns, "ids": part, "at": at, "parked": True, "absent": False}
                    connection.execute(self._sql["links_drop"], drop)
            return written

        return self._retrying(change)

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        removed = 0
        for count in _counts(limit, _LINKS_AT_ONCE):
            gone = self._change(scope.ns, "links_compact", {"before": before, "limit": count})[1]
            removed += gone
            if gone < count:
                break
        forgotten = {"ns": scope.ns, "before": before, "limit": limit}
        return removed + self._database.execute(scope.ns, "links_forget_work", forgotten)

    def _by_nodes(self, ns: str, name: str, ids: Sequence[str], row: Mapping[str, Any]) -> int:
        known = [node for node in dict.fromkeys(ids) if _is_id(node)]
        return sum(self._change(ns, name, {**row, "ids": part})[1] for _, part in _parts(known, _NODES_AT_ONCE))

    def _change(self, ns: str, name: str, row: Mapping[str, Any]) -> tuple[list[Row], int]:
        """Rows returned and number of rows changed, of one statement under the scope's lock: one round trip."""

        def change(connection: PooledConnection) -> tuple[list[Row], int]:
            found = connection.send(("see_scopes", (ns,)), ("lock_scope", (ns,)), (name, {"ns": ns, **row}))[-1]
            return found.rows, found.count

        return self._retrying(change)

    def _lock(self, connection: Connection, ns: str) -> None:
        connection.execute(self._sql["see_scopes"], (ns,))
        connection.execute(self._sql["lock_scope"], (ns,))

    def _retrying(self, change: Callable[[PooledConnection], T]) -> T:
        def attempt() -> T:
            with self._database.connection() as connection:
                return change(connection)

        return self._database.retrying(attempt)

    # -- reading ----------------------------------------------------------------------------------------------------

    def changes(self, known: Mapping[Scope, int]) -> Mapping[Scope, LinkChanges]:
        by_ns = {scope.ns: scope for scope in known}
        parameters = {"scopes": list(by_ns), "since": list(known.values())}
        rows = self._database.fetch(",".join(by_ns), "links_changes", parameters)
        versions: dict[str, tuple[int, bool]] = {}
        links: dict[str, list[Link]] = defaultdict(list)
        removed: dict[str, list[Key]] = defaultdict(list)
        for row in rows:
            versions[row.ns] = (row.graph_version, row.complete)
            if row.deleted:
                removed[row.ns].append((row.source, row.target, row.type))
            elif row.source is not None:
                links[row.ns].append(Link(row.source, row.target, row.type, row.weight, row.strength))
        nodes: dict[str, list[str]] = defaultdict(list)
        if loading := [ns for ns, (_, complete) in versions.items() if complete]:
            for ns, node in self._database.fetch(",".join(loading), "links_nodes", {"scopes": loading}):
                nodes[ns].append(node)
        return {by_ns[ns]: LinkChanges(*versions[ns], links[ns], removed[ns], nodes[ns]) for ns in versions}

    def of(self, scope: Scope, node_id: str) -> Sequence[Link]:
        rows = self._database.fetch(scope.ns, "links_of", {"ns": scope.ns, "ids": [node_id]})
        return [link_of(row) for row in rows]

    def count(self, scope: Scope) -> int:
        return int(self._database.fetch(scope.ns, "links_count", {"ns": scope.ns})[0].links)

    def dangling(self, scope: Scope, limit: int, *, every: bool = False) -> Sequence[str]:
        parameters = {"ns": scope.ns, "limit": limit, "looked": None if every else _LINKS_LOOKED_AT}
        rows = self._database.fetch(scope.ns, "links_dangling", parameters)
        return [row.node for row in rows]

    def earlier(
        self, scope: Scope, memories: Sequence[Moment], *, most: int, window_s: float
    ) -> Mapping[str, Sequence[Moment]]:
        parameters = {
            "ns": scope.ns,
            "ids": [memory.id for memory in memories],
            "ats": [memory.at for memory in memories],
            "seqs": [memory.seq for memory in memories],
            "conversations": [memory.conversation for memory in memories],
            "most": most,
            "window_s": window_s,
        }
        found: dict[str, list[Moment]] = {memory.id: [] for memory in memories}
        for row in self._database.fetch(scope.ns, "links_earlier", parameters):
            found[row.memory_id].append(Moment(row.id, row.at, row.seq, row.conversation))
        return found


def _is_id(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False


def link_of(row: Row) -> Link:
    """A link with the times of its making and of its last change."""
    return Link(
        source=row.source,
        target=row.target,
        type=row.type,
        weight=row.weight,
        strength=row.strength,
        created_at=row.created_at,
        touched_at=row.touched_at,
    )


def _connect_row(links: Sequence[NewLink], at: datetime, once: str | None) -> dict[str, Any]:
    return {
        "sources": [link.source for link in links],
        "targets": [link.target for link in links],
        "types": [link.type for link in links],
        "weights": [link.weight for link in links],
        "strengths": [link.strength for link in links],
        "plus": [link.add for link in links],
        "at": at,
        "once": once,
    }


def _parts(items: Sequence[T], size: int) -> Iterator[tuple[int, Sequence[T]]]:
    for start in range(0, len(items), size):
        yield start, items[start : start + size]


def _counts(limit: int, size: int) -> Iterator[int]:
    """`limit` in portions of at most `size`."""
    for start in range(0, limit, size):
        yield min(size, limit - start)
