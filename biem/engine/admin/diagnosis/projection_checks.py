"""Whether the values in Redis can be read."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

from biem.domain.diagnosis import Depth, Finding, Limits, Tally
from biem.domain.scope import Scope
from biem.engine.admin.diagnosis.state_checks import around
from biem.ports.diagnosis import Projection
from biem.ports.jobs import ScopeList


class ProjectionCheck:
    """Whether every value of a scope can be read; unreadable ones are also dropped at their next use."""

    needs = frozenset({"postgres", "redis"})

    def __init__(self, scopes: ScopeList, projections: Sequence[Projection], *, random: Random, limits: Limits) -> None:
        self._scopes = scopes
        self._projections = projections
        self._random = random
        self._limits = limits

    def look(self, depth: Depth, seen: Counter[str], *, mend: bool) -> Iterator[Finding]:
        """At most one finding."""
        found = Tally(self._limits.samples)
        for scope in self._all(depth):
            for projection in self._projections:
                seen["projections"] += 1
                if why := projection.spoilt(scope.ns):
                    found.add([why])
                    if mend:
                        projection.drop(scope.ns)
        if found.count:
            yield Finding(
                "projection_spoilt",
                "warning",
                f"{found.count} values in Redis cannot be read",
                "`biem diagnose --fix` drops them; they are rebuilt with use",
                found.count,
                tuple(found.samples),
                "dropped; they are rebuilt with use" if mend else "",
            )

    def _all(self, depth: Depth) -> Iterator[Scope]:
        start = "" if depth.full else f"{self._random.getrandbits(32):08x}"
        most = None if depth.full else self._limits.scopes
        return around(self._scopes.scopes, lambda scope: scope.ns, start, most)
