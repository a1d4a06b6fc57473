"""Background jobs: a sleep runs every job of a scope in order, each under its lock; a failure stops no other job.

The order is that of the list: build before merge, promotion before expiry, expiry before archiving, the integrity check
last.
"""

import logging
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.ports import Clock
from biem.ports.jobs import Exclusive, ScopeList
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.sleep")

Run = Callable[[Scope], Mapping[str, int]]
"""One job: bounded, idempotent; returns its changes by kind, and 0 or nothing when there were none."""


@dataclass(frozen=True, slots=True)
class BackgroundJob:
    """One background job and its period; a period of 0 means only in `sleep`."""

    name: str
    run: Run
    period_s: float = 0.0
    everywhere: Callable[[], Mapping[str, int]] | None = None
    """The same for all scopes at once, for a job that finds due work faster than by querying every scope."""
    at_start: bool = False
    """Whether it is due when a process starts, and not only one period later."""


@dataclass(frozen=True, slots=True)
class JobReport:
    """The result of one job in one scope."""

    name: str
    seconds: float
    changes: Mapping[str, int]
    reason: str = ""
    """Why it did not complete: another process holds its lock, or the error. Empty on success."""

    @property
    def changed(self) -> int:
        """The total number of changes."""
        return sum(self.changes.values())


@dataclass(frozen=True, slots=True)
class SleepReport:
    """The results of one sleep, in the order of the jobs."""

    scope: Scope
    started_at: datetime
    jobs: tuple[JobReport, ...]

    @property
    def changed(self) -> int:
        """The total number of changes."""
        return sum(job.changed for job in self.jobs)

    @property
    def failed(self) -> tuple[JobReport, ...]:
        """The jobs that did not complete."""
        return tuple(job for job in self.jobs if job.reason)


class JobRunner:
    """Runs jobs under their locks."""

    def __init__(
        self, jobs: Sequence[BackgroundJob], *, exclusive: Exclusive, clock: Clock, telemetry: Telemetry
    ) -> None:
        self.jobs = {job.name: job for job in jobs}
        if len(self.jobs) != len(jobs):
            raise ValueError("two jobs have the same name, and so the same lock")
        self._exclusive = exclusive
        self._clock = clock
        self._telemetry = telemetry

    def sleep(self, scope: Scope) -> SleepReport:
        """Run all jobs of one scope, in order. Never raises: errors are in the report."""
        started = self._clock.now()
        with self._telemetry.span("biem.sleep") as span:
            report = SleepReport(scope, started, tuple(self.run(name, scope) for name in self.jobs))
            span.add(changed=report.changed, failed=len(report.failed))
        return report

    def run(self, name: str, scope: Scope) -> JobReport:
        """Run one job in one scope, unless it runs already. Raises `KeyError` for an unknown job, and nothing else."""
        job = self.jobs[name]
        return self._alone(name, scope, lambda: job.run(scope))

    def run_everywhere(self, name: str) -> JobReport:
        """Run one job with an `everywhere`, in all scopes; otherwise as `run`."""
        work = self.jobs[name].everywhere
        if work is None:
            raise KeyError(name)
        return self._alone(name, None, work)

    def _alone(self, name: str, scope: Scope | None, work: Callable[[], Mapping[str, int]]) -> JobReport:
        changes: Mapping[str, int] = {}
        reason = ""
        with self._telemetry.span("biem.sleep.job", job=name) as span:
            try:
                with self._exclusive.hold(scope, name) as granted:
                    if granted:
                        changes = {what: count for what, count in work().items() if count}
                    else:
                        reason = "it runs already"
            except BiemError as error:
                reason = f"{type(error).__name__}: {error}"
                logger.warning("%s of %s failed: %s", name, scope or "all scopes", error)
            except Exception as error:  # one failing job must not stop the others
                reason = f"{type(error).__name__}: {error}"
                logger.exception("%s of %s failed", name, scope or "all scopes")
            span.add(changed=sum(changes.values()), reason=reason)
        return JobReport(name, span.duration_ms / 1e3, changes, reason)


class Schedule:
    """Decides which jobs are due in which scopes. Kept in memory: the passage of time writes no row.

    Several processes may schedule the same scopes: the locks admit one of them, and jobs are idempotent.
    """

    def __init__(self, sleeper: JobRunner, scopes: ScopeList, *, clock: Clock, scopes_per_tick: int) -> None:
        self._sleeper = sleeper
        self._scopes = scopes
        self._clock = clock
        self._most = scopes_per_tick
        self._guard = threading.Lock()
        now = clock.now()
        self._rounds = {
            job.name: _Round(now if job.at_start else now + timedelta(seconds=job.period_s))
            for job in sleeper.jobs.values()
            if job.period_s > 0
        }

    def tick(self) -> int:
        """Run each due job in the next few scopes; returns the number of runs, 0 when nothing is due.

        Bounded: a job that is due in many scopes continues in the next ticks where it stopped. Each round visits every
        scope once, and the next begins one period after this one began. Raises `StoreUnavailable`.
        """
        if not self._guard.acquire(blocking=False):
            return 0
        try:
            return sum(self._advance(name, turn) for name, turn in self._rounds.items())
        finally:
            self._guard.release()

    def hurry(self, name: str) -> None:
        """Make a job due now, if it has a period; the next tick runs it."""
        if name in self._rounds:
            self._rounds[name].due_at = self._clock.now()

    def run(self, name: str) -> dict[str, int]:
        """Run one job now in every scope, for an external scheduler; returns its changes by kind, and `failed` runs.

        Raises `KeyError` for an unknown job and `StoreUnavailable`.
        """
        total: Counter[str] = Counter()
        for report in self._visits(name):
            total.update(report.changes)
            total["failed"] += bool(report.reason)
        return {what: count for what, count in total.items() if count}

    def _visits(self, name: str) -> Iterator[JobReport]:
        if self._sleeper.jobs[name].everywhere is not None:
            yield self._sleeper.run_everywhere(name)
            return
        after = ""
        while scopes := self._scopes.scopes(after, self._most):
            for scope in scopes:
                yield self._sleeper.run(name, scope)
            after = scopes[-1].ns

    def _advance(self, name: str, turn: "_Round") -> int:
        now = self._clock.now()
        period = timedelta(seconds=self._sleeper.jobs[name].period_s)
        if turn.due_at - now > period:  # the clock was set back
            turn.due_at = now + period
        if turn.after is None:
            if now < turn.due_at:
                return 0
            turn.after, turn.due_at = "", now + period
            if self._sleeper.jobs[name].everywhere is not None:
                turn.after = None
                self._sleeper.run_everywhere(name)
                return 1
        scopes = self._scopes.scopes(turn.after, self._most)
        for scope in scopes:
            self._sleeper.run(name, scope)
            turn.after = scope.ns
        if len(scopes) < self._most:
            turn.after = None
        return len(scopes)


@dataclass(slots=True)
class _Round:
    """One round of a job through all scopes."""

    due_at: datetime
    after: str | None = None
    """The scope visited last; None between two rounds."""
