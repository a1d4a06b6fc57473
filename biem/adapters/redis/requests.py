"""Counters of the HTTP server's requests, in Redis or Valkey."""

import hashlib

from biem.adapters.redis.client import RedisClient
from biem.domain.access.allowance import MINUTE_S, Allowance, allowance

_MS = 1e3


class RedisRequestRates(RedisClient):
    """The port `RequestRates`. A call waits at most `timeout_s`."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        super().__init__(url, "requests", timeout_s=timeout_s)
        self._take = self._script("take_request")

    def take(self, key_id: str, per_minute: int) -> Allowance:
        name = hashlib.sha256(key_id.encode()).hexdigest()[:32]
        arguments = [MINUTE_S * _MS / per_minute, MINUTE_S * _MS]
        admitted, full_in_ms = self._on(name, lambda keys: self._take(keys=keys, args=arguments))
        return allowance(per_minute, float(full_in_ms) / _MS, admitted=bool(admitted))

    def _inspect(self, keys: list[str]) -> None:
        if (full_at := self._client.get(keys[0])) is not None:
            int(full_at)
