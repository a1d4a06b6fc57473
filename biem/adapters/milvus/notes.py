"""NoteIndex in Milvus: one collection of chunks and one of tags for each (model, dimension).

Their names end in a word, not in the dimension: `is_ours` never takes them for collections of memories.
"""

import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any

from biem.adapters.milvus.calls import MilvusCalls, count_rows, delete_rows, present_keys, wait_until_visible
from biem.adapters.milvus.collection import (
    LOAD_TIMEOUT_S,
    Dialect,
    add_indexes,
    add_words,
    collection_name,
    server_version,
)
from biem.adapters.milvus.light_import import DataType, MilvusClient, MilvusException
from biem.adapters.milvus.rows import fitting, hashed, is_sound, microseconds, one_of
from biem.domain.scope import Scope
from biem.errors import StoreUnavailable
from biem.ports import EmbedderInfo, Vector
from biem.ports.notes.index import ChunkEntry, NoteFilter, TagEntry

_ID_BATCH = 500
_MOST = 16_384
"""Maximum rows of one answer."""
_UNDATED = -(1 << 62)
"""The time of a chunk whose note has no date."""
CHUNKS, TAGS = "_notes", "_tags"
"""Endings of the collections' names."""


class MilvusNotes(MilvusCalls):
    """The port `NoteIndex` on one Milvus server. Thread-safe; connects when called."""

    def __init__(
        self, uri: str, *, token: str, prefix: str, info: EmbedderInfo, index_type: str, timeout_s: float, ca: str = ""
    ) -> None:
        super().__init__(uri, token=token, ca=ca, timeout_s=timeout_s)
        name = collection_name(prefix, info)
        self.chunks, self.tags = f"{name}{CHUNKS}", f"{name}{TAGS}"
        self._prefix = prefix
        self._info = info
        self._index_type = index_type
        self._dialect = Dialect()

    @property
    def lexical(self) -> bool:
        return self._dialect.bm25

    def _open(self, client: MilvusClient) -> None:
        if self._opened:
            return
        self._dialect = Dialect.of(server_version(client, self._timeout_s))
        for name, create in ((self.chunks, self._create_chunks), (self.tags, self._create_tags)):
            there = client.has_collection(name, timeout=self._timeout_s)
            self._answered = True
            if not there:
                try:
                    create(client)
                except MilvusException:  # another process created it first, or it is an error
                    if not client.has_collection(name, timeout=self._timeout_s):
                        raise
            add_indexes(
                client,
                name,
                self._dialect,
                index_type=self._index_type,
                words=self._dialect.bm25 and name == self.chunks,
                timeout_s=self._timeout_s,
            )
            client.load_collection(name, timeout=LOAD_TIMEOUT_S)
        self._opened = True

    def _create_chunks(self, client: MilvusClient) -> None:
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=36)
        schema.add_field("ns", DataType.VARCHAR, max_length=32, is_partition_key=not self._dialect.lite)
        schema.add_field("library", DataType.VARCHAR, max_length=16)
        schema.add_field("note", DataType.VARCHAR, max_length=16)
        schema.add_field("at", DataType.INT64)
        add_words(schema, self._dialect)
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=self._info.dim)
        client.create_collection(self.chunks, schema=schema, consistency_level="Bounded")

    def _create_tags(self, client: MilvusClient) -> None:
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.INT64, is_primary=True)
        schema.add_field("ns", DataType.VARCHAR, max_length=32, is_partition_key=not self._dialect.lite)
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=self._info.dim)
        client.create_collection(self.tags, schema=schema, consistency_level="Bounded")

    # -- rows -------------------------------------------------------------------------------------------------------

    def insert(self, entries: Sequence[ChunkEntry], *, again: bool) -> None:
        rows = [
            {
                "id": entry.id,
                "ns": entry.ns,
                "library": hashed(entry.library_id),
                "note": hashed(entry.note_id),
                "at": _at(entry.at),
                "lexemes": fitting(entry.lexemes),
                "dense": entry.vector,
            }
            for entry in entries
        ]
        self._put(self.chunks, rows, again=again)

    def insert_tags(self, entries: Sequence[TagEntry]) -> None:
        rows = [{"id": entry.id, "ns": entry.ns, "dense": entry.vector} for entry in entries]
        self._put(self.tags, rows, again=True)

    def _put(self, collection: str, rows: list[dict[str, Any]], *, again: bool) -> None:
        """Replacing is a delete and an insert: that works on every server."""
        if not rows:
            return
        if again and (there := self._present(collection, [row["id"] for row in rows])):
            self._call(partial(delete_rows, collection=collection, ids=there))
        self._call(lambda client: client.insert(collection, rows, timeout=self._timeout_s * 10))
        wait_until_visible(lite=self._dialect.lite, ask=lambda: self._present(collection, [rows[-1]["id"]]))

    def exists(self) -> bool:
        return self.chunks in self._names()

    def between(self, after: str, until: str, limit: int) -> list[str]:
        condition = f'id > "{_checked(after)}"' + (f' and id <= "{_checked(until)}"' if until else "")

        def attempt(client: MilvusClient) -> list[str]:
            rows = client.query(
                self.chunks,
                filter=condition,
                output_fields=["id"],
                limit=min(limit, _MOST),
                consistency_level="Strong",
                timeout=self._timeout_s * 10,
            )
            return [row["id"] for row in rows]

        return self._call(attempt)

    def present(self, chunks: Sequence[str]) -> set[str]:
        return {
            key
            for start in range(0, len(chunks), _ID_BATCH)
            for key in self._present(self.chunks, chunks[start : start + _ID_BATCH])
        }

    def _present(self, collection: str, ids: Sequence[Any]) -> set[Any]:
        return self._call(
            partial(
                present_keys,
                collection=collection,
                ids=ids,
                is_loaded=collection in (self.chunks, self.tags),
                timeout_s=self._timeout_s * 2,
            )
        )

    # -- searching --------------------------------------------------------------------------------------------------

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: NoteFilter) -> dict[str, float]:
        return self._chunks("dense", vector, limit, _expression(scopes, where))

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: NoteFilter) -> dict[str, float]:
        if not lexemes or not self.lexical:
            return {}
        try:
            return self._chunks("sparse", fitting(lexemes), limit, _expression(scopes, where))
        except StoreUnavailable as error:
            if "NaN" not in str(error):  # Milvus divided by the mean length of zero documents
                raise
            return {}

    def near_tags(self, scopes: Sequence[Scope], vector: Vector, limit: int) -> dict[int, float]:
        hits = self._search(self.tags, "dense", vector, limit, _expression(scopes, NoteFilter()))
        return dict(zip(hits.ids, map(float, hits.distances), strict=True))

    def _chunks(self, field: str, data: Any, limit: int, test: str) -> dict[str, float]:
        hits = self._search(self.chunks, field, data, limit, test)
        found = zip(hits.ids, hits.distances, strict=True)
        return {key: float(distance) for key, distance in found if is_sound(key, distance)}

    def _search(self, collection: str, field: str, data: Any, limit: int, test: str) -> Any:
        def attempt(client: MilvusClient) -> list[Any]:
            return list(
                client.search(
                    collection,
                    [data],
                    anns_field=field,
                    filter=test,
                    limit=limit,
                    output_fields=[],
                    timeout=self._timeout_s,
                    consistency_level="Bounded",
                )
            )

        return self._call(attempt)[0]

    # -- removing ---------------------------------------------------------------------------------------------------

    def purge(self, chunks: Sequence[str], tags: Sequence[int] = ()) -> None:
        for ending, ids in ((CHUNKS, list(chunks)), (TAGS, list(tags))):
            for collection in self._collections(ending) if ids else ():
                for start in range(0, len(ids), _ID_BATCH):
                    if there := self._present(collection, ids[start : start + _ID_BATCH]):
                        self._call(partial(delete_rows, collection=collection, ids=there))

    def count(self, chunks: Sequence[str] | None = None) -> int:
        if chunks is not None:
            return self._count(CHUNKS, chunks)
        return self._call(lambda client: count_rows(client, self.chunks, "", self._timeout_s * 2))

    def count_tags(self, tags: Sequence[int]) -> int:
        return self._count(TAGS, tags)

    def _count(self, ending: str, ids: Sequence[Any]) -> int:
        return sum(
            len(self._present(collection, ids[start : start + _ID_BATCH]))
            for collection in (self._collections(ending) if ids else ())
            for start in range(0, len(ids), _ID_BATCH)
        )

    def _collections(self, ending: str) -> list[str]:
        pattern = rf"{re.escape(self._prefix)}_[a-z0-9_]*_[0-9a-f]{{6}}_[0-9]+{ending}"
        return [name for name in self._names() if re.fullmatch(pattern, name)]

    def _names(self) -> list[str]:
        """The names of all collections; opens none."""
        with self._errors():
            return list(self._connect().list_collections(timeout=self._timeout_s))

    def drop(self) -> None:
        for name in (self.chunks, self.tags):
            self._call(partial(_drop, name=name))
        self._opened = False

    def drop_others(self) -> int:
        others = {*self._collections(CHUNKS), *self._collections(TAGS)} - {self.chunks, self.tags}
        for name in others:
            self._call(partial(_drop, name=name))
        return len(others)


def _checked(text: str) -> str:
    """One of our ids, which cannot contain filter syntax."""
    if text and not all(c in "0123456789abcdef-" for c in text):
        raise ValueError("not an id")
    return text


def _drop(client: MilvusClient, name: str) -> None:
    client.drop_collection(name)


def _at(moment: datetime | None) -> int:
    return _UNDATED if moment is None else microseconds(moment)


def _expression(scopes: Sequence[Scope], where: NoteFilter) -> str:
    """The filter for rows of these scopes that meet the conditions: hashes and integers, never a caller's text.

    What fewest rows meet stands first: a condition is tested on the rows that met those before it only.
    """
    parts = []
    if where.notes:
        parts.append(one_of("note", [hashed(name) for name in where.notes]))
    if where.since is not None:
        parts.append(f"at >= {microseconds(where.since)}")
    elif where.until is not None:
        parts.append(f"at > {_UNDATED}")
    if where.until is not None:
        parts.append(f"at < {microseconds(where.until)}")
    if where.libraries:
        parts.append(one_of("library", [hashed(name) for name in where.libraries]))
    parts.append(one_of("ns", [scope.ns for scope in scopes]))
    return " and ".join(parts)
