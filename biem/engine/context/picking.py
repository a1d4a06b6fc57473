"""Chooses and orders the hits of a context block: lines that answer on their own, newer values first.

    worth = log-odds of the hit + 10 · its own likeness to the question + translation + topic, value − standing, subject
    sure  = σ(0.5 · log-odds of the recall's confidence, ±2 at most, + 0.7 · worth of the best + topic − 2.7)

The ranking finds evidence: it also lifts neighbours of a hit, and earlier questions. A line of a block has no
neighbours, so it must answer on its own, it must be about the person in question, and a question is no answer. A
replacement takes the place of the line it replaced. The block is empty if no line is worth enough. The weights were
fitted to the relevance of lines in simulated conversations (`python -m benchmarks.agent`; ADR 0055). Thread-safe.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from biem.domain.conflict import Matter
from biem.domain.node import Hit, Node
from biem.domain.policies.context import ContextPolicy
from biem.domain.speech_acts import is_standing_order, is_statement
from biem.engine.context.block import estimate_tokens
from biem.engine.query.question import asks_of_the_past
from biem.ports.contradiction import ContradictionRules

LOOKED_AT = 20
"""Hits considered for a block: twenty hold nearly all answers that forty hold."""
_ODDS, _LIKENESS = 1.0, 10.0
_TRANSLATED, _TRANSLATED_LIKENESS = 2.0, 2.4
"""Added for a text in the other script, flat and per likeness: embedders rate translations lower, and
words do not match."""
_TOPIC, _ELSEWHERE = 1.0, 3.0
"""Added if text and question share a topic; subtracted if both have topics and share none."""
_THING = 0.5
"""Added in addition if it names the thing in question: the hotel, not only a place to live."""
_NO_VALUE = 1.0
"""Subtracted from a brief text without a value of the requested kind: a date, an amount."""
_BRIEF = 25
"""Tokens up to which a text has a single subject; the other subjects of a longer text do not count against it."""
_OPEN = 2.0
"""Subtracted from reports, hypotheses, plans and wishes."""
_KEPT = 4
"""First hits of the ranking that are kept unless they fall below `drop`: a neighbour of a hit may be evidence."""
_GUESSED, _SUPPOSED, _PAST = 1.5, 3.0, 3.0
"""Subtracted from the assistant's statements, from suppositions and quotations, and from statements about the past if
the question is about the present."""
_FOREIGN, _UNNAMED = 4.0, 1.0
"""Subtracted from texts about other persons than the question, and from texts about no person if it names one."""
_SURENESS, _WORTH, _PLAIN = 0.5, 0.7, 2.7
_ON_TOPIC, _OFF_TOPIC = 1.0, 0.8
"""Added to the sureness if the best line has the topic of the question, subtracted if not."""
_SUREST = 2.0
"""Log-odds at which the confidence of a recall is capped: common words prove little."""
_A_LITTLE = 0.01
_ECHO = 0.7
"""Share of common terms (Jaccard) from which an earlier question counts as the same question."""
_READ = 500
"""Characters of a text that are searched for persons: a longer text is about many."""
_BEGINNING = 2_000
"""Characters of a text that are searched for a supposition or a quotation."""
_NEAR = 2.5
"""Two lines about one thing whose worth differs by less are ordered by speaker (user first), then by time."""
_SAME_NEAR = 5.0
"""The same limit for two lines with the same attribute of the same person."""
_LIFTED, _LIFTED_TRANSLATION = 6.0, 9.0
"""A later statement about the thing in question is lifted to the earlier one if its worth is lower by at most this; the
second number is for a text in the other script."""
_ALIKE = 0.1
"""Share of common terms (Jaccard) from which two lines may be about one thing."""

_ABOUT_ASKING = re.compile(r"\b(?:ask(?:ed|ing)?|question|request(?:ed)?|want(?:ed)? to know)\b|问|请求", re.IGNORECASE)
_SUPPOSES = re.compile(
    r"^\W*(?:if|suppose|imagine|what if|perhaps|maybe|i (?:may|might|could))\b"
    r"|^\W*(?:假如|如果|要是|假设|也许|可能|或许)"
    r"|\bnot sure yet\b|还没(?:想好|定|确定)",
    re.IGNORECASE,
)
_QUOTES = re.compile(
    '^["“‘\'「『][^"”’」』]+["”’\'」』]\\W{0,2}(?:\\w+\\W+){0,4}?(?:said|says|told|wrote)\\b'
    '|^["“‘\'「『].+["”’\'」』].{0,12}[说道]|^\\W*.{1,20}(?:\\b(?:said|says)\\b|说)\\s*[,:，：]?\\s*["“‘「『]',
    re.IGNORECASE,
)


@dataclass(slots=True)
class _Line:
    hit: Hit
    worth: float
    terms: frozenset[str]
    matter: Matter
    """From the user's point of view: the user is `me`, even if the assistant says "you"."""
    foreign: float = 0.0
    """Subtracted from its worth because of the persons it is about."""
    named: float = 0.0
    """Added for the thing it names: this orders lines and does not raise the sureness."""


