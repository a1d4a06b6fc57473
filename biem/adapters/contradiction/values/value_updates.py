"""Updates: a newer statement replaces the value of an older one, independent of the words around the two values.

Persons, words of correction and change, words of the attribute, and fillers are removed from both. A thing, its values
and numbers remain. If the two share persons and thing, or the class of the attribute, and differ only in the value, a
newer statement that marks a correction or change takes effect. So does one that names the older value as the former
one: "the Volvo is gone", 从北京搬到上海.
"""

import re

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon.attributes import SINGLE
from biem.adapters.contradiction.reading.journeys import opposed
from biem.adapters.contradiction.reading.reader import Reading, StatementReader
from biem.adapters.contradiction.statements.core import Core, Piece, stems
from biem.adapters.contradiction.statements.core_persons import VAGUE
from biem.adapters.contradiction.statements.core_reader import StatementCores
from biem.adapters.contradiction.statements.former import former_of
from biem.adapters.contradiction.statements.likeness import (
    are_across,
    are_of_other_occasions,
    are_of_two,
    known,
    within,
)
from biem.adapters.contradiction.statements.number_kinds import by_kind, comparable, is_difference
from biem.adapters.contradiction.statements.one_day import is_of_one_day
from biem.adapters.contradiction.statements.parts import announces, parts_of
from biem.adapters.contradiction.statements.qualifiers import are_qualified_otherwise, may_be_other_relatives
from biem.adapters.contradiction.statements.unaffected import is_unaffected
from biem.adapters.contradiction.subjects.subjects import Subjects
from biem.adapters.contradiction.values.corrections import corrects_what_was_just_said
from biem.adapters.contradiction.values.other_quantities import counts, is_another_quantity, is_rate, sets_number
from biem.adapters.contradiction.values.persons_of_values import are_of_same_persons
from biem.adapters.contradiction.values.replaced_things import (
    INDEFINITE,
    is_denied,
    is_exchanged,
    is_of_another_kind,
    is_rest,
    may_add,
    names_who_changed_it,
)
from biem.adapters.contradiction.values.stated_values import (
    LONGEST_VALUE,
    PLACES,
    are_one_value,
    are_owned,
    are_parted,
    definite_nouns,
    ends_name,
    ends_with,
    gives_name,
    has_several,
    is_measured,
    is_named,
    is_told_after,
    modifying,
    numbered_words,
)
from biem.domain.conflict import Verdict

WHOLE = frozenset(("former named", "corrected", "renewed", "corrected right after"))
"""The rules of this module: they consider the whole statement …"""
JOINED = re.compile(r"\b(?:and|but|while|whereas|who|which)\b|;|[；、也还]|而且|并且|但是?|可是|不过", re.IGNORECASE)
"""… unless it joins several."""
_LONGEST = 240
"""Maximum characters: longer texts change one thing and mention many."""
_SURE, _BRIEF = 0.9, 0.85
_MEASURES = frozenset(("age", "weight", "birthday", "due", "phone", "relationship", "code"))
_LOCATED = re.compile(r"\b(?:in|at|on)\b|在", re.IGNORECASE)
_MANY = frozenset(("liking", "amount", "employer"))
"""Attributes with several values at a time."""
_THINGS = PLACES | {"car"}
"""Classes whose words may name a thing that has another attribute."""
_EXCHANGED_ONE = re.compile("换了?个?新的?[^，。,：:]{2,5}(?:[：:]|[，,]?[叫是])")
"""Names the successor of a person."""


