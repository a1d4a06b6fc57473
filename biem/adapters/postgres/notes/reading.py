"""What a search of notes reads in PostgreSQL: rows of some scopes only, and tags."""

import struct
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from biem.adapters.postgres.database import PooledConnection, Row
from biem.adapters.postgres.node_rows import Store
from biem.adapters.postgres.notes.rows import passage_of
from biem.adapters.postgres.records import tsquery
from biem.domain.scope import Scope
from biem.domain.scores import bm25
from biem.domain.text import sha256
from biem.errors import NotFound
from biem.ports.notes.records import NamedTags, NotesSize, PoolChunk, StoredPassage, TaggedNotes, TagInfo, TagName

_MATCHING_ROWS = 500
"""Chunks with any of the words that are scored: a common word has tens of thousands."""
_MATCHING_WORDS = 40
"""Words of a query, each of which has its own chunks scored in addition, so that common words hide no rare one."""
_ROWS_OF_A_WORD = 20
_FEW_INTS = 8_192
"""Lists of numbers that are kept: those of the tags of chunks and notes."""
_INTS_AT, _INT_WIDTH = 20, 8
"""Where the elements of an array of PostgreSQL begin, and the bytes of each: its length and itself."""


class PostgresNoteReading(Store):
    """Reads chunks, by words or by id, and tags."""

    def has_notes(self, scopes: Sequence[Scope]) -> bool:
        return bool(self._read(scopes, "note_has", {})[0].there)

    def matching(
        self,
        scopes: Sequence[Scope],
        lexemes: Sequence[str],
        libraries: Sequence[str] | None,
        limit: int,
        *,
        unindexed: bool = False,
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
        if unindexed:
            rows = self._read(scopes, "note_matching_unindexed", {**wanted, "model": self._model})
        else:
            rows = self._read(scopes, "note_matching", wanted)
        scores = bm25(lexemes, {row.id: row.lexemes.split(" ") for row in rows})
        best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
        return {key: scores[key] for key in best}

    def pool(
        self, scopes: Sequence[Scope], ids: Sequence[str], terms: Sequence[str] = (), *, headings: bool = False
    ) -> list[PoolChunk]:
        wanted = {"ids": list(ids), "terms": [tsquery([term]) for term in terms], "headings": headings}
        rows = self._read(scopes, "note_pool", wanted, binary=True) if ids else []
        return [
            PoolChunk(
                chunk,
                note,
                library,
                ns,
                place,
                at,
                _ints(own),
                _ints(counts),
                _ints(noted),
                _ints(numbers),
                sha,
                None,
                _ints(asked),
                tuple(above),
            )
            for chunk, note, library, ns, place, at, own, counts, noted, numbers, sha, asked, above in rows
        ]

    def passages(self, scopes: Sequence[Scope], ids: Sequence[str]) -> dict[str, StoredPassage]:
        rows = self._read(scopes, "note_passages", {"ids": list(ids), "note": None}) if ids else []
        return {row.id: passage_of(row) for row in rows}

    def chunks_of(self, scopes: Sequence[Scope], note_id: str) -> list[StoredPassage]:
        return [passage_of(row) for row in self._read(scopes, "note_passages", {"ids": [], "note": note_id})]

    def sizes(self, scopes: Sequence[Scope]) -> dict[str, NotesSize]:
        return {
            row.ns: NotesSize(row.newest_chunk, row.newest, row.oldest, row.unindexed)
            for row in self._read(scopes, "note_sizes", {})
        }

    def chunk_counts(self, scopes: Sequence[Scope]) -> dict[str, int]:
        return {row.ns: row.chunks for row in self._read(scopes, "note_chunk_counts", {})}

    # -- tags -------------------------------------------------------------------------------------------------------

    def tags(self, scopes: Sequence[Scope], ids: Sequence[int]) -> dict[int, TagInfo]:
        rows = self._read(scopes, "note_tags", {"ids": list(ids)}, binary=True) if ids else []
        return {row.id: TagInfo(*row) for row in rows}

    def named(self, scopes: Sequence[Scope], names: Sequence[str]) -> NamedTags:
        rows = self._read(scopes, "note_named_tags", {"names": list(names)}, binary=True)
        return NamedTags(
            tuple(row.id for row in rows if row.same_as is None),
            {row.id: row.same_as for row in rows if row.same_as is not None},
        )

    def tagged(self, scopes: Sequence[Scope], tags: Sequence[int], limit: int) -> list[str]:
        if not tags:
            return []
        return [row.id for row in self._read(scopes, "note_tagged", {"tags": list(tags), "most": limit})]

    def tagged_chunks(self, scopes: Sequence[Scope], tags: Sequence[int], limit: int, most: int) -> TaggedNotes:
        if not tags:
            return TaggedNotes()
        wanted = {"tags": list(tags), "most": limit, "chunks": most + 1}
        rows = self._read(scopes, "note_tagged_chunks", wanted, binary=True)
        chunks = {key: sha for key, sha in rows if sha is not None}
        return TaggedNotes([key for key, sha in rows if sha is None], chunks if len(chunks) <= most else {})

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
                known = connection.execute(self._sql["note_tags_ids"], {"ns": ns, "names": [new.name]}).fetchall()
                target = self._tag_ids(connection, ns, [new], known)[new.name]
                connection.execute(self._sql["note_rename_tag"], {"ns": ns, "old": former.id, "new": target})
            return target

        return self._database.retrying(attempt)

    def restore_tag(self, scope: Scope, old: str) -> bool:
        if not self._database.fetch(scope.ns, "note_tags_ids", {"ns": scope.ns, "names": [old]}):
            raise NotFound(f"no note in {scope} has the tag {old!r}; `biem notes tags` lists them")
        return self._database.execute(scope.ns, "note_restore_tag", {"ns": scope.ns, "name": old}) > 0

    def _read(
        self, scopes: Sequence[Scope], name: str, parameters: Mapping[str, Any], *, binary: bool = False
    ) -> list[Row]:
        names = [scope.ns for scope in scopes]
        return self._database.fetch(",".join(names), name, {"scopes": names, **parameters}, binary=binary)

    def _tag_ids(
        self, connection: PooledConnection, ns: str, tags: Sequence[TagName], known: Sequence[Row]
    ) -> dict[str, int]:
        """The ids of tags by name; those that are not `known` are added."""
        found = {each.name: each.id for each in known}
        missing = [tag for tag in tags if tag.name not in found]
        if missing:
            names = [tag.name for tag in missing]
            row = {
                "ns": ns,
                "names": names,
                "shown": [tag.shown for tag in missing],
                "shas": [sha256(tag.shown) for tag in missing],
                "idle": [tag.idle for tag in missing],
            }
            added = connection.send(("note_tags_add", row), ("note_tags_ids", {"ns": ns, "names": names}))[1]
            found |= {each.name: each.id for each in added.rows}
        return found


@lru_cache(_FEW_INTS)
def _ints(array: bytes) -> tuple[int, ...]:
    """The numbers of an array that PostgreSQL sent in binary: psycopg makes a list of each anew."""
    count = max(0, len(array) - _INTS_AT) // _INT_WIDTH
    return struct.unpack_from(">" + "4xi" * count, array, _INTS_AT) if count else ()
