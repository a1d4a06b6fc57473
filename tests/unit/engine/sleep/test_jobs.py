"""The night runs every job once, in order, alone; upkeep decides what is due without writing a row."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import cast

import pytest

from biem.domain.scope import Scope
from biem.engine.sleep.integrity import Integrity
from biem.engine.sleep.jobs import BackgroundJob, JobRunner, Schedule
from biem.errors import StoreUnavailable
from biem.ports.links import Links
from biem.telemetry import Span, Telemetry
from tests.support.fakes import START, HeldClock

SCOPE = Scope(user="sleeper")


class Locks:
    """The port `Exclusive`; what others hold is listed."""

    def __init__(self) -> None:
        self.taken: set[tuple[Scope | None, str]] = set()
        self.held: list[tuple[Scope | None, str]] = []
        self.failure: Exception | None = None

    @contextmanager
    def hold(self, scope: Scope | None, job: str) -> Iterator[bool]:
        if self.failure is not None:
            raise self.failure
        granted = (scope, job) not in self.taken
        if granted:
            self.taken.add((scope, job))
            self.held.append((scope, job))
        try:
            yield granted
        finally:
            if granted:
                self.taken.remove((scope, job))

    def close(self) -> None:
        """Holds nothing."""


class Book:
    """Jobs that note their runs."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, Scope]] = []

    def job(self, name: str, *changes: int, period_s: float = 0.0, error: Exception | None = None) -> BackgroundJob:
        left = list(changes)

        def run(scope: Scope) -> Mapping[str, int]:
            self.runs.append((name, scope))
            if error is not None:
                raise error
            return {"things": left.pop(0) if left else 0}

        return BackgroundJob(name, run, period_s)


@pytest.fixture
def book() -> Book:
    return Book()


@pytest.fixture
def locks() -> Locks:
    return Locks()


def sleeper(
    locks: Locks, *jobs: BackgroundJob, clock: HeldClock | None = None, telemetry: Telemetry | None = None
) -> JobRunner:
    return JobRunner(jobs, exclusive=locks, clock=clock or HeldClock(), telemetry=telemetry or Telemetry())


class TestSleep:
    @pytest.mark.req("G16", "X45", partly="the order is the builder's")
    def test_all_jobs_run_once_in_order_and_report_what_changed(self, book: Book, locks: Locks) -> None:
        # Given three jobs
        night = sleeper(locks, book.job("promote", 2), book.job("expire", 0), book.job("archive", 1))
        # When a scope sleeps
        report = night.sleep(SCOPE)
        # Then each ran once under its own lock, in order
        assert book.runs == [("promote", SCOPE), ("expire", SCOPE), ("archive", SCOPE)]
        assert locks.held == [(SCOPE, "promote"), (SCOPE, "expire"), (SCOPE, "archive")]
        # And the report tells
        assert (report.scope, report.started_at) == (SCOPE, START)
        assert [(job.name, dict(job.changes), job.reason) for job in report.jobs] == [
            ("promote", {"things": 2}, ""),
            ("expire", {}, ""),
            ("archive", {"things": 1}, ""),
        ]
        assert report.changed == 3
        assert report.failed == ()
        assert all(job.seconds >= 0 for job in report.jobs)

    @pytest.mark.parametrize("error", [StoreUnavailable("milvus is down"), ZeroDivisionError("a bug")])
    def test_one_failing_job_does_not_cost_the_others_their_night(
        self, book: Book, locks: Locks, error: Exception
    ) -> None:
        # Given a job that fails between two that do not
        night = sleeper(locks, book.job("one", 1), book.job("two", error=error), book.job("three", 1))
        # When a scope sleeps
        report = night.sleep(SCOPE)
        # Then the others ran, and the report says what failed and why
        assert report.changed == 2
        [failed] = report.failed
        assert failed.name == "two"
        assert str(error) in failed.reason
        assert type(error).__name__ in failed.reason
        # And its lock is free
        assert locks.taken == set()

    @pytest.mark.req("X38", "C15", partly="single-flight")
    def test_a_job_that_runs_elsewhere_is_skipped(self, book: Book, locks: Locks) -> None:
        # Given a job of this scope that another process runs
        locks.taken.add((SCOPE, "merge"))
        night = sleeper(locks, book.job("merge", 1), book.job("dedupe", 1))
        # When the scope sleeps, Then only the other job runs here
        report = night.sleep(SCOPE)
        assert [job.reason for job in report.jobs] == ["it runs already", ""]
        assert book.runs == [("dedupe", SCOPE)]
        # And another scope's is free
        assert night.run("merge", Scope(user="other")).reason == ""

    def test_without_a_server_for_the_locks_nothing_runs_and_nothing_raises(self, book: Book, locks: Locks) -> None:
        locks.failure = StoreUnavailable("PostgreSQL is down")
        report = sleeper(locks, book.job("one", 1)).sleep(SCOPE)
        assert book.runs == []
        assert "PostgreSQL is down" in report.failed[0].reason

    def test_two_jobs_of_one_name_would_share_a_lock_and_are_refused(self, book: Book, locks: Locks) -> None:
        with pytest.raises(ValueError, match="same name"):
            sleeper(locks, book.job("one"), book.job("one"))

    def test_spans_name_the_night_and_each_job(self, book: Book, locks: Locks) -> None:
        telemetry, spans = Telemetry(), list[Span]()
        telemetry.attach(spans.append)
        sleeper(locks, book.job("one", 4), telemetry=telemetry).sleep(SCOPE)
        assert [(span.name, span.attributes.get("changed")) for span in spans] == [
            ("biem.sleep.job", 4),
            ("biem.sleep", 4),
        ]


