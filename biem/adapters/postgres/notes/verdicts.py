"""What notes say of facts, in PostgreSQL."""

from collections.abc import Sequence

from biem.adapters.postgres.node_rows import vector_of
from biem.adapters.postgres.notes.reading import PostgresNoteReading
from biem.domain.node import new_id
from biem.domain.notes.library import NoteVerdict, NoteVerdictKind, NoteVerdictStatus
from biem.domain.scope import Scope
from biem.ports.notes.verdicts import DueFact, FoundVerdict


class PostgresNoteVerdicts(PostgresNoteReading):
    """The port `NoteVerdicts`. The database is shared with other adapters."""

    def due_facts(self, scope: Scope, limit: int) -> list[DueFact]:
        readable = [each.ns for each in scope.readable]
        wanted = {"ns": scope.ns, "scopes": readable, "model": self._model, "limit": limit}
        rows = self._database.fetch(",".join(readable), "verdict_due", wanted, binary=True)
        return [
            DueFact(row.id, row.text, bytes(row.sha), row.speaker, row.at, vector, row.newest, row.after)
            for row in rows
            if (vector := vector_of(row.vector)) is not None
        ]

    def compared(self, scope: Scope, facts: Sequence[DueFact], found: Sequence[FoundVerdict]) -> None:
        readable = [each.ns for each in scope.readable]
        row = {
            "ns": scope.ns,
            "scopes": readable,
            "memories": [fact.id for fact in facts],
            "anew": [fact.id for fact in facts if not fact.after],
            "shas": [fact.sha for fact in facts],
            "newest": [fact.newest for fact in facts],
            "ids": [new_id() for _ in found],
            "facts": [one.memory_id for one in found],
            "chunks": [one.chunk_id for one in found],
            "kinds": [one.kind for one in found],
            "confidences": [one.confidence for one in found],
            "sentences": [one.sentence for one in found],
        }

        def attempt() -> None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (",".join(readable),))
                for name in ("verdict_withdraw", "verdict_put", "verdict_compared"):
                    connection.execute(self._sql[name], row)

        self._database.retrying(attempt)

    def verdicts(
        self,
        scopes: Sequence[Scope],
        *,
        status: NoteVerdictStatus | None = "open",
        kind: NoteVerdictKind | None = None,
        memories: Sequence[str] | None = None,
        verdict: str | None = None,
        limit: int = 100,
    ) -> list[NoteVerdict]:
        names = [each.ns for scope in scopes for each in scope.readable]  # a project's facts, and its user's notes
        wanted = {
            "named": [scope.ns for scope in scopes],
            "status": status,
            "kind": kind,
            "memories": None if memories is None else list(memories),
            "id": verdict,
            "limit": limit,
        }
        rows = self._database.fetch(",".join(dict.fromkeys(names)), "verdict_list", wanted)
        return [NoteVerdict(**row._asdict()) for row in rows]

    def decide(self, scope: Scope, verdict: str, status: NoteVerdictStatus) -> bool:
        return self._database.execute(scope.ns, "verdict_decide", {"ns": scope.ns, "id": verdict, "status": status}) > 0

    def contradicted(self, scopes: Sequence[Scope]) -> bool:
        return bool(self._read(scopes, "verdict_open", {})[0].there)
