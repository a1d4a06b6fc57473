"""The association graph: creating links, and spreading activation along them.

PostgreSQL stores the links. A process keeps a graph of each scope it uses, loaded at first use and updated by
`refresh`, which requests the version and the changes since the known one in a single round trip. Without PostgreSQL,
`spread` uses the graph loaded last. The least recently used scopes are dropped.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from biem.domain.link import Link, Moment, NewLink, semantic_links, temporal_links
from biem.domain.policies.graph import GraphPolicy
from biem.domain.scope import Scope
from biem.domain.spreading import multiplicative, subtractive
from biem.engine.graph.scope_graph import NOTHING, UNKNOWN, ScopeGraph
from biem.errors import BiemError
from biem.ports import Clock, Vector, Vectors
from biem.ports.links import Links
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.graph")

Strategy = Literal["multiplicative", "subtractive"]
_LOADING_S = 3.0
"""How long one thread waits for another that loads the same graph, before it loads the graph itself."""
_GRAPH_EDGES = 20
"""The cost of an empty graph, in edges: many small scopes need memory, too."""


@dataclass(frozen=True, slots=True)
class Linkable:
    """A memory to be linked, with its most similar memories: ids and calibrated similarities."""

    memory: Moment
    nearest: Sequence[tuple[str, float]] = ()
    vector: Vector | None = None
    """If set, memories linked in the same call are compared with each other, too."""


class Associations:
    """Links memories, and spreads activation over the graphs of a scope and of what it may read. Thread-safe."""

    def __init__(
        self,
        *,
        links: Links,
        clock: Clock,
        policy: GraphPolicy,
        telemetry: Telemetry,
        similarity: Callable[[Vector, Vectors], NDArray[np.float32]] | None = None,
    ) -> None:
        self._links = links
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry
        self._similarity = similarity
        self._graphs: OrderedDict[Scope, ScopeGraph] = OrderedDict()
        self._lock = threading.Lock()

    # -- linking ----------------------------------------------------------------------------------------------------

    def link_new(self, scope: Scope, entries: Sequence[Linkable]) -> int:
        """Link newly encoded memories in time and meaning; returns how many links were written. Safe to repeat.

        Memories that were archived and restored get their former links back.
        """
        policy = self._policy
        if not entries:
            return 0
        with self._telemetry.span("biem.link", memories=len(entries)) as span:
            memories = [entry.memory for entry in entries]
            earlier = self._links.earlier(
                scope, memories, most=policy.temporal_links, window_s=policy.temporal_window_s
            )
            found: list[NewLink] = []
            for entry in entries:
                memory = entry.memory
                found += temporal_links(
                    memory, earlier[memory.id], most=policy.temporal_links, window_s=policy.temporal_window_s
                )
                found += semantic_links(memory.id, entry.nearest, above=policy.semantic_similarity)
            found += self._links_among(entries)
            now = self._clock.now()
            written = self._links.restore(scope, [memory.id for memory in memories], now)
            written += self._links.connect(scope, found, now)
            span.add(links=written)
        return written

    def _links_among(self, entries: Sequence[Linkable]) -> list[NewLink]:
        """Semantic links among the entries themselves, which the vector index may not return yet."""
        known = [(entry.memory.id, entry.vector) for entry in entries if entry.vector is not None]
        if self._similarity is None or len(known) < 2:
            return []
        ids, vectors = [node for node, _ in known], np.stack([vector for _, vector in known])
        links: list[NewLink] = []
        for place in range(len(known) - 1):
            rest = slice(place + 1, None)
            alike = zip(ids[rest], self._similarity(vectors[place], vectors[rest]).tolist(), strict=True)
            links += semantic_links(ids[place], alike, above=self._policy.semantic_similarity)
        return links

    def remembered(self, scope: Scope, ids: Sequence[str]) -> None:
        """Add new memories to the graph of their scope, if this process has it; their links come later."""
        with self._lock:
            graph = self._graphs.get(scope)
        if graph is not None:
            graph.add(ids)

    def holds(self, scope: Scope, node: str) -> bool:
        """Whether a memory or concept is in the graph of exactly this scope as last refreshed, linked or not."""
        with self._lock:
            graph = self._graphs.get(scope)
        return graph is not None and node in graph.links

    def archived(self, ns: str, ids: Sequence[str]) -> int:
        """Remove archived memories and their links from the graph until they are restored; returns how many links."""
        with self._lock:
            graphs = [graph for scope, graph in self._graphs.items() if scope.ns == ns]
        for graph in graphs:
            graph.remove(ids)
        return self._links.purge(ns, ids, self._clock.now())

    def tend(self, scope: Scope) -> dict[str, int]:
        """One run of the job `links`: prune each node to its strongest links, and delete old traces. Writes nothing
        when idle.
        """
        policy, now = self._policy, self._clock.now()
        with self._telemetry.span("biem.graph.tend") as span:
            pruned = self._links.prune(scope, policy.max_links, policy.tend_links, now)
            span.add(pruned=pruned)
            return {
                "pruned": pruned,
                "traces": self._links.compact(scope, now - timedelta(days=policy.trace_days), policy.tend_links),
            }

    # -- spreading --------------------------------------------------------------------------------------------------

    def refresh(self, scope: Scope) -> None:
        """Load every link committed until now in the scopes that `scope` may read: one round trip when nothing changed.

        Raises `StoreUnavailable` and keeps the known graph.
        """
        with self._telemetry.span("biem.graph.refresh") as span, ExitStack() as loading:
            graphs = {readable: self._graph(readable) for readable in scope.readable}
            links, larger = 0, False
            for readable in sorted(graphs, key=_by_ns):
                graph = graphs[readable]
                if graph.version == UNKNOWN and graph.loading.acquire(timeout=_LOADING_S):
                    loading.callback(graph.loading.release)
            while graphs:  # another thread may have been faster; then the changes no longer fit
                known = {readable: graph.version for readable, graph in graphs.items()}
                larger = larger or UNKNOWN in known.values()
                changes = self._links.changes(known)
                links += sum(len(change.links) for change in changes.values())
                graphs = {
                    readable: graph
                    for readable, graph in graphs.items()
                    if not graph.follow(known[readable], changes.get(readable, NOTHING))
                }
            span.add(links=links)
            if links or larger:
                self._make_room()

    def refresh_or_stale(self, scope: Scope) -> None:
        """As `refresh`, for a caller that can use the known graph while PostgreSQL is away: it is logged."""
        try:
            self.refresh(scope)
        except BiemError as error:
            logger.warning("recall uses a stale graph: %s", error)

    def spread(
        self,
        scope: Scope,
        seeds: Mapping[str, float],
        *,
        strategy: Strategy = "multiplicative",
        hops: int | None = None,
        decay: float | None = None,
        max_depth: int | None = None,
    ) -> dict[str, float]:
        """Activation of the seeds and of all nodes they reach in the graphs as last refreshed; seeds are in [0, 1].

        *multiplicative*: `hops`, `decay`, result in [0, 1]; *subtractive*: `max_depth`, results add up above 1.
        """
        policy = self._policy
        with self._telemetry.span("biem.graph.spread", seeds=len(seeds)) as span, ExitStack() as held:
            graphs = self._locked_graphs(scope, held)
            if strategy == "multiplicative":
                found = multiplicative(
                    _of_any([graph.by_weight for graph in graphs]),
                    seeds,
                    hops=policy.hops if hops is None else hops,
                    decay=policy.decay if decay is None else decay,
                )
            else:
                found = subtractive(
                    _of_any([graph.by_strength for graph in graphs]),
                    seeds,
                    max_depth=policy.max_depth if max_depth is None else max_depth,
                )
            span.add(activated=len(found))
        return found

    def neighbours(self, scope: Scope, node: str) -> list[Link]:
        """The links of a node in the graphs as last refreshed, greatest weight first."""
        with ExitStack() as held:
            links = [
                Link(source, target, kind, edge["weight"], edge["strength"])
                for graph in self._locked_graphs(scope, held)
                if node in graph.links
                for edges in (graph.links.out_edges, graph.links.in_edges)
                for source, target, kind, edge in edges([node], keys=True, data=True)
            ]
        return sorted(links, key=lambda link: (-link.weight, -link.strength, link.key))

    def drop(self, scope: Scope) -> None:
        """Drop the graph of exactly this scope; the next refresh loads it again."""
        with self._lock:
            self._graphs.pop(scope, None)

    @property
    def edges(self) -> int:
        """Links held in this process, of all scopes."""
        with self._lock:
            return sum(graph.edges for graph in self._graphs.values())

    def _graph(self, scope: Scope) -> ScopeGraph:
        with self._lock:
            graph = self._graphs.setdefault(scope, ScopeGraph(self._policy.max_links))
            self._graphs.move_to_end(scope)
            return graph

    def _locked_graphs(self, scope: Scope, held: ExitStack) -> list[ScopeGraph]:
        """The graphs that a scope may read, locked in a fixed order, so that no two threads deadlock."""
        with self._lock:
            graphs = [
                self._graphs[readable] for readable in sorted(scope.readable, key=_by_ns) if readable in self._graphs
            ]
        for graph in graphs:
            held.enter_context(graph.lock)
        return graphs

    def _make_room(self) -> None:
        with self._lock:
            room = self._policy.max_edges - sum(graph.edges + _GRAPH_EDGES for graph in self._graphs.values())
            while room < 0 and len(self._graphs) > 1:
                _, oldest = self._graphs.popitem(last=False)
                room += oldest.edges + _GRAPH_EDGES


_Tie = TypeVar("_Tie")


def _of_any(lookups: Sequence[Callable[[str], tuple[_Tie, ...]]]) -> Callable[[str], tuple[_Tie, ...]]:
    """The neighbours of a node in the one graph that contains it."""
    if len(lookups) == 1:
        return lookups[0]
    return lambda node: next((found for lookup in lookups if (found := lookup(node))), ())


def _by_ns(scope: Scope) -> str:
    return scope.ns
