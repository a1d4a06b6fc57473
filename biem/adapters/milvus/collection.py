"""A collection of Milvus: its name, its fields, and the capabilities of its server."""

import logging
import re
from dataclasses import dataclass
from typing import Any, Self

import grpc

from biem.adapters.milvus.light_import import DataType, Function, FunctionType, MilvusClient, MilvusException
from biem.adapters.milvus.rows import hashed
from biem.errors import ConfigError, EmbedderMismatch
from biem.ports import EmbedderInfo

LOAD_TIMEOUT_S = 60.0
"""Loading 100,000 rows into memory takes Milvus Lite 3.4 s."""
_BM25 = {"bm25_k1": 1.2, "bm25_b": 0.75}
_FIRST_WITH_BM25 = (2, 5)
_FIRST_WITH_INFIX = (2, 4)


def collection_name(prefix: str, info: EmbedderInfo) -> str:
    """One collection per (model, dimension): vectors of two models are never compared."""
    slug = re.sub(r"[^a-z0-9]+", "_", info.id.lower()).strip("_")[:40]
    return f"{prefix}_{slug}_{hashed(info.id)[:6]}_{info.dim}"


def is_ours(name: str, prefix: str) -> bool:
    """Whether `collection_name` created this name: a foreign name may have the same prefix."""
    return re.fullmatch(rf"{re.escape(prefix)}_[a-z0-9_]*_[0-9a-f]{{6}}_[0-9]+", name) is not None


def server_version(client: MilvusClient, timeout_s: float) -> tuple[int, ...] | None:
    """Major and minor version of a server; None for Milvus Lite, which does not implement the request."""
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


@dataclass(frozen=True, slots=True)
class Dialect:
    """The capabilities of a server."""

    lite: bool = False
    """Milvus Lite: shows writes at once, searches exactly, cannot filter on a partition key."""
    infix: bool = True
    """`like` matches inside a text; older servers match prefixes only."""
    bm25: bool = True
    """Search by words: server-side functions that compute sparse vectors of texts."""
    upsert: bool = True
    """A row may be replaced in one call. On 2.3.5 searches mostly never return such a row again, though queries do."""

    @classmethod
    def of(cls, version: tuple[int, ...] | None) -> Self:
        """The dialect of a `server_version`."""
        if version is None:
            return cls(lite=True)
        newer = version >= _FIRST_WITH_BM25
        return cls(infix=version >= _FIRST_WITH_INFIX, bm25=newer, upsert=newer)

    def dense_index(self, chosen: str) -> str:
        """Exact search in Milvus Lite: an IVF index probes few lists only and would miss a small scope among large
        ones.
        """
        if chosen != "auto":
            return chosen
        return "FLAT" if self.lite else "AUTOINDEX"

    @property
    def metric(self) -> str:
        """The measure of likeness of vectors. All are unit vectors, so the inner product is the cosine.

        For COSINE, Milvus Lite computes the length of every row in each search, which takes half of its time, and
        nearly all of it under a condition.
        """
        return "IP" if self.lite else "COSINE"


def create(client: MilvusClient, name: str, dialect: Dialect, *, dim: int) -> None:
    """Create a collection with all search fields that this server supports; `add_indexes` creates its indexes."""
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=36)
    # A server needs a partition key to separate scopes.
    schema.add_field("ns", DataType.VARCHAR, max_length=32, is_partition_key=not dialect.lite)
    schema.add_field("kind", DataType.VARCHAR, max_length=16)
    schema.add_field("speaker", DataType.VARCHAR, max_length=16)
    schema.add_field("conversation", DataType.VARCHAR, max_length=16)
    schema.add_field("tags", DataType.VARCHAR, max_length=2_048)
    schema.add_field("at", DataType.INT64)
    add_words(schema, dialect)
    schema.add_field("dense", DataType.FLOAT_VECTOR, dim=dim)
    client.create_collection(name, schema=schema, consistency_level="Bounded")


def add_indexes(
    client: MilvusClient, name: str, dialect: Dialect, *, index_type: str, words: bool, timeout_s: float
) -> None:
    """Create missing indexes: of a new collection, or after its creator died, or of an earlier version's metric.

    pymilvus would wait half a second for each; loading the collection waits for them anyway.
    """
    index = client.prepare_index_params()
    if dialect.lite:
        _drop_index_of_another_metric(client, name, dialect.metric, timeout_s)
    if not client.list_indexes(name, "dense", timeout=timeout_s):
        index.add_index("dense", index_type=dialect.dense_index(index_type), metric_type=dialect.metric)
    if words and not client.list_indexes(name, "sparse", timeout=timeout_s):
        index.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25", params=_BM25)
    if len(index):
        client.create_index(name, index, sync=False)


def _drop_index_of_another_metric(client: MilvusClient, name: str, metric: str, timeout_s: float) -> None:
    """The index of an exact search stores no data, so replacing it takes no longer than loading."""

    def differs() -> bool:
        if not client.list_indexes(name, "dense", timeout=timeout_s):
            return False
        described = client.describe_index(name, "dense", timeout=timeout_s) or {}
        return bool(described.get("metric_type", metric) != metric)

    if not differs():
        return
    try:
        client.release_collection(name, timeout=timeout_s)
        client.drop_index(name, "dense", timeout=timeout_s)
    except MilvusException:  # another process was faster, or it is an error
        if differs():
            raise


def add_words(schema: Any, dialect: Dialect) -> None:
    """Add the field of index terms and, where the server searches by words, what it derives from them."""
    if not dialect.bm25:
        schema.add_field("lexemes", DataType.VARCHAR, max_length=65_535)
        return
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


def searches_words(client: MilvusClient, name: str, info: EmbedderInfo, timeout_s: float) -> bool:
    """Whether an existing collection supports search by words.

    Raises `ConfigError` for a foreign one and `EmbedderMismatch` for vectors of another dimension.
    """
    described: Any = client.describe_collection(name, timeout=timeout_s)
    fields = {field["name"]: field for field in described["fields"]}
    if "dense" not in fields or "lexemes" not in fields:
        raise ConfigError(f"Milvus collection {name} was not made by biem; set BIEM_MILVUS_COLLECTION to a free name")
    dim = int(fields["dense"]["params"]["dim"])
    if dim != info.dim:
        raise EmbedderMismatch(f"collection {name} holds {dim}-dimensional vectors, {info.id} makes {info.dim}")
    return "sparse" in fields


_NO_PINGS = {"grpc.keepalive_time_ms": 2**31 - 1, "grpc.keepalive_permit_without_calls": 0}
"""Milvus Lite closes a connection with a ping every ten seconds, pymilvus' default, and with it the call in
progress: after half a minute of silence, with an error on the terminal. A socket file needs no pings: its end is
detected at once.
"""


def connected(uri: str, *, timeout_s: float, **secrets: str) -> MilvusClient:
    """A separate connection, opened at once; `secrets` as pymilvus names them. Raises what pymilvus raises."""
    pings = _NO_PINGS if uri.startswith("unix:") else {}
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs tracebacks of errors that are handled here
    return MilvusClient(uri=uri, timeout=timeout_s, dedicated=True, grpc_options=pings, **secrets)