class ValueUpdates:
    """Judges pairs by their cores. Thread-safe."""

    def __init__(self, reader: StatementReader, subjects: Subjects) -> None:
        self.core = StatementCores(reader, subjects).of
        """Returns the core of a reading."""
        self._exclusive = {reader.stem(value): group for value, (group, _) in lexicon.exclusive().items()}

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

    def may_tell_of_another(self, older: Reading, newer: Reading) -> bool:
        """Whether the newer is about a thing, relative or day that the older may not mean: the rent of the car."""
        old, new = self.core(older), self.core(newer)
        return are_qualified_otherwise(old, new) or may_be_other_relatives(old, new) or is_of_one_day(old, new)

    def leaves(self, older: Reading, newer: Reading) -> bool:
        """Whether the newer says by its own words that the older holds still, or is about another one."""
        return is_unaffected(self.core(older), self.core(newer))

    def denied(self, older: Reading, newer: Reading) -> bool:
        """Whether a part of the newer, which denies something, has exactly the words of the older."""
        old, new = self.core(older), self.core(newer)
        if not (old.holds and new.holds) or old.told or old.past or new.adds or not are_of_same_persons(old, new):
            return False
        if not old.words or marks.DENIES_NOW.search(new.text) is None:
            return False
        return any(
            stems(part.words) == stems(old.words) and stems(part.numbers) <= stems(old.numbers)
            for part in parts_of(old, new)
        )

    def one_more(self, newer: Reading) -> bool:
        """Whether it introduces something new: "a cat named Tofu"."""
        return INDEFINITE.search(newer.text) is not None

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
        if not (old.holds and new.marked):
            return None
        if (new.days and "weekday" not in by_kind(old.numbers)) or is_of_one_day(old, new):
            return None
        if follows and corrects_what_was_just_said(old, new):
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
        if not (old.holds and new.holds) or new.adds or self._differ(old, new) is None:
            return False
        another = are_of_other_occasions(old, new) or opposed(older, newer)
        return not another and not self.may_tell_of_another(older, newer)

    def _differ(self, old: Core, new: Core) -> str | None:
        """The rule by which the newer differs from the older only in the value."""
        if (
            old.of_old
            or are_of_two(old, new)
            or not are_of_same_persons(old, new)
            or any(map(VAGUE.match, old.persons))
        ):
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
        if differ == [""] and not numbered_words(old).isdisjoint(numbered_words(new)):
            return None  # order 5 was shipped, order 6 was cancelled
        if is_another_quantity(old, new, differ):
            return None
        if by_kind(old.numbers).keys().isdisjoint(by_kind(fresh)) and (counts(old, old.numbers) or counts(new, fresh)):
            return None  # every 40 minutes, 17 pages
        named = {piece.stem for piece in former} & {piece.stem for piece in old.numbers}
        if not differ or (gained and not names_who_changed_it(old, new, gained)):
            return None
        if INDEFINITE.search(new.text) and not (new.corrects or former or old.classes & new.classes & SINGLE):
            return None  # a new meeting is an additional one
        shared = {
            one.stem
            for one in old.words
            if known(one, new, old) and not (is_of_another_kind(one, old, new) or is_rate(old, one))
        }
        if not old.words:
            shared = set(old.verbs & new.verbs) or {one.stem for one in new.words if known(one, old, new)}
        shared = {stem for stem in shared if not stem.endswith("-")}  # of OS-110 and OS-101
        classes = old.classes & new.classes & SINGLE
        left = stems(old.words) - shared
        if left and (new.classes - old.classes) & _THINGS:
            return None  # the rate of the mortgage, and of the loan for the car
        if not (old.words or new.words):
            classes |= (old.classes & new.classes) - _MANY
        only_corrected = new.corrects and bool(old.persons) and not (old.words or new.words or differ == [""])
        if shared or (not left and (classes or named or only_corrected)):
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
        if not (former or old.told) and left and are_across(old, new) and ends_name(old, new, left, classes, shared):
            return "former named"
        apart = bool(old.classes and new.classes and not classes)
        named_so = bool(left) and any({piece.stem for piece in left} <= named for named in definite_nouns(old))
        if len(gained) > LONGEST_VALUE or (
            gained
            and not are_one_value(new.text, gained)
            and not (gone and named_so and is_told_after(new, former, gained))
        ):
            return None
        if gone:
            if (
                (
                    left
                    and not (classes and gained and are_one_value(old.text, left))
                    and not is_rest(old, new, left, gone, gained)
                )
                or (apart and not shared)
                or (gained and not are_parted(new, former, gained))
                or (old.told and not gained)
            ):
                return None
            return "former named"
        ends = former or marks.CANCELS.search(new.text) or (new.denies and marks.DENIES_NOW.search(new.text))
        if ends and not gained and not left and old.words and not old.told and not old.denies:
            return "former named"  # "the barbecue on Saturday is off": all of it
        had = old.classes - modifying(old)
        single = classes & had & SINGLE
        if not new.corrects and may_add(new, gained, classes):
            return None
        if is_measured(old) or ended or not gained or not left or not are_one_value(old.text, left):
            return None
        if sets_number(new):
            return None  # the pressure of the tyres, after where the car is serviced
        if all(is_denied(new, piece) for piece in gained):
            return None  # "we are not moving to Bath after all"
        if "name" in old.classes | new.classes and shared and all(ends_with(core, shared) for core in (old, new)):
            return None  # another one of that name
        if "name" in old.classes - new.classes and shared and gives_name(old, shared):
            return None  # something else about what is called so
        named = {one for one in definite_nouns(old) & definite_nouns(new) if one <= stems(tuple(shared))}
        exclusive = bool(shared) and not self._groups(left).isdisjoint(self._groups(gained))
        role = bool(old.persons) and bool(
            (marks.ROLE.search(old.text) and marks.ROLE.search(new.text))
            or ("name" in old.classes and _EXCHANGED_ONE.search(new.text))
        )
        switched = bool(shared) and (
            is_exchanged(new, shared, gained)
            or _switches_words(new)
            or (marks.GOES.search(new.text) is not None and _LOCATED.search(old.text) is not None)
        )
        one_of_a_kind = exclusive or role or switched or (bool(named) and is_named(new, gained))
        if not (single or exclusive or role or classes or named) and are_owned(new, shared, gained):
            return None  # its teacher changed, and not where it is done
        if not (single or one_of_a_kind or (shared and (classes or not new.classes) and had - _MANY)):
            return None
        if (
            (new.classes - old.classes) & _MEASURES
            or (single and not shared and has_several(old, new))
            or (not single and (new.classes - old.classes) & PLACES)
        ):
            return None
        return "corrected" if new.corrects else "renewed"


def _switches_words(new: Core) -> bool:
    """Whether a word takes the place of another: not 改到23号, which gives a number."""
    starts = {piece.start for piece in new.numbers}
    return any(starts.isdisjoint((one.end(), one.end() + 1)) for one in marks.SWITCHES.finditer(new.text))


def _subject(old: Core, classes: frozenset[str]) -> str:
    about = sorted(classes) or [piece.stem for piece in old.words][:LONGEST_VALUE]
    return f"{' and '.join(sorted(old.persons)) or 'me'}: {' '.join(about)}"
