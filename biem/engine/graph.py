"""The links of one scope in memory: a NetworkX graph that follows the changes of PostgreSQL, read by many threads."""

import threading
from collections.abc import Iterable
from typing import Any

import networkx as nx

from biem.domain.link import DIRECTED, Link
from biem.ports.links import LinkChanges

UNKNOWN = -1
"""The version of a graph that was never loaded."""
NOTHING = LinkChanges(0, True, (), ())
"""What is known of a scope that does not exist: once it does, its versions lie above 0."""
_NONE: frozenset[str] = frozenset()


class ScopeGraph:
    """Edges keyed by type, with `weight` and `strength`. Its lock is never held while waiting for a server."""

    def __init__(self, max_links: int) -> None:
        self.lock = threading.RLock()
        self.loading = threading.Lock()
        self.version = UNKNOWN
        self.edges = 0
        self.links: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        self._max_links = max_links
        self._by_weight: dict[str, tuple[tuple[str, float], ...]] = {}
        self._by_strength: dict[str, tuple[tuple[str, int], ...]] = {}

    def follow(self, since: int, changes: LinkChanges) -> bool:
        """Become the version of `changes`, which were asked for since `since`; False when they no longer fit."""
        if changes is NOTHING and self.version == NOTHING.version:
            return True
        if changes.complete:
            fresh: nx.MultiDiGraph[str] = nx.MultiDiGraph()
            _add(fresh, changes.links)  # readers go on with the old graph meanwhile
            by_weight = {node: _strongest(fresh, node, "weight", self._max_links) for node in fresh}
            with self.lock:
                if self.version in (since, UNKNOWN) or self.version < changes.version:
                    self.links, self.version, self.edges = fresh, changes.version, len(changes.links)
                    self._by_weight, self._by_strength = by_weight, {}
            return True
        with self.lock:
            if self.version >= changes.version:
                return True
            if self.version != since:
                return False
            for source, target, kind in changes.removed:
                if self.links.has_edge(source, target, kind):
                    self.links.remove_edge(source, target, kind)
                    self.edges -= 1
                    self._changed(source, target)
            self.links.remove_nodes_from(
                [
                    node
                    for key in changes.removed
                    for node in key[:2]
                    if node in self.links and not self.links.degree(node)
                ]
            )
            self.edges += sum(not self.links.has_edge(*link.key) for link in changes.links)
            _add(self.links, changes.links)
            for link in changes.links:
                self._changed(link.source, link.target)
            self.version = changes.version
        return True

    def _changed(self, *nodes: str) -> None:
        for node in nodes:
            self._by_weight.pop(node, None)
            self._by_strength.pop(node, None)

    def by_weight(self, node: str) -> tuple[tuple[str, float], ...]:
        """The neighbours over the edges of most weight."""
        known = self._by_weight.get(node)
        if known is None:
            known = self._by_weight[node] = _strongest(self.links, node, "weight", self._max_links)
        return known

    def by_strength(self, node: str) -> tuple[tuple[str, int], ...]:
        """The neighbours over the edges of most strength."""
        known = self._by_strength.get(node)
        if known is None:
            known = self._by_strength[node] = _strongest(self.links, node, "strength", self._max_links)
        return known


def _strongest(graph: "nx.MultiDiGraph[str]", node: str, attribute: str, most: int) -> tuple[tuple[str, Any], ...]:
    """Each neighbour once, with the best of the edges that lead there; ties by id, or two processes disagree."""
    best: dict[str, Any] = {}
    # The dictionaries behind NetworkX's views: the views cost five times as much, and this is the hot path.
    for edges_of, skipped in ((vars(graph)["_succ"], _NONE), (vars(graph)["_pred"], DIRECTED)):
        for other, edges in edges_of.get(node, {}).items():
            for kind, edge in edges.items():
                value = edge[attribute]
                if value > best.get(other, 0) and kind not in skipped:
                    best[other] = value
    ordered = sorted(((value, other) for other, value in best.items()), reverse=True)
    return tuple((other, value) for value, other in ordered[:most])


def _add(graph: "nx.MultiDiGraph[str]", links: Iterable[Link]) -> None:
    for link in links:
        graph.add_edge(link.source, link.target, link.type, weight=link.weight, strength=link.strength)
