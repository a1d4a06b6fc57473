"""The links of one scope in memory: a NetworkX graph that follows the changes in PostgreSQL, read by many threads.

A process that only loads links and asks for the strongest, such as one recall on the command line, builds no graph and
imports no NetworkX.
"""

import threading
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from biem.domain.link import DIRECTED, Link
from biem.ports.links import LinkChanges

if TYPE_CHECKING:
    import networkx as nx

UNKNOWN = -1
"""The version of a graph that was never loaded."""
NOTHING = LinkChanges(0, True, (), ())
"""The changes of a scope that does not exist: once it does, its versions are above 0."""
_NONE: frozenset[str] = frozenset()
_ADDED_KEPT = 1_000
"""Recently added nodes, kept separately: a graph loaded concurrently may have been read before they were committed."""


class ScopeGraph:
    """Edges keyed by type, with `weight` and `strength`. Its lock is never held while waiting for a server."""

    def __init__(self, max_links: int) -> None:
        self.lock = threading.RLock()
        self.loading = threading.Lock()
        self.version = UNKNOWN
        self.edges = 0
        self._loaded = NOTHING
        self._links: nx.MultiDiGraph[str] | None = None
        self._max_links = max_links
        self._added: dict[str, None] = {}
        self._by_weight: dict[str, tuple[tuple[str, float], ...]] = {}
        self._by_strength: dict[str, tuple[tuple[str, int], ...]] = {}

    @property
    def links(self) -> "nx.MultiDiGraph[str]":
        """The graph, built from what was loaded when it is first asked for."""
        with self.lock:
            if self._links is None:
                import networkx as nx  # noqa: PLC0415  a recall on the command line needs no graph

                self._links = nx.MultiDiGraph()
                self._links.add_nodes_from(self._loaded.nodes)
                _add(self._links, self._loaded.links)
                if self.version != UNKNOWN:
                    self._links.add_nodes_from(self._added)
                self._loaded = NOTHING
            return self._links

    def add(self, nodes: Iterable[str]) -> None:
        """Add new nodes, which have no links yet. A graph that was never loaded gets them by loading."""
        with self.lock:
            for node in nodes:
                self._added[node] = None
                if self.version != UNKNOWN:
                    self.links.add_node(node)
            while len(self._added) > _ADDED_KEPT:
                del self._added[next(iter(self._added))]

    def remove(self, nodes: Iterable[str]) -> None:
        """Remove these nodes if they have no links; links are removed by `follow`."""
        with self.lock:
            for node in nodes:
                self._added.pop(node, None)
                if node in self.links and not self.links.degree(node):
                    self.links.remove_node(node)

    def follow(self, since: int, changes: LinkChanges) -> bool:
        """Apply `changes`, which were requested since version `since`; False when they no longer fit."""
        if changes is NOTHING and self.version == NOTHING.version:
            return True
        if changes.complete:
            by_weight: dict[str, tuple[tuple[str, float], ...]] = {}
            by_strength: dict[str, tuple[tuple[str, int], ...]] = {}
            for node, edges in _passable(changes.links).items():  # readers keep using the old graph meanwhile
                by_weight[node], by_strength[node] = _strongest(edges, self._max_links)
            with self.lock:
                if self.version in (since, UNKNOWN) or self.version < changes.version:
                    self._links, self._loaded = None, changes
                    self.version, self.edges = changes.version, len(changes.links)
                    self._by_weight, self._by_strength = by_weight, by_strength
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
        """The neighbours over the edges of most weight; none for a node that is not in this graph."""
        found = self._by_weight.get(node)
        return self._looked_up(node)[0] if found is None else found

    def by_strength(self, node: str) -> tuple[tuple[str, int], ...]:
        """The neighbours over the edges of most strength; those of strength 1, which transmit nothing, are left out."""
        found = self._by_strength.get(node)
        return self._looked_up(node)[1] if found is None else found

    def _looked_up(self, node: str) -> "_Neighbours":
        graph = self._links
        if graph is None or node not in graph:  # all links of a graph that is not built yet are looked up already
            return (), ()
        found = self._by_weight[node], self._by_strength[node] = _strongest(_edges(graph, node), self._max_links)
        return found


_Neighbours = tuple[tuple[tuple[str, float], ...], tuple[tuple[str, int], ...]]


_Edge = tuple[str, float, int]
"""Where it leads to, weight, strength."""


def _passable(links: Iterable[Link]) -> dict[str, list[_Edge]]:
    """The edges that lead from each end of these links."""
    found: defaultdict[str, list[_Edge]] = defaultdict(list)
    for link in links:
        found[link.source].append((link.target, link.weight, link.strength))
        back = found[link.target]
        if link.type not in DIRECTED:
            back.append((link.source, link.weight, link.strength))
    return found


def _edges(graph: "nx.MultiDiGraph[str]", node: str) -> Iterator[_Edge]:
    """The edges that lead from a node.

    From the dictionaries behind NetworkX's views: the views are five times as slow, and this is the hot path.
    """
    for edges_of, skipped in ((vars(graph)["_succ"], _NONE), (vars(graph)["_pred"], DIRECTED)):
        for other, edges in edges_of.get(node, {}).items():
            for kind, edge in edges.items():
                if kind not in skipped:
                    yield other, edge["weight"], edge["strength"]


def _strongest(edges: Iterable[_Edge], most: int) -> _Neighbours:
    """Each neighbour once, with the weight and the strength of its best edge.

    Ties by id, or two processes would differ.
    """
    weights: dict[str, float] = {}
    strengths: dict[str, int] = {}
    for other, weight, strength in edges:
        if weight > weights.get(other, 0):
            weights[other] = weight
        if strength > strengths.get(other, 1):
            strengths[other] = strength
    heaviest = sorted(((value, other) for other, value in weights.items()), reverse=True)[:most]
    closest = sorted(((value, other) for other, value in strengths.items()), reverse=True)[:most]
    return tuple((other, weight) for weight, other in heaviest), tuple((other, value) for value, other in closest)


def _add(graph: "nx.MultiDiGraph[str]", links: Iterable[Link]) -> None:
    for link in links:
        graph.add_edge(link.source, link.target, link.type, weight=link.weight, strength=link.strength)
