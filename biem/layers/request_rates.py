"""Counts the requests of API keys: together with all other machines or, while Redis is down, in this process."""

import threading
import time

from biem.domain.access.allowance import MINUTE_S, Allowance, allowance
from biem.errors import StoreUnavailable
from biem.ports.access import RequestRates

_MOST = 10_000


class RequestLimit:
    """At most `per_minute` requests of each key; 0: any number."""

    def __init__(self, rates: RequestRates, per_minute: int) -> None:
        self._rates = rates
        self.per_minute = per_minute
        self._lock = threading.Lock()
        self._full_at: dict[str, float] = {}

    def take(self, key_id: str) -> Allowance | None:
        """Count one request; None without a limit."""
        if not self.per_minute:
            return None
        try:
            return self._rates.take(key_id, self.per_minute)
        except StoreUnavailable:
            return self._take_here(key_id)

    def _take_here(self, key_id: str) -> Allowance:
        now = time.monotonic()
        with self._lock:
            if len(self._full_at) >= _MOST:
                self._full_at = {key: at for key, at in self._full_at.items() if at > now}
            full_at = max(now, self._full_at.get(key_id, now))
            new = full_at + MINUTE_S / self.per_minute
            admitted = new - now <= MINUTE_S
            if admitted:
                self._full_at[key_id] = full_at = new
        return allowance(self.per_minute, full_at - now, admitted=admitted)
