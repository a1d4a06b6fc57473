"""Parts of a newer statement that may say something of an older one on their own."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.statements.core import Core, stems
from biem.adapters.contradiction.statements.former import former_of
from biem.adapters.contradiction.statements.likeness import HAN, known
from biem.adapters.contradiction.statements.number_kinds import by_kind, kind_of

_MINE = re.compile(r"\b(?:my|our)\b|我|[,，]新", re.IGNORECASE)
_I_CHANGED = re.compile(r"我们?(?:刚|又|已经|都|最近|终于)?[改换变搬转辞调]")
_TOPIC = re.compile("[\u4e00-\u9fff]{0,8}?[我咱]们?(?!的)")
_BEFELL = re.compile("[\u4e00-\u9fff]{2,4}[变调改涨降错]了?[，,]$")
"""Says of a thing only that it changed."""
_PLACED = re.compile(
    r"\b(?:at|in|on|for|of|with|by)\s(?:(?:the|my|our|his|her|their|your)\b|(?-i:[A-Z]))|\b(?:but|not|another|other)\b|[在的和跟]|但|不过|另",
    re.IGNORECASE,
)


def parts_of(old: Core, new: Core) -> Iterator[Core]:
    """The newer statement, then without additional parts, then each part that ends a former value."""
    yield new
    cuts = [0, *(found.end() for found in marks.BOUNDS.finditer(new.text)), len(new.text)]
    spans = [(one, other) for one, other in pairwise(cuts) if new.text[one:other].strip()]
    if len(spans) < 2:
        return
    former = {piece.start for piece in former_of(old, new)[0]}
    kinds = by_kind(old.numbers).keys()
    kept: list[tuple[int, int]] = []
    for one, other in spans:
        pieces = [piece for piece in new.words if one <= piece.start < other]
        shares = any(known(piece, old, new) for piece in pieces)
        speaks = any(one <= piece.start < other and kind_of(piece.stem) in kinds for piece in new.numbers)
        about = any(one <= start < other and name in old.classes for name, start in new.places)
        if speaks or about or (shares and not kept) or (pieces and kept and marks.SPECIFIES.match(new.text[one:other])):
            kept.append((one, other))
        elif pieces and not kept and not former and not announces(old, new, other):
            kept.append((one, other))  # it may name the subject of the rest
    if 0 < len(kept) < len(spans):
        yield _only(new, kept)
    first = [piece for piece in new.words if kept and kept[0][0] <= piece.start < kept[0][1]]
    if len(kept) > 1 and first and all(known(piece, old, new) for piece in first):
        yield _only(new, kept[1:])  # "Adobe just called", of an interview there
    for one, other in spans:
        if any(one <= start < other for start in former) or marks.ROLE.search(new.text[one:other]):
            yield _only(new, [(one, other)])


def announces(old: Core, new: Core, end: int) -> bool:
    """Whether a part up to `end` only says that or why something changed, and the rest names the subject."""
    if _PLACED.search(new.text[:end]):
        return False
    rest = {piece.stem for piece in new.words if piece.start >= end}
    if old.words and stems(old.words) <= rest and not HAN.search(new.text):
        return True  # in Chinese, the topic of the first part is also the subject of the next …
    if _TOPIC.match(new.text[end:]):
        return True  # … unless that names its own
    if _BEFELL.match(new.text[:end]) and any(new.text[end:].startswith(one.stem) for one in old.words):
        return True
    if _I_CHANGED.match(new.text):
        return True
    return marks.CHANGES.search(new.text[:end]) is not None and _MINE.search(new.text[end:]) is not None


def _only(core: Core, spans: list[tuple[int, int]]) -> Core:
    """The core, reduced to these spans."""

    def inside(start: int) -> bool:
        return any(one <= start < other for one, other in spans)

    return replace(
        core,
        words=tuple(piece for piece in core.words if inside(piece.start)),
        numbers=tuple(piece for piece in core.numbers if inside(piece.start)),
        classes=frozenset(name for name, start in core.places if inside(start)),
    )
