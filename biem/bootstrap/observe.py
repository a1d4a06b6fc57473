"""Attaches metrics and traces, and serves metrics of Celery workers and of the whole system."""

from collections.abc import Callable
from contextlib import ExitStack

from biem.adapters.postgres.database import Database, small_pool
from biem.adapters.postgres.gauges import PostgresGauges
from biem.adapters.postgres.operation_log import MetricsRecorder
from biem.adapters.telemetry.opentelemetry import OpenTelemetry
from biem.adapters.telemetry.prometheus import Prometheus
from biem.bootstrap.servers import Servers, servers
from biem.config import Settings
from biem.ports import Clock
from biem.telemetry import Telemetry


def observe(
    telemetry: Telemetry, *, settings: Settings, where: Servers, clock: Clock, serve: bool
) -> Callable[[], None]:
    """Attach metrics and traces; returns a function that stops them. Connections outlive a change of the embedder.

    `serve`: this process, not its parent, serves metrics, if enabled.
    """
    with ExitStack() as stack:
        serve = serve and settings.metrics_port is not None
        if settings.traces:
            telemetry.attach(OpenTelemetry(clock))
        database: Database | None = None
        if serve or settings.metrics_rows:
            database = stack.enter_context(small_pool(where.postgres_dsn))
        if settings.metrics_port is not None:
            exporter = Prometheus(PostgresGauges(database) if serve and database else None)
            telemetry.attach(exporter)
            if serve:
                exporter.serve(settings.metrics_port, settings.metrics_host)
                stack.callback(exporter.close)
        if settings.metrics_rows and database:
            recorder = MetricsRecorder(database, clock, keep_days=settings.metrics_keep_days)
            telemetry.attach(recorder)
            stack.callback(recorder.close)
        return stack.pop_all().close


def serve_spans_of_children(settings: Settings) -> None:
    """Serve the metrics of a worker's child processes until the process ends; does nothing without a port."""
    if settings.metrics_port is not None:
        exporter = Prometheus()
        exporter.gather()
        exporter.serve(settings.metrics_port, settings.metrics_host)


def serve_levels(settings: Settings, stack: ExitStack) -> None:
    """Serve the numbers of jobs and memories until the stack closes; does nothing without a port."""
    if settings.metrics_port is None:
        return
    where = stack.enter_context(servers(settings))
    database = stack.enter_context(small_pool(where.postgres_dsn))
    exporter = Prometheus(PostgresGauges(database))
    exporter.serve(settings.metrics_port, settings.metrics_host)
    stack.callback(exporter.close)
