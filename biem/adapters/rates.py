"""Rates in Redis or Valkey: one key a scope that is gone when its allowance is full again."""

from biem.adapters.redis_client import RedisClient
from biem.domain.scope import Scope

_MINUTE_MS = 60_000.0


class RedisRates(RedisClient):
    """The port `Rates`. A call waits at most `timeout_s`; raises `StoreUnavailable` when the server does not answer."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        super().__init__(url, timeout_s=timeout_s, text=True)
        self._take = self._script("take_rate")

    def take(self, scope: Scope, writes: int, per_minute: int) -> float:
        with self._errors():
            wait_ms = self._take(keys=[f"biem:rate:{{{scope.ns}}}"], args=[_MINUTE_MS / per_minute, writes, _MINUTE_MS])
        return float(wait_ms) / 1e3
