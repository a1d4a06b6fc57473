"""Pairs of messages: innocent ones, after which both hold, and updates, after which the first holds no longer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Literal

from benchmarks.lives.facts import Key, Role
from benchmarks.lives.grammar import LANGS, Lang, Split, Value, chatter, draw, fill, kinds, possessor, templates, words
from benchmarks.lives.schedule import START

Label = Literal["innocent", "update"]
_NUMBERS = {"weight": ("kg", "公斤"), "distance": ("km", "公里"), "amount": ("euros", "欧元"), "code": ("", "")}
_TWO = frozenset(("employer", "job"))
"""What one sentence may tell together: no pair of two matters."""
_AT_ONCE = ("brief", "small talk", "right after", "right after, of another")
"""Sorts whose second message follows the first within a minute."""
_SINGLE = ("birthday", "home", "employer", "job", "sport", "diet", "car")
"""Kinds of facts that other people have, too."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two messages to one memory, and whether the second replaces the first."""

    lang: Lang
    sort: str
    kind: str
    label: Label
    older: str
    newer: str
    apart: timedelta
    role: Role = "user"
    """Who says the second; the first is the user's."""
    answer: str = ""
    """What the assistant says in between."""


def pairs(count: int, seed: int, lang: str, split: Split) -> Iterator[Pair]:
    """This many pairs, two innocent ones for each update; the same arguments give the same pairs. `lang`: or mixed."""
    random = Random(f"pairs {split} {lang} {seed}")
    maker = _Maker(random, split)
    for number in range(count):
        spoken = random.choice(LANGS) if lang == "mixed" else LANGS[LANGS.index(lang)]
        makers = _UPDATES if number % 3 == 0 else _INNOCENT
        sort, found = random.choice(tuple(makers)), None
        while found is None:
            found = makers[sort](maker, spoken)
        kind, older, newer = found
        apart = timedelta(seconds=40) if sort in _AT_ONCE else timedelta(days=random.randrange(2, 40))
        role: Role = "assistant" if sort == "guess" else "user"
        yield Pair(spoken, sort, kind, "update" if number % 3 == 0 else "innocent", older, newer, apart, role)


Made = tuple[str, str, str] | None
"""The kind and the two messages; None where this draw made no pair."""


