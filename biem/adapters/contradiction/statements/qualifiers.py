"""Whether a newer statement is about a thing that the older does not name: the rent of the car, after that of a flat.

A word of a class is no word of the core, so it does not tell two things apart where it qualifies another one: "car
insurance", 公司车位. Here the qualifiers of what both name are compared.
"""

import re
from collections.abc import Iterator

from biem.adapters.contradiction.lexicon.relatives import KIN
from biem.adapters.contradiction.statements.core import Core
from biem.adapters.contradiction.statements.likeness import HAN, are_across, known

_OWNING = frozenset(("car", "employer", "school", "job", "sport", "run", "trip", "birthday", "home"))
"""Classes with nouns that qualify other things."""
_WORK = frozenset(("employer", "job"))
_OF_WORK = re.compile(r"(?:salar|wage|pay|shift|boss|commut|colleague)|薪|班|工资|奖金|老板|同事", re.IGNORECASE)
"""Things that one has at work, whose place is no other thing."""
_NOUN = re.compile(r"(?!(?:own|the|for|you|and)\b)[A-Za-z]{3,}(?<!ed)\b|公司|单位|学校|新?车库?")
_BEGINS = re.compile(
    r"(?:^|[,;.:!?—–] ?|[\u4e00-\u9fff] ?"
    r"|\b(?:the|my|our|his|her|their|an?|for|of|in|at|on|and|but|new|[a-z]+['’]s) )$",
    re.IGNORECASE,
)
"""Before the first word of a noun phrase."""
_JOINT = re.compile(r"(?:['’]s?)? (?:(?:new|old|current|main) )?")
"""Between a word and the noun that it qualifies."""
_OF = re.compile(r" (?:of|for|at|in|on) (?:(?:the|my|our|an?) )?(?:(?:new|old|current|main) )?$", re.IGNORECASE)
"""Between a thing and what it belongs to."""
_LATE = re.compile(r"\b(?:early|late|small|big|spare|final) $", re.IGNORECASE)
"""Adjectives that are no words of the core, and distinguish things of a kind: the late fee."""
_ACTS = re.compile(r"[把给让被我你他她改换调变转涨降搬，。！？；,.!?;]")
"""After a Chinese noun that does not qualify what follows: 公司把房租…, or one of another clause."""
_COMPOUND = 2
"""Minimum characters before a Chinese word that make it the name of another thing: 学校食堂."""
_OWN = re.compile("[我家房屋住每月周年新]")
_SIDES = frozenset(("#maternal", "#paternal"))
_SIDED = frozenset(("grandmother", "grandfather", "uncle", "aunt", "grandson", "granddaughter"))
"""Relatives of whom most people have several, distinguished in Chinese by the side of the family."""


def are_qualified_otherwise(old: Core, new: Core) -> bool:
    """Whether the newer says to which thing it belongs what both name, and the older does not name that thing."""
    return any(_is_qualified(old, new, start, end) for start, end in _heads(old, new))


def may_be_other_relatives(old: Core, new: Core) -> bool:
    """Whether only one of two languages names the side of the family: "my grandmother", 我外婆."""
    if not are_across(old, new) or old.which & _SIDES == new.which & _SIDES:
        return False
    return any(KIN.get(person.partition(".")[2]) in _SIDED for person in old.persons | new.persons)


def _heads(old: Core, new: Core) -> Iterator[tuple[int, int]]:
    """Where the newer names what the older does: words, and words of the same class."""
    shared = [(piece.start, piece.end) for piece in new.words if known(piece, old, new)]
    yield from shared
    if new.words and not shared:
        return
    for name, start in new.places:
        if name in old.classes:
            word = _NOUN.match(new.text, start)
            yield start, word.end() if word else start + 1


def _is_qualified(old: Core, new: Core, start: int, end: int) -> bool:
    """Whether the thing at this place of the newer has a qualifier that the older lacks."""
    text, before = new.text, new.text[:start]
    late = _LATE.search(before)
    if late is not None and _BEGINS.search(before, 0, late.start()) and late.group().lower() not in old.text.lower():
        return True
    if any(_is_compound_of(one.stem, text[start:end], old.text) for one in old.words):
        return True
    for name, place in new.places:
        noun = _NOUN.match(text, place)
        if name not in _OWNING or noun is None or _is_of_old(name, noun.group(), old):
            continue
        if name in _WORK and _OF_WORK.match(text, start):
            continue
        if HAN.match(noun.group()):
            if noun.end() <= start and _ACTS.search(text, noun.end(), start) is None:
                return True
        elif (_JOINT.fullmatch(text, noun.end(), start) and _BEGINS.search(text, 0, place)) or _OF.fullmatch(
            text, end, place
        ):
            return True
    return False


def _is_of_old(name: str, noun: str, old: Core) -> bool:
    """Whether the older names it, too; the home is that of a thing of which the older says nothing else."""
    if name in old.classes or noun.lower() in old.text.lower():
        return True
    return name == "home" and old.classes.isdisjoint(_OWNING)


def _is_compound_of(word: str, longer: str, older: str) -> bool:
    """Whether a Chinese word ends with a word of the older text, and begins with one that this lacks."""
    first = longer.removesuffix(word)
    if len(first) < _COMPOUND or first == longer or not HAN.match(first):
        return False
    return first not in older and _OWN.search(first) is None
