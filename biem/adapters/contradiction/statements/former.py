"""Words and numbers that a newer statement names as former."""

import re

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.statements.core import Core, Piece
from biem.adapters.contradiction.statements.likeness import known

_GOES_ON = 5
_BEFORE = 60
"""Characters read before a former value."""
_OF_ANOTHER = re.compile(r"(?<![我们咱])的$|\w['’]s\s$")
"""Before a thing of another owner."""


def former_of(old: Core, new: Core, *, any_word: bool = False) -> tuple[list[Piece], list[Piece]]:
    """Words and numbers that the newer names as former, and words that the older lacks.

    `any_word`: also words that the older lacks, as it may have them in another language.
    """
    former: list[Piece] = []
    gained: list[Piece] = []
    since = 0
    for piece in sorted((*new.words, *new.numbers), key=lambda piece: piece.start):
        follows = bool(former) and not re.search(r"[^\s\w]|\b(?:but|to|for)\b", new.text[former[-1].end : piece.start])
        before, after = new.text[max(0, piece.start - _BEFORE) : piece.start], new.text[piece.end : piece.end + _BEFORE]
        cued = (
            marks.FORMER_BEFORE.search(before) is not None
            or marks.FORMER_AFTER.match(after) is not None
            or any(left.search(before) and right.match(after) for left, right in marks.FORMER_BETWEEN)
            or marks.FORMER_SOMEWHERE.search(new.text[since : piece.start]) is not None
        )
        since = piece.end
        cued = cued and not (_OF_ANOTHER.search(before) and before[-_GOES_ON:] not in old.text)
        cued = cued and (marks.OWNS.match(after) is None or _so_named(piece, old, new))
        had = known(piece, old, new) or piece.stem in {one.stem for one in old.numbers}
        if (had or (any_word and piece in new.words)) and (cued or (follows and piece.start - former[-1].end <= 2)):
            former.append(piece)
        elif not had and piece in new.words:
            gained.append(piece)
        elif cued and piece in new.numbers:
            former.append(piece)
    return former, gained


def _so_named(piece: Piece, old: Core, new: Core) -> bool:
    """Whether the same word follows it in the older: "Leo's place"."""
    follows = new.text[piece.end : piece.end + _GOES_ON]
    return any(old.text[one.end : one.end + _GOES_ON] == follows for one in old.words if one.stem == piece.stem)
