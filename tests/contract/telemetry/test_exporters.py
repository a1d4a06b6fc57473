"""Metrics and traces as their own clients read them, levels as PostgreSQL has them."""

import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from prometheus_client.parser import text_string_to_metric_families
from psycopg import sql

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.gauges import Levels, NoteLevels, PostgresGauges
from biem.adapters.postgres.migrations import migrate
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.telemetry.opentelemetry import OpenTelemetry
from biem.adapters.telemetry.prometheus import METRICS, Prometheus
from biem.domain.scope import Scope
from biem.errors import ConfigError, MissingExtra, StoreUnavailable
from biem.telemetry import Telemetry
from tests.contract.conftest import Admin, build_records, claim_all, encoded, write
from tests.support.fakes import START, HeldClock

LEVELS = Levels(due=3, due_for_s=1.5, dead=2, active=70, pending=4, archived=9, conflicts=1)


class Held:
    """Levels that a test says."""

    def __init__(self, levels: Levels | None) -> None:
        self.levels = levels

    def read(self) -> Levels:
        if self.levels is None:
            raise StoreUnavailable("down")
        return self.levels


def samples(page: bytes) -> dict[tuple[str, ...], float]:
    """Each sample of a page by its name and the values of its labels."""
    return {
        (sample.name, *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page.decode())
        for sample in family.samples
    }


def fail(telemetry: Telemetry) -> None:
    with telemetry.span("biem.remember"):
        raise KeyError("no")


class TestPrometheus:
    @pytest.mark.req("G64", partly="cache hit statistics")
    @pytest.mark.req("X2", partly="what the background jobs change can be watched")
    def test_spans_become_durations_errors_degraded_recalls_and_changes_of_jobs(self) -> None:
        # Given an exporter on a telemetry
        telemetry, exporter = Telemetry(), Prometheus()
        telemetry.attach(exporter)

        # When pieces of work end well, badly, without a server, and with changes
        for degraded in ("", "milvus", "milvus,redis"):
            with telemetry.span("biem.recall", top_k=5) as span:
                span.add(hits=1, degraded=degraded)
        with telemetry.span("biem.embed") as span:
            span.add(texts=5, cached=3)
        with telemetry.span("biem.sleep.job", job="dedupe") as span:
            span.add(changed=7, reason="")
        with pytest.raises(KeyError):
            fail(telemetry)

        # Then each is counted where it belongs
        found = samples(exporter.page())
        assert found["biem_span_seconds_count", "biem.recall"] == 3
        assert found["biem_span_errors_total", "KeyError", "biem.remember"] == 1
        assert found["biem_recall_degraded_total", "milvus"] == 2
        assert found["biem_recall_degraded_total", "redis"] == 1
        assert found["biem_job_changes_total", "dedupe"] == 7
        assert found["biem_embedding_texts_total", "cache"] == 3
        assert found["biem_embedding_texts_total", "model"] == 2

    def test_a_duration_falls_into_the_bucket_of_its_seconds(self) -> None:
        # Given a span of 30 ms
        telemetry, exporter = Telemetry(), Prometheus()
        with telemetry.span("biem.recall") as span:
            pass
        span.duration_ms = 30.0

        # When it is counted / Then its bucket ends at 50 ms
        exporter(span)
        found = samples(exporter.page())
        assert found["biem_span_seconds_bucket", "0.025", "biem.recall"] == 0
        assert found["biem_span_seconds_bucket", "0.05", "biem.recall"] == 1
        assert found["biem_span_seconds_sum", "biem.recall"] == pytest.approx(0.03)

    def test_levels_are_read_at_each_scrape_and_only_said_to_be_missing_when_the_records_are_away(self) -> None:
        # Given levels / When they are scraped over HTTP, as Prometheus does
        held = Held(LEVELS)
        exporter = Prometheus(held)
        exporter.serve(0, "127.0.0.1")

        def scrape() -> dict[tuple[str, ...], float]:
            with urllib.request.urlopen(f"http://127.0.0.1:{exporter.port}/metrics", timeout=60) as answer:
                return samples(answer.read())

        try:
            first = scrape()
            held.levels = replace(LEVELS, due=0)
            second = scrape()
            held.levels = None
            third = scrape()
        finally:
            exporter.close()

        # Then each scrape tells what was there at its time
        assert first["biem_outbox_due",] == 3
        assert first["biem_outbox_due_seconds",] == 1.5
        assert first["biem_dead_letters",] == 2
        assert first["biem_conflicts_pending",] == 1
        assert {key[1]: value for key, value in first.items() if key[0] == "biem_memories"} == {
            "active": 70, "pending": 4, "archived": 9,
        }  # fmt: skip
        assert (first["biem_up",], second["biem_outbox_due",]) == (1, 0)
        assert third == {("biem_up",): 0}

    def test_every_metric_is_in_the_list_and_every_one_of_the_list_is_reported(self) -> None:
        # Given an exporter that has told everything there is
        telemetry, exporter = Telemetry(), Prometheus(Held(LEVELS))
        telemetry.attach(exporter)
        with telemetry.span("biem.recall", degraded="milvus", job="dedupe", changed=1, texts=2, cached=1):
            pass
        with pytest.raises(KeyError):
            fail(telemetry)

        # When a page is read / Then its names are those of the list, without what the client adds to each
        told = {name.removesuffix("_created") for name, *_ in samples(exporter.page())}
        told = {name.replace("_seconds_bucket", "_seconds") for name in told}
        told = {name.removesuffix("_sum").removesuffix("_count") for name in told}
        told = {f"{name}_total" if f"{name}_total" in METRICS else name for name in told}
        assert told == set(METRICS)

    def test_two_exporters_in_one_process_share_nothing_and_close_twice(self) -> None:
        # Given two, one of which is served
        one, other = Prometheus(), Prometheus()
        telemetry = Telemetry()
        telemetry.attach(one)
        with telemetry.span("biem.recall"):
            pass
        one.serve(0, "127.0.0.1")

        # When the other wants the same port / Then it hears which setting to change, and has counted nothing
        with pytest.raises(ConfigError, match="BIEM_METRICS_PORT"):
            other.serve(one.port, "127.0.0.1")
        assert ("biem_span_seconds_count", "biem.recall") not in samples(other.page())
        one.close()
        one.close()

    def test_what_child_processes_count_is_served_by_their_parent(self, tmp_path: Path) -> None:
        # Given a process that forks, as a worker of Celery does, with a folder for its numbers
        script = """
import os, sys
from biem.adapters.telemetry.prometheus import Prometheus
from biem.telemetry import Telemetry
parent = Prometheus()
parent.gather()
for number in range(2):
    if not os.fork():
        telemetry = Telemetry()
        telemetry.attach(Prometheus())
        for _ in range(number + 1):
            with telemetry.span("biem.encode"):
                pass
        os._exit(0)
for number in range(2):
    os.wait()
sys.stdout.buffer.write(parent.page())
"""
        # When the children have counted / Then the parent tells the sum
        environment = {"PATH": os.environ["PATH"], "PROMETHEUS_MULTIPROC_DIR": str(tmp_path)}
        page = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, env=environment).stdout
        assert samples(page)["biem_span_seconds_count", "biem.encode"] == 3

    def test_gathering_without_a_folder_says_what_to_set(self) -> None:
        # Given no folder / When children are to be gathered / Then the message names the variable
        with pytest.raises(ConfigError, match="PROMETHEUS_MULTIPROC_DIR"):
            Prometheus().gather()


