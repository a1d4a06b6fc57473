"""What ranking cannot see in the turns: their places in conversation, links, conflicts, anchors, what still holds."""

import math
from collections.abc import Mapping
from datetime import datetime
from itertools import pairwise

from biem.domain.policy import RecallPolicy
from biem.engine.aim.anchors import NO_ANCHORS, Anchoring
from biem.engine.bag import Numbers
from biem.engine.pool import Candidate
from biem.engine.search import Found
from biem.ports.turns import Turn, Turns

_GAP = 10
"""Between the numbers of two stretches of conversation: their turns are no neighbours."""
_MOST_SUCCESSIONS = 5
"""What replaced a memory may have been replaced in turn."""


class Ordering:
    """The candidates of one query, and what changes their scores beside the signals of the ranking."""

    def __init__(
        self,
        turns: Turns,
        found: Found,
        conflicts: Mapping[str, float],
        policy: RecallPolicy,
        now: datetime,
        anchors: Anchoring = NO_ANCHORS,
    ) -> None:
        """`now`: when a memory must hold to count as current."""
        self._turns = turns.by_id
        self._found = found
        self._conflicts = conflicts
        self._anchors = anchors
        self._policy = policy
        self._now = now
        self._why: dict[str, dict[str, float | str]] = {}
        places = _places(turns)
        self.candidates = [
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
            )
            for turn in sorted(self._turns.values(), key=lambda turn: (-turn.at.timestamp(), turn.id))
        ]

    def adjusted(self, scores: Numbers) -> Numbers:
        """Scores with links, conflicts, anchors and validity; what replaced a memory inherits that memory's score."""
        policy, scores = self._policy, scores.copy()
        place = {one.id: index for index, one in enumerate(self.candidates)}
        for name, weight, values in (
            ("activation", policy.activation_weight, self._found.activation),
            ("conflict", -policy.conflict_penalty, self._conflicts),
            ("anchor", 1.0, self._anchors.gains),
        ):
            for key, value in values.items():
                if key in place and weight * value:
                    scores[place[key]] += weight * value
                    self._note(key, name, weight * value)
        lapsed = [key for key in place if self._has_lapsed(key)]
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
        for key in lapsed:
            scores[place[key]] -= policy.superseded_penalty
            valid_to = self._turns[key].valid_to
            self._note(key, "held_until", valid_to.isoformat() if valid_to else "")
        return scores

    def is_answer(self, index: int) -> bool:
        """Whether a candidate may be answered with.

        It meets the conditions, says no other value than the one asked for, and is no fact that holds no more.
        """
        turn = self._turns[self.candidates[index].id]
        return (
            turn.matches
            and turn.id not in self._anchors.dropped
            and not (turn.kind != "event" and self._has_lapsed(turn.id))
        )

    def why(self, key: str) -> Mapping[str, float | str]:
        """What changed the score of a candidate."""
        return self._why.get(key, {})

    def _note(self, key: str, name: str, value: float | str) -> None:
        self._why.setdefault(key, {})[name] = value

    def _has_lapsed(self, key: str) -> bool:
        valid_to = self._turns[key].valid_to
        return valid_to is not None and valid_to <= self._now

    def _heir(self, key: str) -> str | None:
        """The current memory that stands in for one that was replaced, if it is among the candidates."""
        for _ in range(_MOST_SUCCESSIONS):
            successor = self._turns[key].superseded_by
            if successor is None or successor not in self._turns:
                return None
            if not self._has_lapsed(successor):
                return successor
            key = successor
        return None


def _session(turn: Turn) -> str:
    """A fact stands for itself; a message belongs to its conversation."""
    return f"{turn.ns}\0{turn.conversation}" if turn.conversation else f"\0{turn.id}"


def _places(turns: Turns) -> dict[str, int]:
    """A number for each turn: neighbours in conversation have consecutive ones, all others are apart."""
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
