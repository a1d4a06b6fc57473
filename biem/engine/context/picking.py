"""Chooses and orders the hits of a context block: lines that answer on their own, newer values first.

The ranking finds evidence: it also lifts neighbours of a hit, and earlier questions. A line of a block has no
neighbours, so it must answer on its own, it must be about the person in question, and a question is no answer
(`relevance` rates that). A replacement takes the place of the line it replaced (`replacements`, `succession`). The
block is empty if probably no line answers (`silence`). Thread-safe.
"""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.domain.scores import probability
from biem.domain.speech.acts import asks_for_facts
from biem.domain.text import jaccard
from biem.engine.context.currency.late_corrections import lift_late_corrections
from biem.engine.context.currency.lifting import (
    lift_predecessors,
    lift_reason,
    lift_successors,
    lift_sure_successors,
    show_disputing,
    show_possible_successor,
)
from biem.engine.context.currency.replacements import lift_former, lift_replacements, lift_reported_changes
from biem.engine.context.currency.succession import Succession
from biem.engine.context.echoes import echoed, lift_repeated
from biem.engine.context.lines import LineQuestion, LineReader, RatedLine, odds, only_asks
from biem.engine.context.relevance import are_of_several_people, rate
from biem.engine.context.silence import sureness
from biem.engine.query.question import asks_for_a_reason
from biem.ports import Analyzer
from biem.ports.contradiction import ContradictionRules
from biem.ports.embedding import NO_READERS, PairReaders

LOOKED_AT = 20
"""Hits considered for a block: twenty hold nearly all answers that forty hold."""
OF_A_LIST, MOST_OF_A_LIST = 40, 8
"""Hits considered where a question asks for all things of a kind, and lines shown at most, unless the caller says."""
_OF_THE_LIST = -1.25
"""Log-odds from which a line counts as telling of one of the things in question."""
_BY_ONE, _SURELY_A_LIST = 1.0, 1.5
"""Log-odds from which a line answers the whole question ("I have twelve hens", "Our suppliers are …"), if those that
the question asks for all things of a kind are below the second."""
_ECHO = 0.7
"""Share of common terms (Jaccard) from which an earlier question counts as the same question."""
_ABOUT_ASKING = re.compile(r"\b(?:ask(?:ed|ing)?|question|request(?:ed)?|want(?:ed)? to know)\b|问|请求", re.IGNORECASE)

_OF_AN_ACT = re.compile(r"\bdid\b", re.IGNORECASE)
"""Asks in the past tense for an act, and thereby for the last of several: "Where did we send the paper?"."""


@dataclass(frozen=True, slots=True)
class Bar:
    """What the lines of a block must reach."""

    sure: float
    """The probability that one of them answers."""
    behind: float
    """Most log-odds below the best line."""
    worth: float
    """Log-odds from which a line is shown in any case."""


