"""Libraries of notes."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES
from biem.adapters.postgres.notes.reading import PostgresNoteRows
from biem.adapters.postgres.notes.rows import library_key, library_of, note_of
from biem.domain.notes.library import Library, LibraryState, LibraryStats, Note
from biem.domain.scope import Scope
from biem.errors import InvalidInput, NotFound

_TROUBLED = 20


class PostgresLibraries(PostgresNoteRows):
    """Registers libraries, and lists what they have."""

    def add_library(self, library: Library) -> Library:
        scope = library.scope
        row = {
            "id": library.id,
            "ns": scope.ns,
            "name": library.name,
            "root": library.root,
            "host": library.host,
            "exclude": list(library.exclude),
        }

        def attempt() -> None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["ensure_scope"], (scope.ns, scope.tenant, scope.user, scope.project))
                connection.execute(self._sql["note_library_add"], row)

        self._database.retrying(attempt)
        for known in self.libraries([scope]):
            same_folder = (known.root, known.host) == (library.root, library.host)
            if known.name == library.name and same_folder:
                return known
            if known.name == library.name:
                raise InvalidInput(f"library {known.name!r} is the folder {known.root}; choose another name")
            if same_folder:
                raise InvalidInput(f"the folder {known.root} is library {known.name!r} already")
        raise NotFound(f"library {library.name!r} was removed meanwhile; add it again")

    def libraries(self, scopes: Sequence[Scope] | None = None) -> list[Library]:
        names = None if scopes is None else [scope.ns for scope in scopes]
        seen = ALL_SCOPES if names is None else ",".join(names)
        return [library_of(row) for row in self._database.fetch(seen, "note_libraries", {"scopes": names})]

    def set_library(self, library: Library, *, state: LibraryState, exclude: Sequence[str]) -> None:
        row = {**library_key(library), "state": state, "exclude": list(exclude)}
        self._database.execute(library.scope.ns, "note_library_set", row)

    def scanned(self, library: Library, counts: Mapping[str, int], at: datetime, *, full: bool) -> None:
        ns = library.scope.ns
        row = {**library_key(library), "report": Jsonb(dict(counts)), "full": full, "at": at}
        self._database.execute(ns, "note_library_scanned", row)
        self._database.execute(ns, "note_count_tags", {"ns": ns})

    def watched(self, library: Library, *, alive: bool) -> None:
        self._database.execute(library.scope.ns, "note_library_watched", {**library_key(library), "alive": alive})

    def notes_at(self, scopes: Sequence[Scope], path: str) -> list[Note]:
        return [note_of(row, row.id) for row in self._read(scopes, "notes_at", {"path": path})]

    def stats(self, library: Library) -> LibraryStats:
        row = {**library_key(library), "model": self._model, "limit": _TROUBLED}
        [counts] = self._database.fetch(library.scope.ns, "note_stats", row)
        troubled = self._database.fetch(library.scope.ns, "note_troubled", row)
        return LibraryStats(
            library=library,
            files={
                "pending": counts.pending,
                "indexed": counts.indexed,
                "skipped": counts.skipped,
                "failed": counts.failed,
            },
            chunks=counts.chunks,
            tags=counts.tags,
            pending_chunks=counts.pending_chunks,
            troubled=tuple((each.path, each.reason) for each in troubled),
        )
