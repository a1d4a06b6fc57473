"""The port `Browser` in PostgreSQL: a page is one statement, which begins where the one before ended."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from biem.adapters.postgres.database import Row
from biem.adapters.postgres.links import link_of
from biem.adapters.postgres.listing import PostgresListing
from biem.domain.graph_part import GraphNode
from biem.domain.link import Link
from biem.domain.paging import Page
from biem.domain.scope import Scope
from biem.errors import InvalidInput

_MOST = 2**63


class PostgresBrowser(PostgresListing):
    """A place in a list is the sort key of the last item before it."""

    looked_at = 2_000
    """Rows that one page looks at to find those it may show: some milliseconds."""

    def links(self, scope: Scope, limit: int, *, after: str = "") -> Page[Link]:
        """As the port says."""
        version, link_id = _place(after, _whole, _whole)
        parameters = {
            "ns": scope.ns,
            "version": version,
            "id": link_id,
            "limit": limit,
            "looked": max(self.looked_at, limit),
        }
        rows = self._database.fetch(scope.ns, "browse_links", parameters)
        return _page(rows, rows[-1] if rows else None)

    def ids(self, scope: Scope, part: str, of: str, limit: int) -> list[str]:
        """As the port says."""
        parameters = {"ns": scope.ns, "part": part, "of": of, "limit": limit}
        return [found for (found,) in self._database.fetch(scope.ns, "browse_ids", parameters)]

    def links_around(self, scope: Scope, node_id: str, limit: int, *, after: str = "") -> Page[Link]:
        """As the port says."""
        weight, link_id = _place(after, _share, _whole)
        parameters = {"ns": scope.ns, "node": node_id, "weight": weight, "id": link_id, "limit": limit}
        rows = self._database.fetch(scope.ns, "browse_links_around", parameters)
        return _page(rows, rows[-1] if len(rows) == limit else None)

    def nodes(self, scope: Scope, ids: Sequence[str], label_chars: int) -> list[GraphNode]:
        """As the port says."""
        parameters = {"ns": scope.ns, "ids": list(ids), "chars": label_chars, "now": self._clock.now()}
        return [GraphNode(**row._asdict()) for row in self._database.fetch(scope.ns, "browse_nodes", parameters)]


def _page(rows: Sequence[Row], last: Row | None) -> Page[Link]:
    """The links of those rows that have one; `last` holds the sort key that the page ends with."""
    links = tuple(link_of(row) for row in rows if row.source is not None)
    return Page(links, "" if last is None or last.last_key is None else f"{last.last_key!r}:{last.last_id}")


def _whole(text: str) -> int:
    number = int(text)
    if not 0 <= number < _MOST:
        raise ValueError(text)
    return number


def _share(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _place(after: str, *kinds: Callable[[str], Any]) -> tuple[Any, ...]:
    """The sort key that a page before ended with; nulls for the beginning of the list."""
    if not after:
        return (None,) * len(kinds)
    try:
        return tuple(kind(part) for kind, part in zip(kinds, after.split(":"), strict=True))
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"after={after[:64]!r} is no place in this list; give back the `next` of the page before"
        ) from None