class Picker:
    """Chooses the lines of a block. `terms_of` returns the index terms of a text."""

    def __init__(
        self, rules: ContradictionRules, terms_of: Callable[[str], Iterable[str]], policy: ContextPolicy
    ) -> None:
        self._rules = rules
        self._terms_of = terms_of
        self._policy = policy

    def pick(self, hits: Sequence[Hit], question: str, confidence: float | None, most: int | None = None) -> list[Hit]:
        """At most `most` hits in the order of the block; none if the sureness is below `min_confidence`.

        `confidence` is that of the recall; None if it was not measured, which disables the threshold. Hits whose worth
        is `drop` below the best are left out; of the others the first four are kept, then those of highest worth. A
        message that only asks is kept if there is no other hit, or if the question is about earlier questions.
        """
        drop, lines = self._policy.drop, self._lines(hits, question)
        if confidence is not None and self._sure(confidence, lines, question) < self._policy.min_confidence:
            return []
        if lines is None:
            return [hit for hit in hits if odds(hit.score) >= odds(hits[0].score) - drop][:most]
        best = max((line.worth for line in lines), default=0.0)
        near = [line for line in lines if line.worth >= best - drop]
        first = [line for line in lines[:_KEPT] if line in near]
        others = sorted((line for line in near if line not in first), key=_by_worth)
        ordered = _renewed(sorted([*first, *others][:most], key=_by_worth))
        return [line.hit for line in ordered]

    def sureness(self, hits: Sequence[Hit], question: str, confidence: float) -> float:
        """The probability, 0 to 1, that one of the hits answers; `min_confidence` is its threshold."""
        return self._sure(confidence, self._lines(hits, question), question)

    def _sure(self, confidence: float, lines: Sequence[_Line] | None, question: str) -> float:
        """The probability, 0 to 1, that one of the lines answers."""
        if lines is None:
            return confidence
        if not lines:
            return 0.0
        best = max(lines, key=lambda line: line.worth)
        total = _SURENESS * min(max(odds(confidence), -_SUREST), _SUREST) + _WORTH * (best.worth - best.named) - _PLAIN
        asked = self._rules.matter(question[:_READ]).topics
        if asked and estimate_tokens(best.hit.node.text) <= _BRIEF:
            total += -_OFF_TOPIC if best.foreign or asked.isdisjoint(best.matter.topics) else _ON_TOPIC
        return 1.0 / (1.0 + math.exp(-total))

    def _lines(self, hits: Sequence[Hit], question: str) -> list[_Line] | None:
        """The candidate lines with their worth; None if no hit has a likeness, so that the order of the hits is kept.

        Rankings of the source designs have none, nor have recalls without an embedder.
        """
        if not any("likeness" in hit.why for hit in hits):
            return None
        asked = self._rules.matter(question[:_READ])
        persons = asked.persons - {"you"}
        named = any(hit.node.speaker for hit in hits)  # then the speaker of the question's "I" is unknown
        now = not asks_of_the_past(question)
        lines = []
        for hit, like in zip(hits, _likenesses(hits), strict=True):
            node, worth, told = hit.node, _worth(hit, like), Matter()
            foreign = named_thing = 0.0
            if node.kind == "event":
                told = _seen_by_the_user(self._rules.matter(node.text[:_READ]), node)
                brief = estimate_tokens(node.text) <= _BRIEF
                worth -= 0.0 if _only_asks(node) else _openness(node.text, told, now=now, brief=brief)
                foreign = 0.0 if named else _foreign(persons, told.persons, node.text.lower())
                of_it = not (asked.topics.isdisjoint(told.topics) or asked.things.isdisjoint(told.things))
                named_thing = _THING if of_it else 0.0
                worth += _about(asked, told, brief=brief) + named_thing - foreign
            if _is_han(node.text) != _is_han(question):
                worth += _TRANSLATED + _TRANSLATED_LIKENESS * like
            lines.append(_Line(hit, worth, frozenset(self._terms_of(node.text)), told, foreign, named_thing))
        lines = self._answering(lines, question)
        if now:
            _lift_renewing(lines, asked)
            _lift_newer(lines, asked, frozenset(self._terms_of(question)))
        return lines

    def _answering(self, lines: list[_Line], question: str) -> list[_Line]:
        """Without messages that only ask; for a question about earlier questions, without this same question."""
        if _ABOUT_ASKING.search(question) is None:
            return [line for line in lines if not _only_asks(line.hit.node)] or lines
        terms = frozenset(self._terms_of(question))
        return [line for line in lines if not (_only_asks(line.hit.node) and _share(line.terms, terms) >= _ECHO)]


