"""What says later, and says that something changed, of what an older candidate says: told before it.

"The surgery is put off to 3 September" revises "Dad has his surgery on the 15th" for a question about the surgery, and
no rule of contradiction knows (both may be true of two surgeries). Nothing is retired or disputed by it: a revision is
only told first, with the older one's score and a little more. A question about the past ("where did I live before?")
and one that names a time is not answered so.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from biem.domain.times import windows
from biem.engine.bag import Numbers
from biem.engine.confidence import Similarity
from biem.engine.pool import Candidate
from biem.engine.question import MACHINES

_OLDER = 5
"""So many of the best may be revised …"""
_NEWER = 20
"""… by one of so many: a revision that is further down is about something else."""
_TOLD = 0.9
"""Of the weight of what the question asks and the older one holds, the newer one must hold as much …"""
_TOLD_IN_PAIRS = 0.4
"""… or so much where index terms are pairs of characters, half of which are no words."""
_SHARED = 0.3
"""And of the very same so much."""
_COMMON = 0.25
"""A term that more of the candidates hold says nothing about the matter …"""
_OF_A_NAME = 2
"""… and neither does a name that so many more hold: all is about Sara, but two about Python are about its version."""
_LEAST_COMMON = 4
"""Of few candidates a quarter is nothing."""
_LIKE = 0.2
"""Calibrated similarity below which two are about different things."""
_SAME = 0.7
"""From which on they say the same of another time: then a question about the present needs no word of change."""
_BEFORE = 1e-3
"""Log-odds between a revision and what it revises."""
_CHANGES = frozenset((
    "now", "switch", "chang", "move", "instead", "anymor", "longer", "postpon", "reschedul", "cancel", "replac",
    "renam", "upgrad", "updat", "convert", "delai", "transfer", "reloc", "migrat", "quit", "stop", "becam", "becom",
    "rais", "reduc", "increas", "decreas", "correct", "actual", "drop", "roll", "revert", "改成", "改为", "改到",
    "改在", "改用", "改名", "改叫", "改期", "换成", "换到", "换了", "换药", "换手", "搬到", "搬去", "搬家", "搬进",
    "推迟", "提前", "延期", "延后", "更正", "更新", "取消", "调到", "调整", "转到", "跳槽", "变成", "变更", "升到",
    "涨到", "降到", "现在", "目前", "如今", "不再", "停了", "退了", "辞职", "离职", "改学", "换掉", "変更", "中止",
))  # fmt: skip
"""Index terms of what changed something."""
_NOW = re.compile(
    r"\b(?:now|current|currently|latest|newest|at the moment|these days|nowadays|still|anymore|up to date)\b"
    r"|现在|目前|如今|最新|当前|眼下|还在|还是",
    re.IGNORECASE,
)
_FORMER = (
    r"\b(?:used to|before|(?:previous|former|original|initial)(?:ly)?|(?:at )?first|earlier|back then)\b"
    r"|以前|之前|原来|原先|曾经|最初|一开始|当初|本来|过去|前任|旧"
)
_ASKS_FORMER = re.compile(_FORMER, re.IGNORECASE)
_PAST = re.compile(rf"\b(?:did|was|were|had|old|ago)\b|当时|{_FORMER}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Revision:
    """A candidate that is told before an older one, by their places."""

    newer: int
    older: int
    gain: float
    """Log-odds that the newer one is given."""


def revisions(
    text: str,
    asked: Sequence[str],
    candidates: Sequence[Candidate],
    scores: Numbers,
    names: Iterable[Sequence[str]],
    similarity: Similarity,
    reach: float,
) -> list[Revision]:
    """The revisions among these candidates for a question of these index terms.

    `names`: the terms of each name that it mentions or a speaker has. `reach`: log-odds by which one may be behind what
    it revises; what is further behind answers another question.
    """
    if len(candidates) < 2 or asks_of_the_past(text) or windows(text, max(one.at for one in candidates)):
        return []
    order = np.argsort(-scores, kind="stable")[:_NEWER].tolist()
    held = {place: frozenset(candidates[place].lexemes) for place in order}
    holders = {term: sum(term in one for one in held.values()) for term in asked}
    of_names, most = frozenset[str]().union(*names), max(_LEAST_COMMON, _COMMON * len(order))
    rarity = {
        term: math.log1p(len(order) / (0.5 + count))
        for term, count in holders.items()
        if 0 < count <= (_OF_A_NAME if term in of_names else most)
    }
    terms = rarity.keys()
    told = _TOLD if all(map(str.isascii, terms)) else _TOLD_IN_PAIRS
    weights = {place: sum(rarity[term] for term in terms & held[place]) for place in order}
    now = bool(_NOW.search(text))
    least = {place: _LIKE if not _CHANGES.isdisjoint(held[place]) else _SAME for place in order}
    able = [place for place in order if now or least[place] == _LIKE]
    levels = {place: float(scores[place]) for place in order}
    found: list[Revision] = []
    for older in sorted(order[:_OLDER], key=lambda place: (candidates[place].at, place)):
        for newer in able:
            gain = levels[older] - levels[newer]
            if (
                0 <= gain <= reach
                and weights[older] > 0
                and weights[newer] >= told * weights[older]
                and _follows(candidates[newer], candidates[older])
                and sum(rarity[term] for term in terms & held[older] & held[newer]) >= _SHARED * weights[older]
                and _likeness(candidates[newer], candidates[older], similarity) >= least[newer]
            ):
                found.append(Revision(newer, older, gain + _BEFORE))
                levels[newer] += gain + _BEFORE
    return found


def asks_of_the_past(text: str) -> bool:
    """Whether a question may ask what was so before: also by its tense alone."""
    return _PAST.search(text) is not None


def asks_what_was(text: str) -> bool:
    """Whether a question says that it asks for what held before something else did."""
    return _ASKS_FORMER.search(text) is not None


def _follows(newer: Candidate, older: Candidate) -> bool:
    """Whether the same person, or the same conversation, goes on: a program revises no person."""
    one_talk = newer.speaker == older.speaker or newer.conversation == older.conversation
    by_program = newer.speaker.lower() in MACHINES and older.speaker.lower() not in MACHINES
    return newer.at > older.at and one_talk and not by_program


def _likeness(newer: Candidate, older: Candidate, similarity: Similarity) -> float:
    if newer.vector is None or older.vector is None or len(newer.vector) != len(older.vector):
        return 0.0
    return float(similarity(newer.vector, older.vector[np.newaxis])[0])
