"""Numbers of links and of spreading activation."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphPolicy:
    """How memories and concepts are linked, and how activation spreads between them."""

    semantic_similarity: float = 0.7
    """Memories more similar than this are linked."""
    temporal_links: int = 5
    """The last memories of the same conversation that a new one is linked to."""
    temporal_window_s: float = 300.0
    """They are less than this older."""
    max_links: int = 50
    """Links a node keeps, and neighbours that spreading looks at; the weakest go. Bounds the cost of spreading."""
    tend_links: int = 2_000
    """Changed links whose ends one run of pruning looks at, and traces that it clears; the rest waits for the next."""
    seeds: int = 5
    hops: int = 2
    decay: float = 0.5
    """Per hop."""
    max_depth: int = 3
    """Of subtractive spreading."""
    max_edges: int = 1_000_000
    """Edges that a process holds, of all scopes together: 0.7 GB. The graphs used longest ago are dropped."""
    trace_days: float = 7.0
    """A process idle for longer than this loads its graphs anew: traces of removed links are not kept for ever."""
