"""How sure it is that the notes have the answer of a query at all: a regression over its best chunks.

    odds = bias + shared + covered + above + beyond + when

`shared` is the share of the query's keywords in the best chunks, `covered` that of all its terms, by their rareness,
in the one with most. `above` is how far their content lies above the pool's, `beyond` how much nearer they are to the
query than to a question that asks for nothing: some chunks are near to any question. `when`: one of them is of the time
that the query names. The numbers are fitted to nineteen vaults (docs/benchmarks/notes.md).
"""

import logging
from collections.abc import Collection, Sequence

import numpy as np

from biem.domain.notes.library import NoteHit
from biem.domain.scores import probability
from biem.domain.tokens import is_wide, wide_characters
from biem.errors import EmbedderUnavailable
from biem.notes.search.rank import PARTS, RankedChunk
from biem.ports import Analyzer, Embedder, Vector

logger = logging.getLogger("biem.notes")

_JUDGED = 3
"""Best hits that are judged."""
KEYWORDS = 12
"""Keywords of a query by which the confidence is judged."""
_TRANSLATED_KEYWORDS = 200
"""Chinese words of the best chunks whose translations are compared with a query in English."""
_BIAS, _SHARED, _COVERED, _WHEN = -6.0, 1.1, 4.5, 2.5
_ABOVE, _BEYOND = 11.0, 14.0
"""Log-odds for each cosine above the pool, and beyond that of a question that asks for nothing."""
_SOUGHT = 0.75
"""Added if the best chunk is not in the script of a Chinese query: it was found by words that may mean others."""
_WORDS_BIAS, _WORDS_SHARED = -3.7, 4.5
"""In place of all, where no vector of the best chunks or of the query is known."""
_BLANK = ("what is it", "这是什么")
"""Questions that ask for nothing; their mean stands for them."""
_CONTENT = PARTS.index("content")


class NoteConfidence:
    """Judges what was found. Thread-safe."""

    def __init__(self, *, analyzer: Analyzer, embedder: Embedder) -> None:
        self._analyzer = analyzer
        self._embedder = embedder
        self._blank: Vector | None = None

    def of(
        self,
        query: str,
        hits: Sequence[NoteHit],
        order: Sequence[RankedChunk],
        *,
        terms: Sequence[str],
        dated: Collection[str] = (),
    ) -> float:
        """The confidence of hits that are the best of the pool `order`; 0 without any.

        `terms`: what was looked for in each chunk. `dated`: those of the query that name times.
        """
        if not hits:
            return 0.0
        best = hits[:_JUDGED]
        when = any(hit.why["when"] for hit in best)
        texts = [_said(hit) for hit in best]
        translated = [is_wide(text) != is_wide(query) for text in texts]
        ids = {hit.chunk.id for hit in best}
        judged = [one for one in order if one.chunk.id in ids]
        if any(translated):
            shared = self._translated(query, texts, dated if when else ())
        else:
            shared = self._shared(query, terms, judged)
        vectors = [(one.parts[_CONTENT], one.chunk.vector) for one in judged if one.chunk.vector is not None]
        if not any(near for near, _ in vectors):  # nor is that of the query known
            return probability(_WORDS_BIAS + _WORDS_SHARED * shared)
        content = np.array([one.parts[_CONTENT] for one in order])
        above = max(near for near, _ in vectors) - float(content.mean())
        odds = _BIAS + _SHARED * shared + _COVERED * max(hit.why["covered"] for hit in best)
        odds += _ABOVE * above + _BEYOND * self._beyond(vectors) + _WHEN * when
        return probability(odds + _SOUGHT * (translated[0] and is_wide(query)))

    def _beyond(self, vectors: Sequence[tuple[float, Vector]]) -> float:
        """How much nearer a chunk is to the query than to one that asks for nothing: the most of all."""
        if self._blank is None:
            try:
                blank: Vector = np.mean(self._embedder.embed(_BLANK, "query"), axis=0)
            except EmbedderUnavailable as error:
                logger.warning("the confidence of notes is too low: %s", error)
                return 0.0
            self._blank = blank
        blank = self._blank
        return max((near - float(one @ blank) for near, one in vectors if one.shape == blank.shape), default=0.0)

    def _shared(self, query: str, terms: Sequence[str], judged: Sequence[RankedChunk]) -> float:
        """The share of the query's keywords that the chunks have: their terms are known, no text is read again."""
        keywords = self._analyzer.keywords(query, KEYWORDS)
        asked = set(self._analyzer.lexemes(" ".join(keywords) or query)).intersection(terms)
        there = {terms[place] for one in judged for place in one.chunk.asked}
        return len(asked & there) / len(asked) if asked else 0.0

    def _translated(self, query: str, told: Sequence[str], dated: Collection[str]) -> float:
        """The share of the query's keywords that texts have in either language. They have the terms `dated` in any
        case.
        """
        keywords = self._analyzer.keywords(query, KEYWORDS) or [query]
        said = set(dated).union(*map(self._analyzer.lexemes, told))
        wide = filter(wide_characters, told)  # of Latin words there is no translation
        words = (word for text in wide for word in self._analyzer.keywords(text, _TRANSLATED_KEYWORDS))
        said |= self._analyzer.english(words)
        meant = ({*self._analyzer.lexemes(word), *self._analyzer.english([word])} for word in keywords)
        return sum(not said.isdisjoint(each) for each in meant) / len(keywords)


def _said(hit: NoteHit) -> str:
    return "\n".join([hit.note.path, *hit.chunk.headings, hit.chunk.body])
