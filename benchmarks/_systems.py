"""The two systems that need servers: a plain Milvus hybrid search, and biem through its public API."""

import json
import sys
import time
from typing import Any

from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, MilvusClient, MilvusException, RRFRanker

from benchmarks._data import Conversation, Question, Turn
from benchmarks.metrics import DEPTH
from biem import Memory
from biem.bootstrap import Servers
from biem.domain.text import cut_bytes
from biem.errors import StoreUnavailable
from biem.ports import Embedder

_MAX_BYTES = 65_535
_ROWS = 500
_RRF_K = 60
_FLUSH_S = 60.0


class MilvusHybrid:
    """What an engineer writes in an hour: one collection, text with the language's built-in analyzer, RRF with k = 60.

    Both searches are limited to the conversation by a filter and fetch as many rows as are returned, as in the Milvus
    documentation's own example.
    """

    name = "hybrid"

    def __init__(self, where: Servers, embedder: Embedder, lang: str, collection: str = "benchmark_hybrid") -> None:
        self.adds: list[float] = []
        self._embedder = embedder
        self._collection = collection
        self._rows = 0
        self._client = MilvusClient(uri=where.milvus_uri, token=where.milvus_token, dedicated=True)
        self._create("chinese" if lang.startswith("zh") else "english" if lang.startswith("en") else "standard")

    def load(self, conversation: Conversation) -> None:
        """Insert all turns with their vectors."""
        texts = [turn.indexed_text for turn in conversation.turns]
        vectors = self._embedder.embed(texts, "passage")
        rows = [
            {
                "id": f"{self._rows + position}",
                "turn": turn.id,
                "conversation": conversation.id,
                "position": position,
                "text": cut_bytes(texts[position], _MAX_BYTES),
                "dense": vectors[position],
            }
            for position, turn in enumerate(conversation.turns)
        ]
        for start in range(0, len(rows), _ROWS):
            self._client.insert(self._collection, rows[start : start + _ROWS])
        self._rows += len(rows)

    def ready(self) -> None:
        """One strongly consistent count: everything inserted is visible from now on."""
        counted = self._client.query(self._collection, output_fields=["count(*)"], consistency_level="Strong")
        if counted[0]["count(*)"] != self._rows:
            raise StoreUnavailable(f"the Milvus collection holds {counted[0]['count(*)']} rows instead of {self._rows}")

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """One `hybrid_search` call."""
        vector = self._embedder.embed([question.text], "query")[0]
        where = f"conversation == {json.dumps(conversation.id, ensure_ascii=False)}"
        if question.before is not None:
            where += f" and position < {question.before}"
        searches = [
            AnnSearchRequest([vector], "dense", {"metric_type": "COSINE"}, limit=DEPTH, expr=where),
            AnnSearchRequest([question.text], "sparse", {"metric_type": "BM25"}, limit=DEPTH, expr=where),
        ]
        found = self._client.hybrid_search(
            self._collection, searches, RRFRanker(_RRF_K), limit=DEPTH, output_fields=["turn"]
        )
        return [str(hit["entity"]["turn"]) for hit in found[0]]

    def close(self) -> None:
        """Drop the collection: nothing stays on a server that others use, too."""
        self._client.drop_collection(self._collection)
        self._client.close()

    def _create(self, analyzer: str) -> None:
        try:
            self._try_create(analyzer)
        except MilvusException as exc:
            if analyzer == "standard":
                raise
            print(f"this Milvus has no {analyzer!r} analyzer, hybrid uses 'standard' ({exc})", file=sys.stderr)
            self._try_create("standard")

    def _try_create(self, analyzer: str) -> None:
        schema = self._client.create_schema()
        schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
        schema.add_field("turn", DataType.VARCHAR, max_length=1_024)
        schema.add_field("conversation", DataType.VARCHAR, max_length=1_024)
        schema.add_field("position", DataType.INT64)
        schema.add_field(
            "text",
            DataType.VARCHAR,
            max_length=_MAX_BYTES,
            enable_analyzer=True,
            analyzer_params={"type": analyzer},
        )
        schema.add_field("dense", DataType.FLOAT_VECTOR, dim=self._embedder.info.dim)
        schema.add_field("sparse", DataType.SPARSE_FLOAT_VECTOR)
        schema.add_function(Function("bm25", FunctionType.BM25, ["text"], ["sparse"]))
        index = self._client.prepare_index_params()
        index.add_index("dense", index_type="FLAT", metric_type="COSINE")
        index.add_index("sparse", index_type="SPARSE_INVERTED_INDEX", metric_type="BM25")
        self._client.create_collection(self._collection, schema=schema, index_params=index)


def item_of(turn: Turn) -> dict[str, Any]:
    """A turn as `remember` takes it."""
    return {
        "text": turn.text,
        "speaker": turn.speaker,
        "conversation": turn.session,
        "at": turn.at,
        "ref": turn.id,
        "source": "benchmark",
    }


def spoken(conversation: Conversation) -> list[Turn]:
    """The turns that say something: biem refuses to remember nothing."""
    return [turn for turn in conversation.turns if turn.text.strip()]


def conditions(conversation: Conversation, question: Question) -> dict[str, Any]:
    """What `recall` is to respect: `before` becomes the time of that turn, for which nothing later exists yet."""
    if question.before is None or question.before >= len(conversation.turns):
        return {}
    return {"until": conversation.turns[question.before].at}


def settle(memory: Memory) -> None:
    """Wait for whoever indexes as long as he makes progress."""
    left = -1
    while not memory.flush(_FLUSH_S):
        pending = int(memory.stats()["pending"])
        if pending == left:
            raise StoreUnavailable(f"biem's worker indexed nothing in {_FLUSH_S:.0f} s; see `biem stats`")
        left = pending


class Biem:
    """biem as its users call it: one scope a conversation, `remember` message by message, then `recall`."""

    name = "biem"

    def __init__(self, where: Servers, memory: Memory, tenant: str) -> None:
        self.adds: list[float] = []
        self._embedded = where.embedded
        self._memory = memory
        self._tenant = tenant
        self._scopes: dict[str, Memory] = {}
        self._degraded = False

    def load(self, conversation: Conversation) -> None:
        """Remember every turn under its id; the worker indexes meanwhile."""
        scope = self._memory.scope(tenant=self._tenant, user=conversation.id)
        self._scopes[conversation.id] = scope
        for turn in spoken(conversation):
            began = time.perf_counter()
            scope.remember(**item_of(turn))
            self.adds.append((time.perf_counter() - began) * 1_000)

    def ready(self) -> None:
        """Everything is indexed."""
        for scope in self._scopes.values():
            settle(scope)

    def ask(self, conversation: Conversation, question: Question) -> list[str]:
        """One `recall`."""
        scope = self._scopes[conversation.id]
        hits = scope.recall(question.text, top_k=DEPTH, **conditions(conversation, question))
        if hits.degraded and not self._degraded:
            self._degraded = True
            print(f"biem answered degraded: {', '.join(hits.degraded)}", file=sys.stderr)
        return [hit.node.ref for hit in hits if hit.node.ref is not None]

    def close(self) -> None:
        """Leave nothing on servers that others use, too; the embedded ones go with their folder."""
        if not self._embedded:
            for scope in self._scopes.values():
                scope.erase(scope.bound_to)
