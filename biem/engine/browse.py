"""Looking through a scope: checked pages of memories, and a part of the graph that can be drawn.

It reads PostgreSQL alone, counts no access and changes no energy: who looks does not use.
"""

from typing import get_args

from biem.domain.browse import GraphPart, Page
from biem.domain.node import LAYERS, Node, Tier, parse_id
from biem.domain.scope import Scope
from biem.errors import InvalidInput
from biem.ports.browse import Browser

TIERS: tuple[str, ...] = get_args(Tier)
MOST_LISTED = 500
_LABEL_CHARS = 120


class Look:
    """Answers whoever looks; `browser` reads."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def memories(self, scope: Scope, limit: int, after: str, tier: str | None, layer: str | None) -> Page[Node]:
        """A page of memories, the newest first."""
        require_limit(limit)
        _require_one_of(tier, "tier", TIERS)
        _require_one_of(layer, "layer", LAYERS)
        return self._browser.memories(scope, limit, after=after, tier=tier, layer=layer)

    def graph(self, scope: Scope, limit: int, after: str, around: str | None) -> GraphPart:
        """A page of links, of the scope or around one node, with the nodes they end in."""
        require_limit(limit)
        center = None if around is None else parse_id(around)
        if center is None:
            page = self._browser.links(scope, limit, after=after)
        else:
            page = self._browser.links_around(scope, center, limit, after=after)
        ends = dict.fromkeys(end for link in page.items for end in (link.source, link.target))
        nodes = {node.id: node for node in self._browser.nodes(scope, list(ends), _LABEL_CHARS)}
        # An end that was archived a moment ago takes its links along.
        links = tuple(link for link in page.items if link.source in nodes and link.target in nodes)
        drawn = {end for link in links for end in (link.source, link.target)}
        return GraphPart(tuple(nodes[end] for end in ends if end in drawn), links, page.next)


def require_limit(limit: int) -> None:
    """A whole number that one page can have, or `InvalidInput`."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MOST_LISTED:
        raise InvalidInput(f"limit must be a whole number from 1 to {MOST_LISTED}, not {limit!r}")


def _require_one_of(value: str | None, what: str, known: tuple[str, ...]) -> None:
    if value is not None and value not in known:
        raise InvalidInput(f"{what} {value!r} is unknown; choose one of {', '.join(known)}")
