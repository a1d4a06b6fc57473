"""What PostgreSQL counts, for a program whose embedder does not fit: that must not hide how many memories there are."""

from collections.abc import Mapping
from contextlib import closing

from biem.adapters.clock import SystemClock
from biem.adapters.database import Database
from biem.adapters.postgres import PostgresRecords
from biem.bootstrap.places import servers
from biem.config import Settings
from biem.domain.scope import Scope
from biem.operations import counts


def counted(settings: Settings, scope: Scope) -> Mapping[str, int | str]:
    """The counts of `Memory.stats`, without those that need an embedder. Raises `StoreUnavailable`."""
    policies, clock = settings.policies, SystemClock()
    with servers(settings) as where, closing(Database(where.postgres_dsn, pool_size=2, retry_s=2.0)) as database:
        decay = policies.energy.decay_per_hour
        return counts(PostgresRecords(database, clock=clock, decay_per_hour=decay, policies=policies), scope)
