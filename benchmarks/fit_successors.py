"""Fit what readings change of successors: `python -m benchmarks.fit_successors [--cache DIR] [--lives BEGIN…]`.

A block shows a later line above the one that it succeeds (`biem.engine.context.currency.succession`). Of the most
probable pairs of a shown line and a later one both texts are read (`…successor_reading`), and a logistic regression
weighs whether the later one ends what the earlier says, and whether each answers the question: the weights
`successor_…` of `biem/domain/policies/reading.py`, which are printed.

Asks the questions about how things are now of the quarter of the lives of `dev` that the model of readings was not
fitted to, ranked in memory. A later line is right if it has the valid value in question, and the earlier one has not;
pairs of which neither or both have it are left out.

The new weights are scaled, and their bias chosen, so that as many wrong later lines go first, and as many are shown, as
with the packaged ones. Prints how many right ones do, cross-validated over lives; `moved` are those of pairs in which
the later line is not above the earlier one already.
"""

import argparse
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report, fit_lines
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._offline import InMemory
from benchmarks.fit_reading import cross_validated
from benchmarks.lives.facts import Life, Question
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders.pair_reader import ANSWERING, SUPERSESSION, SharedPairOdds
from biem.config import load_settings
from biem.domain.node import Hit
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.reading import ReadingWeights
from biem.engine.context.currency.succession import Succession
from biem.engine.context.currency.successor_reading import read_pairs
from biem.engine.context.picking import Picker
from biem.ports.embedding import PairReaders

Vector = NDArray[np.float64]
Mask = NDArray[np.bool_]

_GROUP = 0
"""The quarter that `benchmarks.fit_reading` leaves out."""
_FOLDS = 8
_IN_ORDER = 0.2
"""What a pair counts whose later line is above the earlier one already."""
_FIRST, _SHOWN = -1.3, -2.7
"""Log-odds from which a later line goes first, and from which it is shown (`…currency.lifting`)."""


@dataclass(frozen=True, slots=True)
class Case:
    """What was read of one pair, and whether the later line is right."""

    life: str
    read: Sequence[float]
    right: bool
    moved: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_successors",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--lives", nargs="+", default=[""], metavar="BEGIN", help="only lives whose names begin so")
    options = parser.parse_args(arguments)
    lives = [one for one in fit_lines.lives_of_dev() if fit_lines.group_of(one) == _GROUP]
    lives = [one for one in lives if one.id.startswith(tuple(options.lives)) and not one.id.startswith("needed-")]
    if not lives:
        parser.error("no life of this quarter has a name that begins so")
    readers = PairReaders(
        SharedPairOdds(ANSWERING, None, lambda: None), SharedPairOdds(SUPERSESSION, None, lambda: None)
    )
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache, queries=True)) as embedder:
        memory = InMemory(embedder, load_settings(), fit_lines.fitted_to_others(_GROUP, embedder))
        policy = ContextPolicy()
        picker = Picker(contradiction.build(), RuleAnalyzer(), policy, readers)
        with _report.progress() as bar:
            task, cases = bar.add_task("lives", total=len(lives)), list[Case]()
            for one in lives:
                for question in one.questions:
                    if question.groups and (question.category, question.when) == ("now", "after"):
                        hits = fit_lines.recalled(one, question, memory, frozenset())
                        cases += _cases(one, question, hits, hits.confidence, picker, readers, policy.successors)
                bar.advance(task)
    _print(cases, len(lives))
    return 0


def _print(cases: Sequence[Case], lives: int) -> None:
    """Fit the weights, scale them, and print them beside the packaged ones."""
    table, right = np.array([one.read for one in cases]), np.array([one.right for one in cases])
    moved = np.array([one.moved for one in cases])
    folds, weight = np.array([zlib.crc32(one.life.encode()) % _FOLDS for one in cases]), np.where(moved, 1.0, _IN_ORDER)
    fitted, (bias, *slopes) = cross_validated(table, right.astype(float), weight, folds)
    now = ReadingWeights()
    weights = [now.successor_prior, now.successor_ends, now.successor_answers, now.successor_older]
    packaged = now.successor_bias + table @ weights
    first, shown = (np.sort(fitted[~right])[::-1][(packaged[~right] > least).sum()] for least in (_FIRST, _SHOWN))
    scale = (_FIRST - _SHOWN) / (first - shown)
    fitted = _FIRST + scale * (fitted - first)
    values = _FIRST + scale * (bias - first), *(scale * one for one in slopes)
    names = ("successor_bias", "successor_prior", "successor_ends", "successor_answers", "successor_older")
    rows = [{"weight": name, "value": round(float(one), 3)} for name, one in zip(names, values, strict=True)]
    _report.print_table("ReadingWeights", ("weight", "value"), rows)
    compared = {"by the features": table[:, 0], "packaged": packaged, "fitted": fitted}
    shares = [_row(name, odds, right, moved) for name, odds in compared.items()]
    _report.print_table(f"{lives} lives, {len(cases)} pairs, cross-validated", tuple(shares[0]), shares)


def _cases(
    life: Life,
    question: Question,
    hits: Sequence[Hit],
    confidence: float,
    picker: Picker,
    readers: PairReaders,
    most: int,
) -> Iterator[Case]:
    asked = picker._reader.question(question.text, hits)
    lines, _ = picker._rated(hits, asked)
    if not lines or not asked.now:
        return
    picker._read(lines, asked, confidence)
    least = picker._least(lines)
    shown = [line for line in lines if line.worth >= least]
    for one in read_pairs(shown, Succession(lines, asked), asked, readers, most):
        newer, older = (line.hit.node.ref in question.answers for line in (one.newer, one.older))
        if newer != older:
            read = one.odds, one.ends, one.answers, one.older_answers
            yield Case(life.id, read, newer, one.newer.worth < one.older.worth)


def _row(name: str, odds: Vector, right: Mask, moved: Mask) -> dict[str, object]:
    row: dict[str, object] = {"log-odds": name}
    for what, of, least in (
        ("first", right | ~right, _FIRST),
        ("moved", moved, _FIRST),
        ("shown", right | ~right, _SHOWN),
    ):
        reached = of & (odds > least)
        row |= {f"{what}, right": int((right & reached).sum()), f"{what}, wrong": int((~right & reached).sum())}
    return row | {"right": int(right.sum()), "wrong": int((~right).sum())}


if __name__ == "__main__":
    sys.exit(main())
