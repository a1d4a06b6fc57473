"""Later statements that tell of the same as an earlier one, found by the likeness of the two lines.

"Emil gave up baking" has none of the words of "What does my brother do?", but it is much like "My brother Emil is a
baker", and like nothing else. In any wording and language, the line of a change is close to the one that it replaces.
"""

from collections.abc import Sequence
from datetime import datetime

from biem.domain.text import share
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
    values,
)
from biem.engine.context.worth import LineQuestion, RatedLine, is_han, supposes

_CHANGED, _CHANGED_NAMED, _NAMED, _CONTINUED, _APART, _NEVER = 0.4, 0.28, 0.38, 0.5, 0.6, 2.0
"""Likeness to an earlier line from which a later one is about the same: one that tells of a change, one that also names
a thing of the earlier, one that only names it, any other, one of another topic or without the thing in question; the
last number is more than any likeness."""
_TRANSLATED = 0.25
"""The same for a change told in the other script that shares a topic with the question."""
_ABOUT = 0.42
"""Share of the earlier line's likeness to the question that a later one has which names nothing of the earlier."""
_CLOSEST = 0.8
"""Share of the likeness of the closest later line, and of the later line's closest earlier one, that a pair needs."""


def lift_continuations(lines: Sequence[RatedLine], question: LineQuestion) -> None:
    """Lift each of these statements just above the earlier line, the latest of several highest."""
    for older in sorted(lines, key=_said):
        below = older
        for newer in _continuations(older, lines, question):
            lift(newer, below)
            below = max(newer, below, key=lambda line: line.worth)


def lift_continued(lines: Sequence[RatedLine], question: LineQuestion) -> None:
    """Lift a line just above the statement that continues it, if nothing continues that one."""
    for older in lines:
        for newer in _continuations(older, lines, question):
            if not _continuations(newer, lines, question):
                lift(older, newer)


def _continuations(older: RatedLine, lines: Sequence[RatedLine], question: LineQuestion) -> list[RatedLine]:
    """The later statements that tell of the same as an earlier line, in order of time."""
    later = [line for line in lines if older.hit.node.id in line.hit.alike and _continues(line, older, question)]
    closest = max((likeness(line, older) for line in later), default=0.0)
    found = []
    for newer in sorted(later, key=_said):
        like = likeness(newer, older)
        kinds = newer.matter.kinds & older.matter.kinds & question.matter.kinds  # a departure is not of a return
        rival = max(closest, closest_before(newer, lines, kinds))
        if like >= _CLOSEST * rival and like >= _least(newer, older, question):
            found.append(newer)
    return found


def _said(line: RatedLine) -> datetime:
    return line.hit.node.at


def _least(newer: RatedLine, older: RatedLine, question: LineQuestion) -> float:
    """Likeness from which a later line is a continuation of an earlier one.

    One that names a thing of the earlier need not be like the question.
    """
    one, other, asked = newer.matter, older.matter, question.matter
    one_script = is_han(newer.hit.node.text) == is_han(older.hit.node.text)
    apart = one_script and bool(asked.topics and one.topics) and asked.topics.isdisjoint(one.topics)
    about = newer.like >= _ABOUT * older.like and (question.now or older.like >= _ABOUT * newer.like)
    if not one_script and one.changes and asked.topics & one.topics:
        return _TRANSLATED
    if not _names_what(newer, older, question):
        if one_script and asked.wants and not one.changes:
            return _NEVER  # another amount or time: "seventeen are left" is not of the money that is asked for
        return (_APART if apart else _CHANGED if one.changes else _CONTINUED) if about else _NEVER
    if apart and not one.changes:
        return _APART
    missed = asked.things & other.things - one.things
    if missed and not about and one_script:
        return _APART
    return _CHANGED_NAMED if one.changes else _NAMED


def _names_what(newer: RatedLine, older: RatedLine, question: LineQuestion) -> bool:
    """Whether it names a thing or a relative that the earlier line names, and the question does not."""
    asked = question.terms | question.matter.things
    if question.matter.wants:  # two prices have "euros" in common
        asked |= newer.matter.kinds
    if share(things_of(newer) - asked, things_of(older) - asked):
        return True
    text, known = newer.hit.node.text.lower(), older.hit.node.text.lower()
    names = {name.rpartition(".")[2] for name in older.matter.persons if "." in name}
    return any(name in text and name in known for name in names)


def _continues(newer: RatedLine, older: RatedLine, question: LineQuestion) -> bool:
    """Whether it may tell what became of what the earlier line tells: about the same people and one of several."""
    one, other, asked = newer.matter, older.matter, question.matter
    node = newer.hit.node
    if (
        "assistant" in (node.source, node.speaker)
        or node.at <= older.hit.node.at
        or not one.holds
        or one.past
        or supposes(node.text)
    ):
        return False
    if not goes_on_about(newer, older):
        return False
    if is_own_of_another(newer, older) or is_of_another_way(one, other, asked):
        return False
    if is_of_another_kind(newer, older, asked):
        return False
    return gives_as_much(one, other, asked)


def goes_on_about(newer: RatedLine, older: RatedLine) -> bool:
    """Whether it is about the people of the earlier line, by their relation or by the names that the earlier gives."""
    one, other = newer.matter, older.matter
    text, known = newer.hit.node.text.lower(), older.hit.node.text.lower()
    named = sorted((name for name in one.persons - {"me"} if "." not in name), key=text.find)
    if are_same(one, other):
        return all(name in known for name in named) or newer.foreign <= older.foreign
    if relatives(one):
        return False
    names = {name.rpartition(".")[2] for name in other.persons if name != "me"}
    names = {name for name in names if name in text and name in known}
    if named:
        first = text.find(named[0])
        return named[0] in known or any(text.find(name) < first for name in names)
    return bool(names) or ("me" not in one.persons and share(values(newer), values(older)))
