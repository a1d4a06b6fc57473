"""The words of many texts as integers, so that counts, idf and overlaps are array operations.

Texts are stored strings with words separated by blanks, and are never split: a word is identified by a 64-bit hash of
its letters, computed for all words of all texts at once. That is faster than a dictionary look-up per word; a hash
collision among a million words happens once in ten million such pools.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from biem.lazy import lazy

Numbers = NDArray[np.float64]
Indices = NDArray[np.intp]
_Bits = NDArray[np.uint64]

_BLANK = 32
_BASE = 0x9E3779B97F4A7C15
"""Odd, so that no power of it vanishes and each has an inverse; 2⁶⁴ over the golden ratio (Knuth)."""
_INVERSE = pow(_BASE, -1, 1 << 64)
_BLOCK = 1 << 14
"""Letters per block: intermediate results stay in the processor's cache."""


class TermMatrix:
    """Counts of words in texts. Texts are numbered as given, words by first occurrence."""

    def __init__(self, texts: Sequence[str]) -> None:
        """`texts`: the words of each, separated by single blanks; an empty text has none."""
        self.size = len(texts)
        self._letters = _letters(text for text in texts if text)
        bits, self._begins, self._behind = _words(self._letters)
        lengths = np.array([text.count(" ") + 1 if text else 0 for text in texts], dtype=np.intp)
        self.lengths: Numbers = lengths.astype(np.float64)
        flat = self._number(bits)
        self._flat, self._ends = flat, np.cumsum(lengths)
        height = max(1, self.size)
        pairs, self._counts = np.unique(
            flat * height + np.repeat(np.arange(self.size), lengths), return_counts=True
        )  # sorted by word, so that its texts are a slice
        self._words, self._texts = np.divmod(pairs, height)
        self.holders = np.bincount(self._words, minlength=len(self._firsts))
        """Number of texts with each word."""
        self._starts = np.cumsum(self.holders) - self.holders

    def _number(self, bits: _Bits) -> Indices:
        """Number distinct words in the order of first occurrence."""
        order = np.argsort(bits)
        ranked = bits[order]
        fresh = np.ones(len(bits), dtype=bool)
        np.not_equal(ranked[1:], ranked[:-1], out=fresh[1:])
        groups = np.flatnonzero(fresh)
        self._known = ranked[groups]
        firsts = np.minimum.reduceat(order, groups) if len(groups) else groups
        by_first = np.argsort(firsts)
        self._firsts = firsts[by_first]
        self._number_of = np.empty(len(groups), dtype=np.intp)
        self._number_of[by_first] = np.arange(len(groups))
        flat = np.empty(len(bits), dtype=np.intp)
        flat[order] = self._number_of[np.cumsum(fresh) - 1]
        return flat

    def word(self, number: int) -> str:
        """The word with this number."""
        first = int(self._firsts[number])
        return bytes(self._letters[self._begins[first] : self._behind[first]]).decode(errors="surrogatepass")

    @lazy
    def words(self) -> list[str]:
        """All words, by number."""
        return [self.word(number) for number in range(len(self._firsts))]

    def _found(self, terms: Sequence[str]) -> Indices:
        """The number of each of `terms`, -1 if no text contains it."""
        bits, _, _ = _words(_letters(terms))
        if not len(self._known) or not len(bits):
            return np.full(len(terms), -1, dtype=np.intp)
        place = np.minimum(np.searchsorted(self._known, bits), len(self._known) - 1)
        return np.where(self._known[place] == bits, self._number_of[place], -1)

    def numbers(self, terms: Iterable[str]) -> list[int]:
        """The numbers of those `terms` that any text contains."""
        found: list[int] = self._found([*terms]).tolist()
        return [number for number in found if number >= 0]

    def counts(self, terms: Sequence[str]) -> Numbers:
        """Occurrences of each of the distinct `terms` (row) in each text (column)."""
        found = self._found(terms)
        rows = np.flatnonzero(found >= 0)
        pairs, rows_of = self._pairs(found[rows])
        out = np.zeros((len(terms), self.size))
        out[rows[rows_of], self._texts[pairs]] = self._counts[pairs]
        return out

    def _pairs(self, words: Indices) -> tuple[Indices, Indices]:
        """Positions of all pairs of a text and one of these words, and the index of the word."""
        sizes = self.holders[words]
        which = np.repeat(np.arange(len(words)), sizes)
        return np.arange(len(which)) + np.repeat(self._starts[words] - (np.cumsum(sizes) - sizes), sizes), which

    def opening(self, text: int, most: int) -> Indices:
        """The numbers of the first `most` words of one text, in order."""
        end = int(self._ends[text])
        start = end - int(self.lengths[text])
        return self._flat[start : min(start + most, end)]

    def sums(self, words: Indices, values: Numbers) -> Numbers:
        """For each text the sum of the `values` of those of these distinct words that it contains."""
        pairs, which = self._pairs(words)
        return np.bincount(self._texts[pairs], values[which], minlength=self.size).astype(np.float64)

    def likeness(self, texts: Indices) -> "Overlap":
        """Overlap of each of these distinct texts with each other."""
        place = np.full(self.size, -1, dtype=np.intp)
        place[texts] = np.arange(len(texts))
        places = place[self._texts]
        pairs = np.flatnonzero(places >= 0)
        small = places[pairs].astype(
            np.uint16 if len(texts) < 1 << 16 else np.intp
        )  # 16 bits are sorted in linear time
        pairs = pairs[np.argsort(small, kind="stable")]
        sizes = np.bincount(small, minlength=len(texts))
        return Overlap(self._words[pairs], sizes, np.cumsum(sizes), len(self._firsts))


