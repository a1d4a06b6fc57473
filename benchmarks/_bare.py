"""The servers that biem stands on, asked without biem."""

import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql
from pymilvus import AnnSearchRequest, MilvusClient, RRFRanker

from biem.adapters.analyzers import RuleAnalyzer
from biem.bootstrap import Servers
from biem.domain.scope import Scope
from biem.ports import Embedder, Vector

_RRF_K = 60
_PAGE_BYTES = 8_192
_LOG_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """A question as Milvus takes it: what recall computes itself is not part of the bare search's time."""

    vector: Vector
    lexemes: str


class BareMilvus:
    """Searches in the collection that biem filled, with its vectors, words and scope filter."""

    def __init__(self, where: Servers, collection: str, scope: Scope, embedder: Embedder, top_k: int) -> None:
        self._collection = collection
        self._where = f'ns == "{scope.ns}"'
        self._embedder = embedder
        self._analyzer = RuleAnalyzer()
        self._top_k = top_k
        self._client = MilvusClient(uri=where.milvus_uri, token=where.milvus_token, dedicated=True)
        self._client.load_collection(self._collection)
        fields = self._client.describe_collection(self._collection)["fields"]
        self.lexical = any(field["name"] == "sparse" for field in fields)
        """Whether the server searches by words, too: from 2.5 on."""

    def prepare(self, question: str) -> Prepared:
        """Embed and tokenise."""
        vector = self._embedder.embed([question], "query")[0]
        return Prepared(vector, " ".join(dict.fromkeys(self._analyzer.lexemes(question))))

    def hybrid(self, question: Prepared) -> set[str]:
        """One `hybrid_search`, fused by reciprocal ranks on the server."""
        searches = [
            AnnSearchRequest([question.vector], "dense", {}, limit=self._top_k, expr=self._where),
            AnnSearchRequest([question.lexemes], "sparse", {}, limit=self._top_k, expr=self._where),
        ]
        found = self._client.hybrid_search(
            self._collection, searches, RRFRanker(_RRF_K), limit=self._top_k, consistency_level="Bounded"
        )
        return {str(hit["id"]) for hit in found[0]}

    def two_searches(self, question: Prepared) -> set[str]:
        """A dense search, then a BM25 search."""
        return self.dense(question) | self._search("sparse", question.lexemes)

    def dense(self, question: Prepared) -> set[str]:
        """A search by meaning alone."""
        return self._search("dense", question.vector)

    def _search(self, field: str, data: Vector | str) -> set[str]:
        hits = self._client.search(
            self._collection,
            [data],
            anns_field=field,
            filter=self._where,
            limit=self._top_k,
            search_params={},
            consistency_level="Bounded",
        )
        return {str(hit["id"]) for hit in hits[0]}

    def close(self) -> None:
        """Release the connection."""
        self._client.close()


def disk_ms(folder: Path, count: int) -> list[float]:
    """Milliseconds that a disk takes to keep a page of PostgreSQL's log, each time.

    With a worker in the same process one would measure how long its thread keeps the interpreter.
    """
    synced = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
    times: list[float] = []
    with (folder / "bare-disk").open("w+b", buffering=0) as file:
        file.write(bytes(_LOG_BYTES))
        os.fsync(file.fileno())
        for number in range(count):
            began = time.perf_counter()
            os.pwrite(file.fileno(), os.urandom(_PAGE_BYTES), number * _PAGE_BYTES % _LOG_BYTES)
            synced(file.fileno())
            times.append((time.perf_counter() - began) * 1_000)
    return times


class BarePostgres:
    """The least a durable write with an outbox can cost: a row, a job and a counter in one transaction."""

    def __init__(self, where: Servers) -> None:
        self._schema = sql.Identifier(f"benchmark_{uuid.uuid4().hex[:12]}")
        self._connection = psycopg.connect(where.postgres_dsn, autocommit=True)
        for statement in (
            "CREATE SCHEMA {0}",
            "CREATE TABLE {0}.rows (id uuid PRIMARY KEY, body text NOT NULL, at timestamptz NOT NULL DEFAULT now())",
            "CREATE TABLE {0}.jobs (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, row_id uuid NOT NULL)",
            "CREATE TABLE {0}.counter (value bigint NOT NULL)",
            "INSERT INTO {0}.counter VALUES (0)",
        ):
            self._connection.execute(sql.SQL(statement).format(self._schema))

    def write(self, text: str) -> None:
        """Three statements and a commit."""
        row_id = uuid.uuid4()
        with self._connection.transaction():
            self._run("UPDATE {0}.counter SET value = value + 1", ())
            self._run("INSERT INTO {0}.rows (id, body) VALUES (%s, %s)", (row_id, text))
            self._run("INSERT INTO {0}.jobs (row_id) VALUES (%s)", (row_id,))

    def close(self) -> None:
        """Leave nothing behind."""
        self._connection.execute(sql.SQL("DROP SCHEMA {0} CASCADE").format(self._schema))
        self._connection.close()

    def _run(self, statement: str, values: tuple[object, ...]) -> None:
        self._connection.execute(sql.SQL(statement).format(self._schema), values)
