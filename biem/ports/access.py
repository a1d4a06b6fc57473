"""API keys, and the number of requests that each may make."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from biem.domain.access.allowance import Allowance
from biem.domain.access.key import ApiKey


class KeyRecords(Protocol):
    """Stored keys. Each method is one transaction, safe to repeat; raises `StoreUnavailable`."""

    def add(self, key: ApiKey, secret_sha: bytes) -> None:
        """Store a new key with the hash of its secret."""

    def get(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        """A key and the hash of its secret, revoked or not."""

    def listed(self, tenant: str) -> Sequence[ApiKey]:
        """The keys of a tenant, oldest first; those revoked too."""

    def revoke(self, tenant: str, key_id: str, at: datetime) -> bool:
        """Revoke a key of the tenant; False if there is none, or it was revoked before."""

    def used(self, key_id: str, at: datetime) -> None:
        """Note a use; kept to the minute."""


class RequestRates(Protocol):
    """Counts the requests of each key, on all machines together."""

    def take(self, key_id: str, per_minute: int) -> Allowance:
        """Count one request, unless the allowance is used up. Raises `StoreUnavailable`."""

    def close(self) -> None:
        """Release connections; a second call does nothing."""
