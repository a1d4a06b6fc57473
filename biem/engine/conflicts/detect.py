"""Detects that a new memory contradicts, updates or repeats an older one.

Runs while a batch is encoded, before its memories become active. Rules compare each with the nearest memories of its
scope, taken from the vector index and from what the index may not return yet: the batch itself and what was written
just before and after it. A confident verdict supersedes the older of the two at once, an uncertain one is recorded as
pending. Older is what was said earlier, not what was written earlier: an import of old messages supersedes nothing
newer.

`Conflicts.record` commits findings and their effect in one transaction, before the memories are completed. A process
that dies in between leaves a decision about a pending memory; the next worker finds the same and changes nothing.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import compress

import numpy as np

from biem.domain.conflict import READ_TOGETHER, Conflict, Statement, Verdict
from biem.domain.node import Node, new_id
from biem.domain.policies.conflicts import ConflictPolicy
from biem.domain.prompt.contents import role_of
from biem.domain.scope import Scope
from biem.domain.text import rejoined, simplified
from biem.engine.conflicts.passages import compare
from biem.ports import Clock, Embedder, Vector
from biem.ports.conflicts import ConflictFinding, ConflictNeighbours, Conflicts, Peer
from biem.ports.contradiction import ContradictionRules
from biem.ports.embedding import DirectionOdds, PairOdds, TextPair
from biem.telemetry import Telemetry

_RIGHT_AFTER = timedelta(minutes=10)
"""Within this time a correction without a subject refers to the message before it."""

_DEEPER, _MOST_NEAR = 8, 500
"""Growth of the number of nearest memories searched, and the number from which it ends."""


@dataclass(frozen=True, slots=True)
class Fresh:
    """A memory being encoded, with the vector of its text."""

    node: Node
    vector: Vector


@dataclass(frozen=True, slots=True)
class Checked:
    """The conflicts of a batch, and for each of its memories the most similar ones, with calibrated similarity."""

    conflicts: Sequence[Conflict]
    near: Mapping[str, Sequence[tuple[str, float]]]


class ConflictChecker:
    """Compares new memories with stored ones. The embedding cache must hold their vectors already.

    `judged`: there is a language model, so that suspicions are recorded for it. `change_odds`: without it, changes are
    found by their words only. `pair_odds`: without it, by rules only.
    """

    def __init__(
        self,
        *,
        conflicts: Conflicts,
        neighbours: ConflictNeighbours,
        embedder: Embedder,
        rules: ContradictionRules,
        clock: Clock,
        policy: ConflictPolicy,
        telemetry: Telemetry,
        judged: bool,
        change_odds: DirectionOdds | None = None,
        pair_odds: PairOdds | None = None,
    ) -> None:
        self._conflicts = conflicts
        self._neighbours = neighbours
        self._embedder = embedder
        self._rules = rules
        self._clock = clock
        self._policy = policy
        self._telemetry = telemetry
        self._change_odds = change_odds
        self._pair_odds = pair_odds
        self._least = policy.suspect_confidence if judged else policy.record_confidence

    def check(self, scope: Scope, fresh: Sequence[Fresh]) -> Checked:
        """Find and record the conflicts of new memories of one scope; returns the current verdicts of the rules.

        Safe to repeat. Earlier decisions about a pair stay.
        """
        if not fresh:
            return Checked((), {})
        with self._telemetry.span("biem.encode.conflicts", rows=len(fresh)) as span:
            found = self._peers(scope, fresh)
            peers = {peer.id: peer for peer in found}
            nearest = self._nearest([item.node.id for item in fresh], peers)
            follows = _following([peer for peer in found if not peer.long])
            pairs = _pairs(nearest, peers, self._policy.least_similarity, follows)
            peers |= self._documents(scope, {key: peers[key] for pair in pairs for key in pair if peers[key].long})
            compared = [
                _Compared(peers[older], peers[newer], similarity, follows.get(newer) == older)
                for (older, newer), similarity in pairs.items()
                if _may_compare(peers[older], peers[newer])
            ]
            verdicts = self._read_together(compared, [self._by_rules(pair) for pair in compared])
            judged = (
                self._finding(pair.older, pair.newer, verdict) for pair, verdict in zip(compared, verdicts, strict=True)
            )
            findings = _of_one_subject([finding for finding in judged if finding is not None], pairs)
            findings = self._limit_suspicions(_unambiguous(findings, peers))
            span.add(pairs=len(pairs), findings=len(findings))
            return Checked(self._conflicts.record(scope, findings, self._clock.now()), nearest)

    def _peers(self, scope: Scope, fresh: Sequence[Fresh]) -> list[Peer]:
        """The new memories, what is near them, and what was written around them.

        Untrusted memories are no peers. Where they take most places of the nearest, more are searched.
        """
        policy = self._policy
        vectors = np.stack([item.vector for item in fresh])
        seqs = [item.node.write_seq for item in fresh]
        limit = policy.neighbours + 1  # one more than needed: a retry finds the memory itself
        while True:
            near = self._neighbours.nearest(scope, vectors, limit)
            ids = {item.node.id for item in fresh}.union(*near)
            found = self._conflicts.peers(scope, sorted(ids), seqs, policy.around, policy.max_statement_chars)
            known = {peer.id for peer in found}
            crowded = any(len(hits) >= limit and 2 * len(known & hits.keys()) < policy.neighbours for hits in near)
            if not crowded or limit >= _MOST_NEAR:
                return found
            limit *= _DEEPER

    def _nearest(self, ids: Sequence[str], peers: Mapping[str, Peer]) -> dict[str, list[tuple[str, float]]]:
        """For each new memory the most similar ids and their similarity, without those erased meanwhile."""
        keys = sorted(peers)
        vectors = np.array([peers[key].vector for key in keys], np.float32)
        nearest: dict[str, list[tuple[str, float]]] = {}
        for key in ids:
            if key in peers:
                similarities = self._embedder.similarity(peers[key].vector, vectors)
                best = np.argsort(-similarities, kind="stable")[: self._policy.neighbours + 1].tolist()
                others = [(keys[n], float(similarities[n])) for n in best if keys[n] != key]
                nearest[key] = others[: self._policy.neighbours]
        return nearest

    def _documents(self, scope: Scope, peers: Mapping[str, Peer]) -> dict[str, Peer]:
        """The same peers with the texts of those that are compared."""
        texts = self._conflicts.texts(scope, sorted(peers))
        return {key: replace(peer, text=texts.get(key, "")) for key, peer in peers.items()}

    def _limit_suspicions(self, findings: Sequence[ConflictFinding]) -> list[ConflictFinding]:
        """All findings, but only the strongest suspicions about each memory: a model's budget is small."""
        asked: Counter[str] = Counter()
        kept: list[ConflictFinding] = []
        for finding in sorted(findings, key=lambda finding: -finding.confidence):
            if finding.suspected:
                asked.update((finding.older_id, finding.newer_id))
                if max(asked[finding.older_id], asked[finding.newer_id]) > self._policy.suspects:
                    continue
            kept.append(finding)
        return kept

    def _by_rules(self, pair: "_Compared") -> Verdict | None:
        both = self._statements(pair)
        longest = self._policy.max_statement_chars
        return compare(self._rules, *both, pair.similarity, longest=longest, least=self._least)

    def _read_together(
        self, pairs: Sequence["_Compared"], verdicts: Sequence[Verdict | None]
    ) -> Sequence[Verdict | None]:
        """The same verdicts; where no rule decides, those of the model that reads both messages together."""
        if self._pair_odds is None:
            return verdicts
        open_to_it: dict[int, Verdict] = {}
        readings: Counter[str] = Counter()
        for place in sorted(range(len(pairs)), key=lambda place: -pairs[place].similarity):
            pair = pairs[place]
            if readings[pair.newer.id] >= self._policy.readings:
                continue
            older, newer = self._statements(pair)
            if self._leaves_open(pair, verdicts[place], newer.changed):
                ending = self._rules.ending(older, newer)
                if ending is not None:
                    open_to_it[place] = ending
                    readings[pair.newer.id] += 1
        asked = [_as_read(pairs[place]) for place in open_to_it]
        found = list(verdicts)
        for (place, ending), odds in zip(open_to_it.items(), self._pair_odds(asked).tolist(), strict=True):
            confidence = self._policy.confidence_of_reading(odds)
            if confidence >= self._policy.act_confidence:
                confidence = min(confidence, ending.confidence)
                found[place] = self._of_claims(replace(ending, confidence=confidence), pairs[place], self._pair_odds)
        return found

    def _of_claims(self, verdict: Verdict, pair: "_Compared", pair_odds: PairOdds) -> Verdict:
        """The verdict; partial if the older message makes claims that the newer does not end."""
        claims = self._rules.claims(self._statement(pair.older))
        odds = pair_odds([_as_read(pair, claim) for claim in claims]).tolist()
        ended = [self._policy.confidence_of_reading(one) >= self._policy.record_confidence for one in odds]
        if all(ended):
            return verdict
        return replace(verdict, partial=True, claim=rejoined(list(compress(claims, ended)), pair.older.text))

    def _leaves_open(self, pair: "_Compared", verdict: Verdict | None, changed: float | None) -> bool:
        """Whether no rule decides about two short and similar messages, of which the newer may tell of a change."""
        if pair.older.long or pair.newer.long or pair.similarity < self._policy.read_similarity:
            return False
        if _by_program(pair.newer):
            return False  # its acknowledgements resemble what it acknowledges
        if changed is not None and changed < self._policy.read_change:
            return False
        return verdict is None or (verdict.kind != "duplicate" and not self._acts(pair.older, pair.newer, verdict))

    def _statements(self, pair: "_Compared") -> tuple[Statement, Statement]:
        return self._statement(pair.older), replace(self._statement(pair.newer), follows=pair.follows)

    def _finding(self, older: Peer, newer: Peer, verdict: Verdict | None) -> ConflictFinding | None:
        if verdict is None or verdict.confidence < self._least:
            return None
        if verdict.kind == "duplicate" and "event" in (older.kind, newer.kind):
            return None  # messages repeat each other often: "ok" is no duplicate of "ok"
        suspected = verdict.confidence < self._policy.record_confidence
        judged_later = verdict.kind != "duplicate" and not verdict.partial and not _overruled(older, newer)
        if suspected and not judged_later:
            return None
        acts = self._acts(older, newer, verdict)
        if not acts and older.valid_to is not None and older.valid_to <= newer.valid_from:
            return None  # what was no longer valid when the newer was said is no open question
        return ConflictFinding(
            id=new_id(),
            kind=verdict.kind,
            older_id=older.id,
            newer_id=newer.id,
            confidence=verdict.confidence,
            rule=verdict.rule,
            attribute=verdict.attribute,
            claim=verdict.claim,
            subject=verdict.subject,
            acts=acts,
            judged_later=judged_later,
            suspected=suspected,
            older_revision=older.revision,
            newer_revision=newer.revision,
        )

    def _statement(self, peer: Peer) -> Statement:
        odds = None if self._change_odds is None or peer.long else self._change_odds(peer.vector[np.newaxis])
        return Statement(peer.text, peer.speaker, peer.at, changed=None if odds is None else float(odds[0]))

    def _acts(self, older: Peer, newer: Peer, verdict: Verdict) -> bool:
        """Whether the rule alone may supersede: only where both are about the same person and thing, in one
        speaker's own words; never protected memories, or texts with undisputed claims.
        """
        precious = older.layer == "core" or older.importance >= self._policy.protected_importance
        sure = verdict.confidence >= self._policy.act_confidence and verdict.kind != "duplicate" and not verdict.partial
        return (
            sure
            and verdict.aligned
            and older.speaker == newer.speaker
            and not precious
            and not _overruled(older, newer)
        )


