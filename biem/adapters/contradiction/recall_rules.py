"""Subjects of statements, and whether two give values of one attribute: the part of the rules that a recall needs.

Loading it takes half as long as loading all rules.
"""

from functools import lru_cache

from biem.adapters.contradiction.matter import matter_of
from biem.adapters.contradiction.reading import Reading, StatementReader
from biem.adapters.contradiction.subjects import Subjects
from biem.adapters.contradiction.value_updates import ValueUpdates
from biem.domain.conflict import Matter, Statement

KEPT = 1_024
"""Cached readings: each memory of a batch is compared with ten others, which often recur."""


class RecallRules:
    """Deterministic, thread-safe. The rules share its readings."""

    def __init__(self) -> None:
        self.reader = StatementReader()
        self.subjects = Subjects(self.reader)
        self.value_updates = ValueUpdates(self.reader, self.subjects)
        self.read = lru_cache(KEPT)(self._reading)
        self.matter = lru_cache(KEPT)(self._matter)

    def _reading(self, text: str, speaker: str) -> Reading:
        return self.reader.read(Statement(text, speaker))

    def rivals(self, older: Statement, newer: Statement) -> bool:
        """See `ContradictionRules.rivals`."""
        if not one_speaker(older, newer) or not self.value_updates.may_rival(older.text, newer.text):
            return False
        return self.value_updates.rivals(*(self.read(side.text, side.speaker) for side in (older, newer)))

    def _matter(self, text: str) -> Matter:
        """See `ContradictionRules.matter`."""
        reading = self.read(text, "")
        return matter_of(reading, self.subjects, self.value_updates.core(reading))


def one_speaker(older: Statement, newer: Statement) -> bool:
    """Whether both may have the same speaker."""
    return not (older.speaker and newer.speaker) or older.speaker.strip().lower() == newer.speaker.strip().lower()
