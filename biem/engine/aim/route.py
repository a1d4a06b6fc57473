"""The design's route through memory, as the recall profile `aim`.

Source: AIM-Memory R1–R5, A2–A6, A33–A38.

    d = q + λ·v → K nearest → anchors, temporal mirror, conflicts → top_n above the threshold → inertia follows

Only the K nodes nearest to d are considered, without those not formed or no longer valid. The weight of the mirror
falls by γ with each memory formed later, so within some dozen writes this profile forgets nodes that no query selects;
`hybrid` does not.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from biem.domain.designs.aim import AimNode, AimScore, mirror_weight, select
from biem.domain.designs.aim_node import AimMemoryNode
from biem.domain.fields import Fields
from biem.domain.node import MODES, Hit, Node
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.domain.scores import clamp01
from biem.domain.text import one_line, require_count, require_string
from biem.domain.trust import UNTRUSTED
from biem.engine.aim.inertia import Inertia, direction, norm
from biem.engine.aim.route_conflicts import RouteConflicts
from biem.engine.query.request import is_strict, require_question
from biem.errors import BiemError, InvalidInput, NotFound
from biem.ports import EVERYTHING, Analyzer, Clock, Embedder, Filter, Vector
from biem.ports.aim import AimRecords, Held, MemoryMap
from biem.ports.conflicts import Conflicts
from biem.ports.contradiction import ContradictionRules
from biem.ports.hot import InertiaState
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.inertia")

_MOST_SELECTED = 1_000


@dataclass(frozen=True, slots=True)
class Selected:
    """One node of a route, with the parts of its score."""

    node: Node
    score: AimScore
    weight: float
    evidence: str | None
    """The original, as far as the policy allows; None in fast mode, and where evidence is not stored."""


@dataclass(frozen=True, slots=True)
class Route:
    """The result of a query, best first."""

    nodes: tuple[Selected, ...]
    mode: str
    cluster: tuple[str, ...]
    """The ids that were considered, nearest first."""
    inertia_norm: float

    @property
    def refill_text(self) -> str:
        """The originals of the selected nodes; empty in fast mode."""
        return "\n\n".join(one.evidence for one in self.nodes if one.evidence is not None)

    def hits(self, policy: AimPolicy) -> list[Hit]:
        """The nodes as hits of a recall; a score is 1 for a fresh node with every anchor."""
        most = 0.3 * policy.fresh_weight + policy.anchor_boost * policy.fresh_weight
        return [
            Hit(
                one.node,
                clamp01(one.score.total / most),
                {
                    "base": one.score.base,
                    "anchor": one.score.bonus,
                    "conflict": -one.score.penalty,
                    "mirror": one.weight,
                    "energy": one.node.energy,
                    "status": one.node.status,
                },
                one.evidence,
            )
            for one in self.nodes
        ]


class Router:
    """Routes queries. Thread-safe.

    `submit` runs work on another thread: independent requests run concurrently, because a single query should cost
    little more than a plain search, and the caller does not wait until accesses are counted.
    """

    def __init__(
        self,
        *,
        records: AimRecords,
        index: MemoryMap,
        conflicts: Conflicts,
        rules: ContradictionRules,
        inertia: Inertia,
        embedder: Embedder,
        analyzer: Analyzer,
        accessed: Callable[[Scope, Sequence[str]], object],
        submit: Callable[..., Future[Any]],
        clock: Clock,
        policy: AimPolicy,
        strict_words: Sequence[str],
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._index = index
        self._conflicts = RouteConflicts(conflicts, rules, clock)
        self._inertia = inertia
        self._embedder = embedder
        self._analyzer = analyzer
        self._accessed = accessed
        self._submit = submit
        self._clock = clock
        self._policy = policy
        self._strict_words = strict_words
        self._telemetry = telemetry

    def is_strict(self, query: str, mode: str, *, auto_mode: bool = True) -> bool:
        """Whether originals are returned: requested by mode or, with `auto_mode`, by a trigger word."""
        if mode not in MODES:
            raise InvalidInput(f"mode {mode!r} is unknown; choose one of {', '.join(MODES)}")
        require_question(query, "the question")
        return is_strict(query, mode, auto=auto_mode, words=self._strict_words)

    def route(
        self,
        scope: Scope,
        query: str,
        *,
        mode: str = "fast",
        auto_mode: bool = True,
        conversation: str = "",
        top_n: int | None = None,
    ) -> Route:
        """The nodes selected for a query; the inertia of the conversation follows them."""
        strict = self.is_strict(query, mode, auto_mode=auto_mode)
        require_string(conversation, "conversation")
        if top_n is not None and (top_n != 0 or isinstance(top_n, bool)):  # 0 selects nothing
            require_count(top_n, "top_n", _MOST_SELECTED)
        with self._telemetry.span("biem.route") as span:
            kept = self._submit(self._inertia.of, scope, conversation)
            asked = self._submit(self._analyzer.analyze, query)
            vector = self._embedder.embed([query], "query")[0]
            inertia = kept.result()
            cluster = self._cluster(scope, vector, inertia)
            held = self._records.nodes(scope.readable, cluster, self._clock.now(), evidence=strict)
            nodes = {one.node.id: one for one in held if one.formed}
            disputed = {key for key, one in nodes.items() if one.disputed}
            conflicting = self._conflicts.about(query, [one.node for one in nodes.values()], disputed)
            chosen = self._choose(asked.result().fields, inertia, nodes, conflicting, top_n)
            inertia = self._follow(scope, conversation, inertia, vector, cluster, [nodes[one.id] for one in chosen])
            span.add(cluster=len(cluster), nodes=len(chosen))
        if chosen:
            self._submit(self._accessed, scope, [one.id for one in chosen])
        return Route(
            tuple(self._selected(one, nodes[one.id], inertia, strict) for one in chosen),
            "strict" if strict else "fast",
            tuple(cluster),
            norm(inertia),
        )

    def cluster(self, scope: Scope, query: str, conversation: str = "") -> list[str]:
        """The ids of the local cluster of a query, nearest first; the inertia is unchanged."""
        require_question(query, "the query")
        vector = self._embedder.embed([query], "query")[0]
        return self._cluster(scope, vector, self._inertia.of(scope, conversation))

    def follow(self, scope: Scope, query: str, ids: Sequence[str], conversation: str = "") -> float:
        """Update the inertia of a conversation with an external selection for a query; returns its length."""
        inertia = self._inertia.of(scope, conversation)
        if ids:
            vector = self._embedder.embed([query], "query")[0]
            held = self._records.nodes(scope.readable, ids, self._clock.now(), evidence=False)
            inertia = self._follow(scope, conversation, inertia, vector, list(ids), held)
        return norm(inertia)

    def inertia(self, scope: Scope, conversation: str) -> InertiaState:
        """The inertia of a conversation."""
        return self._inertia.of(scope, conversation)

    def node(self, scope: Scope, memory_id: str, links: Sequence[str]) -> AimMemoryNode:
        """A formed memory in the design's terms, with these neighbours; raises `NotFound`, also for a refused one."""
        held = self._records.nodes([scope], [memory_id], self._clock.now(), evidence=True)
        if not held or not held[0].formed:
            raise NotFound(f"no node {memory_id} in scope {scope}; what the gate refused is a memory, but no node")
        (one,) = held
        return AimMemoryNode(
            id=memory_id,
            proto=() if one.vector is None else tuple(one.vector.tolist()),
            summary=one_line(one.node.text, self._policy.summary_chars),
            fields=self._fields(one.node),
            links=tuple(dict.fromkeys(links)),
            w=mirror_weight(one.age, self._policy),
            evidence_ptr=one.node.evidence_ptr,
            evidence_text=None if one.evidence is None or not self._policy.store_evidence else one.evidence,
        )

    # -- for the profile `aim` of recall, which has conditions of its own ---------------------------------------------

    def pulled(self, scope: Scope, vector: Vector | None, conversation: str, where: Filter) -> list[str] | None:
        """The local cluster of a query with this vector, nearest first; None without an inertia, or while it is
        unavailable.
        """
        if vector is None:
            return None
        inertia = self._inertia.of(scope, conversation)
        pulls = self._policy.inertia_strength if inertia.strength is None else inertia.strength
        if inertia.vector is None or pulls == 0:
            return None
        try:
            return self._cluster(scope, vector, inertia, where)
        except BiemError as error:
            logger.warning("recall follows no inertia: %s", error)
            return None

    def bank(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, int]:
        """Those of these memories that are formed, and how many were formed since."""
        return {key: one.age for key, one in self._records.anchors(scope.readable, ids).items() if one.formed}

    def against(self, scope: Scope, query: str, nodes: Sequence[Node]) -> frozenset[str]:
        """Those of these nodes that contradict the query, or are in an undecided conflict."""
        if not nodes:
            return frozenset()
        return self._conflicts.about(query, nodes, self._conflicts.open(scope, [node.id for node in nodes]))

    def went(self, scope: Scope, conversation: str, vector: Vector, cluster: Sequence[str], ids: Sequence[str]) -> None:
        """Update the inertia with the nodes that were selected of a cluster."""
        inertia = self._inertia.of(scope, conversation)
        held = self._records.nodes(scope.readable, ids, self._clock.now(), evidence=False)
        self._follow(scope, conversation, inertia, vector, cluster, held)

    def _cluster(self, scope: Scope, vector: Vector, inertia: InertiaState, where: Filter = EVERYTHING) -> list[str]:
        policy = self._policy
        strength = policy.inertia_strength if inertia.strength is None else inertia.strength
        pulled = direction(vector, inertia, strength)
        length = float(np.linalg.norm(pulled))
        if length == 0:  # the inertia is the exact opposite
            pulled, length = vector, 1.0
        unit = np.ascontiguousarray(pulled / np.float32(length))
        k = policy.local_cluster_k if inertia.cluster is None else inertia.cluster
        found = self._index.dense(scope.readable, unit, k, where)
        return sorted(found, key=lambda key: (-found[key], key))

    def _choose(
        self,
        asked: Fields,
        inertia: InertiaState,
        nodes: dict[str, Held],
        conflicting: Collection[str],
        top_n: int | None,
    ) -> list[AimScore]:
        seen = [
            AimNode(
                key,
                mirror_weight(one.age, self._policy, inertia.gamma),
                self._fields(one.node),
                1.0 if key in conflicting else 0.0,
            )
            for key, one in nodes.items()
        ]
        return select(asked, seen, self._policy, top_n)

    def _fields(self, node: Node) -> Fields:
        return self._analyzer.analyze(node.indexed_text).fields if node.status == "pending" else node.fields

    def _follow(
        self,
        scope: Scope,
        conversation: str,
        inertia: InertiaState,
        vector: Vector,
        cluster: Sequence[str],
        held: Sequence[Held],
    ) -> InertiaState:
        known = [
            (one.node.id, one.vector, one.age) for one in held if one.vector is not None and one.node.trust != UNTRUSTED
        ]
        return self._inertia.follow(
            scope,
            conversation,
            inertia,
            vector,
            [one for _, one, _ in known],
            [age for _, _, age in known],
            [cluster.index(key) for key, _, _ in known],
        )

    def _selected(self, score: AimScore, held: Held, inertia: InertiaState, strict: bool) -> Selected:
        evidence = held.evidence if strict and self._policy.store_evidence else None
        return Selected(
            held.node,
            score,
            mirror_weight(held.age, self._policy, inertia.gamma),
            None if evidence is None else evidence[: self._policy.max_evidence_length],
        )