def _seen_by_the_user(told: Matter, node: Node) -> Matter:
    """The subject of a message with persons named as the user names them, without the assistant."""
    persons = told.persons
    if node.source == "assistant":
        swapped = {"me": "you", "you": "me"}
        names = (name.partition(".") for name in persons)
        persons = frozenset(f"{swapped.get(owner, owner)}{dot}{rest}" for owner, dot, rest in names)
    return replace(told, persons=persons - {"you"})


def _foreign(asked: frozenset[str], told: frozenset[str], text: str) -> float:
    """Subtracted from a text about the persons `told` if the question is about `asked`."""
    others = {name.rpartition(".")[2] for name in asked - {"me"}}
    if others:
        if any(other in text or any(other in name for name in told) for other in others):
            return 0.0
        return _FOREIGN if told else _UNNAMED
    return _FOREIGN if "me" in asked and told and "me" not in told else 0.0


def _openness(text: str, told: Matter, *, now: bool, brief: bool) -> float:
    """Subtracted from a text that asserts no present fact, or no past one if the question is about the past."""
    if told.past and not _supposes(text):
        return _PAST if now else 0.0
    return _OPEN if brief and not (told.holds or is_standing_order(text)) else 0.0


def _about(asked: Matter, told: Matter, *, brief: bool) -> float:
    """Added for the subject of the question; negative for another subject."""
    worth = -_NO_VALUE if brief and not asked.wants <= told.gives else 0.0
    if not (asked.topics and told.topics):
        return worth
    if asked.topics.isdisjoint(told.topics):
        return worth - (_ELSEWHERE if brief else 0.0)
    return worth + _TOPIC


def _is_han(text: str) -> bool:
    """Whether it is written in Chinese characters rather than in letters."""
    han = sum("\u4e00" <= c <= "\u9fff" for c in text)
    return 3 * han > len(text)


def _lift_renewing(lines: Sequence[_Line], asked: Matter) -> None:
    """Lift the replacement of a line, or a newer value of the same thing, just above that line.

    A newer value must be of the requested kind; a replacement may end the older line without a value.
    """
    by_id = {line.hit.node.id: line for line in lines}
    for line in sorted(lines, key=lambda line: line.hit.node.at):
        for key in (line.hit.node.superseded_by, line.hit.why.get("renewed_by")):
            newer = by_id.get(str(key))
            replaced = key == line.hit.node.superseded_by
            if newer is not None and (replaced or _gives_as_much(newer.matter, line.matter, asked)):
                _lift(newer, line)
                if not newer.matter.topics:  # "I meant 18 October": of what it corrects
                    told = line.matter
                    newer.matter = replace(told, holds=newer.matter.holds, past=False, changes=True)


def _lift(newer: _Line, older: _Line) -> None:
    if newer.worth < older.worth + _A_LITTLE:
        newer.worth, newer.named = older.worth + _A_LITTLE, older.named


def _lift_newer(lines: Sequence[_Line], asked: Matter, terms: frozenset[str]) -> None:
    """Lift a later statement about the subject of the question just above an earlier one."""
    for older in sorted(lines, key=lambda line: line.hit.node.at):
        for newer in lines:
            gap = _LIFTED if _is_han(newer.hit.node.text) == _is_han(older.hit.node.text) else _LIFTED_TRANSLATION
            if (
                older.worth > newer.worth > older.worth - gap
                and _is_later(newer, older)
                and _is_of(newer, older, asked, terms)
            ):
                _lift(newer, older)


def _is_later(newer: _Line, older: _Line) -> bool:
    """Whether a person stated it later as a fact, and not about another person."""
    told = newer.matter
    return (
        newer.hit.node.source != "assistant"
        and newer.hit.node.at > older.hit.node.at
        and told.holds
        and not (told.past or _supposes(newer.hit.node.text))
        and newer.foreign <= older.foreign
    )


