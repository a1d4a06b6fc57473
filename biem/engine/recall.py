"""The read path: what is worth telling about a query, from every place where memory is.

    pool  = what the searches found + what links lead to + turns around them in conversation + what superseded them
    score = Σ weight · signal (engine.signals) + w_a · activation − w_c · conflict − w_s · no longer holds

One round trip reads the pool, one more the live state of the best (architecture D4–D6). What no longer holds speaks for
what replaced it: the newer inherits its score. A replaced fact is left out, a replaced message stays findable, below.
"""

import logging
import math
from collections.abc import Mapping, Sequence

from biem.domain.node import MODES, Hit, Hits
from biem.domain.policy import RecallPolicy
from biem.domain.rank_policy import RankPolicy
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.engine.ordering import Ordering
from biem.engine.question import Query, Sentence, is_asked, sentences_of
from biem.engine.ranking import Ranked, rank
from biem.engine.search import Found, Searcher
from biem.engine.tiers import Tiers
from biem.errors import BiemError, InvalidInput
from biem.ports import Analyzer, Clock, Filter, Records
from biem.ports.conflicts import Conflicts
from biem.ports.turns import TurnReader, Turns
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.recall")

_PLAIN, _SCALE = 4.0, 2.0
"""Where a ranking score becomes 0.5, and its spread: on the dev dialogues the best hit of a question reaches 5–12."""
_SPARE = 10
"""Memories looked at beyond those wanted: some may have been erased a moment ago."""


class Recaller:
    """Answers queries. Thread-safe; `close` waits for accesses still being counted."""

    def __init__(
        self,
        *,
        records: Records,
        turns: TurnReader,
        conflicts: Conflicts,
        searcher: Searcher,
        tiers: Tiers,
        analyzer: Analyzer,
        clock: Clock,
        policy: RecallPolicy,
        ranking: RankPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._turns = turns
        self._conflicts = conflicts
        self._searcher = searcher
        self._tiers = tiers
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._ranking = ranking
        self._telemetry = telemetry

    def recall(self, scope: Scope, query: str, *, top_k: int, mode: str, where: Filter) -> Hits:
        """The best `top_k` memories for a query, best first; see `Hits`."""
        text = self._require(query, top_k, mode)
        strict = mode == "strict" or (mode == "auto" and self._asks_for_originals(text))
        with self._telemetry.span("biem.recall", top_k=top_k) as span:
            lexemes = list(dict.fromkeys(self._analyzer.lexemes(text)))
            parts = sentences_of(text, lambda part: len(set(self._analyzer.lexemes(part))))
            limit = max(self._policy.min_candidates, self._policy.candidates_per_result * top_k)
            with self._telemetry.span("biem.recall.search"):
                found = self._searcher.search(scope, text, parts, lexemes, limit, where)
            with self._telemetry.span("biem.recall.live"):
                turns, conflicts = self._around(scope, lexemes, found, where)
            with self._telemetry.span("biem.recall.rank", pool=len(turns.by_id)):
                ordering = Ordering(turns, found, conflicts, self._policy, where.as_of or self._clock.now())
                speakers = {turn.speaker for turn in turns.by_id.values()}
                names = {speaker: self._analyzer.lexemes(speaker) for speaker in speakers}
                vectors = found.sentences or [None] * len(parts)
                sentences = [
                    Sentence(self._analyzer.lexemes(part), vector, is_asked(part))
                    for part, vector in zip(parts, vectors, strict=True)
                ]
                question = Query(text, lexemes, found.vector, sentences)
                ranked = rank(
                    question, ordering.candidates, names, self._ranking, top_k + _SPARE, adjust=ordering.adjusted
                )
            with self._telemetry.span("biem.recall.read"):
                hits = self._read(scope, ordering, ranked, found, top_k, where, strict)
            span.add(hits=len(hits), degraded=",".join(found.degraded))
        if hits:
            self._searcher.submit(self._count_access, scope, [hit.node.id for hit in hits])
        return Hits(hits, degraded=tuple(found.degraded), mode="strict" if strict else "fast")

    def close(self) -> None:
        """Finish counting accesses; a second call does nothing."""
        self._searcher.close()

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

    def _around(
        self, scope: Scope, lexemes: Sequence[str], found: Found, where: Filter
    ) -> tuple[Turns, Mapping[str, float]]:
        """What the searches found with its surroundings, and which of it is in an open conflict."""
        asked = set(lexemes)
        led_to = sorted(found.activation, key=lambda key: (-found.activation[key], key))[: self._policy.activated]
        shared = {entry.id: len(asked & set(entry.lexemes.split())) for entry in found.hot}
        hot = sorted((key for key in shared if shared[key]), key=lambda key: (-shared[key], key))
        hot = hot[: self._policy.hot_matches]
        ids = list(dict.fromkeys([*found.dense, *found.words, *found.text, *led_to, *hot]))
        conflicts = self._searcher.submit(self._open_conflicts, scope, ids)
        turns = self._turns.around(scope.readable, ids, lexemes, where, pending_limit=self._policy.pending_scan)
        return turns, conflicts.result()

    def _open_conflicts(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, float]:
        try:
            return self._conflicts.open_of(scope.readable, ids)
        except BiemError as error:
            logger.warning("recall does not know of conflicts: %s", error)
            return {}

    def _read(
        self,
        scope: Scope,
        ordering: Ordering,
        ranked: Ranked,
        found: Found,
        top_k: int,
        where: Filter,
        strict: bool,
    ) -> list[Hit]:
        """The best as they are now, with their originals where asked for."""
        chosen = [place for place in ranked.order if ordering.is_answer(place)][: top_k + _SPARE]
        ids = [ordering.candidates[place].id for place in chosen]
        live = self._records.candidates(scope.readable, ids, (), where, pending_limit=0, evidence=strict)
        hits: list[Hit] = []
        ceiling = 1.0
        for place, key in zip(chosen, ids, strict=True):
            node = live.nodes.get(key)
            if node is None:  # erased or archived a moment ago
                continue
            ceiling = min(ceiling, _share(float(ranked.scores[place])))
            why: dict[str, float | str] = {**ranked.why(place), **ordering.why(key)}
            if key in found.dense:
                why["dense"] = found.dense[key]
            why |= {"energy": node.energy, "status": node.status}
            hits.append(Hit(node, ceiling, why, live.evidence.get(key)))
            if len(hits) == top_k:
                break
        return hits

    def _count_access(self, scope: Scope, ids: Sequence[str]) -> None:
        try:
            self._tiers.accessed(scope, ids)
        except BiemError as error:
            logger.warning("accesses not counted: %s", error)


def _share(score: float) -> float:
    """A score in (0, 1): its odds, around what a plain answer reaches."""
    return 1.0 / (1.0 + math.exp(-(score - _PLAIN) / _SCALE))
