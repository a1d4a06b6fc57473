"""The end that a writer set: memories that have expired are archived or erased.

No reading depends on it: every statement leaves out what has expired by the clock.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from biem.domain.policies.life import RetentionPolicy
from biem.domain.scope import Scope
from biem.errors import NotFound
from biem.ports import Clock, JobQueue
from biem.ports.life import LifeRecords
from biem.telemetry import Telemetry

Destroy = Callable[[Scope, str, datetime], object]
"""Erases a memory that had expired by an instant, with a receipt; raises `NotFound` when there is none."""


@dataclass(frozen=True, slots=True)
class Expired:
    """Counts of one run, in memories."""

    archived: int
    erased: int
    promoted: int = 0
    """Had expired, but were used enough to stay."""


class Expiry:
    """Archives and erases what has expired, once those that were used enough have become long-term memories.

    May be stopped anywhere: the next run continues.
    """

    def __init__(
        self,
        *,
        life: LifeRecords,
        destroy: Destroy,
        queue: JobQueue,
        clock: Clock,
        policy: RetentionPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._life = life
        self._destroy = destroy
        self._queue = queue
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    def run(self, scope: Scope | None = None) -> Expired:
        """At most `run_rows` memories of one scope or of all."""
        now = self._clock.now()
        with self._telemetry.span("biem.expiry") as span:
            promoted = self._life.prove(scope, now)
            archived = self._archive(scope, now)
            if archived:
                self._queue.wake()
            erased = self._erase(scope, now, self._policy.run_rows - archived)
            span.add(archived=archived, erased=erased)
        return Expired(archived, erased, promoted)

    def _archive(self, scope: Scope | None, now: datetime) -> int:
        archived = 0
        while left := self._policy.run_rows - archived:
            gone = len(self._life.expire(scope, now, min(self._policy.batch, left)))
            archived += gone
            if not gone:
                break
        return archived

    def _erase(self, scope: Scope | None, now: datetime, most: int) -> int:
        erased = 0
        for home, memory_id in self._life.expired(scope, now, max(0, most)):
            try:
                self._destroy(home, memory_id, now)
            except NotFound:  # erased with another one, or written again meanwhile
                continue
            erased += 1
        return erased
