"""A step of the worker's main loop that shows the loop to `workers.health`: `app.steps["consumer"].add(Pulse)`."""

from typing import Any

from celery import bootsteps

from workers import health

_EVERY_S = 5.0


class Pulse(bootsteps.StartStopStep):
    """Beats on the loop's own timer while there is a broker, and says that it waits while there is none."""

    requires = ("celery.worker.consumer.events:Events",)

    def __init__(self, consumer: Any, **options: Any) -> None:
        super().__init__(consumer, **options)
        self._timer: Any = None
        health.begin("worker")

    def start(self, consumer: Any) -> None:
        """The broker is there."""
        health.beat("worker")
        self._timer = consumer.timer.call_repeatedly(_EVERY_S, health.beat, ("worker",), priority=10)

    def stop(self, consumer: Any) -> None:  # noqa: ARG002 - Celery's signature
        """The broker is gone, or the worker leaves."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        health.wait("worker")

    shutdown = stop
