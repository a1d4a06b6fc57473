"""The write gate (A25–A28, C8): which messages are formed, with energy, links and layer; all others stay events.

    r = 1 − Π(1 − likeness) over the five most alike of what was said just before          (nothing said: 1)
    s = 1 − likeness to the nearest formed memory                                          (empty memory: 1)
    c = confidence of the surest conflict

In a conversation that has hardly begun there is little to be irrelevant to: of fewer than three texts before a message,
the missing ones speak for it.

It runs in the worker, where vectors and neighbours are at hand, so no acknowledgement waits for it. A batch is judged
in the order it was written. What is decided, or foretold by a caller with a context of its own, is never judged again.
What is remembered explicitly is not judged: a fact, the layer core, importance 4 and more (C7).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from biem.domain.aim import GateDecision, gate
from biem.domain.aim_policy import AimPolicy
from biem.domain.node import Draft, Node
from biem.domain.scope import Scope
from biem.ports import Clock, Embedder, Vector
from biem.ports.aim import AimRecords, Said
from biem.ports.conflicts import Neighbours
from biem.telemetry import Telemetry

Near = Mapping[str, Sequence[tuple[str, float]]]
"""For each new memory the ids most like it with their similarity, nearest first."""
_MOST_ALIKE = 5
_YOUNG = 3
"""So many texts make a conversation."""
_NEAREST = 10
"""How many neighbours a memory comes with; where none of so many is formed, none is nearer than the last of them."""
_MARKED = 4.0
"""From this importance on somebody wants it kept."""


def is_explicit(memory: Node | Draft) -> bool:
    """Whether it was remembered on purpose and not just said."""
    return memory.kind != "event" or memory.layer == "core" or memory.importance >= _MARKED


class Gate:
    """Judges new memories, and refused ones anew. Thread-safe."""

    def __init__(
        self,
        *,
        records: AimRecords,
        neighbours: Neighbours,
        embedder: Embedder,
        clock: Clock,
        policy: AimPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._neighbours = neighbours
        self._embedder = embedder
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    def admit(
        self, scope: Scope, batch: Sequence[tuple[Node, Vector]], near: Near, conflicts: Mapping[str, float]
    ) -> frozenset[str]:
        """Judge memories of one scope that are being encoded; returns which are formed. Safe to repeat.

        `conflicts`: the confidence of the surest one of each new memory. The embedding cache must hold their vectors.
        """
        ordered = sorted(batch, key=lambda item: item[0].write_seq)
        with self._telemetry.span("biem.gate", rows=len(batch)) as span:
            refused: dict[str, GateDecision] = {}
            if self._policy.admission == "gate" and not all(is_explicit(node) for node, _ in ordered):
                refused = self._judge_all(scope, ordered, near, conflicts)
            span.add(refused=len(refused))
            return self._records.decide(scope, [node.id for node, _ in ordered], refused)

    def judge(self, scope: Scope, text: str, context: Sequence[str]) -> GateDecision:
        """What the gate says of a text in a context of the caller's own; nothing is written."""
        vectors = self._embedder.embed([text, *context], "passage")
        alike = self._alike(scope, vectors[0], "")
        return self._decision(vectors[0], list(vectors[1:]), _surprise(alike), 0.0)

    def judge_again(self, scope: Scope, node: Node) -> GateDecision:
        """What the gate says today of a memory that it refused; nothing is written."""
        vector = self._embedder.embed([node.indexed_text], "passage")[0]
        said = self._records.said(scope, [node.write_seq], self._policy.gate_context)
        context = _context(said, node, self._policy.gate_context)
        surprise = _surprise(self._alike(scope, vector, node.id))
        return self._decision(vector, context, surprise, 0.0, missing=_YOUNG - len(context))

    def _judge_all(
        self,
        scope: Scope,
        ordered: Sequence[tuple[Node, Vector]],
        near: Near,
        conflicts: Mapping[str, float],
    ) -> dict[str, GateDecision]:
        """Decisions that refuse, each with those before it in mind."""
        own = {node.id for node, _ in ordered}
        known = self._records.standing(scope, sorted(own.union(*(dict(near.get(key, ())) for key in own))))
        said = self._records.said(scope, [node.write_seq for node, _ in ordered], self._policy.gate_context)
        formed = {key for key, standing in known.items() if standing.formed} - own
        refused: dict[str, GateDecision] = {}
        for node, vector in ordered:
            standing = known.get(node.id)
            if standing is None:  # erased meanwhile
                continue
            if standing.decided or standing.foretold is not None:
                passes = standing.formed if standing.decided else bool(standing.foretold)
            elif is_explicit(node):
                passes = True
            else:
                alike = near.get(node.id, ())
                surprise = _surprise([one for one in alike if one[0] in formed], alike)
                context = _context(said, node, self._policy.gate_context)
                conflict = conflicts.get(node.id, 0.0)
                decision = self._decision(vector, context, surprise, conflict, missing=_YOUNG - len(context))
                passes = decision.formed
                if not passes:
                    refused[node.id] = decision
            if passes:
                formed.add(node.id)
        return refused

    def _decision(
        self, vector: Vector, context: Sequence[Vector], surprise: float, conflict: float, *, missing: int = 0
    ) -> GateDecision:
        """`missing`: texts that a conversation would need for relevance to be all its own."""
        relevance = 1.0
        if context:
            likeness = np.sort(self._embedder.similarity(vector, np.stack(context)).astype(np.float64))[::-1]
            relevance = float(1.0 - np.prod(1.0 - likeness[:_MOST_ALIKE]))
            benefit = max(0, missing) / _YOUNG
            relevance = (1.0 - benefit) * relevance + benefit
        return gate(relevance, surprise, conflict, self._policy, self._clock.now())

    def _alike(self, scope: Scope, vector: Vector, but: str) -> list[tuple[str, float]]:
        """Formed memories near a vector, with their similarity."""
        found = self._neighbours.nearest(scope, vector[np.newaxis], _NEAREST)[0]
        held = self._records.nodes([scope], sorted(found.keys() - {but}), self._clock.now(), evidence=False)
        known = [(one.node.id, one.vector) for one in held if one.formed and one.vector is not None]
        if not known:
            return []
        likeness = self._embedder.similarity(vector, np.stack([other for _, other in known])).tolist()
        return [(key, value) for (key, _), value in zip(known, likeness, strict=True)]


def _surprise(formed: Sequence[tuple[str, float]], nearest: Sequence[tuple[str, float]] = ()) -> float:
    """How new a text is beside the formed memories near it; `nearest` are all that are near, nearest first."""
    if formed:
        return 1.0 - max(likeness for _, likeness in formed)
    return 1.0 - nearest[-1][1] if len(nearest) >= _NEAREST else 1.0


def _context(said: Sequence[Said], node: Node, most: int) -> list[Vector]:
    """Vectors of what was said just before in the same conversation."""
    before = [one for one in said if one.write_seq < node.write_seq and one.conversation == node.conversation]
    return [one.vector for one in before[-most:] if one.vector is not None]
