"""VectorIndex in Milvus: dense vectors and, from server 2.5 on, BM25 over the same rows.

Rows never change except when their text does.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from biem.adapters.milvus.calls import MilvusCalls, count_rows, delete_rows, present_keys, wait_until_visible
from biem.adapters.milvus.collection import (
    LOAD_TIMEOUT_S,
    Dialect,
    add_indexes,
    collection_name,
    create,
    is_ours,
    searches_words,
    server_version,
)
from biem.adapters.milvus.light_import import MilvusClient, MilvusException
from biem.adapters.milvus.rows import FILTERED, expression, fitting, meets, row, sound
from biem.domain.scope import Scope
from biem.errors import CallRefused, StoreUnavailable
from biem.ports import EVERYTHING, EmbedderInfo, Entry, Filter, Vector, Vectors

T = TypeVar("T")

_ID_BATCH = 500
_MOST_TAGS = 16
"""Maximum conditions in one expression: Milvus Lite refuses several dozen."""
_MOST_HERE, _MOST_AT_ONCE = 1_000, 16_384
"""Rows fetched where the server cannot evaluate all conditions, to be filtered here, and the second limit if these
are too few: a match is missed if more rows than that are nearer and meet the server's conditions.
"""


class MilvusIndex(MilvusCalls):
    """The port `VectorIndex` on one Milvus server. Thread-safe; connects when called, and reconnects after outages."""

    def __init__(
        self, uri: str, *, token: str, prefix: str, info: EmbedderInfo, index_type: str, timeout_s: float, ca: str = ""
    ) -> None:
        super().__init__(uri, token=token, ca=ca, timeout_s=timeout_s)
        self.collection = collection_name(prefix, info)
        self._prefix = prefix
        self._info = info
        self._index_type = index_type
        self._lexical = True
        self._dialect = Dialect()

    @property
    def lexical(self) -> bool:
        return self._lexical

    @property
    def serial(self) -> bool:
        return self._dialect.lite

    # -- the collection ---------------------------------------------------------------------------------------------

    def _open(self, client: MilvusClient) -> None:
        if self._opened:
            return
        self._dialect = Dialect.of(server_version(client, self._timeout_s))
        there = client.has_collection(self.collection, timeout=self._timeout_s)
        self._answered = True
        if not there:
            try:
                create(client, self.collection, self._dialect, dim=self._info.dim)
            except MilvusException:  # another process created it first, or it is an error
                if not client.has_collection(self.collection, timeout=self._timeout_s):
                    raise
        self._lexical = searches_words(client, self.collection, self._info, self._timeout_s)
        add_indexes(
            client,
            self.collection,
            self._dialect,
            index_type=self._index_type,
            words=self._lexical,
            timeout_s=self._timeout_s,
        )
        client.load_collection(self.collection, timeout=LOAD_TIMEOUT_S)
        self._opened = True

    # -- rows -------------------------------------------------------------------------------------------------------

    def insert(self, entries: Sequence[Entry], *, again: bool) -> None:
        if not entries:
            return
        rows = [row(entry) for entry in entries]
        if again:
            there = self._present(self.collection, [entry.id for entry in entries])
            replaced = [each for each in rows if each["id"] in there]
            if replaced and self._dialect.upsert:
                self._call(lambda client: client.upsert(self.collection, replaced, timeout=self._timeout_s * 10))
                rows = [each for each in rows if each["id"] not in there]
            elif replaced:
                self._call(partial(delete_rows, collection=self.collection, ids=there))
        if rows:
            self._call(lambda client: client.insert(self.collection, rows, timeout=self._timeout_s * 10))
        last = entries[-1].id
        wait_until_visible(lite=self._dialect.lite, ask=lambda: self._present(self.collection, [last]))

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        return self._searches("dense", [vector], scopes, limit, where)[0]

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: Filter) -> dict[str, float]:
        if not lexemes or not self._lexical:
            return {}
        search = partial(self._searches, "sparse", [fitting(lexemes)], scopes, limit, where)
        try:
            return search()[0]
        except StoreUnavailable as error:
            if "NaN" not in str(error):
                raise
        # Milvus divided by the mean length of zero documents; the first one may have been added meanwhile.
        return search()[0] if self.count() else {}

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        return self._searches("dense", list(vectors), [scope], limit, Filter()) if len(vectors) else []

    def _searches(
        self, field: str, data: list[Any], scopes: Sequence[Scope], limit: int, where: Filter
    ) -> list[dict[str, float]]:
        """Rows that meet the conditions; those that the server cannot evaluate are evaluated here."""
        asked = replace(where, tags=where.tags[:_MOST_TAGS] if self._dialect.infix else ())
        try:
            return self._nearest(field, data, scopes, limit, where, asked)
        except CallRefused:
            if asked == EVERYTHING:
                raise
            return self._nearest(field, data, scopes, limit, where, Filter())

    def _nearest(
        self, field: str, data: list[Any], scopes: Sequence[Scope], limit: int, where: Filter, asked: Filter
    ) -> list[dict[str, float]]:
        """`asked`: the conditions for the server; fetches more of the nearest rows until enough meet `where`."""
        here = asked != where
        test = expression(scopes, asked)

        def attempt(client: MilvusClient, most: int) -> list[Any]:
            return list(
                client.search(
                    self.collection,
                    data,
                    anns_field=field,
                    filter=test,
                    limit=most,
                    output_fields=list(FILTERED) if here else [],
                    timeout=self._timeout_s * max(1.0, len(data) / 8),
                    consistency_level="Bounded",
                )
            )

        found: list[dict[str, float]] = []
        for most in (max(limit, _MOST_HERE), _MOST_AT_ONCE) if here else (limit,):
            answers = self._call(partial(attempt, most=most))
            found = [
                {hit["id"]: float(hit["distance"]) for hit in met[:limit]}
                for met in ([hit for hit in sound(hits) if not here or meets(hit["entity"], where)] for hits in answers)
            ]
            if all(len(one) == limit or len(hits) < most for one, hits in zip(found, answers, strict=True)):
                break
        return found

    def purge(self, ids: Sequence[str]) -> None:
        for collection in self._collections():
            for start in range(0, len(ids), _ID_BATCH):
                there = self._present(collection, ids[start : start + _ID_BATCH])
                if there:  # a delete costs Milvus Lite 35–170 ms, even if nothing matches
                    self._call(partial(delete_rows, collection=collection, ids=there))

    def count(self, ids: Sequence[str] | None = None) -> int:
        if ids is None:
            return self._call(lambda client: count_rows(client, self.collection, "", self._timeout_s * 10))
        return sum(
            len(self._present(collection, ids[start : start + _ID_BATCH]))
            for collection in self._collections()
            for start in range(0, len(ids), _ID_BATCH)
        )

    def held(self, scopes: Sequence[Scope]) -> int:
        test = expression(scopes, EVERYTHING)
        return self._call(lambda client: count_rows(client, self.collection, test, self._timeout_s * 10))

    def _present(self, collection: str, ids: Sequence[str]) -> set[str]:
        return self._call(
            partial(
                present_keys,
                collection=collection,
                ids=ids,
                is_loaded=collection == self.collection,
                timeout_s=self._timeout_s * 2,
            )
        )

    def _collections(self) -> list[str]:
        found = self._call(lambda client: client.list_collections(timeout=self._timeout_s))
        return [name for name in found if is_ours(name, self._prefix)]

    def drop(self) -> None:
        self._call(lambda client: client.drop_collection(self.collection))
        self._opened = False

    def ping(self) -> None:
        self._collections()
