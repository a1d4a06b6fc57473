"""VectorIndex in Milvus: dense vectors and, from server 2.5 on, BM25 over the same rows.

Rows never change except when their text does (architecture D4). What reaches a filter expression is a hash or an
integer, never a caller's text, so nothing can be read as syntax.
"""

import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

import grpc
from pymilvus import DataType, Function, FunctionType, MilvusClient, MilvusException

from biem.domain.scope import Scope
from biem.domain.text import cut_bytes
from biem.errors import ConfigError, EmbedderMismatch, StoreFull, StoreUnavailable
from biem.ports import EmbedderInfo, Entry, Filter, Vector, Vectors

T = TypeVar("T")

_ID_BATCH = 500
_BM25 = {"bm25_k1": 1.2, "bm25_b": 0.75}
_FIRST_WITH_BM25 = (2, 5)
_FIRST_WITH_INFIX = (2, 4)
"""Before, `like` knows only prefixes; so the nearest rows are fetched with their tags, and chosen among here."""
_MOST_WITH_TAGS = 1_000
"""Rows fetched for that: a memory with the tags that is further away than so many others of its scope is missed."""
_NOT_LOADED = (101, 106, 503)
"""Milvus' codes for a collection that is there but not in memory, as after a restart."""
_MISSING = (100, 4)
_LOAD_TIMEOUT_S = 60.0
"""Reading 100,000 rows into memory takes Milvus Lite 3.4 s."""


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()[:16]


def _microseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000)


def collection_name(prefix: str, info: EmbedderInfo) -> str:
    """One collection per (model, dimension): vectors of two models are never compared."""
    slug = re.sub(r"[^a-z0-9]+", "_", info.id.lower()).strip("_")[:40]
    return f"{prefix}_{slug}_{_hash(info.id)[:6]}_{info.dim}"


def is_ours(name: str, prefix: str) -> bool:
    """Whether a collection's name is one that `collection_name` makes: a foreign one may begin alike."""
    return re.fullmatch(rf"{re.escape(prefix)}_[a-z0-9_]*_[0-9a-f]{{6}}_[0-9]+", name) is not None


