"""The statements of a message that has several: notes of a meeting, a status report, what happened at the weekend.

A vector of the whole is near none of them, and its subject is no one's. So each is embedded, and judged as a line.
"""

import re

from biem.domain.speech.excerpt import ITEM, split_sentences
from biem.domain.text import is_han
from biem.domain.tokens import estimate_tokens

_SHORT = 40
"""Tokens up to which a text is read as a whole."""
_LONG = 45
"""Tokens from which a sentence is divided at its clauses."""
_LEAST = 4
"""Tokens below which a piece is no statement: "Hi.", "Thanks!"."""
_MOST_PARTS, _MOST_CHARS = 64, 8_000
"""A document of more is read by its words."""
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_CLAUSE = re.compile(
    r"(?<=[,;，；、])\s*(?!\d)|\s+(?=(?:and|but|so|while) (?:i|we|he|she|they|it|the|my|our)\b)", re.IGNORECASE
)
_OPENS = (":", "：")
"""At the end of a heading, which belongs to what follows."""


def parts_of(text: str) -> list[str]:
    """The statements of a text in their order; none for a short text, a single sentence and a document."""
    if len(text) > _MOST_CHARS or estimate_tokens(text) <= _SHORT:
        return []
    pieces: list[str] = []
    heading = ""
    for piece in _pieces(text):
        short = estimate_tokens(piece) < _LEAST
        if piece.endswith(_OPENS) and not short:
            heading = f"{heading} {piece}".strip()
        elif short and pieces and not heading:
            pieces[-1] = f"{pieces[-1]} {piece}"
        elif short:
            heading = f"{heading} {piece}".strip()
        else:
            pieces.append(f"{heading} {piece}".strip())
            heading = ""
    if heading:
        pieces.append(heading)
    return pieces if 1 < len(pieces) <= _MOST_PARTS else []


def _pieces(text: str) -> list[str]:
    """Code blocks, items of lists and sentences; long ones by their clauses."""
    found: list[str] = []
    end = 0
    for fence in _FENCE.finditer(text):
        found += [*_told(text[end : fence.start()]), fence[0].strip()]
        end = fence.end()
    return found + _told(text[end:])


def _told(text: str) -> list[str]:
    sentences = (ITEM.sub("", one) for one in split_sentences(text))
    return [piece for one in sentences for piece in _clauses(one)]


def _clauses(sentence: str) -> list[str]:
    """A sentence; a long one in groups of clauses."""
    if estimate_tokens(sentence) <= _LONG:
        return [sentence]
    groups: list[str] = []
    for clause in filter(None, _CLAUSE.split(sentence)):
        gap = "" if is_han(clause) else " "
        joined = f"{groups[-1]}{gap}{clause}" if groups else clause
        if groups and (estimate_tokens(joined) <= _LONG or estimate_tokens(clause) < _LEAST):
            groups[-1] = joined
        else:
            groups.append(clause)
    return groups
