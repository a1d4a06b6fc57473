"""Subjects of statements, and whether two give values of one attribute: the part of the rules that a recall needs.

Loading it takes half as long as loading all rules.
"""

from functools import lru_cache

from biem.adapters.contradiction.reading.reader import Reading, StatementReader
from biem.adapters.contradiction.statements.matter import matter_of
from biem.adapters.contradiction.subjects.subjects import Subjects
from biem.adapters.contradiction.values.value_updates import ValueUpdates
from biem.domain.conflict import Matter, Statement

KEPT = 1_024
"""Cached readings: each memory of a batch is compared with ten others, which often recur."""
_MATTERS = 8_192
"""Cached subjects, which are small: the lines of a user's blocks recur, and each takes a millisecond to be read."""
_OWN, _ADDED = 7, 10
"""Maximum words that the older, and the newer, of two statements has alone, if they differ in a value only. Reading a
statement costs ten times as much as splitting it into words. (190 of 69,000 pairs of made lives differ so: by 7 and 9.)
"""


class RecallRules:
    """Deterministic, thread-safe. The rules share its readings."""

    def __init__(self) -> None:
        self.reader = StatementReader()
        self.subjects = Subjects(self.reader)
        self.value_updates = ValueUpdates(self.reader, self.subjects)
        self.read = lru_cache(2 * KEPT)(self._reading)
        self.matter = lru_cache(_MATTERS)(self._matter)
        self._essence = lru_cache(2 * KEPT)(self._words)

    def _reading(self, text: str, speaker: str) -> Reading:
        return self.reader.read(Statement(text, speaker))

    def rivals(self, older: Statement, newer: Statement) -> bool:
        """See `ContradictionRules.rivals`."""
        if not one_speaker(older, newer) or not self.value_updates.may_rival(older.text, newer.text):
            return False
        one, other = self._essence(older.text), self._essence(newer.text)
        if len(one - other) > _OWN or len(other - one) > _ADDED:
            return False
        return self.value_updates.rivals(*(self.read(side.text, side.speaker) for side in (older, newer)))

    def _words(self, text: str) -> frozenset[str]:
        return frozenset(self.reader.surface(text)[1])

    def _matter(self, text: str) -> Matter:
        """See `ContradictionRules.matter`."""
        reading = self.read(text, "")
        return matter_of(reading, self.subjects, self.value_updates.core(reading))


def one_speaker(older: Statement, newer: Statement) -> bool:
    """Whether both may have the same speaker."""
    return not (older.speaker and newer.speaker) or older.speaker.strip().lower() == newer.speaker.strip().lower()
