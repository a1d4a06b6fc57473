"""Weak cues of disagreement, weighted by a logistic model, for pairs that no rule decides.

Every cue is a visible feature: one side denies, numbers of one kind differ, one answers "I don't know". The weights in
`cues.json`, a table for each language, come from `python -m benchmarks.fit_conflicts`. They were fitted on data where
nearly half of the pairs are contradictions. Among the neighbours of a memory these are far rarer, so values above
`_KNEE` are compressed below `CEILING`, in the same order: such a verdict is a suspicion for a model or a person to
check, the strongest first.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from importlib.resources import files

from biem.adapters.contradiction.polarity import Polarity
from biem.adapters.contradiction.reading.reader import Clause, Reading, StatementReader
from biem.adapters.contradiction.statements.number_kinds import by_unit
from biem.domain.scores import probability

CEILING = 0.45
_KNEE = 0.34
"""Values of the logistic model up to this are not changed."""
_LONGEST = 40
_CLAUSES, _CHINESE_CLAUSES = 1, 4
"""Maximum words and clauses of a short text (a Chinese comma ends a clause): longer pairs always have some cue."""
_TYPICAL_SIMILARITY = 0.55
"""Default without a measurement: the median of the pairs that the weights were fitted on."""


@dataclass(frozen=True, slots=True)
class _Side:
    clauses: tuple[Clause, ...]
    content: frozenset[str]
    tokens: frozenset[str]
    words: frozenset[str]
    negations: int

    def has(self, words: frozenset[str]) -> bool:
        return not words.isdisjoint(self.words) or not words.isdisjoint(self.tokens)


class Cues:
    """The weights, loaded once."""

    def __init__(self, reader: StatementReader, polarity: Polarity) -> None:
        self._grammar = reader.grammar
        self._polarity = polarity
        text = files(__package__).joinpath("cues.json").read_text(encoding="utf-8")
        self._weights: Mapping[str, Mapping[str, float]] = json.loads(text)

    def confidence(self, older: Reading, newer: Reading, similarity: float | None) -> float:
        """Confidence from 0 to `CEILING`; 0 if one side asserts nothing."""
        features = self.features(older, newer, similarity)
        if not features:
            return 0.0
        weights = self._weights["zh" if older.chinese and newer.chinese else "en"]
        score = weights["bias"] + sum(weights[name] * value for name, value in features.items())
        chance = probability(score)
        return chance if chance <= _KNEE else _KNEE + (chance - _KNEE) * (CEILING - _KNEE) / (1.0 - _KNEE)

    def features(self, older: Reading, newer: Reading, similarity: float | None) -> dict[str, float]:
        """The cues of a pair; empty if one side only asks, or is as long as a document."""
        one, other = _side(older), _side(newer)
        if not one.clauses or not other.clauses or not (_brief(older) and _brief(newer)):
            return {}
        g = self._grammar
        alike = _TYPICAL_SIMILARITY if similarity is None else similarity
        shared, either = len(one.content & other.content), len(one.content | other.content)
        denies = (one.negations - other.negations) % 2 == 1
        same, crossed = _clauses(one, other)
        differ, agree = _numbers(older, newer)
        matcher = SequenceMatcher(None, older.words, newer.words, autojunk=False)
        lengths = [math.log1p(len(reading.words)) for reading in (older, newer)]
        answers = [self._answer(reading) for reading in (older, newer)]
        unknown = [
            any("知道" in c.tokens or "know" in c.tokens for c in s.clauses if c.negations) for s in (one, other)
        ]
        values = {
            "similarity": alike,
            "similarity squared": alike * alike,
            "shared content": shared / max(1, min(len(one.content), len(other.content))),
            "jaccard": shared / max(1, either),
            "length": min(lengths),
            "length difference": abs(lengths[0] - lengths[1]),
            "word order": matcher.ratio(),
            "one denies": denies,
            "one denies at all": bool(one.negations) != bool(other.negations),
            "both deny": bool(one.negations and other.negations),
            "clauses agree": same,
            "clause denied": crossed,
            "antonyms": self._polarity.opposite(one.tokens, other.tokens) is not None,
            "numbers differ": differ,
            "numbers agree": agree,
            "older asks": any(clause.asked for clause in older.clauses),
            "newer asks": any(clause.asked for clause in newer.clauses),
            "older unknown": unknown[0],
            "newer unknown": unknown[1],
            "yes and no": answers[0] * answers[1] < 0,
            "yes and yes": answers[0] * answers[1] > 0,
            "same beginning": _beginning(one, other),
            "newer absolute": other.has(g["absolute"]),
            "absolute once": one.has(g["absolute"]) != other.has(g["absolute"]),
            "modal once": one.has(g["modal"]) != other.has(g["modal"]),
            "contrast once": one.has(g["contrast"]) != other.has(g["contrast"]),
            "hedge once": one.has(g["hedge"]) != other.has(g["hedge"]),
            "wish once": one.has(g["wish"]) != other.has(g["wish"]),
            "newer addresses": other.has(g["second"]),
            "same people": not _who(one).isdisjoint(_who(other)),
        }
        return {name: float(value) for name, value in values.items()}

    def _answer(self, reading: Reading) -> int:
        """1 for a statement that begins with yes, -1 for one that begins with no."""
        first = reading.words[0] if reading.words else ""
        if first in self._grammar["deny"] or (first[:1] in ("不", "没") and first not in self._grammar["non-negation"]):
            return -1
        return int(first in self._grammar["affirm"])


def _brief(reading: Reading) -> bool:
    return len(reading.words) <= _LONGEST and len(reading.clauses) <= (
        _CHINESE_CLAUSES if reading.chinese else _CLAUSES
    )


def _side(reading: Reading) -> _Side:
    clauses = tuple(clause for clause in reading.clauses if not clause.asked)
    return _Side(
        clauses,
        frozenset().union(*(clause.content for clause in clauses)),
        frozenset().union(*(clause.tokens for clause in clauses)),
        frozenset(reading.words),
        sum(clause.negations for clause in clauses),
    )


def _who(side: _Side) -> frozenset[str]:
    return frozenset().union(*(clause.who for clause in side.clauses))


def _clauses(one: _Side, other: _Side) -> tuple[float, float]:
    """Maximum share of common content of two clauses: with equal, and with opposite polarity."""
    same = crossed = 0.0
    for old in one.clauses:
        for new in other.clauses:
            if not old.content or not new.content:
                continue
            share = len(old.content & new.content) / min(len(old.content), len(new.content))
            if (old.negations - new.negations) % 2:
                crossed = max(crossed, share)
            else:
                same = max(same, share)
    return same, crossed


def _beginning(one: _Side, other: _Side) -> float:
    """Maximum share of two clauses that is an equal start: 我在南京上学, 我在苏州上学."""
    best = 0.0
    for old in one.clauses:
        for new in other.clauses:
            shorter = min(len(old.tokens), len(new.tokens))
            same = next((i for i in range(shorter) if old.tokens[i] != new.tokens[i]), shorter)
            if 2 <= same < shorter:
                best = max(best, same / max(len(old.tokens), len(new.tokens)))
    return best


def _numbers(older: Reading, newer: Reading) -> tuple[bool, bool]:
    """Whether each has one number of a kind and these differ, and whether they share a number."""
    one, other = by_unit(older.numbers), by_unit(newer.numbers)
    both = one.keys() & other.keys()
    differ = any(len(one[kind]) == len(other[kind]) == 1 and one[kind] != other[kind] for kind in both)
    return differ, any(one[kind] & other[kind] for kind in both)
