"""Reads lines of the block together with later ones, to tell what took their place from what only is alike.

"The workshop is 45 euros" and "I put it up to 52 a head" share one word, and a message about another one of two
things may share many. Models that see both texts (`biem/adapters/embedders/pair_reader.py`) correct the regression:

    log-odds = bias + prior · log-odds by the features + ends · log-odds that the later line ends what the earlier says
               + answers · log-odds that the later line answers the question                 (`ReadingWeights`)
"""

from collections.abc import Sequence
from heapq import nlargest

from biem.domain.policies.reading import ReadingWeights
from biem.domain.text import simplified
from biem.engine.context.currency.succession import Succession
from biem.engine.context.lines import LineQuestion, RatedLine
from biem.engine.context.reading import may_be_read, readings
from biem.ports.embedding import PairReaders, TextPair

_WEIGHTS = ReadingWeights()
_LEAST = -3.5
"""Log-odds of a successor by the features below which a pair is not read."""
_FURTHEST = 5.0
"""Log-odds at which those of an end are capped …"""
_SURE, _SHOWN = 3.5, -2.6
"""… from which something surely ended, and the least log-odds of a successor that tells so: "the trip fell through"
answers no "when is she coming?", and is shown."""


def read_successors(
    shown: Sequence[RatedLine], succession: Succession, question: LineQuestion, readers: PairReaders, most: int
) -> None:
    """Correct the log-odds of at most `most` pairs of a line of the block and a later line, the most probable ones."""
    found = [
        (odds, newer, older)
        for older in shown
        for newer in succession.lines
        if (odds := succession.odds(newer, older)) is not None and odds > _LEAST
        if may_be_read(newer) and may_be_read(older)
    ]
    likely = nlargest(most, found, key=_odds)
    if not likely or readers.ending is None:
        return
    pairs = [TextPair(simplified(older.hit.node.text), simplified(newer.hit.node.text)) for _, newer, older in likely]
    later = [newer for _, newer, _ in likely]
    answers = [0.0] * len(later) if readers.answering is None else readings(later, question, readers.answering)
    for (odds, newer, older), ends, answer in zip(likely, readers.ending(pairs).tolist(), answers, strict=True):
        end = min(max(ends, -_FURTHEST), _FURTHEST)
        corrected = _WEIGHTS.successor_bias + _WEIGHTS.successor_prior * odds
        corrected += _WEIGHTS.successor_ends * end + _WEIGHTS.successor_answers * answer
        succession.correct(newer, older, max(corrected, _SHOWN) if end >= _SURE else corrected)


def _odds(found: tuple[float, RatedLine, RatedLine]) -> float:
    return found[0]
