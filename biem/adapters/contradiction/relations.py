"""Reversed relations: Anna is taller than Ben, Ben is taller than Anna.

Only asymmetric relations: comparisons, and roles such as teacher and pupil. Two people may teach each other, so such a
verdict is recorded and never acted upon.
"""

import re
from dataclasses import dataclass

from biem.adapters.contradiction.polarity import Polarity
from biem.adapters.contradiction.reading import Reading, StatementReader
from biem.domain.conflict import Verdict

_SURE = 0.74
_NP = r"(?:(?:my|our|the|his|her|their)\s)?[\w'-]+(?:\s[A-Z][\w'-]+)?"
_ENGLISH = (
    re.compile(
        rf"^(?P<a>{_NP})\s(?:is|am|are|was|were)\s(?P<not>not\s)?(?:much |far |a bit |slightly |a little )?"
        rf"(?P<relation>[a-z]+er|(?:more|less)\s[a-z]+)\sthan\s(?P<b>{_NP})$",
        re.IGNORECASE,
    ),
    re.compile(rf"^(?P<a>{_NP})\s(?:is|was|am)\s(?P<not>not\s)?(?P<b>{_NP})'s\s(?P<role>[a-z]+)$", re.IGNORECASE),
    re.compile(rf"^(?P<a>{_NP})\s(?:is|was)\s(?P<not>not\s)?(?P<b>my)\s(?P<role>[a-z]+)$", re.IGNORECASE),
    re.compile(
        rf"^(?P<a>{_NP})\s(?:is|was)\s(?P<not>not\s)?(?:the|an?)\s(?P<role>[a-z]+)\sof\s(?P<b>{_NP})$", re.IGNORECASE
    ),
    re.compile(
        rf"^(?P<a>{_NP})\s(?P<relation>(?:reports?|reported)\sto|supervises?|mentors?|coaches|"
        rf"(?:is|lies)\s(?:to\sthe\s)?(?:north|south|east|west)\sof)\s(?P<b>{_NP})$",
        re.IGNORECASE,
    ),
)
_MAY = re.compile(r"\bthan\b|'s\b|\bof\b|\bmy\b|report|supervise|mentor|coach|[比的在]", re.IGNORECASE)
"""Each relation has one of these: most clauses have none, and skip the patterns."""
_ME = re.compile(r"^(?:me|my|我)$")
_H = "[\u4e00-\u9fffA-Za-z]"
_CHINESE = (
    re.compile(
        rf"^(?P<a>{_H}{{1,8}}?)(?P<not>不)?比(?P<b>{_H}{{1,8}}?)(?:更|还|要)?"
        r"(?P<relation>高|矮|大|小|胖|瘦|重|轻|快|慢|早|晚|贵|便宜|好|差|强|弱|老|年轻|年长|富|穷|长|短|远|近)"
        r"(?:得多|多了|一些|一点|很多|点)?了?$"
    ),
    re.compile(rf"^(?P<a>{_H}{{1,8}}?)(?P<not>不)?是(?P<b>{_H}{{1,8}}?)的(?P<role>{_H}{{2,4}})$"),
    re.compile(rf"^(?P<a>{_H}{{1,8}}?)在(?P<b>{_H}{{1,8}}?)(?:的)?(?P<relation>[东南西北]{{1,2}}[边面方]|上游|下游)$"),
)


@dataclass(frozen=True, slots=True)
class _Relation:
    name: str
    left: str
    right: str
    denied: bool


class Relations:
    """Patterns and roles of asymmetric relations."""

    def __init__(self, reader: StatementReader, polarity: Polarity) -> None:
        self._reader = reader
        self._polarity = polarity
        self._roles = reader.grammar["asymmetric"]

    def speaks(self, newer: Reading) -> bool:
        """Whether a statement contains such a relation."""
        return bool(self._found(newer))

    def judge(self, older: Reading, newer: Reading) -> Verdict | None:
        """The reversed relation, or its opposite for the same two in the same order."""
        found = self._found(newer)
        for old in self._found(older) if found else ():
            for new in found:
                if old.denied or new.denied:
                    continue
                crossed = (old.left, old.right) == (new.right, new.left)
                if crossed and old.name == new.name:
                    return Verdict("contradiction", _SURE, "turned round", new.name)
                if (old.left, old.right) == (new.left, new.right) and self._opposite(old.name, new.name):
                    return Verdict("contradiction", _SURE, "opposite relation", new.name)
        return None

    def _opposite(self, one: str, other: str) -> bool:
        return self._polarity.opposite(frozenset((self._plain(one),)), frozenset((self._plain(other),))) is not None

    def _plain(self, name: str) -> str:
        """Base form, as in the list of antonyms: tall for taller, big for bigger."""
        if not name.isascii() or " " in name:
            return name
        bare = re.sub(r"(?:([bdgmnpt])\1)?er$", lambda found: found[1] or "", name)
        return self._reader.stem(bare.removesuffix("i") + "y" if bare.endswith("i") else bare)

    def _found(self, reading: Reading) -> list[_Relation]:
        found: list[_Relation] = []
        for clause in reading.clauses:
            if (
                not clause.asserts
                or clause.modality
                or clause.past
                or len(clause.text) > 80
                or not _MAY.search(clause.text)
            ):
                continue
            text = clause.text.removesuffix(".").rstrip("。")
            for shape in _CHINESE if reading.chinese else _ENGLISH:
                said = shape.match(text)
                groups = said.groupdict() if said else {}
                role = (groups.get("role") or "").lower()
                if not groups or (role and role not in self._roles):
                    continue
                name = role or groups["relation"].lower()
                sides = [_ME.sub("i", groups[side].lower()) for side in ("a", "b")]
                found.append(_Relation(name, sides[0], sides[1], denied=bool(groups.get("not"))))
        return found
