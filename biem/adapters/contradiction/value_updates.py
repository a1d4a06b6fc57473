"""Updates: a newer statement replaces the value of an older one, independent of the words around the two values.

Persons, words of correction and change, words of the attribute, and fillers are removed from both. A thing, its values
and numbers remain. If the two share persons and thing, or the class of the attribute, and differ only in the value, a
newer statement that marks a correction or change takes effect. So does one that names the older value as the former
one: "the Volvo is gone", 从北京搬到上海.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.journeys import opposed
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import SINGLE
from biem.adapters.contradiction.reading import Reading, StatementReader
from biem.adapters.contradiction.statement_core import VAGUE, Core, Piece, StatementCores
from biem.adapters.contradiction.statement_parts import (
    announces,
    are_across,
    are_names,
    are_of_other_occasions,
    are_of_two,
    by_kind,
    comparable,
    former_of,
    is_difference,
    known,
    parts_of,
    relatives_alike,
    same,
    stems,
    within,
)
from biem.adapters.contradiction.subjects import Subjects
from biem.domain.conflict import Verdict

WHOLE = frozenset(("former named", "corrected", "renewed", "corrected right after"))
"""The rules of this module: they consider the whole statement …"""
JOINED = re.compile(r"\b(?:and|but|while|whereas|who|which)\b|;|[；、也还]|而且|并且|但是?|可是|不过", re.IGNORECASE)
"""… unless it joins several."""
_LONGEST = 240
"""Maximum characters: longer texts change one thing and mention many."""
_SURE, _BRIEF = 0.9, 0.85
_VALUE = 4
"""Maximum words of a value."""
_SHORT = 8
"""Maximum words of a correction without a subject."""
_TURNS = re.compile(r"[,;:.!?，；：。！？、–—]|\b(?:but|instead|since|because|and)\b|[改换而是]", re.IGNORECASE)
"""After a denial: the rest is no longer denied."""
_NEGATED = re.compile(r"\bnot\b|不是", re.IGNORECASE)
_INDEFINITE = re.compile(
    r"\ban? new\b|\b(?:have|has|got|adopted)\s(?:an?|another)\b|[养买领]了?一[只个条辆]", re.IGNORECASE
)
_SPOKEN_OF = re.compile(r"\b(?:sport|diet|strictly)\b|运动|饮食", re.IGNORECASE)
_MEASURES = frozenset(("age", "weight", "birthday", "due", "phone", "relationship", "code"))
_THERE = re.compile(r"(?:\b(?:in|at|on)(?: (?:a|the|my))?\s|在)$", re.IGNORECASE)
_ROLE = re.compile(r"^(?:my|our) [\w' ]{2,30} (?:is|['’]s) (?-i:[A-Z])|^我们?的?[^，。,是叫]{2,8}[是叫]", re.IGNORECASE)
_NO_BEGINNING = frozenset("的了是在有我们他她它把从给和跟与个次")
"""Characters before a Chinese word that are not the beginning of a longer one."""
_LOCATED = re.compile(r"\b(?:in|at|on)\b|在", re.IGNORECASE)
_MANY = frozenset(("liking", "amount", "employer"))
"""Attributes with several values at a time."""
_PLACES = frozenset(("employer", "school"))
_NAMED_APART = _PLACES | {"home", "car"}
"""Attributes with one value, whose values have other names in other languages."""
_THINGS = _PLACES | {"car"}
"""Classes whose words may name a thing that has another attribute."""
_DETERMINED = re.compile(
    r"^\s(?:(?:has|have|just|finally)\s){0,2}(?:[a-z]{3,}ed|put|set|cut|brought|raised)\s(?:my|our|the|his|her|their)\s+$|^把[我咱]?们?的?$",
    re.IGNORECASE,
)
_NAMED = re.compile(r"(?:\b(?:an?|the|my) [a-z]|[A-Z]|[\u4e00-\u9fff])$")
_NUMBERED = re.compile(
    r"\b(?!(?:is|are|was|at|to|of|on|in|now|about|up|only|just|for|by|the|than|from|until"
    r"|till|and|a|has|have|earn|pay|costs?)\b)(?P<noun>[A-Za-z]+) #?\d+ (?!now\b)[a-z]"
    r"|(?P<zh>[\u4e00-\u9fff]{2})\d+(?=[\u4e00-\u9fff])(?![了元块岁点月日号年])",
    re.IGNORECASE,
)
_DATE = re.compile(r"[\d-]+$")
_DONE_ZH = re.compile("((?![成到为错反混])[\u4e00-\u9fff])了$")
_UNIT = re.compile(r"[^\d.]")
_DAY = re.compile(r"(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th|[号日])")
_EXCHANGED_ONE = re.compile("换了?个?新的?[^，。,：:]{2,5}(?:[：:]|[，,]?[叫是])")
"""Names the successor of a person."""
_JOINT = re.compile(r"[\s&·'’-]{0,3}(?:(?:of|the|and|de|van|von|的)\s)?")


class ValueUpdates:
    """Judges pairs by their cores. Thread-safe."""

    def __init__(self, reader: StatementReader, subjects: Subjects) -> None:
        self.core = StatementCores(reader, subjects).of
        """Returns the core of a reading."""
        self._exclusive = {
            reader.stem(value): row[0][0]
            for row in lexicon.columns("exclusive")
            for column in row[1:]
            for value in column
        }

    def holds(self, reading: Reading) -> bool:
        """Whether it states a permanent fact, in the speaker's own words."""
        core = self.core(reading)
        return core.holds and not core.adds

    def turns_to_another(self, older: Reading, newer: Reading) -> bool:
        """Whether a first part names another subject, which the rest may be about."""
        old, new = self.core(older), self.core(newer)
        bound = marks.BOUNDS.search(new.text)
        if not bound or bound.end() >= len(new.text):
            return False
        if any(name in old.classes and start < bound.start() for name, start in new.places):
            return False  # the first part has the same attribute
        first = [piece for piece in new.words if piece.start < bound.start() and not known(piece, old, new)]
        return bool(first) and not announces(old, new, bound.end())

    def differ_in_words(self, older: Reading, newer: Reading) -> bool:
        """Whether each has words that the other lacks: the blue suitcase, the red suitcase."""
        old, new = self.core(older), self.core(newer)
        if old.which != new.which:
            return True
        return any(not known(one, new, old) for one in old.words) and any(not known(one, old, new) for one in new.words)

    def denied(self, older: Reading, newer: Reading) -> bool:
        """Whether a part of the newer, which denies something, has exactly the words of the older."""
        old, new = self.core(older), self.core(newer)
        if not (old.holds and new.holds) or old.told or old.past or new.adds or not _same_persons(old, new):
            return False
        if not old.words or marks.DENIES_NOW.search(new.text) is None:
            return False
        return any(
            stems(part.words) == stems(old.words) and stems(part.numbers) <= stems(old.numbers)
            for part in parts_of(old, new)
        )

    def one_more(self, newer: Reading) -> bool:
        """Whether it introduces something new: "a cat named Tofu"."""
        return _INDEFINITE.search(newer.text) is not None

    def speaks(self, newer: Reading) -> bool:
        """Whether a statement marks a correction or change."""
        return len(newer.text) <= _LONGEST and bool(
            marks.CORRECTS.search(newer.text) or marks.CHANGES.search(newer.text)
        )

    def judge(self, older: Reading, newer: Reading, *, follows: bool) -> Verdict | None:
        """The verdict that the newer replaces the older, or None. `follows`: said right after, by the same speaker."""
        if max(len(older.text), len(newer.text)) > _LONGEST or not self.speaks(newer):
            return None
        old, new = self.core(older), self.core(newer)
        if not (old.holds and new.marked) or are_of_other_occasions(old, new):
            return None
        if new.days and "weekday" not in by_kind(old.numbers):
            return None
        if follows and _corrects(old, new) and _is_brief(new) and _replies(old, new) and not _names_another(old, new):
            return Verdict("update", _BRIEF, "corrected right after", subject=_subject(old, old.classes), aligned=True)
        found = next((why for part in parts_of(old, new) if (why := self._differ(old, part))), None)
        if found is None:
            return None
        common = old.classes & new.classes or old.classes
        return Verdict("update", _SURE, found, subject=_subject(old, common), aligned=True)

    def may_rival(self, older: str, newer: str) -> bool:
        """Cheap check whether `rivals` may be true."""
        return max(len(older), len(newer)) <= _LONGEST and older != newer

    def rivals(self, older: Reading, newer: Reading) -> bool:
        """Whether they differ only in the value, with or without a mark of change."""
        old, new = self.core(older), self.core(newer)
        if not (old.holds and new.holds) or new.adds or are_of_other_occasions(old, new) or opposed(older, newer):
            return False
        return self._differ(old, new) is not None

    def _differ(self, old: Core, new: Core) -> str | None:
        """The rule by which the newer differs from the older only in the value."""
        if old.of_old or are_of_two(old, new) or not _same_persons(old, new) or any(map(VAGUE.match, old.persons)):
            return None
        former, gained = former_of(old, new)
        if old.past or ((new.past or old.denies) and not former):
            return None
        one, other = comparable(by_kind(old.numbers), by_kind(new.numbers))
        differ = any(
            not (one[kind] & other[kind]) or former for kind in one.keys() & other.keys() if one[kind] != other[kind]
        )
        if differ or not (one.keys().isdisjoint(other) or not gained):
            return self._numbers(old, new, former, gained)
        return self._worded(old, new, former, gained)

    def _groups(self, pieces: list[Piece]) -> set[str]:
        """The groups of exclusive values."""
        return {self._exclusive[piece.stem] for piece in pieces if piece.stem in self._exclusive}

    def _numbers(self, old: Core, new: Core, former: list[Piece], gained: list[Piece]) -> str | None:
        """Another number of the same kind for the same thing."""
        fresh = [one for one in new.numbers if one not in former and not is_difference(new, one)]
        one, other = comparable(by_kind(old.numbers), by_kind(fresh))
        differ = [kind for kind in one.keys() & other.keys() if one[kind].isdisjoint(other[kind])]
        had = {piece.stem for piece in former} - {piece.stem for piece in old.words}
        if had and had.isdisjoint(piece.stem for piece in old.numbers) and marks.IN_PLACE_OF.search(new.text):
            return None  # "on the 27th instead of the 26th" replaces no 20th
        if differ == [""] and not _numbered(old).isdisjoint(_numbered(new)):
            return None  # order 5 was shipped, order 6 was cancelled
        named = {piece.stem for piece in former} & {piece.stem for piece in old.numbers}
        known_by = (
            are_across(old, new)
            and _identify(named)
            and (len(named) > 1 or are_names((*gained, *old.words)))
            and not (old.classes and new.classes.isdisjoint(old.classes))
        )
        if not differ or (gained and not known_by and not _besides(old, new, gained)):
            return None
        if _INDEFINITE.search(new.text) and not (new.corrects or former or old.classes & new.classes & SINGLE):
            return None  # a new meeting is an additional one
        shared = {one.stem for one in old.words if known(one, new, old) and not _of_another_kind(one, old, new)}
        if not old.words:
            shared = set(old.verbs & new.verbs) or {one.stem for one in new.words if known(one, old, new)}
        classes = old.classes & new.classes & SINGLE
        left = stems(old.words) - shared
        if left and (new.classes - old.classes) & _THINGS:
            return None  # the rate of the mortgage, and of the loan for the car
        if not (old.words or new.words):
            classes |= (old.classes & new.classes) - _MANY
        only_corrected = new.corrects and bool(old.persons) and not (old.words or new.words or differ == [""])
        if shared or known_by or (not left and (classes or named or only_corrected)):
            return "former named" if named else "corrected" if new.corrects else "renewed"
        return None

    def _worded(self, old: Core, new: Core, former: list[Piece], gained: list[Piece]) -> str | None:
        """Another value for the same thing, or the end of the former one."""
        ended = {piece.stem for piece in former}
        kept = [piece for piece in new.words if piece not in former]
        gone = [piece for piece in old.words if within(piece, former)]
        shared = [piece for piece in old.words if piece not in gone and known(piece, new, old) and within(piece, kept)]
        left = [piece for piece in old.words if piece not in gone and piece not in shared]
        if not old.words:
            gone = [piece for piece in former if piece in new.words]
        lone = not (JOINED.search(old.text) or marks.BOUNDS.search(old.text.rstrip(".!。")))
        if lone and "home" in old.classes and (places := [piece for piece in left if old.text[piece.start].isupper()]):
            left = places  # a small flat near the canal in Utrecht
        classes = old.classes & new.classes
        if not (former or old.told) and left and are_across(old, new) and _ends_name(old, new, left, classes, shared):
            return "former named"
        apart = bool(old.classes and new.classes and not classes)
        named_so = bool(left) and any({piece.stem for piece in left} <= named for named in _definite(old))
        if len(gained) > _VALUE or (
            gained and not _one_value(new.text, gained) and not (gone and named_so and _told_after(new, former, gained))
        ):
            return None
        if gone:
            if (
                (
                    left
                    and not (classes and gained and _one_value(old.text, left))
                    and not _rest(old, new, left, gone, gained)
                )
                or (apart and not shared)
                or (gained and not _parted(new, former, gained))
                or (old.told and not gained)
            ):
                return None
            return "former named"
        ends = former or marks.CANCELS.search(new.text) or (new.denies and marks.DENIES_NOW.search(new.text))
        if ends and not gained and not left and old.words and not old.told and not old.denies:
            return "former named"  # "the barbecue on Saturday is off": all of it
        single = classes & SINGLE
        if not new.corrects and _adds(new, gained, classes):
            return None
        if _measured(old) or ended or not gained or not left or not _one_value(old.text, left):
            return None
        if all(_is_denied(new, piece) for piece in gained):
            return None  # "we are not moving to Bath after all"
        if "name" in old.classes | new.classes and shared and all(_last(core, shared) for core in (old, new)):
            return None  # another one of that name
        named = {one for one in _definite(old) & _definite(new) if one <= stems(tuple(shared))}
        exclusive = bool(shared) and not self._groups(left).isdisjoint(self._groups(gained))
        role = bool(old.persons) and bool(
            (marks.ROLE.search(old.text) and marks.ROLE.search(new.text))
            or ("name" in old.classes and _EXCHANGED_ONE.search(new.text))
        )
        switched = bool(shared) and (
            _exchanged(new, shared, gained)
            or _switches_words(new)
            or (marks.GOES.search(new.text) is not None and _LOCATED.search(old.text) is not None)
        )
        one_of_a_kind = exclusive or role or switched or (bool(named) and _is_named(new, gained))
        if not (single or one_of_a_kind or (shared and (classes or not new.classes) and old.classes - _MANY)):
            return None
        if (
            (new.classes - old.classes) & _MEASURES
            or (single and not shared and _several(old, new))
            or (not single and (new.classes - old.classes) & _PLACES)
        ):
            return None
        return "corrected" if new.corrects else "renewed"


