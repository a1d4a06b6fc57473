"""Two values of one attribute: pairs of slots that disagree, with a confidence."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.statements.number_kinds import unit
from biem.adapters.contradiction.values import phrases
from biem.adapters.contradiction.values.slots import Slot
from biem.domain.conflict import Verdict

_SURE = {
    "phone": 0.9, "email": 0.9, "account": 0.9, "age": 0.85, "birthday": 0.9, "birth year": 0.9, "birthplace": 0.85,
    "name": 0.85, "called": 0.75, "home": 0.78, "origin": 0.75, "hometown": 0.78, "favourite": 0.8,
    "marital": 0.85, "employer": 0.75,
    "school": 0.75, "grade": 0.75, "major": 0.75, "job": 0.65, "head": 0.76, "deadline": 0.85, "date": 0.8,
    "price": 0.78, "colour": 0.78, "blood": 0.9, "zodiac": 0.9, "animal": 0.9, "hand": 0.9, "status": 0.8,
    "count": 0.7, "size": 0.78, "model": 0.76, "language": 0.8, "place": 0.78, "diet": 0.8, "number": 0.78,
    "identity": 0.6, "state": 0.6,
}  # fmt: skip
"""Confidence by attribute: measured if the development data has it, else by analogy. Places may contain each other and
things may exist twice, so without a word of change these are left to a person."""
_MARKED = 0.06
"""Added if the newer statement marks a change."""
_VAGUE_SUBJECT = 0.25
"""Subtracted if the subject is a pronoun or omitted: two people may be meant."""
_ME = frozenset(("i", "我"))
_YEAR_S = 365.25 * 86_400
_DROPPED = frozenset(
    ("the", "of", "for", "on", "is", "my", "our", "a", "an", "weekly", "new", "current", "的", "time", "date")
)

Agreement = Literal["same", "different", "unrelated"]


class Values:
    """Compares slots; knows which places contain others."""

    def __init__(self) -> None:
        self._level = {place: level for level, found in lexicon.sets("regions").items() for place in found}
        self._people = lexicon.sets("grammar")["kin"]
        self._nouns = frozenset(noun for row in lexicon.columns("attributes") for noun in row[1] if noun.isascii())

    def judge(
        self, older: Sequence[Slot], newer: Sequence[Slot], times: tuple[datetime | None, datetime | None], *, now: bool
    ) -> Verdict | None:
        """The surest conflict between two lists of slots; an attribute with a common value has none.

        `now`: the newer statement says "now" or "currently".
        """
        best: Verdict | None = None
        agreed: set[str] = set()
        found: list[Verdict] = []
        for new in newer:
            for old in older:
                if not self._comparable(old, new):
                    continue
                verdict = self._pair(old, new, times, now=now)
                if verdict == "agree":
                    agreed.add(new.attribute)
                elif verdict is not None:
                    found.append(
                        replace(verdict, subject=f"{old.subject}: {old.attribute}", aligned=self._one(old, new))
                    )
        for verdict in found:
            if verdict.attribute not in agreed and (best is None or verdict.confidence > best.confidence):
                best = verdict
        return best

    def _comparable(self, old: Slot, new: Slot) -> bool:
        if old.attribute != new.attribute:
            return False
        if old.subject == new.subject:
            return True
        one, other = self._parts(old.subject), self._parts(new.subject)
        if one == other:
            return bool(one)
        if new.phase != "changed" or not one or not other or not (one <= other or other <= one):
            return False
        less, more = sorted((old.subject.split(), new.subject.split()), key=len)
        if less == more[len(more) - len(less) :]:  # Arjun may be my brother Arjun; the car is not my sister's car
            before = more[len(more) - len(less) - 1]
            return before in self._people or self._people.isdisjoint(word.removesuffix("'s") for word in more)
        added = {word.removesuffix("'s") for word in set(more) - set(less)}
        return len(less) > 1 and self._people.isdisjoint(added)

    def _one(self, old: Slot, new: Slot) -> bool:
        """Whether both certainly have the same subject: the same name, or a shorter one in the newer."""
        if _vague(old.subject) or _vague(new.subject):
            return False
        if old.subject == new.subject:
            return True
        one, other = (frozenset(slot.subject.replace("'s", "").split()) - _DROPPED - _ME for slot in (old, new))
        return other <= one and self._people.isdisjoint(one - other)

    def _parts(self, subject: str) -> frozenset[str]:
        return frozenset(subject.replace("'s", "").split()) - _DROPPED - (self._nouns - self._people)

    def _pair(
        self, old: Slot, new: Slot, times: tuple[datetime | None, datetime | None], *, now: bool
    ) -> Verdict | Literal["agree"] | None:
        agreement = self._agreement(old, new)
        attribute = (
            new.attribute.split()[0] if new.attribute.startswith(("favourite", "number", "count")) else new.attribute
        )
        sure = _SURE.get(attribute, 0.6) - (_VAGUE_SUBJECT if _vague(new.subject) else 0.0)
        if old.positive != new.positive:
            if agreement != "same" or (old.phase == "past" and old.positive) or (new.phase == "past" and new.positive):
                return None
            kind: Literal["update", "contradiction"] = "update" if new.phase != "now" else "contradiction"
            return Verdict(kind, _clip(sure), "value denied", new.attribute)
        if not old.positive or agreement == "unrelated":
            return None
        if agreement == "same":
            if new.phase == "past" and old.phase != "past":
                return Verdict("update", _clip(sure + _MARKED), "value ended", new.attribute)
            return "agree"
        if "past" in (old.phase, new.phase):
            return None
        if attribute == "age":
            return _ages(old, new, times, sure)
        if new.phase == "changed" or now:
            return Verdict("update", _clip(sure + _MARKED), "value changed", new.attribute)
        return Verdict("contradiction", _clip(sure), "value", new.attribute)

    def _agreement(self, old: Slot, new: Slot) -> Agreement:
        if old.number != new.number:
            return "unrelated"
        one, other = old.value.lower(), new.value.lower()
        if one == other:
            return "same"
        if old.number:
            if unit(one) != unit(other):
                return "unrelated"
            return "same" if unit(one) == "date" and (one.endswith(other) or other.endswith(one)) else "different"
        if (
            one in other
            or other in one
            or (new.attribute == "name" and (_nickname(one, other) or _nickname(other, one)))
        ):
            return "same"
        if _digits(one) and _digits(other):
            return "different" if _digits(one) != _digits(other) else "same"
        if new.attribute != "name" and (set(one.split()) & set(other.split()) or _pairs(one) & _pairs(other)):
            return "unrelated"
        if "continent" in (self._level.get(one), self._level.get(other)):
            return "unrelated"
        if (self._level.get(one) or self._level.get(other)) and self._level.get(one) != self._level.get(other):
            return "unrelated"
        if one.isascii() != other.isascii():
            return "unrelated"
        return "different"


def _ages(old: Slot, new: Slot, times: tuple[datetime | None, datetime | None], sure: float) -> Verdict | None:
    """Ages grow: the expected age is an update, another one a contradiction."""
    try:
        grown = float(new.value) - float(old.value)
    except ValueError:
        return None
    before, after = times
    elapsed = (after - before).total_seconds() / _YEAR_S if before and after else None
    if grown > 0 and (new.phase == "changed" or (elapsed is not None and abs(grown - elapsed) <= 1.0)):
        return Verdict("update", _clip(sure), "age grew", "age")
    return Verdict("contradiction", _clip(sure), "value", "age")


def _pairs(value: str) -> set[str]:
    """Pairs of Chinese characters: 广东深圳 and 深圳广东 are the same place."""
    return {value[i : i + 2] for i in range(len(value) - 1) if value[i] > "\u2e7f"}


def _nickname(short: str, name: str) -> bool:
    """小王 may be 王芳."""
    return len(short) == 2 and short[0] in "小老阿" and short[1] in name


def _vague(subject: str) -> bool:
    """Whether the subject or its owner is a pronoun."""
    return phrases.ANAPHOR.match(subject) is not None or subject.partition(" ")[0] in ("", "you", "we", "你", "我们")


def _digits(value: str) -> list[str]:
    return re.findall(r"\d+", value)


def _clip(confidence: float) -> float:
    return min(0.97, max(0.0, confidence))
