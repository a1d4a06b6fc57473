"""Values for display: pages of a list, and a part of the graph."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from biem.domain.link import Link

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """One page of a list, in the list's order."""

    items: tuple[T, ...]
    next: str
    """The cursor of the next page, to be passed as `after`; empty at the end of the list."""


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
    """As in `Page`."""


MOST_ON_A_PAGE = 500
