"""The worth of one hit as a line of a context block: does it answer on its own, and about the right person?

    worth = log-odds of the hit + 10 · its own likeness to the question + translation + topic, value − standing, subject

The weights were fitted to the relevance of lines in simulated conversations (`python -m benchmarks.agent`; ADR 0055).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from biem.domain.conflict import Matter
from biem.domain.node import Hit, Node
from biem.domain.speech.acts import is_standing_order, is_statement
from biem.domain.speech.excerpt import excerpt
from biem.domain.text import estimate_tokens, late
from biem.engine.context.persons import foreign_penalty, named_by, seen_by_the_user, speakers_meant
from biem.engine.query.question import asks_of_the_past, asks_what_was
from biem.ports import Analyzer
from biem.ports.contradiction import ContradictionRules

_ODDS, _LIKENESS = 1.0, 10.0
_TRANSLATED, _TRANSLATED_LIKENESS, _TRANSLATED_THING = 2.0, 2.4, 3.0
"""Added for a text in the other script, flat, per likeness, and if it names a thing in question, as a dictionary
translates it: embedders rate translations lower, and words do not match."""
_PLAUSIBLE = 0.2
"""Likeness from which a brief text in the other script without a known topic gets all of the first number."""
_TOPIC, _ELSEWHERE = 1.0, 3.0
"""Added if text and question share a topic; subtracted if both have topics and share none."""
_ATTRIBUTE = 2.0
"""Added in addition if it states the attribute in question of the same persons: the employer, not only a salary."""
_THING = 0.5
"""Added in addition if it names the thing in question: the hotel, not only a place to live."""
_NO_VALUE = 1.0
"""Subtracted from a brief text without a value of the requested kind: a date, an amount."""
_OTHER_ONE = 3.0
"""Subtracted from a brief text about another one of several: the way back, the second."""
BRIEF = 25
"""Tokens up to which a text has a single subject; the other subjects of a longer text do not count against it."""
_OPEN = 2.0
"""Subtracted from reports, hypotheses, plans and wishes."""
_GUESSED, _SUPPOSED, _PAST = 1.5, 3.0, 3.0
"""Subtracted from the assistant's statements, from suppositions and quotations, and from statements about the past if
the question is about the present."""
_READ = 500
"""Characters of a text that are searched for persons: a longer text is about many."""
_BEGINNING = 2_000
"""Characters of a text that are searched for a supposition or a quotation."""
_BY_WORDS = 0.5
"""Likeness, 0 to 1, of a part that has all words of the question."""
_OWN_NAME = "name"
"""Among the attributes: what the user is called, which a text about any other name does not tell."""
_HAN = late("[\u4e00-\u9fff]")
_SUPPOSES = late(
    r"^\W*(?:if|suppose|imagine|what if|perhaps|maybe|i (?:may|might|could))\b"
    r"|^\W*(?:假如|如果|要是|假设|也许|可能|或许)"
    r"|\bnot sure yet\b|还没(?:想好|定|确定)",
    re.IGNORECASE,
)
_QUOTES = late(
    '^["“‘\'「『][^"”’」』]+["”’\'」』]\\W{0,2}(?:\\w+\\W+){0,4}?(?:said|says|told|wrote)\\b'
    '|^["“‘\'「『].+["”’\'」』].{0,12}[说道]|^\\W*.{1,20}(?:\\b(?:said|says)\\b|说)\\s*[,:，：]?\\s*["“‘「『]',
    re.IGNORECASE,
)


@dataclass(slots=True)
class RatedLine:
    """A hit that may become a line of the block."""

    hit: Hit
    worth: float
    terms: frozenset[str]
    like: float
    """Likeness to the question."""
    matter: Matter
    """From the user's point of view: the user is `me`, even if the assistant says "you"."""
    foreign: float
    """Subtracted from its worth because of the persons it is about."""
    relevance: float = 0.0
    """Log-odds that it is about what is asked (`biem.engine.context.relevance`)."""


@dataclass(frozen=True, slots=True)
class LineQuestion:
    """The question that the lines are to answer."""

    text: str
    matter: Matter
    terms: frozenset[str]
    now: bool
    """Whether it asks about the present."""
    former: bool = False
    """Whether it explicitly asks for a former state."""
    english: frozenset[str] = frozenset()
    """Things of the English texts among it and the hits; empty if all are in one script."""


