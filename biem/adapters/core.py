"""The port `CoreReader` in PostgreSQL."""

from collections.abc import Mapping, Sequence

from biem.adapters.rows import Store
from biem.domain.node import Node
from biem.domain.scope import Scope


class PostgresCore(Store):
    """One statement each."""

    def core(self, scopes: Sequence[Scope], limit: int) -> list[Node]:
        """As the port says."""
        now = self._clock.now()
        by_ns = {scope.ns: scope for scope in scopes}
        parameters = {"scopes": list(by_ns), "now": now, "most": limit}
        rows = self._database.fetch(",".join(by_ns), "core_memories", parameters)
        return [self.node(row, by_ns[row[1]], now) for row in rows]

    def useful(self, scopes: Sequence[Scope], slots: Mapping[str, int]) -> list[Node]:
        """As the port says."""
        now = self._clock.now()
        by_ns = {scope.ns: scope for scope in scopes}
        parameters = {"scopes": list(by_ns), "now": now, "kinds": list(slots), "sizes": list(slots.values())}
        rows = self._database.fetch(",".join(by_ns), "useful_memories", parameters)
        return [self.node(row, by_ns[row[1]], now) for row in rows]