class TestOpenTelemetry:
    @pytest.fixture
    def memory(self) -> InMemorySpanExporter:
        """Where the SDK puts what it is shown."""
        return InMemorySpanExporter()

    @pytest.fixture
    def provider(self, memory: InMemorySpanExporter) -> Iterator[TracerProvider]:
        """An SDK as a program sets it up."""
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(memory))
        yield provider
        provider.shutdown()

    def test_a_span_keeps_its_name_times_attributes_and_error(
        self, provider: TracerProvider, memory: InMemorySpanExporter
    ) -> None:
        # Given a program whose own span is open
        telemetry = Telemetry()
        telemetry.attach(OpenTelemetry(HeldClock(), provider))
        with provider.get_tracer("program").start_as_current_span("turn") as turn:
            # When work ends well and badly
            with telemetry.span("biem.recall", top_k=5) as span:
                span.add(hits=2, degraded="")
            with pytest.raises(KeyError):
                fail(telemetry)

        # Then both are there, under the program's span, with their times
        recall, failed, _ = memory.get_finished_spans()
        assert (recall.name, dict(recall.attributes or {})) == ("biem.recall", {"top_k": 5, "hits": 2, "degraded": ""})
        assert recall.end_time == int(START.timestamp() * 1e9)
        assert recall.start_time is not None
        assert abs(recall.end_time - recall.start_time - span.duration_ms * 1e6) < 2_000  # microseconds, rounded
        assert recall.parent is not None
        assert recall.parent.span_id == turn.get_span_context().span_id
        assert recall.status.status_code is StatusCode.UNSET
        assert (failed.name, failed.status.status_code) == ("biem.remember", StatusCode.ERROR)
        assert dict(failed.attributes or {}) == {"error.type": "KeyError"}