def _identify(numbers: set[str]) -> bool:
    """Whether numbers that the newer names as former tell what it changes: a date, an amount, or two others."""
    kinds = by_kind([Piece(number, 0, 0) for number in numbers])
    return len(numbers) > 1 or bool(kinds.keys() - {"", "time", "weekday", "month"})


def _ends_name(old: Core, new: Core, left: list[Piece], classes: frozenset[str], shared: list[Piece]) -> bool:
    """Whether the newer names a former value and a new one, and these words of the older are a name in the other
    language, which cannot be compared with them: 从诺瓦跳槽到高草 after "I work for Novalux".
    """
    if not (classes & _NAMED_APART or ("favourite" in classes and shared)):
        return False
    former, gained = former_of(old, new, any_word=True)
    values = [piece for piece in gained if piece not in shared]
    return (
        bool(former and values)
        and are_names((*former, *left))
        and _one_value(old.text, left)
        and _one_value(new.text, values)
        and _parted(new, former, values)
    )


def _besides(old: Core, new: Core, gained: list[Piece]) -> bool:
    """Whether the added words only name who changed it: "the landlord put my rent up", 房东把我房租涨到."""
    known = {piece.stem for piece in old.words}
    shared = [piece for piece in new.words if piece.stem in known]
    if not shared or len({piece.stem for piece in shared}) < len(known):
        return False
    first = min(piece.start for piece in shared)
    last = max(piece.end for piece in gained)
    return last <= first and _DETERMINED.search(new.text[last:first]) is not None


