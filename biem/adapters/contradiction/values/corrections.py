"""Corrections without a subject of their own, said right after what they correct."""

import re
from collections.abc import Sequence

from biem.adapters.contradiction.statements.core import Core, Piece, stems
from biem.adapters.contradiction.statements.former import former_of
from biem.adapters.contradiction.statements.likeness import HAN
from biem.adapters.contradiction.statements.number_kinds import UNIT, by_kind
from biem.adapters.contradiction.values.stated_values import LONGEST_VALUE, are_one_value, definite_nouns, is_measured

_SHORT = 8
"""Maximum words of a correction without a subject."""
_NEGATED = re.compile(r"\bnot\b|不是", re.IGNORECASE)
_STATES = re.compile(
    r"\b(?:I|we|you)(?:['’](?:m|ve|re|ll)| (?:am|are|have|had|was|were|do|did|can|will|got|get))\b(?! (?:mean|meant))",
    re.IGNORECASE,
)
"""A statement with a subject: "I'm back on coffee" corrects nothing that names no drink."""
_SLIPPED = re.compile(
    r"撤回|误触|发了个|[按碰点]到|\b(?:sent|posted|pressed) (?:that |it )?(?:by mistake|by accident|too early)\b",
    re.IGNORECASE,
)
"""What was sent or touched by mistake is no value."""
_BOUND = re.compile("[，。；：,.;:!？?！]")
_DATE = re.compile(r"[\d-]+$")
_DONE_ZH = re.compile("((?![成到为错反混])[\u4e00-\u9fff])了$")
_DAY = re.compile(r"(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th|[号日])")


def corrects_what_was_just_said(old: Core, new: Core) -> bool:
    """Whether the newer, said right after the older, corrects its value and names no subject."""
    return _corrects(old, new) and _is_brief(new) and _replies(old, new) and not _names_another(old, new)


def _corrects(old: Core, new: Core) -> bool:
    """Whether it corrects the older, which it does not name: what it denies and whose attribute it tells are the same.

    "Not 9 April, June 6" corrects a date; "I can't eat walnuts, I have an allergy" and "correction: I live in Graz"
    correct nothing that was said about a colleague's sport.
    """
    if not new.corrects or _SLIPPED.search(new.text) or (new.classes and new.classes.isdisjoint(old.classes)):
        return False
    if _STATES.search(new.text) and not new.numbers and old.classes.isdisjoint(new.classes):
        return False
    return _NEGATED.search(new.text) is None or bool(former_of(old, new)[0])


def _is_brief(new: Core) -> bool:
    return not new.persons and len(new.words) + len(new.numbers) <= _SHORT


def _replies(old: Core, new: Core) -> bool:
    """Whether a correction without a subject has a value of the same kind as the older."""
    former, gained = former_of(old, new)
    fresh = [one for one in new.numbers if one not in former]
    if fresh:
        done = (_DONE_ZH.search(new.text[: piece.start]) for piece in fresh)
        if any(verb is not None and verb[1] not in old.text for verb in done):
            return False  # "I miscounted, and took 20 along" is no correction of an age
        one, other = by_kind(old.numbers), by_kind(fresh)
        if len(fresh) == len(old.numbers) > 1:  # "house 3, flat 520": the house is the same
            one, other = by_kind(_only(old.numbers, fresh)), by_kind(_only(fresh, old.numbers))
        if "" in other and "" not in one and any(map(_DATE.match, one.get("date", ()))):
            return not gained and all(_DAY.match(new.text[piece.start : piece.end + 2]) for piece in fresh)
        if other.keys() == {""} and len(one) == 1 and not one.keys() & {"date", "time", "weekday", "month"}:
            return not gained and set(other[""]).isdisjoint(UNIT.sub("", value) for value in next(iter(one.values())))
        return not gained and any(kind in one and one[kind].isdisjoint(values) for kind, values in other.items())
    return bool(gained) and _is_one(new.text, gained) and not is_measured(old) and bool(old.words)


def _is_one(text: str, gained: Sequence[Piece]) -> bool:
    """Whether these words are one value; Chinese ones may have words of grammar between them."""
    between = text[gained[0].end : gained[-1].start]
    if HAN.search(text) and len(gained) <= LONGEST_VALUE and _BOUND.search(between) is None:
        return True
    return are_one_value(text, list(gained))


def _only(numbers: Sequence[Piece], others: Sequence[Piece]) -> list[Piece]:
    """These numbers without those of the others."""
    known_too = {piece.stem for piece in others}
    return [piece for piece in numbers if piece.stem not in known_too]


def _names_another(old: Core, new: Core) -> bool:
    """Whether a correction names a thing that the older lacks, and tells how that is: "sorry, the exam is in June"."""
    return any(named.isdisjoint(stems(old.words)) for named in definite_nouns(new))
