"""Updates in which the newer statement marks a change and has another value for the subject of the older one."""

import re

from biem.adapters.contradiction import lexicon
from biem.adapters.contradiction.reading.reader import Clause, Reading, StatementReader
from biem.adapters.contradiction.reading.time_phrases import COMING, OCCASION, SINCE
from biem.adapters.contradiction.statements.number_kinds import by_unit
from biem.domain.conflict import Verdict

_ANNOUNCED = re.compile(
    r"^(?:update|updated|correction|edit|fyi)\s?[:：,]|^(?:更新|更正|纠正|改一下)\s?[:：,，]?", re.IGNORECASE
)
_REPLACED = re.compile(
    r"\b(?:switched|changed|moved|migrated|converted|went|upgraded)\s+from\s+([\w' -]{2,30}?)\s+to\s+\w"
    r"|从([\u4e00-\u9fffA-Za-z0-9]{1,12}?)(?:改|换|搬|转|调)(?:成|到|为|用|去)",
    re.IGNORECASE,
)
_REPLACEMENT = 0.75
_CANCELLED = 0.72
_EXCHANGED = 0.7
"""Recorded, but never acted upon: one may take the train and the bus."""
_DISPOSED = re.compile(
    r"\b(?:sold|got rid of|threw away|scrapped)\s(?:(?:the|my|his|her|our|their|that)\s)?([A-Za-z][\w-]+)"
    r"|\bgave\s(?:(?:the|my|his|her|our|their|that)\s)?([A-Za-z][\w-]+)\s(?:away|to)\b"
    r"|把([\u4e00-\u9fffA-Za-z0-9]{1,8}?)(?:卖|送|扔|丢|弄丢|还)(?:掉|给|了|人)"
    r"|^(?!.{0,8}把)([\u4e00-\u9fffA-Za-z0-9]{1,8}?)(?:卖|送|扔|丢)(?:掉了|给.{1,8}了|人了|了)$",
    re.IGNORECASE | re.MULTILINE,
)
_HAS = re.compile(r"\b(?:ha(?:ve|s)|owns?|drives?|rides?|keeps?|bought|got)\b|[有养开买]", re.IGNORECASE)
_MEASURED = 0.83
_RISEN = re.compile(
    r"\b(?:raised|increased|risen|rose|went up|gone up|grew|grown|lowered|reduced|dropped|fell|fallen|went down"
    r"|gone down|cut|extended|shortened|is up|is down|up|down)\b[^.;]*\bto\b"
    r"|\bnow\b|\bthese days\b|\bnowadays\b|\bcurrently\b"
    r"|[涨升降减增加长缩调提](?:价|薪|高|低|少|短)?[到至为]|现在|如今|目前",
    re.IGNORECASE,
)
"""Marks a changed quantity."""
_GONE = 0.75
"""Recorded, but never acted upon: there may be another one of this kind."""
_CODE = re.compile(r"(?<![\w-])([A-Z]+-?)(\d+(?:\.\d+)*)(?![\w-])")
_NUMBERED = re.compile(r"([A-Za-z]+|[\u4e00-\u9fff]{2})\s?#?(\d+)")
_BASE, _ALIKE, _VALUED, _TOLD = 0.5, 0.15, 0.15, 0.1
_LONGEST = 40
"""Maximum words: longer texts change one thing and mention many."""
_SHARED = 0.3
"""Minimum share of the shorter statement's content that both contain."""


