"""The port `ScopeDirectory` in PostgreSQL."""

from biem.adapters.database import ALL_SCOPES, Database
from biem.domain.scope import Scope, ScopeSummary


class PostgresScopeDirectory:
    """Looks scopes up by name, which row-level security cannot limit: what is asked for is limited here."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self, tenant: str | None, user: str | None) -> list[ScopeSummary]:
        rows = self._database.fetch(ALL_SCOPES, "scopes_listed", {"tenant": tenant, "user": user})
        return [ScopeSummary(Scope(*row[:3]), *row[3:]) for row in rows]

    def reading(self, scope: Scope) -> list[Scope]:
        if scope.project:
            return [scope]
        rows = self._database.fetch(ALL_SCOPES, "scopes_of_user", (scope.tenant, scope.user))
        return [scope, *(Scope(scope.tenant, scope.user, project) for (project,) in rows if project)]