def _definite(core: Core) -> set[frozenset[str]]:
    """The definite noun: "dentist" in "my dentist is Dr. Pham"."""
    found = [*marks.DEFINITE.finditer(core.text), *marks.DEFINITE_ZH.finditer(core.text)]
    named = {
        frozenset(piece.stem for piece in core.words if one.start("np") <= piece.start < one.end("np")) for one in found
    }
    return named - {frozenset()}


def _of_another_kind(piece: Piece, old: Core, new: Core) -> bool:
    """Whether the newer has only the end of a Chinese word, after another beginning: 房贷利率, 车贷利率; 前轮, 后轮."""
    if piece.stem.isascii():
        return False
    if (place := new.text.find(piece.stem)) >= 0:
        sides = old.text[max(0, piece.start - 1) : piece.start], new.text[max(0, place - 1) : place]
        return sides[0] != sides[1] and all(side >= "\u4e00" and side not in _NO_BEGINNING for side in sides)
    tail = next((piece.stem[n:] for n in range(1, len(piece.stem) - 1) if piece.stem[n:] in new.text), "")
    before = new.text[max(0, new.text.find(tail) - 1) : new.text.find(tail)] if tail else ""
    return before >= "\u4e00" and before not in _NO_BEGINNING


def _told_after(new: Core, former: list[Piece], gained: list[Piece]) -> bool:
    """Whether what is new comes in a later part than the former value."""
    end = max(piece.end for piece in former)
    return all(piece.start > end and marks.BOUNDS.search(new.text[end : piece.start]) for piece in gained)


