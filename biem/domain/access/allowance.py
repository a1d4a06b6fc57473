"""Rate limit of a key: an allowance of requests that refills evenly within a minute (GCRA)."""

from dataclasses import dataclass

MINUTE_S = 60.0


@dataclass(frozen=True, slots=True)
class Allowance:
    """The rest of a key's requests, after this one."""

    limit: int
    """Requests in a minute."""
    remaining: int
    reset_s: float
    """Seconds until the whole allowance is there again."""
    retry_s: float = 0.0
    """Seconds until the next request is admitted; 0 if this one was."""

    @property
    def is_used_up(self) -> bool:
        """Whether this request was not admitted."""
        return self.retry_s > 0


def allowance(limit: int, full_in_s: float, *, admitted: bool) -> Allowance:
    """The allowance that is full again in `full_in_s` seconds, after a request that was `admitted` or not."""
    cost = MINUTE_S / limit
    left = max(0, int((MINUTE_S - full_in_s) / cost + 1e-6))
    retry = 0.0 if admitted else max(0.001, full_in_s + cost - MINUTE_S)
    return Allowance(limit, left if admitted else 0, max(0.0, full_in_s), retry)
