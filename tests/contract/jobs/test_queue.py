"""The promises of `JobQueue`."""

import gc
import logging
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest

from biem.adapters.jobs.celery import CeleryQueue
from biem.adapters.jobs.thread import InProcessQueue, LateQueue, NoQueue
from biem.errors import StoreUnavailable
from tests.support.fakes import eventually

FOREVER_S = 3_600.0


class Rounds:
    """Work that counts its rounds, as many jobs as there are, and fails when told to."""

    def __init__(self) -> None:
        self.rounds = 0
        self.jobs = 0
        self.failure: Exception | None = None
        self.threads: set[str] = set()

    def __call__(self) -> int:
        self.rounds += 1
        self.threads.add(threading.current_thread().name)
        if self.failure is not None:
            raise self.failure
        taken = min(1, self.jobs)
        self.jobs -= taken
        return taken


@contextmanager
def running(
    work: Rounds, poll_s: float = FOREVER_S, backoff_s: float = FOREVER_S, backoff_max_s: float = FOREVER_S
) -> Iterator[InProcessQueue]:
    queue = InProcessQueue(poll_s=poll_s, backoff_s=backoff_s, backoff_max_s=backoff_max_s)
    queue.start(work)
    try:
        yield queue
    finally:
        queue.stop(60.0)


def test_a_wake_up_starts_a_round_at_once() -> None:
    # Given an idle queue that would poll in an hour
    work = Rounds()
    with running(work) as queue:
        eventually(lambda: work.rounds == 1)

        # When it is woken / Then it works
        queue.wake()
        eventually(lambda: work.rounds == 2)


@pytest.mark.req("D10", partly="a lost wake-up costs latency only")
def test_rows_without_a_wake_up_are_found_by_polling() -> None:
    # Given a queue that polls often / When no one wakes it / Then it looks all the same
    work = Rounds()
    with running(work, poll_s=0.01):
        eventually(lambda: work.rounds >= 5)


def test_a_busy_queue_goes_on_until_nothing_is_left() -> None:
    # Given many jobs / When it is woken once
    work = Rounds()
    with running(work) as queue:
        eventually(lambda: work.rounds == 1)
        work.jobs = 20
        queue.wake()

        # Then it takes all of them
        eventually(lambda: work.jobs == 0)


def test_after_a_full_round_the_next_one_waits_for_no_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a queue whose rounds are full with one job, two of which wait
    lingered: list[int] = []
    work = Rounds()
    work.jobs = 2
    queue = InProcessQueue(poll_s=FOREVER_S, backoff_s=FOREVER_S, backoff_max_s=FOREVER_S, full=1)
    monkeypatch.setattr(queue, "_linger", lambda: lingered.append(work.rounds))

    # When it works until nothing is left / Then it let a burst end before the first round, and not after full ones
    queue.start(work)
    eventually(lambda: work.rounds == 3)
    queue.stop(60.0)
    assert lingered == [0]


def test_writers_without_a_pause_do_not_keep_it_from_working() -> None:
    # Given a queue that lets a burst of writes end
    work = Rounds()
    with running(work) as queue:
        eventually(lambda: work.rounds == 1)

        # When the burst does not end / Then it works all the same, again and again
        def woken() -> bool:
            queue.wake()
            return work.rounds >= 3

        eventually(woken)


def test_a_wake_up_during_a_round_is_not_lost() -> None:
    # Given a round that is under way and will find nothing
    entered, leave = threading.Event(), threading.Event()
    rounds: list[int] = []

    def work() -> int:
        rounds.append(1)
        entered.set()
        leave.wait(60.0)
        return 0

    queue = InProcessQueue(poll_s=FOREVER_S, backoff_s=1.0, backoff_max_s=1.0)
    queue.start(work)
    assert entered.wait(60.0)

    # When a user writes meanwhile
    queue.wake()
    leave.set()

    # Then another round follows
    eventually(lambda: len(rounds) == 2)
    queue.stop(60.0)


@pytest.mark.req("X49", partly="back-off runs in the queue only")
def test_waking_never_blocks_and_never_raises() -> None:
    # Given queues before their start, at work and after their end
    entered, leave = threading.Event(), threading.Event()

    def work() -> int:
        entered.set()
        leave.wait(60.0)
        return 0

    queue = InProcessQueue(poll_s=1.0, backoff_s=1.0, backoff_max_s=1.0)
    queue.wake()
    queue.start(work)
    assert entered.wait(60.0)

    # When they are woken many times
    started = time.monotonic()
    for _ in range(10_000):
        queue.wake()
    leave.set()
    queue.stop(60.0)
    queue.wake()

    # Then it took no time
    assert time.monotonic() - started < 20.0


