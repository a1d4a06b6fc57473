"""How sure it is that notes answer: where the search is in doubt, the best chunks are read with the question.

A page about the thing in question has its words whether it answers or not. A model that sees both texts knows more
(`biem/adapters/embedders/pair_reader.py`):

    log-odds = bias + prior · log-odds of the search + read · highest log-odds of a reading
"""

from collections.abc import Callable, Collection, Iterable

from biem.domain.notes.library import NoteHit, NoteHits
from biem.domain.scores import probability
from biem.domain.speech.excerpt import excerpt
from biem.domain.text import simplified
from biem.domain.tokens import is_wide
from biem.engine.context.lines import odds
from biem.ports.embedding import PairOdds, TextPair

_READ = 3
"""Best chunks that are read …"""
_CHARS = 300
"""… of each an excerpt of at most 300 characters, after the last headings above it …"""
_HEADINGS = 2
_DOUBT = 2.5
"""… where the search gives log-odds no further from 0 than this; further ones are hardly ever wrong."""
_FURTHEST = 5.0
"""Log-odds at which a reading is capped."""
_BIAS, _PRIOR, _BEST = -0.5, 0.9, 0.5
"""The bias is .6 above the fitted one, which would leave out more notes that answer."""


def confidence(notes: NoteHits, question: str, odds_of: PairOdds, terms_of: Callable[[str], Iterable[str]]) -> float:
    """The corrected confidence of these notes, best first, at least one. `terms_of`: the index terms of a text.

    It stays where one is in another language than the question: of such pairs the model rates too many as answers.
    """
    sure = odds(notes.confidence)
    if abs(sure) > _DOUBT:
        return notes.confidence
    asked = set(terms_of(question))
    texts = [_text(hit, asked, terms_of) for hit in notes[:_READ]]
    if any(is_wide(text) != is_wide(question) for text in texts):
        return notes.confidence
    found = odds_of([TextPair(simplified(text), simplified(question), marked=False) for text in texts])
    best = min(max(float(found.max()), -_FURTHEST), _FURTHEST)
    return probability(_BIAS + _PRIOR * sure + _BEST * best)


def _text(hit: NoteHit, asked: Collection[str], terms_of: Callable[[str], Iterable[str]]) -> str:
    above = " ".join(hit.chunk.headings[-_HEADINGS:])
    return f"{above} {excerpt(hit.chunk.body, _CHARS, asked, terms_of)}".strip()
