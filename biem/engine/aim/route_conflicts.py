"""Conflicts of the nodes of a route: with the query, or undecided ones with other memories."""

from collections.abc import Collection, Sequence

from biem.domain.conflict import Statement
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.engine.conflicts.passages import compare
from biem.engine.query.question import is_asked
from biem.ports import Clock
from biem.ports.conflicts import Conflicts
from biem.ports.contradiction import ContradictionRules

_CONTRADICTS = 0.5
"""Confidence from which a rule's verdict counts as a contradiction (`ConflictPolicy.record_confidence`)."""
_STATEMENT_CHARS = 2_000
"""Longer texts are compared by their sentences (`ConflictPolicy.max_statement_chars`)."""


class RouteConflicts:
    """Finds conflicting nodes in the records and by the rules."""

    def __init__(self, conflicts: Conflicts, rules: ContradictionRules, clock: Clock) -> None:
        self._conflicts = conflicts
        self._rules = rules
        self._clock = clock

    def open(self, scope: Scope, ids: Sequence[str]) -> Collection[str]:
        """Those of these memories that are in an undecided conflict."""
        return self._conflicts.open_of(scope.readable, ids)

    def about(self, query: str, nodes: Sequence[Node], conflicting: Collection[str]) -> frozenset[str]:
        """The ids of nodes that are in such a conflict or contradict the query; a question contradicts nothing."""
        found = {node.id for node in nodes if node.id in conflicting}
        if not is_asked(query):
            found |= {node.id for node in nodes if node.id not in found and self._contradicts(query, node)}
        return frozenset(found)

    def _contradicts(self, query: str, node: Node) -> bool:
        told = Statement(node.text, node.speaker, node.at)
        asked = Statement(query, node.speaker, self._clock.now())
        verdict = compare(self._rules, told, asked, None, longest=_STATEMENT_CHARS)
        return verdict is not None and verdict.kind != "duplicate" and verdict.confidence >= _CONTRADICTS
