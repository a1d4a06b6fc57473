"""Summaries of a part of a conversation: by a model, or of the sentences that tell most."""

import math
import re
from collections import Counter
from collections.abc import Sequence

from biem.domain.merging import sentences
from biem.domain.scope import Scope
from biem.domain.sessions.trimming import SLICE_CHARS
from biem.domain.speech.acts import is_courtesy
from biem.domain.text import one_line
from biem.ports import Analyzer
from biem.ports.layers.sessions import Summable
from biem.ports.reasoner import Reasoner

_LONGEST = 300
"""Characters of a sentence of a summary; a longer one is cut."""
_LEAST_OF_PIECE = 200
_QUESTION = re.compile(r"[?？]\s*$")


def by_model(reasoner: Reasoner, scope: Scope, said: Sequence[Summable], most: int) -> str | None:
    """A model's summary of at most `most` characters; None when it gave none.

    A part that is longer than a model reads at once is summarised in pieces.
    """
    pieces = _pieces([_line(one) for one in said])
    if len(pieces) == 1:
        return reasoner.summarise(scope, pieces[0], most)
    found: list[str] = []
    for piece in pieces:
        summary = reasoner.summarise(scope, piece, max(_LEAST_OF_PIECE, most // len(pieces)))
        if summary is None:
            return None
        found.append(summary)
    joined = "\n".join(found)
    return joined if len(joined) <= most else by_model_again(reasoner, scope, found, most)


def by_model_again(reasoner: Reasoner, scope: Scope, summaries: Sequence[str], most: int) -> str | None:
    """One summary of the summaries of several pieces."""
    pieces = _pieces(summaries)
    parts = [reasoner.summarise(scope, piece, max(1, most // len(pieces) - 1)) for piece in pieces]
    return "\n".join(part for part in parts if part) if all(parts) else None


def by_sentences(analyzer: Analyzer, said: Sequence[Summable], most: int) -> str:
    """The sentences with the most information for their length that others have not told, in the order they were said.

    Courtesies and questions tell nothing; empty where there is nothing else.
    """
    lines = [
        (one_line(f"{_speaker(one)}: {sentence}", _LONGEST), analyzer.lexemes(sentence))
        for one in said
        if not is_courtesy(one.content)
        for sentence in sentences(one.content)
        if not _QUESTION.search(sentence)
    ]
    counts = Counter(term for _, terms in lines for term in set(terms))
    worth = {term: math.log1p(len(lines) / count) for term, count in counts.items()}
    told: set[str] = set()
    chosen: list[int] = []
    left, open_ = most, set(range(len(lines)))
    while open_ := {place for place in open_ if len(lines[place][0]) <= left}:
        values = {
            place: sum(worth[term] for term in sorted(set(lines[place][1]) - told)) / math.sqrt(len(lines[place][0]))
            for place in sorted(open_)
        }
        best = max(values, key=values.__getitem__)
        if values[best] <= 0:
            break
        chosen.append(best)
        told |= set(lines[best][1])
        left -= len(lines[best][0]) + 1
        open_.discard(best)
    return "\n".join(lines[place][0] for place in sorted(chosen))


def _pieces(lines: Sequence[str]) -> list[list[str]]:
    """Lines in groups of at most `SLICE_CHARS` characters; a longer line is cut into several."""
    cut = [line[at : at + SLICE_CHARS] for line in lines for at in range(0, max(1, len(line)), SLICE_CHARS)]
    found: list[list[str]] = [[]]
    size = 0
    for line in cut:
        if found[-1] and size + len(line) > SLICE_CHARS:
            found.append([])
            size = 0
        found[-1].append(line)
        size += len(line)
    return found


def _line(one: Summable) -> str:
    return f"{_speaker(one)}: {one.content}"


def _speaker(one: Summable) -> str:
    return one.speaker or one.role
