"""Single-valued attributes (slots): the home, age, name, job … of a subject in a clause.

A subject has one home, one age, one birthday at a time, but may like many teas: only two values of these attributes
can disagree.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.lexicon import patterns_en, patterns_zh
from biem.adapters.contradiction.reading.reader import Clause, Reading, StatementReader
from biem.adapters.contradiction.reading.time_phrases import MOMENT, OCCASION
from biem.adapters.contradiction.statements.number_kinds import SMALL, unit
from biem.adapters.contradiction.values import phrases

Phase = Literal["now", "past", "changed"]

_ME = frozenset(("i", "my", "me", "我"))
_OWN_ZH = frozenset("我俺咱叫")
"""First characters of a Chinese subject that is the speaker, or belongs to them."""
_SPELT = frozenset(("phone", "account", "email", "model"))
"""Attributes whose value is a string of characters, not a number."""
_SIGNS_OF = {"phone": re.compile(r"\d"), "email": re.compile("@")}
"""Required contents of their values, because a phone may also be broken, or black."""
_SHORT = 2
"""Maximum clauses of a statement that needs no context."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One attribute of one subject with its value."""

    subject: str
    attribute: str
    value: str
    positive: bool
    phase: Phase
    number: bool = False
    """Whether the value is a canonical number, date or time."""


