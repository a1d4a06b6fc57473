"""Emptying what Redis keeps of memories, when PostgreSQL has become another one: it fills again with use."""

import redis

from biem.adapters.redis.keys import BROKER, EVERYTHING
from biem.errors import StoreUnavailable

_AT_ONCE = 500


def forget_projections(url: str) -> int:
    """Remove all that is kept for any scope, of whatever kind and format; returns how many keys. The broker's stay."""
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
        raise StoreUnavailable(f"Redis did not answer ({error}); what it holds of memories goes with time") from error
    return removed