class Picker:
    """Chooses the lines of a block."""

    def __init__(
        self,
        rules: ContradictionRules,
        analyzer: Analyzer,
        policy: ContextPolicy,
        readers: PairReaders = NO_READERS,
    ) -> None:
        """`readers`: without one, lines are not read with the question, or not with each other."""
        self._reader = LineReader(rules, analyzer)
        self._rules = rules
        self._terms_of = analyzer.lexemes
        self._policy = policy
        self._readers = readers

    def pick(
        self,
        hits: Sequence[Hit],
        question: str,
        confidence: float | None,
        most: int | None = None,
        personal: float = 0.0,
    ) -> list[Hit]:
        """At most `most` hits in the order of the block; none if the sureness is below `min_confidence`.

        `confidence` is that of the recall; None if it was not measured, which disables the threshold. `personal`: the
        log-odds that memories can help with the question; 0 says nothing. The first line is kept, and those that are
        probable enough (`_least`); where the ranking alone rates lines (`relevance`), those at most `drop` below the
        best. A message that only asks is kept if there is no other hit, or if the question is
        about earlier questions.
        """
        return self.choose(hits, question, confidence, most, personal)[0]

    def choose(
        self,
        hits: Sequence[Hit],
        question: str,
        confidence: float | None,
        most: int | None = None,
        personal: float = 0.0,
        bar: Bar | None = None,
        lists: float = 0.0,
    ) -> tuple[list[Hit], float | None]:
        """As `pick`, with the probability, 0 to 1, that one of the hits answers; None if it was not measured.

        `bar`: what lines must reach where more is known of them than that a search found them. `lists`: the log-odds
        that the question asks for all things of a kind; above 0 lines are chosen that tell of one of these.
        """
        of_list = lists > 0 and bar is None
        if not of_list:
            hits = hits[:LOOKED_AT]
        asked = self._reader.question(question, hits, personal)
        lines, measured = self._rated(hits, asked)
        sure = None if confidence is None else _sure(confidence, lines, measured, asked)
        if of_list and not (lines and _are_of_many(lines, lists)):
            return self.choose(hits, question, confidence, most, personal)
        if sure is not None and lines and not of_list and bar is None:
            sure = self._read(lines, asked, sure)
        if of_list and lines:
            from biem.engine.context.members import membership, rate_members  # noqa: PLC0415  few ask for a list

            rate_members(lines, measured)
            sure = None if sure is None else membership(lines, sure)
        if sure is not None and sure < (self._policy.min_confidence if bar is None else bar.sure):
            return [], sure
        if lines is None:
            return [hit for hit in hits if odds(hit.score) >= odds(hits[0].score) - self._policy.drop][:most], sure
        lines = _without_echoes(lines, echoed(lines, self._terms_of))
        least = _least_of_list(lines) if of_list else self._least(lines)
        if bar is not None:
            best = max((line.worth for line in lines), default=0.0)
            least = max(best - bar.behind, min(least, bar.worth))
        if asks_for_a_reason(asked.text) and not are_of_several_people(lines):
            lift_reason(lines)
        self._order(lines, asked, least)
        if not asked.former and not are_of_several_people(lines):
            lift_late_corrections(lines, self._rules, least, all_known=len(hits) < LOOKED_AT)
        lift_repeated(lines, self._terms_of)
        shown = sorted((line for line in lines if line.worth >= least), key=_by_worth)
        return _whole([line.hit for line in shown], hits)[:most], sure

    def _read(self, lines: Sequence[RatedLine], asked: LineQuestion, sure: float) -> float:
        """The sureness after the likeliest lines were read, with their worth corrected."""
        answering = self._readers.answering
        most = self._policy.lines_to_read(request=not asks_for_facts(asked.text))
        if answering is None or not most or are_of_several_people(lines):
            return sure
        from biem.engine.context.reading import read  # noqa: PLC0415  other embedders than e5 have no such model

        return read(lines, asked, sure, answering, most)

    def sureness(self, hits: Sequence[Hit], question: str, confidence: float, personal: float = 0.0) -> float:
        """The probability, 0 to 1, that one of the hits answers; `min_confidence` is its threshold."""
        asked = self._reader.question(question, hits, personal)
        return _sure(confidence, *self._rated(hits, asked), asked)

    def _rated(
        self, hits: Sequence[Hit], question: LineQuestion
    ) -> tuple[list[RatedLine] | None, list[dict[str, float]]]:
        """The lines to choose from, with their features; None if no hit has a likeness."""
        lines = self._reader.lines(hits, question)
        if lines is None:
            return None, []
        acknowledged = (line.hit.node for line in echoed(lines, self._terms_of).values())
        instructed = frozenset(node.id for node in acknowledged if "?" not in node.text and "？" not in node.text)
        lines = answering(lines, question, instructed)
        return lines, rate(lines, question)

    def _least(self, lines: Sequence[RatedLine]) -> float:
        """The worth from which a line is shown.

        Its probability p must reach `min_relevance` / √(1 − q), where 1 − q is the probability that no better line is
        about what is asked: next to a sure line a doubtful one is noise, among doubtful ones it may be the answer.
        """
        worths = sorted((line.worth for line in lines), reverse=True)
        best = least = worths[0] if worths else 0.0
        if are_of_several_people(lines):
            return best - self._policy.drop
        if not self._policy.min_relevance:
            return -math.inf
        unanswered = 1.0
        for worth in worths:
            likely = probability(worth)
            if likely * math.sqrt(unanswered) < self._policy.min_relevance:
                break
            least, unanswered = worth, unanswered * (1.0 - likely)
        return least

    def _order(self, lines: list[RatedLine], question: LineQuestion, least: float) -> None:
        """Lift the lines that tell how things are now above those that they succeed, or the reverse if asked.

        In dialogues of several people the changes that the ranking found count, too, and other lines go first only if
        they are successors more probably than not: the weights are of one user's talks.
        """
        if question.now or ("time" in question.matter.wants and not question.former):
            lift_replacements(lines, question)
            succession = self._succession(lines, question, least)
            if are_of_several_people(lines):
                lift_sure_successors(lines, succession, least)
                lift_reported_changes(lines)
            else:
                lift_successors(lines, succession, least)
            show_possible_successor(lines, succession, least)
        elif question.former:
            lift_former(lines)
            lift_predecessors(lines, Succession(lines, question), least)
        elif _OF_AN_ACT.search(question.text):
            lift_sure_successors(lines, self._succession(lines, question, least), least)
        show_disputing(lines, least)

    def _succession(self, lines: Sequence[RatedLine], question: LineQuestion, least: float) -> Succession:
        """Which line succeeds which, after the lines that may be shown were read with later ones."""
        succession = Succession(lines, question)
        if self._readers.ending is not None and self._policy.successors and not are_of_several_people(lines):
            from biem.engine.context.currency.successor_reading import read_successors  # noqa: PLC0415  e5 only

            shown = [line for line in lines if line.worth >= least]
            read_successors(shown, succession, question, self._readers, self._policy.successors)
        return succession


