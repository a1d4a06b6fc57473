"""Whether a newer statement tells the later state of what an older one tells, by a fitted logistic regression.

    log-odds = bias + Σ weight · feature      (`later_states.json`, from `python -m benchmarks.fit_updates`)

Rules find a change by its words. "Jonte found an apprenticeship, I load on my own" has none of them, and neither have
most of the ways to say that something is different now. The regression weighs how alike the two texts are and how much
the vector of the newer is that of a text about a change, together with the persons, words and numbers of both. What is
no fact in the speaker's own words (a report, question, hypothesis, plan or joke), is about another one of several or
about the past succeeds nothing: that is decided by rules.
"""

import json
import math
import re
from collections.abc import Mapping
from importlib.resources import files

from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.reading.reader import Reading
from biem.adapters.contradiction.recall_rules import RecallRules
from biem.adapters.contradiction.statements.core import Core
from biem.adapters.contradiction.statements.former import former_of
from biem.adapters.contradiction.statements.likeness import HAN, known
from biem.adapters.contradiction.statements.number_kinds import by_kind
from biem.adapters.contradiction.values.other_quantities import is_rest_of_total
from biem.domain.conflict import Matter, Statement, Verdict

_RECORDED, _ACROSS, _SPREAD = 1.25, 0.5, 2.0
"""Log-odds of a confidence of one half, from which nine of ten verdicts are right; the same for two languages, in which
fewer of those are wrong; and the step to the next logit.
"""
_SUREST = 0.75
"""Recorded, but never acted upon: what separates 北门 from 南门, or one job from another, is not in these features."""
_ALIKE, _TOLD = 0.15, -2.0
"""Minimum similarity, and log-odds of a change: below, hardly any pair succeeds, and none is read."""
_MOST_SHARED, _MOST_LEFT = 3, 4
_NAMED = 4
"""Maximum words of the thing in a verdict."""
_SELF = frozenset(("me", "you"))
_UNNAMED = frozenset(("", "user", "assistant"))
"""Speakers of a talk between one user and an assistant."""
_OF_THEIRS = re.compile(
    r"^(?:my|our) (?P<who>[a-z]+) (?!.{0,80}\b(?:me|us|my|our)\b).{0,40}\b(?:his|her) [a-z]", re.IGNORECASE
)
"""Tells of another person's own thing: "my brother swapped his …"."""
_ADDS = re.compile(
    r"\b(?:also|as well|besides|in addition)\b|\btoo\b(?=\W*$|[.,;!])"
    r"|除了|另外(?=[，,还也])|还[有对]|(?<!再)也(?:不能|不吃|过敏|[对会是姓叫])",
    re.IGNORECASE,
)
"""Adds to what is known: allergic to cashews, too."""
_JOINS = frozenset("我你他她它们的了是在有把从和跟与个到成为就都也又去来给对叫姓这那今明昨不没很最")
"""Chinese characters that belong to no word beside them."""
_STRETCH = 6
"""Maximum characters of a Chinese stretch in both texts."""
_REST = frozenset(("rest",))
"""The topic of what is left, which does not say of what."""
_GAP = re.compile(r"[\s-]")


