"""Later statements before earlier ones about the same thing: the lines of a block tell how things are now.

A replacement, a newer value, a later statement about the subject of the question, and a report of a change that names
the value of an earlier line are lifted just above the line that they replace; of two lines of nearly equal worth the
user's goes first, then the newer. A question about a former state gets the replaced line first.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from biem.domain.conflict import Matter
from biem.domain.speech.acts import is_standing_order
from biem.domain.text import estimate_tokens, jaccard, share, shared
from biem.engine.context.same_subject import (
    are_same,
    closest_before,
    gives_as_much,
    is_of_another_kind,
    is_of_another_way,
    is_own_of_another,
    lift,
    likeness,
    relatives,
    things_of,
)
from biem.engine.context.worth import BRIEF, LineQuestion, RatedLine, is_han, supposes

_NEAR = 2.5
"""Two lines about one thing whose worth differs by less are ordered by speaker (user first), then by time."""
_SAME_NEAR = 5.0
"""The same limit for two lines with the same attribute of the same person."""
_LIFTED, _LIFTED_TRANSLATION = 7.0, 9.0
"""A later statement about the thing in question is lifted to the earlier one if its worth is lower by at most this; the
second number is for a text in the other script."""
_ALIKE = 0.1
"""Share of common terms (Jaccard) from which two lines may be about one thing."""
_TRANSLATION = 0.3
"""Likeness to the question from which a change told in the other script may be about its subject."""
_ALIKE_AT_ALL = 0.15
"""Likeness of two lines below which neither tells of the other's subject, where vectors are known."""
_HALF = 0.5
"""Share of a later line's likeness to its closest earlier statement below which it tells nothing of another one."""
_OF_A_STATE = re.compile(
    r"\bhow(?:'s| is| are| has| have)\b|\bwhat(?:'s| is| has) (?:new|happened)|\bany news\b"
    r"|怎么样|怎样|怎么了|好吗|还好|如何|近况|情况",
    re.IGNORECASE,
)
"""Asks how a person is: what was told last answers."""
_RARE = 3
"""Maximum number of lines with a word that identifies a value."""


def lift_replacements(lines: Sequence[RatedLine], question: LineQuestion) -> None:
    """Lift the replacement of a line, or a newer value of the same thing, just above that line.

    A newer value must be of the requested kind; a replacement may end the older line without a value.
    """
    by_id = {line.hit.node.id: line for line in lines}
    for line in sorted(lines, key=lambda line: line.hit.node.at):
        for key in (line.hit.node.superseded_by, line.hit.why.get("renewed_by")):
            newer = by_id.get(str(key))
            replaced = key == line.hit.node.superseded_by
            if newer is not None and (replaced or gives_as_much(newer.matter, line.matter, question.matter)):
                lift(newer, line)
                if not newer.matter.topics:  # "I meant 18 October": of what it corrects
                    told = line.matter
                    newer.matter = replace(told, holds=newer.matter.holds, past=False, changes=True)


def lift_former(lines: Sequence[RatedLine]) -> None:
    """Lift a replaced line just above its replacement, if that still holds."""
    by_id = {line.hit.node.id: line for line in lines}
    for line in lines:
        newer = by_id.get(line.hit.node.superseded_by or "")
        if newer is not None and newer.hit.node.superseded_by is None:
            lift(line, newer)


def lift_later(lines: Sequence[RatedLine], question: LineQuestion) -> None:
    """Lift a later statement about the subject of the question, or the end of its value, just above an earlier one."""
    holders = Counter(value for line in lines for value in things_of(line))
    common = {value for value, count in holders.items() if count > _RARE} | question.terms | question.matter.things
    compared = any(line.hit.alike for line in lines)
    for older in sorted(lines, key=lambda line: line.hit.node.at):
        for newer in lines:
            if not (newer.worth < older.worth and _is_later(newer, older)):
                continue
            if is_of_another_kind(newer, older, question.matter):
                continue
            if compared and not _may_be_of_one(newer, older, lines):
                continue
            gap = _LIFTED if is_han(newer.hit.node.text) == is_han(older.hit.node.text) else _LIFTED_TRANSLATION
            names = share(things_of(newer) - common, things_of(older) - common) or (
                is_han(newer.hit.node.text) != is_han(older.hit.node.text)
                and not newer.matter.numbers.isdisjoint(older.matter.numbers)
            )
            ends = (names or _names_it(newer, older, question)) and _may_end(newer, older, question)
            near = newer.worth > older.worth - gap or _has_all_asked(newer, older, question)
            if ends or (near and _is_of(newer, older, question)):
                lift(newer, older)


def _may_be_of_one(newer: RatedLine, older: RatedLine, lines: Sequence[RatedLine]) -> bool:
    """Whether it is like the earlier line, and not far more like another one.

    Lines in different languages are hardly alike: an attribute or a thing in common will do.
    """
    one, other = newer.matter, older.matter
    translated = is_han(newer.hit.node.text) != is_han(older.hit.node.text)
    if translated and (one.attributes & other.attributes or one.things & other.things):
        return True
    return likeness(newer, older) >= max(_ALIKE_AT_ALL, _HALF * closest_before(newer, lines))


def _names_it(newer: RatedLine, older: RatedLine, question: LineQuestion) -> bool:
    """Whether it names all things in question that the older names, where a date or an amount is asked for."""
    asked = question.matter
    things = shared(asked.things, older.matter.things)
    return bool(asked.wants and things - asked.kinds) and things <= shared(things, newer.matter.things)