def _are_of_many(lines: Sequence[RatedLine], lists: float) -> bool:
    """Whether these are lines of a user's talk of which none answers such a question alone."""
    return not are_of_several_people(lines) and (lists >= _SURELY_A_LIST or max(one.worth for one in lines) < _BY_ONE)


def _least_of_list(lines: Sequence[RatedLine]) -> float:
    return min(_OF_THE_LIST, max((line.worth for line in lines), default=0.0))


def _whole(chosen: Sequence[Hit], hits: Sequence[Hit]) -> list[Hit]:
    """These hits, with one for all passages of a message, which has the statements to tell, best first."""
    told = dict[str, list[Hit]]()
    for one in chosen:
        told.setdefault(one.whole, []).append(one)
    of = {hit.node.id: hit for hit in hits if hit.passages}
    return [
        replace(of[key], told=tuple(one.node.text for one in some)) if key in of else some[0]
        for key, some in told.items()
    ]


def _sure(
    confidence: float,
    lines: Sequence[RatedLine] | None,
    measured: Sequence[Mapping[str, float]],
    question: LineQuestion,
) -> float:
    """The probability, 0 to 1, that one of the lines answers."""
    return confidence if lines is None else sureness(confidence, lines, measured, question)


def answering(lines: list[RatedLine], question: LineQuestion, instructed: Collection[str] = ()) -> list[RatedLine]:
    """Without messages that only ask; for a question about earlier questions, without this same question.

    `instructed`: the ids of messages that the assistant acknowledged, as it does with an instruction.
    """
    if _ABOUT_ASKING.search(question.text) is None:
        kept = (line for line in lines if not only_asks(line.hit.node) or line.hit.node.id in instructed)
        return list(kept) or lines
    return [line for line in lines if not (only_asks(line.hit.node) and jaccard(line.terms, question.terms) >= _ECHO)]


def _without_echoes(lines: list[RatedLine], originals: Mapping[str, RatedLine]) -> list[RatedLine]:
    """Each message stands for the acknowledgement that only says it again, and an answer for its question.

    What replaced the message replaces both.
    """
    for line in lines:
        original = originals.get(line.hit.node.id)
        if original is not None:
            original.worth = max(original.worth, line.worth)
    asked = {line.hit.answers.id for line in lines if line.hit.answers is not None}
    return [line for line in lines if line.hit.node.id not in originals.keys() | asked]


def _by_worth(line: RatedLine) -> float:
    return -line.worth
