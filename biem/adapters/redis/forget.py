"""Removes all projections from Redis after PostgreSQL was replaced; they are rebuilt with use."""

from biem.adapters.redis.keys import BROKER, EVERYTHING
from biem.adapters.redis.light_import import redis
from biem.errors import StoreUnavailable

_AT_ONCE = 500


def forget_projections(url: str) -> int:
    """Remove the data of every scope, of any kind and format; returns the number of keys. The broker's keys stay."""
    removed = 0
    try:
        with redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=3) as client:
            found: list[bytes] = []
            for key in client.scan_iter(match=EVERYTHING, count=_AT_ONCE):
                if not key.startswith(BROKER.encode()):
                    found.append(key)
                if len(found) == _AT_ONCE:
                    removed += int(client.unlink(*found))
                    found.clear()
            if found:
                removed += int(client.unlink(*found))
    except redis.RedisError as error:
        raise StoreUnavailable(f"Redis did not answer ({error}); its projections expire with time") from error
    return removed
