"""Issues, checks and revokes API keys."""

import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from biem.domain.access.key import (
    ApiKey,
    IssuedKey,
    new_key_id,
    new_secret,
    parse_token,
    require_grants,
    secret_hash,
    token_of,
)
from biem.domain.node import require_expiry
from biem.domain.scope import MAX_NAME_CHARS, Scope
from biem.domain.text import require_clean
from biem.errors import InvalidInput, KeyInvalid, NotFound
from biem.ports import Clock
from biem.ports.access import KeyRecords

_CACHED_S = 0.5
"""How long a key that was read counts as read: one that is revoked works no longer than this."""
_MOST_CACHED = 10_000
_UNKNOWN = "the key is missing, unknown, expired or revoked; send one as Authorization: Bearer biem_…"


@dataclass(frozen=True, slots=True)
class _Read:
    key: ApiKey
    secret_sha: bytes
    at: float


class Keys:
    """The keys of all tenants. Thread-safe."""

    def __init__(self, records: KeyRecords, clock: Clock) -> None:
        self._records = records
        self._clock = clock
        self._lock = threading.Lock()
        self._read: dict[str, _Read] = {}

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
        """A new key; its token is in the result and nowhere else. Raises `InvalidInput`.

        `user` and `project` None: any. A key for any user is for any project, too, or for their own level.
        """
        Scope(tenant, user if user is not None else "any", project or "")  # raises for names that no scope has
        require_clean(name, "the name of a key")
        if len(name) > MAX_NAME_CHARS:
            raise InvalidInput(f"the name of a key has at most {MAX_NAME_CHARS} characters, not {len(name)}")
        now = self._clock.now()
        secret = new_secret()
        key = ApiKey(
            id=new_key_id(),
            name=name,
            tenant=tenant,
            user=user,
            project=project,
            grants=require_grants(grants),
            created_at=now,
            expires_at=require_expiry(expires_at, None, now),
        )
        self._records.add(key, secret_hash(secret))
        return IssuedKey(key, token_of(key.id, secret))

    def list(self, tenant: str) -> Sequence[ApiKey]:
        """The keys of a tenant, oldest first; expired and revoked ones too."""
        return self._records.listed(tenant)

    def revoke(self, tenant: str, key_id: str) -> bool:
        """End a key, in every process within a second; False if it was revoked before. Raises `NotFound`."""
        require_clean(key_id, "the id of a key")
        done = self._records.revoke(tenant, key_id, self._clock.now())
        with self._lock:
            self._read.pop(key_id, None)
        if not done:
            found = self._records.get(key_id)
            if found is None or found[0].tenant != tenant:
                raise NotFound(f"no key {key_id} of tenant {tenant}; `biem keys list` shows them")
        return done

    def cached(self, token: str) -> ApiKey | None:
        """The valid key of a token if it was read less than half a second ago; asks no server."""
        parsed = parse_token(token)
        read = self._read.get(parsed[0]) if parsed else None
        if parsed is None or read is None or time.monotonic() - read.at >= _CACHED_S:
            return None
        return self._checked(read, parsed[1])

    def verify(self, token: str) -> ApiKey:
        """The valid key of a token. Raises `KeyInvalid` and `StoreUnavailable`."""
        parsed = parse_token(token)
        if parsed is None:
            raise KeyInvalid(_UNKNOWN)
        key_id, digest = parsed
        begun = time.monotonic()
        found = self._records.get(key_id)
        if found is None:
            raise KeyInvalid(_UNKNOWN)
        read = _Read(*found, begun)
        key = self._checked(read, digest)
        with self._lock:
            if len(self._read) >= _MOST_CACHED:
                self._read.clear()
            self._read[key_id] = read
        now = self._clock.now()
        if key.last_used_at is None or (now - key.last_used_at).total_seconds() >= 60:
            self._records.used(key_id, now)
        return key

    def _checked(self, read: _Read, digest: bytes) -> ApiKey:
        same = secrets.compare_digest(read.secret_sha, digest)
        if not same or not read.key.is_valid(self._clock.now()):
            raise KeyInvalid(_UNKNOWN)
        return read.key
