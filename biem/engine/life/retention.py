"""The end of memories: promoted when they were used enough, else archived after their span, never deleted.

One run, in this order: promote → expire short-term → archive unused long-term → make room → limit short-term memories
with a category. Retention examines only
memories whose review is due; the date is set at writing and moved only when the review finds that they were used since.
"""

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from biem.domain.node import parse_id
from biem.domain.policies import Policies
from biem.domain.retention import becomes_long_term, deadline, retention_days
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.domain.trust import is_quarantine, require_trust
from biem.errors import InvalidInput, NotFound
from biem.ports import Clock, HotStore, Job, JobQueue, Records, VectorIndex
from biem.ports.hot import Canvas
from biem.ports.life import Aged, LifeRecords, RetentionVerdict
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.lifecycle")

_MAX_REASON_CHARS = 500


@dataclass(frozen=True, slots=True)
class Aging:
    """Counts of one run, in memories. `kept` had been used since their date was set and got a new one."""

    promoted: int
    expired: int
    unused: int
    crowded_out: int
    kept: int
    limited: int = 0
    """Short-term memories with a category beyond the number that their scope may keep."""

    @property
    def archived(self) -> int:
        """All that were archived, for any reason."""
        return self.expired + self.unused + self.crowded_out + self.limited


class Lifecycle:
    """Reviews aged memories, archives and restores. `on_archived(ns, ids)` is called for each archived memory, at
    least once, after it left the other stores.
    """

    def __init__(
        self,
        *,
        records: Records,
        life: LifeRecords,
        index: VectorIndex,
        hot: HotStore,
        canvas: Canvas,
        queue: JobQueue,
        clock: Clock,
        policies: Policies,
        telemetry: Telemetry,
        on_archived: Sequence[Callable[[str, Sequence[str]], object]] = (),
    ) -> None:
        self._records = records
        self._life = life
        self._index = index
        self._hot = hot
        self._canvas = canvas
        self._queue = queue
        self._clock = clock
        self._policies = policies
        self._telemetry = telemetry
        self._on_archived = on_archived

    def run(self, scope: Scope | None = None) -> Aging:
        """Review due memories, in one scope or in all, at most `run_rows`; the next run continues."""
        policy = self._policies.retention
        now = self._clock.now()
        counts: Counter[str] = Counter()
        with self._telemetry.span("biem.lifecycle") as span:
            left = policy.run_rows
            while left > 0:
                judged = self._life.review(scope, now, lambda aged: self.judge(aged, now), min(policy.batch, left))
                counts.update(verdict.archive or "kept" for _, verdict in judged)
                counts["promoted"] += sum(verdict.layer != aged.lived.layer for aged, verdict in judged)
                left -= len(judged)
                if not judged:
                    break
            for crowded in self._life.crowded():
                if (scope is None or crowded == scope) and left > 0:
                    gone = self._life.make_room(crowded, now, left)
                    counts["capacity"] += len(gone)
                    left -= len(gone)
            if left > 0:
                counts["limited"] = len(self._life.limit_short_term(scope, now, left))
            aging = Aging(
                promoted=counts["promoted"],
                expired=counts["expired"],
                unused=counts["unused"],
                crowded_out=counts["capacity"],
                kept=counts["kept"],
                limited=counts["limited"],
            )
            if aging.archived:
                self._queue.wake()
            span.add(promoted=aging.promoted, archived=aging.archived, kept=aging.kept)
        return aging

    def judge(self, aged: Aged, now: datetime) -> RetentionVerdict:
        """The verdict on one memory at `now`: promotion first, so that a used memory does not expire on the same
        day.
        """
        retention = self._policies.retention
        lived = aged.lived
        proven = becomes_long_term(lived.layer, lived.access_count, lived.useful_count, retention)
        layer = "long_term" if proven else lived.layer
        span = retention_days(replace(lived, layer=layer), retention)
        due_at = deadline(
            aged.touched_at,
            span,
            aged.energy,
            now,
            self._policies.energy.decay_per_hour,
            self._policies.tiers.minimum,
        )
        if due_at is None or due_at > now or aged.energy >= self._policies.tiers.minimum:
            # An energy may reach the minimum at this very instant: reviewed again soon, but not at once.
            return RetentionVerdict(layer, due_at=None if due_at is None else max(due_at, now + timedelta(minutes=1)))
        return RetentionVerdict(layer, archive="unused" if layer == "long_term" else "expired")

    def archive(self, scope: Scope, memory_id: str, reason: str = "") -> bool:
        """Archive one memory of this scope now, in any layer; False when it was archived already."""
        target = parse_id(memory_id)
        _require_reason(reason)
        if is_quarantine(reason):
            raise InvalidInput(f"the reason {reason!r:.60} is that of a quarantine; call quarantine() instead")
        done = self._life.archive(scope, [target], reason or "by request", self._clock.now())
        return self._finish(scope, target, done=bool(done))

    def restore(self, scope: Scope, memory_id: str) -> bool:
        """Restore an archived memory; recall finds it at once by its words. False when it was not archived."""
        target = parse_id(memory_id)
        return self._finish(scope, target, done=self._life.restore(scope, target, self._clock.now()))

    def quarantine(self, scope: Scope, memory_id: str, reason: str = "") -> bool:
        """Withdraw a memory, and all that was made of it, at once; False when it was in quarantine already."""
        target = parse_id(memory_id)
        _require_reason(reason)
        done = self._life.quarantine(scope, target, reason or "by request", self._clock.now())
        return self._finish(scope, target, done=done)

    def release(self, scope: Scope, memory_id: str, trust: str | None = None) -> bool:
        """Bring a memory back from quarantine, with this trust; False when it was not in quarantine."""
        target = parse_id(memory_id)
        level = None if trust is None else require_trust(trust)
        return self._finish(scope, target, done=self._life.release(scope, target, level, self._clock.now()))

    def _finish(self, scope: Scope, memory_id: str, *, done: bool) -> bool:
        if not done and self._records.get(scope, memory_id) is None:
            raise NotFound(f"no memory {memory_id} in scope {scope}")
        self._queue.wake()
        return done

    def clear(self, jobs: Sequence[Job]) -> None:
        """Remove archived memories from the other stores: the work of the task `archive`. Safe to repeat."""
        self._index.purge([job.memory_id for job in jobs])
        for ns in sorted({job.ns for job in jobs}):
            ids = [job.memory_id for job in jobs if job.ns == ns]
            self._hot.purge(ns, ids)
            self._canvas.leave(ns, ids)
            for hear in self._on_archived:
                hear(ns, ids)
        self._life.cleared(jobs)


def _require_reason(reason: object) -> None:
    if not isinstance(reason, str) or len(reason) > _MAX_REASON_CHARS:
        raise InvalidInput(f"the reason must be a string of at most {_MAX_REASON_CHARS} characters")
    require_clean(reason, "the reason")
