"""Updates in plain speech: a later line says only the new state, and by a pronoun or not at all what it is of."""

import re
from collections.abc import Sequence

from biem.domain.conflict import Matter
from biem.engine.context.lines import LineQuestion, RatedLine
from biem.engine.context.quantities import counts_on, nearness, quantities
from biem.engine.context.same_subject import likeness

_NEAR = 0.1
"""Nearness of two numbers from which one may be a later count of what the other counted."""
_SORTS = tuple(map(re.compile, (r"\d\d:\d\d", r"weekday:\w+", r"\d\d-\d\d")))
"""Times of day, days of the week, dates, as `Matter` has them."""
_OF_TIME = frozenset(
    ("half", "quarter", "hour", "minut", "dai", "week", "later", "earlier", "morn", "afternoon", "even")
)
"""Index terms that tell only how a time was moved."""
_OFTEN = re.compile(
    r"\b(?:(once|twice|\w+ times) (?:an?|per|each|every) (\w+)"
    r"|every (other|second|third)? ?(day|night|morning|evening|week|weekend|month|year|hour)"
    r"|(hour|dai|week|fortnight|month|quarter|year)ly)\b",
    re.IGNORECASE,
)
_IS = r"\bit(?:['’]s| is| will be)\b"
_IT_IS_NOW = re.compile(
    rf"\b(?:so|now|instead|but) (?:now )?{_IS}|{_IS}[^.;!?]*\b(?:instead|now|from now on)\b", re.IGNORECASE
)
"""States by a pronoun what something that was spoken of before is now."""
_OF_A_PRONOUN = re.compile(r"\W*(?:(?:so|and|but|well|no|okay|ok)\W+)?(?:it|we|they)\b", re.IGNORECASE)
_WHO = re.compile(r"\bwho(?:m|se)?\b|谁|哪位", re.IGNORECASE)


class PlainUpdates:
    """Compares the lines of one question."""

    def __init__(self, lines: Sequence[RatedLine], question: LineQuestion) -> None:
        self._lines = lines
        self._question = question
        self._quantities = {id(line): list(quantities(line.hit.node.text, line.matter)) for line in lines}
        self._asks_who = _WHO.search(question.text) is not None

    def continues(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether the newer line gives, in place of the value in question of the older, another one of that."""
        rules = (self._counts_on, self._moves_on, self._takes_over, self._repeats_otherwise, self._is_now)
        return any(rule(newer, older) for rule in rules)

    def _counts_on(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it gives a later number of what the older counts, and calls that by a pronoun: "that leaves seven".

        Of the lines said before with a number the older is the closest to it, or has the nearest number.
        """
        asked = self._question
        count = counts_on(newer.hit.node.text, asked.text) if "amount" in asked.matter.wants else None
        if count is None or not (older.terms & asked.terms or older.matter.topics & asked.matter.topics):
            return False
        near = nearness([count], self._quantities[id(older)])
        if near < _NEAR:
            return False
        counted = [line for line in self._before(newer, older) if self._quantities[id(line)]]
        return all(likeness(newer, line) <= likeness(newer, older) for line in counted) or all(
            nearness([count], self._quantities[id(line)]) < near for line in counted
        )

    def _moves_on(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it says a change and another time, names nothing else, and the older is the closest with a time."""
        one, other, asked = newer.matter, older.matter, self._question.matter
        if not ("time" in asked.wants and one.changes and one.holds):
            return False
        if one.persons - {"me"} - other.persons - asked.persons:
            return False
        further = one.things - _OF_TIME - other.things - asked.things
        if further and (
            _OF_A_PRONOUN.match(newer.hit.node.text) is None
            or any(further & line.matter.things for line in self._before(newer, older))
        ):
            return False
        for sort in _SORTS:
            told, said = _values(sort, one), _values(sort, other)
            if told and said and told.isdisjoint(said):
                timed = (line for line in self._before(newer, older) if _values(sort, line.matter))
                return all(likeness(newer, line) <= likeness(newer, older) for line in timed)
        return False

    def _takes_over(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether both name a person for what is asked: another boss of mine, another one who has the keys now."""
        one, other, asked = newer.matter, older.matter, self._question.matter
        if not (self._asks_who and one.changes and one.holds):
            return False
        related = {name for name in asked.persons & one.persons & other.persons if "." in name}
        if related:
            return "name" in one.gives and "name" in other.gives
        others = {name for name in one.persons if "." not in name} - {"me", "you"} - other.persons
        return bool(others) and bool(asked.things & one.things & other.things) and others.isdisjoint(older.terms)

    def _repeats_otherwise(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether how often is asked, and both say it of the same thing, and not the same."""
        if "often" not in self._question.matter.wants:
            return False
        told, said = (_how_often(line.hit.node.text) for line in (newer, older))
        if not (told and said and told.isdisjoint(said)):
            return False
        timed = (line for line in self._before(newer, older) if _how_often(line.hit.node.text))
        return bool(newer.terms & older.terms) and all(
            likeness(newer, line) <= likeness(newer, older) for line in timed
        )

    def _is_now(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it says by a pronoun what the older is now, on the same occasion or of the same thing as is asked."""
        if _IT_IS_NOW.search(newer.hit.node.text) is None or newer.matter.persons - {"me"} - older.matter.persons:
            return False
        shared = newer.matter.things & older.matter.things & self._question.matter.things
        return bool(shared) and newer.matter.holds

    def _before(self, newer: RatedLine, older: RatedLine) -> list[RatedLine]:
        return [line for line in self._lines if line.hit.node.at < newer.hit.node.at and line is not older]


def _values(sort: re.Pattern[str], matter: Matter) -> frozenset[str]:
    return frozenset(filter(sort.fullmatch, matter.numbers))


def _how_often(text: str) -> frozenset[str]:
    return frozenset(" ".join(filter(None, found.groups())).lower() for found in _OFTEN.finditer(text))
