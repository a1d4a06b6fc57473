"""Words, occasions and relatives that two statements share, in one language or across two."""

import re
from collections.abc import Sequence

from biem.adapters.analyzers.glossary import Glossary
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.relatives import KIN
from biem.adapters.contradiction.statements.core import Core, Piece

_GLOSSARY = Glossary()
_WHICH = {
    "去程": "outbound", "返程": "return", "回程": "return", "inbound": "return", "另": "other",
    "第一": "first", "第二": "second", "第三": "third",
}  # fmt: skip
"""Words that distinguish one of several, in English."""
_COMPARED = frozenset(_WHICH.values())
"""The words that have the same sense in both; others, as "daily", are often left out."""
_RANKED = re.compile("^(?:older|younger)")
"""Before a relation, as `Subjects` names it."""
_RANKS = frozenset(("#elder", "#younger", "#middle", "#maternal", "#paternal"))
_PLACE = 2
"""Minimum characters of a Chinese value that is searched within another."""
HAN = re.compile("[\u4e00-\u9fff]")


def share_characters(one: str, other: str) -> bool:
    """Whether two characters in a row, without a blank, are in both texts."""
    pairs = (one[n : n + _PLACE] for n in range(len(one) - 1))
    return any(pair in other for pair in pairs if not any(map(str.isspace, pair)))


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
    return (HAN.search(old.text) is None) != (HAN.search(new.text) is None)


def are_names(pieces: Sequence[Piece]) -> bool:
    """Whether the dictionary lacks one of these words, or none of them is Chinese."""
    chinese = [one.stem for one in pieces if not one.stem.isascii()]
    return not chinese or any(not _GLOSSARY.english(stem) for stem in chinese)


def are_of_two(old: Core, new: Core) -> bool:
    """Whether what distinguishes one of several is not the same.

    In two languages ways, ordinals and labels are compared.
    """
    if not are_across(old, new):
        return old.which != new.which
    one, other = ({_WHICH.get(word, word) for word in core.which} for core in (old, new))
    rest = [{word for word in side if word in _COMPARED or word[0] == "#"} - _RANKS for side in (one, other)]
    return rest[0] != rest[1]


def are_of_other_occasions(old: Core, new: Core) -> bool:
    """Whether they name different occasions: a trip at Christmas, a trip at Easter."""
    one, other = ({found.group().lower() for found in marks.OCCASIONS.finditer(side.text)} for side in (old, new))
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
    if piece.stem in exact or (len(piece.stem) >= _PLACE and HAN.match(piece.stem) and piece.stem in old.text):
        return True
    apart = [one for one in old.words if one.stem not in {other.stem for other in new.words}]
    return within(piece, apart)