@dataclass(frozen=True, slots=True)
class _Compared:
    """Two memories to compare, with their similarity."""

    older: Peer
    newer: Peer
    similarity: float
    follows: bool
    """As in `Statement`."""


def _as_read(pair: _Compared, claim: str = "") -> TextPair:
    """The pair, or one claim of its older message with the newer, in simplified characters (ADR 0091)."""
    return TextPair(simplified(claim or pair.older.text), simplified(pair.newer.text), pair.follows)


def _may_compare(older: Peer, newer: Peer) -> bool:
    if _never_valid(older) or _never_valid(newer) or newer.source == "crystal":
        return False  # a digest was compared through its sources
    return not _replies(newer, older)  # "fine, Sunday then" disputes no "the lesson moved to Sunday"


def _unambiguous(findings: Sequence[ConflictFinding], peers: Mapping[str, Peer]) -> list[ConflictFinding]:
    """Findings without actions on two things: "the flight is at nine now", where two flights are known, is recorded
    for both and supersedes neither. What an assistant repeated is no second thing.
    """
    subjects: dict[str, set[str]] = {}
    for finding in findings:
        if finding.acts and not _overruled(peers[finding.newer_id], peers[finding.older_id]):
            subjects.setdefault(finding.newer_id, set()).add(finding.subject)
    return [
        replace(finding, acts=False) if finding.acts and len(subjects.get(finding.newer_id, ())) > 1 else finding
        for finding in findings
    ]


