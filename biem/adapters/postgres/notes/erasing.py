"""Erases notes, libraries and scopes."""

from biem.adapters.postgres.database import ALL_SCOPES, Connection
from biem.adapters.postgres.node_rows import Store
from biem.domain.notes.library import Library
from biem.domain.scope import Scope
from biem.ports.notes import ErasedNotes


class PostgresNoteErasure(Store):
    """Deletes rows, and vectors that nothing else has."""

    def remove_library(self, library: Library) -> ErasedNotes:
        return self._erase(library.scope, library.id, None)

    def erase_note(self, library: Library, path: str) -> ErasedNotes:
        return self._erase(library.scope, library.id, path)

    def erase_scope(self, scope: Scope) -> ErasedNotes:
        return self._erase(scope, None, None)

    def _erase(self, scope: Scope, library: str | None, path: str | None) -> ErasedNotes:
        """One note, one library, or everything of a scope."""
        first: list[ErasedNotes] = []
        row = {"ns": scope.ns, "library": library, "paths": None if path is None else [path], "all": library is None}

        def attempt() -> ErasedNotes:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))  # shared vectors may belong to other scopes
                before = self._count(connection, scope)
                targets = connection.execute(self._sql["note_erase_targets"], row).fetchall()
                for each in [library] if library is not None else self._library_ids(connection, scope):
                    connection.execute(self._sql["note_delete"], {**row, "library": each})
                if path is None:
                    connection.execute(self._sql["note_erase_libraries"], row)
                unused = connection.execute(self._sql["note_erase_unused"], row).fetchall()
                vectors = [each.sha for each in (*targets, *unused)]
                connection.execute(self._sql["note_erase_vectors"], {"vectors": vectors})
            chunks, tags = tuple(each.id for each in targets), tuple(each.id for each in unused)
            first.append(ErasedNotes(chunks, tags, before))
            return first[0] if first[0].chunks else first[-1]  # repeated after an erasure whose answer was lost

        return self._database.retrying(attempt)

    def _library_ids(self, connection: Connection, scope: Scope) -> list[str]:
        rows = connection.execute(self._sql["note_libraries"], {"scopes": [scope.ns]}).fetchall()
        return [row.id for row in rows]

    def _count(self, connection: Connection, scope: Scope) -> dict[str, int]:
        [counts] = connection.execute(self._sql["note_remains"], {"ns": scope.ns}).fetchall()
        return counts._asdict()

    def remains(self, scope: Scope) -> dict[str, int]:
        return self._database.fetch(scope.ns, "note_remains", {"ns": scope.ns})[0]._asdict()
