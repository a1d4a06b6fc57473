"""Score adjustments beyond the turns themselves: positions in conversations, links, conflicts, anchors, validity."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import pairwise

from biem.domain.conflict import Dispute
from biem.domain.policies.recall import RecallPolicy
from biem.domain.times.spans import Window
from biem.engine.recall.rank.anchors import NO_ANCHORS, Anchoring
from biem.engine.recall.rank.change_reports import ReportedChange
from biem.engine.recall.rank.pool import Candidate, Found
from biem.engine.recall.rank.term_matrix import Numbers
from biem.ports.readers import Turn, Turns

_GAP = 10
"""Gap between the numbers of two separate stretches of conversation, whose turns are no neighbours."""
_BEHIND = 1e-3
"""Log-odds between a digest and its lowest source, and between a former and the current memory."""
_MOST_SUCCESSIONS = 5
"""Maximum length of a chain of successors."""


class Adjustments:
    """The candidates of one query, and the changes of their scores in addition to the ranking signals."""

    def __init__(
        self,
        turns: Turns,
        found: Found,
        disputes: Mapping[str, Sequence[Dispute]],
        policy: RecallPolicy,
        now: datetime,
        anchors: Anchoring = NO_ANCHORS,
        times: Sequence[Window] = (),
        candidates: Sequence[Candidate] | None = None,
        *,
        former: bool = False,
    ) -> None:
        """`disputes`: open conflicts that concern the query. `now`: time at which a memory must be valid.

        `times`: named by the query; memories valid then count as current. `candidates` of the turns, if already
        computed. `former`: the query asks for former values, which are ranked right behind the current ones.
        """
        self._turns = turns.by_id
        self._found = found
        self._disputes = disputes
        self._anchors = anchors
        self._policy = policy
        self._now = now
        self._times = times
        self._former = former
        self._why: dict[str, dict[str, float | str]] = {}
        self.candidates = candidates_of(turns) if candidates is None else candidates

    def adjusted(self, scores: Numbers) -> Numbers:
        """Scores with links, conflicts, anchors and validity.

        A successor or later disputing memory inherits the score of the older one.
        """
        policy, scores = self._policy, scores.copy()
        place = {one.id: index for index, one in enumerate(self.candidates)}
        for name, weight, values in (
            ("activation", policy.activation_weight, self._found.activation),
            ("anchor", 1.0, self._anchors.gains),
        ):
            for key, value in values.items():
                if key in place and weight * value:
                    scores[place[key]] += weight * value
                    self._note(key, name, weight * value)
        ended = {key: turn.valid_to for key, turn in self._turns.items() if turn.valid_to is not None}
        lapsed = [key for key in ended if self._has_lapsed(key)]
        legacies: dict[str, float] = {}
        for key in lapsed:
            heir = self._heir(key)
            if heir is not None:
                legacies[heir] = max(float(scores[place[key]]), legacies.get(heir, -math.inf))
        for heir, score in legacies.items():
            gain = score - float(scores[place[heir]])
            if gain > 0:
                scores[place[heir]] += gain
                self._note(heir, "inherited", gain)
        self._dispute(scores, place)
        self._stand_back(scores, place)
        for key in lapsed:
            heir = self._heir(key) if self._former else None
            if not self._former:
                scores[place[key]] -= policy.superseded_penalty
            elif heir is not None:
                scores[place[key]] = min(scores[place[key]], scores[place[heir]] - _BEHIND)
        for key, valid_to in ended.items():
            if valid_to <= self._now:
                self._note(key, "held_until", valid_to.isoformat())
        return scores

    def with_changes(self, scores: Numbers, changes: Sequence[ReportedChange]) -> Numbers:
        """Scores with each reported change ranked before what it changes."""
        for one in changes:
            scores[one.newer] += one.gain
            newer, older = (self.candidates[place].id for place in (one.newer, one.older))
            self._note(newer, "revises", one.gain)
            self._note(older, "revised_by", newer)
        return scores

    def _dispute(self, scores: Numbers, place: Mapping[str, int]) -> None:
        """Lower disputed memories and rank the disputing ones before them; oldest first, since disputes may chain."""
        known = [key for key in self._disputes if key in place]
        for key in sorted(known, key=lambda key: (self._turns[key].at, self._turns[key].write_seq)):
            # with `as_of` before the dispute, nothing was disputed
            against = [
                one
                for one in self._disputes[key]
                if one.newer_id and (one.since is None or self._over(self._turns[key], one.since))
            ]
            for dispute in against:
                newer = place.get(dispute.newer_id)
                gain = 0.0 if newer is None else float(scores[place[key]] - scores[newer])
                if newer is not None and gain > 0:
                    scores[newer] += gain
                    self._note(dispute.newer_id, "inherited", gain)
            if against:
                surest = against[0]
                loss = self._policy.conflict_penalty * surest.confidence
                scores[place[key]] -= loss
                self._note(key, "conflict", -loss)
                self._note(key, "disputed_by", surest.newer_id)
                self._note(key, "disputed_since", "" if surest.since is None else f"{surest.since:%Y-%m-%d}")
                if surest.claim:
                    self._note(key, "disputed_claim", surest.claim)

    def _stand_back(self, scores: Numbers, place: Mapping[str, int]) -> None:
        """Rank a digest behind those of its sources that are candidates, since it only repeats them."""
        for key, turn in self._turns.items():
            if not turn.sources:
                continue
            said = [float(scores[place[source]]) for source in turn.sources if self._speaks(source)]
            loss = float(scores[place[key]]) - min(said, default=math.inf) + _BEHIND
            if said and loss > 0:
                scores[place[key]] -= loss
                self._note(key, "repeats", -loss)

    def _speaks(self, key: str) -> bool:
        turn = self._turns.get(key)
        return turn is not None and turn.matches and not self._has_lapsed(key)

    def is_answer(self, index: int) -> bool:
        """Whether a candidate may be returned.

        It must match the filters, contradict no anchor of the query, and be no invalid fact, unless the query asks for
        former values.
        """
        turn = self._turns[self.candidates[index].id]
        return (
            turn.matches
            and turn.id not in self._anchors.dropped
            and (self._former or turn.kind == "event" or not self._has_lapsed(turn.id))
        )

    def why(self, key: str) -> Mapping[str, float | str]:
        """Adjustments of a candidate's score."""
        return self._why.get(key, {})

    def _note(self, key: str, name: str, value: float | str) -> None:
        self._why.setdefault(key, {})[name] = value

    def _has_lapsed(self, key: str) -> bool:
        turn = self._turns[key]
        return turn.valid_to is not None and self._over(turn, turn.valid_to)

    def _over(self, turn: Turn, since: datetime) -> bool:
        """Whether a turn, invalid since `since`, is invalid for this query: not if valid to the end of a named time."""
        return since <= self._now and not any(turn.at < end <= since for _, end in self._times)

    def _heir(self, key: str) -> str | None:
        """The current successor of a superseded memory, if it is a candidate."""
        for _ in range(_MOST_SUCCESSIONS):
            successor = self._turns[key].superseded_by
            if successor is None or successor not in self._turns:
                return None
            if not self._has_lapsed(successor):
                return successor
            key = successor
        return None