@pytest.mark.parametrize(
    ("package", "build"),
    [("prometheus_client", Prometheus), ("opentelemetry.trace", lambda: OpenTelemetry(HeldClock()))],
)
def test_without_its_package_an_exporter_says_what_to_install(
    package: str, build: type[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Given an installation without the extra / When an exporter is built / Then the message names it
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=r"pip install 'biem\[observe\]'"):
        build()


@pytest.fixture
def own(empty_database: str) -> Iterator[tuple[PostgresRecords, Admin, PostgresGauges]]:
    """A database of this test's own: levels are those of all scopes, and its statistics must mislead no one else."""
    migrate(empty_database)
    database = Database(empty_database, pool_size=2, retry_s=10.0)
    records = build_records(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as admin:
        yield records, admin, PostgresGauges(database)
    records.close()
    database.close()


class TestLevels:
    def test_levels_are_those_of_all_scopes(
        self, own: tuple[PostgresRecords, Admin, PostgresGauges], scope: Scope, other: Scope
    ) -> None:
        # Given two scopes: three memories of which one is active, one dead, one archived afterwards
        jobs, admin, gauges = own
        assert gauges.read() == Levels(0, 0.0, 0, 0, 0, 0, 0)
        for number in range(3):
            jobs.remember(scope, [write(f"text {number} of one scope")])
        jobs.remember(other, [write("a text of another scope")])
        before = gauges.read()
        assert (before.due, before.dead, before.active, before.pending, before.archived) == (4, 0, 0, 4, 0)

        # When one is done, one is buried, two are leased to a user
        held = claim_all(jobs)
        jobs.complete(encoded(held[:1]))
        jobs.bury(held[1:2], "broken")

        # Then the levels say so
        after = gauges.read()
        assert (after.due, after.dead, after.active, after.pending) == (0, 1, 1, 3)

        # When a lease has run out / Then its job is due again, for as long as that
        admin.execute("UPDATE outbox SET due_at = now() - interval '90 s' WHERE id = %s", (held[2].key,))
        late = gauges.read()
        assert late.due == 1
        assert 90 <= late.due_for_s < 120

        # When memories are archived / Then they are neither active nor pending
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (held[0].memory_id,))
        assert (gauges.read().active, gauges.read().archived) == (0, 1)

    def test_notes_are_counted_with_their_chunks_and_tags_and_the_age_of_the_last_scan(
        self, own: tuple[PostgresRecords, Admin, PostgresGauges], scope: Scope
    ) -> None:
        # Given two libraries of which one was scanned an hour ago, and a third that is not scanned on purpose
        _, admin, gauges = own
        assert gauges.read().notes == NoteLevels()
        admin.execute("INSERT INTO scopes (ns, tenant, usr, project) VALUES (%s, 'a', 'b', '')", (scope.ns,))
        for name, state, ago in (("one", "active", "1 hour"), ("two", "held", "1 minute"), ("old", "paused", "1 day")):
            admin.execute(
                "INSERT INTO note_libraries (id, ns, name, root, host, state, scanned_at)"
                " VALUES (gen_random_uuid(), %s, %s, %s, 'here', %s, now() - %s::interval)",
                (scope.ns, name, f"/{name}", state, ago),
            )
        admin.execute("INSERT INTO tags (ns, name, shown, sha256) VALUES (%s, 'tea', 'Tea', '')", (scope.ns,))
        # When the levels are read
        notes = gauges.read().notes
        # Then
        assert (notes.chunks, notes.tags, notes.held) == (0, 1, 1)
        assert 3_600 <= notes.scanned_for_s < 3_660

    @pytest.mark.req("X32", partly="what a monitor asks does not count all memories")
    def test_many_memories_are_estimated_by_statistics(
        self, own: tuple[PostgresRecords, Admin, PostgresGauges], scope: Scope
    ) -> None:
        # Given more memories than are counted, and statistics that know of them
        jobs, admin, gauges = own
        jobs.remember(scope, [write("one of many")])
        assert gauges.read().pending == 1
        copied = ", ".join(
            name
            for (name,) in admin.execute(
                "SELECT column_name FROM information_schema.columns WHERE table_name = 'memories'"
                " AND is_generated = 'NEVER' AND column_name NOT IN ('id', 'write_seq', 'status')"
            )
        )
        many = sql.SQL(
            "INSERT INTO memories (id, write_seq, status, {names}) SELECT gen_random_uuid(), write_seq + n,"
            " CASE WHEN n % 10 = 0 THEN 'archived' ELSE 'active' END, {names} FROM memories,"
            " generate_series(1, 30000) n"
        ).format(names=sql.SQL(copied))

        # When there are more than are counted
        admin.execute(many)
        admin.execute("ANALYZE memories")

        # Then all of them are shown, by the statistics of the table and of its indexes
        levels = gauges.read()
        assert levels.pending == 1
        assert levels.active == pytest.approx(27_000, rel=0.05)
        assert levels.archived == pytest.approx(3_000, abs=1_500)
