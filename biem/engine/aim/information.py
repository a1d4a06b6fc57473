"""What a text tells by itself: how many words of content, and what they pin down. Questions tell nothing.

A text is read up to 2,000 characters: what is longer has told enough.
"""

import re
from dataclasses import dataclass

from biem.domain.aim import MOST_WORDS
from biem.domain.fields import Fields
from biem.engine.question import is_asked, sentences_of
from biem.ports import Analyzer

_READ = 2_000
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
_CJK_TERM = 0.5
"""Chinese is indexed by characters and by pairs of them: about two terms for what is one word in English."""


@dataclass(frozen=True, slots=True)
class Told:
    """`words`: different terms of content outside of questions, counted as far as more make no difference. `fields`:
    what the text pins down, questions too."""

    words: float
    fields: Fields


class Reader:
    """Reads texts. Thread-safe."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def told(self, text: str) -> Told:
        """What a text tells; of "ok" and of "What do you think?" hardly a word."""
        start, words = text[:_READ], 0.0
        seen: set[str] = set()
        for piece in sentences_of(start, len):
            if words >= MOST_WORDS:
                break
            if not is_asked(piece):
                fresh = set(self._analyzer.lexemes(piece)) - seen
                seen |= fresh
                words += sum(_CJK_TERM if _CJK.search(term) else 1.0 for term in fresh)
        return Told(words, self._analyzer.analyze(start).fields)

    def fields(self, text: str) -> Fields:
        """What a text pins down."""
        return self._analyzer.analyze(text[:_READ]).fields