class LaterStates:
    """Judges pairs that no rule decides. Thread-safe."""

    def __init__(self, rules: RecallRules) -> None:
        self._rules = rules
        text = files(__package__).joinpath("later_states.json").read_text(encoding="utf-8")
        weights: dict[str, float] = json.loads(text)
        self._bias = weights.pop("bias")
        self._weights: Mapping[str, float] = weights

    def may_judge(self, newer: Statement, similarity: float | None) -> bool:
        """Cheap check, without reading the texts."""
        return similarity is not None and similarity >= _ALIKE and newer.changed is not None and newer.changed >= _TOLD

    def judge(self, older: Statement, newer: Statement, similarity: float | None) -> Verdict | None:
        """The verdict that the newer is the later state, or None. Needs the similarity and `Statement.changed`."""
        if similarity is None or not self.may_judge(newer, similarity):
            return None
        if not {older.speaker, newer.speaker} <= _UNNAMED:  # fitted to one user's talks; in dialogues it errs
            return None
        found = self.features(older, newer, similarity)
        if not found:
            return None
        odds = self._bias + sum(weight * found[name] for name, weight in self._weights.items())
        old, new = (
            self._rules.value_updates.core(self._rules.read(side.text, side.speaker)) for side in (older, newer)
        )
        both = [old.text[piece.start : piece.end] for piece in old.words if known(piece, new, old)]
        persons = " and ".join(sorted(self._rules.matter(older.text).persons))
        subject = f"{persons}: {' '.join(both[:_NAMED])}".strip(": ")
        least = _ACROSS if found["translated"] else _RECORDED
        confidence = 1.0 / (1.0 + math.exp((least - odds) / _SPREAD))
        return Verdict("update", min(confidence, _SUREST), "succession", subject=subject)

    def features(self, older: Statement, newer: Statement, similarity: float) -> dict[str, float]:
        """The features of a pair, named as the weights; empty if the newer can succeed nothing."""
        one, other = (self._rules.read(side.text, side.speaker) for side in (older, newer))
        old, new = (self._rules.value_updates.core(reading) for reading in (one, other))
        before, after = (self._rules.matter(side.text) for side in (older, newer))
        agreed = self._rules.subjects.agreement(one, other)
        if not (old.holds and after.holds and agreed.own_words) or after.past or "?" in newer.text:
            return {}
        if _ADDS.search(new.text) and not new.corrects:
            return {}
        theirs = _OF_THEIRS.match(new.text)
        if theirs is not None and theirs["who"].lower() not in old.text.lower():
            return {}
        if before.which != after.which or is_rest_of_total(old, new):
            return {}
        if _are_parallel(old, new) and not (after.changes or new.corrects):
            return {}
        common = (before.topics & after.topics) - _REST or (before.persons & after.persons) - _SELF
        if not (common or any(known(piece, new, old) for piece in old.words)):
            return {}
        return self._measured(one, other, old, new, before, after) | {
            "alike": similarity,
            "changed_before": older.changed or 0.0,
            "changed_alike": (newer.changed or 0.0) * similarity,
            "same_persons": float(agreed.persons),
        }

    def _measured(
        self, one: Reading, other: Reading, old: Core, new: Core, before: Matter, after: Matter
    ) -> dict[str, float]:
        """The features of persons, words and numbers."""
        former, gained = former_of(old, new)
        shared = sum(known(piece, new, old) for piece in old.words)
        numbers, fresh = by_kind(old.numbers), by_kind(new.numbers)
        differ = any(numbers[kind] != fresh[kind] for kind in numbers.keys() & fresh.keys())
        modifier, modifier_now = _modifiers(old, new)
        values = {
            "says_change": after.changes,
            "marks_change": marks.CHANGES.search(new.text) is not None,
            "corrects": new.corrects,
            "denies": new.denies,
            "persons_differ": bool(before.persons and after.persons and (before.persons ^ after.persons) - _SELF),
            "further_person": bool(after.persons - before.persons - _SELF),
            "names_differ": old.names != new.names,
            "same_topic": bool(before.topics & after.topics),
            "shared": min(shared, _MOST_SHARED),
            "shares": shared > 0,
            "share": shared / max(1, len(old.words)),
            "left": min(len(old.words) - shared, _MOST_LEFT),
            "former_named": bool(former),
            "number_differs": differ,
            "further_words": differ and bool(gained),
            "only_new_number": bool(fresh) and numbers.keys().isdisjoint(fresh),
            "translated": bool(HAN.search(one.text)) != bool(HAN.search(other.text)),
            "other_modifier": bool(modifier and modifier_now and modifier != modifier_now),
            "further_modifier": bool(modifier_now and not modifier),
        }
        return {name: float(value) for name, value in values.items()}


def _are_parallel(old: Core, new: Core) -> bool:
    """Whether each has at most one word that the other lacks, besides numbers: two days of one bus, two models, a habit
    told again, or a value, which the rules of values judge.
    """
    stems, fresh = (frozenset(piece.stem for piece in core.words) for core in (old, new))
    return max(len(stems - fresh), len(fresh - stems)) <= 1


def _modifiers(old: Core, new: Core) -> tuple[str, str]:
    """The words right before the first thing that both mention: the front tyre, the back tyre; 房贷利率, 车贷利率."""
    if HAN.search(old.text) and HAN.search(new.text):
        return _characters(old.text, new.text)
    for piece in sorted(old.words, key=lambda piece: piece.start):
        for same in new.words:
            if same.stem == piece.stem:
                return _word_before(old, piece.start), _word_before(new, same.start)
    return "", ""


def _word_before(core: Core, start: int) -> str:
    before = (piece for piece in core.words if piece.end <= start)
    return next((piece.stem for piece in before if _GAP.fullmatch(core.text[piece.end : start])), "")


def _characters(old: str, new: str) -> tuple[str, str]:
    for start in range(len(old)):
        for end in range(min(start + _STRETCH, len(old)), start + 1, -1):
            stretch = old[start:end]
            if HAN.match(stretch) and _JOINS.isdisjoint(stretch) and stretch.isalnum() and stretch in new:
                return _bound(old[:start][-1:]), _bound(new[: new.index(stretch)][-1:])
    return "", ""


def _bound(character: str) -> str:
    return character if HAN.match(character) and character not in _JOINS else ""
