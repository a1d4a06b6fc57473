"""The port `KeyRecords` on PostgreSQL."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from biem.adapters.postgres.access import PostgresKeys
from biem.adapters.postgres.database import Database
from biem.bootstrap import Servers
from biem.domain.access.key import ApiKey, new_key_id

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


@pytest.fixture
def keys(stack: Servers) -> Iterator[PostgresKeys]:
    database = Database(stack.postgres_dsn, pool_size=2, retry_s=2.0)
    yield PostgresKeys(database)
    database.close()


def test_a_key_is_found_listed_used_and_revoked_once(keys: PostgresKeys) -> None:
    # Given a key of a tenant of the test's own
    tenant = new_key_id()
    key = ApiKey(
        id=new_key_id(), name="n", tenant=tenant, user=None, project="", grants=("read", "admin"), created_at=NOW,
        expires_at=NOW + timedelta(days=1),
    )  # fmt: skip
    keys.add(key, b"\1" * 32)
    assert keys.get(key.id) == (key, b"\1" * 32)
    assert keys.get(new_key_id()) is None
    assert list(keys.listed(tenant)) == [key]

    # When it is used twice within a minute / Then the first use is noted, and the next after a minute
    for seconds, noted in ((0, 0), (59, 0), (61, 61)):
        keys.used(key.id, NOW + timedelta(seconds=seconds))
        found = keys.get(key.id)
        assert found is not None
        assert found[0].last_used_at == NOW + timedelta(seconds=noted)

    # And it is revoked once, by its tenant only
    assert not keys.revoke("other", key.id, NOW)
    assert [keys.revoke(tenant, key.id, NOW), keys.revoke(tenant, key.id, NOW)] == [True, False]
    assert keys.listed(tenant)[0].revoked_at == NOW
