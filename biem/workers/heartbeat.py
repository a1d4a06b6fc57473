"""Heartbeats of worker and beat for `biem.workers.health`, also while they wait for the broker, however long.

Celery alone gives up after a hundred attempts, three quarters of an hour: after a long outage no worker would be left
unless a supervisor restarts them.
"""

import logging
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from celery import beat, bootsteps
from celery.worker import consumer
from celery.worker.state import maybe_shutdown

from biem.lazy import lazy
from biem.workers import health

logger = logging.getLogger("biem.worker")

_EVERY_S = 5.0
_FIRST = timedelta(minutes=10)


class Heartbeat(bootsteps.StartStopStep):
    """A step of the worker's main loop: beats on the loop's timer while the broker is connected."""

    requires = ("celery.worker.consumer.events:Events",)

    def __init__(self, parent: Any, **options: Any) -> None:
        super().__init__(parent, **options)
        self._timer: Any = None
        health.begin("worker")

    def start(self, parent: Any) -> None:
        """Start when the broker is connected."""
        health.beat("worker")
        self._timer = parent.timer.call_repeatedly(_EVERY_S, health.beat, ("worker",), priority=10)

    def stop(self, parent: Any) -> None:  # noqa: ARG002 - Celery's signature
        """Stop when the broker is lost, or the worker exits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        health.wait("worker")

    shutdown = stop


class Consumer(consumer.Consumer):
    """Celery's consumer, but it retries its broker for ever, with heartbeats meanwhile."""

    def ensure_connected(self, conn: Any) -> Any:
        """`conn`, once the broker answers; returns early when the worker must exit."""
        connected = _retry_for_ever(conn, "worker", maybe_shutdown)
        self.first_connection_attempt = False
        return connected


class Scheduler(beat.Scheduler):
    """Celery's in-memory scheduler, but it retries its broker for ever, with heartbeats meanwhile.

    Every job is due ten minutes after a start at the latest: a beat that is restarted daily, for example by a
    deployment, would otherwise never reach a daily job. A job that runs too early finds nothing to do.
    """

    _lost = False

    def setup_schedule(self) -> None:
        """The schedule, with an early first run of each job."""
        super().setup_schedule()
        for name in self.app.conf.beat_schedule:
            entry: Any = self.schedule[name]
            every = entry.schedule.run_every
            entry.last_run_at = entry.default_now() - every + min(every, _FIRST)

    @lazy
    def producer(self) -> Any:
        """The producer, once the broker answers."""
        connection = _retry_for_ever(self.connection, "beat", lambda: None)
        return self.app.amqp.Producer(connection, auto_declare=False)

    def tick(self, *arguments: Any, **options: Any) -> Any:
        """One turn of the loop; the first waits for the broker."""
        _ = self.producer
        (health.wait if self._lost else health.beat)("beat")
        return super().tick(*arguments, **options)

    def apply_async(self, *arguments: Any, **options: Any) -> Any:
        """Send one wake-up; Celery logs errors, and the next period sends another."""
        try:
            sent = super().apply_async(*arguments, **options)
        except Exception:
            self._lost = True
            raise
        self._lost = False
        return sent


def _retry_for_ever(connection: Any, role: str, meanwhile: Callable[[], None]) -> Any:
    def failed(error: Exception, pause_s: float) -> None:
        logger.error("%s has no broker at %s (%s); retrying in %.0f s", role, connection.as_uri(), error, pause_s)

    def wait() -> None:
        health.wait(role)
        meanwhile()

    return connection.ensure_connection(failed, interval_start=1, interval_step=1, interval_max=10, callback=wait)
