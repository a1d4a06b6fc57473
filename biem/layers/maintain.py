"""Maintenance of one scope on request: the steps of the hourly jobs, in their order, with counts."""

from collections.abc import Mapping
from dataclasses import dataclass

from biem.domain.scope import Scope
from biem.engine.sleep.jobs import JobReport, JobRunner

JOBS = ("lifecycle", "sessions", "mirror", "notes", "integrity")
"""The jobs that maintenance runs, in this order, each under its lock."""
_LIFECYCLE: Mapping[str, tuple[str, ...]] = {
    "promote": ("promoted",),
    "expire": ("expired", "erased"),
    "archive": ("unused",),
    "limits": ("crowded_out", "limited"),
}
"""What the job `lifecycle` counts, by step."""


@dataclass(frozen=True, slots=True)
class Maintenance:
    """The result of one maintenance: changes by step, in the order of the steps, and jobs that did not complete."""

    counts: Mapping[str, int]
    failed: tuple[JobReport, ...] = ()

    @property
    def changed(self) -> int:
        """The total number of changes."""
        return sum(self.counts.values())


def maintain(runner: JobRunner, scope: Scope) -> Maintenance:
    """Promote, expire, archive, limit, then sessions, mirror, notes, repair. Never raises; safe to repeat.

    A job that is switched off is left out; one that another process runs is among `failed`.
    """
    reports = [runner.run(name, scope) for name in JOBS if name in runner.jobs]
    counts: dict[str, int] = {}
    for report in reports:
        if report.name == "lifecycle":
            for step, names in _LIFECYCLE.items():
                counts[step] = sum(report.changes.get(name, 0) for name in names)
        else:
            counts[report.name] = report.changed
    return Maintenance(counts, tuple(report for report in reports if report.reason))
