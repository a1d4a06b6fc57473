"""Files of libraries, their chunks and tags."""

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from biem.adapters.postgres.notes.reading import PostgresNoteRows
from biem.adapters.postgres.notes.rows import chunk_row, library_key, note_row, place_row, stat_row
from biem.domain.node import new_id
from biem.domain.note import FileStat, StoredChunks
from biem.domain.notes.library import Library
from biem.errors import NotFound
from biem.ports.notes import KeptChunkMissing, KnownNote, NoteChange, NoteDraft


class PostgresNoteFiles(PostgresNoteRows):
    """Stores files as scans find them."""

    def files(self, library: Library) -> dict[str, KnownNote]:
        rows = self._database.fetch(library.scope.ns, "note_files", library_key(library))
        return {
            row.path: KnownNote(
                row.id, FileStat(row.path, row.bytes, row.mtime_ns, int(row.inode)), bytes(row.sha256), row.skipped
            )
            for row in rows
        }

    def stored_chunks(self, library: Library, path: str) -> StoredChunks | None:
        rows = self._database.fetch(library.scope.ns, "note_stored_chunks", {**library_key(library), "path": path})
        if not rows:
            return None
        [row] = rows
        return StoredChunks(frozenset(map(bytes, row.keys)), tuple(row.tags), tuple(row.tag_counts))

    def put(self, library: Library, draft: NoteDraft, moved_from: str | None = None) -> NoteChange:
        ns = library.scope.ns

        def attempt() -> NoteChange:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ns,))
                if connection.execute(self._sql["note_library_lock"], library_key(library)).fetchone() is None:
                    raise NotFound(f"library {library.name!r} was removed meanwhile")
                ids = self._tag_ids(connection, ns, draft.names)
                if moved_from is not None:
                    moved = {**library_key(library), "path": draft.stat.path, "former": moved_from}
                    connection.execute(self._sql["note_move"], moved)
                [put] = connection.execute(self._sql["note_put"], note_row(library, draft, ids)).fetchall()
                keys = [chunk.key for chunk in draft.chunks]
                dropped = connection.execute(self._sql["note_chunks_drop"], {"ns": ns, "note": put.id, "keys": keys})
                removed = tuple(row.id for row in dropped.fetchall())
                kept = [place_row(chunk) for chunk in draft.chunks if chunk.kept]
                if kept:
                    places = {"ns": ns, "note": put.id, "chunks": Jsonb(kept)}
                    [found] = connection.execute(self._sql["note_chunks_keep"], places).fetchall()
                    if found.there < len(kept):
                        raise KeptChunkMissing
                rows = Jsonb([chunk_row(chunk, ids) for chunk in draft.chunks if not chunk.kept])
                written = connection.execute(
                    self._sql["note_chunks_put"], {"ns": ns, "note": put.id, "chunks": rows}
                ).fetchall()
            added = len({row.id for row in written} & {chunk.id for chunk in draft.chunks})
            return NoteChange(added, len(draft.chunks) - added, removed)

        return self._database.retrying(attempt)

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
                if connection.execute(self._sql["note_library_lock"], library_key(library)).fetchone() is None:
                    return ()
                row = {**library_key(library), **stat_row(stat), "id": new_id(), "reason": reason}
                [put] = connection.execute(self._sql["note_skip"], row).fetchall()
                dropped = connection.execute(self._sql["note_chunks_drop"], {"ns": ns, "note": put.id, "keys": []})
                return tuple(each.id for each in dropped.fetchall())

        return self._database.retrying(attempt)

    def delete(self, library: Library, paths: Sequence[str]) -> tuple[str, ...]:
        row = {**library_key(library), "paths": list(paths)}
        return tuple(gone.id for gone in self._database.fetch(library.scope.ns, "note_delete", row))
