"""The `ContradictionRules` port by rules: specific ones first, what is left goes to a small model of weak cues."""

from functools import lru_cache

from biem.adapters.contradiction.alignment import duplicate, swapped
from biem.adapters.contradiction.cues import Cues
from biem.adapters.contradiction.polarity import Polarity
from biem.adapters.contradiction.reading import Reader, Reading
from biem.adapters.contradiction.slots import Slot, Slots
from biem.adapters.contradiction.updates import Updates
from biem.adapters.contradiction.values import Values
from biem.domain.conflict import Statement, Verdict

_KEPT = 256
"""Readings kept: one memory is compared with ten others in a row."""

_SUSPICION = 0.3
"""Cues below this are silence: a coin thrown among unrelated memories would do better."""


class RuleContradictions:
    """Deterministic, thread-safe, without network; build one and share it."""

    def __init__(self) -> None:
        self._reader = Reader()
        self._slots = Slots(self._reader)
        self._values = Values()
        self._polarity = Polarity(self._reader)
        self._updates = Updates(self._reader)
        self._cues = Cues(self._reader, self._polarity)
        self._subjects = self._reader.grammar["kin"] | self._slots.nouns
        self._taken_apart = lru_cache(_KEPT)(self._take_apart)

    def compare(self, older: Statement, newer: Statement, similarity: float | None) -> Verdict | None:
        """See `ContradictionRules.compare`. Verdicts of the rule `cues` are suspicions, never above `CEILING`."""
        specific = self._specific(older, newer)
        if specific is not None:
            return specific
        if not _one_speaker(older, newer):
            return None
        confidence = self._cues.confidence(self._read(older)[0], self._read(newer)[0], similarity)
        return Verdict("contradiction", confidence, "cues") if confidence >= _SUSPICION else None

    def _specific(self, before: Statement, after: Statement) -> Verdict | None:
        """What the rules are sure of."""
        older, older_slots = self._read(before)
        newer, newer_slots = self._read(after)
        same = duplicate(older, newer)
        if same is not None:
            return same
        now = bool(frozenset(newer.words) & self._reader.grammar["present"])
        found = [
            self._values.judge(older_slots, newer_slots, (before.at, after.at), now=now),
            self._polarity.judge(older, newer),
            self._updates.judge(older, newer),
            swapped(older, newer, self._subjects, self._reader),
        ]
        return max((verdict for verdict in found if verdict), key=lambda verdict: verdict.confidence, default=None)

    def cues(self, older: Statement, newer: Statement, similarity: float | None) -> dict[str, float] | None:
        """The weak cues of a pair, from which the weights are fitted; None where a rule decides."""
        if self._specific(older, newer) is not None or not _one_speaker(older, newer):
            return None
        return self._cues.features(self._read(older)[0], self._read(newer)[0], similarity)

    def _read(self, statement: Statement) -> tuple[Reading, tuple[Slot, ...]]:
        return self._taken_apart(statement.text, statement.speaker)

    def _take_apart(self, text: str, speaker: str) -> tuple[Reading, tuple[Slot, ...]]:
        reading = self._reader.read(Statement(text, speaker))
        return reading, tuple(self._slots.all(reading, speaker.strip().lower()))


def _one_speaker(older: Statement, newer: Statement) -> bool:
    """Whether the same person may have said both."""
    return not (older.speaker and newer.speaker) or older.speaker.strip().lower() == newer.speaker.strip().lower()
