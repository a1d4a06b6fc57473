"""Reported changes: a later candidate that reports a change is ranked before the older one about the same matter.

"The surgery is put off to 3 September" changes "Dad has his surgery on the 15th" for a question about the surgery, but
no contradiction rule applies (there may be two surgeries). It supersedes and disputes nothing: it is only
ranked first, slightly above the older one's score. Not applied to questions about the past ("where did I live
before?") or about a named time.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from biem.domain.times.windows import windows
from biem.engine.query.question import MACHINES, asks_of_the_past
from biem.engine.recall.rank.confidence import Similarity
from biem.engine.recall.rank.pool import Candidate
from biem.engine.recall.rank.term_matrix import Numbers

_OLDER = 5
"""Number of best candidates that may be older ones."""
_NEWER = 20
"""Number of best candidates that may report a change: lower ones are about another matter."""
_TOLD = 0.9
"""Minimum share of the question terms in the older one, by weight, that the newer one must contain."""
_TOLD_IN_PAIRS = 0.4
"""The same where index terms are character pairs, half of which are no words."""
_SHARED = 0.3
"""Minimum share of exactly equal terms."""
_COMMON = 0.25
"""A term in more than this share of candidates is not specific to the matter."""
_OF_A_NAME = 2
"""The same for a name, as a number: all may name Sara, but two that name Python are about its version."""
_LEAST_COMMON = 4
"""Minimum number for `_COMMON`, for small pools."""
_LIKE = 0.2
"""Calibrated similarity below which two candidates are about different matters."""
_SAME = 0.7
"""Calibrated similarity from which they state the same for another time: then a question about the present needs no
change word."""
_BEFORE = 1e-3
"""Log-odds between a reported change and what it changes."""
_CHANGES = frozenset((
    "now", "switch", "chang", "move", "instead", "anymor", "longer", "postpon", "reschedul", "cancel", "replac",
    "renam", "upgrad", "updat", "convert", "delai", "transfer", "reloc", "migrat", "quit", "stop", "becam", "becom",
    "rais", "reduc", "increas", "decreas", "correct", "actual", "drop", "roll", "revert", "改成", "改为", "改到",
    "改在", "改用", "改名", "改叫", "改期", "换成", "换到", "换了", "换药", "换手", "搬到", "搬去", "搬家", "搬进",
    "推迟", "推到", "推后", "推一", "推两", "挪到", "顺延", "提前", "延期", "延后", "更正", "更新", "取消", "调到",
    "调整", "转到", "跳槽", "变成", "变更", "升到", "涨到", "降到", "现在", "目前", "如今", "不再", "停了", "退了",
    "辞职", "离职", "改学", "换掉", "変更", "中止",
))  # fmt: skip
"""Index terms of change words."""
_NOW = re.compile(
    r"\b(?:now|current|currently|latest|newest|at the moment|these days|nowadays|still|anymore|up to date)\b"
    r"|现在|目前|如今|最新|当前|眼下|还在|还是",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReportedChange:
    """A candidate to rank before an older one, by their indices."""

    newer: int
    older: int
    gain: float
    """Log-odds added to the newer one."""


def reported_changes(
    text: str,
    asked: Sequence[str],
    candidates: Sequence[Candidate],
    scores: Numbers,
    names: Iterable[Sequence[str]],
    similarity: Similarity,
    reach: float,
) -> list[ReportedChange]:
    """Changes reported among these candidates for a question with these index terms.

    `names`: terms of each name in the question or of a speaker. `reach`: maximum log-odds by which a report may rank
    behind what it changes; candidates further behind answer another question.
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
    found: list[ReportedChange] = []
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
                found.append(ReportedChange(newer, older, gain + _BEFORE))
                levels[newer] += gain + _BEFORE
    return found


def _follows(newer: Candidate, older: Candidate) -> bool:
    """Whether both are from one person or one conversation: a program changes nothing that a person said."""
    one_talk = newer.speaker == older.speaker or newer.conversation == older.conversation
    by_program = newer.speaker.lower() in MACHINES and older.speaker.lower() not in MACHINES
    return newer.at > older.at and one_talk and not by_program


def _likeness(newer: Candidate, older: Candidate, similarity: Similarity) -> float:
    if newer.vector is None or older.vector is None or len(newer.vector) != len(older.vector):
        return 0.0
    return float(similarity(newer.vector, older.vector[np.newaxis])[0])
