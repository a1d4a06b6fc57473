"""Analyses of memories in PostgreSQL: columns of their rows."""

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from biem.adapters.database import ALL_SCOPES
from biem.adapters.rows import FIRST_ID, NODE_COLUMNS, Store, analysis_json
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.ports.analyses import Described


class PostgresAnalyses(Store):
    """The port `Analyses`."""

    def page(self, after: str, limit: int) -> list[Node]:
        rows = self._database.fetch(ALL_SCOPES, "described_page", {"after": after or FIRST_ID, "limit": limit})
        now = self._clock.now()
        return [self.node(row, Scope(*row[NODE_COLUMNS : NODE_COLUMNS + 3]), now) for row in rows]

    def describe(self, described: Sequence[Described]) -> int:
        learned = [analysis_json(one.memory_id, one.analysis) | {"lexemes": one.lexemes} for one in described]
        return self._database.execute(ALL_SCOPES, "describe", {"described": Jsonb(learned)})
