"""Later lines that tell how the matter of an earlier one stands now, by a fitted logistic regression.

    log-odds = bias + Σ weight · feature      (`SuccessionWeights`)

Rules find a change by its words. "I chickened out of sage" has none of them, and neither have most of the ways to say
that something is different now. The regression weighs evidence that needs no words: how alike the two lines are,
whether other lines are more alike, which words of the question and of the earlier line the later one takes up, how
near their numbers are, and how much the vector of the later one is that of a text that tells of a change
(`why["changed"]`, a direction of the packaged embedder).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import timedelta

from biem.domain.conflict import Matter
from biem.domain.policies.succession import RetoldWeights, SuccessionWeights
from biem.domain.retention import ASSISTANT
from biem.domain.speech.acts import is_statement
from biem.domain.text import is_han, jaccard, share
from biem.engine.context.currency.former_values import denies_former, gives_way
from biem.engine.context.currency.rescheduled import tells_of_move
from biem.engine.context.lines import UNCHANGED, LineQuestion, RatedLine, rarity
from biem.engine.context.modifiers import has_other_modifier, has_other_subject
from biem.engine.context.occasions import is_exception
from biem.engine.context.persons import ACTING, PETS, UNNAMED, names_owner, states_own
from biem.engine.context.same_subject import (
    are_same,
    closest_before,
    gives_as_much,
    is_of_another_kind,
    is_of_another_way,
    is_own_of_another,
    likeness,
    relatives,
    things_of,
)
from biem.engine.context.values import amounts, give_one_kind, nearness

_WEIGHTS: dict[str, float] = asdict(SuccessionWeights())
_BIAS = _WEIGHTS.pop("bias")
_RETOLD: dict[str, float] = asdict(RetoldWeights())
_RETOLD_BIAS = _RETOLD.pop("bias")
_RARE = 3
"""Maximum number of lines with a word that identifies a value."""
_STEM = 4
"""Minimum characters of a stem of the question that other forms of the word begin with."""
_HAN_STEM = 2
_FURTHEST = 10.0
_SOON = timedelta(hours=12)
_FIFTH = 0.2
_BOTH = _MOST_OWN = 2
"""Number of lines of a pair, and maximum number of words that only a pair has."""
_WHOLE = 0.8
"""Share of the earlier line's index terms from which a question tells that line again."""
_GIVES_WAY = 2.0
"""Log-odds of a line that tells what became of the value and what came after: nine of ten such lines are right."""
_MONEY = "money"
_PET = "pet"
_NEAR = 0.25
"""Nearness of two amounts of which the larger is twice the smaller."""
_OF_NO_THING = frozenset(("rule",))
"""Topics that an amount of anything may have: "from now on"."""
_WHO = re.compile(r"\bwho(?:m|se)?\b|谁|[叫姓]什么|哪位", re.IGNORECASE)
_ADDS = re.compile(
    r"\b(?:also|besides|in addition|another one|as well|has company|got a second)\b|\bon top\b(?! of (?:it|the)\b)"
    r"|\btoo\b(?=\W*$|[.,;!])|\bsecond (?!of\b|thoughts?\b)[a-z]+ (?:is|was|one)\b"
    r"|之外|除了|另外|又[添加买养种报开办]了?(?!始)|还[添加养]了?|也(?:能|会|在|有|活动|开始|对|是)",
    re.IGNORECASE,
)
"""Adds to what is known: allergic to cashews, too."""


