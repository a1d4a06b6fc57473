"""What `Records` promises about an erasure, on a real PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from biem.adapters.postgres.records import PostgresRecords
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from tests.contract.conftest import (
    MODEL,
    Admin,
    claim_all,
    encoded,
    in_scope,
    unit,
    write,
)
from tests.contract.postgres.records.rows import candidates, dump, fact, link, remember, sequence
from tests.support.fakes import START


class TestErase:
    @pytest.mark.req("X16", partly="PostgreSQL: rows, links and facts of one memory")
    def test_erasing_a_memory_takes_everything_derived_from_it(
        self, jobs: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given a memory with a vector, links and a fact, next to others
        doomed, kept = remember(jobs, scope, "doomed"), remember(jobs, scope, "kept")
        theirs = remember(jobs, other, "theirs")
        vector = {sha256(text): unit(1, 2) for text in ("doomed", "kept", "theirs")}
        jobs.save_vectors(MODEL, vector)
        jobs.save_vectors("older-model", vector)
        link(admin, scope, doomed, kept, "semantic")
        link(admin, scope, kept, doomed, "temporal")
        link(admin, scope, kept, new_id(), "mention")
        fact(admin, scope, [kept, doomed])
        fact(admin, scope, [kept])

        # When it is erased
        erasure = jobs.erase(scope, doomed, 60.0)

        # Then the receipt's counts are what was there, nothing remains, and the others lost nothing
        assert erasure.ids == (doomed,)
        assert erasure.before == {
            "memories": 1,
            "evidence": 1,
            "embeddings": 2,
            "memory_revisions": 0,
            "crystal_links": 2,
            "crystal_facts": 1,
            "outbox": 1,
            "conflicts": 0,
            "concept_items": 0,
            "instant_memories": 0,
            "session_messages": 0,
            "sessions": 0,
            "items": 0,
        }
        assert set(jobs.remains(scope, erasure).values()) == {0}
        assert jobs.get(scope, kept) is not None
        assert jobs.get(other, theirs) is not None
        assert in_scope(admin, "crystal_links", scope) == in_scope(admin, "crystal_facts", scope) == 1
        assert set(jobs.load_vectors(MODEL, list(vector))) == {sha256("kept"), sha256("theirs")}
        assert "doomed" not in dump(admin)

    def test_originals_and_vectors_that_other_memories_have_stay(
        self, jobs: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given the same words twice in a scope and once in another
        first, second = (remember(jobs, scope, "shared", kind="event") for _ in range(2))
        theirs = remember(jobs, other, "shared", kind="event")
        jobs.save_vectors(MODEL, {sha256("shared"): unit(1, 1)})

        # When they go one after the other
        jobs.erase(scope, first, 60.0)
        after_first = candidates(jobs, scope, ids=(second,), evidence=True).evidence
        erasure = jobs.erase(scope, second, 60.0)
        after_second = candidates(jobs, other, ids=(theirs,), evidence=True).evidence
        vector_there = jobs.load_vectors(MODEL, [sha256("shared")])
        jobs.erase(other, theirs, 60.0)

        # Then what the rest has stays, and the last one takes it along
        assert after_first == {second: "shared"}
        assert after_second == {theirs: "shared"}
        assert in_scope(admin, "evidence", scope) == 0
        assert vector_there
        assert set(jobs.remains(scope, erasure).values()) == {0}
        assert jobs.load_vectors(MODEL, [sha256("shared")]) == {}

    @pytest.mark.req("X16", partly="PostgreSQL: a whole scope")
    def test_erasing_a_scope_leaves_no_row_that_carries_it_but_the_purges(
        self, jobs: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given a full scope and another one
        ids = [result.id for result in jobs.remember(scope, [write(f"private {n}") for n in range(3)])]
        jobs.bury(claim_all(jobs)[:1], "dead")
        link(admin, scope, ids[0], ids[1], "semantic")
        ids.append(fact(admin, scope, ids))
        theirs = remember(jobs, other, "theirs")

        # When it is erased
        erasure = jobs.erase(scope, None, 0.0)

        # Then its name is gone, too, and the rest are purges without text
        assert set(erasure.ids) == set(ids)
        for table in ("scopes", "memories", "evidence", "crystal_links", "crystal_facts"):
            assert in_scope(admin, table, scope) == 0, table
        assert "private" not in dump(admin)
        assert jobs.get(other, theirs) is not None
        purges = [job for job in claim_all(jobs) if job.task == "purge"]
        assert {job.memory_id for job in purges} == set(ids)
        assert all(job.node is None and job.lexemes == "" for job in purges)
        jobs.done(purges)
        assert in_scope(admin, "outbox", scope) == 0

    def test_links_to_the_erased_that_have_no_memory_are_erased_with_the_scope(
        self, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a scope with a fact whose sources are gone already
        remember(jobs, scope, "present")
        fact(admin, scope, [new_id()], content="distilled secret")
        link(admin, scope, new_id(), new_id(), "semantic")

        # When the scope is erased
        jobs.erase(scope, None, 60.0)

        # Then nothing of it is left
        assert in_scope(admin, "crystal_facts", scope) == in_scope(admin, "crystal_links", scope) == 0

    def test_a_purge_waits_until_workers_must_be_done(self, jobs: PostgresRecords, scope: Scope, admin: Admin) -> None:
        # Given an erased memory
        memory_id = remember(jobs, scope, "soon gone")
        jobs.erase(scope, memory_id, 60.0)

        # When work is looked for at once / Then the purge is planned for later
        assert claim_all(jobs) == []
        [due] = admin.execute("SELECT due_at > now() + interval '50 s' FROM outbox WHERE task = 'purge'").fetchall()
        assert due == (True,)

    def test_a_worker_that_was_encoding_the_erased_leaves_no_vector_behind(
        self, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given a memory that is being encoded when it is erased
        memory_id = remember(jobs, scope, "embarrassing")
        claimed = claim_all(jobs)
        jobs.erase(scope, memory_id, 0.0)

        # When the worker goes on: saves the vector and completes
        jobs.save_vectors(MODEL, {sha256("embarrassing"): unit(1, 0)})
        jobs.complete(encoded(claimed))

        # Then the vector, which tells nearly as much as the text, is gone
        assert jobs.load_vectors(MODEL, [sha256("embarrassing")]) == {}

    def test_an_id_of_another_scope_erases_nothing(self, records: PostgresRecords, scope: Scope, other: Scope) -> None:
        # Given another user's memory
        theirs = remember(records, other, "theirs")

        # When one erases it from elsewhere
        erasure = records.erase(scope, theirs, 60.0)

        # Then nothing happened
        assert erasure.ids == ()
        assert set(erasure.before.values()) == {0}
        assert records.get(other, theirs) is not None

    def test_a_scope_lives_again_after_its_erasure(
        self, records: PostgresRecords, another: Callable[..., PostgresRecords], scope: Scope, admin: Admin
    ) -> None:
        # Given two processes that know a scope, which one of them erases
        elsewhere = another()
        remember(elsewhere, scope, "before")
        remember(records, scope, "before, too")
        records.erase(scope, None, 60.0)

        # When both write to it again
        ids = [remember(elsewhere, scope, "after"), remember(records, scope, "after, too")]

        # Then it is a new scope with just that
        assert sequence(admin, scope) == [1, 2]
        assert set(candidates(records, scope, ids=tuple(ids)).nodes) == set(ids)

    def test_writing_and_erasing_at_once_leaves_no_half_memory(
        self, another: Callable[..., PostgresRecords], scope: Scope, admin: Admin
    ) -> None:
        # Given a writer and an eraser of one scope
        writer, eraser = another(pool_size=2), another(pool_size=2)

        # When both work at the same time
        with ThreadPoolExecutor(2) as threads:
            writing = threads.submit(lambda: [remember(writer, scope, f"w {n}") for n in range(60)])
            erasing = threads.submit(lambda: [eraser.erase(scope, None, 60.0) for _ in range(20)])
            writing.result()
            erasing.result()

        # Then every memory that is left has its original and its job, and nothing else has
        counts = [in_scope(admin, table, scope) for table in ("memories", "evidence")]
        encodes = admin.execute("SELECT count(*) FROM outbox WHERE ns = %s AND task = 'encode'", (scope.ns,)).fetchone()
        assert encodes == (counts[0],)
        assert counts[0] == counts[1]
        assert sequence(admin, scope) == list(range(1, counts[0] + 1))
        erased = admin.execute("SELECT count(*) FROM outbox WHERE ns = %s AND task = 'purge'", (scope.ns,)).fetchone()
        assert erased == (60 - counts[0],)

    def test_a_receipt_is_kept_as_given_and_holds_no_text(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given an erased memory
        memory_id = remember(records, scope, "very private words")
        erasure = records.erase(scope, memory_id, 60.0)

        # When its receipt is saved
        receipt = {
            "id": erasure.receipt,
            "erased_at": START.isoformat(),
            "ids": list(erasure.ids),
            "before": dict(erasure.before),
        }
        records.save_receipt(scope, receipt)

        # Then it is there for good, and neither it nor the erasure knows the text
        [row] = admin.execute("SELECT receipt, erased_at FROM erasures WHERE ns = %s", (scope.ns,)).fetchall()
        assert row == (receipt, START)
        assert "private" not in repr(row) + repr(erasure)