class _Maker:
    """Draws pairs of each sort."""

    def __init__(self, random: Random, split: Split) -> None:
        self._random = random
        self._split = split
        self._at: datetime = START

    def key(self, lang: Lang, field: str, *, own: bool = True) -> Key | None:
        """A matter that has this field, of the user or of another."""
        named = [name for name, kind in kinds(lang).items() if {field, "tell" if own else "of"} <= kind.forms.keys()]
        if not named:
            return None
        kind = self._random.choice(named)
        things = kinds(lang)[kind].things
        thing = self._random.choice(words(things)) if things and kind != "employer" else None
        return Key(None if own else self.person(kind), kind, thing)

    def person(self, kind: str) -> Value:
        """Another person."""
        return self._random.choice(words("child" if kind == "school" else "kin"))

    def other_thing(self, key: Key) -> Key | None:
        """The same kind of fact about another thing."""
        if key.thing is None:
            return None
        others = [one for one in words(kinds("en")[key.kind].things) if one != key.thing]
        return Key(key.possessor, key.kind, self._random.choice(others)) if others else None

    def value(self, key: Key, *unlike: Value | None) -> Value | None:
        """A value of a matter."""
        ids = [one.id for one in unlike if one]
        return draw(kinds("en")[key.kind], key.thing, self._split, self._random, self._at, ids)

    def say(self, lang: Lang, key: Key, field: str, value: Value | None, old: Value | None = None) -> str | None:
        """A sentence; None where there is no such form or value. Employers are stated without a profession."""
        forms = [one for one in templates(lang, key.kind, field, self._split) if "{w}" not in one]
        if not forms or (value is None and any("{v}" in one for one in forms)):
            return None
        slots = {"v": value, "o": old, "t": key.thing, "N": self._random.choice(words("speaker"))}
        return fill(self._random.choice(forms), lang, {**slots, **possessor(key.possessor)}, self._random)

    def told(self, lang: Lang, key: Key, value: Value | None) -> str | None:
        """The plain statement of a fact."""
        return self.say(lang, key, "of" if key.possessor else "tell", value)

    def second(self, lang: Lang, field: str, *, own: bool = True) -> Made:
        """A fact, then a sentence of this field about the same matter with another value."""
        key = self.key(lang, field, own=own)
        if key is None:
            return None
        first = self.value(key)
        value = self.value(key, first)
        return self.made(key, self.told(lang, key, first), self.say(lang, key, field, value, first))

    def about_another(self, lang: Lang, key: Key, other: Key, fields: Sequence[str]) -> Made:
        """A fact, then something new about another matter."""
        first, old = self.value(key), self.value(other)
        field = self._random.choice(fields) + ("_of" if other.possessor else "")
        field = field.replace("tell_of", "of")
        value = self.value(other, old)
        return self.made(key, self.told(lang, key, first), self.say(lang, other, field, value, old))

    def made(self, key: Key, older: str | None, newer: str | None) -> Made:
        """A pair, unless one half is missing or both are the same."""
        return (key.kind, older, newer) if older and newer and older != newer else None

    # -- innocent pairs -----------------------------------------------------------------------------------------------

    def other_possessor(self, lang: Lang) -> Made:
        """My birthday; then my mother's, or the other way round, or those of two others."""
        kind = self._random.choice((*_SINGLE, "favourite", "pet", "amount", "wish", "allergy", "appointment"))
        if kind not in kinds(lang) or "of" not in kinds(lang)[kind].forms:
            return None
        things = kinds(lang)[kind].things
        thing = self._random.choice(words(things)) if things and kind != "employer" else None
        people = self._random.sample([None, *words("kin")], 2)
        key, other = Key(people[0], kind, thing), Key(people[1], kind, thing)
        return self.about_another(lang, key, other, ("tell", "change", "correct"))

    def namesakes(self, lang: Lang) -> Made:
        """Two people of one name."""
        place = 2 * self._random.randrange(len(words("namesake")) // 2)
        people = words("namesake")[place : place + 2]
        kind = self._random.choice(_SINGLE)
        one, other = self._random.sample(people, 2)
        return self.about_another(lang, Key(one, kind, None), Key(other, kind, None), ("tell", "change", "correct"))

    def other_attribute(self, lang: Lang) -> Made:
        """Another fact about the same person."""
        key, other = self.key(lang, "tell"), self.key(lang, "tell")
        if key is None or other is None or key.kind == other.kind or {key.kind, other.kind} <= _TWO:
            return None
        return self.about_another(lang, key, other, ("tell", "change", "correct"))

    def crossed(self, lang: Lang) -> Made:
        """A fact of another person, then a fact of another kind about the user, or the other way round."""
        key, other = self.key(lang, "of", own=False), self.key(lang, "tell")
        if key is None or other is None or key.kind == other.kind or {key.kind, other.kind} <= _TWO:
            return None
        first, second = self._random.sample([key, other], 2)
        return self.about_another(lang, first, second, ("tell", "change", "correct"))

    def another_thing(self, lang: Lang) -> Made:
        """The outbound flight, then the return flight; two appointments; two codes."""
        key = self.key(lang, "tell")
        other = self.other_thing(key) if key else None
        return self.about_another(lang, key, other, ("tell", "change", "correct")) if key and other else None

    def same_number(self, lang: Lang) -> Made:
        """8 km, then 8 kg; a rent of 1200, then a code 1200."""
        one, other = self._random.sample(tuple(_NUMBERS), 2)
        number = str(self._random.randrange(1000, 4000) if {one, other} == {"amount", "code"} else 60)
        found: list[str | None] = []
        for name, field in ((one, "tell"), (other, self._random.choice(("tell", "change")))):
            things = kinds(lang)[name].things
            key = Key(None, name, self._random.choice(words(things)) if things else None)
            en, zh = _NUMBERS[name]
            value = Value(number, f"{number} {en}".strip(), f"{number}{zh}")
            found.append(self.say(lang, key, field, value, self.value(key, value)))
        return (one, found[0], found[1]) if found[0] and found[1] else None

    def repeated(self, lang: Lang) -> Made:
        """The same again, mostly in other words."""
        key = self.key(lang, "tell")
        if key is None:
            return None
        value = self.value(key)
        older, newer = (self.told(lang, key, value) for _ in range(2))
        return (key.kind, older, newer) if older and newer else None

    def asked(self, lang: Lang) -> Made:
        """A question about it."""
        key = self.key(lang, "ask")
        return self.made(key, self.told(lang, key, self.value(key)), self.say(lang, key, "ask", None)) if key else None

    def small(self, lang: Lang) -> Made:
        """Small talk."""
        key = self.key(lang, "tell")
        if key is None:
            return None
        said = fill(self._random.choice(chatter("small", lang, self._split)), lang, {}, self._random)
        return self.made(key, self.told(lang, key, self.value(key)), said)

    # -- updates ------------------------------------------------------------------------------------------------------

    def brief(self, lang: Lang) -> Made:
        """A correction right afterwards that does not say of what."""
        key = self.key(lang, "correct")
        if key is None:
            return None
        first = self.value(key)
        slots = {"v": self.value(key, first), "o": first}
        said = fill(self._random.choice(chatter("brief", lang, self._split)), lang, slots, self._random)
        return self.made(key, self.told(lang, key, first), said)


def _second(field: str, *, own: bool = True) -> Callable[[_Maker, Lang], Made]:
    return lambda maker, lang: maker.second(lang, field, own=own)


_INNOCENT: dict[str, Callable[[_Maker, Lang], Made]] = {
    "other possessor": _Maker.other_possessor,
    "namesakes": _Maker.namesakes,
    "other attribute": _Maker.other_attribute,
    "right after": _Maker.other_attribute,
    "right after, of another": _Maker.crossed,
    "crossed": _Maker.crossed,
    "other thing": _Maker.another_thing,
    "same number": _Maker.same_number,
    "repeated": _Maker.repeated,
    "asked": _Maker.asked,
    "small talk": _Maker.small,
    "also": _second("also"),
    **{field: _second(field) for field in ("reported", "hypo", "plan", "past", "joke", "deny", "guess")},
}
_UPDATES: dict[str, Callable[[_Maker, Lang], Made]] = {
    "changed": _second("change"),
    "corrected": _second("correct"),
    "changed of other": _second("change_of", own=False),
    "corrected of other": _second("correct_of", own=False),
    "brief": _Maker.brief,
}
