"""The relevant part of a long text for a query: whole sentences, in their order, within a length."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

_SENTENCE_END = re.compile(r"(?<=[。！？；\n])|(?<!\n\d\.)(?<!\n\d\d\.)(?<=[.!?;])\s+")
"""Not after the number of an item of a list."""
ITEM = re.compile(r"^(?:[-*•·–]|\d{1,3}[.)、．])\s*(?=\S)")
"""What stands before an item of a list."""
_GAP = " ... "
_MOST_CHARS = 20_000
"""Maximum characters that are split into words: of a longer text the part with most of the terms."""
_LOOKED_FOR = 50
"""Maximum terms by which the part of a text that is read is chosen."""
_LEAST_ROOM, _LONGEST_WORD = 16, 20
"""Minimum characters of a part of a sentence, and those in which the end of a word is looked for."""


def excerpt(
    text: str,
    limit: int,
    asked: Collection[str],
    terms_of: Callable[[str], Iterable[str]],
    told: Sequence[str] = (),
) -> str:
    """`text` if it has at most `limit` characters; else those of its sentences that share most terms with `asked`.

    `told`: statements of it, best first, whose sentences come before all others.

    Sentences after the best one fill the remaining room, because an answer often follows its question. Gaps are marked
    with `...`. Of a best sentence that is too long, such as a line without punctuation, the part with most of the terms
    is returned. If no sentence shares a term, the whole text is returned for the caller to cut.
    """
    if len(text) <= limit:
        return text
    wanted = set(asked)
    begin = _where_to_read(text, wanted)
    read = text[begin : begin + _MOST_CHARS]
    sentences = split_sentences(read)
    if begin and len(sentences) > 1:
        del sentences[0]  # probably cut
    shared = [len(wanted.intersection(terms_of(sentence))) for sentence in sentences]
    by_terms = sorted((place for place in range(len(sentences)) if shared[place]), key=lambda place: -shared[place])
    order = [*_places(sentences, told), *by_terms]
    if not order:
        return text
    best = order[0]
    if len(sentences[best]) + 2 * len(_GAP) > limit:
        return _part(sentences[best], limit, wanted, terms_of)
    begun, ended = begin == 0, begin + _MOST_CHARS >= len(text)
    shown, kept = "", [best]
    for place in dict.fromkeys([best, *order, *range(best + 1, len(sentences)), *range(best - 1, -1, -1)]):
        wider = sorted({*kept, place})
        if len(longer := _joined(sentences, wider, begun=begun, ended=ended)) <= limit:
            shown, kept = longer, wider
    return shown


def split_sentences(text: str) -> list[str]:
    """The sentences and items of lists of a text, stripped."""
    return [piece.strip() for piece in _SENTENCE_END.split(text) if piece and piece.strip()]


def _places(sentences: Sequence[str], told: Iterable[str]) -> Iterator[int]:
    """Of each statement the longest sentence that has it, or that it has: an item follows the heading of its list."""
    for one in told:
        found = [place for place, sentence in enumerate(sentences) if one in sentence or ITEM.sub("", sentence) in one]
        if found:
            yield max(found, key=lambda place: len(sentences[place]))


def _part(sentence: str, limit: int, wanted: set[str], terms_of: Callable[[str], Iterable[str]]) -> str:
    """The part of a sentence that shares most terms with `wanted`; all of it if `limit` has no room for one."""
    room = limit - 2 * len(_GAP)
    if room < _LEAST_ROOM:
        return sentence
    starts = range(0, max(1, len(sentence) - room // 2), room // 2)
    shared = [len(wanted.intersection(terms_of(sentence[start : start + room]))) for start in starts]
    place = shared.index(max(shared))
    beside = starts[place + 1] if shared[place + 1 : place + 2] == [shared[place]] else starts[place]
    start = (starts[place] + beside) // 2  # terms of two overlapping parts stand where they overlap
    end = start + room
    if start and (gap := sentence.find(" ", start - 1, start + _LONGEST_WORD)) >= 0:
        start = gap + 1
    if end < len(sentence) and (gap := sentence.rfind(" ", end - _LONGEST_WORD, end + 1)) > start:
        end = gap
    before, after = _GAP.lstrip() if start else "", _GAP.rstrip() if end < len(sentence) else ""
    return before + sentence[start:end].strip() + after


def _where_to_read(text: str, wanted: Collection[str]) -> int:
    """Where the part of at most `_MOST_CHARS` begins that has most of the terms, letter by letter.

    Parts overlap by half, so that no sentence is cut in all of them. Of many terms the longest are looked for.
    """
    if len(text) <= _MOST_CHARS:
        return 0
    lowered = text.casefold()
    starts = range(0, len(text) - _MOST_CHARS // 2, _MOST_CHARS // 2)
    terms = sorted(wanted, key=lambda term: (-len(term), term))[:_LOOKED_FOR]
    shared = [sum(lowered.find(term, start, start + _MOST_CHARS) >= 0 for term in terms) for start in starts]
    return starts[shared.index(max(shared))]


def _joined(sentences: list[str], kept: list[int], *, begun: bool, ended: bool) -> str:
    """The kept sentences, with a mark at each gap."""
    shown = "" if begun and kept[0] == 0 else _GAP.lstrip()
    for number, place in enumerate(kept):
        if number:
            shown += " " if place == kept[number - 1] + 1 else _GAP
        shown += sentences[place]
    return shown if ended and kept[-1] == len(sentences) - 1 else shown + _GAP.rstrip()
