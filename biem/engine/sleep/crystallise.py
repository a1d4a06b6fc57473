"""Distils a fact from a cluster of frequently used memories, which stay active.

A memory belongs to one current fact at most, so no run creates a fact twice: a cluster consists of memories that belong
to none, extends the fact that its neighbours belong to, or becomes a new fact from five members on.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from biem.domain.energy import initial_energy
from biem.domain.merging import Passage, derived_id, digest, groups, sources_hash
from biem.domain.node import Draft, Node
from biem.domain.policies.jobs import ConsolidationPolicy
from biem.domain.retention import ASSISTANT
from biem.domain.scope import Scope
from biem.domain.speech.acts import is_courtesy
from biem.domain.trust import UNTRUSTED, least_trusted
from biem.engine.sleep.consolidate import is_current, is_usable
from biem.engine.sleep.relink import LinkTransfer
from biem.engine.sleep.similar import Neighbourhood
from biem.ports import Analyzer, Clock, Records, Write
from biem.ports.consolidation import Consolidations, CrystalFact
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry

_STEPS = 3
"""Maximum steps from a used memory; further members of the cluster are found when they are used."""


@dataclass(slots=True)
class _Found:
    """The neighbourhood of the used memories."""

    nodes: dict[str, Node] = field(default_factory=dict)
    similar: dict[str, Mapping[str, float]] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    """Memory → the fact it belongs to."""


class Crystalliser:
    """The job `crystallise` of a scope: bounded a run, idempotent."""

    def __init__(
        self,
        *,
        records: Records,
        consolidations: Consolidations,
        neighbourhood: Neighbourhood,
        analyzer: Analyzer,
        reasoner: Reasoner | None,
        succession: LinkTransfer,
        clock: Clock,
        policy: ConsolidationPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._records = records
        self._consolidations = consolidations
        self._neighbourhood = neighbourhood
        self._analyzer = analyzer
        self._reasoner = reasoner
        self._succession = succession
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    def crystallise(self, scope: Scope) -> Mapping[str, int]:
        """Distil facts from clusters of frequently used memories; returns how many are new and how many were
        extended.
        """
        made: Counter[str] = Counter(facts=0, grown=0)
        with self._telemetry.span("biem.consolidate.crystallise") as span:
            made["relinked"] = self._succession.catch_up(scope)
            for _ in range(self._policy.batches):
                marks = self._consolidations.waiting(scope, "crystal", self._policy.batch)
                if not marks:
                    break
                made.update(self._batch(scope, [mark.id for mark in marks]))
                self._consolidations.looked(scope, "crystal", marks)
            span.add(facts=made["facts"], grown=made["grown"])
        return dict(made)

    def _batch(self, scope: Scope, ids: Sequence[str]) -> Counter[str]:
        found = self._around(scope, ids)
        loose = {key for key in found.similar if key not in found.facts and self._is_frequent(found.nodes[key])}
        edges = {key: [other for other in found.similar[key] if other in loose] for key in loose}
        made: Counter[str] = Counter()
        for group in groups(edges, self._policy.crystal_most):
            neighbours = Counter(
                found.facts[other] for key in group for other in found.similar[key] if other in found.facts
            )
            nearest = min(neighbours, key=lambda fact: (-neighbours[fact], fact), default=None)
            if nearest is not None and self._grow(scope, nearest, group):
                made["grown"] += 1
            elif len(group) >= self._policy.crystal_size and self._distil(scope, group, None):
                made["facts"] += 1
        return made

    def _around(self, scope: Scope, ids: Sequence[str]) -> _Found:
        """The frequently used memories that are similar, step by step from those used recently."""
        found = _Found()
        frontier = list(ids)
        for _ in range(_STEPS):
            if not frontier:
                break
            likeness = self._neighbourhood.of(scope, frontier, self._policy.crystal_similarity)
            fresh = likeness.nodes.keys() - found.nodes.keys()
            found.nodes |= likeness.nodes
            found.facts |= self._consolidations.facts_of(scope, sorted(fresh)) if fresh else {}
            found.similar |= likeness.similar
            frontier = sorted(
                key for key in fresh - found.similar.keys() - found.facts.keys() if self._is_frequent(found.nodes[key])
            )[: self._policy.batch]
        return found

    def _is_frequent(self, node: Node) -> bool:
        used = node.access_count >= self._policy.frequent_accesses or node.useful_count >= self._policy.frequent_useful
        spoken = node.source == ASSISTANT or is_courtesy(node.text)  # no evidence for a fact
        return used and not spoken and node.trust != UNTRUSTED and is_current(node)

    def _grow(self, scope: Scope, fact_id: str, group: Sequence[str]) -> bool:
        fact = self._consolidations.fact(scope, fact_id)
        if fact is None or len(fact.source_node_ids) + len(group) > self._policy.crystal_most:
            return False
        return self._distil(scope, [*fact.source_node_ids, *group], fact_id)

    def _distil(self, scope: Scope, ids: Sequence[str], grown_from: str | None) -> bool:
        sources, now = sorted(set(ids)), self._clock.now()
        nodes = [node for key in sources if (node := self._records.get(scope, key)) is not None]
        if len(nodes) < len(sources):
            return False  # one was erased just now
        trust = least_trusted(node.trust for node in nodes)
        if trust == UNTRUSTED:
            return False  # the trust of a source was lowered
        name = sources_hash(node.id if node.revision == 1 else f"{node.id}:{node.revision}" for node in nodes)
        fact_id = derived_id(scope.ns, "fact", name)
        content = self._content(scope, nodes)
        if not content:
            return False
        pairs = self._neighbourhood.similarity(scope, sources)
        alike = sum(pairs.values()) / len(pairs) if pairs else self._policy.crystal_similarity
        fact = CrystalFact(fact_id, content, tuple(sources), min(1.0, alike), now, now, {"sources_hash": name})
        importance = max(node.importance for node in nodes)
        draft = Draft(
            text=content,
            kind="knowledge",
            importance=importance,
            source="crystal",
            at=max(node.at for node in nodes),
            ref=f"fact:{name}",
            metadata={"fact": fact_id, "sources": sources},
            layer="long_term",
            origin="system",
            trust=trust,
        )
        lexemes = " ".join(self._analyzer.lexemes(content))
        write = Write(fact_id, draft, lexemes, initial_energy(importance, ""), None)
        if not self._consolidations.crystallise(scope, fact, write, grown_from, now):
            return False
        self._succession.settle(scope, fact_id, [grown_from] if grown_from else [])
        return True

    def _content(self, scope: Scope, nodes: Sequence[Node]) -> str:
        """The model's summary, else the sentences shared by most of the sources, with their days."""
        ordered = sorted(nodes, key=lambda node: (node.at, node.write_seq))
        limit = self._policy.crystal_chars
        written = None
        if self._reasoner is not None:
            written = self._reasoner.summarise(scope, [node.spoken_text for node in ordered], limit)
        if written is not None and is_usable(written, limit):
            return written.strip()
        return digest([Passage(node.spoken_text, node.at) for node in ordered], self._analyzer.lexemes, limit)
