"""Anchors (numbers, symbols, …) of a query filter the candidates of the default recall (ADR 0026).

If any candidate has the anchor, candidates with another value are dropped: the query "10M tokens" finds no 128K.
Candidates without a value stay, because an answer often follows the sentence that names the subject; so does a reply
to a symbol, even with its own symbol ("which invoice replaced INV-0114?"). Long queries are talk rather than lookups,
and bounds ("under 160cm") are no anchors. Costs one more round trip, only for queries with anchors.

The only word of a query is an anchor, too: memories that say it come before similar ones.
"""

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from biem.domain.anchors import anchor_score, binding, is_rival, names_a_bound, shares_anchor
from biem.domain.designs.aim import mirror_weight
from biem.domain.fields import Fields
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.errors import BiemError
from biem.ports import Analyzer
from biem.ports.aim import AimRecords, Anchored
from biem.ports.readers import Turns
from biem.telemetry import Telemetry

logger = logging.getLogger("biem.recall")


_SAYS_IT = 8.0
"""Log-odds of a candidate that says the only word of a query: more than all other signals tell candidates apart."""
_LOOKUP_TERMS = 16
"""Maximum distinct index terms of a lookup; on the dev dialogues the filter loses evidence for longer queries."""


@dataclass(frozen=True, slots=True)
class Anchoring:
    """Effect of anchors on the candidates of one query."""

    dropped: frozenset[str] = frozenset()
    gains: Mapping[str, float] = field(default_factory=dict)
    """Log-odds by id: weight · anchor score · weight in the mirror relative to the best candidate's; or of saying the
    only word of the query."""


NO_ANCHORS = Anchoring()
_ALONE = Turns({}, (), frozenset())


class Anchors:
    """Judges candidates by their fields. Thread-safe."""

    def __init__(self, *, records: AimRecords, analyzer: Analyzer, policy: AimPolicy, telemetry: Telemetry) -> None:
        self._records = records
        self._analyzer = analyzer
        self._policy = policy
        self._telemetry = telemetry

    def of(self, scope: Scope, query: str, ids: Sequence[str], turns: Turns = _ALONE) -> Anchoring:
        """Effect of the query's anchors on these candidates; none while the records are unavailable.

        `turns`: the candidates and their positions in conversations.
        """
        if not ids or (self._policy.anchor_filter == "off" and self._policy.anchor_weight == 0):
            return NO_ANCHORS
        said = self._saying(query, turns)
        asked = self._analyzer.analyze(query).fields
        must = binding(asked, self._policy.anchor_filter)
        if must == Fields() and (self._policy.anchor_weight == 0 or asked == Fields()):
            return Anchoring(gains=said)
        with self._telemetry.span("biem.recall.anchors", pool=len(ids)) as span:
            try:
                known = self._records.anchors(scope.readable, ids)
            except BiemError as error:
                logger.warning("recall cannot read anchors: %s", error)
                return Anchoring(gains=said)
            fields = {key: self._fields(one) for key, one in known.items()}
            dropped = self._dropped(query, must, ids, fields)
            if dropped and must.symbols and self._policy.anchor_filter == "rival":
                named = Fields(symbols=must.symbols)
                dropped -= _answers(turns, {key for key, one in fields.items() if shares_anchor(named, one)})
            span.add(dropped=len(dropped))
            return Anchoring(dropped, {**said, **self._gains(asked, known, fields)})

    def _saying(self, query: str, turns: Turns) -> Mapping[str, float]:
        """The candidates that say the only word of a query; none for a query of several words.

        A code may have several terms; so has a Chinese sentence, which is written as one word.
        """
        terms = set(self._analyzer.lexemes(query))
        if len(terms) != 1 and not (query.isascii() and len(query.split()) == 1):
            return {}
        return {key: _SAYS_IT for key, turn in turns.by_id.items() if terms.issubset(turn.lexemes)}

    def _dropped(self, query: str, must: Fields, ids: Sequence[str], fields: Mapping[str, Fields]) -> frozenset[str]:
        if must == Fields() or not any(shares_anchor(must, one) for one in fields.values()):
            return frozenset()
        if self._policy.anchor_filter != "rival":
            return frozenset(key for key in ids if key not in fields or not shares_anchor(must, fields[key]))
        if names_a_bound(query) or len(set(self._analyzer.lexemes(query))) > _LOOKUP_TERMS:
            return frozenset()
        return frozenset(key for key, one in fields.items() if is_rival(must, one))

    def _gains(self, asked: Fields, known: Mapping[str, Anchored], fields: Mapping[str, Fields]) -> Mapping[str, float]:
        if self._policy.anchor_weight == 0:
            return {}
        youngest = min((one.age for one in known.values()), default=0)
        scores = {key: anchor_score(asked, one, self._policy.field_weights) for key, one in fields.items()}
        return {
            key: self._policy.anchor_weight * score * mirror_weight(known[key].age - youngest, self._policy)
            for key, score in scores.items()
            if score > 0
        }

    def _fields(self, anchored: Anchored) -> Fields:
        return anchored.fields if anchored.text is None else self._analyzer.analyze(anchored.text).fields


def _answers(turns: Turns, holders: Collection[str]) -> frozenset[str]:
    """Turns of another speaker right after one of the holders in its conversation."""
    return frozenset(
        answer
        for stretch in turns.stretches
        for holder, answer in pairwise(stretch)
        if holder in holders
        and holder in turns.by_id
        and answer in turns.by_id
        and turns.by_id[holder].speaker != turns.by_id[answer].speaker
    )