def _exchanged(new: Core, shared: list[Piece], gained: list[Piece]) -> bool:
    """Whether the thing was exchanged and then the new one is named: "we changed our doctor, it's Dr. Amin"."""
    things = [piece for piece in new.words if within(piece, shared) and marks.EXCHANGED.search(new.text[: piece.start])]
    return bool(things) and _told_after(new, things, gained)


def _switches_words(new: Core) -> bool:
    """Whether a word takes the place of another: not 改到23号, which gives a number."""
    starts = {piece.start for piece in new.numbers}
    return any(starts.isdisjoint((one.end(), one.end() + 1)) for one in marks.SWITCHES.finditer(new.text))


def _last(core: Core, pieces: list[Piece]) -> bool:
    """Whether the last word is one of these."""
    return any(same(core.words[-1], piece) for piece in pieces)


def _is_named(new: Core, gained: list[Piece]) -> bool:
    """Whether the value names a person or thing: not "broken"."""
    return bool(gained) and _NAMED.search(new.text[: gained[0].start + 1]) is not None


def _rest(old: Core, new: Core, left: list[Piece], gone: list[Piece], gained: list[Piece]) -> bool:
    """Whether the rest of the older is the thing whose value ended, or a part of a place that ended."""
    if gained and any({piece.stem for piece in left} <= named for named in _definite(old)):
        return True
    ends = {piece.end for piece in gone}
    return "home" in old.classes & new.classes and all(piece.start in ends for piece in left)


