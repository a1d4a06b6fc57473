"""Chooses and orders the hits of a context block: lines that answer on their own, newer values first.

    sure  = σ(0.4 · log-odds of the recall's confidence, ±2 at most, + 0.7 · worth of the best + topic − missing − 2.4)

The ranking finds evidence: it also lifts neighbours of a hit, and earlier questions. A line of a block has no
neighbours, so it must answer on its own, it must be about the person in question, and a question is no answer (`worth`
rates that). A replacement takes the place of the line it replaced (`newer_lines`, `continuations`, `succession`). The
block is empty if no line is worth enough. Thread-safe.
"""

import math
import re
from collections.abc import Sequence

from biem.domain.conflict import Matter
from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.succession import SuccessionWeights
from biem.domain.text import estimate_tokens, jaccard, share
from biem.engine.context.continuations import lift_continuations, lift_continued
from biem.engine.context.newer_lines import lift_former, lift_later, lift_replacements, newer_first
from biem.engine.context.succession import Succession, lift_successors
from biem.engine.context.worth import BRIEF, LineQuestion, LineWorth, RatedLine, is_han, odds, only_asks
from biem.ports import Analyzer
from biem.ports.contradiction import ContradictionRules

LOOKED_AT = 20
"""Hits considered for a block: twenty hold nearly all answers that forty hold."""
_KEPT = 4
"""First hits of the ranking that are kept unless they fall below `drop`: a neighbour of a hit may be evidence."""
_SURENESS, _WORTH, _PLAIN = 0.4, 0.7, 2.4
_ON_TOPIC, _OFF_TOPIC = 1.3, 1.0
"""Added to the sureness if the best line has the topic of the question, subtracted if not."""
_TRANSLATED, _OTHER_WORDS = 0.5, 1.0
"""Subtracted if the best line is in the other script, for what is added to its worth for that proves nothing, and in
addition if a dictionary finds none of the things in question in it."""
_NO_VALUE = 2.0
"""Subtracted if the best line is brief and has no value of the requested kind: a date, an amount."""
_UNLIKE = 0.3
"""Likeness to the question that no line reaches if the next two numbers count."""
_OTHER_THING, _UNNAMED = 2.0, 0.5
"""Subtracted if the best line tells of another thing of this kind, and if no line names a thing in question, in
proportion where some do."""
_SUREST = 2.0
"""Log-odds at which the confidence of a recall is capped: common words prove little."""
_ECHO = 0.7
"""Share of common terms (Jaccard) from which an earlier question counts as the same question."""
_SUCCESSION = SuccessionWeights()
_ABOUT_ASKING = re.compile(r"\b(?:ask(?:ed|ing)?|question|request(?:ed)?|want(?:ed)? to know)\b|问|请求", re.IGNORECASE)


class Picker:
    """Chooses the lines of a block."""

    def __init__(self, rules: ContradictionRules, analyzer: Analyzer, policy: ContextPolicy) -> None:
        self._worth = LineWorth(rules, analyzer)
        self._policy = policy

    def pick(self, hits: Sequence[Hit], question: str, confidence: float | None, most: int | None = None) -> list[Hit]:
        """At most `most` hits in the order of the block; none if the sureness is below `min_confidence`.

        `confidence` is that of the recall; None if it was not measured, which disables the threshold. Hits whose worth
        is `drop` below the best are left out; of the others the first four are kept, then those of highest worth. A
        message that only asks is kept if there is no other hit, or if the question is about earlier questions.
        """
        drop, asked = self._policy.drop, self._worth.question(question, hits)
        lines = self._lines(hits, asked)
        if confidence is not None and _sure(confidence, lines, asked) < self._policy.min_confidence:
            return []
        if lines is None:
            return [hit for hit in hits if odds(hit.score) >= odds(hits[0].score) - drop][:most]
        best = max((line.worth for line in lines), default=0.0)
        near = [line for line in lines if line.worth >= best - drop]
        first = [line for line in lines[:_KEPT] if line in near]
        others = sorted((line for line in near if line not in first), key=_by_worth)
        ordered = sorted([*first, *others][:most], key=_by_worth)
        return [line.hit for line in (ordered if asked.former else newer_first(ordered, asked))]

    def sureness(self, hits: Sequence[Hit], question: str, confidence: float) -> float:
        """The probability, 0 to 1, that one of the hits answers; `min_confidence` is its threshold."""
        asked = self._worth.question(question, hits)
        return _sure(confidence, self._lines(hits, asked), asked)

    def _lines(self, hits: Sequence[Hit], question: LineQuestion) -> list[RatedLine] | None:
        """The lines to choose from; None if no hit has a likeness."""
        lines = self._worth.lines(hits, question)
        if lines is None:
            return None
        lines = answering(lines, question)
        if question.now or ("time" in question.matter.wants and not question.former):
            succession = Succession(lines, question)
            lift_replacements(lines, question)
            lift_later(lines, question)
            lift_continuations(lines, question)
            lift_successors(lines, succession, _SUCCESSION, self._policy.drop)
        elif question.former:
            lift_former(lines)
            lift_continued(lines, question)
        return lines


