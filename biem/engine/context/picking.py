"""Which hits a block tells, and in which order: what answers by itself, said by the user, the newer value first.

    worth = log-odds of the hit + 10 · its own likeness to the question + translation + topic, value − standing, subject
    sure  = σ(0.5 · log-odds of the recall's confidence, ±2 at most, + 0.7 · worth of the best + topic − 2.7)

The ranking finds evidence: it lifts what stands beside a hit, too, and a question that was asked before. A line of a
block has no neighbours, so it must answer by itself, it must speak of the person who is asked about, and a question
answers nothing. What replaced another line takes its place. Where nothing is worth enough, nothing is told. Fitted to
what lines of blocks turned out to be about (`python -m benchmarks.agent`; ADR 0055). Thread-safe.
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
"""Hits that a block is picked from: of the answers that forty hits hold, twenty hold nearly all."""
_ODDS, _LIKENESS = 1.0, 10.0
_TRANSLATED, _TRANSLATED_LIKENESS = 2.0, 2.4
"""What is added to a text in the other script, and to its likeness: embedders rate translations lower, and words do not
match."""
_TOPIC, _ELSEWHERE = 1.0, 3.0
"""What is added where the text has a topic of the question, and taken where both have topics and none in common."""
_THING = 0.5
"""What is added besides where it names the thing that is asked about: the hotel, not only somewhere to live."""
_NO_VALUE = 1.0
"""What is taken from a brief text without a value of the kind that is asked for: a date, an amount."""
_BRIEF = 25
"""Tokens of a text that speaks of one thing: what else a longer one speaks of says nothing against it."""
_OPEN = 2.0
"""What is taken from a report, a hypothesis, a plan, a wish and the like."""
_KEPT = 4
"""Best hits of the ranking that are told unless they fall below `drop`: what stands beside a hit may be evidence."""
_GUESSED, _SUPPOSED, _PAST = 1.5, 3.0, 3.0
"""What is taken from what the assistant said, from a supposition or a quotation, and from what once was so where the
question is about the present."""
_FOREIGN, _UNNAMED = 4.0, 1.0
"""… from what speaks of other persons than the question, and of nobody where the question names somebody else."""
_SURENESS, _WORTH, _PLAIN = 0.5, 0.7, 2.7
_ON_TOPIC, _OFF_TOPIC = 1.0, 0.8
"""What is added to the sureness where the best line has the topic of the question, and taken where it has not."""
_SUREST = 2.0
"""Log-odds beyond which the confidence of a recall counts no further: words that all occur somewhere prove little."""
_A_LITTLE = 0.01
_ECHO = 0.7
"""Share of common terms (Jaccard) from which on a question is the one that is asked now, asked before."""
_READ = 500
"""Characters of a text in which persons are looked for: a longer one speaks of many."""
_BEGINNING = 2_000
"""… and in which a supposition or a quotation is."""
_NEAR = 2.5
"""Two lines about one thing whose worth differs by less are ordered by who said them, then by time."""
_SAME_NEAR = 5.0
"""… and by less than this where both give the same attribute of the same person."""
_LIFTED, _LIFTED_TRANSLATION = 6.0, 9.0
"""What was said later of the thing that is asked is lifted to what was said before, if it is worth so much
less at most; a text in the other script, if so much."""
_ALIKE = 0.1
"""Share of common terms (Jaccard) from which on two lines may be about one thing."""

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
    """As the user would put it: the user is `me`, also where the assistant says "you"."""
    foreign: float = 0.0
    """What was taken from its worth for the persons it speaks of."""
    named: float = 0.0
    """What was added to it for the thing it names: that orders lines, and makes no answer surer."""


class Picker:
    """Picks what is told. `terms_of` gives the index terms of a text."""

    def __init__(
        self, rules: ContradictionRules, terms_of: Callable[[str], Iterable[str]], policy: ContextPolicy
    ) -> None:
        self._rules = rules
        self._terms_of = terms_of
        self._policy = policy

    def pick(self, hits: Sequence[Hit], question: str, confidence: float | None, most: int | None = None) -> list[Hit]:
        """The hits worth telling, at most `most`, in the order to tell them; none where that is not sure enough.

        `confidence` is that of the recall, None where it was not measured: then the best is told. No hit is told whose
        worth lies `drop` below that of the best; of the others the first four, then those of most worth. A message that
        only asks is told where nothing else is found, or where the question is about what was asked.
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
        """How sure it is that some of the hits answer, 0 to 1: what `min_confidence` is compared with."""
        return self._sure(confidence, self._lines(hits, question), question)

    def _sure(self, confidence: float, lines: Sequence[_Line] | None, question: str) -> float:
        """How sure it is that some line answers, 0 to 1."""
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
        """What may be told; None where nothing tells what a hit alone is worth: they are told as they come.

        So it is with the ranking of a source design, and without an embedder.
        """
        if not any("likeness" in hit.why for hit in hits):
            return None
        asked = self._rules.matter(question[:_READ])
        persons = asked.persons - {"you"}
        named = any(hit.node.speaker for hit in hits)  # whose "I" that of the question is, is not known then
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
        """Without messages that only ask; of what was asked, without this very question."""
        if _ABOUT_ASKING.search(question) is None:
            return [line for line in lines if not _only_asks(line.hit.node)] or lines
        terms = frozenset(self._terms_of(question))
        return [line for line in lines if not (_only_asks(line.hit.node) and _share(line.terms, terms) >= _ECHO)]


