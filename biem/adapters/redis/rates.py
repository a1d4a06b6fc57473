"""Rate limits of writing, in Redis or Valkey."""

from biem.adapters.redis.client import RedisClient
from biem.domain.scope import Scope

_MINUTE_MS = 60_000.0


class RedisRates(RedisClient):
    """The port `Rates`. A call waits at most `timeout_s`; raises `StoreUnavailable` when the server does not answer."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        super().__init__(url, "rate", timeout_s=timeout_s)
        self._take = self._script("take_rate")

    def take(self, scope: Scope, writes: int, per_minute: int) -> float:
        arguments = [_MINUTE_MS / per_minute, writes, _MINUTE_MS]
        wait_ms = self._on(scope.ns, lambda keys: self._take(keys=keys, args=arguments))
        return float(wait_ms) / 1e3

    def _inspect(self, keys: list[str]) -> None:
        if (full_at := self._client.get(keys[0])) is not None:
            int(full_at)
            if self._client.pttl(keys[0]) == -1:
                raise ValueError("an allowance that never expires")