def _sure(confidence: float, lines: Sequence[RatedLine] | None, question: LineQuestion) -> float:
    """The probability, 0 to 1, that one of the lines answers."""
    if lines is None:
        return confidence
    if not lines:
        return 0.0
    best = max(lines, key=lambda line: line.worth - line.foreign)
    total = (
        _SURENESS * min(max(odds(confidence), -_SUREST), _SUREST)
        + _WORTH * (best.worth - best.named - best.foreign)
        - _PLAIN
        - _missing(best, lines, question)
    )
    asked, told = question.matter, best.matter
    if asked.topics and estimate_tokens(best.hit.node.text) <= BRIEF:
        if best.foreign or asked.topics.isdisjoint(told.topics):
            total -= _OFF_TOPIC
        elif not (_in_its_script(best, question) and _misses(asked, told)):
            total += _ON_TOPIC
    return 1.0 / (1.0 + math.exp(-total))


def _missing(best: RatedLine, lines: Sequence[RatedLine], question: LineQuestion) -> float:
    """Subtracted from the sureness for what the best line lacks of the question: its value, its thing, its script.

    A line that is like the question names its thing in other words, or in words that the dictionary lacks.
    """
    asked, told = question.matter, best.matter
    brief = best.hit.node.kind == "event" and estimate_tokens(best.hit.node.text) <= BRIEF
    less = _NO_VALUE if brief and not asked.wants <= told.gives else 0.0
    translated = not _in_its_script(best, question)
    less += _TRANSLATED if translated else 0.0
    if max(line.like for line in lines) >= _UNLIKE:
        return less
    less += _OTHER_THING if brief and _misses(asked, told) else 0.0
    if translated:
        return less + (_OTHER_WORDS if asked.things and asked.things.isdisjoint(told.things) else 0.0)
    comparable = [line.matter.things for line in lines if _in_its_script(line, question)]
    unnamed = [thing for thing in asked.things if not any(share(frozenset((thing,)), things) for things in comparable)]
    return less + (_UNNAMED * len(unnamed) / len(asked.things) if unnamed else 0.0)


def _in_its_script(line: RatedLine, question: LineQuestion) -> bool:
    return is_han(question.text) == is_han(line.hit.node.text)


def answering(lines: list[RatedLine], question: LineQuestion) -> list[RatedLine]:
    """Without messages that only ask; for a question about earlier questions, without this same question."""
    if _ABOUT_ASKING.search(question.text) is None:
        return [line for line in lines if not only_asks(line.hit.node)] or lines
    return [line for line in lines if not (only_asks(line.hit.node) and jaccard(line.terms, question.terms) >= _ECHO)]


def _misses(asked: Matter, told: Matter) -> bool:
    """Whether it lacks the attribute and all things of the question, and a topic or the kind: a rabbit is no parrot."""
    lacks = asked.topics - told.topics or (asked.kinds and told.kinds)
    return (
        bool(lacks and asked.things)
        and asked.things.isdisjoint(told.things)
        and asked.attributes.isdisjoint(told.attributes)
    )


def _by_worth(line: RatedLine) -> float:
    return -line.worth