def _numbered(core: Core) -> set[str]:
    """Words followed by a number as their name."""
    return {(found["noun"] or found["zh"]).lower() for found in _NUMBERED.finditer(core.text)}


def _parted(new: Core, former: list[Piece], gained: list[Piece]) -> bool:
    """Whether other words separate the former value and the new one."""
    first, last = former[0], former[-1]
    return all(
        piece.end <= first.start or marks.PARTED.search(new.text[last.end : piece.start]) is not None
        for piece in gained
    )


def _same_persons(old: Core, new: Core) -> bool:
    """The same people; a name in only one of them is a value if the statement gives a name."""
    if old.persons != new.persons and not relatives_alike(old.persons, new.persons):
        left = old.persons - new.persons
        return new.persons <= old.persons and any(_ROLE.search(old.text) for _ in left) and bool(former_of(old, new)[0])
    naming = "name" in old.classes | new.classes
    spoken = [one.text.lower() for one in (old, new)]
    return (
        naming
        or marks.REPLACES.search(new.text) is not None
        or all(name in text for name in old.names ^ new.names for text in spoken)
        or (are_across(old, new) and all(_is_translated(name, old, new) for name in old.names ^ new.names))
    )


def _is_translated(name: str, old: Core, new: Core) -> bool:
    """Whether the other language has a word for what is taken for a name: 多伦多, Lilies."""
    own = [piece for core in (old, new) for piece in core.words if piece.stem in name or name in piece.stem]
    other = [piece for core in (old, new) for piece in core.words if piece.stem.isascii() != name.isascii()]
    return any(same(piece, one) for piece in own for one in other)


