"""Rows of PostgreSQL as values of the core: what every adapter of Records shares."""

from datetime import datetime
from typing import Any

from biem.adapters.postgres.database import Database, Row
from biem.domain.energy import energy_at, energy_key
from biem.domain.fields import Analysis, Fields
from biem.domain.node import Node
from biem.domain.policies import Policies
from biem.domain.scope import Scope
from biem.ports import Clock

NODE_COLUMNS = 35
"""Columns of the SQL block `node`; the last are the lexemes."""
FIRST_ID = "00000000-0000-0000-0000-000000000000"
"""Before all ids."""


class Store:
    """A database, a clock, and whose collection this process fills: `model` is the embedder's id."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        decay_per_hour: float,
        model: str = "",
        policies: Policies | None = None,
    ) -> None:
        self._database = database
        self._sql = database.sql
        self._clock = clock
        self._decay = decay_per_hour
        self._model = model
        self._policies = policies or Policies()

    def node(self, row: Row, scope: Scope, now: datetime) -> Node:
        """A memory of `scope` from the columns of the block `node`; its energy is that at `now`."""
        fields = row[17]
        return Node(
            id=row[0],
            scope=scope,
            text=row[2],
            kind=row[3],
            status=row[4],
            layer=row[5],
            tags=tuple(row[6]),
            reason=row[7],
            importance=row[8],
            source=row[9],
            speaker=row[10],
            conversation=row[11],
            at=row[12],
            created_at=row[13],
            ref=row[14],
            metadata=row[15],
            language=row[16],
            fields=Fields(**{name: tuple(values) for name, values in fields.items()}) if fields else Fields(),
            entities=tuple(row[18]),
            sentiment=row[19],
            write_seq=row[20],
            energy=energy_at(row[21], row[22], now, self._decay),
            access_count=row[23],
            useful_count=row[24],
            accessed_at=row[25],
            evidence_ptr=row[26].hex(),
            tier=row[27],
            energy_key=energy_key(row[21], row[22], self._decay),
            valid_from=row[28],
            valid_to=row[29],
            superseded_by=row[30],
            archived_at=row[31],
            archive_reason=row[32],
            initial_energy=row[33],
        )


def analysis_json(memory_id: str, analysis: Analysis) -> dict[str, Any]:
    """What an analysis writes into the row of a memory."""
    pairs = ((name, list(getattr(analysis.fields, name))) for name in ("numbers", "names", "definitions", "symbols"))
    return {
        "id": memory_id,
        "language": analysis.language,
        "fields": {name: values for name, values in pairs if values},
        "entities": list(analysis.entities),
        "sentiment": analysis.sentiment,
    }
