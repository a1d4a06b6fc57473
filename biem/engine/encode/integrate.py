"""Connects new memories with existing ones during encoding: detects conflicts, makes links, puts hot ones into L1.

`relate` runs before the memory becomes active and may be repeated after a crash; `settle` runs after, and the sweep of
the tiers repairs what it misses.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from biem.domain.link import Moment
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.domain.trust import UNTRUSTED
from biem.engine.concepts.instant_memory import InstantMaker
from biem.engine.conflicts.detect import ConflictChecker, Fresh
from biem.engine.graph.associations import Associations, Linkable
from biem.engine.life.tiers import Tiers
from biem.ports import Vector
from biem.telemetry import Telemetry

Embedded = tuple[Node, Vector]
Near = Mapping[str, Sequence[tuple[str, float]]]
"""For each new memory the ids of the most similar ones with their similarity, nearest first."""
Admit = Callable[[Scope, Sequence[Embedded], Near, Mapping[str, float]], frozenset[str]]
"""Decides which of these memories of one scope are formed, given the confidence of each one's surest conflict."""


class Integrator:
    """Connects new memories with existing ones."""

    def __init__(
        self,
        *,
        checker: ConflictChecker,
        admit: Admit,
        associations: Associations,
        tiers: Tiers,
        instants: InstantMaker,
        telemetry: Telemetry,
    ) -> None:
        self._checker = checker
        self._admit = admit
        self._associations = associations
        self._tiers = tiers
        self._instants = instants
        self._telemetry = telemetry

    def relate(self, memories: Sequence[Embedded]) -> None:
        """Detect conflicts, decide which are formed, and link these; the embedding cache must hold the vectors.

        Untrusted memories are left out.
        """
        scopes: dict[Scope, list[Embedded]] = defaultdict(list)
        for node, vector in _believed(memories):
            scopes[node.scope].append((node, vector))
        with self._telemetry.span("biem.encode.relate", rows=len(memories)):
            for scope, part in scopes.items():
                checked = self._checker.check(scope, [Fresh(node, vector) for node, vector in part])
                surest: dict[str, float] = {}
                for conflict in checked.conflicts:
                    surest[conflict.newer_id] = max(conflict.confidence, surest.get(conflict.newer_id, 0.0))
                formed = self._admit(scope, part, checked.near, surest)
                linkable = [
                    Linkable(_moment(node), checked.near.get(node.id, ())) for node, _ in part if node.id in formed
                ]
                self._associations.link_new(scope, linkable)

    def settle(self, memories: Sequence[Embedded], hot: frozenset[str], noted: frozenset[str] = frozenset()) -> None:
        """Put the `hot` ones into the canvas and make instant memories of all that are not `noted`; a cache or model
        that is down is no error.
        """
        with self._telemetry.span("biem.encode.settle", rows=len(memories)):
            self._tiers.enter([(node, vector) for node, vector in memories if node.id in hot])
            fresh = [node for node, _ in _believed(memories) if node.id not in noted]
            self._instants.create_and_store_memories(fresh)


def _moment(node: Node) -> Moment:
    return Moment(node.id, node.at, node.write_seq, node.conversation)


def _believed(memories: Sequence[Embedded]) -> list[Embedded]:
    return [(node, vector) for node, vector in memories if node.trust != UNTRUSTED]
