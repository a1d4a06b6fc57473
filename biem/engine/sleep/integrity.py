"""The last job of the night: finds what should not be there and mends it, at most a bounded number of faults a run.

Databases keep most promises by constraints; what is left are promises between tables that are written in two steps.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from biem.domain.scope import Scope
from biem.engine.sleep.jobs import Run
from biem.ports import Clock
from biem.ports.links import Links


class Integrity:
    """The job `integrity` of a scope: its own check of the links, and those that other parts bring along.

    Each check mends what it finds and returns how much that was, by kind.
    """

    def __init__(self, *, links: Links, checks: Sequence[Run], clock: Clock, limit: int) -> None:
        self._links = links
        self._checks = (*checks, self._dangling)
        self._clock = clock
        self._limit = limit

    def mend(self, scope: Scope) -> Mapping[str, int]:
        """Run every check once; what was mended, by kind."""
        mended: Counter[str] = Counter()
        for check in self._checks:
            mended.update(check(scope))
        return dict(mended)

    def _dangling(self, scope: Scope) -> Mapping[str, int]:
        """Links to what is no node: parked, because what was archived a moment ago may be restored."""
        ends = self._links.dangling(scope, self._limit)
        return {"dangling_links": self._links.park(scope, ends, self._clock.now()) if ends else 0}
