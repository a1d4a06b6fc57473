"""Metrics of the processes around the work: of a Celery worker's children, and of the whole system's state."""

from contextlib import ExitStack

from biem.adapters.database import Database
from biem.adapters.exporters import Prometheus
from biem.adapters.gauges import PostgresGauges
from biem.bootstrap.places import servers
from biem.config import Settings


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
