"""Surface forms of facts: the word lists and templates of this folder, divided into a dev and a held-out part.

Each list of words and each field of templates is ordered by a fixed hash, and its first third is held out: a life of
the split `held-out` uses no value and no template that a life of `dev` uses. Of things and possessors (a dentist, my
mother) both splits use all: they are the vocabulary of questions. The possessors' forms are fixed text.
"""

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from random import Random
from typing import Literal

Lang = Literal["en", "zh"]
Split = Literal["dev", "held-out"]
LANGS: tuple[Lang, ...] = ("en", "zh")
SPLITS: tuple[Split, ...] = ("dev", "held-out")
_FOLDER = Path(__file__).parent
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS_EN = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DAYS_ZH = ("周一", "周二", "周三", "周四", "周五", "周六", "周日")
_SHARED = frozenset(
    ("species", "meeting", "flight", "clinic", "budget", "door", "project", "taste", "relation", "topic")
) | frozenset(("occasion", "shop", "month", "kin", "child", "namesake", "speaker"))
"""Lists of things and persons, which both splits use."""
_REPLIES = frozenset(("echo", "echo_of", "guess"))
"""What assistants say, of which there is often one form only: both splits use it."""


@dataclass(frozen=True, slots=True)
class Value:
    """What a fact says; `id` tells two values of one list apart, in any language."""

    id: str
    en: str
    zh: str

    def text(self, lang: Lang) -> str:
        """How it is said."""
        return self.en if lang == "en" else self.zh


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of fact in one language."""

    name: str
    values: str
    """The list of its values, or the name of a generated one: date, datetime, weektime, money, kilos, km, digits."""
    things: str
    """The list of things that the fact may be about, or empty."""
    forms: Mapping[str, tuple[str, ...]]


def held_out(text: str, among: Sequence[str]) -> bool:
    """Whether a text of a list is held out: the first third of the list, at least one, in the order of a fixed hash."""
    ordered = sorted(among, key=lambda one: (zlib.crc32(one.encode()), one))
    return ordered.index(text) < max(1, len(ordered) // 3)


@cache
def words(name: str, split: Split | None = None) -> tuple[Value, ...]:
    """The values of a list, in one split or all."""
    found = tuple(Value(en, en, zh) for en, zh in _lists()[name])
    if split is None or name in _SHARED:
        return found
    among = [value.id for value in found]
    return tuple(value for value in found if held_out(value.id, among) is (split == "held-out"))


@cache
def kinds(lang: Lang) -> Mapping[str, Kind]:
    """All kinds of facts of a language, by name."""
    found: dict[str, Kind] = {}
    forms: dict[str, list[str]] = {}
    field = ""
    for line in _lines(f"facts_{lang}.txt"):
        if line.startswith("== "):
            name, values, *things = line[3:].split()
            forms = {}
            found[name] = Kind(name, values, things[0] if things else "", forms)  # type: ignore[arg-type]
        elif line.startswith("  "):
            forms[field].append(line.strip())
        else:
            field = line.strip()
            forms[field] = []
    return {
        name: Kind(name, kind.values, kind.things, {key: tuple(one) for key, one in kind.forms.items()})
        for name, kind in found.items()
    }


@cache
def templates(lang: Lang, kind: str, field: str, split: Split) -> tuple[str, ...]:
    """The surface forms of one field in one split; empty where the kind has no such field."""
    forms = kinds(lang)[kind].forms.get(field, ())
    return forms if field in _REPLIES else _part(forms, split)


@cache
def chatter(kind: str, lang: Lang, split: Split) -> tuple[str, ...]:
    """The other messages of a life, in one split."""
    return _part(_chatter()[f"{kind} {lang}"], split)


def fill(template: str, lang: Lang, slots: Mapping[str, Value | None], random: Random) -> str:
    """A template with its slots filled; a slot that names a list is drawn from it."""
    said = template
    for name, value in slots.items():
        if value is not None:
            said = said.replace("{" + name + "}", value.text(lang))
    while "{" in said:
        name = said[said.index("{") + 1 : said.index("}")]
        said = said.replace("{" + name + "}", random.choice(words(name)).text(lang), 1)
    return said[:1].upper() + said[1:]


def possessor(value: Value | None, *, by_assistant: bool = False) -> dict[str, Value | None]:
    """The slots of a possessor, as the user or the assistant names it; none for the user himself."""
    if value is None:
        return {}
    en, zh = value.en, value.zh
    if by_assistant:
        en, zh = re.sub(r"^my ", "your ", en), re.sub("^我", "您", zh)
    genitive = f"{en}'" if en.endswith("s") else f"{en}'s"
    return {
        "P": Value(value.id, en[:1].upper() + en[1:], zh),
        "p": Value(value.id, en, zh),
        "ps": Value(value.id, genitive, f"{zh}的"),
    }


def draw(
    kind: Kind, thing: Value | None, split: Split, random: Random, at: datetime, unlike: Sequence[str] = ()
) -> Value | None:
    """A value of a kind that is none of `unlike`, by id; None where its list has no other.

    Appointments, flights and deadlines lie some time after `at`.
    """
    for _ in range(200):
        value = _drawn(kind.values, thing, split, random, at)
        if value.id not in unlike:
            return value
    return None


def _drawn(name: str, thing: Value | None, split: Split, random: Random, at: datetime) -> Value:
    """A value of a list, or a generated one."""
    if name == "favourite" and thing is not None:
        return random.choice(words(f"{name} {thing.en}", split))
    if name == "rule" and thing is not None:
        return random.choice(words(f"{name} {thing.en}"))  # too few of each to be divided
    if name not in _GENERATED:
        return random.choice(words(name, split))
    return _GENERATED[name](random, at)


def _date(random: Random, at: datetime) -> Value:  # noqa: ARG001  of any year
    return _named(random.randrange(12), random.randrange(1, 29), random)


def _day(random: Random, at: datetime) -> Value:
    day = at + timedelta(days=random.randrange(30, 150))
    return _named(day.month - 1, day.day, random)


def _named(month: int, day: int, random: Random) -> Value:
    ending = "th" if 10 <= day <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    said = random.choice((f"{_MONTHS[month]} {day}{ending}", f"{day} {_MONTHS[month]}", f"{_MONTHS[month]} {day}"))
    return Value(f"{month + 1}-{day}", said, random.choice((f"{month + 1}月{day}日", f"{month + 1}月{day}号")))


def _datetime(random: Random, at: datetime) -> Value:
    date, hour = _day(random, at), random.randrange(7, 20)
    minute = random.choice(("00", "15", "30", "45"))
    return Value(f"{date.id} {hour}:{minute}", f"{date.en} at {hour}:{minute}", f"{date.zh}{hour}点{minute}分")


def _weektime(random: Random, at: datetime) -> Value:  # noqa: ARG001
    day, hour = random.randrange(7), random.randrange(8, 20)
    return Value(f"{day} {hour}", f"{_DAYS_EN[day]} at {hour}:00", f"{_DAYS_ZH[day]}{hour}点")


def _money(random: Random, at: datetime) -> Value:  # noqa: ARG001
    amount = random.randrange(20, 400) * 10
    return Value(str(amount), f"{amount} euros", f"{amount}欧元")


def _kilos(random: Random, at: datetime) -> Value:  # noqa: ARG001
    amount = random.randrange(52, 110)
    return Value(str(amount), f"{amount} kg", f"{amount}公斤")


def _km(random: Random, at: datetime) -> Value:  # noqa: ARG001
    amount = random.randrange(3, 25)
    return Value(str(amount), f"{amount} km", f"{amount}公里")


def _digits(random: Random, at: datetime) -> Value:  # noqa: ARG001
    code = f"{random.randrange(1000, 9999)}"
    return Value(code, code, code)


def _promo(random: Random, at: datetime) -> Value:  # noqa: ARG001
    code = random.choice(("SAVE", "SPRING", "HELLO", "BLOOM", "TREAT", "LUCKY")) + f"{random.randrange(10, 99)}"
    return Value(code, code, code)


_GENERATED = {
    "date": _date, "day": _day, "datetime": _datetime, "weektime": _weektime, "money": _money, "kilos": _kilos,
    "km": _km, "digits": _digits, "promo": _promo,
}  # fmt: skip


def _part(forms: tuple[str, ...], split: Split) -> tuple[str, ...]:
    return tuple(form for form in forms if held_out(form, forms) is (split == "held-out"))


@cache
def _lists() -> Mapping[str, tuple[tuple[str, str], ...]]:
    return {
        name: tuple((en.strip(), zh.strip()) for en, zh in (line.split(" = ") for line in lines))
        for name, lines in _sections("words.txt").items()
    }


@cache
def _chatter() -> Mapping[str, tuple[str, ...]]:
    return {name: tuple(lines) for name, lines in _sections("chatter.txt").items()}


def _sections(file: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in _lines(file):
        if line.startswith("["):
            current = found[line.strip("[]")] = []
        else:
            current.append(line.strip())
    return found


def _lines(file: str) -> list[str]:
    text = (_FOLDER / file).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
