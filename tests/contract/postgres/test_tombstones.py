"""The port `Tombstones` on a real PostgreSQL: what an erasure leaves so that it can be looked for again."""

from collections.abc import Iterator

import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.life import PostgresTombstones
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.scope import Scope
from biem.ports.life import Tombstones
from tests.contract.conftest import Admin, write

WEEK_S = 7 * 86_400.0


@pytest.fixture
def tombstones(pool: Database, admin: Admin) -> Iterator[Tombstones]:
    """None left by other tests."""
    admin.execute("DELETE FROM tombstones")
    yield PostgresTombstones(pool)
    admin.execute("DELETE FROM tombstones")


def erased(records: PostgresRecords, scope: Scope, *texts: str) -> list[str]:
    """Memories that were remembered and erased, one after the other."""
    ids = [ack.id for ack in records.remember(scope, [write(text) for text in texts])]
    for memory_id in ids:
        records.erase(scope, memory_id, 65.0)
    return ids


def as_if(admin: Admin, memory_id: str, ago: str, due: str = "0 s") -> None:
    """As if a memory had been erased so long ago, and its look were due since then."""
    admin.execute(
        "UPDATE tombstones SET erased_at = now() - %s::interval, look_at = now() - %s::interval WHERE memory_id = %s",
        (ago, due, memory_id),
    )


def minutes_to_next(admin: Admin, memory_id: str) -> int:
    row = admin.execute(
        "SELECT extract(epoch FROM look_at - clock_timestamp()) / 60 FROM tombstones WHERE memory_id = %s", (memory_id,)
    ).fetchone()
    assert row is not None
    return round(float(row[0]))


@pytest.mark.req("D8", "X16", partly="erasing: what is looked for again")
class TestTombstones:
    def test_what_was_erased_is_due_five_minutes_later_and_then_when_the_time_has_doubled(
        self, tombstones: Tombstones, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a memory that was erased just now
        [gone] = erased(records, scope, "gone")
        assert (tombstones.due(10), minutes_to_next(admin, gone)) == ([], 5)
        # When it was looked for after forty minutes
        as_if(admin, gone, "40 minutes")
        assert tombstones.due(10) == [(gone, scope.ns)]
        tombstones.looked([gone], WEEK_S)
        # Then it is due in forty more
        assert (tombstones.due(10), minutes_to_next(admin, gone)) == ([], 40)

    def test_a_whole_scope_leaves_one_for_each_memory_and_the_longest_due_come_first(
        self, tombstones: Tombstones, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        ids = [ack.id for ack in records.remember(scope, [write(text) for text in ("one", "two", "three")])]
        records.erase(scope, None, 65.0)
        for minutes, memory_id in enumerate(ids):
            as_if(admin, memory_id, "1 day", f"{minutes} minutes")
        assert [memory_id for memory_id, _ in tombstones.due(2)] == [ids[2], ids[1]]

    def test_after_the_time_given_the_ids_are_forgotten(
        self, tombstones: Tombstones, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        old, young = erased(records, scope, "old", "young")
        as_if(admin, old, "8 days")
        as_if(admin, young, "6 days")
        tombstones.looked([old, young], WEEK_S)
        assert admin.execute("SELECT memory_id::text FROM tombstones").fetchall() == [(young,)]

    def test_what_is_a_memory_again_is_not_looked_for(
        self, tombstones: Tombstones, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given an erased memory that came back under its id, as out of a backup
        [back] = erased(records, scope, "back")
        records.remember(scope, [write("back", memory_id=back)])
        as_if(admin, back, "1 hour")
        # Then its row in the index is safe
        assert tombstones.due(10) == []
        assert admin.execute("SELECT count(*) FROM tombstones").fetchone() == (0,)
