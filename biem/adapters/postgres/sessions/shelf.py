"""The port `ShelfReader` in PostgreSQL: one statement each."""

from biem.adapters.postgres.node_rows import Store
from biem.domain.scope import Scope
from biem.ports.layers.sessions import LayerCount, Shelf


class PostgresShelf(Store):
    """Memories by layer."""

    def read(self, scope: Scope, most: int) -> Shelf:
        """As the port says."""
        now = self._clock.now()
        by_ns = {one.ns: one for one in scope.readable}
        parameters = {"scopes": list(by_ns), "ns": scope.ns, "now": now, "as_of": None, "most": most}
        rows = self._database.fetch(",".join(by_ns), "shelf", parameters)
        core = [row for row in rows if row.layer == "core"]
        short_term = [row for row in rows if row.layer != "core"]
        return Shelf(
            tuple(self.node(row, by_ns[row.ns], now) for row in core),
            core[0].held if core else 0,
            tuple(self.node(row, by_ns[row.ns], now) for row in short_term),
            short_term[0].held if short_term else 0,
        )

    def counts(self, scope: Scope) -> list[LayerCount]:
        """As the port says."""
        names = [one.ns for one in scope.readable]
        parameters = {"scopes": names, "ns": scope.ns, "is_project": bool(scope.project), "now": self._clock.now()}
        return [
            LayerCount(**row._asdict()) for row in self._database.fetch(",".join(names), "layer_counts", parameters)
        ]
