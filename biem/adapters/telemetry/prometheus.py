"""Metrics for Prometheus: a telemetry handler for spans, and gauges read at each scrape.

A Celery worker works in child processes while its parent is scraped. With the variable `PROMETHEUS_MULTIPROC_DIR`,
which the client library reads, children write their numbers to that folder, and the parent serves them: `gather`.
"""

import logging
from collections.abc import Iterator
from typing import Any

from biem.adapters.postgres.gauges import Gauges, Levels
from biem.adapters.telemetry.optional import load
from biem.errors import BiemError, ConfigError
from biem.telemetry import Span

logger = logging.getLogger("biem")

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""From an acknowledgement (a millisecond) to a background job (minutes)."""

METRICS = {
    "biem_span_seconds": "Duration of a span of biem, such as biem.recall",
    "biem_span_errors_total": "Spans that ended with an exception, by its class",
    "biem_recall_degraded_total": "Recalls while a server was down",
    "biem_embedding_texts_total": "Texts to embed, by where their vectors came from: the process' cache, or the model",
    "biem_job_changes_total": "What background jobs changed, by job",
    "biem_outbox_due": "Jobs that are due, 100000 meaning at least as many",
    "biem_outbox_due_seconds": "Age of the oldest due job",
    "biem_dead_letters": "Jobs that failed too often, 100000 meaning at least as many",
    "biem_memories": "Memories by status, estimated above 20000",
    "biem_conflicts_pending": "Contradictions that wait for a decision",
    "biem_notes": "Notes by state, 20000 meaning at least as many",
    "biem_note_chunks": "Chunks of notes, estimated above 20000",
    "biem_note_tags": "Tags of notes, estimated above 20000",
    "biem_note_libraries_held": "Libraries that miss most of their files, so that nothing was deleted",
    "biem_note_scan_age_seconds": "Seconds since a scan of the library where that is longest ago found or read a file",
    "biem_note_watch_age_seconds": "Seconds since the watcher of a folder that was silent for longest was last alive",
    "biem_up": "1 when the records answered this scrape",
}
"""Every metric with its description."""


class Prometheus:
    """Counts spans, reads gauges at every scrape, and serves both over HTTP; each instance has a separate registry.

    Only one process of a system should pass `gauges`, or they are reported several times; None leaves them out.
    """

    def __init__(self, gauges: Gauges | None = None) -> None:
        self._client = load("prometheus_client", "BIEM_METRICS_PORT")
        self._registry: Any = self._client.CollectorRegistry()
        self._served: Any = self._registry
        self._server: Any = None
        self._spans: Any = self._metric(self._client.Histogram, "biem_span_seconds", "span", buckets=BUCKETS_S)
        self._errors: Any = self._metric(self._client.Counter, "biem_span_errors_total", "span", "error")
        self._degraded: Any = self._metric(self._client.Counter, "biem_recall_degraded_total", "server")
        self._texts: Any = self._metric(self._client.Counter, "biem_embedding_texts_total", "source")
        self._changes: Any = self._metric(self._client.Counter, "biem_job_changes_total", "job")
        if gauges is not None:
            self._registry.register(_LevelsCollector(gauges))

    def __call__(self, span: Span) -> None:
        """Count one finished span."""
        self._spans.labels(span.name).observe(span.duration_ms / 1e3)
        if span.error:
            self._errors.labels(span.name, span.error).inc()
        for server in filter(None, str(span.attributes.get("degraded", "")).split(",")):
            self._degraded.labels(server).inc()
        if "cached" in span.attributes:
            cached = float(span.attributes["cached"])
            self._texts.labels("cache").inc(cached)
            self._texts.labels("model").inc(float(span.attributes["texts"]) - cached)
        if "job" in span.attributes:
            self._changes.labels(str(span.attributes["job"])).inc(float(span.attributes.get("changed", 0)))

    def page(self) -> bytes:
        """The response to a scrape, in the text format of Prometheus."""
        page: bytes = self._client.generate_latest(self._served)
        return page

    def gather(self) -> None:
        """Serve the metrics of child processes instead of this one's; `ConfigError` without a folder for them."""
        served = self._client.CollectorRegistry()
        try:
            load("prometheus_client.multiprocess", "BIEM_METRICS_PORT").MultiProcessCollector(served)
        except ValueError as error:
            raise ConfigError(
                "a worker has metrics of several processes; set PROMETHEUS_MULTIPROC_DIR to an existing folder for it"
            ) from error
        self._served = served

    def serve(self, port: int, host: str) -> None:
        """Answer scrapes on a thread until `close`; raises `ConfigError` when the port is taken."""
        try:
            self._server, _ = self._client.start_http_server(port, addr=host, registry=self._served)
        except OSError as error:
            raise ConfigError(f"metrics cannot be served on {host}:{port} ({error}); set BIEM_METRICS_PORT") from error

    @property
    def port(self) -> int:
        """The served port, useful when any port was requested (0)."""
        return int(self._server.server_port)

    def close(self) -> None:
        """Stop serving; a second call does nothing."""
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()

    def _metric(self, kind: Any, name: str, *labels: str, **options: Any) -> Any:
        return kind(name, METRICS[name], labels, registry=self._registry, **options)


class _LevelsCollector:
    """Reads the gauges when Prometheus scrapes."""

    def __init__(self, gauges: Gauges) -> None:
        self._gauges = gauges
        self._family: Any = load("prometheus_client.core", "BIEM_METRICS_PORT").GaugeMetricFamily

    def describe(self) -> list[Any]:
        """Empty: registering reads no gauges."""
        return []

    def collect(self) -> Iterator[Any]:
        """Every gauge, or only that the read failed."""
        try:
            levels = self._gauges.read()
        except BiemError as error:
            logger.warning("metrics without gauges: %s", error)
            yield self._gauge("biem_up", 0)
            return
        yield self._gauge("biem_up", 1)
        yield from self._of(levels)

    def _of(self, levels: Levels) -> Iterator[Any]:
        yield self._gauge("biem_outbox_due", levels.due)
        yield self._gauge("biem_outbox_due_seconds", levels.due_for_s)
        yield self._gauge("biem_dead_letters", levels.dead)
        yield self._gauge("biem_conflicts_pending", levels.conflicts)
        memories = self._family("biem_memories", METRICS["biem_memories"], labels=["status"])
        for status in ("active", "pending", "archived"):
            memories.add_metric([status], getattr(levels, status))
        yield memories
        notes = self._family("biem_notes", METRICS["biem_notes"], labels=["state"])
        for state in ("pending", "indexed", "skipped", "failed"):
            notes.add_metric([state], getattr(levels.notes, state))
        yield notes
        yield self._gauge("biem_note_chunks", levels.notes.chunks)
        yield self._gauge("biem_note_tags", levels.notes.tags)
        yield self._gauge("biem_note_libraries_held", levels.notes.held)
        yield self._gauge("biem_note_scan_age_seconds", levels.notes.scanned_for_s)
        yield self._gauge("biem_note_watch_age_seconds", levels.notes.watched_for_s)

    def _gauge(self, name: str, value: float) -> Any:
        return self._family(name, METRICS[name], value=value)
