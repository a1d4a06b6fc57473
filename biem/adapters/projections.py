"""Emptying what Redis keeps of memories, when PostgreSQL has become another one: it fills again with use."""

import redis

from biem.errors import StoreUnavailable

_KINDS = ("hot", "canvas", "mind")
_AT_ONCE = 500


def forget_projections(url: str) -> int:
    """Remove hot texts, canvases and minds of all scopes; returns how many keys. The broker's keys stay."""
    removed = 0
    try:
        with redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=3) as client:
            for kind in _KINDS:
                found: list[bytes] = []
                for key in client.scan_iter(match=f"biem:{kind}:*", count=_AT_ONCE):
                    found.append(key)
                    if len(found) == _AT_ONCE:
                        removed += int(client.unlink(*found))
                        found.clear()
                if found:
                    removed += int(client.unlink(*found))
    except redis.RedisError as error:
        raise StoreUnavailable(f"Redis did not answer ({error}); what it holds of memories goes with time") from error
    return removed