def _seen_by_the_user(told: Matter, node: Node) -> Matter:
    """The persons of a message named as the user names them, without the assistant."""
    persons = told.persons
    if node.source == "assistant":
        swapped = {"me": "you", "you": "me"}
        names = (name.partition(".") for name in persons)
        persons = frozenset(f"{swapped.get(owner, owner)}{dot}{rest}" for owner, dot, rest in names)
    return replace(told, persons=persons - {"you"})


def _foreign(asked: frozenset[str], told: frozenset[str], text: str) -> float:
    """What is taken from a text about `told` where the question is about `asked`."""
    others = {name.rpartition(".")[2] for name in asked - {"me"}}
    if others:
        if any(other in text or any(other in name for name in told) for other in others):
            return 0.0
        return _FOREIGN if told else _UNNAMED
    return _FOREIGN if "me" in asked and told and "me" not in told else 0.0


def _openness(text: str, told: Matter, *, now: bool, brief: bool) -> float:
    """What is taken from a text that does not say how something is, or was where that is asked."""
    if told.past and not _supposes(text):
        return _PAST if now else 0.0
    return _OPEN if brief and not (told.holds or is_standing_order(text)) else 0.0


def _about(asked: Matter, told: Matter, *, brief: bool) -> float:
    """What is added to a text that speaks of what is asked; below 0 where it speaks of something else."""
    worth = -_NO_VALUE if brief and not asked.wants <= told.gives else 0.0
    if not (asked.topics and told.topics):
        return worth
    if asked.topics.isdisjoint(told.topics):
        return worth - (_ELSEWHERE if brief else 0.0)
    return worth + _TOPIC


def _is_han(text: str) -> bool:
    """Whether it is written in Chinese rather than in letters."""
    han = sum("\u4e00" <= c <= "\u9fff" for c in text)
    return 3 * han > len(text)


def _lift_renewing(lines: Sequence[_Line], asked: Matter) -> None:
    """What replaced a line, or gives a newer value of the same thing, is worth as much, and a little more.

    A newer value of what is asked is of the same kind; what replaced a line may end it without one.
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
    """What was said later of what is asked is worth as much as what was said before."""
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
    """Whether a person said it later, as something that is so, of nobody else."""
    told = newer.matter
    return (
        newer.hit.node.source != "assistant"
        and newer.hit.node.at > older.hit.node.at
        and told.holds
        and not (told.past or _supposes(newer.hit.node.text))
        and newer.foreign <= older.foreign
    )


def _is_of(newer: _Line, older: _Line, asked: Matter, terms: frozenset[str]) -> bool:
    """Whether both speak of one thing, and of what is asked. `terms`: of the question."""
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
    """Whether two speakers speak, one of them of themselves: where Daniel lives says nothing of where Priya does."""
    one, two = newer.hit.node.speaker, older.hit.node.speaker
    return bool(one and two and one != two) and "me" in newer.matter.persons | older.matter.persons


def _gives_as_much(newer: Matter, older: Matter, asked: Matter) -> bool:
    """Whether it has a value of the kind that is asked for, if the older has."""
    return asked.wants & older.gives <= newer.gives


def _relatives(matter: Matter) -> frozenset[str]:
    """Persons by what they are to somebody, and those told apart by where they are from."""
    return frozenset(name for name in matter.persons if "." in name)


def _by_worth(line: _Line) -> float:
    return -line.worth


def _likenesses(hits: Sequence[Hit]) -> list[float]:
    """What has no vector yet may be as like as the likest."""
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
    """Whether it is a supposition or somebody else's words, as far as its beginning tells."""
    text = text[:_BEGINNING]
    return bool(_SUPPOSES.search(text) or _QUOTES.search(text))


def _renewed(lines: Sequence[_Line]) -> list[_Line]:
    """Of two lines about one thing, nearly equal in worth, the user's and then the newer first."""
    ordered: list[_Line] = []
    for line in lines:
        place = len(ordered)
        while place and _goes_before(line, ordered[place - 1]):
            place -= 1
        ordered.insert(place, line)
    return ordered


def _goes_before(line: _Line, other: _Line) -> bool:
    """A line that is worth less, but not by much: what a person said later of the same thing."""
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
    """Whether both say how one attribute of one person is."""
    one, two = line.matter, other.matter
    says = not (one.past or _supposes(line.hit.node.text))
    return says and one.persons == two.persons and not one.attributes.isdisjoint(two.attributes)


def _share(some: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard; 1 of nothing."""
    both = some | other
    return len(some & other) / len(both) if both else 1.0


def odds(score: float) -> float:
    """Log-odds of a score; the ends stand for certainty, not for infinity."""
    share = min(max(score, 1e-6), 1.0 - 1e-6)
    return math.log(share / (1.0 - share))
