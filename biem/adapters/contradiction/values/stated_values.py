"""The value that a statement gives, as words of its core: whether it is one, a name, a measure or a former one."""

import re
from itertools import pairwise

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import SINGLE
from biem.adapters.contradiction.statements.core import Core, Piece
from biem.adapters.contradiction.statements.former import former_of
from biem.adapters.contradiction.statements.likeness import are_names, same
from biem.adapters.contradiction.statements.number_kinds import by_kind

LONGEST_VALUE = 4
"""Maximum words of a value."""
PLACES = frozenset(("employer", "school"))
_NAMED_APART = PLACES | {"home", "car"}
"""Attributes with one value, whose values have other names in other languages."""
_NAMED = re.compile(r"(?:\b(?:an?|the|my) [a-z]|[A-Z]|[\u4e00-\u9fff])$")
_NUMBERED = re.compile(
    r"\b(?!(?:is|are|was|at|to|of|on|in|now|about|up|only|just|for|by|the|than|from|until"
    r"|till|and|a|has|have|earn|pay|costs?)\b)(?P<noun>[A-Za-z]+) #?\d+ (?!now\b)[a-z]"
    r"|(?P<zh>[\u4e00-\u9fff]{2})\d+(?=[\u4e00-\u9fff])(?![了元块岁点月日号年])",
    re.IGNORECASE,
)
_HOME = re.compile(r"(?:home|house|flat|apartment) ", re.IGNORECASE)
_OF = re.compile(r"的|['’]s? ")
_CALLED = re.compile(r"(?:\b(?:called|named) |叫做?|取名|名为)[“\"《「]?$", re.IGNORECASE)
_JOINT = re.compile(r"[\s&·'’-]{0,3}(?:(?:of|the|and|de|van|von|的)\s)?")


def ends_name(old: Core, new: Core, left: list[Piece], classes: frozenset[str], shared: list[Piece]) -> bool:
    """Whether the newer names a former value and a new one, and these words of the older are a name in the other
    language, which cannot be compared with them: 从诺瓦跳槽到高草 after "I work for Novalux".
    """
    if not (classes & _NAMED_APART or ("favourite" in classes and shared)):
        return False
    former, gained = former_of(old, new, any_word=True)
    values = [piece for piece in gained if piece not in shared]
    return (
        bool(former and values)
        and are_names((*former, *left))
        and are_one_value(old.text, left)
        and are_one_value(new.text, values)
        and are_parted(new, former, values)
    )


def definite_nouns(core: Core) -> set[frozenset[str]]:
    """The definite noun: "dentist" in "my dentist is Dr. Pham"."""
    found = [*marks.DEFINITE.finditer(core.text), *marks.DEFINITE_ZH.finditer(core.text)]
    named = {
        frozenset(piece.stem for piece in core.words if one.start("np") <= piece.start < one.end("np")) for one in found
    }
    return named - {frozenset()}


def modifying(core: Core) -> set[str]:
    """Classes of which it has no value: a word that qualifies a noun (home wifi network), a weight without a number."""
    starts = {piece.start for piece in core.words if core.text[piece.start].islower()}
    homes = [_HOME.match(core.text, start) for name, start in core.places if name == "home"]
    found = {"home"} if homes and all(word is not None and word.end() in starts for word in homes) else set()
    return found if core.numbers else found | {"weight"}


def is_told_after(new: Core, former: list[Piece], gained: list[Piece]) -> bool:
    """Whether what is new comes in a later part than the former value."""
    end = max(piece.end for piece in former)
    return all(piece.start > end and marks.BOUNDS.search(new.text[end : piece.start]) for piece in gained)


def ends_with(core: Core, pieces: list[Piece]) -> bool:
    """Whether the last word is one of these."""
    return any(same(core.words[-1], piece) for piece in pieces)


def gives_name(core: Core, pieces: list[Piece]) -> bool:
    """Whether one of these words is the name that it gives: 项目叫灯塔, "a project called Beacon"."""
    return any(_CALLED.search(core.text, 0, piece.start) is not None for piece in pieces)


def is_named(new: Core, gained: list[Piece]) -> bool:
    """Whether the value names a person or thing: not "broken"."""
    return bool(gained) and _NAMED.search(new.text[: gained[0].start + 1]) is not None


def numbered_words(core: Core) -> set[str]:
    """Words followed by a number as their name."""
    return {(found["noun"] or found["zh"]).lower() for found in _NUMBERED.finditer(core.text)}


def are_parted(new: Core, former: list[Piece], gained: list[Piece]) -> bool:
    """Whether other words separate the former value and the new one."""
    first, last = former[0], former[-1]
    return all(
        piece.end <= first.start or marks.PARTED.search(new.text[last.end : piece.start]) is not None
        for piece in gained
    )


def are_owned(new: Core, shared: list[Piece], gained: list[Piece]) -> bool:
    """Whether the newer names these words only as the owners of something new: 太极拳的师傅."""
    starts = {piece.start for piece in gained}
    owners = [piece for piece in new.words if any(same(piece, one) for one in shared)]
    return bool(owners) and all(
        (found := _OF.match(new.text, piece.end)) is not None and found.end() in starts for piece in owners
    )


def are_one_value(text: str, pieces: list[Piece]) -> bool:
    """Whether these are adjacent words of one value."""
    ordered = sorted(pieces, key=lambda piece: piece.start)
    between = (text[one.end : other.start] for one, other in pairwise(ordered))
    return len(pieces) <= LONGEST_VALUE and all(_JOINT.fullmatch(gap) for gap in between)


def is_measured(core: Core) -> bool:
    """Whether its value is a number: not the floor, or the day of the week."""
    return bool(by_kind(core.numbers).keys() - {"", "weekday", "floor"})


def has_several(old: Core, new: Core) -> bool:
    """Whether the older mentions more than one attribute."""
    return len(old.classes & SINGLE) > 1 and not old.classes & SINGLE <= new.classes