class Places:
    """The port `ScopeList`."""

    def __init__(self, count: int) -> None:
        self.all = sorted((Scope(user=f"user {number}") for number in range(count)), key=lambda scope: scope.ns)
        self.reads = 0

    def scopes(self, after: str, limit: int) -> list[Scope]:
        self.reads += 1
        return [scope for scope in self.all if scope.ns > after][:limit]


Kept = Callable[..., tuple[Schedule, HeldClock, Places]]


@pytest.fixture
def kept(locks: Locks) -> Kept:
    """Builds an upkeep over some scopes, three a tick."""

    def build(*jobs: BackgroundJob, scopes: int = 2) -> tuple[Schedule, HeldClock, Places]:
        clock, places = HeldClock(), Places(scopes)
        night = sleeper(locks, *jobs, clock=clock)
        return Schedule(night, places, clock=clock, scopes_per_tick=3), clock, places

    return build


class TestUpkeep:
    @pytest.mark.req("G26", "C15", partly="in-process schedule")
    def test_each_job_runs_in_every_scope_once_a_period(self, kept: Kept, book: Book) -> None:
        # Given a job of five minutes and one of an hour
        upkeep, clock, places = kept(book.job("sweep", period_s=300), book.job("merge", period_s=3600))
        # When nothing is due
        assert upkeep.tick() == 0
        assert places.reads == 0
        # And an hour goes by, tick by tick
        for _ in range(60):
            clock.advance(minutes=1)
            upkeep.tick()
        # Then each ran as often as its period says, in both scopes
        names = [name for name, _ in book.runs]
        assert (names.count("sweep"), names.count("merge")) == (2 * 12, 2)
        assert {scope for _, scope in book.runs} == set(places.all)

    def test_a_tick_is_bounded_and_the_next_goes_on_where_it_stopped(self, kept: Kept, book: Book) -> None:
        # Given a job due in eight scopes, three a tick
        upkeep, clock, places = kept(book.job("merge", period_s=60), scopes=8)
        clock.advance(seconds=60)
        # When ticks follow one another
        runs = [upkeep.tick() for _ in range(4)]
        # Then each scope was visited once, in order
        assert runs == [3, 3, 2, 0]
        assert [scope for _, scope in book.runs] == places.all

    def test_a_job_without_a_period_runs_only_at_night(self, kept: Kept, book: Book) -> None:
        upkeep, clock, _ = kept(book.job("integrity"))
        clock.advance(days=365)
        assert upkeep.tick() == 0

    def test_a_long_pause_is_one_round_not_many(self, kept: Kept, book: Book) -> None:
        # Given a process that slept for a year
        upkeep, clock, _ = kept(book.job("sweep", period_s=300))
        clock.advance(days=365)
        # When it ticks, Then it does one round
        assert [upkeep.tick() for _ in range(3)] == [2, 0, 0]

    def test_a_clock_set_back_does_not_stop_the_jobs_for_as_long(self, kept: Kept, book: Book) -> None:
        # Given a clock that is set back by a year
        upkeep, clock, _ = kept(book.job("sweep", period_s=300))
        clock.advance(days=-365)
        assert upkeep.tick() == 0
        # When one period has passed since, Then the job is due
        clock.advance(seconds=300)
        assert upkeep.tick() == 2

    def test_a_failing_job_does_not_keep_other_scopes_waiting(self, kept: Kept, book: Book) -> None:
        upkeep, clock, places = kept(book.job("merge", period_s=60, error=RuntimeError("no")), scopes=2)
        clock.advance(seconds=60)
        assert upkeep.tick() == 2
        assert [scope for _, scope in book.runs] == places.all

    def test_a_tick_during_a_tick_does_nothing(self, locks: Locks) -> None:
        # Given a job that ticks itself
        clock, answers = HeldClock(), list[int]()

        def again(scope: Scope) -> Mapping[str, int]:
            answers.append(upkeep.tick())
            return {}

        upkeep = Schedule(
            sleeper(locks, BackgroundJob("again", again, 60), clock=clock), Places(1), clock=clock, scopes_per_tick=3
        )
        clock.advance(seconds=60)
        # When it is due, Then it runs once
        assert upkeep.tick() == 1
        assert answers == [0]


class Net:
    """The repairing half of the port `Links`."""

    def __init__(self, *ends: str) -> None:
        self.loose = list(ends)
        self.asked: list[int] = []

    def dangling(self, scope: Scope, limit: int) -> list[str]:
        self.asked.append(limit)
        return self.loose[:limit]

    def park(self, scope: Scope, ids: list[str], at: object) -> int:
        self.loose = [end for end in self.loose if end not in ids]
        return len(ids)


class TestIntegrity:
    @pytest.mark.req("X34", "X16", partly="repair of dangling links")
    def test_it_runs_the_checks_it_was_given_and_mends_dangling_links_last(self) -> None:
        # Given two loose ends and a check of another part
        net, order = Net("a", "b"), list[str]()

        def relink(scope: Scope) -> Mapping[str, int]:
            order.append(f"relink with {len(net.loose)} loose")
            return {"relinked": 3}

        integrity = Integrity(links=cast(Links, net), checks=[relink], clock=HeldClock(), limit=10)
        # When it mends
        assert integrity.mend(SCOPE) == {"relinked": 3, "dangling_links": 2}
        # Then links were taken over before the rest was cut off, and nothing is left
        assert order == ["relink with 2 loose"]
        assert net.loose == []
        assert net.asked == [10]
