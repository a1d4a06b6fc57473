"""What `Records` promises about jobs: claims, leases, completion, dead letters, on a real PostgreSQL."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.postgres.transfer.moving import PostgresMoves
from biem.domain.fields import Analysis, Fields
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.ports import Completion, Job, Waiting
from tests.contract.conftest import (
    claim_all,
    encoded,
    write,
)
from tests.contract.postgres.records.rows import remember
from tests.support.fakes import START, HeldClock, eventually


class TestJobs:
    def test_a_claimed_job_brings_its_memory_and_counts_the_attempt(
        self, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given memories of two scopes
        ids = [remember(jobs, scope, "one two"), remember(jobs, other, "three")]

        # When jobs are claimed
        claimed = claim_all(jobs)

        # Then they come oldest first with what encoding needs
        assert [job.memory_id for job in claimed] == ids
        assert [job.lexemes for job in claimed] == ["one two", "three"]
        assert [job.node.scope for job in claimed if job.node] == [scope, other]
        assert {(job.task, job.attempts) for job in claimed} == {("encode", 1)}

    def test_a_claim_takes_at_most_its_limit_oldest_first(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given five jobs
        ids = [result.id for result in jobs.remember(scope, [write(str(n)) for n in range(5)])]

        # When two are claimed, then the rest
        first = jobs.claim(2, 60.0, retried=False)
        rest = jobs.claim(10, 60.0, retried=False)

        # Then each came once, in order
        assert [job.memory_id for job in first + rest] == ids
        assert claim_all(jobs) == []

    @pytest.mark.req("X38", partly="claiming")
    def test_concurrent_workers_never_hold_the_same_job(
        self, jobs: PostgresRecords, another: Callable[..., PostgresRecords], scope: Scope
    ) -> None:
        # Given many jobs and four workers
        ids = [result.id for result in jobs.remember(scope, [write(str(n)) for n in range(200)])]
        workers = [another(pool_size=2) for _ in range(4)]

        # When all claim at once until nothing is left
        def work(worker: PostgresRecords) -> list[str]:
            return [job.memory_id for batch in iter(lambda: worker.claim(7, 60.0, retried=False), []) for job in batch]

        with ThreadPoolExecutor(4) as threads:
            claimed = [memory_id for found in threads.map(work, workers) for memory_id in found]

        # Then each job went to exactly one
        assert sorted(claimed) == sorted(ids)

    def test_an_abandoned_lease_comes_due_again_and_is_then_a_retry(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a job whose worker died
        memory_id = remember(jobs, scope, "abandoned")
        jobs.claim(1, 0.05, retried=False)

        # When its lease has run out
        found: list[Job] = []

        def reclaim() -> bool:
            found.extend(jobs.claim(1, 60.0, retried=True))
            return bool(found)

        eventually(reclaim)

        # Then it is claimed as one that was tried before, and not twice
        assert [(job.memory_id, job.attempts) for job in found] == [(memory_id, 2)]
        assert jobs.claim(1, 60.0, retried=True) == claim_all(jobs) == []

    def test_a_living_lease_is_respected(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a leased job
        remember(jobs, scope, "leased")
        claim_all(jobs, lease_s=60.0)

        # When others look for work / Then there is none
        assert jobs.claim(5, 60.0, retried=True) == claim_all(jobs) == []

    def test_renewing_prolongs_what_is_still_held_and_nothing_that_others_claimed(
        self, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given two jobs with a short lease, of which another process has claimed one meanwhile, and a finished one
        jobs.remember(scope, [write(str(n)) for n in range(3)])
        lost, held, done = jobs.claim(3, 0.05, retried=False)
        jobs.done([done])
        eventually(lambda: jobs.claim(1, 60.0, retried=True))

        # When all leases are renewed
        renewed = jobs.renew([lost, held, done], 60.0)

        # Then only the own one is prolonged
        assert renewed == [held]
        assert jobs.claim(1, 60.0, retried=True) == []

    def test_claims_count_every_lease_also_the_refunded_and_revived(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a job that was given back without blame, and then buried and revived
        remember(jobs, scope, "again and again")
        jobs.release(claim_all(jobs), 0.0, "outage", refund=True)
        jobs.bury(claim_all(jobs), "poison")
        jobs.retry_dead(scope)

        # When it is claimed once more
        [job] = claim_all(jobs)

        # Then it is known that its vector may have been written before
        assert (job.attempts, job.claims) == (1, 3)

    def test_jobs_that_were_tried_come_back_one_at_a_time(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a batch that failed
        jobs.remember(scope, [write(str(n)) for n in range(3)])
        failed = claim_all(jobs)
        jobs.release(failed, 0.0, "it broke", refund=False)

        # When work is looked for
        fresh = claim_all(jobs)
        alone = [jobs.claim(64, 60.0, retried=True) for _ in range(4)]

        # Then none of them is fresh, and each comes alone
        assert fresh == []
        assert [len(batch) for batch in alone] == [1, 1, 1, 0]
        assert {batch[0].attempts for batch in alone if batch} == {2}

    def test_a_refunded_job_is_as_good_as_never_tried(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a job given back because of an outage
        remember(jobs, scope, "innocent")
        jobs.release(claim_all(jobs), 0.0, "the embedder is down", refund=True)

        # When it is claimed again
        [job] = claim_all(jobs)

        # Then this is its first attempt
        assert job.attempts == 1

    def test_a_released_job_waits_for_its_delay(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a job given back for later
        remember(jobs, scope, "later")
        jobs.release(claim_all(jobs), 60.0, "not now", refund=True)

        # When work is looked for / Then it is not due, yet it is in the backlog
        assert claim_all(jobs) == jobs.claim(1, 60.0, retried=True) == []
        assert jobs.backlog(scope) == 1

    def test_completion_makes_memories_active_with_what_was_learned(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given two claimed jobs
        ids = [remember(jobs, scope, "a"), remember(jobs, scope, "b")]
        claimed = claim_all(jobs)
        learned = Analysis(
            Fields(numbers=("10%",), names=("李明",), definitions=("x",), symbols=("λ",)),
            ("李明", "O'Neil"),
            -0.25,
            "zh",
        )

        # When they are completed
        met = jobs.complete(encoded(claimed, learned))

        # Then they are active and nothing is left to do
        assert met == Completion((), (), hot=tuple(ids))
        for memory_id in ids:
            node = jobs.get(scope, memory_id)
            assert node is not None
            assert node.status == "active"
            assert (node.fields, node.entities, node.sentiment, node.language) == (
                learned.fields,
                learned.entities,
                learned.sentiment,
                "zh",
            )
        assert jobs.backlog() == 0

    def test_completion_reports_memories_that_were_erased_meanwhile(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given two claimed jobs of which one memory is erased
        kept, erased = remember(jobs, scope, "kept"), remember(jobs, scope, "erased")
        claimed = claim_all(jobs)
        jobs.erase(scope, erased, 60.0)

        # When the worker completes both
        met = jobs.complete(encoded(claimed))

        # Then it hears which vectors must go, and the other is done
        assert met == Completion((erased,), (), hot=(kept,))
        node = jobs.get(scope, kept)
        assert node is not None
        assert node.status == "active"
        assert jobs.backlog(scope) == 0

    def test_a_moved_memory_waits_for_the_worker_that_has_it_and_no_longer(
        self, jobs: PostgresRecords, pool: Database, scope: Scope, other: Scope
    ) -> None:
        # Given two memories that workers claimed, the second twice, and that moved meanwhile
        ids = [remember(jobs, scope, "first"), remember(jobs, scope, "second")]
        first, late = claim_all(jobs)
        again = replace(late, claims=2)
        jobs.release([late], 0.0, "an outage", refund=True)
        assert claim_all(jobs) == [again]
        moves = PostgresMoves(pool, clock=HeldClock(), decay_per_hour=0.1)
        moves.move(scope, other, ids, None, START)
        assert [job.task for job in claim_all(jobs)] == ["leave", "leave"]

        # When both workers complete
        met = jobs.complete(encoded([first, late]))

        # Then they hear that the memories moved, and only the last that claimed one may say that it is free
        assert met == Completion((), (), moved=tuple(ids))
        jobs.hasten([first, late])
        assert [job.memory_id for job in claim_all(jobs)] == [first.memory_id]
        jobs.hasten([again])
        assert [(job.memory_id, job.ns) for job in claim_all(jobs)] == [(late.memory_id, other.ns)]

    @pytest.mark.req("X8", partly="completion is all or nothing")
    def test_completion_is_all_or_nothing(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given two claimed jobs, one with an analysis that the database refuses
        ids = [remember(jobs, scope, "good"), remember(jobs, scope, "bad")]
        claimed = claim_all(jobs)
        results = [*encoded(claimed[:1]), *encoded(claimed[1:], Analysis(Fields(), (), 7.0, "en"))]

        # When both are completed together
        with pytest.raises((BiemError, psycopg.Error)):
            jobs.complete(results)

        # Then neither is
        for memory_id in ids:
            node = jobs.get(scope, memory_id)
            assert node is not None
            assert node.status == "pending"
        assert jobs.backlog(scope) == 2

    def test_completing_twice_is_completing_once(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a completed job whose answer got lost
        memory_id = remember(jobs, scope, "twice")
        results = encoded(claim_all(jobs))
        jobs.complete(results)

        # When it is completed again / Then nothing changes, and the caller hears that another process was faster
        assert jobs.complete(results) == Completion((), (memory_id,))
        node = jobs.get(scope, memory_id)
        assert node is not None
        assert node.status == "active"

    def test_buried_jobs_are_dead_until_they_get_another_chance(
        self, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given buried jobs of two scopes
        ids = [remember(jobs, scope, "first"), remember(jobs, scope, "second")]
        theirs = remember(jobs, other, "theirs")
        jobs.bury(claim_all(jobs), "poison \0 row")

        # When dead letters are listed and those of one scope retried
        mine, everyones = jobs.dead(scope, 10), jobs.dead(None, 10)
        backlog = jobs.backlog(), jobs.backlog(scope)
        revived = jobs.retry_dead(scope)
        again = claim_all(jobs)

        # Then they are listed oldest first, count as no backlog, and start afresh
        assert [(letter.memory_id, letter.scope, letter.attempts) for letter in mine] == [
            (key, scope, 1) for key in ids
        ]
        assert {letter.reason for letter in mine} == {"poison   row"}
        assert [letter.memory_id for letter in everyones] == [*ids, theirs]
        assert [letter.memory_id for letter in jobs.dead(None, 1)] == [theirs]
        assert backlog == (0, 0)
        assert revived == 2
        assert [(job.memory_id, job.attempts) for job in again] == [(key, 1) for key in ids]
        assert jobs.dead(scope, 10) == []

    def test_what_waits_for_the_index_is_reported_with_what_keeps_it(
        self, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a dead, a finished, a released, a leased and a waiting job, and one of another scope
        ids = [remember(jobs, scope, text) for text in ("dead", "done", "released", "leased", "waiting")]
        theirs = remember(jobs, other, "theirs")
        dead, done, released, _ = jobs.claim(4, 60.0, retried=False)
        jobs.bury([dead], "poison")
        jobs.complete(encoded([done]))
        jobs.release([released], 60.0, "Milvus is down", refund=True)

        # When all but one are asked for, and one that never was / Then the unfinished ones are shown, oldest first
        assert jobs.waiting([new_id(), theirs, *reversed(ids[:4])]) == [
            Waiting(ids[0], True, True, "poison"),
            Waiting(ids[2], True, False, "Milvus is down"),
            Waiting(ids[3], True, False, ""),
            Waiting(theirs, False, False, ""),
        ]
        assert jobs.waiting([]) == []

    def test_the_backlog_counts_jobs_neither_done_nor_dead(
        self, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a waiting, a leased, a released, a dead and a finished job, and another user's
        for text in ("dead", "done", "released", "leased", "waiting"):
            remember(jobs, scope, text)
        remember(jobs, other, "theirs")
        dead, done, released, leased = jobs.claim(4, 60.0, retried=False)
        jobs.bury([dead], "dead")
        jobs.complete(encoded([done]))
        jobs.release([released], 60.0, "later", refund=False)
        assert leased.memory_id

        # When the backlog is counted / Then three of one scope, four of all are left
        assert (jobs.backlog(scope), jobs.backlog()) == (3, 4)
        # And some of them are due, until workers hold or have finished all
        assert jobs.encode_due()
        jobs.claim(9, 60.0, retried=False)
        assert not jobs.encode_due()
