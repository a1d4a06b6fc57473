"""Numbers of links and of spreading activation."""

from dataclasses import dataclass

from biem.domain.policies.bounds import Size


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """How memories and concepts are linked, and how activation spreads between them."""

    semantic_similarity: float = 0.7
    """Memories more similar than this are linked."""
    temporal_links: int = 5
    """The last memories of the same conversation that a new one is linked to."""
    temporal_window_s: float = 300.0
    """Their maximum age relative to the new one."""
    max_links: Size = 50
    """Links a node keeps, and neighbours that spreading visits; the weakest are removed. Bounds the cost of
    spreading.
    """
    tend_links: int = 2_000
    """Changed links whose ends one run of pruning examines, and traces that it deletes; the rest waits for the next."""
    seeds: int = 5
    hops: int = 2
    decay: float = 0.5
    """Per hop."""
    max_depth: int = 3
    """Of subtractive spreading."""
    max_edges: int = 1_000_000
    """Edges that a process holds, over all scopes: 0.7 GB. The least recently used graphs are dropped."""
    trace_days: float = 7.0
    """Time for which traces of removed links are kept; a process idle for longer reloads its graphs."""
