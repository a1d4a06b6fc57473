"""What is left of a statement without persons, words of correction and of the attribute, and fillers: see `renewal`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from biem.adapters.analyzers.quantities import Quantities
from biem.adapters.contradiction import lexicon, marks
from biem.adapters.contradiction.classes import spans
from biem.adapters.contradiction.reading import Reader, Reading
from biem.adapters.contradiction.subjects import Subjects

_KEPT = 2_048
_WORD = re.compile(r"[^\W\d_][\w'’&-]*")
_HAN = re.compile(r"[\u4e00-\u9fffA-Za-z][\u4e00-\u9fffA-Za-z0-9·]*")
_PETS = re.compile(r"\b(?:dog|cat|puppy|kitten)s?\b|[狗猫]", re.IGNORECASE)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKDAY = re.compile(
    r"\b(?P<en>mon|tues|wednes|thurs|fri|satur|sun)days?\b|(?:周|星期|礼拜)(?P<zh>[一二三四五六日天])(?!起)",
    re.IGNORECASE,
)
_ZH_DAYS = dict(zip("一二三四五六日天", (*_DAYS, "sun"), strict=True))
_TOPIC = re.compile(r"when it comes to\b", re.IGNORECASE)
_TOLD = frozenset(("you", "你"))
_TO_YOU = re.compile(
    r"\b(?:gave|give|told|tell|sent|promised|for|like|let|so) you(?:r)?\b|告诉你|跟你|[请给]你|你记", re.IGNORECASE
)
_PRONOUNS = frozenset(("he", "she", "they", "他", "她"))
_PEOPLE = re.compile(r"^they\b", re.IGNORECASE)
"""They changed the code."""
VAGUE = re.compile(r"(?:he|she|they|you|[他她你])(?:$|\.)")
_ASIDE = re.compile(
    r"(?:日期|时间|名字|密码|学校)?(?:[说记搞弄写打看听算填][错混](?:[表票]|日期|时间|了)*了?|输入法(?:打成了)?|不知怎么|[写打说]成了)|把(?:学校|日期|时间|名字)记混了"
    r"|秤不准|票到了"
)
"""Words of a correction that could be taken for those of an attribute."""
_IN_SENTENCE = re.compile(r"[\w,’'&-]\s{1,2}$")
_NO_PERSON = re.compile(r"^(?:me|we|you|he|she|they|quoted|[他她你您])(?:$|\.)")


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, or a number in canonical spelling, and where it stands."""

    stem: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Core:
    """What is left of a statement."""

    text: str
    persons: frozenset[str]
    names: frozenset[str]
    words: tuple[Piece, ...]
    numbers: tuple[Piece, ...]
    classes: frozenset[str]
    corrects: bool
    changes: bool
    holds: bool
    """It says how something is, in the words of the one who says it."""
    adds: bool
    """It says something besides what is known, or of some occasions only."""
    which: frozenset[str]
    """Words that tell one of several apart."""
    of_old: bool
    """It speaks of what was replaced already."""
    past: bool
    """Of what used to be so."""

    @property
    def marked(self) -> bool:
        """Whether it says of itself that something is otherwise than was said."""
        return (self.corrects or self.changes) and self.holds and not self.adds


