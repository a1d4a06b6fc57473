"""Recall with the rankings of the source designs: their candidates and formulas (`biem.domain.designs.formulas`).

    biem         2·k nearest, activation 2 hops from the best five → 0.7·vector + 0.3·activation
    notes        30 nearest and 30 by words → 0.3·BM25 + 0.4·content + 0.3·tags
    hippocampus  keywords → concepts → a²/Σa² → the memory most similar to the query for each concept
    aimate       10 nearest and 10 by words → raw · time · importance · frequency
    aim          K nearest → anchors as a hard filter → 0.3·w + anchor·η·w − penalty
    angel        typed recall, see `biem.engine.recall.typed`

Source: BIEM B44 – B46, G46, X48, H27 – H32, M36 – M41, A33 – A36.

A memory that is not indexed yet has no vector; the share of the query's words that it contains replaces its similarity,
so every profile finds new memories. Storage, scopes, validity and archiving are those of this package in all profiles.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from biem.domain.designs.aim import AimNode, mirror_weight, select
from biem.domain.designs.formulas import aimate_score, biem_score, notes_score, squared_shares
from biem.domain.node import Hit, Hits, Node
from biem.domain.policies import Policies
from biem.domain.policies.designs import FormulaPolicy
from biem.domain.scope import Scope
from biem.domain.scores import clamp01
from biem.engine.aim.route import Router
from biem.engine.concepts.recollect import Reminder
from biem.engine.graph.associations import Associations
from biem.engine.recall.rank.pool import Found
from biem.engine.recall.rerank import Choice, Chooser
from biem.engine.recall.search import Searcher
from biem.engine.recall.similarity import Similarities
from biem.engine.recall.typed import TypedRecaller, has_lapsed
from biem.errors import BiemError
from biem.ports import Analyzer, Clock, Filter, Records

logger = logging.getLogger("biem.recall")


@dataclass(slots=True)
class _Pool:
    """Candidates of one profile: nodes with the formula's value, best first."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    evidence: Mapping[str, str] = field(default_factory=dict)
    waiting: Mapping[str, float] = field(default_factory=dict)
    """For memories not indexed yet: the share of the query's words that each contains."""
    scored: list[tuple[str, float, dict[str, float | str]]] = field(default_factory=list)

    def add(self, key: str, value: float, **why: float | str) -> None:
        """Add a candidate with the value of the formula and its terms."""
        self.scored.append((key, value, dict(why)))


@dataclass(frozen=True, slots=True)
class _Asked:
    scope: Scope
    text: str
    lexemes: Sequence[str]
    where: Filter
    count: int
    strict: bool
    session: str = ""
    formulas: FormulaPolicy | None = None


