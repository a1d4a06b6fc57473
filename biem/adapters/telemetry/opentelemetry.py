"""Spans for OpenTelemetry."""

from datetime import timedelta
from typing import Any

from biem.adapters.telemetry.optional import load
from biem.ports import Clock
from biem.telemetry import Span


class OpenTelemetry:
    """Forwards each finished span to the OpenTelemetry API; the program chooses SDK and exporter.

    A span is reported when it has ended, so its parent is the program's current span, not the enclosing span of biem:
    the steps of one call are siblings, in order of their times.
    """

    def __init__(self, clock: Clock, provider: Any = None) -> None:
        """`provider` is a TracerProvider; None uses the program's global one."""
        api = load("opentelemetry.trace", "BIEM_TRACES")
        self._tracer: Any = api.get_tracer("biem", tracer_provider=provider)
        self._failed: Any = api.Status(api.StatusCode.ERROR)
        self._clock = clock

    def __call__(self, span: Span) -> None:
        """Forward one finished span."""
        ended = self._clock.now()
        began = ended - timedelta(milliseconds=span.duration_ms)
        told = self._tracer.start_span(
            span.name, start_time=int(began.timestamp() * 1e9), attributes=dict(span.attributes)
        )
        if span.error:
            told.set_attribute("error.type", span.error)
            told.set_status(self._failed)
        told.end(end_time=int(ended.timestamp() * 1e9))
