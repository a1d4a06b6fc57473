"""Chinese updates told in passing: who or what was there before has its own clause, the next one has the successor.

中通最近丢件，统一换顺丰发 names the former value and the new one; 例汤换萝卜牛腩 names the thing before the verb;
预算只有28万了 names the thing and another number of it (`counted_again`). Chinese has no word boundaries, and names
are unknown to the segmenter, so stretches of characters in both texts are compared, not words.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.lexicon import takeovers as words
from biem.adapters.contradiction.reading.reader import Reading, StatementReader
from biem.adapters.contradiction.statements.core import Core, blanked
from biem.adapters.contradiction.statements.core_persons import positions
from biem.adapters.contradiction.statements.likeness import are_of_two
from biem.adapters.contradiction.statements.number_kinds import by_kind
from biem.adapters.contradiction.statements.stretches import (
    CLAUSE,
    EMPTY,
    SHORT,
    STRETCH,
    Common,
    Stretches,
    begins_topic,
    clause_at,
    is_of_another,
    names_another,
    says_no_topic,
)
from biem.adapters.contradiction.values.counted_again import counted_again
from biem.adapters.contradiction.values.value_updates import ValueUpdates
from biem.domain.conflict import Verdict

TAKEOVERS = frozenset(("taken over", "counted again"))
"""The rules of this module: they consider the whole statement."""
_SURE = 0.86
_LONGEST = 120
"""Maximum characters of each text."""
_NAMED = 4
"""Maximum words of the thing in a verdict."""
_ASIDE = 6
"""Maximum characters of a clause that only describes the value before it: 人很随和."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A clause of the newer text that tells of a change: where it begins and ends, and its verb of change."""

    start: int
    end: int
    verb: tuple[int, int]

    def brings(self, place: int) -> bool:
        """Whether a place comes after the verb."""
        return self.verb[1] <= place < self.end


class Takeovers:
    """Judges pairs of which the newer is in Chinese. Thread-safe."""

    def __init__(self, reader: StatementReader, value_updates: ValueUpdates) -> None:
        self._core = value_updates.core
        self._stretches = Stretches(reader)
        self._common = self._stretches.common

    def speaks(self, newer: Reading) -> bool:
        """Whether a statement may tell of a value that takes the place of another."""
        if not newer.in_chinese or len(newer.text) > _LONGEST:
            return False
        if words.CHANGE.search(newer.text):
            return True
        return bool(newer.numbers) and any(one.search(newer.text) for one in (words.RECKONS, words.TOLD_BEFORE))

    def tells_of_another(self, older: Reading, newer: Reading) -> bool:
        """Whether what changes is a thing that the older does not name, and that has another: 超市的会员日改成周二了,
        after the day of a chemist's; or a thing that has the name of its value: 小米手机, after a television by 小米.
        """
        one, other = older.text, newer.text
        if not (newer.in_chinese and older.in_chinese) or max(len(one), len(other)) > _LONGEST:
            return False
        common = self._common(one, other)
        if any(self._names_thing_of(name, one, other) for name in common):
            return True
        changes = [change for change in _changes(other) if words.TO.match(other, change.verb[0])]
        return bool(changes) and all(
            _begins_another(other, change, one, common) or _is_of_part(other, change, one, common) for change in changes
        )

    def judge(self, older: Reading, newer: Reading) -> Verdict | None:
        """The verdict that the newer replaces the older, or None."""
        if len(older.text) > _LONGEST or not self.speaks(newer):
            return None
        old, new = self._core(older), self._core(newer)
        if not (old.holds and new.holds) or old.past or old.open or new.open:
            return None
        if are_of_two(old, new) or not _are_of_same_people(old, new):
            return None
        if (of_place := words.OF_A_PLACE.match(new.text)) and of_place.group()[:-1] not in old.text:
            return None
        common = tuple(
            one for one in self._common(old.text, new.text) if not self._names_thing_of(one, old.text, new.text)
        )
        rule, place = "counted again", counted_again(old, new, common)
        if place is None:
            rule, place = "taken over", _taken_over(old.text, new.text, common)
        if place is None:
            return None
        start, end = clause_at(old.text, place)
        told = old.text[start:end]
        if marks.DENIES.search(told) or words.ONCE.search(told):
            return None
        partial = _claims_more(old, place, common)
        thing = " ".join(piece.stem for piece in old.words[:_NAMED])
        subject = f"{' and '.join(sorted(old.persons)) or 'me'}: {thing}"
        claim = told.strip() if partial else ""
        return Verdict("update", _SURE, rule, partial=partial, claim=claim, subject=subject, aligned=True)

    def changed_clause(self, older: Reading, newer: Reading) -> str:
        """The clause of the older that the newer is about, if further ones tell something else; else empty."""
        if not (older.in_chinese and newer.in_chinese) or max(len(older.text), len(newer.text)) > _LONGEST:
            return ""
        old, new = self._core(older), self._core(newer)
        common = self._common(older.text, newer.text)
        named = max((one.old for one in common), default=0)
        kinds = by_kind(new.numbers).keys()
        place = next((one.start for one in old.numbers if not kinds.isdisjoint(by_kind([one]))), named)
        start, end = clause_at(older.text, place)
        return older.text[start:end].strip() if _claims_more(old, place, common) else ""

    def _names_thing_of(self, one: Common, old: str, new: str) -> bool:
        """Whether the newer begins a clause with a thing of a name that the older gives as a value: 小米手机."""
        start, end = clause_at(new, one.new)
        if one.new != start or not words.LED_IN.search(old[clause_at(old, one.old)[0] : one.old]):
            return False
        return self._stretches.begins_with_thing(new[start + len(one.text) : end], old)