class ProfileRecaller:
    """Recalls with the ranking of a source design. Thread-safe."""

    def __init__(
        self,
        *,
        records: Records,
        likenesses: Similarities,
        searcher: Searcher,
        associations: Associations,
        reminder: Reminder,
        typed: TypedRecaller,
        chooser: Chooser,
        analyzer: Analyzer,
        clock: Clock,
        policies: Policies,
        router: Router,
    ) -> None:
        self._records = records
        self._likenesses = likenesses
        self._searcher = searcher
        self._associations = associations
        self._reminder = reminder
        self._typed = typed
        self._chooser = chooser
        self._analyzer = analyzer
        self._clock = clock
        self._formulas = policies.formulas
        self._aim_policy = policies.aim
        self._typed_policy = policies.typed
        self._recall = policies.recall
        self._graph = policies.graph
        self._concepts = policies.concepts
        self._router = router

    def recall(
        self,
        scope: Scope,
        query: str,
        choice: Choice,
        *,
        top_k: int,
        strict: bool,
        where: Filter,
        session: str = "",
    ) -> Hits:
        """At most `top_k` hits of `choice.profile`, best first.

        `why` has the terms of the formula and, as `score`, its value; `Hit.score` is clipped to [0, 1].
        """
        mode = "strict" if strict else "fast"
        if choice.profile == "angel":
            typed = self._typed.recall(
                scope,
                query,
                per_kind=choice.per_kind or self._typed_policy.per_kind,
                count=top_k,
                selection=choice.selection or self._typed_policy.selection,
                seed=self._chooser.seed(choice),
                where=where,
                evidence=strict,
            )
            typed.mode = mode
            return typed
        lexemes = list(dict.fromkeys(self._analyzer.lexemes(query)))
        count = self._chooser.wanted(choice, top_k)
        asked = _Asked(scope, query, lexemes, where, count, strict, session, choice.formulas)
        if choice.profile == "hippocampus" and (choice.selection or self._concepts.selection) == "squared_norm":
            return self._by_chance(asked, self._chooser.seed(choice), top_k, mode)
        rankings: dict[str, Callable[[_Asked, list[str]], _Pool]] = {
            "biem": self._biem,
            "notes": self._notes,
            "hippocampus": self._hippocampus,
            "aimate": self._aimate,
            "aim": self._aim,
        }
        degraded: list[str] = []
        pool = rankings[choice.profile](asked, degraded)
        pool.scored.sort(key=lambda one: -one[1])  # stable: equal values keep the order of the candidates
        hits = [_hit(pool, *one) for one in pool.scored[: asked.count]]
        found = Hits(hits, degraded=tuple(dict.fromkeys(degraded)), mode=mode)
        found.confidence = max((hit.score for hit in hits), default=0.0)
        return self._chooser.choose(query, found, choice, top_k)

    # -- the designs --------------------------------------------------------------------------------------------------

    def _biem(self, asked: _Asked, degraded: list[str]) -> _Pool:
        found = self._search(asked, self._formulas.biem_candidates * asked.count, degraded)
        near = found.dense or _over_best(found.words or found.text)
        first = sorted(near, key=lambda key: (-near[key], key))[: self._graph.seeds]
        if self._recall.activation_weight <= 0:  # then the search has not refreshed the graph
            self._associations.refresh_or_stale(asked.scope)
        active = self._associations.spread(asked.scope, dict.fromkeys(first, 1.0))
        led_to = sorted(active, key=lambda key: (-active[key], key))[: self._graph.max_links + len(first)]
        pool = self._read(asked, [*near, *led_to])
        for key in pool.nodes:
            vector = clamp01(near.get(key, pool.waiting.get(key, 0.0)))
            activation = active.get(key, 0.0)
            pool.add(key, biem_score(vector, activation, self._formulas), vector=vector, activation=activation)
        return pool

    def _notes(self, asked: _Asked, degraded: list[str]) -> _Pool:
        found = self._search(asked, self._formulas.notes_candidates, degraded)
        words = _over_best(found.words or found.text)
        pool = self._read(asked, [*found.dense, *words])
        content = self._likenesses.cosines(asked.scope, list(pool.nodes), found.vector, asked.where)
        tags = self._likenesses.of_tags(list(pool.nodes.values()), found.vector, degraded)
        for key in pool.nodes:
            bm25, near = words.get(key, pool.waiting.get(key, 0.0)), clamp01(content.get(key, 0.0))
            value = notes_score(bm25, near, tags[key], self._formulas)
            pool.add(key, value, bm25=bm25, content=near, tag=tags[key])
        return pool

    def _by_chance(self, asked: _Asked, seed: int, top_k: int, mode: str) -> Hits:
        """Hippocampus with random concepts (not memories), drawn with probability a²/Σa²."""
        pool = self._recollected(asked, Random(seed))
        pool.scored.sort(key=lambda one: -one[1])
        hits = [_hit(pool, *one) for one in pool.scored[:top_k]]
        confidence = max((hit.score for hit in hits), default=0.0)
        return Hits(hits, mode=mode, selection="squared_norm", seed=seed, confidence=confidence)

    def _hippocampus(self, asked: _Asked, degraded: list[str]) -> _Pool:  # noqa: ARG002  reads only PostgreSQL
        return self._recollected(asked, None)

    def _recollected(self, asked: _Asked, random: Random | None) -> _Pool:
        found = self._reminder.drawn(asked.scope, asked.text, random)
        shares = squared_shares({one.topic: one.activation for one in found})
        topics: dict[str, str] = {}
        for one in found:
            for source in one.sources:
                topics.setdefault(source, one.topic)
        pool = self._read(asked, list(topics), words=())
        for key in topics:
            if key in pool.nodes:
                pool.add(key, shares[topics[key]], share=shares[topics[key]], topic=topics[key])
        return pool

    def _aimate(self, asked: _Asked, degraded: list[str]) -> _Pool:
        policy, now = asked.formulas or self._formulas, asked.where.as_of or self._clock.now()
        found = self._search(asked, policy.aimate_candidates, degraded)
        words = _over_best(found.words or found.text) if policy.aimate_keyword else {}
        near: Mapping[str, float] = {}
        if policy.aimate_vector:
            near = self._likenesses.similarities(asked.scope, list(found.dense), found.vector, asked.where)
        near = {key: value for key, value in near.items() if value >= policy.aimate_min_similarity}
        pool = self._read(asked, [*near, *words], words=asked.lexemes if policy.aimate_keyword else ())
        for key, node in pool.nodes.items():
            vector, keyword = near.get(key, 0.0), words.get(key, pool.waiting.get(key, 0.0))
            days = (now - node.at).total_seconds() / 86_400.0
            value = aimate_score(max(vector, keyword), days, node.importance, node.access_count, policy)
            pool.add(key, value, vector=vector, keyword=keyword, days=max(0.0, days))
        return pool

    def _aim(self, asked: _Asked, degraded: list[str]) -> _Pool:
        policy = self._aim_policy
        found = self._search(asked, policy.local_cluster_k, degraded)
        near = self._router.pulled(asked.scope, found.vector, asked.session, asked.where) if found.dense else None
        near = near or list(found.dense or found.words or found.text)
        pool = self._read(asked, near)
        ages = self._router.bank(asked.scope, list(pool.nodes))
        against = self._doubted(asked, list(pool.nodes.values()), degraded)
        fields = self._analyzer.analyze(asked.text).fields
        cluster = [
            AimNode(node.id, mirror_weight(ages[node.id], policy), node.fields, float(node.id in against))
            for node in pool.nodes.values()
            if node.id in ages
        ]
        for score in select(fields, cluster, policy, top_n=asked.count):
            parts = {"base": score.base, "bonus": score.bonus, "penalty": -score.penalty, "anchor": score.anchor}
            pool.add(score.id, score.total, **parts)
        if found.vector is not None:
            told = [key for key, _, _ in pool.scored]
            self._router.went(asked.scope, asked.session, found.vector, list(pool.nodes), told)
        return pool

    # -- shared helpers -----------------------------------------------------------------------------------------------

    def _search(self, asked: _Asked, limit: int, degraded: list[str]) -> Found:
        where = replace(asked.where, apart=True)
        found = self._searcher.search(asked.scope, asked.text, (), asked.lexemes, limit, where)
        degraded += found.degraded
        return found

    def _read(self, asked: _Asked, ids: Sequence[str], words: Sequence[str] | None = None) -> _Pool:
        """Current state of the candidates, in the order of `ids`, then unindexed memories that share a word."""
        words = asked.lexemes if words is None else words
        limit = self._recall.pending_scan if words else 0
        keys = list(dict.fromkeys(ids))
        live = self._records.candidates(
            asked.scope.readable, keys, words, asked.where, pending_limit=limit, evidence=asked.strict
        )
        now = asked.where.as_of or self._clock.now()
        wanted = set(asked.lexemes)
        nodes = {
            key: live.nodes[key]
            for key in dict.fromkeys([*keys, *sorted(live.unindexed)])
            if key in live.nodes and not has_lapsed(live.nodes[key], now)
        }
        waiting = {
            key: len(wanted.intersection(live.lexemes[key].split())) / max(1, len(wanted))
            for key in live.unindexed
            if key in nodes
        }
        return _Pool(nodes, live.evidence, waiting)

    def _doubted(self, asked: _Asked, nodes: Sequence[Node], degraded: list[str]) -> frozenset[str]:
        try:
            return self._router.against(asked.scope, asked.text, nodes)
        except BiemError as error:
            logger.warning("recall cannot read conflicts: %s", error)
            degraded.append("conflicts")
            return frozenset()


def _hit(pool: _Pool, key: str, value: float, why: dict[str, float | str]) -> Hit:
    node = pool.nodes[key]
    told: dict[str, float | str] = {**why, "score": value, "energy": node.energy, "status": node.status}
    return Hit(node, clamp01(value), told, pool.evidence.get(key))


def _over_best(scores: Mapping[str, float]) -> dict[str, float]:
    """Scores of a search divided by the best one."""
    best = max(scores.values(), default=0.0)
    return {key: value / best for key, value in scores.items()} if best > 0 else {}