def candidates_of(turns: Turns) -> list[Candidate]:
    """Convert turns to candidates for ranking, newest first."""
    places = _places(turns)
    newest: dict[str, int] = {}
    for turn in turns.by_id.values():
        newest[turn.ns] = max(turn.write_seq, newest.get(turn.ns, 0))
    return [
        Candidate(
            turn.id,
            turn.lexemes,
            turn.vector,
            turn.speaker,
            _session(turn),
            places[turn.id],
            turn.at,
            turn.asks,
            turn.id in turns.openings,
            turn.importance,
            turn.accesses,
            turn.energy,
            newest[turn.ns] - turn.write_seq,
            turn.parts,
        )
        for turn in sorted(turns.by_id.values(), key=lambda turn: (-turn.at.timestamp(), turn.id))
    ]


def _session(turn: Turn) -> str:
    """Session of a turn: a message belongs to its conversation, a fact is its own session."""
    return f"{turn.ns}\0{turn.conversation}" if turn.conversation else f"\0{turn.id}"


def _places(turns: Turns) -> dict[str, int]:
    """A number for each turn: consecutive for neighbours in a conversation, with gaps between others."""
    following: dict[str, str] = {}
    for stretch in turns.stretches:
        following.update(pairwise(stretch))
    followed = set(following.values())
    heads = [turn for turn in turns.by_id.values() if turn.id not in followed]
    places: dict[str, int] = {}
    number = 0
    for head in sorted(heads, key=lambda turn: (turn.at, turn.write_seq)):
        key: str | None = head.id
        while key is not None and key not in places:
            places[key] = number
            number += 1
            key = following.get(key)
        number += _GAP
    return places
