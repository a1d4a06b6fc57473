"""Runs every check and, with `mend`, the safe repairs, then checks again whether they were sufficient.

Servers first: checks that need an unavailable server are skipped. A check that fails becomes a finding.
"""

import logging
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from biem.domain.diagnosis import Depth, Diagnosis, Finding, Limits
from biem.errors import BiemError
from biem.ports import Work
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.diagnose")

_ORDER = ("error", "warning", "note")


class Check(Protocol):
    """One check."""

    @property
    def needs(self) -> frozenset[str]:
        """Names of the servers that it needs."""

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:
        """The findings; with `mend`, each tells what was repaired. `seen` counts what was examined.

        Changes nothing without `mend`.
        """


class Diagnoser:
    """All checks of one system."""

    def __init__(
        self,
        places: Sequence[Check],
        *,
        contents: Callable[[], Sequence[Check]],
        work: Work | None = None,
        limits: Limits,
        telemetry: Telemetry,
    ) -> None:
        """`contents` builds the checks that need our schema, once PostgreSQL is known to have it.

        `work`: one batch of background work, for repairs that are left to workers.
        """
        self._places = places
        self._contents = contents
        self._built: Sequence[Check] | None = None
        self._work = work
        self._limits = limits
        self._telemetry = telemetry

    def look(self, depth: Depth | None = None) -> Diagnosis:
        """Run all checks and change nothing."""
        return self._all(depth or Depth(), mend=False)

    def mend(self, depth: Depth | None = None) -> Diagnosis:
        """Repair what can be repaired, run the resulting jobs, and check again.

        A finding that is still present afterwards counts as not repaired.
        """
        depth = depth or Depth()
        first = self._all(depth, mend=True)
        if not any(finding.mended for finding in first.findings):
            return first
        self._run_jobs()
        left = {finding.id: finding for finding in self._all(depth, mend=False).findings}
        told = [
            finding.evolve(mended="") if finding.id in left else finding
            for finding in first.findings
            if finding.id not in left or finding.mended
        ]
        known = {finding.id for finding in told}
        told += [finding for finding in left.values() if finding.id not in known]
        return Diagnosis(_sorted(told), first.looked_at, first.whole)

    def _all(self, depth: Depth, *, mend: bool) -> Diagnosis:
        seen: Counter[str] = Counter()
        found: list[Finding] = []
        with self._telemetry.span("biem.diagnose", full=depth.full, mend=mend) as span:
            for check in self._places:
                self._look(check, depth, seen, found, mend=mend)
            if not any(finding.blocks == "postgres" for finding in found):
                for check in self._inside():
                    self._look(check, depth, seen, found, mend=mend)
            span.add(findings=len(found))
        return Diagnosis(_sorted(found), dict(seen), depth.full and not depth.after)

    def _inside(self) -> Sequence[Check]:
        if self._built is None:
            self._built = self._contents()
        return self._built

    def _look(self, check: Check, depth: Depth, seen: Counter[str], found: list[Finding], *, mend: bool) -> None:
        if check.needs & {finding.blocks for finding in found}:
            return
        try:
            found += check.look(depth, seen, mend=mend)
        except BiemError as error:
            what = f"{type(check).__name__} failed: {error}"
            found.append(Finding("check_failed", "error", what, "run it again when the servers answer"))

    def _run_jobs(self) -> None:
        """Run the jobs that repairs queued; a worker elsewhere may take some of them."""
        if self._work is None:
            return
        try:
            for _ in range(self._limits.rounds):
                if not self._work():
                    return
        except BiemError as error:
            logger.warning("the remaining jobs wait for a worker: %s", error)


def _sorted(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (_ORDER.index(finding.severity), finding.id)))
