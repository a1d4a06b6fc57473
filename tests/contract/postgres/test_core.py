"""The promises of `CoreReader` on a real PostgreSQL."""

from datetime import timedelta

import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.life import PostgresFeedbacks
from biem.adapters.postgres.readers import PostgresCore
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.scope import Scope
from tests.contract.conftest import Admin, write
from tests.support.fakes import START, HeldClock


@pytest.fixture
def reader(pool: Database) -> PostgresCore:
    return PostgresCore(pool, clock=HeldClock(), decay_per_hour=0.1)


def told(reader: PostgresCore, *scopes: Scope, limit: int = 10) -> list[str]:
    return [node.text for node in reader.core(scopes, limit)]


@pytest.mark.req("C31", partly="core memories are found")
def test_core_memories_come_the_most_important_first_then_the_newest(
    reader: PostgresCore, records: PostgresRecords, scope: Scope, other: Scope
) -> None:
    # Given core memories of some importance, others, and another user's
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


def test_what_is_archived_erased_or_superseded_is_not_reported(
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
    admin.execute("SET random_page_cost = 1")
    plan = admin.execute(
        "EXPLAIN SELECT id FROM memories m WHERE m.ns = ANY (%s) AND m.layer = 'core' AND m.status <> 'archived' "
        "ORDER BY m.importance DESC, m.write_seq DESC, m.id LIMIT 20",
        ([scope.ns],),
    ).fetchall()
    assert "memories_core" in str(plan)
    assert told(reader, scope) == ["b core", "a core"]


# -- slots ------------------------------------------------------------------------------------------------------------

SLOTS = {"knowledge": 2, "task": 1}


class Turns:
    """Feedback of one scope, a minute apart."""

    def __init__(self, pool: Database, scope: Scope) -> None:
        self._feedbacks = PostgresFeedbacks(pool, clock=HeldClock(), decay_per_hour=0.1)
        self._scope = scope
        self._count = 0

    def useful(self, *ids: str, mark: float = 1.0) -> None:
        for key in ids:
            self._count += 1
            at = START + timedelta(minutes=self._count)
            self._feedbacks.take(self._scope, f"turn {self._count}", {key: mark}, at)


def remembered(records: PostgresRecords, scope: Scope, *texts: str, kind: str = "knowledge") -> list[str]:
    return [records.remember(scope, [write(text, kind=kind)])[0].id for text in texts]


def in_view(reader: PostgresCore, *scopes: Scope) -> list[str]:
    return [node.text for node in reader.useful(scopes, SLOTS)]


@pytest.mark.req("G27", partly="slots are off by default, and only what was of use takes one")
def test_each_kind_has_its_slots_and_the_oldest_leaves(
    reader: PostgresCore, records: PostgresRecords, pool: Database, scope: Scope
) -> None:
    # Given three facts, a task and an event that were of use, and a fact that was not
    facts = remembered(records, scope, "fact 1", "fact 2", "fact 3", "never of use")
    tasks = remembered(records, scope, "task 1", "task 2", kind="task")
    [event] = remembered(records, scope, "event", kind="event")
    turns = Turns(pool, scope)
    turns.useful(tasks[0], *facts[:2], event)

    # When they are read / Then the last comes first, and what has no slot is left out
    assert in_view(reader, scope) == ["fact 2", "fact 1", "task 1"]

    # And a newer one takes the place of the oldest of its kind alone
    turns.useful(facts[2])
    assert in_view(reader, scope) == ["fact 3", "fact 2", "task 1"]
    turns.useful(tasks[1])
    assert in_view(reader, scope) == ["task 2", "fact 3", "fact 2"]

    # And who is of use again is the newest, and who is of none leaves
    turns.useful(facts[0])
    assert in_view(reader, scope) == ["fact 1", "task 2", "fact 3"]
    turns.useful(facts[0], mark=-1.0)
    assert in_view(reader, scope) == ["task 2", "fact 3", "fact 2"]


@pytest.mark.req("X47", partly="short-term slots")
def test_slots_refer_to_memories_as_they_are_now_and_of_readable_scopes(
    reader: PostgresCore, records: PostgresRecords, pool: Database, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given memories of use here and elsewhere
    gone, old, kept = remembered(records, scope, "archived", "superseded", "kept")
    [theirs] = remembered(records, other, "theirs")
    Turns(pool, scope).useful(gone, old, kept)
    Turns(pool, other).useful(theirs)

    # When one is archived, one superseded and one corrected / Then the slots know
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (gone,))
    admin.execute("UPDATE memories SET valid_to = valid_from WHERE id = %s", (old,))
    admin.execute("UPDATE memories SET text = 'corrected' WHERE id = %s", (kept,))
    assert in_view(reader, scope) == ["corrected"]
    assert sorted(in_view(reader, scope, other)) == ["corrected", "theirs"]
    records.erase(scope, kept, 0.0)
    assert in_view(reader, scope) == []
