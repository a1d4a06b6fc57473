"""Nearly equal texts: one value swapped, or a duplicate."""

from collections import Counter
from difflib import SequenceMatcher

from biem.adapters.contradiction.reading.reader import Reading, StatementReader
from biem.domain.conflict import Verdict

_SWAP_RATIO = 0.75
_SWAP_WORDS = 10
"""Minimum equal words around a swapped value: in a short sentence the value may be another subject."""
_LONGEST_SWAP = 8
_SWAPS = 3
"""Maximum distinct swaps: a name may occur in full and in short."""
_NEAR_SWAPS = 2
"""Swaps at most this many words apart count as one: May 3, 2020 and June 3, 2021."""
_SWAP = 0.74
"""Recorded, but never acted upon: no rule knows which of two nearly identical texts is right."""
_DUPLICATE, _NEAR = 0.95, 0.85


Surface = tuple[tuple[str, ...], tuple[str, ...]]
"""`words` and `essence` of a reading."""


def duplicate(older: Reading, newer: Reading) -> Verdict | None:
    """Both say the same: equal words, numbers and polarity, and the same people."""
    if not older.words or not newer.words:
        return Verdict("duplicate", _DUPLICATE, "equal text") if older.text == newer.text else None
    if older.who() != newer.who() or _mood(older) != _mood(newer):
        return None
    if older.words == newer.words:
        return Verdict("duplicate", _DUPLICATE, "equal words")
    if Counter(older.numbers) != Counter(newer.numbers) or _negations(older) != _negations(newer):
        return None
    if older.essence == newer.essence and len(set(older.essence)) > 1:
        return Verdict("duplicate", _NEAR, "equal content")
    return None


def swapped(older: Reading, newer: Reading, subjects: frozenset[str], reader: StatementReader) -> Verdict | None:
    """The same long text with another value in one place (or the same swap in several places).

    `subjects` are words for attributes and people: swapping one of them changes the subject of the text.
    """
    if min(len(older.words), len(newer.words)) < _SWAP_WORDS:
        return None
    if _most_alike(older.words, newer.words) < _SWAP_RATIO:
        return None
    matcher = SequenceMatcher(None, older.words, newer.words, autojunk=False)
    if matcher.quick_ratio() < _SWAP_RATIO or matcher.ratio() < _SWAP_RATIO:
        return None
    swaps = _swaps(older.words, newer.words, matcher)
    kept = sum(block.size for block in matcher.get_matching_blocks())
    if kept < _SWAP_WORDS or not swaps or len(swaps) > _SWAPS or _negations(older) != _negations(newer):
        return None
    first, *others = sorted(swaps)
    if not all(_akin(first[0], left) and _akin(first[1], right) for left, right in others):
        return None
    if any(len(side) > _LONGEST_SWAP for pair in swaps for side in pair):
        return None
    if any(subjects.intersection(left) and subjects.intersection(right) for left, right in swaps):
        return None
    named = any(reader.is_value(left, older.text) and reader.is_value(right, newer.text) for left, right in swaps)
    if older.numbers == newer.numbers and not (named and _crosswise(older.essence, newer.essence)):
        return None
    return Verdict("contradiction", _SWAP, "swapped value")


def may_align(one: Surface, other: Surface) -> bool:
    """Whether `duplicate` or `swapped` may match statements with these words and this essence."""
    (words, essence), (others, other_essence) = one, other
    if not words or not others or words == others or essence == other_essence:
        return True
    return min(len(words), len(others)) >= _SWAP_WORDS and _most_alike(words, others) >= _SWAP_RATIO


def _most_alike(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Upper bound of the ratio of a `SequenceMatcher`, at low cost: words of only one side match nothing."""
    here, there = frozenset(one), frozenset(other)
    matched = min(len(one) - len(here - there), len(other) - len(there - here))
    return 2.0 * matched / (len(one) + len(other))


def _akin(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether two word sequences name the same: a name in full and in short, or with another ending."""
    whole, rest = "".join(one), "".join(other)
    return any(len(word) > 1 and word in rest for word in one) or any(len(word) > 1 and word in whole for word in other)


def _crosswise(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether each has content that the other lacks."""
    return bool(set(one) - set(other)) and bool(set(other) - set(one))


def _swaps(
    one: tuple[str, ...], other: tuple[str, ...], matcher: SequenceMatcher[str]
) -> set[tuple[tuple[str, ...], tuple[str, ...]]] | None:
    """The distinct pairs of replaced words, neighbours joined; None if something was only added or removed."""
    joined: list[list[int]] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        if tag == "equal":
            continue
        if joined and i - joined[-1][1] <= _NEAR_SWAPS and k - joined[-1][3] <= _NEAR_SWAPS:
            joined[-1][1], joined[-1][3] = j, m
        else:
            joined.append([i, j, k, m])
    swaps = {(one[i:j], other[k:m]) for i, j, k, m in joined}
    return swaps if all(left and right for left, right in swaps) else None


def _mood(reading: Reading) -> set[tuple[bool, bool, bool, bool, frozenset[str]]]:
    return {(c.asked, c.open, c.past, c.changed, c.modality) for c in reading.clauses if c.content}


def _negations(reading: Reading) -> int:
    return sum(clause.negations for clause in reading.clauses)
