"""Reading memories without a question."""

from datetime import datetime
from typing import Unpack

from biem.domain.designs.biem_node import BiemMemoryNode
from biem.domain.graph_part import GraphPart
from biem.domain.link import Link
from biem.domain.node import Node, parse_id
from biem.domain.paging import Page
from biem.domain.scope import ScopeSummary
from biem.domain.text import MOST_LISTED, require_count
from biem.engine.admin.browse import portrait
from biem.engine.query.listing import ListTerms, Wanted
from biem.errors import NotFound
from biem.memory.bound import BoundMemory
from biem.ports.consolidation import CrystalFact


class ReadMethods(BoundMemory):
    """Single memories and pages of them, with their links and facts."""

    def get(self, memory_id: str) -> Node:
        """One memory of exactly this scope; raises `NotFound`."""
        node = self._system.records.get(self.bound_to, parse_id(memory_id))
        if node is None:
            raise NotFound(f"no memory {memory_id} in scope {self.bound_to}")
        return node

    def node(self, memory_id: str) -> BiemMemoryNode:
        """One memory of exactly this scope as BIEM defines it, with its vector and its links; raises `NotFound`."""
        system = self._system
        model = system.embedder.id
        return portrait(self.get(memory_id), records=system.records, associations=system.associations, model=model)

    def links(self, memory_id: str) -> list[Link]:
        """The links of a memory of this scope, closest first."""
        system = self._system
        node = self.get(memory_id)
        system.associations.refresh(self.bound_to)
        return system.browser.shown(self.bound_to, system.associations.neighbours(self.bound_to, node.id))

    def graph(self, *, around: str | None = None, limit: int = 200, after: str = "") -> GraphPart:
        """A page of this scope's links, last changed first, or of those of one node, heaviest first.

        With the memories and concepts at their ends; `after` is the `next` of the previous page. `around` is the id of
        a memory or concept; raises `NotFound` for one that this scope does not have.
        """
        part = self._system.browser.graph(self.bound_to, limit, after, around)
        if around is not None and not part.links and not self._system.browser.is_concept(self.bound_to, around):
            self.get(around)
        return part

    def facts(self, limit: int = 100, *, after: str = "") -> list[CrystalFact]:
        """Facts distilled from memories of this scope that are used together, oldest first.

        `after`: the id of the last one of the previous page.
        """
        require_count(limit, "limit", MOST_LISTED)
        return self._system.consolidations.facts(self.bound_to, limit, after=parse_id(after) if after else "")

    def scopes(self) -> list[ScopeSummary]:
        """The user's own level and all projects of the user that this memory is bound to, if they are not empty.

        Never those of another user or tenant.
        """
        return self._system.scopes.listed(self.bound_to.tenant, self.bound_to.user)

    def whole_id(self, part: str, *, of: str = "memory") -> str:
        """The id of this scope's memory or conflict (`of`) that begins or ends with these digits, six or more.

        A whole id is returned unchanged. Raises `NotFound`, and `InvalidInput` with the candidates if there are
        several. Reads all ids of the scope.
        """
        return self._system.browser.whole_id(self.bound_to, part, of)

    def count(self, **wanted: Unpack[Wanted]) -> int:
        """How many memories of this scope meet the conditions, those of `list`."""
        return self._system.listing.count(self.bound_to, **wanted)

    def timeline(
        self,
        since: datetime | None = None,
        until: datetime | None = None,
        *,
        limit: int = 50,
        after: str = "",
        **wanted: Unpack[ListTerms],
    ) -> Page[Node]:
        """What was said in a period, in the order it was said: `since` ≤ `at` < `until`; otherwise as `list`."""
        return self._system.listing.page(self.bound_to, "oldest", limit, after, since=since, until=until, **wanted)

    # Last, because below it `list` in an annotation would be this method.

    def list(self, *, order: str = "newest", limit: int = 50, after: str = "", **wanted: Unpack[Wanted]) -> Page[Node]:
        """A page of this scope's memories, without a question; counts no access.

        `order`: newest and oldest by `at`, energy, importance. `after` is the `next` of the previous page in the same
        order; `limit` at most 500. A memory that changes its place meanwhile, by a use or a new `at`, may be missed or
        be listed twice; no other.

        `kinds`, `tags`, `speakers`, `conversations`, `since`, `until`, `as_of`, `where` and `min_trust` are those of
        `recall`: with `as_of`, what stood then, of memories that are there now.
        `origins`: any of these. `layer` and `tier` (L1, L2, L3): only this one. `status`: live (pending and active, the
        default), pending, active, archived or all; a memory counts as archived from its expiry on. Raises
        `InvalidInput`.
        """
        return self._system.listing.page(self.bound_to, order, limit, after, **wanted)
