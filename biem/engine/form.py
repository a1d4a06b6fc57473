"""What a new memory becomes part of, while it is encoded: conflicts are noticed, links are made, hot ones enter L1.

`relate` runs before the memory becomes active and may be repeated after a crash; `settle` runs after, and what it
misses is made good by the sweep of the tiers.
"""

from collections import defaultdict
from collections.abc import Sequence

from biem.domain.link import Moment
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.engine.association import Associations, Linkable
from biem.engine.conflicts import ConflictChecker, Fresh
from biem.engine.instant import InstantMaker
from biem.engine.tiers import Tiers
from biem.ports import Vector
from biem.telemetry import Telemetry

Embedded = tuple[Node, Vector]


class Former:
    """Gives memories their place among the others."""

    def __init__(
        self,
        *,
        checker: ConflictChecker,
        associations: Associations,
        tiers: Tiers,
        instants: InstantMaker,
        telemetry: Telemetry,
    ) -> None:
        self._checker = checker
        self._associations = associations
        self._tiers = tiers
        self._instants = instants
        self._telemetry = telemetry

    def relate(self, memories: Sequence[Embedded]) -> None:
        """Notice what contradicts and link what belongs together; the embedding cache must hold the vectors."""
        scopes: dict[Scope, list[Embedded]] = defaultdict(list)
        for node, vector in memories:
            scopes[node.scope].append((node, vector))
        with self._telemetry.span("biem.encode.relate", rows=len(memories)):
            for scope, part in scopes.items():
                checked = self._checker.check(scope, [Fresh(node, vector) for node, vector in part])
                self._associations.link_new(
                    scope,
                    [
                        Linkable(
                            Moment(node.id, node.at, node.write_seq, node.conversation), checked.near.get(node.id, ())
                        )
                        for node, _ in part
                    ],
                )

    def settle(self, memories: Sequence[Embedded], hot: frozenset[str]) -> None:
        """Put the `hot` ones into the canvas and note what is worth it; a cache or model that is down is no error."""
        with self._telemetry.span("biem.encode.settle", rows=len(memories)):
            self._tiers.enter([(node, vector) for node, vector in memories if node.id in hot])
            for node, _ in memories:
                self._instants.create_and_store_memory(node)


def _moment(node: Node) -> Moment:
    return Moment(node.id, node.at, node.write_seq, node.conversation)
