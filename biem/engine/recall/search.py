"""Searches all stores for one query in parallel; unavailable ones are skipped and reported.

The vector index is searched by vector and by words, HotKV and the canvas (L1) for memories that are not indexed yet,
and the association graph for memories linked with the best results.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from biem.domain.policies.graph import GraphPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.domain.scope import Scope
from biem.domain.scores import clamp01
from biem.engine.graph.associations import Associations
from biem.engine.life.tiers import Tiers
from biem.engine.recall.rank.pool import Found
from biem.errors import BiemError, CallRefused, InvalidInput
from biem.ports import Embedder, Filter, HotEntry, HotStore, Records, SearchIndex, Vector
from biem.ports.embedding import QueryMap
from biem.ports.hot import CanvasEntry
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.recall")
T = TypeVar("T")

_THREADS = 12


class Searcher:
    """Searches all stores. Thread-safe; `close` waits for running searches."""

    def __init__(
        self,
        *,
        records: Records,
        index: SearchIndex,
        hot: HotStore,
        tiers: Tiers,
        associations: Associations,
        embedder: Embedder,
        policy: RecallPolicy,
        graph: GraphPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._index = index
        self._hot = hot
        self._tiers = tiers
        self._associations = associations
        self._embedder = embedder
        self._policy = policy
        self._graph = graph
        self._telemetry = telemetry
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="biem-recall")
        self._down_until: dict[str, float] = {}

    def search(
        self,
        scope: Scope,
        query: str,
        parts: Sequence[str],
        lexemes: Sequence[str],
        limit: int,
        where: Filter,
        early: Callable[[Sequence[str]], None] = lambda _: None,
        query_map: QueryMap | None = None,
    ) -> Found:
        """Search all stores; each index search returns up to `limit` candidates.

        `parts` of the query are embedded with it, for the ranking. `early` receives the results of the text search, on
        another thread, during embedding and vector search, which take most of the time. `query_map` turns the vectors
        before the search.
        """
        found = Found()
        readable = scope.readable

        def by_words() -> dict[str, float]:
            scores = self._index.words(readable, " ".join(lexemes), limit, where)
            if scores:
                early(list(scores))
            return scores

        words = self._begin("milvus", by_words)
        hot = self._begin("redis", lambda: self._recent(readable))
        canvas = self._begin("redis", lambda: self._canvas(readable)) if self._policy.use_canvas else None
        graph = self.submit(self._associations.refresh_or_stale, scope) if self._policy.activation_weight > 0 else None
        vector: Vector | None = None
        dense: Mapping[str, float] | None = None
        scored: Mapping[str, float] | None = None
        first = False
        if self._is_up("embedder", found):
            with self._telemetry.span("biem.recall.embed"):
                vectors = self._attempt("embedder", lambda: self._embedder.embed([query, *parts], "query"), found)
            if vectors is not None:
                vector = found.embedded(vectors, query_map)
            first = vector is not None and self._index.serial
            if first:  # the fast search: its results are read during the slow one
                scored = self._end("milvus", words, found)
            if vector is not None and self._is_up("milvus", found):
                dense = self._attempt("milvus", lambda: self._index.dense(readable, vector, limit, where), found)
        if not first:
            scored = self._end("milvus", words, found)
        found.hot = self._end("redis", hot, found) or ()
        entries = self._end("redis", canvas, found) if canvas is not None else ()
        found.dense, found.words = dense or {}, scored or {}
        if vector is not None and entries:
            near = {entry.id: float(entry.vector @ vector) for entry in entries}
            near |= found.dense
            best = sorted(near, key=lambda key: (-near[key], key))[:limit]
            if where != Filter():  # the canvas ignores filters: its entries must not displace matching results
                best = list(dict.fromkeys([*best, *found.dense]))
            found.dense = {key: near[key] for key in best}
        if scored is None or not self._index.lexical:
            if "milvus" not in found.degraded and not self._index.lexical:
                found.degraded.append("milvus-words")
            found.text = self._records.text_search(readable, lexemes, limit, where)
        if graph is not None:
            graph.result()
            found.activation = self._spread(scope, found)
        return found

    def unindexed(self, scope: Scope) -> Future[int]:
        """How many readable memories are not indexed yet; counted concurrently, 0 if the count fails."""

        def count() -> int:
            try:
                return self._records.unindexed(scope.readable)
            except BiemError as error:
                logger.warning("recall cannot count memories that are not indexed yet: %s", error)
                return 0

        return self.submit(count)

    def submit(self, work: Callable[..., T], *arguments: Any) -> Future[T]:
        """Run a function on a search thread."""
        try:
            return self._threads.submit(work, *arguments)
        except RuntimeError as error:  # closed by another thread a moment ago
            raise BiemError("this memory is closed; call biem.connect() again") from error

    def close(self) -> None:
        """Wait for running searches; a second call does nothing."""
        self._threads.shutdown(wait=True)

    def _recent(self, scopes: Sequence[Scope]) -> Sequence[HotEntry]:
        return [entry for scope in scopes for entry in self._hot.recent(scope, self._policy.hot_scan)]

    def _canvas(self, scopes: Sequence[Scope]) -> Sequence[CanvasEntry]:
        return [entry for scope in scopes for entry in self._tiers.read(scope)]

    def _spread(self, scope: Scope, found: Found) -> dict[str, float]:
        """Spread activation from the nearest vectors; if there are none, from the best text matches."""
        if found.dense:
            seeds = {key: clamp01(value) for key, value in found.dense.items()}
        else:
            best = max(found.words.values() or found.text.values(), default=1.0)
            seeds = {key: value / best for key, value in (found.words or found.text).items()}
        first = sorted(seeds, key=lambda key: (-seeds[key], key))[: self._graph.seeds]
        return self._associations.spread(scope, {key: seeds[key] for key in first})

    def _is_up(self, server: str, found: Found) -> bool:
        if time.monotonic() >= self._down_until.get(server, 0.0):
            return True
        if server not in found.degraded:
            found.degraded.append(server)
        return False

    def _begin(self, server: str, work: Callable[[], T]) -> Future[T] | None:
        """Start `work` on another thread, unless its server was just found down."""
        if time.monotonic() < self._down_until.get(server, 0.0):
            return None
        return self.submit(work)

    def _end(self, server: str, future: Future[T] | None, found: Found) -> T | None:
        if future is None:
            self._is_up(server, found)
            return None
        return self._attempt(server, future.result, found)

    def _attempt(self, server: str, work: Callable[[], T], found: Found) -> T | None:
        try:
            return work()
        except BiemError as error:
            if server not in found.degraded:  # two searches on one server fail with the same words
                logger.warning("recall continues without %s: %s", server, error)
            if not isinstance(error, CallRefused | InvalidInput):  # these concern only this request
                self._down_until[server] = time.monotonic() + self._policy.retry_down_s
            if server not in found.degraded:
                found.degraded.append(server)
            return None
