"""Libraries, notes, chunks and tags in PostgreSQL."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES, Connection, Row
from biem.adapters.postgres.node_rows import FIRST_ID, Store, vector_of
from biem.adapters.postgres.notes.rows import (
    chunk_row,
    lease_row,
    library_key,
    library_of,
    note_of,
    note_row,
    passage_of,
    place_row,
    short_reason,
    stat_row,
)
from biem.adapters.postgres.records import tsquery
from biem.domain.node import new_id
from biem.domain.note import FileStat, StoredChunks
from biem.domain.notes.library import Library, LibraryState, LibraryStats, Note
from biem.domain.scope import Scope
from biem.domain.scores import bm25
from biem.domain.text import sha256
from biem.errors import InvalidInput, NotFound
from biem.ports import Vector
from biem.ports.notes import (
    ErasedNotes,
    KeptChunkMissing,
    KnownNote,
    NoteChange,
    NoteDraft,
    NoteLease,
    NotesSize,
    PendingChunk,
    PendingTag,
    PoolChunk,
    StoredPassage,
    TagInfo,
    TagName,
)

_MATCHING_ROWS = 500
_MATCHING_WORDS = 40
_ROWS_OF_A_WORD = 20
_TROUBLED = 20


class PostgresNotes(Store):
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

    def libraries(self, scopes: Sequence[Scope] | None = None) -> list[Library]:
        names = None if scopes is None else [scope.ns for scope in scopes]
        seen = ALL_SCOPES if names is None else ",".join(names)
        return [library_of(row) for row in self._database.fetch(seen, "note_libraries", {"scopes": names})]

    def set_library(self, library: Library, *, state: LibraryState, exclude: Sequence[str]) -> None:
        row = {**library_key(library), "state": state, "exclude": list(exclude)}
        self._database.execute(library.scope.ns, "note_library_set", row)

    def remove_library(self, library: Library) -> ErasedNotes:
        return self._erase(library.scope, library.id, None)

    def scanned(self, library: Library, counts: Mapping[str, int], at: datetime, *, full: bool) -> None:
        ns = library.scope.ns
        row = {**library_key(library), "report": Jsonb(dict(counts)), "full": full, "at": at}
        self._database.execute(ns, "note_library_scanned", row)
        self._database.execute(ns, "note_count_tags", {"ns": ns})

    def watched(self, library: Library, *, alive: bool) -> None:
        self._database.execute(library.scope.ns, "note_library_watched", {**library_key(library), "alive": alive})

    # -- files ------------------------------------------------------------------------------------------------------

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

    def _tag_ids(self, connection: Connection, ns: str, tags: Sequence[TagName]) -> dict[str, int]:
        if not tags:
            return {}
        names = [tag.name for tag in tags]
        row = {
            "ns": ns,
            "names": names,
            "shown": [tag.shown for tag in tags],
            "shas": [sha256(tag.shown) for tag in tags],
            "idle": [tag.idle for tag in tags],
        }
        found = {each.name: each.id for each in connection.execute(self._sql["note_tags_ids"], row).fetchall()}
        if len(found) < len(set(names)):
            connection.execute(self._sql["note_tags_add"], row)
            found = {each.name: each.id for each in connection.execute(self._sql["note_tags_ids"], row).fetchall()}
        return found

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

    # -- indexing ---------------------------------------------------------------------------------------------------

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[NoteLease]:
        name = "note_claim_retried" if retried else "note_claim_fresh"
        rows = self._database.fetch(ALL_SCOPES, name, {"limit": limit, "lease_s": lease_s})
        return [NoteLease(row.note_id, row.claims, row.attempts) for row in rows]

    def pending(self, leases: Sequence[NoteLease]) -> tuple[list[PendingChunk], list[PendingTag]]:
        row = {"notes": [lease.note_id for lease in leases], "model": self._model}
        chunks = self._database.fetch(ALL_SCOPES, "note_pending_chunks", row) if leases else []
        tags = self._database.fetch(ALL_SCOPES, "note_pending_tags", row)
        return (
            [PendingChunk(**{**each._asdict(), "headings": tuple(each.headings)}) for each in chunks],
            [PendingTag(**each._asdict()) for each in tags],
        )

    def renew(self, leases: Sequence[NoteLease], lease_s: float) -> None:
        self._database.execute(ALL_SCOPES, "note_renew", {**lease_row(leases), "lease_s": lease_s})

    def save_vectors(self, vectors: Mapping[bytes, Vector]) -> None:
        packed = [vector.astype("<f4").tobytes() for vector in vectors.values()]
        row = {"model": self._model, "keys": list(vectors), "vectors": packed}
        self._database.execute(ALL_SCOPES, "note_save_vectors", row)

    def load_vectors(self, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        rows = self._database.fetch(ALL_SCOPES, "load_vectors", (self._model, list(keys)), binary=True)
        return {row.sha256: np.frombuffer(row.vector, dtype="<f4") for row in rows if len(row.vector) % 4 == 0}

    def complete(self, chunks: Sequence[str], tags: Sequence[int]) -> list[str]:
        def attempt() -> list[str]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                marks = {"model": self._model, "ids": list(chunks)}
                done = connection.execute(self._sql["note_chunks_indexed"], marks).fetchall()
                if tags:
                    connection.execute(self._sql["note_tags_indexed"], {"model": self._model, "ids": list(tags)})
            there = {row.id for row in done}
            return [key for key in chunks if key not in there]

        return self._database.retrying(attempt)

    def finish(self, leases: Sequence[NoteLease]) -> None:
        self._database.execute(ALL_SCOPES, "note_finish", {**lease_row(leases), "model": self._model})

    def release(self, leases: Sequence[NoteLease], delay_s: float, reason: str, *, refund: bool) -> None:
        row = {**lease_row(leases), "delay_s": delay_s, "reason": short_reason(reason), "refund": int(refund)}
        self._database.execute(ALL_SCOPES, "note_release", row)

    def fail(self, leases: Sequence[NoteLease], reason: str) -> None:
        self._database.execute(ALL_SCOPES, "note_fail", {**lease_row(leases), "reason": short_reason(reason)})

    def backlog(self, scopes: Sequence[Scope] | None = None) -> int:
        names = None if scopes is None else [scope.ns for scope in scopes]
        seen = ALL_SCOPES if names is None else ",".join(names)
        return int(self._database.fetch(seen, "note_backlog", {"scopes": names})[0].notes)

    def withdraw(self, limit: int) -> int:
        return self._database.execute(ALL_SCOPES, "note_withdraw", {"model": self._model, "limit": limit})

    def forget_index(self) -> int:
        return self._database.execute(ALL_SCOPES, "note_forget_index", {})

    def unmoved(self, after: str, limit: int) -> list[PendingChunk]:
        row = {"model": self._model, "after": after or FIRST_ID, "limit": limit}
        rows = self._database.fetch(ALL_SCOPES, "note_unmoved_chunks", row)
        return [PendingChunk(**{**each._asdict(), "headings": tuple(each.headings)}) for each in rows]

    def unmoved_tags(self, limit: int) -> list[PendingTag]:
        rows = self._database.fetch(ALL_SCOPES, "note_unmoved_tags", {"model": self._model, "limit": limit})
        return [PendingTag(**each._asdict()) for each in rows]

    def indexed(self, after: str, limit: int) -> list[str]:
        row = {"model": self._model, "after": after or FIRST_ID, "limit": limit}
        return [each.id for each in self._database.fetch(ALL_SCOPES, "note_indexed_page", row)]

    def existing(self, ids: Sequence[str]) -> set[str]:
        rows = self._database.fetch(ALL_SCOPES, "note_existing", {"ids": list(ids)}) if ids else []
        return {row.id for row in rows}

    def index_again(self, ids: Sequence[str]) -> int:
        return self._database.execute(ALL_SCOPES, "note_index_again", {"ids": list(ids)}) if ids else 0

    def overdue(self, seconds: float) -> int:
        return int(self._database.fetch(ALL_SCOPES, "note_overdue", {"seconds": seconds})[0].notes)

    def failed(self, limit: int) -> list[str]:
        return [row.path for row in self._database.fetch(ALL_SCOPES, "note_failed", {"limit": limit})]

    # -- searching --------------------------------------------------------------------------------------------------

    def has_notes(self, scopes: Sequence[Scope]) -> bool:
        return bool(self._read(scopes, "note_has", {})[0].there)

    def matching(
        self, scopes: Sequence[Scope], lexemes: Sequence[str], libraries: Sequence[str] | None, limit: int
    ) -> dict[str, float]:
        if not lexemes:
            return {}
        wanted = {
            "words": tsquery(lexemes),
            "libraries": None if libraries is None else list(libraries),
            "most": _MATCHING_ROWS,
            "each": [tsquery([word]) for word in list(dict.fromkeys(lexemes))[:_MATCHING_WORDS]],
            "few": _ROWS_OF_A_WORD,
        }
        rows = self._read(scopes, "note_matching", wanted)
        scores = bm25(lexemes, {row.id: row.lexemes.split(" ") for row in rows})
        best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
        return {key: scores[key] for key in best}

    def pool(self, scopes: Sequence[Scope], ids: Sequence[str], known: Collection[str] = ()) -> list[PoolChunk]:
        wanted = {"ids": list(ids), "known": list(known), "model": self._model}
        rows = self._read(scopes, "note_pool", wanted, binary=True) if ids else []
        return [
            PoolChunk(
                id=row.id,
                note_id=row.note_id,
                library_id=row.library_id,
                ns=row.ns,
                place=row.place,
                at=row.at,
                tag_ids=tuple(row.tag_ids),
                tag_counts=tuple(row.tag_counts),
                note_tag_ids=tuple(row.note_tag_ids),
                note_tag_counts=tuple(row.note_tag_counts),
                vector=vector_of(row.vector),
            )
            for row in rows
        ]

    def passages(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, StoredPassage]:
        rows = self._read(scopes, "note_passages", {"ids": list(ids), "note": None}) if ids else []
        return {row.id: passage_of(row) for row in rows}

    def chunks_of(self, scopes: Sequence[Scope], note_id: str) -> list[StoredPassage]:
        return [passage_of(row) for row in self._read(scopes, "note_passages", {"ids": [], "note": note_id})]

    def sizes(self, scopes: Sequence[Scope]) -> dict[str, NotesSize]:
        return {
            row.ns: NotesSize(row.chunks, row.newest, row.oldest, row.unindexed)
            for row in self._read(scopes, "note_sizes", {})
        }

    # -- tags -------------------------------------------------------------------------------------------------------

    def tags(self, scopes: Sequence[Scope], ids: Sequence[int]) -> dict[int, TagInfo]:
        rows = self._read(scopes, "note_tags", {"ids": list(ids)}) if ids else []
        return {row.id: TagInfo(**{**row._asdict(), "sha": bytes(row.sha)}) for row in rows}

    def aliases(self, scopes: Sequence[Scope]) -> dict[int, int]:
        return {row.id: row.same_as for row in self._read(scopes, "note_aliases", {})}

    def named(self, scopes: Sequence[Scope], names: Sequence[str]) -> list[int]:
        return [row.id for row in self._read(scopes, "note_named_tags", {"names": list(names)})] if names else []

    def tagged(self, scopes: Sequence[Scope], tags: Sequence[int], limit: int) -> list[str]:
        if not tags:
            return []
        return [row.id for row in self._read(scopes, "note_tagged", {"tags": list(tags), "most": limit})]

    def tag_list(self, scope: Scope, prefix: str, limit: int) -> list[TagInfo]:
        wanted = {"ns": scope.ns, "prefix": prefix, "limit": limit}
        ids = [row.id for row in self._database.fetch(scope.ns, "note_tag_list", wanted)]
        found = self.tags([scope], ids)
        return [found[key] for key in ids if key in found]

    def rename_tag(self, scope: Scope, old: str, new: TagName) -> int:
        ns = scope.ns

        def attempt() -> int:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ns,))
                former = connection.execute(self._sql["note_tags_ids"], {"ns": ns, "names": [old]}).fetchone()
                if former is None:
                    raise NotFound(f"no note in {scope} has the tag {old!r}; `biem notes tags` lists them")
                target = self._tag_ids(connection, ns, [new])[new.name]
                connection.execute(self._sql["note_rename_tag"], {"ns": ns, "old": former.id, "new": target})
            return target

        return self._database.retrying(attempt)

    def restore_tag(self, scope: Scope, old: str) -> bool:
        if not self._database.fetch(scope.ns, "note_tags_ids", {"ns": scope.ns, "names": [old]}):
            raise NotFound(f"no note in {scope} has the tag {old!r}; `biem notes tags` lists them")
        return self._database.execute(scope.ns, "note_restore_tag", {"ns": scope.ns, "name": old}) > 0

    # -- lists ------------------------------------------------------------------------------------------------------

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

    # -- erasing ----------------------------------------------------------------------------------------------------

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

    def _read(
        self, scopes: Sequence[Scope], name: str, parameters: Mapping[str, Any], *, binary: bool = False
    ) -> list[Row]:
        names = [scope.ns for scope in scopes]
        return self._database.fetch(",".join(names), name, {"scopes": names, **parameters}, binary=binary)
