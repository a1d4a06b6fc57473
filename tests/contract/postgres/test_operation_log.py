"""Durations of operations as rows of PostgreSQL: one for each, and never at the cost of the operation."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.operation_log import MetricsRecorder, recorded
from biem.telemetry import Telemetry
from tests.contract.conftest import Admin
from tests.support.fakes import START, HeldClock, eventually

Recording = tuple[Telemetry, MetricsRecorder]


@pytest.fixture
def rows(admin: Admin) -> Iterator[Callable[[], list[Any]]]:
    admin.execute("DELETE FROM metrics")
    query = "SELECT operation, layer, duration_ms, breakdown, timestamp, context FROM metrics ORDER BY id"
    yield lambda: admin.execute(query).fetchall()
    admin.execute("DELETE FROM metrics")


def recording(pool: Database, keep_days: float = 7.0) -> Recording:
    telemetry, recorder = Telemetry(), MetricsRecorder(pool, HeldClock(), keep_days=keep_days)
    telemetry.attach(recorder)
    return telemetry, recorder


@pytest.mark.req("M64", partly="steps and counts of each")
def test_each_operation_leaves_one_row_with_its_steps_and_counts(pool: Database, rows: Callable[[], list[Any]]) -> None:
    # Given operations with steps, one within the other, and one that fails
    telemetry, recorder = recording(pool)
    with telemetry.span("biem.remember"):
        pass
    with telemetry.span("biem.context", items=2), telemetry.span("biem.recall", top_k=5) as recall:
        with telemetry.span("biem.recall.search"):
            pass
        recall.add(hits=3)
    with pytest.raises(ValueError, match="no"), telemetry.span("biem.recall"):
        raise ValueError("no")
    with telemetry.span("biem.sleep"):
        pass
    # When they are written
    recorder.close()
    # Then each has its row, in the order they ended
    stored, recalled, context, failed = rows()
    assert [row[0] for row in (stored, recalled, context, failed)] == ["store", "retrieve", "context_build", "retrieve"]
    assert set(recalled[3]) == {"recall.search"}
    assert recalled[3]["recall.search"] <= recalled[2]
    assert recalled[5] == {"top_k": 5, "hits": 3}
    assert set(context[3]) == {"recall"}
    assert failed[3] == {}
    assert failed[5] == {"error": "ValueError"}
    assert stored[4] == START
    # And percentiles of all processes can be asked for
    stages = {stage.stage: stage.count for stage in recorded(pool, START)}
    assert stages == {
        "context_build": 1,
        "context_build recall": 1,
        "retrieve": 2,
        "retrieve recall.search": 1,
        "store": 1,
    }
    assert recorded(pool, START + timedelta(seconds=1)) == []


def test_rows_that_are_too_old_go(pool: Database, admin: Admin, rows: Callable[[], list[Any]]) -> None:
    for at in (START - timedelta(days=8), START - timedelta(days=6)):
        admin.execute("INSERT INTO metrics (operation, duration_ms, timestamp) VALUES ('store', 1, %s)", (at,))
    _, recorder = recording(pool)
    eventually(lambda: len(rows()) == 1)
    recorder.close()
    assert rows()[0][4] == START - timedelta(days=6)


def test_a_database_that_is_down_costs_rows_and_nothing_else(database: str) -> None:
    # Given a database that refuses
    down = Database(database, pool_size=2, retry_s=0.1)
    down.close()
    telemetry, recorder = recording(down)
    # Then the operation neither fails nor waits
    started = datetime.now(UTC)
    for _ in range(1_000):
        with telemetry.span("biem.remember"):
            pass
    assert (datetime.now(UTC) - started).total_seconds() < 20  # not a tenth of a second for each
    recorder.close()


def test_rows_hold_no_text_and_the_service_may_write_them(service: psycopg.Connection[Any]) -> None:
    columns = service.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = 'metrics' ORDER BY ordinal_position"
    ).fetchall()
    assert [name for (name,) in columns] == [
        "id",
        "operation",
        "layer",
        "duration_ms",
        "breakdown",
        "timestamp",
        "context",
    ]
