"""Lists for somebody who looks through a memory."""

from collections.abc import Sequence
from typing import Protocol

from biem.domain.browse import GraphNode, Page
from biem.domain.link import Link
from biem.domain.node import Node
from biem.domain.scope import Scope


class Browser(Protocol):
    """Reads the lists of one scope page by page. What another scope has is in no page.

    `after` is the `next` of the page before, or empty; anything else raises `InvalidInput`. What was there all the time
    is in exactly one page, whatever is written meanwhile. The cost of a page does not grow with the scope.
    """

    def memories(
        self, scope: Scope, limit: int, *, after: str = "", tier: str | None = None, layer: str | None = None
    ) -> Page[Node]:
        """Memories, archived ones among them, the one written last first; of one tier or layer where these are given.

        Looks at a bounded number of memories: a page may have fewer than `limit`, or none, and yet not be the last.
        """

    def links(self, scope: Scope, limit: int, *, after: str = "") -> Page[Link]:
        """Links, the one changed last first; one that changes meanwhile moves to the front, and may be met again."""

    def links_around(self, scope: Scope, node_id: str, limit: int, *, after: str = "") -> Page[Link]:
        """Links of one node, the heaviest first; a link whose weight changes meanwhile may be missed or met again."""

    def ids(self, scope: Scope, part: str, of: str, limit: int) -> list[str]:
        """Ids of memories or conflicts (`of`: memory, conflict) that begin or end with these digits, at most `limit`.

        Unlike the pages, it reads all ids of the scope: some seconds for a million.
        """

    def nodes(self, scope: Scope, ids: Sequence[str], label_chars: int) -> list[GraphNode]:
        """Those of these nodes that are there; labels are cut at `label_chars`."""
