"""Reads lines of the block together with later ones, to tell what took their place from what only is alike.

"The workshop is 45 euros" and "I put it up to 52 a head" share one word, and a message about another one of two
things may share many. Models that see both texts (`biem/adapters/embedders/pair_reader.py`) correct the regression:

    log-odds = bias + prior · log-odds by the features + ends · log-odds that the later line ends what the earlier says
               + answers · log-odds that the later line answers the question
               + older · log-odds that the earlier line answers it                           (`ReadingWeights`)

Words also exclude lines ("the agency was shut, Ms Fathima has our file" is about another person). Of these one that was
read as an answer is read, too; it succeeds the earlier line if it surely ends that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import nlargest

from biem.domain.policies.reading import ReadingWeights
from biem.domain.text import simplified
from biem.engine.context.currency.succession import Succession, states_later
from biem.engine.context.lines import LineQuestion, RatedLine
from biem.engine.context.reading import may_be_read, readings
from biem.ports.embedding import PairOdds, PairReaders, TextPair

_WEIGHTS = ReadingWeights()
_LEAST = -3.5
"""Log-odds of a successor by the features below which a pair is not read."""
_FURTHEST = 5.0
"""Log-odds at which those of an end are capped …"""
_SURE, _SHOWN = 3.5, -2.6
"""… from which something surely ended, and the least log-odds of a successor that tells so: "the trip fell through"
answers no "when is she coming?", and is shown."""
_ANSWERS, _SUCCEEDS = 0.0, 0.0
"""Log-odds of an answer from which a line that words exclude may succeed, and those of a successor that it then has."""


@dataclass(frozen=True, slots=True)
class ReadPair:
    """A line that may be shown and a later one, with what was read of them; log-odds."""

    newer: RatedLine
    older: RatedLine
    odds: float
    """That the newer succeeds the older, by the features."""
    ends: float
    """That it ends what the older says."""
    answers: float
    """That it answers the question."""
    older_answers: float
    """That the older one answers it."""


def read_successors(
    shown: Sequence[RatedLine], succession: Succession, question: LineQuestion, readers: PairReaders, most: int
) -> None:
    """Correct the log-odds of at most `most` pairs of a line of the block and a later line, the most probable ones."""
    for one in read_pairs(shown, succession, question, readers, most):
        corrected = _WEIGHTS.successor_bias + _WEIGHTS.successor_prior * one.odds
        corrected += _WEIGHTS.successor_ends * one.ends + _WEIGHTS.successor_answers * one.answers
        corrected += _WEIGHTS.successor_older * one.older_answers
        succession.correct(one.newer, one.older, max(corrected, _SHOWN) if one.ends >= _SURE else corrected)
    excluded = _likeliest_excluded(shown, succession)
    if excluded is not None and readers.ending is not None:
        newer, older = excluded
        if readers.ending([_as_read(newer, older)])[0] >= _SURE:
            succession.correct(newer, older, _SUCCEEDS)


def _likeliest_excluded(shown: Sequence[RatedLine], succession: Succession) -> tuple[RatedLine, RatedLine] | None:
    """The likeliest line that reads as an answer and that words exclude, with the likeliest one that it may succeed."""
    found = [
        (newer, older)
        for older in shown
        for newer in succession.lines
        if newer.worth < older.worth and newer.reading is not None and newer.reading >= _ANSWERS
        if states_later(newer, older) and succession.odds(newer, older) is None and may_be_read(older)
    ]
    return max(found, key=lambda pair: (pair[0].worth, pair[1].worth), default=None)


def _as_read(newer: RatedLine, older: RatedLine) -> TextPair:
    return TextPair(simplified(older.hit.node.text), simplified(newer.hit.node.text))


def read_pairs(
    shown: Sequence[RatedLine], succession: Succession, question: LineQuestion, readers: PairReaders, most: int
) -> list[ReadPair]:
    """The pairs that `read_successors` corrects; none without a model of two messages."""
    found = [
        (odds, newer, older)
        for older in shown
        for newer in succession.lines
        if (odds := succession.odds(newer, older)) is not None and odds > _LEAST
        if may_be_read(newer) and may_be_read(older)
    ]
    likely = nlargest(most, found, key=_odds)
    if not likely or readers.ending is None:
        return []
    pairs = [_as_read(newer, older) for _, newer, older in likely]
    later = _readings([newer for _, newer, _ in likely], question, readers.answering)
    earlier = _readings([older for _, _, older in likely], question, readers.answering)
    return [
        ReadPair(newer, older, odds, min(max(ends, -_FURTHEST), _FURTHEST), answers, older_answers)
        for (odds, newer, older), ends, answers, older_answers in zip(
            likely, readers.ending(pairs).tolist(), later, earlier, strict=True
        )
    ]


def _readings(lines: Sequence[RatedLine], question: LineQuestion, odds_of: PairOdds | None) -> list[float]:
    return [0.0] * len(lines) if odds_of is None else readings(lines, question, odds_of)


def _odds(found: tuple[float, RatedLine, RatedLine]) -> float:
    return found[0]
