"""Spans and counters without a metrics library: the core reports, attached handlers process.

Names are `biem.<verb>[.<step>]`. A failing handler never breaks the work it observes.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

logger = logging.getLogger("biem")

Value = str | int | float | bool


@dataclass(slots=True)
class Span:
    """One timed piece of work: `duration_ms` is wall time, `error` the class name of what it raised."""

    name: str
    attributes: dict[str, Value] = field(default_factory=dict)
    duration_ms: float = 0.0
    error: str = ""

    def add(self, **attributes: Value) -> None:
        """Attach attributes known only during the work."""
        self.attributes.update(attributes)


Handler = Callable[[Span], None]


class Telemetry:
    """The reporting target of one object graph; each `Memory` has its own, so two never share handlers."""

    def __init__(self) -> None:
        self._handlers: tuple[Handler, ...] = ()

    @property
    def handlers(self) -> tuple[Handler, ...]:
        """The attached handlers, in order."""
        return self._handlers

    def attach(self, handler: Handler) -> None:
        """Call `handler` with every finished span, in the thread that did the work."""
        self._handlers = (*self._handlers, handler)

    def detach(self, handler: Handler) -> None:
        """Stop calling `handler`; unknown handlers are ignored."""
        self._handlers = tuple(known for known in self._handlers if known is not handler)

    @contextmanager
    def span(self, name: str, **attributes: Value) -> Iterator[Span]:
        """Time a block; records an exception's class name and re-raises it."""
        span = Span(name, attributes)
        started = time.perf_counter()
        try:
            yield span
        except BaseException as error:
            span.error = type(error).__name__
            raise
        finally:
            span.duration_ms = (time.perf_counter() - started) * 1e3
            for handler in self._handlers:
                try:
                    handler(span)
                except Exception:  # a handler must not break the observed work
                    logger.exception("telemetry handler failed on %s", name)
