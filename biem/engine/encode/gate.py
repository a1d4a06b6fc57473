"""The write gate: which messages are formed, with energy, links and layer; all others stay events.

A person's statements are formed, courtesies are not (`biem.engine.encode.admission`); for other messages, or for all if
the policy's admission is *gate*, AIM-Memory's formula decides:

    r = 1 − Π(1 − similarity) over the five most similar of the preceding texts                  (no texts: 1)
    s = surprise of its words and anchors given the nearest formed memories, see `biem.domain.designs.aim` (none: 1)
    c = confidence of the surest conflict

At the start of a conversation relevance means little: if fewer than three texts precede a message, each missing one
counts as relevant.

The gate runs in the worker, which already has vectors and neighbours, so no acknowledgement waits for it. A batch is
judged in the order it was written. Existing decisions, including those of a caller with its own context, are final.
Explicit memories are not judged: a fact, the layer core, importance 4 and more, a summary of a
session, or a message that asks to be kept ("remember that …", "以后请…").
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from biem.domain.anchors import unsaid
from biem.domain.conflict import Statement
from biem.domain.designs.aim import GateDecision, gate, surprise
from biem.domain.fields import Fields
from biem.domain.node import SUMMARY_SOURCE, Draft, Node
from biem.domain.policies.aim import AimPolicy
from biem.domain.policies.conflicts import ConflictPolicy
from biem.domain.scope import Scope
from biem.domain.speech.acts import is_standing_order
from biem.domain.text import late
from biem.engine.conflicts.passages import compare
from biem.engine.encode.admission import Admission
from biem.engine.encode.gate_text import CJK, GateTextReader, Told
from biem.ports import Analyzer, Clock, Embedder, Vector
from biem.ports.aim import AimRecords, Said
from biem.ports.conflicts import ConflictNeighbours
from biem.ports.contradiction import ContradictionRules
from biem.ports.embedding import DirectionOdds
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry

Near = Mapping[str, Sequence[tuple[str, float]]]
"""For each new memory the ids of the most similar ones with their similarity, nearest first."""
_MOST_ALIKE = 5
_YOUNG = 3
"""Preceding texts from which relevance counts in full."""
_NEAREST = 10
"""Neighbours passed with each memory; if none of them is formed, no formed memory is nearer than the last."""
_COMPARED = 3
"""Nearest formed neighbours that are compared with a text."""
_NO_FIELDS = Fields()
_SHORT, _SHORT_CJK = 60, 20
"""Maximum characters of a courtesy that its vector tells."""
_COURTEOUS = 0.0
"""Log-odds of a courtesy from which a message without numbers and names is refused."""
_OF_OTHERS = late(r"\b(?:he|she|they)\b|[他她](?!.{0,2}[真好太])", re.IGNORECASE)
"""Courtesies are between the user and the assistant: "she said yes" is none."""
_MARKED = 4.0
"""Minimum importance of an explicit memory."""


def is_explicit(memory: Node | Draft) -> bool:
    """Whether it was remembered explicitly, not just said."""
    marked = memory.kind != "event" or memory.layer == "core" or memory.importance >= _MARKED
    return marked or memory.source == SUMMARY_SOURCE or is_standing_order(memory.text)


@dataclass(frozen=True, slots=True)
class _Known:
    """Formed memories near a text. `likeness`: similarity of the nearest; None if there are none."""

    likeness: float | None = None
    fields: Sequence[Fields] = ()
    statements: Sequence[tuple[Statement, float]] = field(default=())
    """With their similarity, for texts that were not checked for conflicts yet."""


class Gate:
    """Judges new memories, and refused ones again. Thread-safe."""

    def __init__(
        self,
        *,
        records: AimRecords,
        neighbours: ConflictNeighbours,
        rules: ContradictionRules,
        embedder: Embedder,
        analyzer: Analyzer,
        clock: Clock,
        policy: AimPolicy,
        conflicts: ConflictPolicy,
        telemetry: Telemetry,
        reasoner: Reasoner | None = None,
        courtesy_odds: DirectionOdds | None = None,
    ) -> None:
        """`reasoner`: decides if the policy's admission is llm. `courtesy_odds`: without it, courtesies are found by
        their words only.
        """
        self._records = records
        self._neighbours = neighbours
        self._conflicts = conflicts
        self._rules = rules
        self._embedder = embedder
        self._reader = GateTextReader(analyzer)
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry
        self._admission = Admission(policy, reasoner, clock)
        self._courtesy_odds = courtesy_odds

    def admit(
        self, scope: Scope, batch: Sequence[tuple[Node, Vector]], near: Near, conflicts: Mapping[str, float]
    ) -> frozenset[str]:
        """Judge memories of one scope during encoding; returns which are formed. Safe to repeat.

        `conflicts`: confidence of the surest conflict of each new memory. The embedding cache must hold their vectors.
        """
        with self._telemetry.span("biem.gate", rows=len(batch)) as span:
            judged: Mapping[str, GateDecision] = {}
            if self._policy.admission != "always" and not all(is_explicit(node) for node, _ in batch):
                judged = self.weigh(scope, batch, near, conflicts)
            refused = {key: decision for key, decision in judged.items() if not decision.formed}
            span.add(refused=len(refused))
            return self._records.decide(scope, [node.id for node, _ in _ordered(batch)], refused)

    def judge(self, scope: Scope, text: str, context: Sequence[str], speaker: str = "") -> GateDecision:
        """Decide about a text in a context given by the caller; writes nothing."""
        told = self._reader.told(text)
        decision = self._admission.decision(scope, text, told, waiting=True)
        if decision is not None:
            return decision
        vectors = self._embedder.embed([text, *context], "passage")
        known = self._known(scope, vectors[0], "")
        conflict = self._conflict(Statement(text, speaker, self._clock.now()), known)
        by_gate = self._decision(vectors[0], list(vectors[1:]), self._surprise(told, known), conflict)
        return self._by_statements(by_gate, text, "", vectors[0], told, known)

    def judge_again(self, scope: Scope, node: Node) -> GateDecision:
        """Decide again about a refused memory, with current memories and settings; writes nothing."""
        told = self._reader.told(node.text)
        decision = self._admission.decision(scope, node.text, told)
        if decision is not None:
            return decision
        vector = self._embedder.embed([node.indexed_text], "passage")[0]
        said = self._records.said(scope, [node.write_seq], self._policy.gate_context)
        context = _context(said, node, self._policy.gate_context)
        known = self._known(scope, vector, node.id)
        conflict = self._conflict(Statement(node.text, node.speaker, node.at), known)
        surprise = self._surprise(told, known)
        by_gate = self._decision(vector, context, surprise, conflict, missing=_YOUNG - len(context))
        return self._by_statements(by_gate, node.text, node.source, vector, told, known)

    def weigh(
        self, scope: Scope, batch: Sequence[tuple[Node, Vector]], near: Near, conflicts: Mapping[str, float]
    ) -> dict[str, GateDecision]:
        """Decide for `admit` about messages, each in the context of the preceding ones."""
        ordered = _ordered(batch)
        own = {node.id for node, _ in ordered}
        known = self._records.standing(scope, sorted(own.union(*(dict(near.get(key, ())) for key in own))))
        said = self._records.said(scope, [node.write_seq for node, _ in ordered], self._policy.gate_context)
        formed = {key for key, standing in known.items() if standing.formed} - own
        fields = self._fields(scope, {key for one in own for key, _ in _first(near.get(one, ()), formed)})
        judged: dict[str, GateDecision] = {}
        for node, vector in ordered:
            standing = known.get(node.id)
            if standing is None:  # erased meanwhile
                continue
            told = self._reader.told(node.text)
            if standing.decided or standing.foretold is not None:
                passes = standing.formed if standing.decided else bool(standing.foretold)
            elif is_explicit(node):
                passes = True
            else:
                decision = self._admission.decision(scope, node.text, told)
                if decision is None:
                    around = _near(near.get(node.id, ()), formed, fields)
                    surprise = self._surprise(told, around)
                    context = _context(said, node, self._policy.gate_context)
                    conflict = conflicts.get(node.id, 0.0)
                    by_gate = self._decision(vector, context, surprise, conflict, missing=_YOUNG - len(context))
                    decision = self._by_statements(by_gate, node.text, node.source, vector, told, around)
                judged[node.id], passes = decision, decision.formed
            if passes:
                formed.add(node.id)
                fields[node.id] = told.fields
        return judged

    def _decision(
        self, vector: Vector, context: Sequence[Vector], surprise: float, conflict: float, *, missing: int = 0
    ) -> GateDecision:
        """`missing`: preceding texts missing for relevance to count in full."""
        relevance = 1.0
        if context:
            likeness = np.sort(self._embedder.similarity(vector, np.stack(context)).astype(np.float64))[::-1]
            relevance = float(1.0 - np.prod(1.0 - likeness[:_MOST_ALIKE]))
            benefit = max(0, missing) / _YOUNG
            relevance = (1.0 - benefit) * relevance + benefit
        return gate(relevance, surprise, conflict, self._policy, self._clock.now())

    def _by_statements(
        self, decision: GateDecision, text: str, source: str, vector: Vector, told: Told, known: _Known
    ) -> GateDecision:
        return self._admission.by_statements(
            decision,
            text,
            source,
            likeness=known.likeness,
            news=self._news(told, known),
            courteous=told.fields == _NO_FIELDS and self._is_courteous(text, vector),
        )

    def _is_courteous(self, text: str, vector: Vector) -> bool:
        """Whether a short message lies where courtesies do: "gotcha, cheers", 那我就放心了."""
        most = _SHORT_CJK if CJK.search(text) else _SHORT
        if self._courtesy_odds is None or len(text) > most or _OF_OTHERS.search(text):
            return False
        return float(self._courtesy_odds(vector[np.newaxis])[0]) > _COURTEOUS

    def _news(self, told: Told, known: _Known) -> float:
        return unsaid(told.fields, known.fields, self._policy.field_weights)

    def _surprise(self, told: Told, known: _Known) -> float:
        if known.likeness is None:
            return 1.0
        return surprise(known.likeness, told.words, self._news(told, known))

    def _conflict(self, statement: Statement, known: _Known) -> float:
        """Confidence of the surest conflict with formed memories nearby, as the worker would record it."""
        least, longest = self._conflicts.record_confidence, self._conflicts.max_statement_chars
        verdicts = (
            compare(self._rules, other, statement, likeness, longest=longest, least=least)
            for other, likeness in known.statements
            if likeness >= self._conflicts.least_similarity
        )
        against = (one.confidence for one in verdicts if one is not None and one.kind != "duplicate")
        return max((confidence for confidence in against if confidence >= least), default=0.0)

    def _known(self, scope: Scope, vector: Vector, but: str) -> _Known:
        """Formed memories near a vector."""
        found = self._neighbours.nearest(scope, vector[np.newaxis], _NEAREST)[0]
        held = self._records.nodes([scope], sorted(found.keys() - {but}), self._clock.now(), evidence=False)
        formed = [(one.node, one.vector) for one in held if one.formed and one.vector is not None]
        if not formed:
            return _Known()
        likeness = self._embedder.similarity(vector, np.stack([other for _, other in formed])).tolist()
        ranked = sorted(zip(likeness, (node for node, _ in formed), strict=True), key=lambda pair: -pair[0])
        return _Known(
            ranked[0][0],
            [self._reader.fields(node.text) for _, node in ranked[:_COMPARED]],
            [(Statement(node.text, node.speaker, node.at), alike) for alike, node in ranked],
        )

    def _fields(self, scope: Scope, ids: set[str]) -> dict[str, Fields]:
        if not ids:
            return {}
        found = self._records.anchors([scope], sorted(ids))
        return {key: one.fields if one.text is None else self._reader.fields(one.text) for key, one in found.items()}


def _ordered(batch: Sequence[tuple[Node, Vector]]) -> list[tuple[Node, Vector]]:
    return sorted(batch, key=lambda item: item[0].write_seq)


def _first(near: Sequence[tuple[str, float]], formed: set[str]) -> list[tuple[str, float]]:
    return [one for one in near if one[0] in formed][:_COMPARED]


def _near(near: Sequence[tuple[str, float]], formed: set[str], fields: Mapping[str, Fields]) -> _Known:
    """Known statements and fields from these neighbours, nearest first."""
    if not near:
        return _Known()
    nearest = _first(near, formed)
    if nearest:
        return _Known(nearest[0][1], [fields[key] for key, _ in nearest if key in fields])
    return _Known(near[-1][1] if len(near) >= _NEAREST else 0.0)


def _context(said: Sequence[Said], node: Node, most: int) -> list[Vector]:
    """Vectors of the preceding texts of the same conversation."""
    before = [one for one in said if one.write_seq < node.write_seq and one.conversation == node.conversation]
    return [one.vector for one in before[-most:] if one.vector is not None]
