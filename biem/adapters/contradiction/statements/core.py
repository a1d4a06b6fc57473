"""The core of a statement: no persons, words of correction or of the attribute, and fillers; see `value_updates`."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, or a number in canonical form, and its position."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Core:
    """The core of a statement."""

    text: str
    persons: frozenset[str]
    names: frozenset[str]
    words: tuple[Piece, ...]
    numbers: tuple[Piece, ...]
    classes: frozenset[str]
    places: tuple[tuple[str, int], ...]
    """Positions of words of each class."""
    corrects: bool
    changes: bool
    holds: bool
    """It states a fact in the speaker's own words."""
    open: bool
    """It states no fact: a question, hypothesis, plan, wish, dream or joke."""
    adds: bool
    """It adds to known facts, or concerns only some occasions."""
    days: bool
    """It concerns only some days of the week."""
    which: frozenset[str]
    """Words that distinguish one of several."""
    of_old: bool
    """It mentions a value that was already replaced."""
    past: bool
    """It states what used to be so."""
    denies: bool
    verbs: frozenset[str]
    """Chinese verbs of one character."""
    told: bool
    """It reports a single event, which cannot end."""

    @property
    def marked(self) -> bool:
        """Whether it marks a correction or change."""
        return (self.corrects or self.changes) and self.holds and not self.adds


def blanked(text: str, taken: list[tuple[int, int]]) -> str:
    """The text with these spans replaced by spaces."""
    out, at = [], 0
    for start, end in sorted(taken):
        if end > at:
            out += [text[at : max(at, start)], " " * (end - max(at, start))]
            at = end
    return "".join((*out, text[at:]))


def stems(pieces: Sequence[Piece]) -> set[str]:
    return {one.stem for one in pieces}
