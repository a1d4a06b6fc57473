"""Whether the notes have the answer to a query at all, by log-odds."""

from collections.abc import Sequence

import numpy as np

from biem.domain.notes.library import NoteHit, NoteHits
from biem.domain.scores import probability
from biem.domain.tokens import wide_characters
from biem.notes.search.rank import PARTS, RankedChunk
from biem.ports import Analyzer

KEYWORDS = 12
"""Keywords of a query by which the confidence is judged."""
_BIAS, _SHARED, _NEAR = -3.7, 4.5, 12.0
"""Confidence: log-odds of nothing, for all keywords of the query in the best chunks, and per cosine above the pool."""
_SOUGHT = 2.5
"""In place of `_SHARED` where the best chunk is not in the script of a Chinese query: it was found by such words."""
_TRANSLATED = 0.75
"""Added if the best chunk is in another script than the query: its cosine lies nearer to those of the pool then."""
_TRANSLATED_KEYWORDS = 200
"""Chinese words of the best chunks whose translations are compared with a query in English."""
_CONTENT = PARTS.index("content")
_JUDGED = 3
"""Best hits by which the confidence is judged."""


class NoteConfidence:
    """Judges the best hits of a query. Thread-safe."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def of(self, query: str, dated: frozenset[str], hits: NoteHits, order: Sequence[RankedChunk]) -> float:
        """Whether the notes have the answer at all: the share of the query's keywords in the best chunks, and how far
        their content lies above the pool's. A chunk of the time that the query names has the words that name it, which
        are `dated`.
        """
        if not hits:
            return 0.0
        best = hits[:_JUDGED]
        dated = dated if any(one.why["when"] for one in best) else frozenset()
        texts = [_said(hit) for hit in best]
        translated = [_is_wide(text) != _is_wide(query) for text in texts]
        shared = self._shared(query, texts, dated, translated=any(translated))
        content = np.array([one.parts[_CONTENT] for one in order])
        above = max(hit.why["content"] for hit in best) - float(content.mean())
        weight = _SOUGHT if translated[0] and _is_wide(query) else _SHARED
        odds = _BIAS + _TRANSLATED * translated[0] + weight * shared + _NEAR * above
        return probability(odds)

    def _shared(self, query: str, told: Sequence[str], dated: frozenset[str], *, translated: bool) -> float:
        """The share of the query's keywords that the chunks have; if `translated`, in either language. They have the
        terms `dated` in any case.
        """
        keywords = self._analyzer.keywords(query, KEYWORDS)
        said = dated.union(*map(self._analyzer.lexemes, told))
        if translated and keywords:
            wide = filter(wide_characters, told)  # of Latin words there is no translation
            words = (word for text in wide for word in self._analyzer.keywords(text, _TRANSLATED_KEYWORDS))
            said |= self._analyzer.english(words)
            meant = ({*self._analyzer.lexemes(word), *self._analyzer.english([word])} for word in keywords)
            return sum(not said.isdisjoint(terms) for terms in meant) / len(keywords)
        asked = set(self._analyzer.lexemes(" ".join(keywords) or query))
        return len(asked & said) / len(asked) if asked else 0.0


def _is_wide(text: str) -> bool:
    """Whether it is written in characters that are wide, as Chinese ones, rather than in letters."""
    return 3 * wide_characters(text) > len(text)


def _said(hit: NoteHit) -> str:
    return "\n".join([hit.note.path, *hit.chunk.headings, hit.chunk.body])
