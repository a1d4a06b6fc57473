"""The read path: what is worth telling about a query, from every place where memory is.

    score = (w_d · minmax(cosine) + w_l · bm25 / max bm25) / (w_d + w_l)
    score = bm25 / max bm25                                               where there is no vector to compare yet

The dense search, BM25 and HotKV are asked together; the live state of all candidates and the pending memories that
share a word come from Records in one round trip (architecture D4–D6). Whatever is down is left out and named in
`degraded`.
"""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from biem.domain.node import MODES, Hit, Hits, Node
from biem.domain.policy import RecallPolicy
from biem.domain.rank import bm25, min_max, positive_max
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.errors import BiemError, InvalidInput
from biem.ports import Analyzer, Candidates, Clock, Embedder, Filter, HotEntry, HotStore, Records, VectorIndex
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.recall")
T = TypeVar("T")

_THREADS = 8


@dataclass(slots=True)
class _Found:
    """What the searches said about one query."""

    dense: Mapping[str, float] = field(default_factory=dict)
    words: Mapping[str, float] = field(default_factory=dict)
    text: Mapping[str, float] = field(default_factory=dict)
    hot: Sequence[HotEntry] = ()
    degraded: list[str] = field(default_factory=list)


class Recaller:
    """Answers queries. Thread-safe; `close` waits for accesses still being counted."""

    def __init__(
        self,
        *,
        records: Records,
        index: VectorIndex,
        hot: HotStore,
        embedder: Embedder,
        analyzer: Analyzer,
        clock: Clock,
        policy: RecallPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._index = index
        self._hot = hot
        self._embedder = embedder
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="biem-recall")
        self._down_until: dict[str, float] = {}

    def recall(self, scope: Scope, query: str, *, top_k: int, mode: str, where: Filter) -> Hits:
        """The best `top_k` memories for a query, best first; see `Hits`."""
        text = self._require(query, top_k, mode)
        strict = mode == "strict" or (mode == "auto" and self._asks_for_originals(text))
        with self._telemetry.span("biem.recall", top_k=top_k) as span:
            lexemes = list(dict.fromkeys(self._analyzer.lexemes(text)))
            limit = max(self._policy.min_candidates, self._policy.candidates_per_result * top_k)
            with self._telemetry.span("biem.recall.search"):
                found = self._search(scope, text, lexemes, limit, where)
            with self._telemetry.span("biem.recall.live"):
                hits = self._rank(scope, lexemes, found, top_k, where, strict)
            span.add(hits=len(hits), degraded=",".join(found.degraded))
        if hits:
            self._submit(self._count_access, scope, [hit.node.id for hit in hits])
        return Hits(hits, degraded=tuple(found.degraded), mode="strict" if strict else "fast")

    def close(self) -> None:
        """Finish counting accesses; a second call does nothing."""
        self._threads.shutdown(wait=True)

    def _require(self, query: str, top_k: int, mode: str) -> str:
        if not isinstance(query, str) or not query.strip():
            raise InvalidInput("the query is empty; ask for something")
        require_clean(query, "the query")
        if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= self._policy.max_top_k:
            raise InvalidInput(f"top_k must be a whole number from 1 to {self._policy.max_top_k}, not {top_k!r}")
        if mode not in MODES:
            raise InvalidInput(f"mode {mode!r} is unknown; choose one of {', '.join(MODES)}")
        return query[: self._policy.max_query_chars]

    def _asks_for_originals(self, query: str) -> bool:
        lowered = query.lower()
        return any(word in lowered for word in self._policy.strict_words)

    # -- searching --------------------------------------------------------------------------------------------------

    def _search(self, scope: Scope, query: str, lexemes: Sequence[str], limit: int, where: Filter) -> _Found:
        found = _Found()
        readable = scope.readable
        words = self._begin("milvus", lambda: self._index.words(readable, " ".join(lexemes), limit, where))
        hot = self._begin("redis", lambda: self._recent(readable))
        dense: Mapping[str, float] | None = None
        if self._is_up("embedder", found):
            with self._telemetry.span("biem.recall.embed"):
                vector = self._attempt("embedder", lambda: self._embedder.embed([query], "query")[0], found)
            if vector is not None and self._is_up("milvus", found):
                dense = self._attempt("milvus", lambda: self._index.dense(readable, vector, limit, where), found)
        scored = self._end("milvus", words, found)
        found.hot = self._end("redis", hot, found) or ()
        found.dense, found.words = dense or {}, scored or {}
        if scored is None or not self._index.lexical:
            if "milvus" not in found.degraded and not self._index.lexical:
                found.degraded.append("milvus-words")
            found.text = self._records.text_search(readable, lexemes, limit, where)
        return found

    def _recent(self, scopes: Sequence[Scope]) -> Sequence[HotEntry]:
        return [entry for scope in scopes for entry in self._hot.recent(scope, self._policy.hot_scan)]

    def _is_up(self, server: str, found: _Found) -> bool:
        if time.monotonic() >= self._down_until.get(server, 0.0):
            return True
        if server not in found.degraded:
            found.degraded.append(server)
        return False

    def _begin(self, server: str, work: Callable[[], T]) -> Future[T] | None:
        """Start `work` on another thread, unless its server was found down a moment ago."""
        if time.monotonic() < self._down_until.get(server, 0.0):
            return None
        return self._submit(work)

    def _submit(self, work: Callable[..., T], *arguments: Any) -> Future[T]:
        try:
            return self._threads.submit(work, *arguments)
        except RuntimeError as error:  # closed by another thread a moment ago
            raise BiemError("this memory is closed; call biem.connect() again") from error

    def _end(self, server: str, future: Future[T] | None, found: _Found) -> T | None:
        if future is None:
            self._is_up(server, found)
            return None
        return self._attempt(server, future.result, found)

    def _attempt(self, server: str, work: Callable[[], T], found: _Found) -> T | None:
        try:
            return work()
        except BiemError as error:
            logger.warning("recall goes on without %s: %s", server, error)
            self._down_until[server] = time.monotonic() + self._policy.retry_down_s
            if server not in found.degraded:
                found.degraded.append(server)
            return None

    # -- ranking ----------------------------------------------------------------------------------------------------

    def _rank(
        self,
        scope: Scope,
        lexemes: Sequence[str],
        found: _Found,
        top_k: int,
        where: Filter,
        strict: bool,
    ) -> list[Hit]:
        asked = set(lexemes)
        order = self._order(found)
        known = set(order)
        hot = [entry.id for entry in found.hot if entry.id not in known and asked & set(entry.lexemes.split())]
        hits: list[Hit] = []
        size = max(self._policy.min_ranked, self._policy.ranked_per_result * top_k)
        for start in range(0, max(1, len(order)), size):
            first = start == 0
            live = self._records.candidates(
                scope.readable,
                order[start : start + size] + (hot if first else []),
                lexemes if first else (),
                where,
                pending_limit=self._policy.pending_scan if first else 0,
                evidence=strict,
            )
            scores, words = self._score(lexemes, found, live, known)
            hits += [
                Hit(live.nodes[key], score, self._why(live.nodes[key], found, words), live.evidence.get(key))
                for key, score in scores.items()
            ]
            if len(hits) >= top_k:
                break
        hits.sort(key=lambda hit: (-hit.score, -hit.node.at.timestamp(), hit.node.id))
        return hits[:top_k]

    def _order(self, found: _Found) -> list[str]:
        """Candidates by the searches' own scores: which of them are worth their live state."""
        dense, words = min_max(found.dense), positive_max(found.words or found.text)
        rough = {
            key: self._policy.dense_weight * dense.get(key, 0.0) + self._policy.lexical_weight * words.get(key, 0.0)
            for key in dense.keys() | words.keys()
        }
        return sorted(rough, key=lambda key: (-rough[key], key))

    def _score(
        self, lexemes: Sequence[str], found: _Found, live: Candidates, known: set[str]
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Final scores, and BM25 over just these candidates.

        The index's own BM25 counts words over the memories of all scopes, and does not know the newest. Counted over
        the candidates, all are measured alike and no other scope has a say.
        """
        now = self._clock.now()
        eligible = [
            key
            for key, node in live.nodes.items()
            if key in known or key in live.unindexed or (now - node.created_at).total_seconds() < self._policy.fresh_s
        ]
        raw = bm25(lexemes, {key: live.lexemes[key].split(" ") for key in eligible})
        dense, words = min_max(found.dense), positive_max(raw)
        w_dense, w_words = self._policy.dense_weight, self._policy.lexical_weight
        scores: dict[str, float] = {}
        for key in eligible:
            lexical = words.get(key, 0.0)
            if key in known and found.dense:
                scores[key] = (w_dense * dense.get(key, 0.0) + w_words * lexical) / (w_dense + w_words)
            elif lexical > 0.0:  # no vector to compare: its words speak for both
                scores[key] = lexical
        return scores, raw

    @staticmethod
    def _why(node: Node, found: _Found, words: Mapping[str, float]) -> dict[str, float | str]:
        why: dict[str, float | str] = {}
        if node.id in found.dense:
            why["dense"] = found.dense[node.id]
        if node.id in words:
            why["words"] = words[node.id]
        why["energy"] = node.energy
        why["status"] = node.status
        return why

    def _count_access(self, scope: Scope, ids: Sequence[str]) -> None:
        try:
            self._records.touch(scope, ids, self._clock.now())
        except BiemError as error:
            logger.warning("accesses not counted: %s", error)
