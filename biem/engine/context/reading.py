"""Reads the likeliest lines of a block together with the question, to tell what answers from what only resembles it.

A question about a thing that was told of ("What is the vet's phone number?") has the words and the meaning of the lines
about that thing, though none of them answers it. A model that sees both texts knows them apart
(`biem/adapters/embedders/pair_reader.py`). Its log-odds correct what the other features say:

    worth of a read line  = bias + prior · worth + read · log-odds                        (`ReadingWeights`)
    sureness              = σ(bias + prior · log-odds of the sureness + most · highest log-odds
                              + own · log-odds of the line that is likeliest then)
"""

from collections.abc import Sequence

from biem.domain.policies.reading import ReadingWeights
from biem.domain.retention import ASSISTANT
from biem.domain.scores import probability
from biem.domain.speech.acts import asking_part
from biem.domain.text import simplified
from biem.engine.context.lines import BEGINNING, LineQuestion, RatedLine, odds
from biem.ports.embedding import PairOdds, TextPair

_WEIGHTS = ReadingWeights()
FURTHEST = 5.0
"""Log-odds at which those that were read are capped."""


def read(lines: Sequence[RatedLine], question: LineQuestion, sure: float, odds_of: PairOdds, most: int) -> float:
    """Correct the worth of the likeliest `most` lines; returns the corrected sureness."""
    likely = sorted(lines, key=lambda line: -line.worth)[:most]
    read_odds = [min(max(one, -FURTHEST), FURTHEST) for one in odds_of(pairs_of(likely, question)).tolist()]
    found = {id(line): one for line, one in zip(likely, read_odds, strict=True)}
    for line in likely:
        told = line.worth - line.answering
        line.worth = _WEIGHTS.line_bias + _WEIGHTS.line_prior * line.worth + _WEIGHTS.line_read * found[id(line)]
        line.answering = line.worth - told
    own = found.get(id(max(lines, key=lambda line: line.worth)), 0.0)
    return probability(
        _WEIGHTS.bias + _WEIGHTS.prior * odds(sure) + _WEIGHTS.most * max(read_odds) + _WEIGHTS.own * own
    )


def pairs_of(lines: Sequence[RatedLine], question: LineQuestion) -> list[TextPair]:
    """Each line with the question, as the model reads them."""
    asked = simplified(question.text)
    return [TextPair(simplified(_text(line)), asked, line.hit.node.source == ASSISTANT) for line in lines]


def _text(line: RatedLine) -> str:
    """The text of a line, after the question that it answers."""
    hit = line.hit
    asked = "" if hit.answers is None else asking_part(hit.answers.text[:BEGINNING])
    return f"{asked} {hit.node.text[:BEGINNING]}".strip()
