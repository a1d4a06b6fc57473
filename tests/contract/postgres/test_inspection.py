"""The promises of `RecordsInspection`, `Repairs` and `EmbedderRegistry` on a real PostgreSQL."""

import uuid
from collections.abc import Iterator

import numpy as np
import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.inspection import PostgresInspection
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.postgres.reindexing import PostgresEmbedders
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports import EmbedderInfo
from biem.ports.reindexing import EmbedderChoice
from tests.contract.conftest import Admin, claim_all, encoded, unit, write
from tests.support.fakes import HeldClock

GONE = "01890a5d-ac96-774b-bcce-b302099a8057"
NEW = EmbedderInfo("new-model", 4, ("mul",), 512)
CHOICE = EmbedderChoice("new-model", 4, "c_4", {"provider": "use", "model": ""})


@pytest.fixture
def inspection(pool: Database) -> PostgresInspection:
    return PostgresInspection(pool)


@pytest.fixture
def registry(pool: Database, admin: Admin) -> Iterator[PostgresEmbedders]:
    admin.execute("DELETE FROM embedders")
    yield PostgresEmbedders(pool, clock=HeldClock(), decay_per_hour=0.1)
    admin.execute("DELETE FROM embedders")


def active(jobs: PostgresRecords, scope: Scope, count: int) -> list[str]:
    """Memories that were indexed by a process without a model's name."""
    ids = [written.id for written in jobs.remember(scope, [write(f"text {n}") for n in range(count)])]
    jobs.complete(encoded(claim_all(jobs)))
    return ids


def test_what_is_known_of_an_id_says_status_and_whether_a_job_is_about_it(
    jobs: PostgresRecords, inspection: PostgresInspection, scope: Scope, admin: Admin
) -> None:
    indexed, archived = active(jobs, scope, 2)
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (archived,))
    (pending,) = [written.id for written in jobs.remember(scope, [write("pending")])]
    known = inspection.known([indexed, archived, pending, GONE, "no uuid"])
    told = {memory_id: (one.ns, one.status, one.queued) for memory_id, one in known.items()}
    assert told == {
        indexed: (scope.ns, "active", False),
        archived: (scope.ns, "archived", False),
        pending: (scope.ns, "pending", True),
        GONE: ("", "gone", False),
        "no uuid": ("", "gone", False),
    }
    bounds = inspection.bounds()
    assert bounds is not None
    assert bounds[0] <= min(indexed, archived)
    assert bounds[1] >= pending
    pages = [one.id for one in inspection.page(str(uuid.UUID(int=uuid.UUID(indexed).int - 1)), 2)]
    assert pages[0] == indexed
    assert pages == sorted(pages)


def test_the_outbox_tells_due_leased_and_dead_jobs_apart(
    jobs: PostgresRecords, inspection: PostgresInspection, scope: Scope, admin: Admin
) -> None:
    ids = [written.id for written in jobs.remember(scope, [write(f"t{n}") for n in range(4)])]
    jobs.claim(1, 60.0, retried=False)
    admin.execute("UPDATE outbox SET dead_at = now() WHERE memory_id = %s", (ids[1],))
    admin.execute("UPDATE outbox SET due_at = now() - interval '90 seconds' WHERE memory_id = %s", (ids[2],))
    admin.execute(
        "INSERT INTO outbox (task, memory_id, ns, due_at) VALUES ('purge', %s, '', now() + interval '1 hour')", (GONE,)
    )
    state = inspection.outbox(5)
    assert (state.due, state.leased, state.dead, state.dead_ids) == (2, 1, 1, (ids[1],))
    assert 89 < state.due_for_s < 120


@pytest.mark.req("X32", partly="dead letters are found by an index of their own")
def test_dead_letters_are_found_without_reading_the_outbox(admin: Admin) -> None:
    with admin.transaction():
        admin.execute("SET LOCAL enable_seqscan = off")
        query = "EXPLAIN SELECT memory_id FROM outbox WHERE dead_at IS NOT NULL ORDER BY dead_at, id LIMIT 5"
        plan = "\n".join(row[0] for row in admin.execute(query.encode()).fetchall())
    assert "outbox_dead" in plan


def test_what_its_server_refuses_is_reported_and_can_be_tried_at_once(
    jobs: PostgresRecords, inspection: PostgresInspection, scope: Scope, admin: Admin
) -> None:
    # Given a job that waits after its fifth try, one that waits after an outage, and one that was never tried
    refused, outage, fresh = [written.id for written in jobs.remember(scope, [write(f"t{n}") for n in range(3)])]
    later = "UPDATE outbox SET due_at = now() + interval '1 hour', claims = 5, attempts = %s, last_error = %s"
    admin.execute(f"{later} WHERE memory_id = %s", (1, "too many dimensions", refused))
    admin.execute(f"{later} WHERE memory_id = %s", (0, "nobody answers", outage))

    # When the outbox is looked at / Then the first is shown, with what it met, and hurrying makes it alone due
    state = inspection.outbox(5)
    assert (state.refused, state.refused_ids, state.refused_for) == (1, (refused,), "too many dimensions")
    assert state.due == 1
    assert inspection.hurry() == 1
    assert inspection.hurry() == 0
    assert [job.memory_id for job in claim_all(jobs)] == [fresh]
    assert [job.memory_id for job in jobs.claim(1, 60.0, retried=True)] == [refused]