class Succession:
    """Compares the lines of one question. Their worth is read when it is made."""

    def __init__(self, lines: Sequence[RatedLine], question: LineQuestion) -> None:
        self._lines = lines
        self._question = question
        self._things = {id(line): things_of(line) for line in lines}
        holders = Counter(thing for things in self._things.values() for thing in things)
        self._han, in_chinese = {id(line): is_han(line.hit.node.text) for line in lines}, is_han(question.text)
        self._words = {
            id(line): line.terms if self._han[id(line)] == in_chinese else line.terms | line.matter.things
            for line in lines
        }
        """The index terms of each line; of one in the other script also its things, which have English names."""
        self._holders = Counter(term for words in self._words.values() for term in words)
        self._terms = frozenset(term for term in question.terms if self._holders[term])
        self._asked = self._rarity(self._terms) or 1.0
        self._told = {key: self._rarity(words) or 1.0 for key, words in self._words.items()}
        self._closest = dict[int, float]()
        self._later = dict[int, list[float]]()
        self._odds = dict[tuple[int, int], float | None]()
        stems = tuple(term for term in question.terms if len(term) >= _STEM)
        common = {thing for thing, count in holders.items() if count > _RARE or thing.startswith(stems)}
        self._common = common | question.terms | question.matter.things
        self._worth = {id(line): line.worth - line.answering for line in lines}
        self._tells = is_statement(question.text)
        self._asks_who = "name" in question.matter.wants or _WHO.search(question.text) is not None

    def odds(self, newer: RatedLine, older: RatedLine) -> float | None:
        """The log-odds that the newer line succeeds the older; None if it cannot."""
        pair = id(newer), id(older)
        if pair not in self._odds:
            self._odds[pair] = self.log_odds(newer, older) if self.may_succeed(newer, older) else None
        return self._odds[pair]

    @property
    def lines(self) -> Sequence[RatedLine]:
        """Those that are compared."""
        return self._lines

    def correct(self, newer: RatedLine, older: RatedLine, odds: float) -> None:
        """Take these log-odds for those that the newer line succeeds the older."""
        self._odds[id(newer), id(older)] = odds

    def may_succeed(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it was stated later, and of no other one's own matter or one of several."""
        if not states_later(newer, older) or is_own_of_another(newer, older):
            return False
        if self.gives_way(newer, older):
            return True
        if self._is_owned_by_another(newer, older):
            return False  # "my dad was born on …" succeeds no birthday of mine, my appointment no birthday of his
        if self._is_moved(newer, older):
            return True
        if self._adds_to(newer, older):
            return False
        said, told = newer.hit.node.text, older.hit.node.text
        asked = self._question.text
        if has_other_modifier(said, told, asked) or has_other_subject(said, told, asked):
            return False
        return not (
            self.is_exception(newer, older)
            or is_of_another_way(newer.matter, older.matter, self._question.matter)
            or self._is_called_after_topic(newer, older)
            or self._continues_another(newer, older)
            or self._counts_no_money(newer.matter, older.matter)
            or _was_once(newer.matter, older.matter)
        )

    def gives_way(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it tells what became of the value of the older, and then what came in its place."""
        said, told = newer.hit.node.text, older.hit.node.text
        return gives_way(said, told, self._question.text, asks_who=self._asks_who)

    def _is_moved(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it says that the event of the older was moved or cancelled; the last of several that it may mean."""
        asked, said, gives = self._question.text, newer.hit.node, newer.matter.gives
        elsewhere = "place" in gives and gives.isdisjoint(("time", "span"))
        wants_time = "time" in self._question.matter.wants

        def may_mean(line: RatedLine) -> bool:
            told = line.hit.node.text
            return tells_of_move(said.text, told, asked, asks_time=wants_time, elsewhere=elsewhere)

        return may_mean(older) and not any(
            older.hit.node.at < line.hit.node.at < said.at
            and line.hit.node.source != ASSISTANT
            and self.give_one_kind(line, older)
            and may_mean(line)
            for line in self._lines
        )

    def _adds_to(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it only names by a pronoun what the older names, and lacks the value in question that this gives."""
        before = newer.hit.refers_to
        if before is None or before.id != older.hit.node.id:
            return False
        return not gives_as_much(newer.matter, older.matter, self._question.matter)

    def _is_owned_by_another(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it is about another person who owns the matter there, not only acts: the teacher moves my lesson."""
        if self._is_of_pet(newer, older) or self._is_of_other_one_named(newer, older):
            return True
        if not self._is_foreign(newer, older):
            return False
        asked = self._question.matter
        told, text = replace(newer.matter, persons=newer.owners), newer.said
        if told.persons == {"me"} and relatives(asked) and "me" not in asked.persons:
            return True
        if self._is_of_other_relative(told):
            return True
        known = older.matter.persons | asked.persons
        if names_owner(text, told.persons, known):
            return True
        return states_own(text, told.persons - known) and not self._asks_who

    def _is_of_pet(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it is about an animal, and the question and the older line about the user: my allergy, the cat's."""
        asked, told = self._question.matter, newer.matter.persons
        if not asked.persons == older.matter.persons == {"me"} or _PET in asked.topics | older.matter.topics:
            return False
        return bool(told) and all(name.rpartition(".")[2] in PETS for name in told)

    def _is_of_other_one_named(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether the older names two relatives, of whom the question names one, and it only the other."""
        named = {name for _, name in older.matter.called}
        if len(named) < _BOTH:
            return False
        asked, said = (
            named & {name.rpartition(".")[2] for name in matter.persons}
            for matter in (self._question.matter, newer.matter)
        )
        return bool(asked and said) and asked.isdisjoint(said)

    def _is_of_other_relative(self, told: Matter) -> bool:
        """Whether it is about a relative, and the question about another one: my brother moved, my sister did not."""
        asked = self._question.matter
        of_own = relatives(told) - ACTING and "me" not in told.persons
        return bool(of_own and relatives(asked)) and not are_same(told, asked)

    def _is_foreign(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it is about other persons than the question, more than the older is, and names no thing of that."""
        return newer.foreign > max(older.foreign, UNNAMED) and not self._answers_by_name(newer, older)

    def _is_of_another_thing(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it names things, but none of the older one, which names a thing in question.

        Things of texts in different scripts cannot be compared.
        """
        if self._han[id(newer)] != self._han[id(older)]:
            return False
        one, other = self._things[id(newer)], self._things[id(older)]
        return bool(one) and share(other, self._question.matter.things) and not share(one, other)

    def is_exception(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it tells of one occasion, and the older what holds otherwise."""
        return is_exception(newer.hit.node.text, older.hit.node.text)

    def has_passed(self, passed: RatedLine, usual: RatedLine) -> bool:
        """Whether a line tells of one occasion, or of how things once were, and another what holds otherwise."""
        if self.is_exception(passed, usual):
            return True
        once, now = passed.matter, usual.matter
        if self._is_beside(passed, usual):
            return now.holds and gives_as_much(now, once, self._question.matter)
        if not _was_once(once, now) or once.persons != now.persons:
            return False
        return gives_as_much(now, once, self._question.matter) and not has_other_modifier(
            usual.hit.node.text, passed.hit.node.text, self._question.text
        )

    def _is_beside(self, line: RatedLine, usual: RatedLine) -> bool:
        """Whether a line decides nothing, is about another person, or about another one of several than is asked for,
        and another line is not.
        """
        if line.matter.open and not usual.matter.open:
            return True
        other_way = is_of_another_way(line.matter, usual.matter, self._question.matter)
        if other_way and self.shares_topic(line, usual):
            return True
        said, told = line.hit.node.text, usual.hit.node.text
        return self.is_of_another_owner(line, usual) or has_other_modifier(said, told, self._question.text)

    def give_one_kind(self, line: RatedLine, other: RatedLine) -> bool:
        """Whether both give a value of a kind that answers the question."""
        return give_one_kind(line, other, self._question)

    def may_give_new_value(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether both give a value of a kind that answers, and no word is a sign against a new value of the older."""
        if not self.give_one_kind(newer, older):
            return False
        measured = self.features(newer, older)
        return not (measured["nearer_words"] or measured["lacks_asked"])

    def is_of_another_owner(self, line: RatedLine, usual: RatedLine) -> bool:
        """Whether it tells of what another person has, and the other line does not."""
        return self._is_owned_by_another(line, usual) and not self._is_owned_by_another(usual, line)

    def shares_topic(self, line: RatedLine, other: RatedLine) -> bool:
        """Whether both have the same topic of the question."""
        return not (line.matter.topics & other.matter.topics).isdisjoint(self._question.matter.topics)

    def _is_called_after_topic(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether the topic of the question is only a part of the name of a thing there: the birthday party, 生日会."""
        topics = self._question.matter.topics & older.matter.topics
        if not topics or not topics.isdisjoint(newer.matter.topics):
            return False
        persons = older.matter.persons | self._question.matter.persons
        known = (
            self._things[id(older)]
            | self._question.matter.things
            | {part for name in persons for part in name.split(".")}
        )
        words = [word for word in self._question.terms - known if len(word) >= (_STEM if word.isascii() else _HAN_STEM)]
        return any(thing.startswith(word) for thing in self._things[id(newer)] - known for word in words)

    def _continues_another(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it names a thing of a third, earlier line, and none of the older one that only the question has too.

        "The gas went up to 72" continues "the gas bill is 61", and is no later price of electricity. Things of texts in
        different scripts cannot be compared.
        """
        if self._han[id(newer)] != self._han[id(older)]:
            return False
        one, other = self._things[id(newer)], self._things[id(older)]
        asked = (other & self._question.matter.things) - one
        actors = [part for name in newer.matter.persons for part in re.split(r"[. ]", name)]
        further = frozenset(
            thing
            for thing in one - other - self._question.matter.things
            if not any(actor.startswith(thing) for actor in actors)  # "Jo can't at nine, so we meet at ten"
        )
        if not (asked and further) or self._names(newer, older):
            return False  # "I'm back at Crane's, the new place closed" is no later state of the new place
        request = None if newer.hit.answers is None else newer.hit.answers.id
        return any(
            line is not older
            and line.hit.node.id != request
            and line.hit.node.at < newer.hit.node.at
            and share(further, self._things[id(line)])
            and not share(asked, self._things[id(line)])
            and likeness(newer, line) > likeness(newer, older)
            for line in self._lines
        )

    def _counts_no_money(self, newer: Matter, older: Matter) -> bool:
        """Whether money is asked for and told before, and the newer line has an amount of something else.

        One that states a change, with an amount near the older one, may leave the money out: "they raised it to 70".
        """
        asked = self._question.matter.topics & older.topics
        told = newer.topics - _OF_NO_THING
        if _MONEY not in asked or not told or _MONEY in told or "amount" not in newer.gives:
            return False
        return not (newer.changes and nearness(list(amounts(newer)), list(amounts(older))) >= _NEAR)

    def _names(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether it names the value of the older one: a thing of few lines that the question does not have."""
        return bool(self._values_of_both(newer, older))

    def _values_of_both(self, newer: RatedLine, older: RatedLine) -> frozenset[str]:
        return (self._things[id(newer)] & self._things[id(older)]) - self._common

    def _answers_by_name(self, newer: RatedLine, older: RatedLine) -> bool:
        """Whether a line about other persons names the value of the older one.

        A person is the value only if a name is asked for: "Fiona left, Derek took over" tells who my boss is, and "Mrs
        Dale raised Peter's rent" nothing of mine.
        """
        if newer.matter.persons == {"me"}:
            return False  # "I take milk, too" is not about Jens, who takes milk
        shared = self._values_of_both(newer, older) - newer.matter.kinds
        if self._asks_who:
            return any(not self._owns_what_is_asked(newer.hit.node.text, thing) for thing in shared)
        if relatives(newer.matter) - ACTING and "me" not in newer.matter.persons:
            return False  # both may have a salary, or go to a school
        said, others = newer.hit.node.text, newer.matter.persons - older.matter.persons
        if states_own(said, others) or names_owner(said, others, frozenset()):
            return False  # Marta, too, may learn Greek, and the children's sledge have stood in the shed
        names = [word for name in newer.matter.persons for word in re.split(r"[. ]", name)]
        return not all(any(name.startswith(thing) for name in names) for thing in shared)

    def _owns_what_is_asked(self, text: str, name: str) -> bool:
        """Whether the name only tells whose the thing in question is: "Ida's boss" is not my boss Ida."""
        owned = re.search(rf"\b{re.escape(name)}\w*(?:['’]s? (?:new )?|的新?)(\w+)", text, re.IGNORECASE)
        if owned is None:
            return False
        thing = owned[1].lower()
        return any(thing.startswith(term) for term in self._question.terms)

    def log_odds(self, newer: RatedLine, older: RatedLine) -> float:
        """That the newer line tells how the matter of the older one stands now; it probably does if it denies a date or
        time of that, or tells what became of its value and what came after.
        """
        measured = self.features(newer, older)
        bias, weights = (_RETOLD_BIAS, _RETOLD) if self._is_retold(older) else (_BIAS, _WEIGHTS)
        found = bias + sum(weight * measured[name] for name, weight in weights.items())
        denied = denies_former(newer.hit.node.text, newer.matter, older.matter)
        if self.gives_way(newer, older) or self._is_moved(newer, older):
            return max(found, _GIVES_WAY)
        return max(found, 0.0) if denied else found

    def _is_retold(self, older: RatedLine) -> bool:
        """Whether the question is no question, but tells this line again."""
        return self._tells and len(older.terms & self._question.terms) >= _WHOLE * max(1, len(older.terms))

    def features(self, newer: RatedLine, older: RatedLine) -> dict[str, float]:
        """The features of two lines of which one was said later, named as the weights are."""
        one, other, asked = newer.matter, older.matter, self._question.matter
        alike, changed = likeness(newer, older), _changed(newer)
        later = self._likenesses_after(older)
        ahead = self._worth[id(newer)] - self._worth[id(older)]
        terms, newer_words, older_words = self._terms, self._words[id(newer)], self._words[id(older)]
        common, asked_of = newer_words & older_words, terms & older_words
        lacks = bool(asked_of - newer_words) and bool(asked_of & newer_words)
        related, covers = bool(relatives(one) and relatives(other)), self._rarity(common) / self._told[id(older)]
        return {
            "alike": alike,
            "nearest_before": alike - closest_before(newer, self._lines),
            "nearest_after": alike - max(later, default=0.0),
            "nearer": _FIFTH * sum(one > alike for one in later),
            "later_like": newer.like,
            "earlier_like": older.like,
            "ahead": min(max(ahead, -_FURTHEST), _FURTHEST),
            "says_change": one.changes,
            "changed": changed,
            "changed_before": _changed(older),
            "changed_alike": changed * alike,
            "says_change_alike": one.changes * alike,
            "says_change_of_it": one.changes and not one.attributes.isdisjoint(other.attributes),
            "alike_asked": alike * older.like,
            "soon": newer.hit.node.at - older.hit.node.at < _SOON,
            "past": one.past,
            "other_person": self._is_foreign(newer, older),
            "same_person": share(one.persons - {"me"}, other.persons | asked.persons),
            "other_relative": related and not are_same(one, other),
            "other_kind": is_of_another_kind(newer, older, asked),
            "gives": gives_as_much(one, other, asked),
            "names": self._names(newer, older),
            "translated": self._han[id(newer)] != self._han[id(older)],
            "covers": covers,
            "changed_covers": changed * covers,
            "later_asked": self._rarity(newer_words & terms) / self._asked,
            "earlier_asked": self._rarity(asked_of) / self._asked,
            "own_words": min(sum(self._holders[term] == _BOTH for term in common - terms), _MOST_OWN),
            "near_numbers": nearness(list(amounts(one)), list(amounts(other))),
            "lacks_asked": lacks,
            "lacks_asked_alike": lacks * alike,
            "part_asked": self._rarity(asked_of - newer_words) * self._rarity(asked_of & newer_words) / self._asked**2,
            "other_thing": self._is_of_another_thing(newer, older),
            "adds": _ADDS.search(newer.hit.node.text) is not None,
            "nearer_words": self._words_before(newer) > jaccard(newer.terms, older.terms),
        }

    def _rarity(self, terms: frozenset[str]) -> float:
        return rarity(self._holders, terms)

    def _likenesses_after(self, older: RatedLine) -> list[float]:
        """The likeness of the line to each line that a person said later."""
        if id(older) not in self._later:
            self._later[id(older)] = [
                likeness(line, older)
                for line in self._lines
                if line.hit.node.at > older.hit.node.at and line.hit.node.source != "assistant"
            ]
        return self._later[id(older)]

    def _words_before(self, newer: RatedLine) -> float:
        """The highest share of index terms (Jaccard) that the line has in common with an earlier line."""
        if id(newer) not in self._closest:
            before = (line.terms for line in self._lines if line.hit.node.at < newer.hit.node.at)
            self._closest[id(newer)] = max((jaccard(newer.terms, terms) for terms in before), default=0.0)
        return self._closest[id(newer)]


def states_later(newer: RatedLine, older: RatedLine) -> bool:
    """Whether a person said it later, or the assistant did it, not as a supposition, nor as something undecided."""
    node = newer.hit.node
    if node.at <= older.hit.node.at or (ASSISTANT in (node.source, node.speaker) and not newer.hit.reports):
        return False
    return not (newer.supposed or newer.matter.open)


def _was_once(once: Matter, now: Matter) -> bool:
    """Whether one tells only how something once was, and the other how it is."""
    return once.past and not once.holds and now.holds and not now.past


def _changed(line: RatedLine) -> float:
    found = line.hit.why.get("changed")
    return found if isinstance(found, float) else UNCHANGED
