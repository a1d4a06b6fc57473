"""Parts of a newer statement, and its words that the older one contains or that it names as former."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from biem.adapters.analyzers.glossary import Glossary
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.relatives import KIN
from biem.adapters.contradiction.statements.core_reader import Core, Piece
from biem.adapters.contradiction.statements.number_kinds import unit

_GLOSSARY = Glossary()
_WHICH = {
    "去程": "outbound", "返程": "return", "回程": "return", "inbound": "return", "另": "other",
    "第一": "first", "第二": "second", "第三": "third",
}  # fmt: skip
"""Words that distinguish one of several, in English."""
_COMPARED = frozenset(_WHICH.values())
"""The words that have the same sense in both; others, as "daily", are often left out."""
_OCCASIONS = {
    "春节": "spring", "新年": "new year", "元旦": "new year", "暑假": "summer", "寒假": "winter", "圣诞": "christmas",
    "周末": "weekend", "蜜月": "honeymoon", "纪念日": "anniversary", "婚礼": "wedding",
}  # fmt: skip
"""Occasions in English."""
_RANKED = re.compile("^(?:older|younger)")
"""Before a relation, as `Subjects` names it."""
_RANKS = frozenset(("#elder", "#younger", "#middle", "#maternal", "#paternal"))
_PLACE = 2
"""Minimum characters of a Chinese value that is searched within another."""
_GOES_ON = 5
_BEFORE = 60
"""Characters read before a former value."""
_MINE = re.compile(r"\b(?:my|our)\b|我|[,，]新", re.IGNORECASE)
_I_CHANGED = re.compile(r"我们?(?:刚|又|已经|都|最近|终于)?[改换变搬转辞调]")
_TOPIC = re.compile("[\u4e00-\u9fff]{0,8}?[我咱]们?(?!的)")
_BEFELL = re.compile("[\u4e00-\u9fff]{2,4}[变调改涨降错]了?[，,]$")
"""Says of a thing only that it changed."""
_HAN = re.compile("[\u4e00-\u9fff]")
_OF_ANOTHER = re.compile(r"(?<![我们咱])的$|\w['’]s\s$")
"""Before a thing of another owner."""
_PLACED = re.compile(
    r"\b(?:at|in|on|for|of|with|by)\s(?:(?:the|my|our|his|her|their|your)\b|(?-i:[A-Z]))|\b(?:but|not|another|other)\b|[在的和跟]|但|不过|另",
    re.IGNORECASE,
)


_UNIT = re.compile(r"[^\d.]")
_NO_UNITS = frozenset(("date", "time", "weekday", "month", "code", "floor", "grade", "row", "year"))
"""Kinds of numbers that have no unit to be left out."""
Kinds = dict[str, set[str]]
"""Numbers by their kind."""


_READ_BY = 12
_BY = re.compile(
    r"\bby (?:about |around |nearly |almost )?[$€£¥]?$"
    r"|[涨降加减多少省贵宜长短重轻瘦胖早晚迟前快慢高低升跌缩]了"
    r"(?:快|近|约|大概|差不多|整整)?[$€£¥]?$",
    re.IGNORECASE,
)
"""Before a number that is a difference."""


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
        speaks = any(one <= piece.start < other and _kind(piece.stem) in kinds for piece in new.numbers)
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
    if old.words and stems(old.words) <= rest and not _HAN.search(new.text):
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


def _kind(number: str) -> str:
    kind = number.partition(":")[0]
    return kind if kind in ("weekday", "code", "month", "floor", "grade", "row", "year") else unit(number)


def is_difference(core: Core, number: Piece) -> bool:
    """Whether a number tells by how much a value changed, and not the value: "by 400", 涨了四百."""
    return _BY.search(core.text, max(0, number.start - _READ_BY), number.start) is not None


def by_kind(numbers: Sequence[Piece]) -> dict[str, set[str]]:
    kinds: dict[str, set[str]] = {}
    for one in numbers:
        kinds.setdefault(_kind(one.stem), set()).add(one.stem)
    return kinds


def comparable(one: Kinds, other: Kinds) -> tuple[Kinds, Kinds]:
    """The same numbers; where only one has a unit, both without: 61 pounds, up to 72."""
    kinds = one.keys() | other.keys()
    if len(one) != 1 or len(other) != 1 or len(kinds) != 2 or not kinds.isdisjoint(_NO_UNITS) or "" not in kinds:
        return one, other
    plain = ({"": {_UNIT.sub("", value) for values in side.values() for value in values}} for side in (one, other))
    return next(plain), next(plain)


def stems(pieces: Sequence[Piece]) -> set[str]:
    return {one.stem for one in pieces}


def same(one: Piece, other: Piece) -> bool:
    """Whether they are the same word; in Chinese, which has no word boundaries, also if one contains the other."""
    if one.stem == other.stem:
        return True
    if one.stem.isascii() != other.stem.isascii():
        return same_across(*sorted((one.stem, other.stem)))
    if one.stem.isascii() or min(len(one.stem), len(other.stem)) < _PLACE:
        return False
    return one.stem in other.stem or other.stem in one.stem


def same_across(english: str, chinese: str) -> bool:
    """Whether the Chinese word may mean the English one, of which the stem is given: `lili` of lily."""
    return any(
        one.startswith(english) or (one.endswith("y") and f"{one[:-1]}i".startswith(english))
        for one in _GLOSSARY.english(chinese)
    )


def are_across(old: Core, new: Core) -> bool:
    """Whether one of them is in Chinese and the other is not: names of the two cannot be compared."""
    return (_HAN.search(old.text) is None) != (_HAN.search(new.text) is None)


def are_names(pieces: Sequence[Piece]) -> bool:
    """Whether the dictionary lacks one of these words, or none of them is Chinese."""
    chinese = [one.stem for one in pieces if not one.stem.isascii()]
    return not chinese or any(not _GLOSSARY.english(stem) for stem in chinese)


def are_of_two(old: Core, new: Core) -> bool:
    """Whether what distinguishes one of several is not the same.

    In two languages ways, ordinals and labels are compared, and ranks if both have one: "my sister" has none.
    """
    if not are_across(old, new):
        return old.which != new.which
    one, other = ({_WHICH.get(word, word) for word in core.which} for core in (old, new))
    ranks = [{word for word in side if word in _RANKS} for side in (one, other)]
    rest = [{word for word in side if word in _COMPARED or word[0] == "#"} - _RANKS for side in (one, other)]
    return rest[0] != rest[1] or (all(ranks) and ranks[0].isdisjoint(ranks[1]))


def are_of_other_occasions(old: Core, new: Core) -> bool:
    """Whether they name different occasions. 春节 and the Spring Festival are one."""
    one, other = ({found.group().lower() for found in marks.OCCASIONS.finditer(side.text)} for side in (old, new))
    if are_across(old, new):
        one, other = ({_OCCASIONS.get(name, name) for name in side} for side in (one, other))
        return bool(one and other) and one.isdisjoint(other)
    return bool(one and other and one != other)


def relatives_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether they are the same relatives in two languages: `me.daughter`, `me.女儿`."""
    if len(one) != len(other) or len(one) != 1:
        return False
    english, chinese = sorted((*one, *other))
    (owner, _, kin), (other_owner, _, other_kin) = english.partition("."), chinese.partition(".")
    if owner != other_owner or not kin.isascii() or other_kin.isascii():
        return False
    known = KIN.get(_RANKED.sub("", kin))
    return known == KIN[other_kin] if known and other_kin in KIN else same_across(kin, other_kin)


def within(piece: Piece, pieces: Sequence[Piece]) -> bool:
    return any(same(piece, other) for other in pieces)


def known(piece: Piece, old: Core, new: Core) -> bool:
    """Whether the older contains this word of the newer; a partial match counts only if the shared part is no word of
    both: two bands are not equal because 乐队 is in both names."""
    exact = {one.stem for one in old.words}
    if piece.stem in exact or (len(piece.stem) >= _PLACE and _HAN.match(piece.stem) and piece.stem in old.text):
        return True
    apart = [one for one in old.words if one.stem not in {other.stem for other in new.words}]
    return within(piece, apart)


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
