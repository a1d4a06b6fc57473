"""What telemetry is told, and metrics of Celery workers and of the whole system."""

from collections.abc import Callable
from contextlib import ExitStack

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.gauges import PostgresGauges
from biem.adapters.postgres.operation_log import MetricsRecorder
from biem.adapters.telemetry.opentelemetry import OpenTelemetry
from biem.adapters.telemetry.prometheus import Prometheus
from biem.bootstrap.servers import Servers, servers
from biem.config import Settings
from biem.ports import Clock
from biem.telemetry import Telemetry


def observe(
    telemetry: Telemetry, settings: Settings, where: Servers, clock: Clock, *, serve: bool
) -> Callable[[], None]:
    """Attach them; returns what ends them. Their connections are their own: they outlive a change of the embedder.

    `serve`: metrics, where wanted, are served by this process and not by the one that started it.
    """
    with ExitStack() as stack:
        serve = serve and settings.metrics_port is not None
        if settings.traces:
            telemetry.attach(OpenTelemetry(clock))
        database: Database | None = None
        if serve or settings.metrics_rows:
            database = Database(where.postgres_dsn, pool_size=2, retry_s=2.0)
            stack.callback(database.close)
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
    """Serve what the child processes of a worker count, until the process ends; nothing without a port."""
    if settings.metrics_port is not None:
        exporter = Prometheus()
        exporter.gather()
        exporter.serve(settings.metrics_port, settings.metrics_host)


def serve_levels(settings: Settings, stack: ExitStack) -> None:
    """Serve how much there is to do and to keep, until the stack closes; nothing without a port."""
    if settings.metrics_port is None:
        return
    where = stack.enter_context(servers(settings))
    database = Database(where.postgres_dsn, pool_size=2, retry_s=2.0)
    stack.callback(database.close)
    exporter = Prometheus(PostgresGauges(database))
    exporter.serve(settings.metrics_port, settings.metrics_host)
    stack.callback(exporter.close)
