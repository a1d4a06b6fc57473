"""Percentiles of stages: what the always-attached handler keeps, and what it costs."""

import math
import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from biem.domain.diagnosis import stage_time
from biem.engine.admin.stage_times import StageTimes
from biem.telemetry import Span, Telemetry


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=300))
def test_each_percentile_is_a_duration_that_its_share_does_not_exceed(durations: list[float]) -> None:
    told = stage_time("x", durations, len(durations))
    for share, value in ((0.5, told.p50_ms), (0.9, told.p90_ms), (0.99, told.p99_ms)):
        assert value in durations
        assert sum(one <= value for one in durations) >= math.floor(share * len(durations))
        assert sum(one < value for one in durations) <= share * len(durations)
    assert told.worst_ms == max(durations)


def test_stages_are_counted_for_ever_and_timed_by_the_newest() -> None:
    # Given a stage that was slow long ago, and failed once
    times = StageTimes()
    telemetry = Telemetry()
    telemetry.attach(times)
    for _ in range(10):
        times(Span("biem.recall", duration_ms=1e6))
    for _ in range(1_000):
        times(Span("biem.recall", duration_ms=2.0))
    times(Span("biem.remember", duration_ms=1.0, error="StoreUnavailable"))
    # Then the table says how it is now
    recall, remember = times.table()
    assert (recall.stage, recall.count, recall.errors, recall.worst_ms) == ("biem.recall", 1_010, 0, 2.0)
    assert (remember.stage, remember.count, remember.errors) == ("biem.remember", 1, 1)


def test_the_table_can_be_asked_for_while_others_are_working() -> None:
    times, stop = StageTimes(), threading.Event()

    def work(number: int) -> None:
        while not stop.is_set():
            times(Span(f"biem.stage.{number}", duration_ms=1.0))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    tables = [times.table() for _ in range(50)]
    stop.set()
    for thread in threads:
        thread.join()
    assert {stage.p50_ms for table in tables for stage in table} <= {1.0}


def test_it_costs_next_to_nothing() -> None:
    times, span = StageTimes(), Span("biem.recall", duration_ms=1.0)
    best = math.inf
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(2_000):
            times(span)
        best = min(best, (time.perf_counter() - started) / 2_000)
    assert best < 20e-6