def _of_one_subject(
    findings: Sequence[ConflictFinding], similarities: Mapping[tuple[str, str], float]
) -> list[ConflictFinding]:
    """Of uncertain findings of a message only the one about the memory that is most similar to it; rules go first.

    "Staging is on Redis 8" is recorded against "staging runs Redis 7", not against "production runs Redis 6", too.
    """
    by_rules = {one.newer_id for one in filter(_is_whole, findings) if one.rule != READ_TOGETHER}
    findings = [one for one in findings if one.acts or one.rule != READ_TOGETHER or one.newer_id not in by_rules]
    nearest: dict[str, float] = {}
    for one in filter(_is_whole, findings):
        similarity = similarities[one.older_id, one.newer_id]
        nearest[one.newer_id] = max(similarity, nearest.get(one.newer_id, 0.0))
    return [
        one
        for one in findings
        if one.acts or not _is_whole(one) or similarities[one.older_id, one.newer_id] >= nearest[one.newer_id]
    ]


def _is_whole(finding: ConflictFinding) -> bool:
    """Whether it is recorded, and about a whole memory: a part may change with a whole other memory."""
    return finding.judged_later and not finding.suspected


def _pairs(
    nearest: Mapping[str, Sequence[tuple[str, float]]],
    peers: Mapping[str, Peer],
    least: float,
    follows: Mapping[str, str],
) -> dict[tuple[str, str], float]:
    """(older, newer) of each new memory and its nearest of at least this similarity, each pair once, with it.

    And of each with the message it follows, of any similarity: "no, Thursday" is similar to nothing.
    """
    pairs = {(follows[key], key): least for key in nearest if key in follows}
    for key, others in nearest.items():
        for other, similarity in others:
            if similarity < least and not (peers[key].long or peers[other].long):  # a sentence may be more similar
                continue
            older, newer = sorted((peers[key], peers[other]), key=lambda peer: (peer.at, peer.write_seq))
            pairs[older.id, newer.id] = similarity
    return pairs


