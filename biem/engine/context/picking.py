"""Chooses and orders the hits of a context block: lines that answer on their own, newer values first.

The ranking finds evidence: it also lifts neighbours of a hit, and earlier questions. A line of a block has no
neighbours, so it must answer on its own, it must be about the person in question, and a question is no answer (`worth`
orders lines by that, `relevance` leaves out the improbable ones). A replacement takes the place of the line it replaced
(`newer_lines`, `continuations`, `succession`). The block is empty if probably no line answers (`silence`). Thread-safe.
"""

import math
import re
from collections.abc import Mapping, Sequence

from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.succession import SuccessionWeights
from biem.domain.text import jaccard
from biem.engine.context.continuations import lift_continuations, lift_continued
from biem.engine.context.newer_lines import lift_former, lift_later, lift_replacements, newer_first
from biem.engine.context.relevance import are_of_several_people, rate
from biem.engine.context.silence import sureness
from biem.engine.context.succession import Succession, lift_successors
from biem.engine.context.worth import LineQuestion, LineWorth, RatedLine, odds, only_asks
from biem.ports import Analyzer
from biem.ports.contradiction import ContradictionRules

LOOKED_AT = 20
"""Hits considered for a block: twenty hold nearly all answers that forty hold."""
_KEPT = 4
"""First hits of the ranking that are kept unless they fall below `drop`: a neighbour of a hit may be evidence."""
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
        is `drop` below the best are left out, and those that are probably not about what is asked (`min_relevance`); of
        the others the first four are kept, then those of highest worth. A message that only asks is kept if there is no
        other hit, or if the question is about earlier questions.
        """
        drop, asked = self._policy.drop, self._worth.question(question, hits)
        lines, measured = self._lines(hits, asked)
        if confidence is not None and _sure(confidence, lines, measured, asked) < self._policy.min_confidence:
            return []
        if lines is None:
            return [hit for hit in hits if odds(hit.score) >= odds(hits[0].score) - drop][:most]
        best = max((line.worth for line in lines), default=0.0)
        least = self._least_relevance(lines)
        near = [line for line in lines if line.worth >= best - drop and line.relevance >= least]
        near = near or [line for line in lines if line.worth == best]
        first = [line for line in lines[:_KEPT] if line in near]
        others = sorted((line for line in near if line not in first), key=_by_worth)
        ordered = sorted([*first, *others][:most], key=_by_worth)
        return [line.hit for line in (ordered if asked.former else newer_first(ordered, asked))]

    def sureness(self, hits: Sequence[Hit], question: str, confidence: float) -> float:
        """The probability, 0 to 1, that one of the hits answers; `min_confidence` is its threshold."""
        asked = self._worth.question(question, hits)
        return _sure(confidence, *self._lines(hits, asked), asked)

    def _least_relevance(self, lines: Sequence[RatedLine]) -> float:
        """The log-odds from which a line may be shown; in dialogues of several people its worth alone decides."""
        return -math.inf if are_of_several_people(lines) else odds(self._policy.min_relevance)

    def _lines(
        self, hits: Sequence[Hit], question: LineQuestion
    ) -> tuple[list[RatedLine] | None, list[dict[str, float]]]:
        """The lines to choose from, with their features; None if no hit has a likeness."""
        lines = self._worth.lines(hits, question)
        if lines is None:
            return None, []
        lines = answering(lines, question)
        measured = rate(lines, question)
        if question.now or ("time" in question.matter.wants and not question.former):
            succession = Succession(lines, question)
            lift_replacements(lines, question)
            lift_later(lines, question)
            lift_continuations(lines, question)
            lift_successors(lines, succession, _SUCCESSION, self._policy.drop)
        elif question.former:
            lift_former(lines)
            lift_continued(lines, question)
        return lines, measured


def _sure(
    confidence: float,
    lines: Sequence[RatedLine] | None,
    measured: Sequence[Mapping[str, float]],
    question: LineQuestion,
) -> float:
    """The probability, 0 to 1, that one of the lines answers."""
    return confidence if lines is None else sureness(confidence, lines, measured, question)


def answering(lines: list[RatedLine], question: LineQuestion) -> list[RatedLine]:
    """Without messages that only ask; for a question about earlier questions, without this same question."""
    if _ABOUT_ASKING.search(question.text) is None:
        return [line for line in lines if not only_asks(line.hit.node)] or lines
    return [line for line in lines if not (only_asks(line.hit.node) and jaccard(line.terms, question.terms) >= _ECHO)]


def _by_worth(line: RatedLine) -> float:
    return -line.worth
