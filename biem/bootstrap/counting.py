"""What PostgreSQL counts, without an embedder: one that does not fit must not hide how many memories there are."""

from collections.abc import Mapping
from contextlib import closing

from biem.adapters.clock import SystemClock
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.readers import PostgresScopeDirectory
from biem.adapters.postgres.records import PostgresRecords
from biem.bootstrap.servers import servers
from biem.config import Settings
from biem.domain.scope import Scope, ScopeSummary
from biem.engine.admin.counts import counts


def counted(settings: Settings, scope: Scope) -> Mapping[str, int | str]:
    """The counts of `Memory.stats`, without those that need an embedder. Raises `StoreUnavailable`."""
    policies, clock = settings.policies, SystemClock()
    with servers(settings) as where, closing(Database(where.postgres_dsn, pool_size=2, retry_s=2.0)) as database:
        decay = policies.energy.decay_per_hour
        return counts(PostgresRecords(database, clock=clock, decay_per_hour=decay, policies=policies), scope)


def scopes(settings: Settings, tenant: str | None, user: str | None) -> list[ScopeSummary]:
    """The scopes of a tenant and a user, None: of all. Raises `StoreUnavailable`."""
    with servers(settings) as where, closing(Database(where.postgres_dsn, pool_size=2, retry_s=2.0)) as database:
        return PostgresScopeDirectory(database).listed(tenant, user)
