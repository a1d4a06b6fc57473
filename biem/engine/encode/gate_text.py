"""What a text tells by itself: how many words of content, and what they pin down. Questions tell nothing.

A longer text than 6,000 characters is read at its beginning, in its middle and at its end: that tells enough.
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
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_CJK_TERM = 0.5
"""Chinese is indexed by characters and by pairs of them: about two terms for what is one word in English."""


@dataclass(frozen=True, slots=True)
class Told:
    """`words`: different terms of content outside of questions, counted as far as more make no difference. `fields`:
    what the text pins down, questions too."""

    words: float
    fields: Fields


class GateTextReader:
    """Reads texts. Thread-safe."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def told(self, text: str) -> Told:
        """What a text tells; of "ok" and of "What do you think?" hardly a word."""
        words = 0.0
        seen: set[str] = set()
        for piece in chain.from_iterable(sentences_of(part, len, most=_READ) for part in _parts(text)):
            if words >= MOST_WORDS:
                break
            if not is_asked(piece):
                fresh = set(self._analyzer.lexemes(piece)) - seen
                seen |= fresh
                words += sum(_CJK_TERM if _CJK.search(term) else 1.0 for term in fresh)
        return Told(words, self.fields(text))

    def fields(self, text: str) -> Fields:
        """What a text pins down."""
        return self._analyzer.analyze("\n".join(_parts(text))).fields


def _parts(text: str) -> list[str]:
    """What is read of a text: all of it, or three parts."""
    if len(text) <= 3 * _READ:
        return [text]
    middle = (len(text) - _READ) // 2
    return [text[:_READ], text[middle : middle + _READ], text[-_READ:]]