class Overlap:
    """Jaccard indices of the word sets of some texts."""

    def __init__(self, words: Indices, sizes: Indices, ends: Indices, width: int) -> None:
        self._words, self._sizes, self._ends = words, sizes, ends
        self._texts = np.repeat(np.arange(len(sizes)), sizes)
        self._held = np.zeros(width, dtype=bool)

    def to(self, place: int) -> Numbers:
        """Jaccard index of the text at `place` with each, in [0, 1]; 0 for two texts without words."""
        end = int(self._ends[place])
        own = self._words[end - int(self._sizes[place]) : end]
        self._held[own] = True
        common = np.bincount(self._texts[self._held[self._words]], minlength=len(self._sizes)).astype(np.float64)
        self._held[own] = False
        likeness: Numbers = common / np.maximum(self._sizes[place] + self._sizes - common, 1)
        return likeness


def rarities(holders: Indices, size: int) -> Numbers:
    """`domain.scores.rarity` (idf) of many terms, of which `holders` of `size` documents contain each."""
    idf: Numbers = np.log1p((size - holders + 0.5) / (holders + 0.5))
    return idf


def _letters(texts: Iterable[str]) -> NDArray[np.uint8]:
    """All texts in one array, each followed by a blank."""
    joined = " ".join(texts)
    return np.frombuffer(f"{joined} ".encode(errors="surrogatepass") if joined else b"", dtype=np.uint8)


def _words(letters: NDArray[np.uint8]) -> tuple[_Bits, Indices, Indices]:
    """Hash, start and end of each word; hash = Σ letter · baseᵖˡᵃᶜᵉ modulo 2⁶⁴ (Rabin and Karp).

    Positions are counted from the start of a block of words, which the inverse of a power corrects.
    """
    behind = np.flatnonzero(letters == _BLANK)
    begins = np.concatenate((np.zeros(1, dtype=np.intp), behind + 1))[: len(behind)]
    bits = np.empty(len(behind), dtype=np.uint64)
    first = 0
    powers = inverses = np.zeros(0, dtype=np.uint64)
    while first < len(behind):
        start = int(begins[first])
        last = max(first + 1, int(np.searchsorted(behind, start + _BLOCK)))
        block = letters[start : int(behind[last - 1]) + 1]
        if len(block) > len(powers):
            powers, inverses = _powers(_BASE, len(block)), _powers(_INVERSE, len(block))
        places = begins[first:last] - start
        bits[first:last] = np.add.reduceat(block * powers[: len(block)], places) * inverses[places]
        first = last
    return bits, begins, behind


def _powers(base: int, count: int) -> _Bits:
    """base⁰, base¹, …"""
    factors = np.full(count, base, dtype=np.uint64)
    factors[0] = 1
    return np.multiply.accumulate(factors)