class Slots:
    """The patterns, compiled once."""

    def __init__(self, reader: StatementReader) -> None:
        self._reader = reader
        self._english = [(name, re.compile(p)) for name, ps in patterns_en.PATTERNS.items() for p in ps]
        self._chinese = [(name, re.compile(p)) for name, ps in patterns_zh.PATTERNS.items() for p in ps]
        self._nouns = {noun: row[0][0] for row in lexicon.columns("attributes") for noun in row[1]}
        self.nouns = frozenset(self._nouns)
        """Nouns with one value at a time."""
        self._groups = lexicon.exclusive()
        self._endings = tuple(sorted((n for n in self._nouns if not n.isascii()), key=len, reverse=True))

    def all(self, reading: Reading, speaker: str) -> Iterator[Slot]:
        """The attributes that a statement asserts, maybe with repetitions; 他, it … refer to the last subject."""
        topic = ""
        for place, clause in enumerate(reading.clauses):
            others = any(self._introduces(before) for before in reading.clauses[:place])
            for slot in self._of(clause, speaker, others=others, later=any(c.content for c in reading.clauses[:place])):
                subject = slot.subject
                if len(reading.clauses) > _SHORT and self._bare(subject):
                    continue  # 金额128元 in a long notice belongs to that notice
                if topic and not _resolved(subject):
                    subject = phrases.ANAPHOR.sub("", subject).strip("的 ")
                    yield replace(slot, subject=f"{topic} {subject}".strip())
                else:
                    yield slot
            found = phrases.TOPIC.match(clause.text)
            named = found and (found["topic"] or found["topic2"])
            if named and not phrases.ANAPHOR.match(named):
                topic = subject_of(named, speaker)

    def _bare(self, subject: str) -> bool:
        """Whether an attribute has no owner."""
        return subject in self.nouns or subject in ("金额", "amount")

    def _introduces(self, clause: Clause) -> bool:
        """Whether it introduces a person or thing that the next clause may refer to without naming it."""
        kin = self._reader.grammar["kin"]
        if kin & clause.content or kin & clause.who or phrases.INTRODUCED.search(clause.text):
            return True
        named = phrases.IS_ZH.match(clause.text)
        return named is not None and named["np"][0] not in _OWN_ZH

    def _of(self, clause: Clause, speaker: str, *, others: bool, later: bool) -> Iterator[Slot]:
        if not clause.asserts or clause.modality or len(clause.text) > 200 or OCCASION in clause.times:
            return
        parts = phrases.AND_I.split(clause.text)
        said = [replace(clause, text=part) for part in parts] if len(parts) > 1 else [clause]
        for slot in (slot for one in said for slot in self._stated(one, speaker, others=others, later=later)):
            if slot.phase != "now" or MOMENT not in clause.times:  # where I lived last year is not my current home
                yield slot

    def _stated(self, clause: Clause, speaker: str, *, others: bool, later: bool) -> Iterator[Slot]:
        text = clause.text
        chinese = any(c > "\u2e7f" for c in text)
        for name, pattern in self._chinese if chinese else self._english:
            found = pattern.search(text)
            if found and not (not found["who"] and (others or (later and name == "name"))):
                slot = self._slot(name, found, clause, speaker)
                if slot:
                    yield slot
        yield from self._definite(clause, speaker, chinese=chinese)
        if not chinese:
            yield from self._holder(clause, speaker)
            yield from self._altered(clause, speaker)
        yield from self._group(clause)
        yield from self._count(clause, speaker)

    def _slot(self, name: str, found: re.Match[str], clause: Clause, speaker: str) -> Slot | None:
        groups = found.groupdict()
        numbers = self._reader.numbers(groups["value"]) if name in ("age", "birthday", "birth year") else []
        value = numbers[0].rstrip("岁y") if numbers else _trim(groups["value"] or "retired")
        if not value or (not numbers and phrases.VAGUE.search(value)):
            return None
        what = self._reader.stem(groups.get("what") or "")
        who = groups.get("who") or ""
        if name == "home" and who.lower() in ("we", "我们"):
            who = "I"  # "we live there" includes the speaker
        if name == "home" and phrases.HOUSED.match(groups["value"] or ""):
            return None
        return Slot(
            subject_of(who, speaker),
            f"{name} {what}".strip(),
            value,
            positive=not groups.get("not"),
            phase=self._phase(groups, clause),
            number=bool(numbers),
        )

    def _phase(self, groups: dict[str, str | None], clause: Clause) -> Phase:
        if groups.get("past") or clause.ended:
            return "past"
        return "changed" if groups.get("changed") or clause.changed else "now"

    def _definite(self, clause: Clause, speaker: str, *, chinese: bool) -> Iterator[Slot]:
        """ "The NP is VALUE": single-valued for certain nouns, and for values that exclude each other."""
        text = clause.text.removesuffix(".")
        found = (phrases.DEFINITE_ZH if chinese else phrases.DEFINITE).match(text)
        if not found:
            return
        groups = found.groupdict()
        np, value = groups["np"], _trim(groups["value"])
        noun = self._noun(np, chinese=chinese)
        numbers = self._reader.numbers(groups["value"]) if noun not in _SPELT else []
        hour = None if chinese else phrases.OCLOCK.search(text)
        if hour:
            numbers = [f"{hour[1]:0>2}:00"]
        if noun in _SIGNS_OF and not _SIGNS_OF[noun].search(value):
            return  # a broken phone has no new number
        if noun:
            attribute = noun
        elif numbers and not (chinese and groups["verb"] == "有"):
            attribute = f"number {unit(numbers[0])}"
            if not unit(numbers[0]) and not groups.get("changed"):
                return
        elif (
            not chinese
            and (phrases.NAME.match(value) or phrases.LOCATED.search(text))
            and np[:1].islower() | np.startswith(("The", "My"))
        ):
            attribute = "place" if phrases.LOCATED.search(text) else "identity"
        elif chinese and (groups["verb"].startswith(("在", "放")) and phrases.PLACE_ZH.search(value)):
            attribute = "place"
        elif groups.get("changed"):
            attribute = "state"
        else:
            return
        if not numbers and (phrases.VAGUE.search(value) or not value):
            return
        subject = subject_of(np, speaker)
        renewed = phrases.RENEWED.search(subject)
        if renewed:  # my new boss is my boss from now on
            subject = f"{subject[: renewed.start()]} {subject[renewed.end() :]}".strip()
        if phrases.ENDS.match(groups["verb"]):
            subject += " end"  # opening and closing times are separate attributes
        yield Slot(
            subject if not chinese else re.sub(r"的?时间$|的$", "", subject),
            attribute,
            numbers[0] if numbers else value,
            positive=not groups.get("not"),
            phase="changed" if renewed and noun else self._phase(groups, clause),
            number=bool(numbers),
        )

    def _holder(self, clause: Clause, speaker: str) -> Iterator[Slot]:
        """ "Priya is the lead of the team": the office is the subject, its holder the value."""
        found = phrases.HOLDER.match(clause.text)
        noun = found and self._nouns.get(found["noun"].lower())
        if found and noun == "head":
            whose = found["np"] or (found["owner"] if found["owner"].lower() != "the" else "")
            subject = f"{subject_of(whose, speaker) if whose else ''} {found['noun'].lower()}".strip()
            yield Slot(
                subject, noun, found["value"], not found["not"], "changed" if phrases.NOW.search(clause.text) else "now"
            )

    def _altered(self, clause: Clause, speaker: str) -> Iterator[Slot]:
        """ "I changed the password to X": a new value of a single-valued noun."""
        found = phrases.ALTERED.match(clause.text.removesuffix("."))
        noun = found and self._noun(found["np"], chinese=False)
        if not found or not noun or clause.negations:
            return
        numbers = self._reader.numbers(found["value"]) if noun not in _SPELT else []
        value = numbers[0] if numbers else _trim(found["value"])
        yield Slot(subject_of(found["np"], speaker), noun, value, positive=True, phase="changed", number=bool(numbers))

    def _count(self, clause: Clause, speaker: str) -> Iterator[Slot]:
        """ "I have two sons": the number of things of a kind."""
        found = phrases.COUNT.match(clause.text) or phrases.COUNT_ZH.match(clause.text)
        numbers = self._reader.numbers(found["value"]) if found else []
        if found and not numbers:
            numbers = [str(SMALL.index(found["value"].lower()))] if found["value"].lower() in SMALL else []
        if found and numbers and not clause.negations:
            noun = self._reader.stem(found["what"])
            subject = subject_of(found["who"] or "", speaker)
            yield Slot(subject, f"count {noun}", numbers[0], positive=True, phase=self._phase({}, clause), number=True)

    def _noun(self, np: str, *, chinese: bool) -> str | None:
        if chinese:
            ending = next((n for n in self._endings if np.endswith(n)), None)
            return self._nouns[ending] if ending else None
        head = np.lower().split(" of ")[0].split(" on ")[0].split(" for ")[0].split()
        last = self._nouns.get(" ".join(head[-2:])) or self._nouns.get(head[-1].split("'")[0])
        return last if last and len(np.split()) > 1 else None

    def _group(self, clause: Clause) -> Iterator[Slot]:
        """A value of an exclusive group that is the whole predicate of a short clause."""
        words = clause.text.lower().split() if clause.text.isascii() else list(clause.tokens)
        for token in dict.fromkeys(words):
            if token not in self._groups:
                continue
            group, value = self._groups[token]
            rest = clause.content - {self._reader.stem(token), token}
            if group == "weekday" or len(rest) > 4:
                continue
            subject = " ".join(sorted(clause.who | rest))
            yield Slot(subject, group, value, clause.negations % 2 == 0, self._phase({}, clause))


def _resolved(subject: str) -> bool:
    return not phrases.ANAPHOR.match(subject)


def subject_of(text: str, speaker: str) -> str:
    """Canonical form of a subject: I and 我 are the speaker, `my sister` is the speaker's sister."""
    me = speaker.strip().lower() or "i"
    name = re.sub(r"(?:'s|的)$", "", text.strip()).strip()
    if not name or name.lower() in _ME or name in ("我自己", "本人", "俺", "咱"):
        return me
    if phrases.PRONOUNS.match(name):
        return name.lower()
    found = phrases.OWNER.match(name)
    if found and found["rest"]:
        owner = found["owner"].lower()
        owner = me if owner in _ME else "" if owner == "the" else owner
        return f"{owner} {found['rest'].strip().lower()}".strip()
    return name.lower()


def _trim(value: str) -> str:
    last = None
    value = value.strip()
    while value != last:
        last, value = value, phrases.TRIM.sub("", value).strip()
    return value.lower() if not phrases.NAME.match(value) else value