class MilvusIndex:
    """The port `VectorIndex` on one Milvus server. Thread-safe; connects when called, again after outages."""

    def __init__(
        self, uri: str, *, token: str, prefix: str, info: EmbedderInfo, index_type: str, timeout_s: float, ca: str = ""
    ) -> None:
        self.collection = collection_name(prefix, info)
        self._uri = uri
        self._token = token
        self._tls = {"server_pem_path": ca} if ca else {}
        self._prefix = prefix
        self._info = info
        self._index_type = index_type
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._client: MilvusClient | None = None
        self._opened = False
        self._lexical = True
        self._lite = False
        self._infix = True

    @property
    def lexical(self) -> bool:
        return self._lexical

    # -- the collection ---------------------------------------------------------------------------------------------

    def open(self) -> None:
        with self._errors():
            self._ready()

    def _open(self, client: MilvusClient) -> None:
        if self._opened:
            return
        version = server_version(client, self._timeout_s)
        self._lite = version is None
        self._infix = version is None or version >= _FIRST_WITH_INFIX
        if not client.has_collection(self.collection, timeout=self._timeout_s):
            try:
                self._create(client, bm25=version is None or version >= _FIRST_WITH_BM25)
            except MilvusException:
                if not client.has_collection(
                    self.collection, timeout=self._timeout_s
                ):  # else another process was faster
                    raise
        fields = {
            field["name"]: field
            for field in client.describe_collection(self.collection, timeout=self._timeout_s)["fields"]
        }
        if "dense" not in fields or "lexemes" not in fields:
            raise ConfigError(
                f"Milvus collection {self.collection} was not made by biem; set BIEM_MILVUS_COLLECTION to a free name"
            )
        dim = int(fields["dense"]["params"]["dim"])
        if dim != self._info.dim:
            raise EmbedderMismatch(
                f"collection {self.collection} holds {dim}-dimensional vectors, {self._info.id} makes {self._info.dim}"
            )
        self._lexical = "sparse" in fields
        client.load_collection(self.collection, timeout=_LOAD_TIMEOUT_S)
        self._opened = True

    def _create(self, client: MilvusClient, *, bm25: bool) -> None:
        schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=36)
        # Milvus Lite cannot filter on a partition key; a server wants one to keep scopes apart.
        schema.add_field("ns", DataType.VARCHAR, max_length=32, is_partition_key=not self._lite)
        schema.add_field("kind", DataType.VARCHAR, max_length=16)
        schema.add_field("speaker", DataType.VARCHAR, max_length=16)
        schema.add_field("conversation", DataType.VARCHAR, max_length=16)
        schema.add_field("tags", DataType.VARCHAR, max_length=2_048)
        schema.add_field("at", DataType.INT64)
        index = client.prepare_index_params()
        index.add_index("dense", index_type=self._dense_index(), metric_type="COSINE")
        if bm25:
            schema.add_field(
                "lexemes",
                DataType.VARCHAR,
                max_length=65_535,
                enable_analyzer=True,
                analyzer_params={"tokenizer": "whitespace"},
            )
            schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
            schema.add_function(
                Function(
                    name="bm25",
                    function_type=FunctionType.BM25,
                    input_field_names=["lexemes"],
                    output_field_names=["sparse"],
                )
            )
            index.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=_BM25)
        else:
            schema.add_field("lexemes", DataType.VARCHAR, max_length=65_535)
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=self._info.dim)
        client.create_collection(self.collection, schema=schema, index_params=index, consistency_level="Bounded")

    def _dense_index(self) -> str:
        """Exact search embedded: an IVF index looks at few lists only and would miss a small scope among large ones."""
        if self._index_type != "auto":
            return self._index_type
        return "FLAT" if self._lite else "AUTOINDEX"

    # -- rows -------------------------------------------------------------------------------------------------------

    def insert(self, entries: Sequence[Entry], *, again: bool) -> None:
        if not entries:
            return
        rows: list[dict[str, Any]] = [
            {
                "id": entry.id,
                "ns": entry.scope.ns,
                "kind": entry.kind,
                "speaker": _hash(entry.speaker),
                "conversation": _hash(entry.conversation),
                "tags": " ".join(_hash(tag) for tag in entry.tags),
                "at": _microseconds(entry.at),
                "lexemes": cut_bytes(entry.lexemes, 65_000),
                "dense": entry.vector,
            }
            for entry in entries
        ]
        if again:
            there = self._present(self.collection, [entry.id for entry in entries])
            replaced = [row for row in rows if row["id"] in there]
            if replaced:
                self._call(lambda client: client.upsert(self.collection, replaced, timeout=self._timeout_s * 10))
            rows = [row for row in rows if row["id"] not in there]
        if rows:
            self._call(lambda client: client.insert(self.collection, rows, timeout=self._timeout_s * 10))
        self._await_visible(entries[-1].id)

    def _await_visible(self, memory_id: str) -> None:
        """Return when searches show what was just written.

        They ask with bounded staleness, as waiting for the newest write takes a server until its next time tick (0.2 s)
        at every question. So whoever writes waits for that tick, once: a question with strong consistency ends after
        it, and what it saw every later search sees. Milvus Lite shows writes at once.
        """
        if not self._lite:
            self._present(self.collection, [memory_id])

    def dense(self, scopes: Sequence[Scope], vector: Vector, limit: int, where: Filter) -> dict[str, float]:
        return self._search("dense", vector, scopes, limit, where)

    def words(self, scopes: Sequence[Scope], lexemes: str, limit: int, where: Filter) -> dict[str, float]:
        if not lexemes or not self._lexical:
            return {}
        try:
            return self._search("sparse", cut_bytes(lexemes, 65_000), scopes, limit, where)
        except StoreUnavailable as error:
            if "NaN" in str(error) and self.count() == 0:  # Milvus divides by the mean length of no documents
                return {}
            raise

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:
        return self._searches("dense", list(vectors), [scope], limit, Filter()) if len(vectors) else []

    def _search(self, field: str, data: Any, scopes: Sequence[Scope], limit: int, where: Filter) -> dict[str, float]:
        return self._searches(field, [data], scopes, limit, where)[0]

    def _searches(
        self, field: str, data: list[Any], scopes: Sequence[Scope], limit: int, where: Filter
    ) -> list[dict[str, float]]:
        tags = {_hash(tag) for tag in where.tags}

        def attempt(client: MilvusClient) -> list[dict[str, float]]:
            here = bool(tags) and not self._infix
            answers = client.search(
                self.collection,
                data,
                anns_field=field,
                filter=_expression(scopes, replace(where, tags=()) if here else where),
                limit=max(limit, _MOST_WITH_TAGS) if here else limit,
                output_fields=["tags"] if here else [],
                timeout=self._timeout_s * max(1.0, len(data) / 8),
                consistency_level="Bounded",
            )
            return [
                dict([(hit["id"], float(hit["distance"])) for hit in hits if not here or _has(hit, tags)][:limit])
                for hits in answers
            ]

        return self._call(attempt)

    def purge(self, ids: Sequence[str]) -> None:
        for collection in self._collections():
            for start in range(0, len(ids), _ID_BATCH):
                batch = list(ids[start : start + _ID_BATCH])
                there = sorted(self._present(collection, batch))
                if there:  # a delete costs Milvus Lite 35–170 ms, whether or not there is anything to delete
                    self._call(partial(_delete, collection=collection, ids=there))

    def count(self, ids: Sequence[str] | None = None) -> int:
        if ids is None:
            rows = self._call(
                lambda client: client.query(
                    self.collection,
                    filter="",
                    output_fields=["count(*)"],
                    consistency_level="Strong",
                    timeout=self._timeout_s * 10,
                )
            )
            return int(rows[0]["count(*)"])
        return sum(
            len(self._present(collection, ids[start : start + _ID_BATCH]))
            for collection in self._collections()
            for start in range(0, len(ids), _ID_BATCH)
        )

    def _present(self, collection: str, ids: Sequence[str]) -> set[str]:
        def attempt(client: MilvusClient) -> set[str]:
            if collection != self.collection:
                client.load_collection(collection, timeout=_LOAD_TIMEOUT_S)
            rows = client.query(
                collection,
                ids=list(ids),
                output_fields=["id"],
                consistency_level="Strong",
                timeout=self._timeout_s * 2,
            )
            return {row["id"] for row in rows}

        return self._call(attempt)

    def _collections(self) -> list[str]:
        names = self._call(lambda client: client.list_collections(timeout=self._timeout_s))
        return [name for name in names if is_ours(name, self._prefix)]

    def drop(self) -> None:
        def attempt(client: MilvusClient) -> None:
            client.drop_collection(self.collection)

        self._call(attempt)
        self._opened = False

    def ping(self) -> None:
        self._call(lambda client: client.list_collections(timeout=self._timeout_s))

    def close(self) -> None:
        client, self._client, self._opened = self._client, None, False
        if client is not None:
            client.close()

    # -- plumbing ---------------------------------------------------------------------------------------------------

    def _call(self, work: Callable[[MilvusClient], T]) -> T:
        """Do `work`, once more if the server has restarted and must load or make the collection first."""
        with self._errors():
            client = self._ready()
            try:
                return work(client)
            except MilvusException as error:
                if error.code not in _NOT_LOADED + _MISSING and "not load" not in str(error).lower():
                    raise
            self._opened = False
            return work(self._ready())

    def _ready(self) -> MilvusClient:
        """The client with its collection open; nobody waits for a thread that opens it longer than for an answer."""
        client = self._client
        if client is not None and self._opened:
            return client
        if not self._lock.acquire(timeout=self._timeout_s):
            raise StoreUnavailable("Milvus is being connected to; check that it runs and BIEM_MILVUS_URI")
        try:
            client = self._connect()
            self._open(client)
            return client
        finally:
            self._lock.release()

    def _connect(self) -> MilvusClient:
        if self._client is None:
            self._client = MilvusClient(
                uri=self._uri, token=self._token, timeout=self._timeout_s, dedicated=True, **self._tls
            )
        return self._client

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (MilvusException, grpc.RpcError, grpc.FutureTimeoutError, ValueError) as error:
            if isinstance(error, ValueError) and "closed channel" not in str(error):
                raise
            text = " ".join(str(error).split())[:300]
            if "no space left" in text.lower() or "disk quota" in text.lower():
                raise StoreFull(f"Milvus' disk is full ({text}); free some space, then repeat") from error
            self._opened = False
            raise StoreUnavailable(f"Milvus did not answer ({text}); check that it runs and BIEM_MILVUS_URI") from error


