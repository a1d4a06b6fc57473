"""`biem erase --scrub`: removes erased data from free pages, logs and older files as far as possible."""

from biem.adapters.scrubbing import empty_logs, scrub_milvus_lite, scrub_postgres, scrub_redis
from biem.bootstrap.servers import delete_automatic_backups, home_of, servers
from biem.config import Settings


def scrub(settings: Settings) -> dict[str, list[str]]:
    """Scrub the servers of these settings; `deleted` are automatic backups, `left` are steps for the operator."""
    home = home_of(settings)
    with servers(settings) as where:
        own_redis, own_milvus = settings.redis_url is None, settings.milvus_url() is None
        left = scrub_postgres(where.postgres_dsn, log=where.embedded)
        left += scrub_redis(where.redis_url)
        if not own_redis:
            left.append("Redis: replicas and copies of its files, as you keep them")
        if own_milvus:
            scrub_milvus_lite(home / "milvus" / "milvus.db")
        else:
            left.append("Milvus: compact the collection; dropped segments go when its garbage collection has run")
        deleted = delete_automatic_backups(home) if where.embedded else []
        empty_logs(home / "log")
    left.append("backups that you made with `biem backup`, and snapshots of disks")
    return {"deleted": deleted, "left": left}
