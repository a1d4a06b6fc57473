"""A part of the graph of memories and concepts, for display."""

from dataclasses import dataclass
from typing import Literal

from biem.domain.link import Link


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An end of a link, for display."""

    id: str
    type: Literal["memory", "concept"]
    label: str
    """The beginning of a memory's text, or the name of a concept."""
    tier: str = ""
    layer: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class GraphPart:
    """Some links of a scope, with exactly the nodes they connect."""

    nodes: tuple[GraphNode, ...]
    links: tuple[Link, ...]
    next: str
    """The cursor of the next part, to be passed as `after`; empty after the last."""
