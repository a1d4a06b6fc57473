"""How one wake-up spreads: anyone who finds a full batch asks for one more process, and no one asks twice."""

import gc
import os
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest
from celery import Celery
from celery.concurrency import get_implementation

from biem.bootstrap import ENCODE_TASK, JOB_TASK
from biem.config import Settings
from biem.domain.policies.jobs import SleepPolicy
from biem.workers import tasks as of_workers
from biem.workers.configuration import configuration
from biem.workers.heartbeat import Scheduler
from biem.workers.tasks import (
    NOTES_JOB,
    NOTES_TASK,
    RESCAN_TASK,
    SLEEP_TASK,
    WorkerResources,
    processes_of,
    register,
)


class App:
    """The part of Celery that tasks use; `tasks` by name, `sent` in order."""

    def __init__(self) -> None:
        self.tasks: dict[str, Callable[..., Any]] = {}
        self.sent: list[str] = []
        self.arguments: list[Any] = []

    def task(self, *, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(work: Callable[..., Any]) -> Callable[..., Any]:
            self.tasks[name] = work
            return work

        return keep

    def send_task(self, name: str, args: Any = (), **_: Any) -> None:
        self.sent.append(name)
        self.arguments.append(args)


class Shop:
    """A runtime that finds that many memories in each round, and the resources that hold it."""

    batch = 64

    def __init__(self, *rounds: int) -> None:
        self._rounds = deque(rounds)

    @property
    def runtime(self) -> "Shop":
        return self

    def encode(self) -> int:
        return self._rounds.popleft() if self._rounds else 0

    def rescan(self) -> dict[str, int]:
        return {"notes": self.encode()}


def worked(*rounds: int) -> tuple[int, list[str]]:
    app = App()
    register(cast(Celery, app), cast(WorkerResources, Shop(*rounds)))
    return app.tasks[ENCODE_TASK](), app.sent


def test_a_backlog_calls_one_more_process_once() -> None:
    assert worked(64, 64, 64, 10) == (202, [ENCODE_TASK])


def test_little_to_do_makes_no_call() -> None:
    assert worked(63) == (63, [])
    assert worked() == (0, [])


def test_a_sleep_runs_every_job_once_in_order_each_in_its_own_task_despite_failures() -> None:
    # Given a night of three jobs, of which the first fails
    app, ran = App(), list[str]()

    def run(name: str) -> dict[str, int]:
        ran.append(name)
        if name == "build":
            raise ValueError(name)
        return {"changed": 1}

    shop = SimpleNamespace(run=run, paced=nullcontext)
    jobs = [
        name
        for name in WorkerResources(Settings(sleep={"off": ("forget", "turns")})).jobs
        if name in ("build", "forget", "turns", "sweep", "integrity")
    ]
    assert jobs == ["build", "sweep", "integrity"]
    register(cast(Celery, app), cast(WorkerResources, SimpleNamespace(runtime=shop, jobs=jobs)))

    # When it begins, and each message is taken / Then all of them ran, and nothing is left to be asked for
    with pytest.raises(ValueError, match="build"):
        app.tasks[SLEEP_TASK]()
    while app.sent:
        assert app.sent.pop() == SLEEP_TASK
        assert app.tasks[SLEEP_TASK](*app.arguments.pop())["changed"] == 1
    assert ran == jobs


def test_what_a_rescan_brings_in_is_encoded_at_once() -> None:
    for found, sent in ((3, [ENCODE_TASK]), (0, [])):
        app = App()
        register(cast(Celery, app), cast(WorkerResources, Shop(found)))
        assert app.tasks[RESCAN_TASK]() == {"job": "rescan", "notes": found}
        assert app.sent == sent


def test_after_a_scan_notes_are_indexed_by_a_task_that_asks_for_itself_while_there_are_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, rounds = App(), deque([32, 32, 5])
    shop = SimpleNamespace(
        run=lambda name: {"new": 69}, paced=nullcontext, index_notes=lambda: rounds.popleft() if rounds else 0
    )
    register(cast(Celery, app), cast(WorkerResources, SimpleNamespace(runtime=shop)))
    assert app.tasks[JOB_TASK]("sweep")["new"] == 69
    assert app.sent == []
    assert app.tasks[JOB_TASK](NOTES_JOB) == {"job": "notes", "new": 69}
    assert app.sent == [NOTES_TASK]
    # A task whose time is over leaves the rest to the next one
    monkeypatch.setattr(of_workers, "_ENCODE_S", -1.0)
    assert app.tasks[NOTES_TASK]() == 32
    assert app.sent == [NOTES_TASK, NOTES_TASK]
    monkeypatch.undo()
    assert app.tasks[NOTES_TASK]() == 37


@pytest.mark.req("C15", partly="each job has its own switch")
def test_beats_table_has_every_job_that_has_a_period_and_the_hook_only_where_one_is_named() -> None:
    # Given settings as they come / Then every job of the night is in the table, once, and the look at the outbox
    table = configuration(Settings(), "redis://x")["beat_schedule"]
    assert set(table) == {*SleepPolicy().periods(), "outbox"}

    # When one job is switched off and a hook is named / Then the table lacks the one and has the other
    own = Settings(sleep=SleepPolicy(forget_s=0.0), rescan="my_notes.sync:rescan", rescan_s=60.0)
    table = configuration(own, "redis://x")["beat_schedule"]
    assert set(table) == {*SleepPolicy().periods(), "outbox", "rescan"} - {"forget"}
    assert table["rescan"]["schedule"] == table["rescan"]["options"]["expires"] == 60.0


def test_a_night_without_jobs_does_nothing() -> None:
    # Given a night all of whose jobs are switched off / When it is asked for / Then nothing runs, and nothing fails
    app = App()
    register(cast(Celery, app), cast(WorkerResources, SimpleNamespace(jobs=[])))
    assert app.tasks[SLEEP_TASK]() == {}
    assert app.sent == []


def test_what_is_due_once_a_day_is_due_soon_after_each_start_of_beat() -> None:
    # Given beat's table / When beat starts / Then nothing is due at once, and everything within ten minutes
    app = Celery("told", set_as_current=False)
    app.conf.update(configuration(Settings(), "redis://x"))
    entries = Scheduler(app).schedule
    waits = {name: entries[name].is_due()[1] for name in app.conf.beat_schedule}
    assert not any(entries[name].is_due()[0] for name in waits)
    assert 599 <= waits["integrity"] <= 600
    assert max(waits.values()) <= 600
    assert 9 <= waits["decisions"] <= 10


@pytest.mark.parametrize("broker", ["redis://x", "rediss://x", "amqp://x//"])
def test_a_message_is_given_out_again_only_after_any_task_has_ended(broker: str) -> None:
    told = configuration(Settings(), broker)
    assert (
        told["broker_transport_options"]["visibility_timeout"] > told["task_time_limit"] > told["task_soft_time_limit"]
    )
    assert (told["task_acks_late"], told["task_reject_on_worker_lost"], told["worker_prefetch_multiplier"]) == (
        True,
        True,
        1,
    )
    assert ("global_keyprefix" in told["broker_transport_options"]) is broker.startswith("redis")


def cores(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(count)), raising=False)


