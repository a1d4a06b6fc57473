"""The last job of a sleep: finds and repairs inconsistencies, a bounded number of faults per run.

Most invariants are database constraints; this checks those between tables that are written in two steps.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from biem.domain.scope import Scope
from biem.engine.sleep.jobs import Run
from biem.ports import Clock
from biem.ports.links import Links


class Integrity:
    """The job `integrity` of a scope: its own check of the links, and those registered by other parts.

    Each check repairs its findings and returns their numbers by kind.
    """

    def __init__(self, *, links: Links, checks: Sequence[Run], clock: Clock, limit: int) -> None:
        self._links = links
        self._checks = (*checks, self._dangling)
        self._clock = clock
        self._limit = limit

    def mend(self, scope: Scope) -> Mapping[str, int]:
        """Run every check once; returns the number of repairs by kind."""
        mended: Counter[str] = Counter()
        for check in self._checks:
            mended.update(check(scope))
        return dict(mended)

    def _dangling(self, scope: Scope) -> Mapping[str, int]:
        """Links to missing nodes: parked, because a memory archived a moment ago may be restored."""
        ends = self._links.dangling(scope, self._limit)
        return {"dangling_links": self._links.park(scope, ends, self._clock.now()) if ends else 0}
