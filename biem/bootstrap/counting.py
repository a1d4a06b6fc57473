"""Counts from PostgreSQL without an embedder: a wrong embedder must not hide how many memories there are."""

from collections.abc import Mapping

from biem.adapters.clock import SystemClock
from biem.adapters.postgres.database import small_pool
from biem.adapters.postgres.readers import PostgresScopeDirectory
from biem.adapters.postgres.records import PostgresRecords
from biem.bootstrap.servers import servers
from biem.config import Settings
from biem.domain.scope import Scope, ScopeSummary
from biem.engine.admin.counts import counts


def counted(settings: Settings, scope: Scope) -> Mapping[str, int | str]:
    """The counts of `Memory.stats`, without those that need an embedder. Raises `StoreUnavailable`."""
    policies, clock = settings.policies, SystemClock()
    with servers(settings) as where, small_pool(where.postgres_dsn) as database:
        decay = policies.energy.decay_per_hour
        return counts(PostgresRecords(database, clock=clock, decay_per_hour=decay, policies=policies), scope)


def scopes(settings: Settings, tenant: str | None, user: str | None) -> list[ScopeSummary]:
    """The scopes of a tenant and a user, None: of all. Raises `StoreUnavailable`."""
    with servers(settings) as where, small_pool(where.postgres_dsn) as database:
        return PostgresScopeDirectory(database).listed(tenant, user)
