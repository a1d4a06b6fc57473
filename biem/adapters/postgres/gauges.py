"""Numbers of jobs and memories for a monitor: few statements of bounded cost."""

from dataclasses import dataclass
from typing import Protocol

from biem.adapters.postgres.database import ALL_SCOPES, Database


@dataclass(frozen=True, slots=True)
class NoteLevels:
    """Notes by state, each counted up to 20,000; chunks and tags, estimated above; libraries whose deletions wait for a
    person.

    `scanned_for_s`: seconds since the last recorded scan of the library where that is longest ago; 0 without libraries.
    `watched_for_s`: seconds since the watcher that was silent for longest was last alive; 0 where none runs.
    """

    pending: int = 0
    failed: int = 0
    skipped: int = 0
    indexed: int = 0
    chunks: int = 0
    tags: int = 0
    held: int = 0
    scanned_for_s: float = 0.0
    watched_for_s: float = 0.0


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
    notes: NoteLevels = NoteLevels()


class Gauges(Protocol):
    """Where levels are read."""

    def read(self) -> Levels:
        """The levels now; raises `StoreUnavailable`."""


class PostgresGauges:
    """Levels of the records."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self) -> Levels:
        names = ("outbox_gauges", "memory_gauges", "conflict_gauges", "note_gauges")
        [outbox, memory, conflict, notes] = (self._database.fetch(ALL_SCOPES, name, ())[0] for name in names)
        return Levels(
            **outbox._asdict(), **memory._asdict(), conflicts=conflict.conflicts, notes=NoteLevels(**notes._asdict())
        )
