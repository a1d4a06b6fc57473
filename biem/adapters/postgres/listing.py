"""The port `Lister` in PostgreSQL: each page is one statement, which begins where the page before it ended."""

import math
from datetime import UTC, datetime
from typing import Any

from biem.adapters.postgres.database import Row
from biem.adapters.postgres.node_rows import Store
from biem.adapters.postgres.records import conditions
from biem.domain.listing import STATUSES, Place, place_of
from biem.domain.node import Node
from biem.domain.paging import Page
from biem.domain.scope import Scope
from biem.ports.readers import Listed

_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_MOST_SEQ = 2**63 - 1


class PostgresListing(Store):
    """One more row than a page has is read, which tells whether it is the last."""

    def page(self, scope: Scope, listed: Listed, order: str, limit: int, after: str) -> Page[Node]:
        """As the port says."""
        now = self._clock.now()
        place = place_of(after, order) or _beginning(listed, order)
        energies_at = place.energies_at or now
        parameters = {
            **self._listed(scope, listed, now),
            "key": place.key,
            "seq": place.seq,
            "energies_at": energies_at,
            "limit": limit + 1,
        }
        rows = self._database.fetch(scope.ns, f"list_{order}", parameters)
        nodes = tuple(self.node(row, scope, now) for row in rows[:limit])
        ended = len(rows) <= limit
        return Page(nodes, "" if ended else _last(rows[limit - 1], order, energies_at).cursor(order))

    def count(self, scope: Scope, listed: Listed) -> int:
        """As the port says."""
        parameters = self._listed(scope, listed, self._clock.now())
        return int(self._database.fetch(scope.ns, "list_count", parameters)[0].memories)

    def _listed(self, scope: Scope, listed: Listed, now: datetime) -> dict[str, Any]:
        return {
            **conditions([scope], listed.where, now, self._decay),
            "ns": scope.ns,
            "from": listed.where.since or _FIRST,
            "to": listed.where.until or _LAST,
            "statuses": list(STATUSES[listed.status]),
            "layer": listed.layer,
            "tier": listed.tier,
            "origins": list(listed.origins) or None,
        }


def _beginning(listed: Listed, order: str) -> Place:
    """The place before the first page: the index is entered where the period begins."""
    if order == "oldest":
        return Place(listed.where.since or _FIRST, -1)
    if order == "newest":
        return Place(listed.where.until or _LAST, -1)
    return Place(math.inf, _MOST_SEQ)


def _last(row: Row, order: str, energies_at: datetime) -> Place:
    """The place after this row."""
    if order == "energy":
        return Place(row.energy_then, row.write_seq, energies_at)
    return Place(row.importance if order == "importance" else row.at, row.write_seq)
