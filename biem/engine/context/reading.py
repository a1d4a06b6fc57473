"""Reads the likeliest lines of a block together with the question, to tell what answers from what only resembles it.

A question about a thing that was told of ("What is the vet's phone number?") has the words and the meaning of the lines
about that thing, though none of them answers it. A model that sees both texts knows them apart
(`biem/adapters/embedders/pair_reader.py`). Its log-odds correct what the other features say:

    worth of a read line  = bias + prior · worth + read · log-odds                        (`ReadingWeights`)
    sureness              = σ(bias + prior · log-odds of the sureness + most · highest log-odds + mean · mean of them
                              + own · log-odds of the line that is likeliest then)

The mean counts because a known matter usually has several lines, as a plan and its change, which all score high.
"""

from collections.abc import Sequence

from biem.domain.policies.reading import ReadingWeights
from biem.domain.retention import ASSISTANT
from biem.domain.scores import probability
from biem.domain.speech.acts import asking_part
from biem.domain.speech.first_person import in_first_person
from biem.domain.text import simplified
from biem.domain.tokens import estimate_tokens
from biem.engine.context.lines import BEGINNING, LineQuestion, RatedLine, odds
from biem.engine.context.relevance import states_it
from biem.engine.query.question import asks_for_a_reason
from biem.ports.embedding import PairOdds, TextPair

_WEIGHTS = ReadingWeights()
FURTHEST = 5.0
"""Log-odds at which those of a reading are capped …"""
LEAST_STATED = 0.0
"""… and the least of a line that states what is asked for: "work as an editor" for "What do I do for a living?"."""
MOST_TOKENS = 100
"""Longer lines are not read: the model sees their beginnings only, and the answer may stand behind it."""


def read(lines: Sequence[RatedLine], question: LineQuestion, sure: float, odds_of: PairOdds, most: int) -> float:
    """Correct the worth of the likeliest `most` lines; returns the corrected sureness.

    The sureness does not fall where one of them is too long to be read, nor where a reason is asked for: that stands in
    the message after the line that is read (`lift_reason`).
    """
    likely = sorted(lines, key=lambda line: -line.worth)[:most]
    short = [line for line in likely if may_be_read(line)]
    if not short:
        return sure
    found = readings(short, question, odds_of)
    for line, reading in zip(short, found, strict=True):
        told = line.worth - line.answering
        line.worth = _WEIGHTS.line_bias + _WEIGHTS.line_prior * line.worth + _WEIGHTS.line_read * reading
        line.answering = line.worth - told
    own = max(lines, key=lambda line: line.worth).reading or 0.0
    mean = sum(found) / len(found)
    read_together = _WEIGHTS.most * max(found) + _WEIGHTS.mean * mean + _WEIGHTS.own * own
    corrected = probability(_WEIGHTS.bias + _WEIGHTS.prior * odds(sure) + read_together)
    judged = len(short) == len(likely) and not asks_for_a_reason(question.text)
    return corrected if judged else max(sure, corrected)


def may_be_read(line: RatedLine) -> bool:
    """Whether a model sees all of it."""
    return estimate_tokens(line.hit.node.text) <= MOST_TOKENS


def readings(lines: Sequence[RatedLine], question: LineQuestion, odds_of: PairOdds) -> list[float]:
    """The log-odds that each line answers, within limits; those that were read before are not read again."""
    asked, unread = simplified(question.text), [line for line in lines if line.reading is None]
    pairs = [TextPair(simplified(_text(line)), asked, line.hit.node.source == ASSISTANT) for line in unread]
    for line, one in zip(unread, odds_of(pairs).tolist() if pairs else (), strict=True):
        line.reading = min(max(one, LEAST_STATED if states_it(line, question) else -FURTHEST), FURTHEST)
    return [line.reading or 0.0 for line in lines]


def _text(line: RatedLine) -> str:
    """The text of a line in the user's own words, after the question that it answers or what its pronoun refers to."""
    hit = line.hit
    before = hit.refers_to.text[:BEGINNING] if hit.refers_to else ""
    before = asking_part(hit.answers.text[:BEGINNING]) if hit.answers else before
    return f"{before} {in_first_person(hit.node.text, fact=hit.node.kind != 'event')}".strip()
