"""Whether what changed is the thing of the older statement: the same one, its end, or another one beside it."""

import re

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.statements.core import Core, Piece
from biem.adapters.contradiction.statements.likeness import within
from biem.adapters.contradiction.values.stated_values import definite_nouns, is_told_after

_TURNS = re.compile(r"[,;:.!?，；：。！？、–—]|\b(?:but|instead|since|because|and)\b|[改换而是]", re.IGNORECASE)
"""After a denial: the rest is no longer denied."""
INDEFINITE = re.compile(
    r"\ban? new\b|\b(?:have|has|got|adopted)\s(?:an?|another)\b|[养买领]了?一[只个条辆]", re.IGNORECASE
)
_SPOKEN_OF = re.compile(r"\b(?:sport|diet|strictly)\b|运动|饮食", re.IGNORECASE)
_THERE = re.compile(r"(?:\b(?:in|at|on)(?: (?:a|the|my))?\s|在)$", re.IGNORECASE)
_NO_BEGINNING = frozenset("的了是在有我们他她它把从给和跟与个次")
"""Characters before a Chinese word that are not the beginning of a longer one."""
_DETERMINED = re.compile(
    r"^\s(?:(?:has|have|just|finally)\s){0,2}(?:[a-z]{3,}ed|put|set|cut|brought|raised)\s(?:my|our|the|his|her|their)\s+$|^把[我咱]?们?的?$",
    re.IGNORECASE,
)


def names_who_changed_it(old: Core, new: Core, gained: list[Piece]) -> bool:
    """Whether the added words only name who changed it: "the landlord put my rent up", 房东把我房租涨到."""
    known = {piece.stem for piece in old.words}
    shared = [piece for piece in new.words if piece.stem in known]
    if not shared or len({piece.stem for piece in shared}) < len(known):
        return False
    first = min(piece.start for piece in shared)
    last = max(piece.end for piece in gained)
    return last <= first and _DETERMINED.search(new.text[last:first]) is not None


def is_of_another_kind(piece: Piece, old: Core, new: Core) -> bool:
    """Whether the newer has only the end of a Chinese word, after another beginning: 房贷利率, 车贷利率; 前轮, 后轮."""
    if piece.stem.isascii():
        return False
    if (place := new.text.find(piece.stem)) >= 0:
        sides = old.text[max(0, piece.start - 1) : piece.start], new.text[max(0, place - 1) : place]
        return sides[0] != sides[1] and all(side >= "\u4e00" and side not in _NO_BEGINNING for side in sides)
    tail = next((piece.stem[n:] for n in range(1, len(piece.stem) - 1) if piece.stem[n:] in new.text), "")
    before = new.text[max(0, new.text.find(tail) - 1) : new.text.find(tail)] if tail else ""
    return before >= "\u4e00" and before not in _NO_BEGINNING


def is_exchanged(new: Core, shared: list[Piece], gained: list[Piece]) -> bool:
    """Whether the thing was exchanged and then the new one is named: "we changed our doctor, it's Dr. Amin"."""
    things = [piece for piece in new.words if within(piece, shared) and marks.EXCHANGED.search(new.text[: piece.start])]
    return bool(things) and is_told_after(new, things, gained)


def is_rest(old: Core, new: Core, left: list[Piece], gone: list[Piece], gained: list[Piece]) -> bool:
    """Whether the rest of the older is the thing whose value ended, or a part of a place that ended."""
    if gained and any({piece.stem for piece in left} <= named for named in definite_nouns(old)):
        return True
    ends = {piece.end for piece in gone}
    return "home" in old.classes & new.classes and all(piece.start in ends for piece in left)


def may_add(new: Core, gained: list[Piece], classes: frozenset[str]) -> bool:
    """Whether a change may leave the older valid: an additional cat, another dish, the place of the car."""
    if classes & {"diet", "sport"} and not (marks.STRONG.search(new.text) or _SPOKEN_OF.search(new.text)):
        return True
    if "name" in classes and INDEFINITE.search(new.text) and not re.search(r"\bnew\b", new.text, re.IGNORECASE):
        return True
    return "car" in classes and any(_THERE.search(new.text[: piece.start]) for piece in gained)


def is_denied(core: Core, piece: Piece) -> bool:
    """Whether the part of the sentence before this word denies it."""
    denials = (found.end() for found in marks.DENIES.finditer(core.text, 0, piece.start))
    return any(_TURNS.search(core.text[end : piece.start]) is None for end in denials)