def _taken_over(old: str, new: str, common: tuple[Common, ...]) -> int | None:
    """Where the older has the value that another one replaces; None if none does."""
    values = [one for one in common if words.LED_IN.search(old[clause_at(old, one.old)[0] : one.old])]
    things = [one for one in common if one not in values and not is_of_another(one, old, new)]
    owners = [one for one in values if new.startswith("的", one.new + len(one.text))]
    if owners:
        return None  # 李倩的主管 is another one than the user's, who is 李倩
    for change in _changes(new):
        comes = words.NOT_NEW.sub("", new[change.verb[1] : change.end])
        timed = words.OF_TIME.match(comes) is not None
        if not _is_gained(comes, old):
            continue
        before = [one for one in common if change.start <= one.new < change.verb[0]]
        strange = names_another(new[change.start : change.verb[0]], old, common)
        for value in values:
            if change.brings(value.new) or timed != (words.OF_TIME.match(value.text) is not None):
                continue
            gives_way, named = _gives_way(value, change, new), any(one is not value for one in before)
            thing = any(one.text not in value.text and not change.brings(one.new) for one in things)
            if (named and gives_way) or (not strange and (named or thing or gives_way)):
                return value.old
        for one in () if timed or strange else things:
            told = words.IS.match(old, one.old + len(one.text))
            if told is not None and _is_its_own(one, change, old, new, common):
                return told.end()
    return None


def _gives_way(value: Common, change: _Change, text: str) -> bool:
    """Whether a clause before the change is about the former value: 中通最近丢件，统一换顺丰发."""
    start, end = clause_at(text, value.new)
    if start >= change.start or not says_no_topic(text[start : value.new]):
        return False
    if words.OTHER_PEOPLE.search(text, start, value.new):
        return False
    if words.TO.match(text, change.verb[0]):
        return True
    return words.ENDED.search(text[value.new + len(value.text) : end + 1]) is not None


