"""The same thing affirmed and denied, or said with words of opposite meaning, clause against clause."""

import re
from collections.abc import Iterator

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.reading import Clause, Reader, Reading
from biem.domain.conflict import ConflictKind, Verdict

_EQUAL, _GENERAL, _BARE = 0.85, 0.72, 0.55
_HAPPENED = 0.7
"""At most, for what happened and did not, or happened the other way round: recorded, but never acted upon, because
both may be true of two occasions."""
_SHORT = 3
"""Clauses: in longer texts, two short clauses that match are rarely about the same."""
_TIMES = frozenset(
    (
        "today",
        "yesterday",
        "tomorrow",
        "tonight",
        "morning",
        "evening",
        "night",
        "week",
        "sometim",
        "now",
        "first",
        "last",
    )
) | frozenset(
    (
        "今天",
        "昨天",
        "明天",
        "今晚",
        "早上",
        "晚上",
        "上午",
        "下午",
        "周末",
        "有时",
        "有时候",
        "偶尔",
        "第一次",
        "上次",
        "下次",
    )
)
_ABSOLUTE = frozenset(("never", "从不", "从来不", "从没"))
"""These deny on every occasion."""
_HABIT = frozenset(("everi", "alway", "usual", "每天", "总是", "经常", "一直", "每"))
_NOW = frozenset(("now", "current", "nowaday", "现在", "目前", "如今"))
_NO_NOUN = frozenset(("here", "there", "insid", "outsid", "again", "enough", "these", "all"))
"""Words that may follow a quality without being what it is a quality of."""
_DID_NOT = re.compile(r"\b(?:did|have|has|had) not\b|没", re.IGNORECASE)
_DONE = re.compile("了|[a-z]ed\\b|\\b(?:have|has|had) ", re.IGNORECASE)


class Polarity:
    """The antonyms, loaded once."""

    def __init__(self, reader: Reader) -> None:
        self._antonyms: dict[str, frozenset[str]] = {}
        kinds: dict[str, set[str]] = {"quality": set(), "event": set()}
        for left, right, *kind in lexicon.columns("antonyms"):
            for name in (word for column in kind for word in column):
                kinds[name].update(reader.stem(word) for word in (*left, *right))
            sides = [frozenset(reader.stem(word) for word in side) for side in (left, right)]
            for one, other in (sides, sides[::-1]):
                for word in one:
                    self._antonyms[word] = self._antonyms.get(word, frozenset()) | other
        self._qualities, self._events = kinds["quality"], kinds["event"]

    def opposite(self, one: frozenset[str], other: frozenset[str]) -> tuple[str, str] | None:
        """A word of `one` and its antonym in `other`, neither of which the other side has."""
        for word in sorted(one - other):
            against = (self._antonyms.get(word, frozenset()) & other) - one
            if against:
                return word, min(against)
        return None

    def speaks(self, newer: Reading) -> bool:
        """Whether a statement may be opposed to one that denies nothing."""
        if any(clause.negations or clause.past for clause in newer.clauses):
            return True
        return not self._antonyms.keys().isdisjoint(newer.content())

    def judge(self, older: Reading, newer: Reading) -> Verdict | None:
        """The surest opposition between two assertions of one subject."""
        return max(self._found(older, newer), key=lambda verdict: verdict.confidence, default=None)

    def _found(self, older: Reading, newer: Reading) -> Iterator[Verdict]:
        short = max(len(older.clauses), len(newer.clauses)) <= _SHORT
        for old in older.clauses:
            for new in newer.clauses:
                if comparable(old, new) and (short or min(len(old.content), len(new.content)) > 1):
                    yield from self._clauses(old, new)

    def _clauses(self, old: Clause, new: Clause) -> Iterator[Verdict]:
        kind: ConflictKind = (
            "update" if new.ended or new.changed or not _NOW.isdisjoint(new.tokens) else "contradiction"
        )
        opposed = (old.negations - new.negations) % 2 == 1
        sure = _agreement(old.content, new.content)
        if (
            new.past
            and not old.past
            and not opposed
            and len(old.content) > 1
            and sure >= _GENERAL
            and _timeless(old, new)
        ):
            yield Verdict("update", sure, "ended")
        if old.past or new.past:
            return
        if opposed:
            deny, affirm = (old, new) if old.negations % 2 else (new, old)
            bare = _bare(deny.content)
            if (
                deny.content
                and (deny.content == affirm.content or (not bare and deny.content < affirm.content))
                and (
                    _timeless(old, new) or not _ABSOLUTE.isdisjoint(deny.tokens) or not _HABIT.isdisjoint(affirm.tokens)
                )
            ):
                sure = _sure(deny.content, affirm.content)
                happened = _DID_NOT.search(deny.text) is not None and _DONE.search(affirm.text) is not None
                yield Verdict(kind, min(sure, _HAPPENED) if happened else sure, "negation")
            return
        if old.negations or new.negations:  # neither liking nor hating is possible
            return
        pair = self.opposite(frozenset(old.tokens) - {"有", "在"}, frozenset(new.tokens) - {"有", "在"})
        if pair and pair[0] in old.content and pair[1] in new.content and _timeless(old, new):
            one, other = old.content - {pair[0]}, new.content - {pair[1]}
            if self._tells_apart(old, pair[0]) or self._tells_apart(new, pair[1]):
                return
            if one == other or (one and other and (one <= other or other <= one)):
                whole = one == other and (bool(one) or bool(old.who))
                sure = _EQUAL - 0.03 if one == other and one else _GENERAL - 0.02 if whole or one else _BARE
                happened = pair[0] in self._events or _completed(old, pair[0]) or _completed(new, pair[1])
                yield Verdict(kind, min(sure, _HAPPENED) if happened else sure, "antonym")

    def _tells_apart(self, clause: Clause, word: str) -> bool:
        """Whether a quality stands before what it is a quality of: hot water and cold water are two things."""
        if word not in self._qualities:
            return False
        after = clause.tokens[clause.tokens.index(word) + 1 :][:1]
        return any(token in clause.content and token not in _TIMES | _NO_NOUN for token in after)


def comparable(old: Clause, new: Clause) -> bool:
    """Whether both assert something, in the same mood, about the same people."""
    if not (old.asserts and new.asserts) or old.modality != new.modality:
        return False
    return old.who == new.who


def _agreement(one: frozenset[str], other: frozenset[str]) -> float:
    return _EQUAL if one == other else _GENERAL if one and other and (one <= other or other <= one) else 0.0


def _sure(deny: frozenset[str], affirm: frozenset[str]) -> float:
    if _bare(deny):
        return _BARE
    return _EQUAL if deny == affirm and len(deny) > 1 else _GENERAL


def _bare(content: frozenset[str]) -> bool:
    """Only a verb: what it is about was left out, and may differ."""
    return len(content) == 1 and all(len(word) <= 2 or word.isascii() for word in content)


def _completed(clause: Clause, word: str) -> bool:
    """Whether the word says what was done, not how things are: opened, 打开了."""
    return re.search(rf"{re.escape(word)}(?:了.|p?ed\b)", clause.text, re.IGNORECASE) is not None


def _timeless(old: Clause, new: Clause) -> bool:
    """Neither clause is about another occasion than the other."""
    return (old.content & _TIMES) == (new.content & _TIMES)
