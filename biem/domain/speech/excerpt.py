"""The relevant part of a long text for a query: whole sentences, in their order, within a length."""

import re
from collections.abc import Callable, Collection, Iterable

_SENTENCE_END = re.compile(r"(?<=[。！？；\n])|(?<=[.!?;])\s+")
_GAP = " ... "
_MOST_CHARS = 20_000
"""Maximum characters read: every sentence is split into words."""


def excerpt(text: str, limit: int, asked: Collection[str], terms_of: Callable[[str], Iterable[str]]) -> str:
    """`text` if it has at most `limit` characters; else those of its sentences that share most terms with `asked`.

    Sentences after the best one fill the remaining room, because an answer often follows its question. Gaps are marked
    with `...`. If no sentence shares a term, the whole text, or if the best is too long, that sentence is returned for
    the caller to cut.
    """
    if len(text) <= limit:
        return text
    sentences = [piece.strip() for piece in _SENTENCE_END.split(text[:_MOST_CHARS]) if piece and piece.strip()]
    wanted = set(asked)
    shared = [len(wanted.intersection(terms_of(sentence))) for sentence in sentences]
    order = sorted((place for place in range(len(sentences)) if shared[place]), key=lambda place: -shared[place])
    if not order:
        return text
    best = order[0]
    if len(sentences[best]) + 2 * len(_GAP) > limit:
        return sentences[best]
    ended = len(text) <= _MOST_CHARS
    shown, kept = "", [best]
    for place in dict.fromkeys([best, *order, *range(best + 1, len(sentences)), *range(best - 1, -1, -1)]):
        wider = sorted({*kept, place})
        if len(longer := _joined(sentences, wider, ended=ended)) <= limit:
            shown, kept = longer, wider
    return shown


def _joined(sentences: list[str], kept: list[int], *, ended: bool) -> str:
    """The kept sentences, with a mark at each gap."""
    shown = "" if kept[0] == 0 else _GAP.lstrip()
    for number, place in enumerate(kept):
        if number:
            shown += " " if place == kept[number - 1] + 1 else _GAP
        shown += sentences[place]
    return shown if ended and kept[-1] == len(sentences) - 1 else shown + _GAP.rstrip()
