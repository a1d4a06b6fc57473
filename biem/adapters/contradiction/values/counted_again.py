"""Another number of the same thing: 预算只有28万了, 又给小熊量了一次，一米九八."""

import re

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon import takeovers as words
from biem.adapters.contradiction.statements.core import Core, Piece
from biem.adapters.contradiction.statements.number_kinds import by_kind, is_difference, kind_of
from biem.adapters.contradiction.statements.stretches import Common, clause_at, is_of_another, names_another
from biem.adapters.contradiction.values.other_quantities import is_another_quantity

_TO = re.compile(r"\s?[到至~～-]\s?(?:周|星期|礼拜|\d)")
_FROM = re.compile(r"(?:(?:周|星期|礼拜)[一二三四五六日天]|\d)\s?[到至~～-]\s?$")
"""After the first and before the last of a range."""


def counted_again(old: Core, new: Core, common: tuple[Common, ...]) -> int | None:
    """Where the older has the number of which the newer tells how it is now; None if it does not.

    The thing is named in the clause of the new number, or leads the text before it; no other thing is.
    """
    things = tuple(one for one in common if not is_of_another(one, old.text, new.text))
    numbers = [one for one in old.numbers if words.LABEL.search(old.text[: one.start]) is None]
    for number in () if words.BESIDES.search(new.text) or words.ONLY_ONCE.search(new.text) else new.numbers:
        start, end = clause_at(new.text, number.start)
        before, earlier = new.text[start : number.start], new.text[:start]
        told = words.RECKONED.search(before)
        if not (told or words.TOLD_BEFORE.search(earlier)) or is_difference(new, number):
            continue
        if any(one.search(new.text[start:end]) for one in (words.NOT_LASTING, words.ADDED)) or marks.DENIES.search(
            before
        ):
            continue
        same = [one for one in numbers if _kind(old.text, one) == _kind(new.text, number)]
        before = before[: told.start()] if told else before
        if len(same) != 1 or same[0].stem == number.stem or names_another(before, old.text, things):
            continue
        if _is_in_range(new.text, number) or is_another_quantity(old, new, (kind_of(number.stem),)):
            continue
        if any(start <= one.new < number.start for one in things) or _is_led(new.text, old.text, start, things):
            return same[0].start
    return None


def _is_in_range(text: str, number: Piece) -> bool:
    """Whether it is the first or last of several: 周一到周四."""
    return _TO.match(text, number.end) is not None or _FROM.search(text, 0, number.start) is not None


def _is_led(text: str, other: str, start: int, things: tuple[Common, ...]) -> bool:
    """Whether the last clause before this place that names a common thing begins with it."""
    led = max((one.new for one in things if one.new < start), default=None)
    return led is not None and not names_another(text[clause_at(text, led)[0] : led], other, things)


def _kind(text: str, number: Piece) -> tuple[str, str]:
    """The kind of a number, and the word that counts it: 个, 台."""
    said = words.FIGURES.sub("", text[number.start : number.end]).strip()
    counted = said or text[number.end : number.end + 2].strip()[:1]
    return next(iter(by_kind([number]))), counted if counted in words.COUNTERS else ""
