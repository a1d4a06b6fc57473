"""What `Lifecycle` decides about one aged memory, and how far one run goes."""

from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.jobs.thread import NoQueue
from biem.domain.node import new_id
from biem.domain.policies import Policies
from biem.domain.policies.life import RetentionPolicy
from biem.domain.retention import Lived
from biem.domain.scope import Scope
from biem.engine.life.retention import Aging, Lifecycle
from biem.errors import InvalidInput, NotFound
from biem.ports import HotStore, JobQueue, Records, VectorIndex
from biem.ports.hot import Canvas
from biem.ports.life import Aged, LifeRecords, RetentionVerdict
from biem.ports.records import Job
from biem.telemetry import Telemetry
from tests.support.fakes import START, HeldClock

SCOPE = Scope("t", "u")
NOW = START + timedelta(days=400)
KNOWN, UNKNOWN = new_id(), new_id()


class Due:
    """The retention half of the port `LifeRecords`: aged memories, a crowd, and short-term ones beyond their number."""

    def __init__(self, *aged: Aged, crowd: int = 0, beyond: int = 0) -> None:
        self.aged = list(aged)
        self.crowd = crowd
        self.beyond = beyond
        self.asked: list[int] = []

    def review(
        self, scope: Scope | None, at: datetime, judge: Callable[[Aged], RetentionVerdict], limit: int
    ) -> list[tuple[Aged, RetentionVerdict]]:
        self.asked.append(limit)
        part, self.aged = self.aged[:limit], self.aged[limit:]
        return [(each, judge(each)) for each in part]

    def crowded(self) -> list[Scope]:
        return [SCOPE] if self.crowd else []

    def make_room(self, scope: Scope, at: datetime, limit: int) -> list[str]:
        self.asked.append(limit)
        return [str(number) for number in range(min(self.crowd, limit))]

    def limit_short_term(self, scope: Scope | None, at: datetime, limit: int) -> list[str]:
        self.asked.append(limit)
        return [str(number) for number in range(min(self.beyond, limit))]


class Bell(NoQueue):
    """The port `JobQueue`; it counts who woke it."""

    def __init__(self) -> None:
        self.rings = 0

    def wake(self) -> None:
        self.rings += 1


def lifecycle(due: Due, records: Any = None, queue: JobQueue | None = None, **retention: Any) -> Lifecycle:
    nothing = cast(Any, None)
    return Lifecycle(
        records=cast(Records, records),
        life=cast(LifeRecords, due),
        index=cast(VectorIndex, nothing),
        hot=cast(HotStore, nothing),
        canvas=cast(Canvas, nothing),
        queue=queue or NoQueue(),
        clock=HeldClock(NOW),
        policies=Policies(retention=RetentionPolicy(**retention)),
        telemetry=Telemetry(),
    )


def aged(
    *,
    layer: str = "short_term",
    importance: float = 1.0,
    accesses: int = 0,
    useful: int = 0,
    energy: float = 0.0,
    untouched_days: float = 400,
) -> Aged:
    touched_at = NOW - timedelta(days=untouched_days)
    lived = Lived("the sky", "", "knowledge", layer, importance, "", accesses, useful)
    return Aged("id", SCOPE.ns, lived, energy, touched_at)


def judged(memory: Aged) -> RetentionVerdict:
    return lifecycle(Due()).judge(memory, NOW)


class Withdrawn(Due):
    """The half of the port `LifeRecords` about quarantine, and `Records.get`: of the memory `KNOWN` alone."""

    def __init__(self) -> None:
        super().__init__()
        self.inside = False

    def get(self, scope: Scope, memory_id: str) -> str | None:
        return memory_id if memory_id == KNOWN else None

    def quarantine(self, scope: Scope, memory_id: str, reason: str, at: datetime) -> bool:
        done, self.inside = memory_id == KNOWN and not self.inside, True
        return done

    def release(self, scope: Scope, memory_id: str, trust: str | None, at: datetime) -> bool:
        done, self.inside = memory_id == KNOWN and self.inside, False
        return done


