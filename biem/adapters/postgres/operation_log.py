"""One row of PostgreSQL for each operation (AIMate's `metrics`), written behind the operation by a thread.

Recording never blocks or fails what it watches: rows wait in a bounded queue, the oldest are dropped when the writer
cannot follow, and a database that is down costs rows and nothing else. No text and no scope is recorded.
"""

import logging
import threading
from collections import deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import Database
from biem.domain.diagnosis import StageTime
from biem.errors import BiemError
from biem.ports import Clock
from biem.telemetry import Span

logger = logging.getLogger("biem")

OPERATIONS = {
    "biem.recall": "retrieve",
    "biem.remember": "store",
    "biem.append": "store",
    "biem.context": "context_build",
    "biem.window": "context_build",
    "biem.trim": "trim",
}
"""Spans that are operations, and AIMate's names for them."""
_MOST_WAITING = 10_000
_EVERY_S = 1.0
_PAUSE_S = 10.0
_DROPPED_AT_ONCE = 5_000
_TIDY_EVERY = 600
"""Rounds between two deletions of expired rows."""


@dataclass
class _Steps(threading.local):
    """Steps of the operation that this thread is in; they end before it does."""

    milliseconds: dict[str, float] = field(default_factory=dict)


class MetricsRecorder:
    """A telemetry handler; `close` writes what still waits."""

    def __init__(self, database: Database, clock: Clock, *, keep_days: float) -> None:
        self._database = database
        self._clock = clock
        self._keep = timedelta(days=keep_days)
        self._steps = _Steps()
        self._waiting: deque[dict[str, Any]] = deque(maxlen=_MOST_WAITING)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, name="biem-metrics", daemon=True)
        self._thread.start()

    def __call__(self, span: Span) -> None:
        """Note one finished span."""
        steps = self._steps.milliseconds
        operation = OPERATIONS.get(span.name)
        if operation is not None:
            inside = f"{span.name}."
            own = {name: steps.pop(name) for name in list(steps) if name.startswith(inside)}
            if operation == "context_build" and "biem.recall" in steps:
                own["biem.recall"] = steps.pop("biem.recall")
            self._waiting.append(
                {
                    "operation": operation,
                    "layer": str(span.attributes.get("layer", "")),
                    "duration_ms": span.duration_ms,
                    "breakdown": {name.removeprefix("biem."): round(spent, 3) for name, spent in own.items()},
                    "timestamp": self._clock.now().isoformat(),
                    "context": span.attributes | ({"error": span.error} if span.error else {}),
                }
            )
        if span.name.count(".") >= 1:
            steps[span.name] = span.duration_ms

    def close(self) -> None:
        """Write what waits, if the database takes it; a second call does nothing."""
        self._stop.set()
        self._thread.join(timeout=5.0)

    def _loop(self) -> None:
        rounds = 0
        while not self._stop.wait(_EVERY_S):
            try:
                self._write()
                if rounds % _TIDY_EVERY == 0:
                    self._tidy()
                rounds += 1
            except BiemError as error:
                logger.info("durations are not recorded: %s", error)
                self._stop.wait(_PAUSE_S)
        try:
            self._write()
        except BiemError as error:
            logger.info("durations are not recorded: %s", error)

    def _write(self) -> None:
        while self._waiting:
            rows = [self._waiting.popleft() for _ in range(min(500, len(self._waiting)))]
            self._database.execute("", "metrics_add", (Jsonb(rows),))

    def _tidy(self) -> None:
        before = self._clock.now() - self._keep
        dropped = _DROPPED_AT_ONCE
        while dropped == _DROPPED_AT_ONCE:
            dropped = self._database.execute("", "metrics_drop", {"before": before, "limit": _DROPPED_AT_ONCE})


def recorded(database: Database, since: datetime) -> list[StageTime]:
    """Percentiles over all processes that record, since an instant."""
    rows = database.fetch("", "metrics_table", {"since": since})
    return [StageTime(row.stage, row.operations, 0, *row.percentiles) for row in rows]