def test_reencoding_leaves_to_jobs_what_they_are_about(
    jobs: PostgresRecords, inspection: PostgresInspection, scope: Scope, admin: Admin
) -> None:
    lost, busy = active(jobs, scope, 2)
    admin.execute("INSERT INTO outbox (task, memory_id, ns) VALUES ('archive', %s, %s)", (busy, scope.ns))
    assert inspection.reencode([lost, busy, GONE]) == 1
    assert inspection.reencode([lost, busy, GONE]) == 0
    (job,) = [job for job in claim_all(jobs) if job.task == "encode"]
    assert (job.memory_id, job.claims) == (lost, 2)  # as if claimed before: its row is replaced and not doubled
    assert inspection.reencode([]) == 0


def test_only_rows_without_a_live_memory_are_cleared(
    jobs: PostgresRecords, inspection: PostgresInspection, scope: Scope, admin: Admin
) -> None:
    live, archived = active(jobs, scope, 2)
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (archived,))
    rows = dict.fromkeys((live, archived, GONE, "no uuid"), scope.ns)
    assert inspection.clear(rows) == 2
    assert inspection.clear(rows) == 0
    assert {(job.task, job.memory_id) for job in claim_all(jobs)} == {("archive", archived), ("purge", GONE)}


def test_scopes_come_in_order_with_foreign_memories_counted(
    jobs: PostgresRecords, inspection: PostgresInspection, scope: Scope, other: Scope, admin: Admin
) -> None:
    first, _ = active(jobs, scope, 2)
    active(jobs, other, 1)
    admin.execute("UPDATE memories SET model = 'aaa' WHERE id = %s", (first,))
    states = []
    after = ""
    while page := inspection.scopes(after, 3, ""):
        states += page
        after = page[-1].scope.ns
    assert [state.scope.ns for state in states] == sorted({state.scope.ns for state in states})
    foreign = {state.scope: dict(state.foreign) for state in states if state.scope in (scope, other)}
    assert foreign == {scope: {"aaa": 1}, other: {}}


def test_a_move_goes_on_until_it_counts_and_only_one_embedder_does(registry: PostgresEmbedders) -> None:
    assert registry.current() is None
    assert registry.begin(CHOICE) == ""
    registry.advance(NEW, GONE)
    assert registry.begin(CHOICE) == GONE
    assert registry.current() is None
    registry.switch(NEW)
    registry.switch(NEW)
    assert registry.current() == CHOICE
    assert registry.begin(CHOICE) == ""  # it stays current, and all is looked at once more
    assert registry.current() == CHOICE
    third = EmbedderChoice("third", 8, "c_8", {})
    registry.begin(third)
    registry.switch(EmbedderInfo("third", 8, (), 1))
    assert registry.current() == third
    registry.forget_others("third")
    assert registry.current() == third  # what counts is not forgotten


def test_memories_are_called_back_only_by_the_embedder_that_counts(
    jobs: PostgresRecords, registry: PostgresEmbedders, scope: Scope, other: Scope, admin: Admin
) -> None:
    mine, theirs = active(jobs, scope, 1), active(jobs, other, 1)
    assert registry.call_back(scope, "new-model", 10) == 0
    registry.begin(CHOICE)
    registry.switch(NEW)
    assert registry.call_back(scope, "another", 10) == 0
    assert registry.call_back(scope, "new-model", 10) == 1
    assert registry.call_back(scope, "new-model", 10) == 0
    assert {job.memory_id for job in claim_all(jobs)} == set(mine)
    query = "SELECT status FROM memories WHERE id = %s"
    assert admin.execute(query, (theirs[0],)).fetchone() == ("active",)


def test_unmoved_memories_come_with_the_new_vector_where_there_is_one(
    jobs: PostgresRecords, registry: PostgresEmbedders, scope: Scope
) -> None:
    ids = sorted(active(jobs, scope, 2))
    before = str(uuid.UUID(int=uuid.UUID(ids[0]).int - 1))
    texts = [unmoved.node.indexed_text for unmoved in registry.unmoved("new-model", before, 2)]
    jobs.save_vectors("new-model", {sha256(texts[0]): unit(1, 0, 0, 0)})
    first, second = registry.unmoved("new-model", before, 2)
    assert [first.node.id, second.node.id] == ids
    assert first.vector is not None
    assert np.array_equal(first.vector, unit(1, 0, 0, 0))
    assert second.vector is None
    assert "new-model" in registry.stored_models()
    assert registry.drop_vectors("new-model", 10) == 1
    assert registry.drop_vectors("new-model", 10) == 0
    assert "new-model" not in registry.stored_models()
