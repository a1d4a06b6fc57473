"""A plain Milvus hybrid search, the system to beat."""

import json
import sys

from pymilvus import AnnSearchRequest, DataType, Function, FunctionType, MilvusClient, MilvusException, RRFRanker

from benchmarks._data import Conversation, Question
from benchmarks.metrics import DEPTH
from biem.bootstrap import Servers
from biem.domain.text import cut_bytes
from biem.errors import StoreUnavailable
from biem.ports import Embedder

_MAX_BYTES = 65_535
_ROWS = 500
_RRF_K = 60


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
