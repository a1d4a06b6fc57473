"""Whether two lines of a block are about the same people and the same one of several things."""

import re
from collections.abc import Sequence

from biem.domain.conflict import Matter
from biem.domain.text import is_han
from biem.engine.context.lines import RatedLine
from biem.engine.context.persons import PETS

_A_LITTLE = 0.01
_BEGINNING = 4
"""Characters of an index term that every form of its word begins with."""
_ANOTHER = frozenset(("other", "另"))
_UNIT = re.compile(r"\d\s?([a-z]{1,7}\b|[\u4e00-\u9fff]{1,2})")
"""What follows a number in small letters, or in Chinese: 1840 pounds, 20个人."""


def things_of(line: RatedLine) -> frozenset[str]:
    """Its things without units of its numbers; in Chinese also names in Latin letters, all words of an English text."""
    things, text = line.matter.things, line.hit.node.text
    if is_han(text):
        things = things.union(filter(str.isalpha, filter(str.isascii, line.terms)))
    units = _UNIT.findall(text)
    return (
        frozenset(thing for thing in things if not any(unit.startswith(thing) for unit in units)) if units else things
    )


def is_of_another_way(one: Matter, other: Matter, asked: Matter) -> bool:
    """Whether it is one of several that is not asked for: the second, the way back, my other aunt.

    "The door" may be the front one.
    """
    left_out = bool(one.which) and not asked.which & other.which <= one.which
    further = one.which - other.which - asked.which
    return left_out or "return" in further or (not further.isdisjoint(_ANOTHER) and bool(relatives(one)))


def is_of_another_kind(newer: RatedLine, older: RatedLine, asked: Matter) -> bool:
    """Whether it lacks the kind of thing in question that the older line has, and names another: the rent, the fee.

    Kinds of texts in different scripts cannot be compared.
    """
    if is_han(newer.hit.node.text) != is_han(older.hit.node.text):
        return False
    one, other = newer.matter.kinds, older.matter.kinds
    return bool(asked.kinds & other - one) and bool(one - other - asked.kinds)


def is_own_of_another(newer: RatedLine, older: RatedLine) -> bool:
    """Whether the speakers differ and one speaks of himself or herself: Daniel's home is not Priya's."""
    one, two = newer.hit.node.speaker, older.hit.node.speaker
    return bool(one and two and one != two) and "me" in newer.matter.persons | older.matter.persons


def gives_as_much(newer: Matter, older: Matter, asked: Matter) -> bool:
    """Whether the newer has a value of the requested kind if the older has one."""
    return asked.wants & older.gives <= newer.gives


def relatives(matter: Matter) -> frozenset[str]:
    """Persons named by a relation (`me.mother`), and those distinguished by their origin; pets are things."""
    return frozenset(name for name in matter.persons if "." in name and name.rpartition(".")[2] not in PETS)


def _without(relatives: frozenset[str], things: frozenset[str]) -> frozenset[str]:
    """Without those that the other text has as things: 我养的狗 is "a dog"."""
    return frozenset(name for name in relatives if name.rpartition(".")[2] not in things)


def are_same(one: Matter, other: Matter) -> bool:
    """Whether they name the same relatives, or one calls a relative of the other by name alone."""
    left, right = relatives(one), relatives(other)
    if left == right:  # "I have a new boss" has a boss as a thing, too
        return True
    left, right = _without(left, other.things), _without(right, one.things)
    if left == right or (left & right and (left <= right or right <= left)):  # my uncle Tom, and my uncle
        return True
    named, bare = (left, other) if not right else (right, one)
    return not (left and right) and not bare.persons.isdisjoint(name.rpartition(".")[2] for name in named)


def likeness(line: RatedLine, other: RatedLine) -> float:
    """How alike two lines are, 0 to 1; 0 if little, or if they have no vectors."""
    return line.hit.alike.get(other.hit.node.id, 0.0)


def closest_before(newer: RatedLine, lines: Sequence[RatedLine]) -> float:
    """The likeness of a line to the most alike of the earlier lines."""
    earlier = (line for line in lines if line.hit.node.at < newer.hit.node.at)
    return max((likeness(newer, line) for line in earlier), default=0.0)


def lift(newer: RatedLine, older: RatedLine) -> None:
    """Make the newer line worth a little more than the older, unless it is already."""
    if newer.worth < older.worth + _A_LITTLE:
        newer.worth = older.worth + _A_LITTLE
