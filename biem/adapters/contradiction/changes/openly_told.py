"""Implements the rule of openly told changes: the clauses of the newer, each against the whole older statement.

The other rules compare whole statements, so that a reason, an agent or a comment keeps them from acting. Here nothing
else in the one clause may be about a thing or person that the older does not name; the other clauses count
only as jokes, hypotheses or statements about others.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from biem.adapters.contradiction.changes import chinese_states
from biem.adapters.contradiction.changes.chinese import CLAUSES, ChineseEndings
from biem.adapters.contradiction.changes.clause_words import LONGEST_OLDER, ClauseWords, OlderWords
from biem.adapters.contradiction.changes.corrected import SLIP, corrects
from biem.adapters.contradiction.changes.endings import ends
from biem.adapters.contradiction.changes.new_values import CHANGED, relocates, renames, renumbers
from biem.adapters.contradiction.changes.states import reverses
from biem.adapters.contradiction.reading.reader import Reading, StatementReader
from biem.adapters.contradiction.statements.core import Core
from biem.adapters.contradiction.statements.likeness import share_characters
from biem.adapters.contradiction.statements.one_day import is_of_one_day
from biem.adapters.contradiction.statements.unaffected import is_unaffected
from biem.domain.conflict import Statement, Verdict

OPENLY = frozenset(("openly told",))
_SURE = 0.86
_SPEAKS = re.compile(
    r"\b(?:no|not|off|out|over|gone|again|back|now|instead|rather|from|drop|forget|scrap|skip|ditch|stop|cancel|lose"
    r"|enough|goodbye|bye|quit|give[sn]?|gave|left|let|took|taken|put|cut|came|come|went|up|down|love|like|may|can"
    r"|died"
    r"|[a-z]{2,}(?:ed|wn|ld|nt))\b",
    re.IGNORECASE,
)
"""Cheap check for words of a change."""
_RENAMES_OF = re.compile("给(?P<of>[^，,]{1,6}?)[改换]了?个?名")
_LONGEST_STATE = 40
KEPT = 1_024
"""Cached clauses and contents: each message is compared with ten others."""
_NEXT = re.compile(
    r"[,.;:!]? (?P<next>(?:(?:so|and) )?(?:it|they|that|we|she|he)(?:['’]\w+)? [^,.;:!?]{1,60}?)(?=[,;:!?]|\.(?:\s"
    r"|$)|$)",
    re.IGNORECASE,
)
_SPEAKS_CHINESE = re.compile(
    "[不别][\u4e00-\u9fffA-Za-z0-9]{1,10}[了啦]|不[再用必]|[把将从]|[停退撤辞卖拆摘关黄没换戒断扔砍卸吹死偷散裁废]"
    "|取消|出手|清仓|清空|送人|倒闭|注销|解散|解约|作废|[过到]期|期满|报废|下线|弃用|淘汰|打消|放弃|算了|结束|完[工了]"
    "|腻|还清|结清|终止|中止|失效|下架|毕业|告别|离[开职]|卸任|泡汤|叫停|修好|拿到|到手|[下过到批签办]了|领证|脱单"
    "|出院|生了|完工|回[来国老]|好了|消肿|允许|可以|能[^，]{1,8}了|同意|开通|松口|点头|爱上|上瘾|迷上|改|叫|升|调"
)
_PLANNED_CHINESE = re.compile("打算|计划|准备|[想要报]")
_SEVERAL = re.compile(r",|\band\b|&|\bor\b|\bboth\b|\bexcept\b", re.IGNORECASE)
"""The older tells several things, of which one may end."""
_LONG_AGO = re.compile(
    r"\b(?:in|since|back in) (?:19|20)\d\d\b|\byears? ago\b|\ba while back\b|\blong ago\b|\bas a (?:kid|child)\b"
    r"|\blast year\b"
    r"|\bback then\b|\bwhen i was\b",
    re.IGNORECASE,
)
"""The change came before the older was said."""
_OF_DAY = re.compile(
    r"\b(?<!this )(?:mornings?|afternoons?|evenings?|nights?|nightly|weekdays?|weekends?)\b",
    re.IGNORECASE,
)
"""A part of the day or week, which tells one of several."""
_TEMPORARY = re.compile(
    r"\b(?:while (?:she|he|they|it|i|we|the)|for now|for the time being|fill(?:s|ing)? in|covering for|stand(?:s"
    r"|ing)?[- ]in|temporar\w+"
    r"|until (?:she|he|they|it)|for a (?:bit|while|few days|week|fortnight))\b",
    re.IGNORECASE,
)
"""It is so for a while."""
_TO_COME = re.compile(r"\bwill (?!not\b)|\bgoing to\b|\bonce (?:i|we|he|she|they)\b", re.IGNORECASE)
"""It has not come about yet."""
_NEW_ROLE = re.compile(r"\bis (?:my|our) (?:new )?(?P<role>[a-z]{4,})\b(?! than)", re.IGNORECASE)
"""A person has a role now, which may be another role than that of the older."""
_FOR_OTHER = re.compile(
    r"(?:and |but )?for (?:the|our|my) (?P<what>[a-z ]{3,25}?)(?= in\b| on\b| it\b| we\b|,|$)", re.IGNORECASE
)
"""What comes instead is for another occasion."""
_AGE = re.compile(r"\b(?:young|younger|elder|junior)\b", re.IGNORECASE)
"""Tells one person from another."""
_BEGAN = re.compile(
    r"\b(?:started|began|begun|happened|took place|arrived|finished|(?<!have )(?<!has )(?<!['’]s )(?<!['’]ve )(?:got"
    r"|won|lost|came|went|saw|met|sold|made|took|gave|ran|broke|fell|found"
    r"|wrote|ate|drank|drove|flew|had|was|were|did))\b",
    re.IGNORECASE,
)
"""An event, which cannot end."""
_LAST = re.compile(
    r"\blast (?:semester|term|year|season|spring|summer|autumn|fall|winter|week|month|night|time)\b", re.IGNORECASE
)
_OF_OTHERS = re.compile(r"\b(?:his|her|their)\b", re.IGNORECASE)
_AGAIN = re.compile(
    r"\bagain\b|\b(?:for (?:laughs|fun|a laugh)|as a joke)\b|\bback (?:home|in|up|on|to normal|there)\b"
    r"|\bas usual\b|\bas (?:before|always)\b",
    re.IGNORECASE,
)
"""It is as before."""
_PLANNED = re.compile(
    r"\b(?:going to|plan(?:s|ning)? to|will|want(?:s)? to|hoping to|intend)\b"
    r"|^(?:please )?(?:always )?(?:remind|keep|sign|give|answer|use|call|send)\b",
    re.IGNORECASE,
)
"""A plan or an order, which may end though it states no fact."""


class OpenChanges:
    """Judges pairs of statements in one language. Thread-safe."""

    def __init__(self, reader: StatementReader, core: Callable[[Reading], Core]) -> None:
        self._reader, self._core = reader, core
        self._words = ClauseWords(reader)
        self._chinese = ChineseEndings(reader)
        self._part = lru_cache(KEPT)(self._part_of)
        self._content = lru_cache(KEPT)(self._content_of)

    def speaks(self, newer: Reading) -> bool:
        """Whether a statement may tell of a change."""
        shape = _SPEAKS_CHINESE if newer.in_chinese else _SPEAKS
        return shape.search(newer.text) is not None or SLIP.search(newer.text) is not None

    def judge(self, older: Reading, newer: Reading, *, follows: bool) -> Verdict | None:
        """The verdict that a clause of the newer ends the older statement, or None. `follows`: said right after it."""
        if follows and older.in_chinese == newer.in_chinese and self._corrects(older, newer):
            return _verdict(self._core(older))
        if older.in_chinese or newer.in_chinese:
            return self._judge_chinese(older, newer) if older.in_chinese and newer.in_chinese else None
        if len(older.text) > LONGEST_OLDER or self._content(older.text).isdisjoint(self._content(newer.text)):
            return None
        if _AGE.search(newer.text) and not _AGE.search(older.text):
            return None
        if _SEVERAL.search(older.text) or _BEGAN.search(older.text):
            return None
        old, new = self._core(older), self._core(newer)
        if (
            old.past
            or old.told
            or old.of_old
            or new.open
            or _TEMPORARY.search(newer.text)
            or _LAST.search(older.text)
            or _LONG_AGO.search(newer.text)
            or not (old.holds or _PLANNED.search(older.text))
        ):
            return None
        told = self._words.told(older.text)
        if any(one["role"].lower() not in older.text.lower() for one in _NEW_ROLE.finditer(newer.text)):
            return None
        told_of_day = frozenset(map(str.lower, _OF_DAY.findall(older.text)))
        for clause, before, after in self._words.clauses(newer.text, told):
            if not frozenset(map(str.lower, _OF_DAY.findall(clause))) <= told_of_day:
                continue
            if _OF_OTHERS.search(clause) and not (told.person or _OF_OTHERS.search(older.text)):
                continue
            other = _FOR_OTHER.match(after)
            if _TO_COME.search(clause) or (other is not None and self._words.strange(other["what"], told)):
                continue
            again = _AGAIN.search(after) or _AGAIN.search(before)
            if self._changes(told, old, clause, before, again=again is not None) and self._holds(
                old, self._part(clause)
            ):
                return _verdict(old)
            if old.numbers and after and not again and self._renumbers_in_two(told, old, clause, before, newer.text):
                return _verdict(old)
        return None

    def _changes(self, told: OlderWords, old: Core, clause: str, before: str, *, again: bool) -> bool:
        """Whether a clause tells a change of the older. `again`: another one says that all is as before."""
        if reverses(self._words, told, clause, before):
            return True
        return not again and (
            (not old.denies and ends(self._words, told, clause, before))
            or (bool(old.numbers) and renumbers(self._words, told, old, self._part(clause), clause, before))
            or renames(self._words, told, clause, before)
            or relocates(self._words, told, clause, before)
        )

    def _renumbers_in_two(self, told: OlderWords, old: Core, clause: str, before: str, text: str) -> bool:
        """Whether a clause tells a change, and the next one the new number: "the rent went up, it's 1,600"."""
        at = text.find(clause)
        following = _NEXT.match(text, at + len(clause)) if at >= 0 else None
        if following is None or CHANGED.search(clause) is None:
            return False
        both = f"{clause}, {following['next'].strip()}"
        part = self._part(both)
        return self._holds(old, part) and renumbers(self._words, told, old, part, part.text, before)

    def _corrects(self, older: Reading, newer: Reading) -> bool:
        old = self._core(older)
        several = "、" in older.text if older.in_chinese else _SEVERAL.search(older.text) is not None
        if several or old.open or old.past or len(older.text) > LONGEST_OLDER:
            return False
        told = self._words.told(older.text)
        return corrects(self._words, told, old, newer.text, self._part, chinese=older.in_chinese)

    def _part_of(self, clause: str) -> Core:
        return self._core(self._reader.read(Statement(clause, "")))

    def _content_of(self, text: str) -> frozenset[str]:
        return frozenset(self._words.content(text))

    def _judge_chinese(self, older: Reading, newer: Reading) -> Verdict | None:
        of = _RENAMES_OF.search(newer.text)
        if of is not None and of["of"] not in older.text:
            return None
        if not share_characters(older.text, newer.text) and not chinese_states.may_rename(older.text, newer.text):
            return None
        old, new = self._core(older), self._core(newer)
        if old.past or new.open or (old.open and not _PLANNED_CHINESE.search(older.text)):
            return None
        if new.holds and len(older.text) <= _LONGEST_STATE and self._is_other_state(old, older.text, newer.text):
            return _verdict(old)
        for clause, claim in self._chinese.of(older.text, newer.text):
            part = self._part(clause)
            if part.which <= old.which and not is_unaffected(old, part):
                return replace(_verdict(old), partial=bool(claim), claim=claim)
        return None

    def _is_other_state(self, old: Core, older: str, newer: str) -> bool:
        """Whether a clause of a Chinese message tells the opposite state of the older, or a new name."""
        before = ""
        for clause in filter(None, CLAUSES.split(newer)):
            renamed = chinese_states.renames(older, clause, newer)
            if renamed or chinese_states.reverses(older, clause, before):
                part, people = self._part(clause), self._part(f"{before}，{clause}").persons
                if (
                    (renamed or part.which <= old.which)
                    and people <= old.persons | {"me"}
                    and not is_unaffected(old, part)
                ):
                    return True
            before = f"{before} {clause}"
        return False

    def _holds(self, old: Core, part: Core) -> bool:
        """Whether a clause states a lasting fact about no other one of several."""
        if not part.holds or part.adds or not part.which <= old.which:
            return False
        return not is_of_one_day(old, part) and not is_unaffected(old, part)


def _verdict(old: Core) -> Verdict:
    subject = f"{' and '.join(sorted(old.persons)) or 'me'}: {' '.join(piece.stem for piece in old.words[:3])}"
    return Verdict("update", _SURE, "openly told", subject=subject, aligned=True)