def _following(peers: Sequence[Peer]) -> dict[str, str]:
    """For each memory its speaker's previous message in its conversation, shortly before."""
    last: dict[tuple[str, str, str], Peer] = {}
    follows: dict[str, str] = {}
    for peer in sorted(peers, key=lambda peer: (peer.at, peer.write_seq)):
        key = (peer.conversation, peer.speaker, peer.source)
        before = last.get(key)
        if peer.conversation and before is not None and peer.at - before.at <= _RIGHT_AFTER:
            follows[peer.id] = before.id
        last[key] = peer
    return follows


def _overruled(older: Peer, newer: Peer) -> bool:
    """Whether a model's own words would supersede a user's: only a person may decide that."""
    return _by_program(newer) and not _by_program(older)


def _by_program(peer: Peer) -> bool:
    """Whether a model said it; imported messages often have a speaker only."""
    return "assistant" in (peer.source, role_of(peer.speaker))


def _replies(newer: Peer, older: Peer) -> bool:
    """Whether the assistant said it right after a message of the user, which it takes up."""
    talk = newer.conversation and newer.conversation == older.conversation and newer.at - older.at <= _RIGHT_AFTER
    return bool(talk) and _overruled(older, newer)


def _never_valid(peer: Peer) -> bool:
    """Whether a decision says that it was never valid: it neither wins nor loses."""
    return peer.valid_to is not None and peer.valid_to <= peer.valid_from