def test_quarantine_and_release_say_whether_they_changed_anything_and_which_memory_is_unknown() -> None:
    # Given a memory, and an id of none
    table = Withdrawn()
    life = lifecycle(table, table)

    # When it is withdrawn and released twice / Then the second call says that it changed nothing
    assert [life.quarantine(SCOPE, KNOWN) for _ in range(2)] == [True, False]
    assert [life.release(SCOPE, KNOWN) for _ in range(2)] == [True, False]
    for change in (life.quarantine, life.release):
        with pytest.raises(NotFound, match=UNKNOWN):
            change(SCOPE, UNKNOWN)


@pytest.mark.req("X45", "M50", partly="the decision")
def test_promotion_comes_before_expiry() -> None:
    # Given noise of yesterday's end, used four and five times / When it is judged / Then five keep it, as long-term
    assert judged(aged(accesses=4, untouched_days=60)).archive == "expired"
    kept = judged(aged(accesses=5, untouched_days=60))
    assert kept == RetentionVerdict("long_term", due_at=NOW + timedelta(days=30))


def test_what_is_promoted_is_kept_for_as_long_as_what_was_long_term_before() -> None:
    # Given noise that was useful often enough, of which no access extends the span
    promoted = judged(aged(useful=3, untouched_days=60))
    # When it is promoted / Then its span is that of its new layer at once
    assert promoted.layer == "long_term"
    assert promoted == judged(aged(layer="long_term", useful=3, untouched_days=60))
    assert promoted.archive is None


@pytest.mark.req("M51", partly="the decision")
def test_a_promoted_memory_that_was_unused_for_too_long_is_archived_as_long_term() -> None:
    # Given five accesses long ago / When it is judged / Then it was long-term and is unused
    assert judged(aged(accesses=5)) == RetentionVerdict("long_term", archive="unused")
    assert judged(aged(layer="long_term", untouched_days=89)).archive is None
    assert judged(aged(layer="long_term", untouched_days=91)).archive == "unused"


@pytest.mark.req("B36", "C18", partly="nothing alive is archived")
@pytest.mark.parametrize(("energy", "archived"), [(0.1001, False), (0.1, False), (0.0999, True)])
def test_what_has_energy_is_not_archived_however_old(energy: float, archived: bool) -> None:
    # Given noise that is overdue / When it is judged / Then its energy decides
    assert (judged(aged(energy=energy)).archive is not None) is archived


@given(
    layer=st.sampled_from(["core", "session", "short_term", "long_term"]),
    importance=st.floats(1, 5),
    accesses=st.integers(0, 20),
    useful=st.integers(0, 5),
    energy=st.floats(0, 1),
    days=st.floats(0, 3_000),
)
def test_what_is_kept_is_due_again_later_so_that_no_run_spins(
    layer: str, importance: float, accesses: int, useful: int, energy: float, days: float
) -> None:
    # Given any memory / When it is judged
    memory = aged(
        layer=layer, importance=importance, accesses=accesses, useful=useful, energy=energy, untouched_days=days
    )
    verdict = judged(memory)

    # Then it is archived, or stays for ever, or is looked at again at least a minute later
    if verdict.archive is None:
        assert verdict.due_at is None or verdict.due_at >= NOW + timedelta(minutes=1)
    assert verdict.layer == layer or (layer, verdict.layer) == ("short_term", "long_term")
    assert layer != "core" or (verdict.due_at is None and verdict.archive is None)


@pytest.mark.req("X8", partly="a run is bounded")
def test_one_run_judges_in_batches_and_stops_at_its_limit() -> None:
    # Given more than one run may judge
    due = Due(*[aged()] * 12, crowd=100)

    # When two runs take place
    runner = lifecycle(due, batch=4, run_rows=10)
    first, second = runner.run(), runner.run(SCOPE)

    # Then the first is full, and the second finishes and makes room with the rest of its limit
    assert (first.expired, first.crowded_out) == (10, 0)
    assert (second.expired, second.crowded_out, second.archived) == (2, 8, 10)
    assert due.asked == [4, 4, 2, 4, 4, 8]