def _is_of(newer: _Line, older: _Line, asked: Matter, terms: frozenset[str]) -> bool:
    """Whether both are about one thing, and about the subject of the question with these `terms`."""
    one, other = newer.matter, older.matter
    if _relatives(one) != _relatives(other) or not asked.which & other.which <= one.which:
        return False
    if _is_own_of_another(newer, older) or not _gives_as_much(one, other, asked):
        return False
    same_script = _is_han(newer.hit.node.text) == _is_han(older.hit.node.text)
    things = asked.things & other.things
    if same_script and not things <= one.things:
        more = asked.topics & one.topics > asked.topics & other.topics and bool(terms & newer.terms - older.terms)
        if not more and not (one.changes and things & one.things):
            return False
    if asked.topics:
        shared = asked.topics & other.topics
        common = shared & one.topics
        return bool(common) and (one.changes or common == shared)
    return one.changes and bool(one.topics & other.topics or (things and same_script))


def _is_own_of_another(newer: _Line, older: _Line) -> bool:
    """Whether the speakers differ and one speaks of himself or herself: Daniel's home is not Priya's."""
    one, two = newer.hit.node.speaker, older.hit.node.speaker
    return bool(one and two and one != two) and "me" in newer.matter.persons | older.matter.persons


def _gives_as_much(newer: Matter, older: Matter, asked: Matter) -> bool:
    """Whether the newer has a value of the requested kind if the older has one."""
    return asked.wants & older.gives <= newer.gives


def _relatives(matter: Matter) -> frozenset[str]:
    """Persons named by a relation (`me.mother`), and those distinguished by their origin."""
    return frozenset(name for name in matter.persons if "." in name)


def _by_worth(line: _Line) -> float:
    return -line.worth


def _likenesses(hits: Sequence[Hit]) -> list[float]:
    """Likenesses of the hits; a hit without a vector gets the highest of the others."""
    found = [hit.why.get("likeness") for hit in hits]
    best = max((one for one in found if isinstance(one, float)), default=0.0)
    return [one if isinstance(one, float) else best for one in found]


def _only_asks(node: Node) -> bool:
    return node.kind == "event" and not (is_statement(node.text) or is_standing_order(node.text))


def _worth(hit: Hit, likeness: float) -> float:
    node, worth = hit.node, _ODDS * odds(hit.score) + _LIKENESS * likeness
    if node.kind != "event":
        return worth
    if _supposes(node.text):
        worth -= _SUPPOSED
    return worth - _GUESSED if node.source == "assistant" else worth


def _supposes(text: str) -> bool:
    """Whether its beginning is a supposition or a quotation."""
    text = text[:_BEGINNING]
    return bool(_SUPPOSES.search(text) or _QUOTES.search(text))


def _renewed(lines: Sequence[_Line]) -> list[_Line]:
    """Put the user's line, then the newer one, before another about the same thing of nearly equal worth."""
    ordered: list[_Line] = []
    for line in lines:
        place = len(ordered)
        while place and _goes_before(line, ordered[place - 1]):
            place -= 1
        ordered.insert(place, line)
    return ordered


def _goes_before(line: _Line, other: _Line) -> bool:
    """Whether a line of slightly lower worth goes first: a person said it later about the same thing."""
    if line.hit.node.source == "assistant" or line.hit.node.at <= other.hit.node.at:
        return False
    one, two = line.matter, other.matter
    if (one.which and two.which and one.which != two.which) or _relatives(one) != _relatives(two):
        return False
    if _is_own_of_another(line, other):
        return False
    less = other.worth - line.worth
    return (less < _NEAR and _are_alike(line, other)) or (less < _SAME_NEAR and _are_of_one(line, other))


def _are_alike(line: _Line, other: _Line) -> bool:
    return _share(line.terms, other.terms) >= _ALIKE


def _are_of_one(line: _Line, other: _Line) -> bool:
    """Whether both state one attribute of one person."""
    one, two = line.matter, other.matter
    says = not (one.past or _supposes(line.hit.node.text))
    return says and one.persons == two.persons and not one.attributes.isdisjoint(two.attributes)


def _share(some: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard; 1 of nothing."""
    both = some | other
    return len(some & other) / len(both) if both else 1.0


def odds(score: float) -> float:
    """Log-odds of a score, which is clipped so that 0 and 1 stay finite."""
    share = min(max(score, 1e-6), 1.0 - 1e-6)
    return math.log(share / (1.0 - share))