class LineWorth:
    """Rates hits as lines. Thread-safe."""

    def __init__(self, rules: ContradictionRules, analyzer: Analyzer) -> None:
        self._rules = rules
        self._analyzer = analyzer
        self._terms_of = analyzer.lexemes

    def question(self, text: str, hits: Sequence[Hit]) -> LineQuestion:
        """A question with its subject."""
        texts = {text, *(hit.node.text for hit in hits)}
        latin = [one for one in texts if not is_han(one)]
        english: frozenset[str] = frozenset()
        if 0 < len(latin) < len(texts):
            english = english.union(*(self._rules.matter(one[:_READ]).things for one in latin))
        return LineQuestion(
            text,
            self._matter(text, english),
            frozenset(self._terms_of(text)),
            not asks_of_the_past(text),
            asks_what_was(text),
            english,
        )

    def _matter(self, text: str, english: frozenset[str]) -> Matter:
        """The subject of a text; the things of a Chinese one also in English, if `english` has them."""
        matter = self._rules.matter(text[:_READ])
        if not english or not is_han(text):
            return matter
        things, persons = (
            names | (self._analyzer.english(names) & english) for names in (matter.things, matter.persons)
        )
        return replace(matter, things=things, persons=persons)

    def lines(self, hits: Sequence[Hit], question: LineQuestion) -> list[RatedLine] | None:
        """The hits as lines with their worth; None if no hit has a likeness, so that the order of the hits is kept.

        Rankings of the source designs have none, nor have recalls without an embedder.
        """
        if not any("likeness" in hit.why for hit in hits):
            return None
        asked, terms = question.matter, question.terms
        persons = asked.persons - {"you"}
        named = any(hit.node.speaker for hit in hits)  # then the speaker of the question's "I" is unknown
        meant = speakers_meant(persons, hits)
        lines = []
        for hit, found in zip(hits, _likenesses(hits), strict=True):
            node, part = hit.node, self._part(hit.node.text, terms)
            like = found if part == node.text else max(found, self._likeness(part, terms))
            worth, told = _worth(hit, like), Matter()
            foreign = 0.0
            terms_told = frozenset(self._terms_of(node.text))
            brief = estimate_tokens(part) <= BRIEF
            if node.kind == "event":
                told = seen_by_the_user(self._matter(part, question.english), node)
                if hit.answers is not None:
                    told = _with_question(
                        told, seen_by_the_user(self._matter(hit.answers.text, question.english), hit.answers)
                    )
                    like = max(like, float(hit.why.get("asked_likeness", 0.0)))
                    worth, terms_told = _worth(hit, like), terms_told.union(self._terms_of(hit.answers.text))
                if hit.replaces is not None and brief and not told.topics:  # "I meant Linz": of what it corrects
                    former = seen_by_the_user(self._matter(hit.replaces.text, question.english), hit.replaces)
                    told = replace(former, holds=told.holds, past=False, changes=True, gives=told.gives)
                    like = max(like, float(hit.why.get("former_likeness", 0.0)))
                    worth = _worth(hit, like)
                worth -= 0.0 if only_asks(node) else _openness(node.text, told, now=question.now, brief=brief)
                translated = is_han(node.text) != is_han(question.text)
                by_name = named_by(told, node, meant) if meant else told
                if not named:
                    foreign = foreign_penalty(asked, question.text.lower(), told, part.lower(), translated=translated)
                elif by_name.persons != told.persons:  # the speaker is the subject
                    by_name_asked = replace(asked, persons=frozenset(meant.values()))
                    foreign = foreign_penalty(
                        by_name_asked, question.text.lower(), by_name, part.lower(), translated=False
                    )
                of_it = not (asked.topics.isdisjoint(told.topics) or asked.things.isdisjoint(told.things))
                worth += _about(asked, by_name, brief=brief) + (_THING if of_it else 0.0) - foreign
            if is_han(node.text) != is_han(question.text):
                known = node.kind != "event" or not asked.topics or told.topics or not brief
                worth += _TRANSLATED * (1.0 if known else min(1.0, like / _PLAUSIBLE)) + _TRANSLATED_LIKENESS * like
                worth += 0.0 if asked.things.isdisjoint(told.things) else _TRANSLATED_THING
            lines.append(RatedLine(hit, worth, terms_told, like, told, foreign))
        _know_by_name(lines, persons)
        return lines

    def _part(self, text: str, terms: frozenset[str]) -> str:
        """The sentences of a long text that have most of these terms; a shorter text itself."""
        return text if len(text) <= _BEGINNING else excerpt(text, _READ, terms, self._terms_of)

    def _likeness(self, part: str, terms: frozenset[str]) -> float:
        """A likeness of the part of a long text by its words: the vector of the text is one of its beginning."""
        return _BY_WORDS * len(terms.intersection(self._terms_of(part))) / max(1, len(terms))


