"""What somebody who looks through a memory is shown: pages of a list, and a part of the graph."""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from biem.domain.link import Link

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a list, in the list's order."""

    items: tuple[T, ...]
    next: str
    """Given back as `after`, it leads to the page that follows; empty at the end of the list."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An end of a link, as it is drawn."""

    id: str
    type: Literal["memory", "concept"]
    label: str
    """The beginning of a memory's text, or the name of a concept."""
    tier: str = ""
    layer: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class GraphPart:
    """Some links of a scope, with every node that one of them ends in, and no other."""

    nodes: tuple[GraphNode, ...]
    links: tuple[Link, ...]
    next: str
    """As that of `Page`."""


MOST_ON_A_PAGE = 500
