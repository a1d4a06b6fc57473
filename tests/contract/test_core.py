"""The promises of `CoreReader` on a real PostgreSQL."""

import pytest

from biem.adapters.core import PostgresCore
from biem.adapters.database import Database
from biem.adapters.postgres import PostgresRecords
from biem.domain.scope import Scope
from tests.contract.conftest import Admin, write
from tests.fakes import HeldClock


@pytest.fixture
def reader(pool: Database) -> PostgresCore:
    return PostgresCore(pool, clock=HeldClock(), decay_per_hour=0.1)


def told(reader: PostgresCore, *scopes: Scope, limit: int = 10) -> list[str]:
    return [node.text for node in reader.core(scopes, limit)]


@pytest.mark.req("C31", partly="core memories are found")
def test_core_memories_come_the_most_important_first_then_the_newest(
    reader: PostgresCore, records: PostgresRecords, scope: Scope, other: Scope
) -> None:
    # Given core memories of some importance, others, and somebody else's
    for text, importance, layer in (
        ("plain", 5.0, "short_term"),
        ("first", 3.0, "core"),
        ("great", 5.0, "core"),
        ("second", 3.0, "core"),
    ):
        records.remember(scope, [write(text, importance=importance, layer=layer)])
    records.remember(other, [write("theirs", layer="core")])

    # When they are read / Then it is ours only, in this order, and no more than asked for
    assert told(reader, scope) == ["great", "second", "first"]
    assert told(reader, scope, limit=2) == ["great", "second"]
    assert sorted(told(reader, scope, other)) == ["first", "great", "second", "theirs"]
    assert told(reader, Scope(user="nobody at all")) == []


def test_what_is_archived_erased_or_superseded_is_not_told(
    reader: PostgresCore, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given four core memories, of which one was archived, one erased and one superseded a moment ago
    ids = [records.remember(scope, [write(f"core {n}", layer="core")])[0].id for n in range(4)]
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (ids[0],))
    records.erase(scope, ids[1], 0.0)
    admin.execute("UPDATE memories SET valid_to = valid_from WHERE id = %s", (ids[2],))

    # When they are read / Then one is left
    assert told(reader, scope) == ["core 3"]


@pytest.mark.req("X32", partly="core memories")
def test_the_few_are_found_without_reading_the_scope(
    reader: PostgresCore, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given a scope of many memories and two of the core
    records.remember(scope, [write(f"memory {n}") for n in range(500)])
    records.remember(scope, [write("a core", layer="core"), write("b core", layer="core")])
    admin.execute("ANALYZE memories")

    # When the statement is planned / Then it goes through the index of core memories
    admin.execute("SET enable_seqscan = on")
    plan = admin.execute(
        "EXPLAIN SELECT id FROM memories m WHERE m.ns = ANY (%s) AND m.layer = 'core' AND m.status <> 'archived' "
        "ORDER BY m.importance DESC, m.write_seq DESC, m.id LIMIT 20",
        ([scope.ns],),
    ).fetchall()
    assert "memories_core" in str(plan)
    assert told(reader, scope) == ["b core", "a core"]
