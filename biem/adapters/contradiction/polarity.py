"""Opposite polarity: the same affirmed and denied, or antonyms, compared clause by clause."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.hypernyms import Hypernyms
from biem.adapters.contradiction.reading.reader import Clause, Reading, StatementReader
from biem.adapters.contradiction.reading.time_phrases import OCCASION
from biem.domain.conflict import ConflictKind, Verdict

_EQUAL, _GENERAL, _BARE = 0.85, 0.72, 0.55
_NO_MORE = 0.82
"""If the newer says that nearly all of the older statement is no longer so."""
_DETAILS = 2
"""Maximum additional words of the older: I work at the bakery as a baker, I no longer work at the bakery."""
_HAPPENED = 0.7
"""Maximum confidence for events that happened and did not, or happened the opposite way: recorded, but never acted on,
because both may be true of two occasions."""
_SHORT = 3
"""Maximum clauses: in longer texts, two matching short clauses rarely have the same subject."""
_TIMES = (
    "today yesterday tomorrow tonight morning evening night week sometimes now first last monday tuesday wednesday "
    "thursday friday saturday sunday 今天 昨天 明天 前天 后天 今晚 昨晚 早上 晚上 上午 下午 周末 有时 有时候 偶尔 "
    "第一次 上次 下次 上周 这周 下周 上个月 这个月 去年 今年 前年 周一 周二 周三 周四 周五 周六 周日 "
    "星期一 星期二 星期三 星期四 星期五 星期六 星期天"
)
_ABSOLUTE = frozenset(("never", "从不", "从来不", "从没", "从来", "再也"))
"""Words that deny for every occasion."""
_HABIT = "every always usually often daily constantly 每天 天天 总是 经常 常常 一直 每 每周 每次 每晚 老是"
_NOW = "now currently nowadays 现在 目前 如今"
_ALL = frozenset(("all", "everi", "everyon", "everybodi", "都", "全", "全部", "所有", "每个", "大家"))
_AGO = frozenset(("last", "month", "year", "week", "dai", "ago", "recent"))
_PART = "有些 有的 一些 部分 有人 some"
_NO_NOUN = frozenset(("here", "there", "insid", "outsid", "again", "enough", "these", "all"))
"""Words that may follow an adjective without being its noun."""
_HAVE = frozenset(("have", "ha", "had", "got", "own"))
"""Stems that need only the object: without a dog there is no big dog."""
_BEING = frozenset(("有", "在"))
_COMPARED = re.compile(r"比|\bthan\b", re.IGNORECASE)
_DID_NOT = re.compile(r"\b(?:did|have|has|had) not\b|没", re.IGNORECASE)
_DONE = re.compile("[了过]|[a-z]ed\\b|\\b(?:have|has|had) ", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Stance:
    """Assertion of a clause, with features that quickly show whether another one can oppose it."""

    clause: Clause
    denies: bool
    antonyms: frozenset[str]
    """Its words that have an antonym."""


class Stances:
    """All stances of a statement, and those that can oppose a plain one, or one with antonyms."""

    def __init__(self, clauses: int, stances: Sequence[Stance], *, told: bool) -> None:
        self.clauses = clauses
        self.told = told
        """It reports an event, which stays true afterwards."""
        self.all = stances
        self.turned = [one for one in stances if one.denies or one.clause.past]
        self.opposing = [one for one in stances if one.denies or one.clause.past or one.antonyms]

    def against(self, old: Stance) -> Sequence[Stance]:
        """Stances that may oppose an older one."""
        return self.all if old.denies else self.opposing if old.antonyms else self.turned


class Polarity:
    """The antonyms, loaded once."""

    def __init__(self, reader: StatementReader) -> None:
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
        self._times, self._habit, self._now, self._part = (
            frozenset(reader.stem(word) for word in words.split()) for words in (_TIMES, _HABIT, _NOW, _PART)
        )
        self.describing = frozenset(self._qualities) | self._times | self._habit | self._now
        """Words for manner and time."""
        self._kinds = Hypernyms(reader)

    def opposite(self, one: frozenset[str], other: frozenset[str]) -> tuple[str, str] | None:
        """A word only in `one` and its antonym only in `other`."""
        for word in sorted(one - other):
            against = (self._antonyms.get(word, frozenset()) & other) - one
            if against:
                return word, min(against)
        return None

    def speaks(self, newer: Reading) -> bool:
        """Whether a statement may oppose one without a denial."""
        if any(clause.negations or clause.past for clause in newer.clauses):
            return True
        content = newer.content()
        return not self._antonyms.keys().isdisjoint(content) or self._kinds.speaks(content)

    def stances(self, reading: Reading) -> Stances:
        """The stances that `judge` compares."""
        known = self._antonyms.keys()
        found = [
            Stance(clause, clause.negations % 2 == 1, frozenset(known & clause.tokens) - _BEING)
            for said in reading.clauses
            for clause in self._kinds.spelt_out(said)
            if clause.asserts
        ]
        return Stances(len(reading.clauses), found, told=_DONE.search(reading.text) is not None)

    def judge(self, older: Stances, newer: Stances) -> Verdict | None:
        """The surest opposition between two assertions of one subject."""
        return max(self._found(older, newer), key=lambda verdict: verdict.confidence, default=None)

    def _found(self, older: Stances, newer: Stances) -> Iterator[Verdict]:
        short = max(older.clauses, newer.clauses) <= _SHORT
        for one in older.all:
            old = one.clause
            for other in newer.against(one):
                new = other.clause
                if short or min(len(old.content), len(new.content)) > 1:
                    if comparable(old, new):
                        yield from self._clauses(one, other, told=older.told)
                    if one.denies != other.denies:
                        yield from self._special(old, new)

    def _special(self, old: Clause, new: Clause) -> Iterator[Verdict]:
        """A general denial, and an affirmed special case."""
        if old.past or new.past:
            return
        deny, affirm = (old, new) if old.negations % 2 else (new, old)
        raised = self._kinds.raised(deny, affirm)
        if raised is None or not comparable(deny, raised) or not deny.content <= raised.content:
            return
        if self._timeless(deny, raised) or self._on_any(deny, raised):
            yield Verdict(self._kind(new), _GENERAL, "special case")

    def _kind(self, new: Clause) -> ConflictKind:
        return "update" if new.ended or new.changed or not self._now.isdisjoint(new.tokens) else "contradiction"

    def _clauses(self, one: Stance, other: Stance, *, told: bool) -> Iterator[Verdict]:
        """`told`: that of the older statement."""
        old, new = one.clause, other.clause
        kind = self._kind(new)
        opposed = one.denies != other.denies
        sure = _agreement(old.content, new.content)
        if (
            new.past
            and not old.past
            and not opposed
            and len(old.content) > 1
            and sure >= _GENERAL
            and self._timeless(old, new)
        ):
            yield Verdict("update", sure, "ended")
        deny, affirm = (old, new) if old.negations % 2 else (new, old)
        if opposed and not deny.past and (not affirm.past or not _ABSOLUTE.isdisjoint(deny.tokens)):
            yield from self._denied(deny, affirm, kind, ended=deny is new and new.ended, told=told)
        if opposed or old.past or new.past:
            return
        if old.negations or new.negations:  # neither liking nor hating is possible
            return
        if _COMPARED.search(old.text) and _COMPARED.search(new.text):  # what is told from the other end agrees
            return
        pair = self.opposite(one.antonyms, other.antonyms) if one.antonyms and other.antonyms else None
        if pair and pair[0] in old.content and pair[1] in new.content and self._timeless(old, new):
            rest, others = old.content - {pair[0]}, new.content - {pair[1]}
            if self._tells_apart(old, pair[0]) or self._tells_apart(new, pair[1]):
                return
            if rest == others or (rest and others and (rest <= others or others <= rest)):
                whole = rest == others and (bool(rest) or bool(old.who))
                sure = _EQUAL - 0.03 if rest == others and rest else _GENERAL - 0.02 if whole or rest else _BARE
                happened = pair[0] in self._events or _completed(old, pair[0]) or _completed(new, pair[1])
                yield Verdict(kind, min(sure, _HAPPENED) if happened else sure, "antonym")

    def _denied(
        self, deny: Clause, affirm: Clause, kind: ConflictKind, *, ended: bool, told: bool
    ) -> Iterator[Verdict]:
        """The same denied and affirmed, ignoring frequency and quantity: never and every day, none and all."""
        if not self._part.isdisjoint(deny.tokens) and _ALL.isdisjoint(affirm.tokens):
            return  # "some do not" does not contradict "some do"
        aside = self._habit | _ABSOLUTE | _ALL | self._part
        denied, affirmed = deny.content - aside, affirm.content - aside
        if ended:  # ignore the time of the end
            denied -= self._times | _AGO
        having = not _HAVE.isdisjoint(deny.tokens) and not _HAVE.isdisjoint(affirm.tokens)
        bare = _bare(denied) and not self._on_any(deny, affirm) and not having
        if not denied or not (denied == affirmed or (not bare and denied < affirmed)):
            return
        if not (ended or self._timeless(deny, affirm) or self._sometimes(deny, affirm)):
            return
        exact = denied == affirmed and deny.content == affirm.content
        sure = _BARE if bare else _EQUAL if exact and len(denied) > 1 else _GENERAL
        if ended and (exact or len(denied) > 1) and len(affirmed - denied) <= _DETAILS:
            sure = max(sure, _NO_MORE)
        happened = affirm.past or (
            (told and ended) or (_DID_NOT.search(deny.text) is not None and _DONE.search(affirm.text) is not None)
        )
        yield Verdict(kind, min(sure, _HAPPENED) if happened else sure, "negation")

    def _sometimes(self, deny: Clause, affirm: Clause) -> bool:
        return not _ABSOLUTE.isdisjoint(deny.tokens) or not self._habit.isdisjoint(affirm.tokens)

    def _on_any(self, deny: Clause, affirm: Clause) -> bool:
        """Denied for every occasion, and affirmed for many."""
        return not _ABSOLUTE.isdisjoint(deny.tokens) and not self._habit.isdisjoint(affirm.tokens)

    def _timeless(self, old: Clause, new: Clause) -> bool:
        """Both clauses are about the same occasion, or none."""
        return (old.content & self._times) == (new.content & self._times)

    def _tells_apart(self, clause: Clause, word: str) -> bool:
        """Whether an adjective precedes its noun: hot water and cold water are two things."""
        if word not in self._qualities:
            return False
        after = clause.tokens[clause.tokens.index(word) + 1 :][:1]
        return any(token in clause.content and token not in self._times | _NO_NOUN for token in after)


def comparable(old: Clause, new: Clause) -> bool:
    """Whether both assert with the same modality about the same people, both or neither limited to an occasion."""
    if not (old.asserts and new.asserts) or old.modality != new.modality:
        return False
    same = old.who == new.who or old.who | old.implied == new.who or old.who == new.who | new.implied
    return same and (OCCASION in old.times) == (OCCASION in new.times)


def _agreement(one: frozenset[str], other: frozenset[str]) -> float:
    return _EQUAL if one == other else _GENERAL if one and other and (one <= other or other <= one) else 0.0


def _bare(content: frozenset[str]) -> bool:
    """Only a verb: the omitted object may differ."""
    return len(content) == 1 and all(len(word) <= 2 or word.isascii() for word in content)


def _completed(clause: Clause, word: str) -> bool:
    """Whether the word is a completed action, not a state: opened, 打开了."""
    return re.search(rf"{re.escape(word)}(?:了.|p?ed\b)", clause.text, re.IGNORECASE) is not None
