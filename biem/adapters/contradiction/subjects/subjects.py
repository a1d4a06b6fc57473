"""Persons and things that two statements are about, and whether they are reported: conditions for automatic rules.

An automatic rule supersedes a memory without confirmation. It may do so only if both statements are the speaker's own
words (no report, quotation or joke) about the same people and the same thing.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.reading.reader import Reading, StatementReader
from biem.adapters.contradiction.reading.time_phrases import OCCASION
from biem.adapters.contradiction.subjects.chinese import ChinesePersons
from biem.adapters.contradiction.subjects.english import EnglishPersons
from biem.adapters.contradiction.subjects.reports import JOKE, QUOTE, is_reported
from biem.domain.speech.acts import is_ironic

_KEPT = 2_048
_NAMED = 6
"""Maximum words of a thing's name in a verdict."""
_HAN_NUMBER = re.compile(
    "[零〇一二两三四五六七八九十百千万半几]+[^\u4e00-\u9fff]*(?:公里|公斤|米|元|块|岁|点|号|月|年|次|个|天|分|小时)?$"
)


@dataclass(frozen=True, slots=True)
class About:
    """Persons and things that a statement is about."""

    persons: frozenset[str]
    """`me` for the speaker, `me.mother`, `jana`, `she` …; empty for a statement that names no person."""
    things: frozenset[str]
    """Stems of the things it mentions, without persons, values, times and words of change."""
    reported: bool
    """It reports another person's words."""
    joking: bool
    spans: tuple[tuple[int, int], ...]
    """Spans that name persons by a relation: `my sister`, 我妹妹; not pets."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two statements."""

    persons: bool
    """Both are about the same persons; one may omit the speaker."""
    thing: bool
    """One mentions only things that the other does, and neither is about one of several."""
    within: bool
    """The newer mentions only things that the older does."""
    own_words: bool
    """Both are the speaker's own words."""
    subject: str
    """As in `Verdict`."""

    @property
    def whole(self) -> bool:
        """Whether all of these hold."""
        return self.persons and self.thing and self.own_words


class Subjects:
    """Reads persons and things of statements. Thread-safe."""

    def __init__(self, reader: StatementReader) -> None:
        self._words = lexicon.sets("subjects")
        self._kin = reader.grammar["kin"]
        self._changed = reader.grammar["changed"] | reader.grammar["present"] | reader.grammar["ended"]
        self._values = {reader.stem(value) for value in lexicon.exclusive()}
        self._persons = EnglishPersons(reader)
        self._han_persons = ChinesePersons(reader)
        self._about = lru_cache(_KEPT)(self._read)

    def agreement(self, older: Reading, newer: Reading) -> Agreement:
        """Compare the persons and things of two statements."""
        one, other = self._about(older), self._about(newer)
        left, right = one.things - other.things, other.things - one.things
        shared = one.things & other.things
        return Agreement(
            persons=not (one.persons ^ other.persons) - {"me"},
            thing=not (left and right)
            and bool(shared or not (one.things or other.things))
            and (left | right).isdisjoint(self._words["other"]),
            within=not right,
            own_words=not (one.reported or other.reported or one.joking or other.joking),
            subject=f"{' and '.join(sorted(one.persons))}: {' '.join(sorted(one.things)[:_NAMED])}".strip(": "),
        )

    def about(self, reading: Reading) -> About:
        """Persons and things of one statement."""
        return self._about(reading)

    def _read(self, reading: Reading) -> About:
        text = reading.text
        quoted = bool(QUOTE.search(text))
        reported = any(is_reported(clause.text) for clause in reading.clauses if not clause.asked)
        persons, words, spans = (self._han_persons if reading.in_chinese else self._persons).of(text)
        if reported and quoted and "me" in persons:
            persons = persons - {"me"} | {"quoted"}
        numbers = {word for word in reading.words if any(map(str.isdigit, word))}
        things = {
            word
            for clause in reading.clauses
            if OCCASION not in clause.times
            for word in clause.content
            if word not in self._words["time"] | self._words["plain"]
            and word not in self._changed
            and word not in numbers
            and word not in words
        }
        things = {
            word
            for word in things - self._kin - self._values
            if not any(map(str.isdigit, word)) and not _HAN_NUMBER.match(word)
        }
        return About(
            frozenset(persons),
            frozenset(things),
            reported,
            JOKE.search(text) is not None or is_ironic(text),
            tuple(spans),
        )
