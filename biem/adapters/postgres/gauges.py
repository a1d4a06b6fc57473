"""How much there is to do and to keep, for a monitor: few bounded statements, whatever the number of memories."""

from dataclasses import dataclass
from typing import Protocol

from biem.adapters.postgres.database import ALL_SCOPES, Database


@dataclass(frozen=True, slots=True)
class Levels:
    """The state of the whole system, all scopes together.

    `due`, `dead` and `conflicts` are counted up to 100,000, memories up to 20,000; beyond that memories are estimated
    from PostgreSQL's statistics. `due_for_s`: for how many seconds the oldest due job has been waiting.
    """

    due: int
    due_for_s: float
    dead: int
    active: int
    pending: int
    archived: int
    conflicts: int


class Gauges(Protocol):
    """Where levels are read."""

    def read(self) -> Levels:
        """The levels now; raises `StoreUnavailable`."""


class PostgresGauges:
    """Levels of the records."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> Levels:
        due, due_for_s, dead = self._database.fetch(ALL_SCOPES, "outbox_gauges", ())[0]
        active, pending, archived = self._database.fetch(ALL_SCOPES, "memory_gauges", ())[0]
        conflicts = self._database.fetch(ALL_SCOPES, "conflict_gauges", ())[0][0]
        return Levels(due, due_for_s, dead, active, pending, archived, conflicts)
