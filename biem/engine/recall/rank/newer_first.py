"""Of two values of one attribute the newer comes first, even without a recorded conflict.

"I'm based in Graz" and, a year later, "home is Linz": neither mentions a change, and no conflict is recorded. A reader
wants the newer first, and the date of the older. So a newer hit that ranked behind the older takes its place, and the
older follows it. Questions about the past or about a named time are not changed.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from biem.domain.conflict import Statement
from biem.domain.node import Hit, Node
from biem.domain.times.windows import windows
from biem.engine.query.question import asks_of_the_past
from biem.ports.contradiction import ContradictionRules

_MOST = 15
"""Number of best hits that are compared with each other."""
_LEAST_SHARE = 0.25
"""Minimum ratio of two scores; a hit below it is about another subject."""
_READ = 2_000
"""Characters of a text that are read: values are short, and 15 texts are compared with each other."""
_WORD, _DIGIT, _NAME = re.compile(r"\w+"), re.compile(r"\d"), re.compile(r"[A-Z]\w+")


def newest_first(query: str, hits: Sequence[Hit], rules: ContradictionRules) -> list[Hit]:
    """Order hits so that each precedes those with an older value of the same attribute; scores still descend.

    The older of two gets `said_before`, the date of the newer, and `renewed_by`, the id of the newer.
    """
    ordered = list(hits)
    if len(ordered) < 2 or asks_of_the_past(query) or windows(query, max(hit.node.at for hit in ordered)):
        return ordered
    compared = [hit for hit in ordered[:_MOST] if _is_current(hit)]
    named = _naming(query[1:])
    named_by = {hit.node.id: named & _naming(hit.node.text) if named else named for hit in compared}
    said = {hit.node.id: _said(hit.node) for hit in compared}
    for older in sorted(compared, key=lambda hit: hit.node.at):
        for newer in compared:
            if not _later(newer.node, older.node) or newer.score < _LEAST_SHARE * older.score:
                continue
            if named_by[older.node.id] - named_by[newer.node.id]:
                continue  # the question names tram 7, the newer names tram 13
            if rules.rivals(said[older.node.id], said[newer.node.id]):
                _put_before(ordered, newer.node.id, older.node.id)
    scores = [hit.score for hit in hits]
    return [
        hit if hit.score == score else replace(hit, score=score) for hit, score in zip(ordered, scores, strict=True)
    ]


def _put_before(ordered: list[Hit], newer: str, older: str) -> None:
    """Move the newer right before the older, unless it precedes it already, and mark both."""
    ids = [hit.node.id for hit in ordered]
    at, behind = ids.index(older), ids.index(newer)
    said = f"{ordered[behind].node.at:%Y-%m-%d}"
    before = str(ordered[at].why.get("said_before", ""))
    if said >= before:
        ordered[at] = replace(ordered[at], why={**ordered[at].why, "said_before": said, "renewed_by": newer})
    if behind > at:
        ordered.insert(at, ordered.pop(behind))


def _is_current(hit: Hit) -> bool:
    """False for superseded or disputed hits, which the ranking has placed already."""
    return "held_until" not in hit.why and hit.node.superseded_by is None and hit.node.source != "crystal"


def _later(newer: Node, older: Node) -> bool:
    """Whether it was said later, by an equally reliable source."""
    overruled = newer.source == "assistant" and older.source != "assistant"
    return newer.at > older.at and newer.scope == older.scope and not overruled


def _said(node: Node) -> Statement:
    return Statement(node.text[:_READ], node.speaker, node.at)


def _naming(text: str) -> set[str]:
    """Numbers and names of a text, which distinguish things of one kind.

    Words with a digit, else words with an initial capital. Read word by word: one pattern for both would scan a long
    word once for each of its characters.
    """
    found = set()
    for word in _WORD.findall(text[:_READ]):
        name = _NAME.search(word)
        if _DIGIT.search(word):
            found.add(word)
        elif name:
            found.add(name.group())
    return found
