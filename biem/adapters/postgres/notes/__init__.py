"""Libraries, notes, chunks and tags in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Connection, PooledConnection, Row
from biem.adapters.postgres.notes.indexing import PostgresNoteIndexing
from biem.adapters.postgres.notes.reading import PostgresNoteReading
from biem.adapters.postgres.notes.rows import (
    chunk_row,
    library_key,
    library_of,
    note_of,
    note_row,
    place_row,
    stat_row,
)
from biem.domain.node import new_id
from biem.domain.note import FileStat, StoredChunks
from biem.domain.notes.library import Library, LibraryState, LibraryStats, Note
from biem.domain.scope import Scope
from biem.errors import InvalidInput, NotFound
from biem.ports.notes.known_files import KnownFiles
from biem.ports.notes.records import (
    ErasedNotes,
    ExclusionsChanged,
    NoteChange,
    NoteDraft,
    StoredChunksChanged,
)

_TROUBLED = 20
_CHUNKS_AT_ONCE = 200
"""Chunks stored by one statement: on a busy server all those of a file of 4 MiB take longer than a statement may."""


class PostgresNotes(PostgresNoteIndexing, PostgresNoteReading):
    """The port `NoteRecords`. The database is shared with other adapters."""

    # -- libraries --------------------------------------------------------------------------------------------------

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

    def mirrored(self, host: str) -> list[str]:
        return [path for (path,) in self._database.fetch(ALL_SCOPES, "note_mirrored", {"host": host})]

    def libraries(self, scopes: Sequence[Scope] | None = None) -> list[Library]:
        names = None if scopes is None else [scope.ns for scope in scopes]
        seen = ALL_SCOPES if names is None else ",".join(names)
        return [library_of(row) for row in self._database.fetch(seen, "note_libraries", {"scopes": names})]

    def set_state(self, library: Library, state: LibraryState) -> None:
        self._database.execute(library.scope.ns, "note_library_state", {**library_key(library), "state": state})

    def exclude(self, library: Library, pattern: str) -> None:
        self._database.execute(library.scope.ns, "note_library_exclude", {**library_key(library), "pattern": pattern})

    def scanned(self, library: Library, counts: Mapping[str, int], at: datetime, *, full: bool) -> None:
        ns = library.scope.ns
        row = {**library_key(library), "report": Jsonb(dict(counts)), "full": full, "at": at}
        self._database.execute(ns, "note_library_scanned", row)

    def count_tags(self, library: Library) -> None:
        self._database.execute(library.scope.ns, "note_count_tags", {"ns": library.scope.ns})

    def watched(self, library: Library, *, alive: bool) -> None:
        self._database.execute(library.scope.ns, "note_library_watched", {**library_key(library), "alive": alive})

    def notes_at(self, scopes: Sequence[Scope], path: str) -> list[Note]:
        return [note_of(row, row.id) for row in self._read(scopes, "notes_at", {"path": path})]

    def alike(self, scopes: Sequence[Scope]) -> list[str]:
        return [row.path for row in self._read(scopes, "notes_alike", {})]

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

    # -- files ------------------------------------------------------------------------------------------------------

    def files(self, library: Library, paths: Collection[str] | None = None) -> KnownFiles:
        row = library_key(library)
        name, row = ("note_files", row) if paths is None else ("note_files_at", {**row, "paths": list(paths)})
        [columns] = self._database.fetch(library.scope.ns, name, row, binary=True)
        return KnownFiles(*columns)

    def stored_chunks(self, library: Library, path: str) -> StoredChunks | None:
        row = {**library_key(library), "path": path}
        rows = self._database.fetch(library.scope.ns, "note_stored_chunks", row, binary=True)
        if not rows:
            return None
        [stored] = rows
        places = zip(stored.places, stored.firsts, stored.lasts, strict=True)
        keys = map(bytes, stored.keys)
        return StoredChunks(dict(zip(keys, places, strict=True)), tuple(stored.tags), tuple(stored.tag_counts))

    def put(self, library: Library, draft: NoteDraft, moved_from: str | None = None) -> NoteChange:
        ns = library.scope.ns
        fresh = [chunk for chunk in draft.chunks if not chunk.kept]

        def attempt() -> NoteChange:
            in_steps = len(fresh) > _CHUNKS_AT_ONCE
            with self._database.connection(in_steps=in_steps) as connection, connection.transaction():
                _, held, known = connection.send(
                    ("see_scopes", (ns,)),
                    ("note_library_lock", library_key(library)),
                    ("note_tags_ids", {"ns": ns, "names": [tag.name for tag in draft.names]}),
                )
                if not _is_as_known(held.rows, library):
                    raise NotFound(f"library {library.name!r} was removed meanwhile")
                ids = self._tag_ids(connection, ns, draft.names, known.rows)
                moved = []
                if moved_from is not None:
                    where = {**library_key(library), "path": draft.stat.path, "former": moved_from}
                    moved.append(("note_move", where))
                put = connection.send(*moved, ("note_put", note_row(library, draft, ids)))[-1].rows
                row = {"ns": ns, "note": put[0].id}
                gone = self._gone(connection, row, draft)
                dropped = connection.send(("note_chunks_drop", {**row, "keys": gone}))[0].rows if gone else ()
                removed = tuple(each.id for each in dropped)
                if places := [place_row(chunk) for chunk in draft.chunks if chunk.kept and chunk.moved]:
                    connection.send(("note_chunks_keep", {**row, "chunks": Jsonb(places)}))
                written = set[str]()
                for start in range(0, len(fresh), _CHUNKS_AT_ONCE):
                    if in_steps:
                        self._database.step_done(connection)
                    chunks = Jsonb([chunk_row(chunk, ids) for chunk in fresh[start : start + _CHUNKS_AT_ONCE]])
                    [put_chunks] = connection.send(("note_chunks_put", {**row, "chunks": chunks}))
                    written.update(each.id for each in put_chunks.rows)
                if in_steps:
                    self._database.step_done(connection)
                if draft.gone is not None:
                    [found] = connection.send(("note_chunks_count", row))[0].rows
                    if found.there != len(draft.chunks):
                        raise StoredChunksChanged
            added = len(written & {chunk.id for chunk in draft.chunks})
            return NoteChange(added, len(draft.chunks) - added, removed)

        return self._database.retrying(attempt)

    def _gone(self, connection: PooledConnection, note: Mapping[str, Any], draft: NoteDraft) -> list[bytes]:
        """The keys of the chunks that a note has no more: known, or found among all that it has."""
        if draft.gone is not None:
            return list(draft.gone)
        stay = {chunk.key for chunk in draft.chunks}
        [stored] = connection.send(("note_chunk_keys", note), binary=True)
        return [key for each in stored.rows if (key := bytes(each.key)) not in stay]

    def touch(self, library: Library, stats: Sequence[FileStat]) -> None:
        if not stats:
            return
        row = {
            **library_key(library),
            "paths": [stat.path for stat in stats],
            "bytes": [stat.size for stat in stats],
            "mtimes": [stat.mtime_ns for stat in stats],
            "inodes": [stat.inode for stat in stats],
        }
        self._database.execute(library.scope.ns, "note_touch", row)

    def skip(self, library: Library, stat: FileStat, reason: str) -> tuple[str, ...]:
        ns = library.scope.ns

        def attempt() -> tuple[str, ...]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ns,))
                held = connection.execute(self._sql["note_library_lock"], library_key(library)).fetchall()
                if not _is_as_known(held, library):
                    return ()
                row = {**library_key(library), **stat_row(stat), "id": new_id(), "reason": reason}
                [put] = connection.execute(self._sql["note_skip"], row).fetchall()
                dropped = connection.execute(self._sql["note_chunks_drop"], {"ns": ns, "note": put.id, "keys": None})
                return tuple(each.id for each in dropped.fetchall())

        return self._database.retrying(attempt)

    def delete(self, library: Library, paths: Sequence[str]) -> tuple[str, ...]:
        row = {**library_key(library), "paths": list(paths)}
        return tuple(gone.id for gone in self._database.fetch(library.scope.ns, "note_delete", row))

    # -- erasing ----------------------------------------------------------------------------------------------------

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


def _is_as_known(held: Sequence[Row], library: Library) -> bool:
    """Whether a library, whose row no one else changes until the transaction ends, is still there.

    Raises `ExclusionsChanged` if other files of it are left out now.
    """
    if held and tuple(held[0].exclude) != library.exclude:
        raise ExclusionsChanged
    return bool(held)
