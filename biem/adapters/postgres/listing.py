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
_COLUMNS = {"energy": "energy_then", "importance": "importance"}
"""By what the rows of a list are ordered; else by `at`."""


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
        if listed.where.as_of is not None:
            former = self._database.fetch(scope.ns, f"list_{order}_then", parameters)
            rows = sorted([*rows, *former], key=lambda row: _key(row, order), reverse=order != "oldest")[: limit + 1]
        nodes = tuple(self.node(row, scope, now) for row in rows[:limit])
        ended = len(rows) <= limit
        return Page(nodes, "" if ended else _last(rows[limit - 1], order, energies_at).cursor(order))

    def count(self, scope: Scope, listed: Listed) -> int:
        """As the port says."""
        parameters = self._listed(scope, listed, self._clock.now())
        names = ["list_count", *(["list_count_then"] if listed.where.as_of is not None else [])]
        return sum(int(self._database.fetch(scope.ns, name, parameters)[0].memories) for name in names)

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
    key, seq = _key(row, order)
    return Place(key, seq, energies_at if order == "energy" else None)


def _key(row: Row, order: str) -> tuple[Any, int]:
    """What the rows of a list are ordered by."""
    return getattr(row, _COLUMNS.get(order, "at")), row.write_seq
