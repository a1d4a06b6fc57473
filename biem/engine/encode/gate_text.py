"""Reads a text for the gate: the number of its content words and its fields. Questions have no content words.

Of a text longer than 6,000 characters, only the beginning, the middle and the end are read.
"""

import re
from dataclasses import dataclass
from itertools import chain

from biem.domain.designs.aim import MOST_WORDS
from biem.domain.fields import Fields
from biem.engine.query.question import is_asked, sentences_of
from biem.ports import Analyzer

_READ = 2_000
"""Characters of each of the three parts."""
CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_CJK_TERM = 0.5
"""Weight of a CJK term: Chinese is indexed by characters and pairs, about two terms for one English word."""


@dataclass(frozen=True, slots=True)
class Told:
    """`words`: distinct content terms outside of questions, counted up to the number that matters. `fields`: of the
    whole text, including questions."""

    words: float
    fields: Fields


class GateTextReader:
    """Reads texts. Thread-safe."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def told(self, text: str) -> Told:
        """Content words and fields of a text; "ok" and "What do you think?" have hardly any."""
        words = 0.0
        seen: set[str] = set()
        for piece in chain.from_iterable(sentences_of(part, len, most=_READ) for part in _parts(text)):
            if words >= MOST_WORDS:
                break
            if not is_asked(piece):
                fresh = set(self._analyzer.lexemes(piece)) - seen
                seen |= fresh
                words += sum(_CJK_TERM if CJK.search(term) else 1.0 for term in fresh)
        return Told(words, self.fields(text))

    def fields(self, text: str) -> Fields:
        """Fields of a text."""
        return self._analyzer.analyze("\n".join(_parts(text))).fields


def _parts(text: str) -> list[str]:
    """The parts of a text that are read: all of it, or three."""
    if len(text) <= 3 * _READ:
        return [text]
    middle = (len(text) - _READ) // 2
    return [text[:_READ], text[middle : middle + _READ], text[-_READ:]]