class Updates:
    """The groups of exclusive values, loaded once."""

    def __init__(self, reader: StatementReader) -> None:
        self._changed = reader.grammar["changed"]
        self._cancelled = frozenset(reader.stem(word) for word in ("cancelled", "canceled", "取消"))
        self._reader = reader
        self._values = {reader.stem(value): found for value, found in lexicon.exclusive().items()}

    def speaks(self, newer: Reading) -> bool:
        """Whether a statement marks a change."""
        return bool(
            _REPLACED.search(newer.text)
            or _ANNOUNCED.search(newer.text)
            or _DISPOSED.search(newer.text)
            or (newer.numbers and _RISEN.search(newer.text))
            or any(_changes(clause) for clause in newer.clauses)
        )

    def judge(self, older: Reading, newer: Reading) -> Verdict | None:
        """An update, or None."""
        if max(len(older.words), len(newer.words)) > _LONGEST:
            return None
        replaced = _REPLACED.search(newer.text)
        if replaced and any(clause.asserts for clause in newer.clauses):
            gone = {self._reader.stem(word) for word in newer.words if word in (replaced[1] or replaced[2]).lower()}
            if gone & older.content() and older.who() == newer.who():
                return Verdict("update", _REPLACEMENT, "replaced")
        if self._measured(older, newer):
            return Verdict("update", _MEASURED, "quantity changed")
        if self._disposed(older, newer):
            return Verdict("update", _GONE, "disposed of")
        announced = bool(_ANNOUNCED.search(newer.text))
        if not announced and not any(_changes(clause) for clause in newer.clauses):
            return None
        if not any(clause.asserts for clause in older.clauses):
            return None
        one, other = older.content() - self._changed, newer.content() - self._changed
        alike = len(one & other) / max(1, min(len(one), len(other)))
        ended = newer.tokens() & self._cancelled
        if ended and other and other - self._cancelled <= one and not older.tokens() & self._cancelled:
            return Verdict("update", _CANCELLED, "cancelled")
        group = self._exclusive(older, newer)
        if group and (_codes_differ(older.text, newer.text) or _named_differ(older.text, newer.text)):
            return None
        valued = bool(group) or _numbers_differ(older, newer) or _codes_differ(older.text, newer.text)
        if not valued or (alike < _SHARED and not (announced and group)):
            other_since = any(_exchanged(old, new) for new in newer.clauses for old in older.clauses)
            return Verdict("update", _EXCHANGED, "other since then") if other_since else None
        confidence = _BASE + _ALIKE * (alike >= 0.5) + _VALUED + _TOLD * announced
        return Verdict("update", min(0.9, confidence), "announced" if announced else "changed", group or "")

    def _measured(self, older: Reading, newer: Reading) -> bool:
        """Whether the newer gives a current number of the same kind that differs from the older's."""
        if not _RISEN.search(newer.text) or len(older.clauses) != 1 or len(newer.clauses) != 1:
            return False
        old, new = older.clauses[0], newer.clauses[0]
        if not (old.asserts and new.asserts) or old.modality or new.modality or OCCASION in old.times | new.times:
            return False
        if old.past or old.ended or (old.negations or new.negations) or len(older.numbers) != 1:
            return False
        return len(newer.numbers) == 1 and _numbers_differ(older, newer, plain=True)

    def _disposed(self, older: Reading, newer: Reading) -> bool:
        """Whether a person no longer has what the older says they have."""
        content = frozenset().union(*(one.content for one in older.clauses if one.asserts and _HAS.search(one.text)))
        told = " ".join(clause.text for clause in newer.clauses if clause.asserts and not clause.negations)
        things = {self._reader.stem(thing) for found in _DISPOSED.findall(told) for thing in found if thing}
        return not things.isdisjoint(content) and not _people(older).isdisjoint(_people(newer))

    def _exclusive(self, older: Reading, newer: Reading) -> str | None:
        one, other = (
            {
                group: value
                for token in sorted(reading.tokens())
                for group, value in [self._values.get(token, ("", ""))]
                if group
            }
            for reading in (older, newer)
        )
        return next((group for group in sorted(one) if group in other and one[group] != other[group]), None)


def _exchanged(old: Clause, new: Clause) -> bool:
    """Whether the newer, with a start time, differs in one word: I take the train, not the bus."""
    if not (new.times & {SINCE, COMING} and old.asserts and new.asserts and old.who == new.who):
        return False
    if old.times or old.modality != new.modality or (old.negations + new.negations):
        return False
    one, other = old.tokens, new.tokens
    least = min(len(one), len(other))
    head = next((n for n in range(least) if one[n] != other[n]), least)
    tail = next((n for n in range(least - head) if one[-1 - n] != other[-1 - n]), least - head)
    gone, come = one[head : len(one) - tail], other[head : len(other) - tail]
    kept = frozenset((*one[:head], *one[len(one) - tail :]))
    return (
        len(gone) == len(come) == 1
        and gone[0] in old.content
        and come[0] in new.content
        and bool(kept & old.content)
        and head > 0
    )


def _people(reading: Reading) -> frozenset[str]:
    """Persons named anywhere, or at the start."""
    return reading.who() | frozenset(clause.tokens[0] for clause in reading.clauses if clause.tokens)


def _changes(clause: Clause) -> bool:
    return clause.changed and clause.asserts and OCCASION not in clause.times


def _numbers_differ(older: Reading, newer: Reading, *, plain: bool = False) -> bool:
    """The same kind of number, and no common value. `plain`: numbers without a unit are also a kind."""
    one, other = by_unit(older.numbers), by_unit(newer.numbers)
    return any(kind in other and not values & other[kind] for kind, values in one.items() if kind or plain)


def _named_differ(one: str, other: str) -> bool:
    """Numbered things differ: order 5 and order 6."""
    numbered = {noun.lower(): number for noun, number in _NUMBERED.findall(one)}
    return any(numbered.get(noun.lower(), number) != number for noun, number in _NUMBERED.findall(other))


def _codes_differ(one: str, other: str) -> bool:
    """Codes with the same letters and different numbers: P2 and P0."""
    codes = dict(_CODE.findall(one))
    return any(codes.get(letters, number) != number for letters, number in _CODE.findall(other))