def _has_all_asked(newer: RatedLine, older: RatedLine, question: LineQuestion) -> bool:
    """Whether it names all things in question and has the topic that the older shares with the question.

    Without a thing in question: whether it tells of a change of the attribute in question.
    """
    one, other, asked = newer.matter, older.matter, question.matter
    if not asked.things:
        return one.changes and _are_of_one(newer, older) and bool(one.attributes & other.attributes & asked.attributes)
    return asked.things <= shared(asked.things, one.things) and not one.topics.isdisjoint(asked.topics & other.topics)


def _may_end(newer: RatedLine, older: RatedLine, question: LineQuestion) -> bool:
    """Whether a change that names the value or the thing of an earlier line is about the same people.

    It must be about no other topic, unless it names the thing in question.
    """
    one, other, asked = newer.matter, older.matter, question.matter
    if not one.changes or max(estimate_tokens(line.hit.node.text) for line in (newer, older)) > BRIEF:
        return False
    if not (relatives(one) <= relatives(other) or are_same(one, other)) or is_own_of_another(newer, older):
        return False
    apart = one.topics and asked.topics & other.topics and asked.topics.isdisjoint(one.topics)
    if apart and not _names_it(newer, older, question):
        return False
    return not is_of_another_way(one, other, asked) and gives_as_much(one, other, asked)


def _is_later(newer: RatedLine, older: RatedLine) -> bool:
    """Whether a person stated it later as a fact, and not about another person."""
    return (
        newer.hit.node.source != "assistant"
        and newer.hit.node.at > older.hit.node.at
        and _is_told_as_fact(newer)
        and newer.foreign <= older.foreign
    )


def _is_told_as_fact(line: RatedLine) -> bool:
    """Whether it says how things are: not how they were, might be, or are said to be."""
    return line.matter.holds and not (line.matter.past or supposes(line.hit.node.text))


def _is_of(newer: RatedLine, older: RatedLine, question: LineQuestion) -> bool:
    """Whether both are about one thing, and about the subject of the question."""
    one, other, asked = newer.matter, older.matter, question.matter
    unnamed = bool(asked.things) and not one.persons and _has_all_asked(newer, older, question)
    if not (are_same(one, other) or unnamed) or is_of_another_way(one, other, asked):
        return False
    if is_own_of_another(newer, older) or not gives_as_much(one, other, asked):
        return False
    people = asked.persons - {"me", "you"}
    if people and not (asked.topics or asked.things - people) and _OF_A_STATE.search(question.text):
        return one.changes and people <= (one.persons | one.things) & (other.persons | other.things)
    same_script = is_han(newer.hit.node.text) == is_han(older.hit.node.text)
    things = asked.things & other.things
    if same_script and not things <= shared(things, one.things):
        more = asked.topics & one.topics > asked.topics & other.topics and bool(
            question.terms & newer.terms - older.terms
        )
        if not more and not (one.changes and shared(things - asked.kinds or things, one.things)):
            return False
    if not (same_script or asked.topics & one.topics):
        apart = asked.topics and one.topics
        of_whom = relatives(asked)
        of_them = bool(of_whom) and of_whom == relatives(one) == relatives(other)
        of_it = of_them or bool(things & one.things) or newer.like >= _TRANSLATION
        return one.changes and of_it and not apart
    if asked.topics:
        of_both = asked.topics & other.topics
        common = of_both & one.topics
        return bool(common) and (one.changes or common == of_both)
    return one.changes and bool(one.topics & other.topics or (things and same_script))


def newer_first(lines: Sequence[RatedLine], question: LineQuestion) -> list[RatedLine]:
    """Put the user's line, then the newer one, before another about the same thing of nearly equal worth."""
    ordered: list[RatedLine] = []
    for line in lines:
        place = len(ordered)
        while place and _goes_before(line, ordered[place - 1], question):
            place -= 1
        ordered.insert(place, line)
    return ordered


def _goes_before(line: RatedLine, other: RatedLine, question: LineQuestion) -> bool:
    """Whether a line of slightly lower worth goes first: a person said it later about the same thing."""
    if line.hit.node.source == "assistant" or line.hit.node.at <= other.hit.node.at:
        return False
    if (
        question.now
        and _is_told_as_fact(other)
        and not (_is_told_as_fact(line) or is_standing_order(line.hit.node.text))
    ):
        return False
    one, two, asked = line.matter, other.matter, question.matter
    if (one.which and two.which and one.which != two.which) or relatives(one) != relatives(two):
        return False
    if is_own_of_another(line, other) or is_of_another_kind(line, other, asked):
        return False
    if "return" in one.which ^ two.which:
        return False
    if is_han(line.hit.node.text) == is_han(other.hit.node.text) and asked.things & two.things - one.things:
        return False
    less = other.worth - line.worth
    of_one = _are_of_one(line, other) or _give_one(one, two, asked)
    return (less < _NEAR and _are_alike(line, other)) or (less < _SAME_NEAR and of_one)


def _give_one(one: Matter, two: Matter, asked: Matter) -> bool:
    """Whether both give a value of the requested kind, of all things in question."""
    things = shared(asked.things, two.things)
    return (
        bool(things and asked.wants) and things <= shared(things, one.things) and asked.wants <= one.gives & two.gives
    )


def _are_alike(line: RatedLine, other: RatedLine) -> bool:
    return jaccard(line.terms, other.terms) >= _ALIKE


def _are_of_one(line: RatedLine, other: RatedLine) -> bool:
    """Whether both state one attribute of one person; who says "they live near us" speaks of them."""
    one, two = line.matter, other.matter
    says = not (one.past or supposes(line.hit.node.text))
    same = one.persons == two.persons or (bool(relatives(one)) and relatives(one) == relatives(two))
    return says and same and not one.attributes.isdisjoint(two.attributes)