def _know_by_name(lines: Sequence[RatedLine], asked: frozenset[str]) -> None:
    """Lines about "Jonas" are about my brother, and the reverse, if one of the lines says that he is called Jonas."""
    called = {pair for line in lines for pair in line.matter.called}
    same = {name: person for person, name in called if person in asked}
    same.update((person, name) for person, name in called if name in asked)
    for line in lines:
        known = {name.partition(".")[0] for name in line.matter.persons} | line.matter.persons | line.matter.things
        names = [name for name in same if name in known]
        if line.foreign and names:
            line.worth, line.foreign = line.worth + line.foreign, 0.0
            line.matter = replace(line.matter, persons=line.matter.persons.union(same[name] for name in names))


def _with_question(told: Matter, asked: Matter) -> Matter:
    """The subject of a short answer together with the question that it answers."""
    return replace(
        told,
        persons=told.persons | asked.persons,
        attributes=told.attributes | asked.attributes,
        topics=told.topics | asked.topics,
        things=told.things | asked.things,
        kinds=told.kinds | asked.kinds,
        which=told.which | asked.which,
        gives=told.gives | asked.wants,
        holds=True,
    )


def _openness(text: str, told: Matter, *, now: bool, brief: bool) -> float:
    """Subtracted from a text that asserts no present fact, or no past one if the question is about the past."""
    if told.past and not supposes(text):
        return _PAST if now else 0.0
    return _OPEN if brief and not (told.holds or is_standing_order(text)) else 0.0


def _about(asked: Matter, told: Matter, *, brief: bool) -> float:
    """Added for the subject of the question; negative for another subject."""
    worth = -_NO_VALUE if brief and not asked.wants <= told.gives else 0.0
    if brief and asked.which and told.which and asked.which.isdisjoint(told.which):
        worth -= _OTHER_ONE
    if _OWN_NAME in asked.attributes - told.attributes:
        worth -= _ELSEWHERE
    if not (asked.topics and told.topics):
        return worth
    if asked.topics.isdisjoint(told.topics):
        things = asked.things - asked.persons  # "Ewa's birthday" is not told by each text about Ewa
        names_it = bool(things) and things <= told.things
        return worth - (_ELSEWHERE if brief and not names_it else 0.0)
    aligned = told.holds and told.persons <= asked.persons and asked.topics <= told.topics
    stated = aligned and not asked.attributes.isdisjoint(told.attributes)
    return worth + _TOPIC + (_ATTRIBUTE if stated else 0.0)


def is_han(text: str) -> bool:
    """Whether it is written in Chinese characters rather than in letters."""
    return not text.isascii() and 3 * len(_HAN.findall(text)) > len(text)


def _likenesses(hits: Sequence[Hit]) -> list[float]:
    """Likenesses of the hits; a hit without a vector gets the highest of the others."""
    found = [hit.why.get("likeness") for hit in hits]
    best = max((one for one in found if isinstance(one, float)), default=0.0)
    return [one if isinstance(one, float) else best for one in found]


def only_asks(node: Node) -> bool:
    return node.kind == "event" and not (is_statement(node.text) or is_standing_order(node.text))


def _worth(hit: Hit, likeness: float) -> float:
    node, worth = hit.node, _ODDS * odds(hit.score) + _LIKENESS * likeness
    if node.kind != "event":
        return worth
    if supposes(node.text):
        worth -= _SUPPOSED
    return worth - _GUESSED if node.source == "assistant" else worth


def supposes(text: str) -> bool:
    """Whether its beginning is a supposition or a quotation."""
    text = text[:_BEGINNING]
    return bool(_SUPPOSES.search(text) or _QUOTES.search(text))


def odds(score: float) -> float:
    """Log-odds of a score, which is clipped so that 0 and 1 stay finite."""
    share = min(max(score, 1e-6), 1.0 - 1e-6)
    return math.log(share / (1.0 - share))
