"""The links of one scope in memory, which follow the changes of PostgreSQL and are read by many threads."""

import threading
from collections.abc import Iterable, Iterator

from biem.domain.link import DIRECTED, Link
from biem.ports.links import LinkChanges

UNKNOWN = -1
"""The version of a graph that was never loaded."""
NOTHING = LinkChanges(0, True, (), ())
"""What is known of a scope that does not exist: once it does, its versions lie above 0."""
_NONE: frozenset[str] = frozenset()
_ADDED_KEPT = 1_000
"""New nodes remembered beside the graph: one loaded meanwhile may have been read before they were committed."""


class Network:
    """Links by their ends and type. A dictionary of dictionaries, as a graph library would have it: there is nothing
    else to it, and loading one took a tenth of the time of a command."""

    def __init__(self, nodes: Iterable[str] = ()) -> None:
        self.leaving: dict[str, dict[str, dict[str, Link]]] = {node: {} for node in nodes}
        """By source, target and type."""
        self.coming: dict[str, dict[str, dict[str, Link]]] = {node: {} for node in self.leaving}
        """By target, source and type."""

    def __contains__(self, node: object) -> bool:
        return node in self.leaving

    def add_node(self, node: str) -> None:
        """Have a node; one that is there keeps its links."""
        self.leaving.setdefault(node, {})
        self.coming.setdefault(node, {})

    def drop_lonely(self, nodes: Iterable[str]) -> None:
        """Have those of these nodes no more that have no links."""
        for node in nodes:
            if node in self and not self.leaving[node] and not self.coming[node]:
                del self.leaving[node], self.coming[node]

    def has(self, source: str, target: str, kind: str) -> bool:
        """Whether there is this link."""
        return kind in self.leaving.get(source, {}).get(target, {})

    def add(self, link: Link) -> None:
        """Have a link and its ends, in place of the one of the same ends and type."""
        for node in (link.source, link.target):
            self.add_node(node)
        self.leaving[link.source].setdefault(link.target, {})[link.type] = link
        self.coming[link.target].setdefault(link.source, {})[link.type] = link

    def remove(self, source: str, target: str, kind: str) -> None:
        """Have a link no more, which is there; its ends stay."""
        for ends, one, other in ((self.leaving, source, target), (self.coming, target, source)):
            del ends[one][other][kind]
            if not ends[one][other]:
                del ends[one][other]

    def of(self, node: str) -> Iterator[Link]:
        """The links of a node, those that leave first; a link to itself twice."""
        for ends in (self.leaving, self.coming):
            for links in ends.get(node, {}).values():
                yield from links.values()


class ScopeGraph:
    """What a process knows of one scope. Its lock is never held while waiting for a server."""

    def __init__(self, max_links: int) -> None:
        self.lock = threading.RLock()
        self.loading = threading.Lock()
        self.version = UNKNOWN
        self.edges = 0
        self.links = Network()
        self._max_links = max_links
        self._added: dict[str, None] = {}
        self._by_weight: dict[str, tuple[tuple[str, float], ...]] = {}
        self._by_strength: dict[str, tuple[tuple[str, int], ...]] = {}

    def add(self, nodes: Iterable[str]) -> None:
        """Have new nodes, which nothing is linked with yet. A graph that was never loaded gets them by loading."""
        with self.lock:
            for node in nodes:
                self._added[node] = None
                if self.version != UNKNOWN:
                    self.links.add_node(node)
            while len(self._added) > _ADDED_KEPT:
                del self._added[next(iter(self._added))]

    def remove(self, nodes: Iterable[str]) -> None:
        """Have these nodes no more, as far as they have no links; links leave by `follow`."""
        with self.lock:
            for node in nodes:
                self._added.pop(node, None)
                self.links.drop_lonely([node])

    def follow(self, since: int, changes: LinkChanges) -> bool:
        """Become the version of `changes`, which were asked for since `since`; False when they no longer fit."""
        if changes is NOTHING and self.version == NOTHING.version:
            return True
        if changes.complete:
            fresh = Network(changes.nodes)  # readers go on with the old graph meanwhile
            for link in changes.links:
                fresh.add(link)
            by_weight: dict[str, tuple[tuple[str, float], ...]] = {}
            by_strength: dict[str, tuple[tuple[str, int], ...]] = {}
            for node in {end for link in changes.links for end in (link.source, link.target)}:
                by_weight[node], by_strength[node] = _strongest(fresh, node, self._max_links)
            with self.lock:
                if self.version in (since, UNKNOWN) or self.version < changes.version:
                    self.links, self.version, self.edges = fresh, changes.version, len(changes.links)
                    self._by_weight, self._by_strength = by_weight, by_strength
                    for node in self._added:
                        self.links.add_node(node)
            return True
        with self.lock:
            if self.version >= changes.version:
                return True
            if self.version != since:
                return False
            for source, target, kind in changes.removed:
                if self.links.has(source, target, kind):
                    self.links.remove(source, target, kind)
                    self.edges -= 1
                    self._changed(source, target)
            self.links.drop_lonely(node for key in changes.removed for node in key[:2])
            for link in changes.links:
                self.edges += not self.links.has(*link.key)
                self.links.add(link)
                self._changed(link.source, link.target)
            self.version = changes.version
        return True

    def _changed(self, *nodes: str) -> None:
        for node in nodes:
            self._by_weight.pop(node, None)
            self._by_strength.pop(node, None)

    def by_weight(self, node: str) -> tuple[tuple[str, float], ...]:
        """The neighbours over the edges of most weight; none of a node that is not in this graph."""
        found = self._by_weight.get(node)
        return self._looked_up(node)[0] if found is None else found

    def by_strength(self, node: str) -> tuple[tuple[str, int], ...]:
        """The neighbours over the edges of most strength; those of strength 1, which transmit nothing, are left out."""
        found = self._by_strength.get(node)
        return self._looked_up(node)[1] if found is None else found

    def _looked_up(self, node: str) -> "_Neighbours":
        if node not in self.links:
            return (), ()
        found = self._by_weight[node], self._by_strength[node] = _strongest(self.links, node, self._max_links)
        return found


_Neighbours = tuple[tuple[tuple[str, float], ...], tuple[tuple[str, int], ...]]


def _strongest(graph: Network, node: str, most: int) -> _Neighbours:
    """Each neighbour once, by the weight and by the strength of the best of the edges that lead there.

    Ties by id, or two processes disagree.
    """
    weights: dict[str, float] = {}
    strengths: dict[str, int] = {}
    for ends, skipped in ((graph.leaving, _NONE), (graph.coming, DIRECTED)):
        for other, links in ends.get(node, {}).items():
            for kind, link in links.items():
                if kind in skipped:
                    continue
                weight, strength = link.weight, link.strength
                if weight > weights.get(other, 0):
                    weights[other] = weight
                if strength > strengths.get(other, 1):
                    strengths[other] = strength
    heaviest = sorted(((value, other) for other, value in weights.items()), reverse=True)[:most]
    closest = sorted(((value, other) for other, value in strengths.items()), reverse=True)[:most]
    return tuple((other, weight) for weight, other in heaviest), tuple((other, value) for value, other in closest)
