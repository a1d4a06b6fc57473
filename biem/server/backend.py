"""The objects behind the routes: the memory, the API keys, the request counters and the limits of this process."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from biem.domain.access.allowance import Allowance
from biem.domain.access.key import ApiKey, IssuedKey
from biem.domain.diagnosis import Health
from biem.memory import Memory


class KeyRing(Protocol):
    """Issues, checks and revokes keys."""

    def add(
        self,
        tenant: str,
        user: str | None,
        project: str | None,
        grants: Sequence[str],
        *,
        name: str = "",
        expires_at: datetime | None = None,
    ) -> IssuedKey:
        """A new key."""

    def list(self, tenant: str) -> Sequence[ApiKey]:
        """The keys of a tenant."""

    def revoke(self, tenant: str, key_id: str) -> bool:
        """End a key."""

    def cached(self, token: str) -> ApiKey | None:
        """The valid key of a token that was verified a moment ago; asks no server. Raises `KeyInvalid`."""

    def verify(self, token: str) -> ApiKey:
        """The valid key of a token. Raises `KeyInvalid` and `StoreUnavailable`."""


class Limit(Protocol):
    """Counts requests."""

    per_minute: int

    def take(self, key_id: str) -> Allowance | None:
        """Count one request of a key."""


class ServerBackend(Protocol):
    """What the routes use; `biem.bootstrap.server.Backend` implements it."""

    @property
    def memory(self) -> Memory:
        """The memory of all scopes."""

    @property
    def keys(self) -> KeyRing:
        """The keys."""

    @property
    def limit(self) -> Limit:
        """The counters of requests."""

    @property
    def health(self) -> Callable[[], Health]:
        """Asks the stores."""

    @property
    def body_bytes(self) -> int:
        """Largest body of a request that is no upload."""

    @property
    def upload_bytes(self) -> int:
        """Largest file that is imported."""

    @property
    def threads(self) -> int:
        """Calls that run at a time."""