def test_what_is_left_of_a_limit_is_used_to_the_last_one_and_then_nothing_else_begins() -> None:
    # Given one memory more than a batch, a crowd and too many short-term memories, and a run of one more than a batch
    due = Due(*[aged()] * 5, crowd=3, beyond=7)

    # When it takes place / Then it is full with what was due, and the next ones go on with what there is
    runner = lifecycle(due, batch=4, run_rows=5)
    assert (runner.run(), due.asked) == (Aging(0, 5, 0, 0, 0, limited=0), [4, 1])
    assert runner.run() == Aging(0, 0, 0, 3, 0, limited=2)
    due.crowd = 4
    assert runner.run() == Aging(0, 0, 0, 4, 0, limited=1)


def test_a_worker_is_woken_for_what_was_archived_and_not_for_what_stays() -> None:
    # Given runs that archive nothing, or one memory for one of the four reasons / When they end
    rings = []
    for due in (
        Due(aged(untouched_days=1)), Due(aged()), Due(aged(layer="long_term")), Due(crowd=1), Due(beyond=1),
    ):  # fmt: skip
        bell = Bell()
        lifecycle(due, queue=bell).run()
        rings.append(bell.rings)

    # Then those that archived wake a worker, which clears the other stores
    assert rings == [0, 1, 1, 1, 1]


def test_a_reason_has_at_most_500_characters() -> None:
    # Given a memory / When it is withdrawn for a reason of 500 characters / Then that is done; one more is refused
    table = Withdrawn()
    life = lifecycle(table, table)
    assert life.quarantine(SCOPE, KNOWN, "x" * 500)
    for change in (life.quarantine, life.archive):
        with pytest.raises(InvalidInput, match="at most 500"):
            change(SCOPE, KNOWN, "x" * 501)


def test_a_run_for_one_scope_makes_no_room_in_others() -> None:
    # Given another scope that is crowded / When one scope is run / Then the other is left alone
    assert lifecycle(Due(crowd=3)).run(Scope("somebody", "else")).crowded_out == 0


def test_the_report_counts_each_kind_apart() -> None:
    # Given one of each
    due = Due(
        aged(),
        aged(layer="long_term"),
        aged(accesses=9, untouched_days=1),
        aged(untouched_days=1),
        crowd=2,
    )

    # When they are judged / Then each is counted where it belongs
    report = lifecycle(due).run()
    assert (report.promoted, report.expired, report.unused, report.crowded_out, report.kept) == (1, 1, 1, 2, 2)
    assert report.archived == 4


class Told:
    """Another store, or the life of memories, that records its calls."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *given: self.calls.append((name, given))


def test_an_archived_memory_leaves_every_other_store_before_the_job_is_done() -> None:
    # Given jobs of two scopes
    told = Told()
    part = cast(Any, told)
    lifecycle = Lifecycle(
        records=part, life=part, index=part, hot=part, canvas=part, queue=NoQueue(), clock=HeldClock(NOW),
        policies=Policies(), telemetry=Telemetry(), on_archived=(told.heard,),
    )  # fmt: skip
    jobs = [cast(Job, SimpleNamespace(ns=ns, memory_id=key)) for ns, key in (("t/u", "1"), ("t/v", "2"), ("t/u", "3"))]
    # When they are worked off
    lifecycle.clear(jobs)
    # Then the index, the cache and the canvas are without them, and only then the jobs end
    assert told.calls == [
        ("purge", (["1", "2", "3"],)),
        ("purge", ("t/u", ["1", "3"])), ("leave", ("t/u", ["1", "3"])), ("heard", ("t/u", ["1", "3"])),
        ("purge", ("t/v", ["2"])), ("leave", ("t/v", ["2"])), ("heard", ("t/v", ["2"])),
        ("cleared", (jobs,)),
    ]  # fmt: skip
