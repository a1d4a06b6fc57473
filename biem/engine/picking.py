"""Which hits a block tells, and in which order: what answers by itself, said by the user, the newer value first.

    worth = 0.8 · log-odds of the hit + 10 · its own likeness to the question − standing

The ranking finds evidence: it lifts what stands beside a hit, too, and a question that was asked before. A line of a
block has no neighbours, so it must answer by itself, and a question answers nothing. Fitted to what lines of blocks
turned out to be about (`python -m benchmarks.agent`). Pure functions, thread-safe.
"""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from biem.domain.node import Hit, Node
from biem.domain.speech_acts import is_standing_order, is_statement

LOOKED_AT = 20
"""Hits that a block is picked from: of the answers that forty hits hold, twenty hold nearly all."""
_ODDS, _LIKENESS = 0.8, 10.0
_KEPT = 4
"""Best hits of the ranking that are told unless they fall below `drop`: what stands beside a hit may be evidence."""
_GUESSED, _SUPPOSED = 1.5, 3.0
"""What is taken from what the assistant said, and from a supposition or a quotation."""
_NEAR = 2.5
"""Two lines about one thing whose worth differs by less are ordered by who said them, then by time."""
_ALIKE = 0.1
"""Share of common terms (Jaccard) from which on two lines may be about one thing."""

_ABOUT_ASKING = re.compile(r"\b(?:ask(?:ed|ing)?|question|request(?:ed)?|want(?:ed)? to know)\b|问|请求", re.IGNORECASE)
_SUPPOSES = re.compile(
    r"^\W*(?:if|suppose|imagine|what if|perhaps|maybe|i (?:may|might|could))\b"
    r"|^\W*(?:假如|如果|要是|假设|也许|可能|或许)"
    r"|\bnot sure yet\b|还没(?:想好|定|确定)",
    re.IGNORECASE,
)
_QUOTES = re.compile(
    '^["“‘\'「『][^"”’」』]+["”’\'」』]\\W{0,2}(?:\\w+\\W+){0,4}?(?:said|says|told|wrote)\\b'
    '|^["“‘\'「『].+["”’\'」』].{0,12}[说道]|^\\W*.{1,20}(?:\\b(?:said|says)\\b|说)\\s*[,:，：]?\\s*["“‘「『]',
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Line:
    hit: Hit
    worth: float
    terms: frozenset[str]


def picked(
    hits: Sequence[Hit],
    question: str,
    drop: float,
    terms_of: Callable[[str], Iterable[str]] = str.split,
    most: int | None = None,
) -> list[Hit]:
    """The hits worth telling, at most `most`, in the order to tell them.

    None whose worth lies `drop` below that of the best; of the others the first four, then those of most worth.

    A message that only asks is told where nothing else is found, or where the question is about what was asked.
    """
    if not any("likeness" in hit.why for hit in hits):  # the ranking of a source design, or no embedder: as they come
        return [hit for hit in hits if odds(hit.score) >= odds(hits[0].score) - drop][:most]
    lines = [
        _Line(hit, _worth(hit, like), frozenset(terms_of(hit.node.text)))
        for hit, like in zip(hits, _likenesses(hits), strict=True)
    ]
    if _ABOUT_ASKING.search(question) is None:
        lines = [line for line in lines if not _only_asks(line.hit.node)] or lines
    best = max(line.worth for line in lines)
    first, others = ([line for line in some if line.worth >= best - drop] for some in (lines[:_KEPT], lines[_KEPT:]))
    chosen = [*first, *sorted(others, key=_by_worth)][:most]
    return [line.hit for line in _renewed(sorted(chosen, key=_by_worth))]


def _by_worth(line: _Line) -> float:
    return -line.worth


def _likenesses(hits: Sequence[Hit]) -> list[float]:
    """What has no vector yet may be as like as the likest."""
    found = [hit.why.get("likeness") for hit in hits]
    best = max((one for one in found if isinstance(one, float)), default=0.0)
    return [one if isinstance(one, float) else best for one in found]


def _only_asks(node: Node) -> bool:
    return node.kind == "event" and not (is_statement(node.text) or is_standing_order(node.text))


def _worth(hit: Hit, likeness: float) -> float:
    node, worth = hit.node, _ODDS * odds(hit.score) + _LIKENESS * likeness
    if node.kind != "event":
        return worth
    if _SUPPOSES.search(node.text) or _QUOTES.search(node.text):
        worth -= _SUPPOSED
    return worth - _GUESSED if node.source == "assistant" else worth


def _renewed(lines: Sequence[_Line]) -> list[_Line]:
    """Of two lines about one thing, nearly equal in worth, the user's and then the newer first."""
    ordered: list[_Line] = []
    for line in lines:
        place = len(ordered)
        while place and _goes_before(line, ordered[place - 1]):
            place -= 1
        ordered.insert(place, line)
    return ordered


def _goes_before(line: _Line, other: _Line) -> bool:
    """A line that is worth less, but not by much: what a person said later of the same thing."""
    if other.worth - line.worth >= _NEAR or not _are_alike(line, other) or line.hit.node.source == "assistant":
        return False
    return line.hit.node.at > other.hit.node.at


def _are_alike(line: _Line, other: _Line) -> bool:
    both = line.terms | other.terms
    return not both or len(line.terms & other.terms) >= _ALIKE * len(both)


def odds(score: float) -> float:
    """Log-odds of a score; the ends stand for certainty, not for infinity."""
    share = min(max(score, 1e-6), 1.0 - 1e-6)
    return math.log(share / (1.0 - share))