def server_version(client: MilvusClient, timeout_s: float) -> tuple[int, ...] | None:
    """Major and minor version of a server; None for Milvus Lite, which does not implement the question."""
    try:
        version = str(client.get_server_version(timeout=timeout_s))
    except grpc.RpcError as error:
        if isinstance(error, grpc.Call) and error.code() is grpc.StatusCode.UNIMPLEMENTED:
            return None
        raise
    except MilvusException as error:
        if "UNIMPLEMENTED" in str(error):
            return None
        raise
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def _has(hit: Any, tags: set[str]) -> bool:
    """Whether a row that was found has all of these tags."""
    return tags <= set(hit["entity"]["tags"].split())


def _delete(client: MilvusClient, collection: str, ids: list[str]) -> None:
    client.delete(collection, ids=ids, timeout=_LOAD_TIMEOUT_S)


def _expression(scopes: Sequence[Scope], where: Filter) -> str:
    """A filter over hashes and integers only."""
    parts = [_one_of("ns", [scope.ns for scope in scopes])]
    if where.kinds:
        parts.append(_one_of("kind", where.kinds))
    if where.speakers:
        parts.append(_one_of("speaker", [_hash(name) for name in where.speakers]))
    if where.conversations:
        parts.append(_one_of("conversation", [_hash(name) for name in where.conversations]))
    parts += [f'tags like "%{_hash(tag)}%"' for tag in where.tags]
    if where.since is not None:
        parts.append(f"at >= {_microseconds(where.since)}")
    if where.until is not None:
        parts.append(f"at < {_microseconds(where.until)}")
    return " and ".join(parts)


def _one_of(field: str, values: Sequence[str]) -> str:
    if len(values) == 1:
        return f'{field} == "{values[0]}"'
    return f"{field} in [" + ", ".join(f'"{value}"' for value in values) + "]"
