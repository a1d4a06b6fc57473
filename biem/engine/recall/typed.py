"""Typed recall: a channel for each kind, a chain of associations, weights, a selection.

channels   the best `per_kind` of each kind, ranked within their kind: one kind cannot displace another
chain      adds linked memories, which occur once for every channel and link that leads to them
weight     occurrences · use count; the selection is drawn by weight, or the heaviest, of at least three kinds

Source: Angel G11, G17 – G21.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from random import Random

from biem.domain.designs.selection import chain_weight, choose, occurrences
from biem.domain.link import DIRECTED
from biem.domain.node import KINDS, Hit, Hits, Node
from biem.domain.policies.designs import TypedPolicy
from biem.domain.policies.ranking import RankPolicy
from biem.domain.policies.recall import RecallPolicy
from biem.domain.scope import Scope
from biem.engine.graph.associations import Associations
from biem.engine.query.question import Query
from biem.engine.recall.rank.adjustments import Adjustments
from biem.engine.recall.rank.pool import Found
from biem.engine.recall.rank.score import rank
from biem.engine.recall.search import Searcher
from biem.errors import BiemError
from biem.ports import Analyzer, Clock, Embedder, Filter, Records, SearchIndex, Vector
from biem.ports.readers import TurnReader, Turns
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.recall")

_MOST_MET = 200
"""Memories of the chain that are read, the most frequent first."""


class TypedRecaller:
    """Answers with memories of several kinds. Thread-safe."""

    def __init__(
        self,
        *,
        records: Records,
        index: SearchIndex,
        turns: TurnReader,
        searcher: Searcher,
        associations: Associations,
        embedder: Embedder,
        analyzer: Analyzer,
        clock: Clock,
        policy: TypedPolicy,
        recall: RecallPolicy,
        ranking: RankPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._index = index
        self._turns = turns
        self._searcher = searcher
        self._associations = associations
        self._embedder = embedder
        self._analyzer = analyzer
        self._clock = clock
        self._policy = policy
        self._recall = recall
        self._ranking = ranking
        self._telemetry = telemetry

    def recall(
        self,
        scope: Scope,
        query: str,
        *,
        per_kind: int,
        count: int,
        selection: str,
        seed: int,
        where: Filter,
        evidence: bool = False,
    ) -> Hits:
        """At most `count` memories, heaviest first; `Hits.channels` has the candidates of each kind, best first.

        `where.kinds` excludes the channels of other kinds. The same seed selects the same of the same memories.
        """
        with self._telemetry.span("biem.recall.typed", per_kind=per_kind) as span:
            degraded: list[str] = []
            asked = self._asked(query, degraded)
            kinds = [kind for kind in KINDS if not where.kinds or kind in where.kinds]
            running = {
                kind: self._searcher.submit(self._channel, scope, asked, replace(where, kinds=(kind,)), per_kind)
                for kind in kinds
            }
            channels: dict[str, tuple[str, ...]] = {}
            for kind, channel in running.items():
                channels[kind], down = channel.result()
                degraded += [server for server in down if server not in degraded]
            met = self._chain(scope, channels)
            first = sorted(met, key=lambda key: -met[key])[:_MOST_MET]
            ids = list(dict.fromkeys([*(key for channel in channels.values() for key in channel), *first]))
            live = self._records.candidates(scope.readable, ids, (), where, pending_limit=0, evidence=evidence)
            now = where.as_of or self._clock.now()
            nodes = {key: live.nodes[key] for key in ids if key in live.nodes and not has_lapsed(live.nodes[key], now)}
            weights = {key: float(chain_weight(met[key], node.useful_count)) for key, node in nodes.items()}
            of_kind = {key: node.kind for key, node in nodes.items()}
            chosen = choose(weights, count, selection, Random(seed), of_kind)
            span.add(candidates=len(nodes), hits=len(chosen), degraded=",".join(degraded))
        heaviest = max(weights.values(), default=1.0)
        hits = [
            Hit(nodes[key], weights[key] / heaviest, _why(nodes[key], met[key], weights[key]), live.evidence.get(key))
            for key in chosen
        ]
        return Hits(hits, degraded=tuple(degraded), selection=selection, seed=seed, channels=channels)

    def _asked(self, query: str, degraded: list[str]) -> Query:
        vector: Vector | None = None
        try:
            vector = self._embedder.embed([query], "query")[0]
        except BiemError as error:
            logger.warning("typed recall uses text search only: %s", error)
            degraded.append("embedder")
        return Query(query, list(dict.fromkeys(self._analyzer.lexemes(query))), vector)

    def _channel(
        self, scope: Scope, asked: Query, where: Filter, per_kind: int
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The best of one kind, ranked within it, and the names of unavailable servers."""
        found: Mapping[str, float] | None = None
        down: tuple[str, ...] = ()
        if asked.vector is not None:
            try:
                found = self._index.dense(scope.readable, asked.vector, max(self._policy.pool, per_kind), where)
            except BiemError as error:
                logger.warning("a channel of typed recall uses text search only: %s", error)
                down = ("milvus",)
        if found is None:
            most = max(self._policy.pool, per_kind)
            found = self._records.text_search(scope.readable, asked.lexemes, most, where)
        pending = self._recall.pending_scan
        turns = self._turns.around(scope.readable, list(found), asked.lexemes, where, pending_limit=pending)
        ordering = Adjustments(_matching(turns), Found(), {}, self._recall, where.as_of or self._clock.now())
        names = {
            speaker: self._analyzer.lexemes(speaker) for speaker in {turn.speaker for turn in turns.by_id.values()}
        }
        ranked = rank(asked, ordering.candidates, names, self._ranking, per_kind, adjust=ordering.adjusted)
        best = [ordering.candidates[place].id for place in ranked.order if ordering.is_answer(place)]
        return tuple(best[:per_kind]), down

    def _chain(self, scope: Scope, channels: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """How often each memory or concept occurs in the channels and their links."""
        self._associations.refresh_or_stale(scope)
        return occurrences(channels.values(), lambda node: self._linked(scope, node), hops=self._policy.hops)

    def _linked(self, scope: Scope, node: str) -> Iterable[str]:
        others = [
            link.target if link.source == node else link.source
            for link in self._associations.neighbours(scope, node)
            if link.source == node or link.type not in DIRECTED
        ]
        return list(dict.fromkeys(others))[: self._policy.links]


def _matching(turns: Turns) -> Turns:
    """Only matching turns: neighbouring turns of other kinds do not affect the ranking of a channel."""
    kept = {key: turn for key, turn in turns.by_id.items() if turn.matches}
    stretches: list[tuple[str, ...]] = []
    for stretch in turns.stretches:
        run: list[str] = []
        for key in stretch:
            if key in kept:
                run.append(key)
            elif run:
                stretches.append(tuple(run))
                run = []
        if run:
            stretches.append(tuple(run))
    return Turns(kept, stretches, turns.openings)


def has_lapsed(node: Node, now: datetime) -> bool:
    """Whether it is a fact that is no longer valid; messages never lapse."""
    return node.kind != "event" and node.valid_to is not None and node.valid_to <= now


def _why(node: Node, occurred: int, weight: float) -> dict[str, float | str]:
    return {
        "kind": node.kind,
        "occurrences": float(occurred),
        "use_count": float(max(1, node.useful_count)),
        "weight": weight,
        "energy": node.energy,
        "status": node.status,
    }
