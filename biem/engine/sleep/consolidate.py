"""Merges equivalent memories: of duplicates the richest is kept, similar long-term memories become one concise text.

Three named jobs: `dedupe` and `merge` here, `crystallise` in its own file. Nothing is lost: a replaced memory is
archived and points to its successor. Each replacement is one transaction; its links follow, and the next run completes
them when a process dies in between.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from biem.domain.conflict import Conflict, Statement, Verdict
from biem.domain.merging import adds_nothing, count_otherwise, covers, derived_id, join, richest, sources_hash
from biem.domain.node import Draft, Node
from biem.domain.policies.jobs import ConsolidationPolicy
from biem.domain.scope import Scope
from biem.domain.text import require_clean
from biem.domain.trust import UNTRUSTED, rank
from biem.engine.sleep.relink import LinkTransfer
from biem.engine.sleep.similar import Neighbourhood
from biem.errors import InvalidInput
from biem.ports import Analyzer, Clock, Write
from biem.ports.consolidation import Consolidations, Work
from biem.ports.contradiction import ContradictionRules
from biem.ports.reasoner import Reasoner
from biem.telemetry import Telemetry


class Duplicates(Protocol):
    """The method of `Conflicts` that lists pairs recorded as duplicates."""

    def find(
        self, scope: Scope, status: str | None, kinds: Sequence[str], limit: int, memory_id: str | None = None
    ) -> list[Conflict]:
        """As `biem.ports.conflicts.Conflicts.find`."""


class Consolidator:
    """The jobs `dedupe` and `merge` of a scope. Bounded per run, idempotent, and in any order with all other jobs."""

    def __init__(
        self,
        *,
        consolidations: Consolidations,
        neighbourhood: Neighbourhood,
        succession: LinkTransfer,
        analyzer: Analyzer,
        rules: ContradictionRules,
        duplicates: Duplicates,
        reasoner: Reasoner | None,
        clock: Clock,
        policy: ConsolidationPolicy,
        telemetry: Telemetry,
    ) -> None:
        self._consolidations = consolidations
        self._neighbourhood = neighbourhood
        self._succession = succession
        self._analyzer = analyzer
        self._rules = rules
        self._duplicates = duplicates
        self._reasoner = reasoner
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry

    # -- the jobs ---------------------------------------------------------------------------------------------------

    def dedupe(self, scope: Scope) -> Mapping[str, int]:
        """Keep the richest of duplicate facts; returns how many were archived."""
        with self._telemetry.span("biem.consolidate.dedupe") as span:
            relinked = self._succession.catch_up(scope)
            archived = self._each_batch(scope, "dedupe", self._dedupe_batch) + self._recorded(scope)
            span.add(archived=archived)
        return {"archived": archived, "relinked": relinked}

    def merge(self, scope: Scope) -> Mapping[str, int]:
        """Merge similar long-term facts into one memory; returns how many were archived."""
        with self._telemetry.span("biem.consolidate.merge") as span:
            relinked = self._succession.catch_up(scope)
            archived = self._each_batch(scope, "merge", self._merge_batch)
            span.add(archived=archived)
        return {"archived": archived, "relinked": relinked}

    def _each_batch(self, scope: Scope, job: Work, work: Callable[[Scope, Sequence[str]], int]) -> int:
        done = 0
        for _ in range(self._policy.batches):
            marks = self._consolidations.waiting(scope, job, self._policy.batch)
            if not marks:
                break
            done += work(scope, [mark.id for mark in marks])
            self._consolidations.looked(scope, job, marks)
        return done

    # -- duplicates -------------------------------------------------------------------------------------------------

    def _dedupe_batch(self, scope: Scope, ids: Sequence[str]) -> int:
        found = self._neighbourhood.of(scope, ids, self._policy.dedupe_similarity)
        gone: set[str] = set()
        for key, similar in found.similar.items():
            group = [key, *(other for other in similar if other not in gone)]
            if key not in gone:
                gone |= self._keep_richest(scope, [found.nodes[member] for member in group], similar)
        return len(gone)

    def _recorded(self, scope: Scope) -> int:
        """Pairs that rules or a model recorded as duplicates during encoding."""
        pairs = [
            pair
            for pair in self._duplicates.find(scope, "pending", ("duplicate",), self._policy.batch)
            if not pair.moot and pair.confidence >= self._policy.duplicate_confidence
        ]
        ids = sorted({key for pair in pairs for key in (pair.older_id, pair.newer_id)})
        nodes = self._neighbourhood.of(scope, ids, 1.0).nodes if ids else {}
        gone: set[str] = set()
        for pair in pairs:
            both = [nodes[key] for key in (pair.older_id, pair.newer_id) if key in nodes and key not in gone]
            if len(both) == 2:
                gone |= self._keep_richest(scope, both, {}, recorded=True)
        return len(gone)

    def _keep_richest(
        self, scope: Scope, group: Sequence[Node], similar: Mapping[str, float], *, recorded: bool = False
    ) -> set[str]:
        """Archive the members of the group that the richest one covers; the others stay. Returns the archived ids."""
        facts = {node.id: node for node in group if _is_plain_fact(node)}
        if group[0].id not in facts:
            return set()
        first = group[0]
        alike = {key: node for key, node in facts.items() if node is first or _same_kind(node, first)}
        most = max(rank(node.trust) for node in alike.values())  # of two levels the higher one stays
        kept = alike[richest({key: node.text for key, node in alike.items() if rank(node.trust) == most})]
        near = self._near(scope, kept, first, alike) if len(alike) > 2 else alike
        said = [
            key for key, node in near.items() if node is not kept and self._is_covered(kept, node, similar, recorded)
        ]
        return self._absorb(scope, kept.id, said)

    def _is_covered(self, kept: Node, node: Node, similar: Mapping[str, float], recorded: bool) -> bool:
        """Whether `node` adds nothing to `kept`: by its wording, or by the verdict of a rule or a model."""
        if not covers(kept.fields, node.fields):
            return False
        verdict = self._verdict(node, kept, similar)
        if recorded or verdict is None or verdict.confidence < self._policy.disagree_confidence:
            return recorded or adds_nothing(kept.indexed_text, node.indexed_text, self._analyzer.wording)
        return verdict.kind == "duplicate" and verdict.confidence >= self._policy.duplicate_confidence

    def _near(self, scope: Scope, kept: Node, first: Node, alike: Mapping[str, Node]) -> Mapping[str, Node]:
        """All are similar to `first`; those that are similar to `kept`, too."""
        if kept is first:
            return alike
        pairs = self._neighbourhood.similarity(scope, list(alike))
        return {
            key: node
            for key, node in alike.items()
            if node is kept or _is_similar_to_all(node, [kept], pairs, self._policy.dedupe_similarity)
        }

    # -- merging ----------------------------------------------------------------------------------------------------

    def _merge_batch(self, scope: Scope, ids: Sequence[str]) -> int:
        found = self._neighbourhood.of(scope, ids, self._policy.merge_similarity)
        gone: set[str] = set()
        for key, similar in found.similar.items():
            if key in gone or not _is_long_term(found.nodes[key]):
                continue
            group = [found.nodes[key]]
            for other in similar:
                node = found.nodes[other]
                if len(group) < self._policy.merge_size and other not in gone and self._joins(node, group, similar):
                    group.append(node)
            if len(group) > 1:
                gone |= self._merge_group(scope, group)
        return len(gone)

    def _joins(self, node: Node, group: Sequence[Node], similar: Mapping[str, float]) -> bool:
        return _is_long_term(node) and all(
            _same_kind(node, member) and node.trust == member.trust and self._compatible(node, member, similar)
            for member in group
        )

    def _merge_group(self, scope: Scope, group: Sequence[Node]) -> set[str]:
        """Returns the archived ids."""
        pairs = self._neighbourhood.similarity(scope, [node.id for node in group])
        group = [group[0]] + [
            node for node in group[1:] if _is_similar_to_all(node, group, pairs, self._policy.merge_similarity)
        ]
        if len(group) < 2:
            return set()
        ordered = sorted(group, key=lambda node: (node.at, node.write_seq))
        if (kept := self._covering_memory(ordered)) is not None:
            return self._absorb(scope, kept, [node.id for node in ordered if node.id != kept])
        text = self._merged_text(scope, ordered)
        if text is None:
            return set()
        ids = [node.id for node in ordered]
        write = self._write(text, ordered, derived_id(scope.ns, "merge", sources_hash(ids)))
        if not self._consolidations.merge(scope, write, ids, self._clock.now()):
            return set()
        self._succession.settle(scope, write.id, ids)
        return set(ids)

    def _covering_memory(self, group: Sequence[Node]) -> str | None:
        """The one that covers all others, if there is one: then no new text is needed, and the result of a sleep is
        the same whether `dedupe` or `merge` processes a pair first.
        """
        best = richest({node.id: node.text for node in group})
        kept = next(node for node in group if node.id == best)
        others = [node for node in group if node is not kept]
        if all(
            covers(kept.fields, node.fields)
            and adds_nothing(kept.indexed_text, node.indexed_text, self._analyzer.wording)
            for node in others
        ):
            return best
        return None

    def _merged_text(self, scope: Scope, ordered: Sequence[Node]) -> str | None:
        """The model's merge if it loses no number, name, or symbol, else the richest joined with the additions of the
        others.
        """
        texts = [node.text for node in ordered]
        limit = self._policy.merge_chars
        if self._reasoner is not None:
            written = self._reasoner.merge(scope, texts)
            if written is not None and is_usable(written, min(limit, sum(map(len, texts)))):
                pinned = self._analyzer.analyze(written).fields
                if all(covers(pinned, node.fields) for node in ordered):
                    return written.strip()
        best = richest({node.id: node.text for node in ordered})
        kept = next(node.text for node in ordered if node.id == best)
        others = [node.text for node in ordered if node.id != best]
        joined = join(kept, others, self._analyzer.wording)
        return joined if len(joined) <= limit else None

    def _write(self, text: str, ordered: Sequence[Node], memory_id: str) -> Write:
        last = ordered[-1]
        draft = Draft(
            text=text,
            kind=last.kind,
            reason=max((node.reason for node in ordered), key=len),
            importance=max(node.importance for node in ordered),
            source="merge",
            speaker=last.speaker,
            at=last.at,
            ref=f"merge:{memory_id}",
            layer="long_term",
            origin="system",
            trust=last.trust,
        )
        return Write(memory_id, draft, " ".join(self._analyzer.lexemes(draft.indexed_text)), 0.1, None)

    # -- both -------------------------------------------------------------------------------------------------------

    def _absorb(self, scope: Scope, kept: str, replaced: Sequence[str]) -> set[str]:
        """Replace `replaced` by `kept`; returns the archived ids."""
        if not replaced or not self._consolidations.absorb(scope, kept, replaced, self._clock.now()):
            return set()
        self._succession.settle(scope, kept, replaced)
        return set(replaced)

    def _compatible(self, one: Node, two: Node, similar: Mapping[str, float]) -> bool:
        """Whether the two may be merged: no rule is confident that they conflict, and they have no different
        numbers.
        """
        if count_otherwise(one.fields, two.fields):
            return False
        verdict = self._verdict(one, two, similar)
        return verdict is None or verdict.kind == "duplicate" or verdict.confidence < self._policy.disagree_confidence

    def _verdict(self, one: Node, two: Node, similar: Mapping[str, float]) -> Verdict | None:
        older, newer = sorted((one, two), key=lambda node: (node.at, node.write_seq))
        return self._rules.compare(
            Statement(older.text, older.speaker, older.at),
            Statement(newer.text, newer.speaker, newer.at),
            similar.get(one.id, similar.get(two.id)),
        )


def is_current(node: Node) -> bool:
    """Whether it is not superseded, valid without an end, no crystal fact, and never expires.

    A text made of several memories would tell an expired one on.
    """
    lasts = node.superseded_by is None and node.valid_to is None and node.expires_at is None
    return node.status == "active" and lasts and "fact" not in node.metadata


def _is_plain_fact(node: Node) -> bool:
    """Messages are never rewritten."""
    return node.kind != "event" and is_current(node) and node.trust != UNTRUSTED


def _is_long_term(node: Node) -> bool:
    return _is_plain_fact(node) and node.layer == "long_term"


def _same_kind(one: Node, two: Node) -> bool:
    return one.kind == two.kind and one.speaker == two.speaker


def _is_similar_to_all(node: Node, group: Sequence[Node], pairs: Mapping[tuple[str, str], float], least: float) -> bool:
    """Each must be similar to all others: a chain of neighbours is no group."""
    return all(
        pairs.get((min(node.id, other.id), max(node.id, other.id)), 0.0) >= least
        for other in group
        if other is not node
    )


def is_usable(text: str, limit: int) -> bool:
    """Whether a model's text can be stored as a memory of at most `limit` characters."""
    try:
        require_clean(text, "the merged text")
    except InvalidInput:
        return False
    return 0 < len(text.strip()) <= limit