class Residue:
    """Reads what is left of statements. Thread-safe."""

    def __init__(self, reader: Reader, subjects: Subjects) -> None:
        self._reader = reader
        self._subjects = subjects
        self._quantities = Quantities()
        found = lexicon.sets("subjects")
        known = found["husk"] | found["plain"] | found["time"]
        self._husk = {reader.stem(word) for word in known if word.isascii()} | {w for w in known if w.isascii()}
        han = sorted((word for word in known if not word.isascii()), key=len, reverse=True)
        self._times = found["time"]
        self._han_husk = re.compile("|".join(map(re.escape, han)))
        self._stop = reader.is_empty
        self.of = lru_cache(_KEPT)(self._read)

    def _read(self, reading: Reading) -> Core:
        text, chinese = reading.text, reading.chinese
        about = self._subjects.about(reading)
        asides = [found.span() for found in _ASIDE.finditer(text)]
        classes = spans(_blanked(text, asides), chinese=chinese)
        taken = asides + [place for places in classes.values() for place in places]
        numbers = [Piece(canonical, start, end) for start, end, canonical in self._quantities.spans(text)] + [
            Piece(f"weekday:{_day(found)}", *found.span()) for found in _WEEKDAY.finditer(text)
        ]
        taken += [(one.start, one.end) for one in numbers]
        names = frozenset(one for one in about.persons if not _NO_PERSON.match(one))
        taken += about.spans
        words = self._han(text, taken) if chinese else self._latin(text, taken)
        asks = any(clause.asked and not _TOPIC.match(clause.text) for clause in reading.clauses)
        names = frozenset(name for name in names if not chinese or _leads(name, text))
        return Core(
            text,
            frozenset(_PETS.sub("", one).rstrip(".") for one in about.persons if _NO_PERSON.match(one))
            - {"me", "quoted"}
            - _anaphors(about.persons, text)
            - (_TOLD if _TO_YOU.search(text) else frozenset()),
            names,
            tuple(words),
            tuple(numbers),
            frozenset(classes),
            marks.CORRECTS.search(text) is not None,
            marks.CHANGES.search(text) is not None,
            not asks
            and not (about.reported or about.joking)
            and not marks.LEAVES_OPEN.search(text)
            and not marks.OF_THE_PAST.search(text),
            marks.ANOTHER.search(text) is not None or marks.ON_OCCASION.search(text) is not None,
            frozenset(found.group().lower() for found in marks.WHICH.finditer(text)),
            marks.OLD_ONE.search(text) is not None,
            any(clause.past for clause in reading.clauses),
        )

    def _latin(self, text: str, taken: list[tuple[int, int]]) -> Iterator[Piece]:
        rest = _blanked(text, taken)
        for found in _WORD.finditer(rest):
            word = found.group().removesuffix("'s").removesuffix("’s")
            if word.lower() == "s":
                continue
            stem, named = self._reader.stem(word), word[0].isupper() and _IN_SENTENCE.search(text[: found.start()][-3:])
            plain = {stem, word.lower()} & self._husk or self._stop(stem) or self._stop(word.lower())
            if not plain or (named and len(word) > 1 and stem not in self._times):
                yield Piece(stem, *found.span())

    def _han(self, text: str, taken: list[tuple[int, int]]) -> Iterator[Piece]:
        rest = self._han_husk.sub(lambda found: " " * len(found.group()), _blanked(text, taken))
        for found in _HAN.finditer(rest):
            yield Piece(found.group().lower(), *found.span())


def _blanked(text: str, taken: list[tuple[int, int]]) -> str:
    """The text with these stretches as spaces."""
    out, at = [], 0
    for start, end in sorted(taken):
        if end > at:
            out += [text[at : max(at, start)], " " * (end - max(at, start))]
            at = end
    return "".join((*out, text[at:]))


def _day(found: re.Match[str]) -> str:
    return _ZH_DAYS[found["zh"]] if found["zh"] else found["en"][:3].lower()


def _anaphors(persons: frozenset[str], text: str) -> frozenset[str]:
    """Pronouns that stand for somebody or something named before, or for people in general."""
    named = any(not VAGUE.match(one) and one not in ("me", "quoted") for one in persons) or _PETS.search(text)
    return _PRONOUNS if named or _PEOPLE.search(text) else frozenset()


def _leads(name: str, text: str) -> bool:
    """Whether a Chinese name stands where a subject or an owner stands."""
    return re.search(rf"(?:^|[，。；：:,!！？\s]){re.escape(name)}|{re.escape(name)}的", text) is not None
