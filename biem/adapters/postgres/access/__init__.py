"""API keys in PostgreSQL."""

from collections.abc import Sequence
from datetime import datetime

from biem.adapters.postgres.database import ALL_SCOPES, Database, Row
from biem.domain.access.key import ApiKey


class PostgresKeys:
    """The port `KeyRecords`. The database may be shared with other adapters."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, key: ApiKey, secret_sha: bytes) -> None:
        row = {
            "id": key.id,
            "name": key.name,
            "secret_sha": secret_sha,
            "tenant": key.tenant,
            "user": key.user,
            "project": key.project,
            "grants": list(key.grants),
            "created_at": key.created_at,
            "expires_at": key.expires_at,
        }
        self._database.execute(ALL_SCOPES, "key_add", row)

    def get(self, key_id: str) -> tuple[ApiKey, bytes] | None:
        for row in self._database.fetch(ALL_SCOPES, "key_get", {"id": key_id}):
            return _key(row), bytes(row.secret_sha)
        return None

    def listed(self, tenant: str) -> Sequence[ApiKey]:
        return [_key(row) for row in self._database.fetch(ALL_SCOPES, "key_list", {"tenant": tenant})]

    def revoke(self, tenant: str, key_id: str, at: datetime) -> bool:
        return self._database.execute(ALL_SCOPES, "key_revoke", {"id": key_id, "tenant": tenant, "at": at}) > 0

    def used(self, key_id: str, at: datetime) -> None:
        self._database.execute(ALL_SCOPES, "key_used", {"id": key_id, "at": at})


def _key(row: Row) -> ApiKey:
    return ApiKey(
        id=row.id,
        name=row.name,
        tenant=row.tenant,
        user=row.user_name,
        project=row.project,
        grants=tuple(row.grants),
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
        revoked_at=row.revoked_at,
    )
