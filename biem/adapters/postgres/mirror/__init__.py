"""Roots and files of the mirror in PostgreSQL."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Row
from biem.adapters.postgres.node_rows import Store, scope_of
from biem.domain.mirror.root import MirrorFile, MirrorRoot
from biem.domain.node import Node
from biem.domain.note import FileStat
from biem.domain.scope import Scope
from biem.errors import InvalidInput, NotFound
from biem.ports.layers.mirror import StaleFile, Whereabouts


class PostgresMirror(Store):
    """The port `MirrorRecords`. The database is shared with other adapters."""

    # -- roots ------------------------------------------------------------------------------------------------------

    def add_root(self, root: MirrorRoot) -> MirrorRoot:
        scope = root.scope
        row = {
            "id": root.id,
            "ns": scope.ns,
            "path": root.path,
            "host": root.host,
            "kind": root.kind,
            "adopted": root.adopted,
        }

        def attempt() -> bool:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))  # another scope may have the folder
                connection.execute(self._sql["ensure_scope"], (scope.ns, scope.tenant, scope.user, scope.project))
                connection.execute(self._sql["mirror_root_add"], row)
                found = connection.execute(self._sql["mirror_root_taken"], row).fetchone()
                return found is not None and bool(found.taken)

        if self._database.retrying(attempt):
            raise InvalidInput(f"the folder {root.path} mirrors another scope already; choose another one")
        for known in self.roots([scope]):
            if (known.path, known.host) == (root.path, root.host):
                return known
        raise NotFound(f"the root {root.path} was removed meanwhile; add it again")

    def roots(self, scopes: Sequence[Scope] | None = None) -> list[MirrorRoot]:
        names = None if scopes is None else [scope.ns for scope in scopes]
        seen = ALL_SCOPES if names is None else ",".join(names)
        return [root_of(row) for row in self._database.fetch(seen, "mirror_roots", {"scopes": names})]

    def remove_root(self, root: MirrorRoot) -> None:
        self._database.execute(root.scope.ns, "mirror_root_remove", _key(root))

    def erase_root(self, root: MirrorRoot) -> None:
        def attempt() -> None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (root.scope.ns,))
                connection.execute(self._sql["mirror_root_refuse"], _key(root))
                connection.execute(self._sql["mirror_root_remove"], _key(root))

        self._database.retrying(attempt)

    def adopt(self, root: MirrorRoot) -> None:
        self._database.execute(root.scope.ns, "mirror_root_adopt", _key(root))

    def synced(self, root: MirrorRoot, at: datetime, report: Mapping[str, Any]) -> None:
        row = {**_key(root), "at": at, "report": Jsonb(dict(report))}
        self._database.execute(root.scope.ns, "mirror_synced", row)

    # -- files ------------------------------------------------------------------------------------------------------

    def files(self, root: MirrorRoot) -> dict[str, MirrorFile]:
        rows = self._database.fetch(root.scope.ns, "mirror_files", _key(root))
        return {row.path: _file(row) for row in rows}

    def bases(self, root: MirrorRoot, paths: Sequence[str]) -> dict[str, MirrorFile]:
        rows = self._database.fetch(root.scope.ns, "mirror_bases", {**_key(root), "paths": list(paths)})
        return {row.path: _file(row) for row in rows}

    def put(self, root: MirrorRoot, files: Sequence[MirrorFile]) -> None:
        if not files:
            return
        replaced = {"paths": [file.path for file in files], "ids": [file.memory_id for file in files if file.memory_id]}
        rows = Jsonb([_file_row(file) for file in files])

        def attempt() -> None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (root.scope.ns,))
                connection.execute(self._sql["mirror_clear"], {**_key(root), **replaced})
                connection.execute(self._sql["mirror_put"], {**_key(root), "files": rows})

        self._database.retrying(attempt)

    def touch(self, root: MirrorRoot, read: Sequence[tuple[FileStat, int]]) -> None:
        if read:
            rows = [{**_stat_row(stat), "path": stat.path, "read_ns": read_ns} for stat, read_ns in read]
            self._database.execute(root.scope.ns, "mirror_touch", {**_key(root), "files": Jsonb(rows)})

    def drop(self, root: MirrorRoot, paths: Sequence[str]) -> None:
        if paths:
            self._database.execute(root.scope.ns, "mirror_drop", {**_key(root), "paths": list(paths)})

    # -- memories ---------------------------------------------------------------------------------------------------

    def stale(self, root: MirrorRoot, limit: int) -> list[StaleFile]:
        row = {**_key(root), "now": self._clock.now(), "limit": limit}
        rows = self._database.fetch(root.scope.ns, "mirror_stale", row)
        return [StaleFile(row.id, row.path, row.exists) for row in rows]

    def nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        rows = self._database.fetch(scope.ns, "mirror_nodes", {"ns": scope.ns, "ids": list(ids)})
        now = self._clock.now()
        return {row.id: self.node(row, scope, now) for row in rows}

    def whereabouts(self, scope: Scope, ids: Sequence[str]) -> dict[str, Whereabouts]:
        if not ids:
            return {}
        rows = self._database.fetch(ALL_SCOPES, "mirror_whereabouts", {"ns": scope.ns, "ids": list(ids)})
        return {row.id: row.place for row in rows}

    def written(self, scope: Scope, ids: Sequence[str] | None) -> list[tuple[MirrorRoot, str]]:
        row = {"ns": scope.ns, "ids": None if ids is None else list(ids)}
        return [(root_of(row), row.file) for row in self._database.fetch(scope.ns, "mirror_written", row)]


def _key(root: MirrorRoot) -> dict[str, Any]:
    return {"ns": root.scope.ns, "root": root.id}


def root_of(row: Row) -> MirrorRoot:
    """A root, of a row with its columns and those of its scope."""
    return MirrorRoot(
        id=row.id,
        scope=scope_of(row),
        path=row.path,
        host=row.host,
        kind=row.kind,
        state=row.state,
        adopted=row.adopted,
        synced_at=row.synced_at,
        report=row.report,
    )


def _file(row: Row) -> MirrorFile:
    return MirrorFile(
        path=row.path,
        memory_id=row.memory_id,
        stat=FileStat(row.path, row.bytes, row.mtime_ns, int(row.inode)),
        sha256=bytes(row.sha256),
        read_ns=row.read_ns,
        state=row.state,
        reason=row.reason,
        revision=row.revision,
        layer=row.layer,
        archived=row.archived,
        base=row.base,
    )


def _stat_row(stat: FileStat) -> dict[str, Any]:
    return {"bytes": stat.size, "mtime_ns": stat.mtime_ns, "inode": stat.inode}


def _file_row(file: MirrorFile) -> dict[str, Any]:
    return {
        **_stat_row(file.stat),
        "path": file.path,
        "memory_id": file.memory_id,
        "sha256": file.sha256.hex(),
        "read_ns": file.read_ns,
        "state": file.state,
        "reason": file.reason,
        "revision": file.revision,
        "layer": file.layer,
        "archived": file.archived,
        "base": None if file.base is None else {name: dict(said) for name, said in file.base.items()},
    }
