"""Whose memories there are: what an erasure of a person and a list for people need to know."""

from typing import Protocol

from biem.domain.scope import Scope, ScopeSummary


class ScopeDirectory(Protocol):
    """The scopes that something was ever written to, and that were not erased since."""

    def listed(self, tenant: str | None, user: str | None) -> list[ScopeSummary]:
        """Scopes of a tenant and a user (None: of all), with counts, by tenant, user and project."""

    def reading(self, scope: Scope) -> list[Scope]:
        """The scopes that may read `scope`: itself and, for a user's own, all projects of this user."""