@pytest.mark.parametrize(("count", "processes", "threads"), [(2, 1, 2), (2, 4, 1), (8, 2, 4), (8, 4, 2), (64, 4, 4)])
def test_the_processes_of_a_worker_share_the_cores(
    monkeypatch: pytest.MonkeyPatch, count: int, processes: int, threads: int
) -> None:
    cores(monkeypatch, count)
    bench = WorkerResources(Settings())
    for pool in ("prefork", get_implementation("prefork")):
        bench.share(processes_of(SimpleNamespace(pool_cls=pool, concurrency=processes)))
        assert bench.settings.embedder.threads == threads


def test_threads_that_were_set_stay_and_only_forks_share(monkeypatch: pytest.MonkeyPatch) -> None:
    cores(monkeypatch, 4)
    bench = WorkerResources(Settings(embedder={"threads": 3}))
    bench.share(4)
    assert bench.settings.embedder.threads == 3
    assert processes_of(SimpleNamespace(pool_cls="solo", concurrency=8)) == 1
    assert processes_of(SimpleNamespace(pool_cls="threads", concurrency=8)) == 1


def test_a_worker_has_the_garbage_collector_pass_over_what_it_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a worker whose workshop is another's / When it opens it
    monkeypatch.setattr(of_workers, "give_way", lambda: None)
    monkeypatch.setattr(of_workers, "open_worker", lambda settings: SimpleNamespace(close=lambda: None))
    gc.unfreeze()
    try:
        WorkerResources(Settings()).runtime.close()
        # Then what was loaded until then is left out of walks
        assert gc.get_freeze_count() > 10_000
    finally:
        gc.unfreeze()
