"""Asks the servers of a system whether they answer; starts nothing and loads no model."""

from biem.adapters.probes import MilvusProbe, PostgresProbe, RedisProbe
from biem.bootstrap.servers import standing
from biem.bootstrap.stores import milvus_inspection
from biem.config import Settings
from biem.domain.diagnosis import Health
from biem.engine.admin.diagnosis import ask

_NOT_RUNNING = "the embedded servers do not run; any program starts them, and `biem local up` keeps them running"


def health(settings: Settings) -> Health:
    """Whether memories can be written and recalled now. Answers within some seconds, also when a server hangs."""
    where = standing(settings)
    if where is None:
        return Health(dict.fromkeys(("postgres", "redis", "milvus"), _NOT_RUNNING))
    index = milvus_inspection(settings, where)
    try:
        postgres = PostgresProbe(where.postgres_dsn)
        return ask([postgres, RedisProbe(where.redis_url), MilvusProbe(index)], postgres)
    finally:
        index.close()
