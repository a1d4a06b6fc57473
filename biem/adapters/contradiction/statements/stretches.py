"""Stretches of characters that two texts have in common, for Chinese names that no segmenter knows, and clauses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from biem.adapters.analyzers.glossary import Glossary
from biem.adapters.contradiction.lexicon import takeovers as words
from biem.adapters.contradiction.reading.reader import StatementReader

SHORT = 2
"""Minimum characters of a stretch."""
CLAUSE = re.compile(r"[^，。！？；：,;!?、—–…\n]+")
STRETCH = re.compile(r"[\u4e00-\u9fff]+|[A-Za-z][\w+-]*(?:\.\w+)?")
EMPTY = frozenset(
    "我你他她它们的了是在有把从和跟与个到成为就都也又去来给对这那哪今明昨不没很最每天年月周日号点半几多少现目时候以还着过让说要会能可想"
    "用只些位样自己已经才再先刚因所但早一共"
)
"""Characters that alone name nothing."""
_ENDS = frozenset("的了是在我们把给就都也到个")
"""Characters that are cut off the ends of a stretch."""
_OWNING = "的了"
_KEPT = 1_024
_GLOSSARY = Glossary()


@dataclass(frozen=True, slots=True)
class Common:
    """A stretch of characters in both texts, and where it begins in each."""

    text: str
    old: int
    new: int


class Stretches:
    """Finds what two texts have in common. Thread-safe."""

    def __init__(self, reader: StatementReader) -> None:
        self._tagged = reader.tagged
        self._bounds = lru_cache(_KEPT)(self._bounds_of)

    def common(self, old: str, new: str) -> tuple[Common, ...]:
        """The stretches of whole words, and the words in Latin letters, that both texts have, longest first."""
        found: list[Common] = []
        for stretch in STRETCH.finditer(old):
            found += _latin(stretch, new) if stretch.group().isascii() else self._han(old, new, *stretch.span())
        return tuple(sorted(found, key=lambda one: -len(one.text)))

    def begins_with_thing(self, text: str, older: str) -> bool:
        """Whether a rest of a clause begins with a noun that the other text lacks, and tells something of that:
        洗衣机坏了 after a brand.
        """
        found = STRETCH.match(text)
        if found is None or found.group().isascii():
            return False
        (word, tag), *rest = self._tagged(found.group())
        if len(word) < SHORT or not rest or rest[0][0] == "了" or word in older:
            return False
        if words.OF_A_VALUE.fullmatch(word) or words.NO_TOPIC.match(word):
            return False
        return (tag.startswith("n") or tag == "vn") and bool(_GLOSSARY.english(word))

    def _han(self, old: str, new: str, start: int, end: int) -> Iterator[Common]:
        while start < end - 1:
            size = SHORT
            while start + size <= end and old[start : start + size] in new:
                size += 1
            size -= 1
            if size < SHORT:
                start += 1
                continue
            one = self._of_words(old, new, start, start + size)
            if len(one.text) >= SHORT and not EMPTY.issuperset(one.text):
                yield one
            start += size

    def _of_words(self, old: str, new: str, first: int, last: int) -> Common:
        """The stretch without parts of longer words at its ends."""
        bounds, others = self._bounds(old), self._bounds(new)
        there = new.index(old[first:last]) - first
        while first < last and (first not in bounds or first + there not in others or old[first] in _ENDS):
            first += 1
        while last > first and (last not in bounds or last + there not in others or old[last - 1] in _ENDS):
            last -= 1
        return Common(old[first:last], first, new.index(old[first:last]))

    def _bounds_of(self, text: str) -> frozenset[int]:
        """Where the known words of a text begin and end."""
        found = set()
        for stretch in STRETCH.finditer(text):
            at = stretch.start()
            found |= {at, stretch.end()}
            if not stretch.group().isascii():
                for word, _ in self._tagged(stretch.group()):
                    at += len(word)
                    found.add(at)
        return frozenset(found)


def _latin(word: re.Match[str], new: str) -> Iterator[Common]:
    found = re.search(rf"(?<![A-Za-z]){re.escape(word.group())}(?![A-Za-z])", new, re.IGNORECASE)
    if found is not None and len(word.group()) >= SHORT:
        yield Common(word.group(), word.start(), found.start())


def is_of_another(one: Common, old: str, new: str) -> bool:
    """Whether each text has another character right before the stretch: 大论文, 小论文."""
    left, right = old[max(0, one.old - 1) : one.old], new[max(0, one.new - 1) : one.new]
    return left != right and all(side >= "\u4e00" and side not in EMPTY and side.isalpha() for side in (left, right))


def names_another(text: str, other: str, common: tuple[Common, ...]) -> bool:
    """Whether a part of a text names something that the other text lacks, besides who acts, when and how."""
    if any(found.group() not in other for one in (words.OTHER_PEOPLE, words.ORDINAL) for found in one.finditer(text)):
        return True
    for one in common:
        text = re.sub(re.escape(one.text), " ", text, flags=re.IGNORECASE)
    rest = STRETCH.findall(words.NO_TOPIC.sub(" ", text))
    named = (left.strip(_OWNING) for left in rest if not EMPTY.issuperset(left))
    return any(len(left) >= SHORT and left not in other for left in named)


def says_no_topic(text: str) -> bool:
    """Whether a part of a text only tells who acts, when and how."""
    return not words.NO_TOPIC.sub("", text).strip()


def begins_topic(text: str) -> str:
    """The first characters of what a text names."""
    found = STRETCH.search(words.NO_TOPIC.sub(" ", text).lstrip("".join(_ENDS)))
    return found.group()[:SHORT] if found else ""


def clause_at(text: str, place: int) -> tuple[int, int]:
    """The span of the clause at a place."""
    return next((one.span() for one in CLAUSE.finditer(text) if one.start() <= place < one.end()), (place, place))