def test_a_failure_is_waited_out_and_work_goes_on_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    # Given a server that is down
    work = Rounds()
    work.failure = StoreUnavailable("the index is down")
    with caplog.at_level(logging.WARNING, logger="biem.worker"), running(work, backoff_s=0.01, backoff_max_s=0.02):
        eventually(lambda: work.rounds >= 3)

        # When it comes back
        work.failure, work.jobs = None, 2

        # Then the work is done; an explained failure had no traceback
        eventually(lambda: work.jobs == 0)
    assert "the index is down" in caplog.text
    assert "Traceback" not in caplog.text


def test_an_unexpected_failure_does_not_end_the_loop_and_shows_where_it_came_from(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Given a mistake in the code
    work = Rounds()
    work.failure = ZeroDivisionError("a mistake")

    # When it happens / Then the loop lives and the log has the traceback
    with caplog.at_level(logging.WARNING, logger="biem.worker"), running(work, backoff_s=0.01, backoff_max_s=0.01):
        eventually(lambda: work.rounds >= 2)
    assert "Traceback" in caplog.text


def test_pauses_after_failures_double_up_to_their_maximum() -> None:
    # Given work that always fails and notes when
    moments: list[float] = []

    def work() -> int:
        moments.append(time.monotonic())
        raise StoreUnavailable("down")

    # When it is retried
    queue = InProcessQueue(poll_s=FOREVER_S, backoff_s=0.02, backoff_max_s=0.08)
    logging.getLogger("biem.worker").disabled = True
    try:
        queue.start(work)
        eventually(lambda: len(moments) >= 6)
        queue.stop(60.0)
    finally:
        logging.getLogger("biem.worker").disabled = False

    # Then no pause is shorter than it should be
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert all(pause >= least for pause, least in zip(pauses, (0.02, 0.04, 0.08, 0.08, 0.08), strict=False))


def test_stopping_lets_the_running_round_finish() -> None:
    # Given a round under way
    entered, leave, finished = threading.Event(), threading.Event(), threading.Event()

    def work() -> int:
        entered.set()
        leave.wait(60.0)
        finished.set()
        return 1

    queue = InProcessQueue(poll_s=FOREVER_S, backoff_s=1.0, backoff_max_s=1.0)
    queue.start(work)
    assert entered.wait(60.0)

    # When the queue is stopped while the round still runs
    stopper = threading.Thread(target=queue.stop, args=(60.0,))
    stopper.start()
    assert not finished.is_set()
    leave.set()
    stopper.join(60.0)

    # Then it was finished and no other began
    assert finished.is_set()
    assert not stopper.is_alive()


def test_stopping_waits_no_longer_than_its_limit() -> None:
    # Given a round that hangs
    entered, leave = threading.Event(), threading.Event()

    def work() -> int:
        entered.set()
        leave.wait(60.0)
        return 0

    queue = InProcessQueue(poll_s=FOREVER_S, backoff_s=1.0, backoff_max_s=1.0)
    queue.start(work)
    assert entered.wait(60.0)

    # When it is stopped
    started = time.monotonic()
    queue.stop(0.1)

    # Then the caller goes on, and a second call does nothing
    assert 0.1 <= time.monotonic() - started < 20.0
    leave.set()
    queue.stop(60.0)
    queue.stop(60.0)


def test_stopping_while_waiting_out_a_failure_does_not_wait_for_it() -> None:
    # Given a queue that would try again in an hour
    work = Rounds()
    work.failure = StoreUnavailable("down")
    with running(work) as queue:
        eventually(lambda: work.rounds == 1)

        # When it is stopped / Then it stops at once
        started = time.monotonic()
        queue.stop(60.0)
        assert time.monotonic() - started < 20.0


def test_stopping_while_a_burst_is_gathered_does_not_wait_for_the_next_poll() -> None:
    # Given a queue that was woken, gathers what a burst of writes announces, and else looks once an hour
    queue = InProcessQueue(poll_s=FOREVER_S, backoff_s=1.0, backoff_max_s=1.0, name="gathering")
    stopper = threading.Timer(0.02, queue.stop, (60.0,))

    def work() -> int:
        if stopper.ident is None:
            queue.wake()
            stopper.start()  # fires while the queue gathers
        return 0

    # When it is stopped meanwhile
    queue.start(work)

    # Then it ends at once
    eventually(lambda: stopper.ident is not None and "gathering" not in {t.name for t in threading.enumerate()})
    stopper.join()


def test_stopping_what_never_started_does_nothing() -> None:
    # Given queues that were never started / When they are stopped / Then nothing happens
    InProcessQueue(poll_s=1.0, backoff_s=1.0, backoff_max_s=1.0).stop(1.0)


def test_work_runs_on_one_thread_that_is_not_the_callers() -> None:
    # Given a queue / When it is woken by several threads
    work = Rounds()
    with running(work) as queue:
        for _ in range(5):
            threading.Thread(target=queue.wake).start()
        eventually(lambda: work.rounds >= 2)

    # Then the work ran on its own
    assert work.threads == {"biem-worker"}


def test_a_process_without_a_worker_starts_none() -> None:
    # Given a process that leaves the work to others
    work, queue = Rounds(), NoQueue()

    # When it starts, wakes and stops
    queue.start(work)
    queue.wake()
    queue.stop(1.0)
    queue.stop(1.0)

    # Then it did nothing
    assert work.rounds == 0


def test_a_late_queue_works_from_its_first_wake_up_on_at_each() -> None:
    # Given a queue whose thread starts late
    work = Rounds()
    queue = LateQueue(InProcessQueue(poll_s=FOREVER_S, backoff_s=FOREVER_S, backoff_max_s=FOREVER_S))
    queue.start(work)
    assert work.rounds == 0

    # When it is woken, and woken again once it is idle / Then it works each time
    queue.wake()
    eventually(lambda: work.rounds == 1)
    queue.wake()
    eventually(lambda: work.rounds == 2)
    queue.stop(60.0)


def test_a_late_queue_that_was_stopped_first_never_starts() -> None:
    # Given a queue that was stopped before anybody woke it / When it is woken
    work = Rounds()
    queue = LateQueue(InProcessQueue(poll_s=0.0, backoff_s=1.0, backoff_max_s=1.0, name="too late"))
    queue.start(work)
    queue.stop(60.0)
    queue.wake()

    # Then it has no thread
    assert "too late" not in {thread.name for thread in threading.enumerate()}


def test_nothing_keeps_a_queue_that_was_stopped() -> None:
    # Given a queue that has worked and was stopped
    with running(Rounds()) as queue:
        gone = weakref.ref(queue)

    # When no one uses it any more / Then its memory is free, though the program goes on
    del queue
    gc.collect()
    assert gone() is None


def test_a_program_that_ends_without_closing_lets_its_batch_end() -> None:
    # Given a program whose last line comes while a round is at work
    program = (
        "import threading\n"
        "from biem.adapters.jobs.thread import InProcessQueue\n"
        "begun, end = threading.Event(), threading.Event()\n"
        "def work():\n"
        "    begun.set(); end.wait(0.2); print('round ended', flush=True); return 0\n"
        "InProcessQueue(poll_s=60, backoff_s=60, backoff_max_s=60).start(work)\n"
        "begun.wait(30)\n"
    )

    # When it ends
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)

    # Then the round did, too
    assert (ended.returncode, ended.stdout.split("\n")[0], ended.stderr) == (0, "round ended", "")


def test_a_job_that_is_to_run_soon_is_one_message_however_often_it_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Given a queue of Celery that has been asked for a job three times
    queue = CeleryQueue("memory://")
    sent: list[tuple[str, tuple[str, ...], str]] = []
    monkeypatch.setattr(
        queue._app, "send_task", lambda name, arguments, *, queue, **_: sent.append((name, arguments, queue))
    )
    for _ in range(3):
        queue.run_soon("sessions")

    # When it runs / Then there is one message for it, next to the one that wakes encoding
    queue.start(lambda: 0)
    eventually(lambda: len(sent) == 2)
    queue.run_soon("mirror")
    eventually(lambda: ("biem.job", ("mirror",), "maintain") in sent)
    queue.stop(60.0)
    assert [each for each in sent if each[0] == "biem.job"] == [
        ("biem.job", ("sessions",), "maintain"),
        ("biem.job", ("mirror",), "maintain"),
    ]
    assert ("biem.encode", (), "encode") in sent
