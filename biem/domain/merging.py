"""Merging memories with the same content: which one is kept, what it inherits, and the id of a cluster.

A cluster is identified by its members alone, so that every process derives the same id and no run creates a fact twice.
Of two texts the richer is kept, by total character entropy: Shannon's bits per character × length.
"""

import hashlib
import math
import re
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from biem.domain.fields import Fields

_NAMESPACE = uuid.UUID("8f0d4a3e-6c1b-5d2f-9a77-62b1e4d0c395")
"""Namespace of ids derived from their sources (RFC 9562, version 5); another value would change the ids of the same
clusters.
"""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？；])(?![”’）」』])|\n")
"""One character each: trailing blanks are stripped later, and a run of them costs no backtracking."""
_MOST_COMPARED = 64
"""Candidate sentences that share a rare word, compared for each sentence. Without a bound a long text of many short
sentences would take quadratic time. Sentences not compared are kept, so nothing is lost.
"""
_SAID_ALREADY = 0.8
"""A sentence is left out of a digest when this share of its terms is already in it."""

Terms = Callable[[str], Iterable[str]]
"""Splits a text into terms: the index terms or the wording of the port `Analyzer`."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One source of a digest."""

    text: str
    at: datetime
    """When it was said; aware."""


def sources_hash(ids: Iterable[str]) -> str:
    """64 hexadecimal digits that identify a set of memories, independent of order and repeats."""
    return hashlib.sha256("\n".join(sorted(set(ids))).encode()).hexdigest()


def derived_id(ns: str, what: str, digest: str) -> str:
    """The id of a derived memory (`what`: its kind) from a scope's memories with this `sources_hash`; deterministic."""
    return str(uuid.uuid5(_NAMESPACE, f"{ns}:{what}:{digest}"))


def information(text: str) -> float:
    """Bits in a text taken as independent characters: Σ −log2 p(character). Repeated characters and empty texts have
    none.
    """
    counts = Counter(" ".join(text.split()))
    total = sum(counts.values())
    return sum(-count * math.log2(count / total) for count in counts.values()) + 0.0


def richest(texts: Mapping[str, str]) -> str:
    """The key of the text with most information; ties go to the smallest key, the oldest of time-ordered ids."""
    return min(texts, key=lambda key: (-information(texts[key]), key))


def covers(kept: Fields, dropped: Fields) -> bool:
    """Whether `kept` has all anchors of `dropped`; otherwise dropping it would lose a number, a name or a symbol."""
    return all(set(getattr(dropped, part)) <= set(getattr(kept, part)) for part in ("numbers", "names", "symbols"))


def count_otherwise(one: Fields, two: Fields) -> bool:
    """Whether each has a number that the other lacks: two such texts must not be merged."""
    left, right = set(one.numbers), set(two.numbers)
    return bool(left - right) and bool(right - left)


def sentences(text: str) -> list[str]:
    """The sentences of an English or Chinese text, trimmed; a full stop inside a number ends none."""
    return [sentence for part in _SENTENCE_END.split(text) if (sentence := part.strip())]


def adds_nothing(kept: str, dropped: str, terms: Terms) -> bool:
    """Whether all terms of `dropped` are in `kept` in the same order: "Tom told Mary" is not "Mary told Tom".

    Strict on purpose: embedding models rate two long texts that differ in one word as equal.
    """
    return _within(terms(dropped), terms(kept))


def join(kept: str, others: Sequence[str], terms: Terms) -> str:
    """`kept`, followed by each sentence of the others that it does not contain: the merge without a model."""
    parts, said = [kept.strip()], _Sentences()
    for sentence in sentences(kept):
        said.add(tuple(terms(sentence)))
    for sentence in (sentence for other in others for sentence in sentences(other)):
        found = tuple(terms(sentence))
        if not said.have(found):
            parts.append(sentence)
            for piece in sentences(sentence):
                said.add(tuple(terms(piece)))
    return "\n".join(parts)


class _Sentences:
    """An index of sentences by their terms."""

    def __init__(self) -> None:
        self._all: set[tuple[str, ...]] = set()
        self._with: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)

    def add(self, sentence: tuple[str, ...]) -> None:
        if sentence not in self._all:
            self._all.add(sentence)
            for term in set(sentence):
                self._with[term].append(sentence)

    def have(self, sentence: tuple[str, ...]) -> bool:
        """Whether one of them has all these terms in this order; without terms, whether there is any."""
        if sentence in self._all or not sentence:
            return bool(self._all)
        rarest = min((self._with.get(term, ()) for term in set(sentence)), key=len)
        return any(_within(sentence, known) for known in rarest[:_MOST_COMPARED])


def _within(part: Iterable[str], whole: Iterable[str]) -> bool:
    left = iter(whole)
    return all(term in left for term in part)  # `in` advances the iterator to the term it finds


def digest(passages: Sequence[Passage], terms: Terms, limit: int) -> str:
    """The most central sentences of several texts, in order of time, at most `limit` characters.

    A sentence is central when many of the texts share its terms; one whose terms are covered already is left out. Where
    the texts are of different days, each sentence carries its day.
    """
    ordered = sorted(passages, key=lambda passage: (passage.at, passage.text))
    dated = len({passage.at.date() for passage in ordered}) > 1
    spread = Counter(term for passage in ordered for term in set(terms(passage.text)))
    found = [
        (place, f"{passage.at:%Y-%m-%d}: {sentence}" if dated else sentence, set(terms(sentence)))
        for place, (passage, sentence) in enumerate(
            (passage, sentence) for passage in ordered for sentence in sentences(passage.text)
        )
    ]
    found.sort(key=lambda item: (-sum(spread[term] for term in item[2]) / (1 + len(item[2])) ** 0.5, item[0]))
    chosen: list[tuple[int, str]] = []
    said: set[str] = set()
    left = limit
    for place, shown, words in found:
        if words and len(words & said) < _SAID_ALREADY * len(words) and len(shown) < left:
            chosen.append((place, shown))
            said |= words
            left -= len(shown) + 1
    if not chosen and found:
        return found[0][1][:limit].rstrip()
    return "\n".join(shown for _, shown in sorted(chosen))


def groups(edges: Mapping[str, Iterable[str]], most: int) -> list[list[str]]:
    """Connected groups of a graph of ids, each of at most `most`, largest first; edges count in both directions.

    A larger group is cut after `most` nodes of a breadth-first walk from its smallest id; the rest forms groups again.
    """
    both: dict[str, set[str]] = {}
    for one, others in edges.items():
        both.setdefault(one, set())
        for other in others:
            both[one].add(other)
            both.setdefault(other, set()).add(one)
    found: list[list[str]] = []
    seen: set[str] = set()
    for start in sorted(both):
        if start in seen:
            continue
        group = [start]
        seen.add(start)
        for member in group:  # grows while iterated
            fresh = sorted(both[member] - seen)[: most - len(group)]
            group += fresh
            seen.update(fresh)
        found.append(sorted(group))
    return sorted(found, key=lambda group: (-len(group), group))