def _one_value(text: str, pieces: list[Piece]) -> bool:
    """Whether these are adjacent words of one value."""
    ordered = sorted(pieces, key=lambda piece: piece.start)
    between = (text[one.end : other.start] for one, other in pairwise(ordered))
    return len(pieces) <= _VALUE and all(_JOINT.fullmatch(gap) for gap in between)


def _corrects(old: Core, new: Core) -> bool:
    """Whether it corrects the older, which it does not name: what it denies and whose attribute it tells are the same.

    "Not 9 April, June 6" corrects a date; "I can't eat walnuts, I have an allergy" and "correction: I live in Graz"
    correct nothing that was said about a colleague's sport.
    """
    if not new.corrects or (new.classes and new.classes.isdisjoint(old.classes)):
        return False
    return _NEGATED.search(new.text) is None or bool(former_of(old, new)[0])


def _is_brief(new: Core) -> bool:
    return not new.persons and len(new.words) + len(new.numbers) <= _SHORT


def _replies(old: Core, new: Core) -> bool:
    """Whether a correction without a subject has a value of the same kind as the older."""
    former, gained = former_of(old, new)
    fresh = [one for one in new.numbers if one not in former]
    if fresh:
        done = (_DONE_ZH.search(new.text[: piece.start]) for piece in fresh)
        if any(verb is not None and verb[1] not in old.text for verb in done):
            return False  # "I miscounted, and took 20 along" is no correction of an age
        one, other = by_kind(old.numbers), by_kind(fresh)
        if len(fresh) == len(old.numbers) > 1:  # "house 3, flat 520": the house is the same
            one, other = by_kind(_only(old.numbers, fresh)), by_kind(_only(fresh, old.numbers))
        if "" in other and "" not in one and any(map(_DATE.match, one.get("date", ()))):
            return not gained and all(_DAY.match(new.text[piece.start : piece.end + 2]) for piece in fresh)
        if other.keys() == {""} and len(one) == 1 and not one.keys() & {"date", "time", "weekday", "month"}:
            return not gained and set(other[""]).isdisjoint(_UNIT.sub("", value) for value in next(iter(one.values())))
        return not gained and any(kind in one and one[kind].isdisjoint(values) for kind, values in other.items())
    return bool(gained) and len(gained) <= _VALUE and not _measured(old) and bool(old.words)


def _only(numbers: Sequence[Piece], others: Sequence[Piece]) -> list[Piece]:
    """These numbers without those of the others."""
    known_too = {piece.stem for piece in others}
    return [piece for piece in numbers if piece.stem not in known_too]


def _names_another(old: Core, new: Core) -> bool:
    """Whether a correction names a thing that the older lacks, and tells how that is: "sorry, the exam is in June"."""
    return any(named.isdisjoint(stems(old.words)) for named in _definite(new))


def _adds(new: Core, gained: list[Piece], classes: frozenset[str]) -> bool:
    """Whether a change may leave the older valid: an additional cat, another dish, the place of the car."""
    if classes & {"diet", "sport"} and not (marks.STRONG.search(new.text) or _SPOKEN_OF.search(new.text)):
        return True
    if "name" in classes and _INDEFINITE.search(new.text) and not re.search(r"\bnew\b", new.text, re.IGNORECASE):
        return True
    return "car" in classes and any(_THERE.search(new.text[: piece.start]) for piece in gained)


def _is_denied(core: Core, piece: Piece) -> bool:
    """Whether the part of the sentence before this word denies it."""
    denials = (found.end() for found in marks.DENIES.finditer(core.text, 0, piece.start))
    return any(_TURNS.search(core.text[end : piece.start]) is None for end in denials)


def _measured(core: Core) -> bool:
    """Whether its value is a number: not the floor, or the day of the week."""
    return bool(by_kind(core.numbers).keys() - {"", "weekday", "floor"})


def _several(old: Core, new: Core) -> bool:
    """Whether the older mentions more than one attribute."""
    return len(old.classes & SINGLE) > 1 and not old.classes & SINGLE <= new.classes


def _subject(old: Core, classes: frozenset[str]) -> str:
    about = sorted(classes) or [piece.stem for piece in old.words][:_VALUE]
    return f"{' and '.join(sorted(old.persons)) or 'me'}: {' '.join(about)}"
