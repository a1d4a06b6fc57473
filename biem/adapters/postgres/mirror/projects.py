"""Projects of users in PostgreSQL."""

from biem.adapters.postgres.database import ALL_SCOPES, Connection, Database
from biem.domain.mirror.project import Project
from biem.domain.scope import Scope


class PostgresProjects:
    """The port `ProjectRecords`. The database is shared with other adapters."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._sql = database.sql

    def open(self, own: Scope, host: str, root: str, key: str) -> str | None:
        row = {
            "ns": own.ns,
            "host": host,
            "root": root,
            "key": key,
            "linked": False,
            "project": Scope(own.tenant, own.user, key).ns,
        }

        def attempt() -> str | None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                self._lock(connection, own)
                known = connection.execute(self._sql["project_of_root"], row).fetchone()
                if known is not None and (known.linked or known.key == key):
                    return str(known.key)
                if connection.execute(self._sql["project_held"], row).fetchone() is not None:
                    return None
                connection.execute(self._sql["project_add"], row)
                connection.execute(self._sql["project_root_put"], row)
                return key

        return self._database.retrying(attempt)

    def link(self, own: Scope, host: str, root: str, key: str) -> None:
        row = {"ns": own.ns, "host": host, "root": root, "key": key, "linked": True}

        def attempt() -> None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (own.ns,))
                self._lock(connection, own)
                connection.execute(self._sql["project_add"], row)
                connection.execute(self._sql["project_root_put"], row)

        self._database.retrying(attempt)

    def rename(self, own: Scope, key: str, name: str) -> bool:
        return self._database.execute(own.ns, "project_rename", {"ns": own.ns, "key": key, "name": name}) > 0

    def listed(self, own: Scope) -> list[Project]:
        rows = self._database.fetch(own.ns, "project_list", {"ns": own.ns})
        return [
            Project(
                key=row.key,
                name=row.name or row.key,
                roots=tuple(zip(row.hosts, row.roots, strict=True)),
                created_at=row.created_at,
            )
            for row in rows
        ]

    def _lock(self, connection: Connection, own: Scope) -> None:
        connection.execute(self._sql["project_lock"], (own.ns,))
