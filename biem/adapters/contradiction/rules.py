"""Implements `ContradictionRules`: specific rules first, then a small model of weak cues."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache

from biem.adapters.contradiction.alignment import duplicate, may_align, swapped
from biem.adapters.contradiction.changes.openly_told import OPENLY, OpenChanges
from biem.adapters.contradiction.later_states import LaterStates
from biem.adapters.contradiction.lexicon import marks
from biem.adapters.contradiction.polarity import Polarity, Stances
from biem.adapters.contradiction.reading.claims import Claims
from biem.adapters.contradiction.reading.journeys import opposed
from biem.adapters.contradiction.reading.reader import Reading
from biem.adapters.contradiction.reading.time_phrases import COMING
from biem.adapters.contradiction.recall_rules import KEPT, RecallRules, one_speaker
from biem.adapters.contradiction.statements.distinctions import (
    are_of_other_days,
    are_of_other_sides,
    are_other_items,
)
from biem.adapters.contradiction.subjects.owners import have_different_owners
from biem.adapters.contradiction.subjects.settings import are_of_other_settings
from biem.adapters.contradiction.values.clause_updates import Updates
from biem.adapters.contradiction.values.disagreement import Values
from biem.adapters.contradiction.values.slots import Slot, Slots
from biem.adapters.contradiction.values.takeovers import TAKEOVERS, Takeovers
from biem.adapters.contradiction.values.value_updates import JOINED, WHOLE
from biem.adapters.contradiction.weak_cues import CEILING, Cues
from biem.domain.conflict import READ_TOGETHER, Statement, Verdict
from biem.domain.speech.kinship import are_other_relatives
from biem.domain.text import rejoined

_SAME_WORDS = 0.6
"""Calibrated similarity below which two statements are neither duplicates nor differ in a single value."""
_COMING = 0.75
"""Maximum confidence for future changes: recorded, but until then the older one is valid."""
_AHEAD_MONTHS = 6
"""A month without a year is the next such month if at most this many months ahead, else the last one."""
_BY_WORDS = frozenset(("announced", "changed", "quantity changed"))
"""Rules that find a change and two values, but not their subject."""
_ELSEWHERE = re.compile(
    r"\b(?:of|about|on|for|with|to) (?:that|this|it)\b|(?:关于|对|把)(?:此|这[个件]?|那[个件]?)", re.IGNORECASE
)
"""Refers to what was said before: of two such texts each may mean another thing."""
_RECURS = re.compile(
    r"^\W*(?:I|we) (?:just )?(?:saw|met|ate|drank|heard|watched|passed|noticed)\b"
    r"|^我?们?(?:刚|刚刚|今天|昨天)?(?:看[见到]|碰[见到]|遇[见到]|听[见到]|吃了|喝了)",
    re.IGNORECASE,
)
"""An event of the speaker that may happen many times, each time with another value."""
_DENIED = 0.85
"""Minimum confidence of a denial of all that the older says."""
_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*|[零〇一二两三四五六七八九十百千]+|\W+")
"""What differs between reports of one form: "bus 41 was 5 minutes late", and 7 the next day."""
_SUBJECT_ALONE = 3
"""Characters of a word that may be a subject without a statement: 我, 师姐."""
_SUSPICION = 0.3
"""Minimum confidence of cues: below it they are worse than chance among unrelated memories."""


class RuleContradictions:
    """Deterministic, thread-safe, without network; build one and share it."""

    def __init__(self, recall_rules: RecallRules | None = None) -> None:
        recall_rules = recall_rules or RecallRules()
        self._reader = recall_rules.reader
        self._slots = Slots(self._reader)
        self._values = Values()
        self._polarity = Polarity(self._reader)
        self._updates = Updates(self._reader)
        self._cues = Cues(self._reader, self._polarity)
        self._later_states = LaterStates(recall_rules)
        self._claims = Claims(self._polarity.describing | self._reader.grammar["courtesy"])
        self._subjects = self._reader.grammar["kin"] | self._slots.nouns
        self._subjects_of = recall_rules.subjects
        self._value_updates = recall_rules.value_updates
        self._takeovers = Takeovers(self._reader, recall_rules.value_updates)
        self._open_changes = OpenChanges(self._reader, recall_rules.value_updates.core)
        self._read = recall_rules.read
        self.rivals = recall_rules.rivals
        self.matter = recall_rules.matter
        self._said = lru_cache(KEPT)(self._slots_of)
        self._stances = lru_cache(KEPT)(self._stances_of)
        self._is_plain = lru_cache(KEPT)(self._plain)
        self._may_deny = lru_cache(KEPT)(self._reader.may_deny)
        self._surface = lru_cache(2 * KEPT)(self._reader.surface)

    def compare(
        self, older: Statement, newer: Statement, similarity: float | None, *, least: float = 0.0
    ) -> Verdict | None:
        """See `ContradictionRules.compare`. Verdicts of the rule `cues` are suspicions, never above `CEILING`."""
        sure_only = least > CEILING
        if sure_only and self._has_nothing_to_say(older, newer, similarity):
            return None
        if self._are_of_two_things(older, newer):
            return None
        specific = self._specific(older, newer)
        if specific is not None and specific.kind == "duplicate":
            return specific
        decides = not self._decides_nothing(newer) or (specific is not None and specific.rule in OPENLY)
        if specific is not None and decides:
            aligned = self._aligned(specific, older, newer)
            if aligned is not None:
                return self._about_all(aligned, older, newer)
            if specific.rule not in _BY_WORDS:
                return None
        if not one_speaker(older, newer):
            return None
        later = self._later_states.judge(older, newer, similarity) if decides else None
        if sure_only or (later is not None and later.confidence > CEILING):
            return later
        one, other = (self._read(side.text, side.speaker) for side in (older, newer))
        confidence = self._cues.confidence(one, other, similarity)
        return Verdict("contradiction", confidence, "cues") if confidence >= _SUSPICION else None

    def ending(self, older: Statement, newer: Statement) -> Verdict | None:
        """See `ContradictionRules.ending`."""
        if self._are_of_two_things(older, newer) or self._decides_nothing(newer) or not one_speaker(older, newer):
            return None
        if len({_NUMBERS.sub("", side.text.lower()) for side in (older, newer)}) == 1:
            return None
        sides = [self._read(side.text, side.speaker) for side in (older, newer)]
        found = self._subjects_of.agreement(*sides)
        most = _COMING if _is_to_come(sides[1], newer.at) else 1.0
        one, other = ({who for who in self.matter(side.text).persons if "." in who} for side in (older, newer))
        aligned = found.own_words and not (one and other and one.isdisjoint(other))
        return Verdict("update", most, READ_TOGETHER, subject=found.subject, aligned=aligned)

    def claims(self, statement: Statement) -> Sequence[str]:
        """See `ContradictionRules.claims`."""
        found = self._claims.of(self._read(statement.text, statement.speaker))
        said = [claim for claim in found if len(claim.split()) > 1 or len(claim) > _SUBJECT_ALONE]
        return said if len(said) > 1 else ()

    def _has_nothing_to_say(self, older: Statement, newer: Statement, similarity: float | None) -> bool:
        """Cheap check, without reading the older, that no rule can match; true for most neighbours.

        Words as similar as `duplicate` and `swapped` require imply a high similarity; every other rule needs a feature
        of the newer statement, or a negation.
        """
        if not self._is_plain(newer.text, newer.speaker) or self._may_deny(older.text):
            return False
        if self._later_states.may_judge(newer, similarity):
            return False
        unlike = similarity is not None and similarity < _SAME_WORDS
        return unlike or not may_align(self._surface(older.text), self._surface(newer.text))

    def _are_of_two_things(self, older: Statement, newer: Statement) -> bool:
        """Whether labels, ranks, numbers or owners distinguish their subjects: machine 1 and 2, two sons."""
        if have_different_owners(older.text, newer.text, self._reader.grammar["kin"]):
            return True
        if are_other_relatives(older.text, newer.text) or are_of_other_settings(older.text, newer.text):
            return True
        if any(differ(older.text, newer.text) for differ in (are_other_items, are_of_other_days, are_of_other_sides)):
            return True
        if not all(marks.DISTINGUISHED.search(side.text, 0, marks.LABELLED) for side in (newer, older)):
            return False
        one, other = (
            {word for word in self._value_updates.core(self._read(side.text, side.speaker)).which if word[0] == "#"}
            for side in (older, newer)
        )
        return bool(one and other) and one.isdisjoint(other)

    def _decides_nothing(self, newer: Statement) -> bool:
        """Whether it is a question, a wish, a dream or a joke, or quotes what another one says of himself."""
        reading = self._read(newer.text, newer.speaker)
        return self._value_updates.core(reading).open or marks.QUOTED_SELF.search(reading.text) is not None

    def _plain(self, text: str, speaker: str) -> bool:
        reading = self._read(text, speaker)
        judges = (self._polarity, self._updates, self._value_updates, self._takeovers, self._open_changes)
        return not (self._said(text, speaker) or any(one.speaks(reading) for one in judges))

    def _specific(self, before: Statement, after: Statement) -> Verdict | None:
        """The verdict of the specific rules."""
        older, newer = (self._read(side.text, side.speaker) for side in (before, after))
        same = duplicate(older, newer)
        if same is not None:
            return same
        now = bool(frozenset(newer.words) & self._reader.grammar["present"])
        new_slots = self._said(after.text, after.speaker)
        old_slots = self._said(before.text, before.speaker) if new_slots else ()  # most statements have none
        recurring = all(_RECURS.search(side.text) for side in (older, newer))
        found = [
            self._values.judge(old_slots, new_slots, (before.at, after.at), now=now),
            self._polarity.judge(*(self._stances(side.text, side.speaker) for side in (before, after))),
            self._updates.judge(older, newer),
            None if recurring else swapped(older, newer, self._subjects, self._reader),
        ]
        if found[1] is not None and all(_ELSEWHERE.search(side.text) for side in (older, newer)):
            found[1] = None
        renewed = self._value_updates.judge(older, newer, follows=after.follows)
        if renewed is not None and renewed.rule == "renewed" and self._takeovers.tells_of_another(older, newer):
            renewed = None
        renewed = (
            renewed
            or self._takeovers.judge(older, newer)
            or self._open_changes.judge(older, newer, follows=after.follows)
        )
        if renewed is not None:
            found = [renewed]
        best = max((verdict for verdict in found if verdict), key=lambda verdict: verdict.confidence, default=None)
        if best is not None and _is_to_come(newer, after.at):
            return replace(best, confidence=min(best.confidence, _COMING))
        return best

    def _aligned(self, verdict: Verdict, older: Statement, newer: Statement) -> Verdict | None:
        """The verdict with the subject of the two; None if their subjects differ."""
        sides = [self._read(side.text, side.speaker) for side in (older, newer)]
        found = self._subjects_of.agreement(*sides)
        if opposed(*sides) or (verdict.rule not in OPENLY and self._value_updates.leaves(*sides)):
            return None
        if verdict.aligned and self._value_updates.may_tell_of_another(*sides):
            verdict = replace(verdict, aligned=False)
        if verdict.subject:  # two values of one attribute of one subject: the words around them may differ
            after = self._read(newer.text, newer.speaker)
            holds = verdict.rule in WHOLE | TAKEOVERS | OPENLY or (
                self._value_updates.holds(after)
                and not (verdict.attribute in ("name", "called") and self._value_updates.one_more(after))
                and not self._value_updates.turns_to_another(self._read(older.text, older.speaker), after)
            )
            return replace(verdict, aligned=verdict.aligned and found.own_words and holds)
        by_words = verdict.rule in _BY_WORDS
        if (not found.persons and (by_words or not found.own_words)) or (by_words and not found.thing):
            return None
        if by_words and self._value_updates.differ_in_words(*sides):
            return replace(verdict, aligned=False)
        holds = self._value_updates.holds(self._read(newer.text, newer.speaker))
        if verdict.rule == "negation" and found.persons and found.own_words and self._value_updates.denied(*sides):
            return replace(verdict, aligned=True, confidence=max(verdict.confidence, _DENIED), subject=found.subject)
        return replace(verdict, aligned=holds and found.whole and (found.within or not by_words), subject=found.subject)

    def _about_all(self, verdict: Verdict, older: Statement, newer: Statement) -> Verdict:
        """The verdict on all claims of the older: partial, or limited to the lowest confidence of its claims."""
        if verdict.rule in TAKEOVERS | OPENLY:
            return verdict
        before = self._read(older.text, older.speaker)
        claims = self._claims.of(before)
        after = self._read(newer.text, newer.speaker)
        changed = verdict.rule in WHOLE and not verdict.rule.startswith("corrected")
        if changed and (claim := self._takeovers.changed_clause(before, after)):
            return replace(verdict, partial=True, claim=claim)
        if verdict.rule in WHOLE and not (JOINED.search(older.text) or self._give_values(claims, older.speaker)):
            return verdict  # the core covers the whole statement
        disputed: list[str] = []
        stands, least = False, verdict.confidence
        for text in claims:
            if not self._claims.adds(self._read(text, older.speaker), after):
                disputed.append(text)
                continue
            part = replace(older, text=text)
            alone = self._specific(part, newer)
            if alone is None or (verdict.aligned and not self._is_aligned(alone, part, newer)):
                stands = True
            else:
                disputed.append(text)
                least = min(least, alone.confidence)
        if stands:
            return replace(verdict, partial=True, claim=rejoined(disputed, older.text))
        return replace(verdict, confidence=least)

    def _is_aligned(self, verdict: Verdict, older: Statement, newer: Statement) -> bool:
        found = self._aligned(verdict, older, newer)
        return found is not None and found.aligned

    def _give_values(self, claims: Sequence[str], speaker: str) -> bool:
        """Whether several of these claims have numbers: "the gym opens at 7, the pool at 9"."""
        cores = (self._value_updates.core(self._read(text, speaker)) for text in claims)
        return sum(bool(core.numbers) for core in cores) > 1

    def cues(self, older: Statement, newer: Statement, similarity: float | None) -> dict[str, float] | None:
        """The weak cues of a pair, used to fit the weights; None if a rule decides."""
        if self._specific(older, newer) is not None or not one_speaker(older, newer):
            return None
        one, other = (self._read(side.text, side.speaker) for side in (older, newer))
        return self._cues.features(one, other, similarity)

    def _stances_of(self, text: str, speaker: str) -> Stances:
        return self._polarity.stances(self._read(text, speaker))

    def _slots_of(self, text: str, speaker: str) -> tuple[Slot, ...]:
        return tuple(self._slots.all(self._read(text, speaker), speaker.strip().lower()))


def _is_to_come(reading: Reading, at: datetime | None) -> bool:
    """Whether it is about the future: from next week, or from a month in the coming half year."""
    if any(COMING in clause.times for clause in reading.clauses):
        return True
    return at is not None and any(
        (year, month) > (at.year, at.month) if year else 0 < (month - at.month) % 12 <= _AHEAD_MONTHS
        for year, month in reading.beginnings
    )
