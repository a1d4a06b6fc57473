"""Browsing a scope: abbreviated ids, and a part of the graph for display.

Reads PostgreSQL only, counts no access and changes no energy.
"""

from collections.abc import Sequence

from biem.domain.designs.biem_node import BiemMemoryNode
from biem.domain.graph_part import GraphNode, GraphPart
from biem.domain.link import Link
from biem.domain.node import DIGITS_OF_ID, Node, id_part, parse_id
from biem.domain.paging import MOST_ON_A_PAGE
from biem.domain.scope import Scope
from biem.domain.text import require_count, require_string, sha256
from biem.engine.graph.associations import Associations
from biem.errors import InvalidInput, NotFound
from biem.ports import Records
from biem.ports.readers import Browser

IDS = ("memory", "conflict")
_LABEL_CHARS = 120
_CANDIDATES = 5
"""Ids listed in the error for an ambiguous abbreviation."""


class MemoryBrowser:
    """Looks up ids and links for display; `browser` reads them."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser

    def whole_id(self, scope: Scope, part: str, of: str) -> str:
        """The only id of the scope that begins or ends with these digits; a whole id is returned unchecked."""
        if of not in IDS:
            raise InvalidInput(f"of {of!r} is unknown; choose one of {', '.join(IDS)}")
        digits = id_part(part)
        if len(digits) == DIGITS_OF_ID:
            return parse_id(digits)
        found = self._browser.ids(scope, digits, of, _CANDIDATES + 1)
        if not found:
            raise NotFound(
                f"no {of} in scope {scope} has an id that begins or ends with {part}; list them, or check the scope"
            )
        if len(found) > 1:
            more = " and more" if len(found) > _CANDIDATES else ""
            named = ", ".join(found[:_CANDIDATES])
            raise InvalidInput(f"{part} may be any of {named}{more}; give more digits of the id")
        return found[0]

    def graph(self, scope: Scope, limit: int, after: str, around: str | None) -> GraphPart:
        """A page of links, of the scope or around one node, with the nodes at their ends."""
        require_count(limit, "limit", MOST_ON_A_PAGE)
        require_string(after, "after")
        center = None if around is None else parse_id(around)
        if center is None:
            page = self._browser.links(scope, limit, after=after)
        else:
            page = self._browser.links_around(scope, center, limit, after=after)
        nodes, links = self._there(scope, page.items)
        drawn = {end for link in links for end in (link.source, link.target)}
        return GraphPart(tuple(node for end, node in nodes.items() if end in drawn), tuple(links), page.next)

    def is_concept(self, scope: Scope, node_id: str) -> bool:
        """Whether a concept of this scope has this id."""
        found = self._browser.nodes(scope, [parse_id(node_id)], 0)
        return any(node.type == "concept" for node in found)

    def shown(self, scope: Scope, links: Sequence[Link]) -> list[Link]:
        """Those of these links of which neither end was archived or has expired."""
        return self._there(scope, links)[1]

    def _there(self, scope: Scope, links: Sequence[Link]) -> tuple[dict[str, GraphNode], list[Link]]:
        ends = dict.fromkeys(end for link in links for end in (link.source, link.target))
        found = {node.id: node for node in self._browser.nodes(scope, list(ends), _LABEL_CHARS)}
        # Links of a node archived a moment ago are left out with it.
        return (
            {end: found[end] for end in ends if end in found},
            [link for link in links if link.source in found and link.target in found],
        )


def portrait(node: Node, *, records: Records, associations: Associations, model: str) -> BiemMemoryNode:
    """A memory as it is now, with its vector by `model` and its links. Raises `StoreUnavailable`."""
    key = sha256(node.indexed_text)
    vector = records.load_vectors(model, [key]).get(key)
    associations.refresh(node.scope)
    return BiemMemoryNode(
        id=node.id,
        content=node.text,
        vector=() if vector is None else tuple(vector.tolist()),
        metadata=node.metadata,
        energy=node.energy,
        initial_energy=node.initial_energy,
        last_accessed=node.accessed_at,
        created_at=node.created_at,
        tier=node.tier,
        links=tuple(associations.neighbours(node.scope, node.id)),
    )