def _is_its_own(thing: Common, change: _Change, old: str, new: str, common: tuple[Common, ...]) -> bool:
    """Whether what changes is a thing of which the older tells the value: 例汤换萝卜牛腩; 龟背竹长太大，搬到书房了."""
    after = thing.new + len(thing.text)
    if not (words.TO.match(new, change.verb[0]) or words.NOW_IS.match(new, change.verb[0])):
        return False
    if names_another(old[clause_at(old, thing.old)[0] : thing.old], new, common):
        return False
    if change.start <= thing.new < change.verb[0]:
        return says_no_topic(new[after : change.verb[0]])
    leads = clause_at(new, thing.new)[0] == thing.new < change.start
    return leads and says_no_topic(new[change.start : change.verb[0]])


def _changes(text: str) -> Iterator[_Change]:
    """The clauses that tell of a lasting change, with each verb of change."""
    if words.BESIDES.search(text) or words.ONLY_ONCE.search(text):
        return
    for clause in CLAUSE.finditer(text):
        if words.NOT_LASTING.search(clause.group()) or words.ADDED.search(clause.group()):
            continue
        for verb in words.CHANGE.finditer(text, *clause.span()):
            if not marks.DENIES.search(text[clause.start() : verb.start()]):
                yield _Change(*clause.span(), verb.span())


def _is_gained(comes: str, old: str) -> bool:
    """Whether what follows a verb of change names something that the older lacks, and is no number."""
    found = STRETCH.match(comes)
    return found is not None and len(found.group()) >= SHORT and found.group()[:SHORT].lower() not in old.lower()


def _begins_another(text: str, change: _Change, other: str, common: tuple[Common, ...]) -> bool:
    """Whether the clause of a change begins with a thing that the other text lacks, and this with one that it lacks."""
    before = text[change.start : change.verb[0]]
    first = min((one.new for one in common if change.start <= one.new < change.verb[0]), default=change.verb[0])
    if before.isascii() or words.OWN.match(before) or not names_another(text[change.start : first], other, ()):
        return False
    return begins_topic(other) not in text


def _is_of_part(text: str, change: _Change, other: str, common: tuple[Common, ...]) -> bool:
    """Whether what changes is a part of what both name: 官网首页大图换成秋季款了."""
    named = [one for one in common if change.start <= one.new < change.verb[0]]
    if not named:
        return False
    last = max(one.new + len(one.text) for one in named)
    rest = words.OF_ITSELF.sub("", text[last : change.verb[0]])
    return not rest.startswith(("的", "从", "由")) and names_another(rest, other, common)


def _are_of_same_people(old: Core, new: Core) -> bool:
    one, other = (
        frozenset(person for person in core.persons if person.startswith("me.") and not _is_title(person, core.text))
        for core in (old, new)
    )
    return one == other and all(name in new.text.lower() for name in old.names)


def _is_title(person: str, text: str) -> bool:
    """Whether a relation is only the title of a name: 陆老师."""
    title = person.removeprefix("me.")
    before = (text[max(0, at - 1) : at] for at in positions(text, title))
    return words.TITLES.fullmatch(title) is not None and all(one >= "\u4e00" and one not in EMPTY for one in before)


def _claims_more(old: Core, place: int, common: tuple[Common, ...]) -> bool:
    """Whether the older has a further claim: a clause before the one at this place, or a longer one, or one with a
    number, after it.
    """
    for clause in CLAUSE.finditer(old.text):
        if clause.start() <= place < clause.end():
            continue
        told = words.NO_TOPIC.sub("", clause.group()).strip()
        if words.NO_CLAIM.search(told):
            continue
        counts = _has_number_of_something(old, *clause.span())
        further = clause.start() < place or len(told) > _ASIDE or counts
        if further and len(told) >= SHORT and not any(one.text in told for one in common):
            return True
    return False


def _has_number_of_something(core: Core, start: int, end: int) -> bool:
    """Whether a clause has a number and says of what: 月租400, not only 下午三点."""
    inside = [(one.start - start, one.end - start) for one in core.numbers if start <= one.start < end]
    rest = words.NO_TOPIC.sub("", blanked(core.text[start:end], inside))
    return bool(inside) and sum(map(str.isalpha, rest)) >= SHORT
