"""Fits the weights of recall's signals again, and says how they do on conversations and on data that they never saw.

How it learns: `benchmarks._listwise`. Every number is measured behind the engine's whole ranking, repetitions and all:

- `default`: the weights that biem ships;
- `cross-validated`: weights fitted on the other conversations of all sets, in folds;
- `other sets`: weights fitted on all other files, a pessimistic bound for data of a new kind.

A signal whose weight is 0 in the settings is off and stays so.
Each set weighs the square root of its number of questions, so that neither a large one nor one of a dozen rules.
"""

import argparse
import math
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from benchmarks import _report
from benchmarks._data import data_name
from benchmarks._listwise import FitPolicy, fit
from benchmarks._live import recording
from benchmarks._options import on_conversations, positive
from benchmarks._pools import Case
from benchmarks.metrics import Score, mean
from biem.config import load_settings
from biem.domain.policies.ranking import RankPolicy, SignalWeights
from biem.engine.recall.rank.score import NAMES
from biem.engine.recall.rank.term_matrix import Numbers
from biem.errors import BiemError

_COLUMNS = ("data", "weights", "n", "R@5", "R@10", "R@20", "nDCG@10", "MRR")
_FIT = FitPolicy()


def shares(sizes: Mapping[str, int]) -> dict[str, float]:
    """What one question of each set counts: the sets weigh as the square roots of their sizes."""
    return {name: 1 / math.sqrt(size) for name, size in sizes.items() if size}


class Sets:
    """The cases of all files, and the fits over parts of them."""

    def __init__(
        self, cases: Mapping[str, Sequence[Case]], policy: FitPolicy, folds: int, off: Collection[str] = frozenset()
    ) -> None:
        self._cases = {name: list(held) for name, held in cases.items()}
        self._policy = policy
        self._folds = folds
        self._off = off
        self._share = shares({name: len(held) for name, held in self._cases.items()})

    def all(self) -> Numbers:
        """Fitted on everything: the weights to ship."""
        return self._fit(self._cases)

    def cross_validated(self) -> dict[str, list[tuple[Case, Numbers]]]:
        """Each case with weights that saw no conversation of its fold."""
        fold = [
            self._fit(
                {
                    name: [case for case in held if case.number % self._folds != number]
                    for name, held in self._cases.items()
                }
            )
            for number in range(self._folds)
        ]
        return {name: [(case, fold[case.number % self._folds]) for case in held] for name, held in self._cases.items()}

    def from_others(self) -> dict[str, list[tuple[Case, Numbers]]]:
        """Each case with weights that saw nothing of its file."""
        out = {}
        for name, held in self._cases.items():
            weights = self._fit({other: cases for other, cases in self._cases.items() if other != name})
            out[name] = [(case, weights) for case in held]
        return out

    def _fit(self, parts: Mapping[str, Sequence[Case]]) -> Numbers:
        cases = [case for held in parts.values() for case in held]
        weights = [self._share[name] for name, held in parts.items() for _ in held]
        return fit(cases, weights, self._policy, self._off)


def judge(cases: Sequence[tuple[Case, Numbers]], policy: RankPolicy) -> Score:
    """The average over questions, each ranked with its own weights."""
    return mean([case.judged(weights, policy) for case, weights in cases])


def vector(weights: SignalWeights) -> Numbers:
    """In the order of `NAMES`."""
    return np.array([getattr(weights, name) for name in NAMES], dtype=np.float64)


def named(weights: Numbers) -> SignalWeights:
    """The other way round, rounded as people write them."""
    return replace(SignalWeights(), **{name: round(float(one), 2) for name, one in zip(NAMES, weights, strict=True)})


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0; 130 when interrupted; else biem's exit codes."""
    options = _options(arguments)
    policy = load_settings().ranking
    try:
        limits = (options.limit_conversations, options.limit_questions)
        cases = {
            data_name(file): recording(file, options.embedder, options.cache, limits, variants=False).cases
            for file in options.data
        }
        rows, weights = _measure(cases, options, policy)
    except KeyboardInterrupt:
        return 130
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("Weights of the signals", _COLUMNS, rows)
    print("fitted on all of it, to be pasted into SignalWeights:")
    for field in fields(weights):
        print(f"    {field.name}: float = {getattr(weights, field.name)}")
    if options.json:
        line = _report.command("benchmarks.fit_ranking", sys.argv[1:] if arguments is None else arguments)
        fitted = {field.name: getattr(weights, field.name) for field in fields(weights)}
        _report.write_json(options.json, line, rows, weights=fitted, embedder=options.embedder)
    return 0


def _measure(
    cases: Mapping[str, Sequence[Case]], options: argparse.Namespace, policy: RankPolicy
) -> tuple[list[dict[str, object]], SignalWeights]:
    default = vector(policy.weights)
    off = [name for name, weight in zip(NAMES, default, strict=True) if weight == 0]
    sets = Sets(cases, replace(_FIT, l2=options.l2, hold=options.hold), options.folds, off)
    ways: dict[str, Mapping[str, Sequence[tuple[Case, Numbers]]]] = {
        "default": {name: [(case, default) for case in held] for name, held in cases.items()},
        "cross-validated": sets.cross_validated(),
    }
    if len(cases) > 1:
        ways["other sets"] = sets.from_others()
    rows: list[dict[str, object]] = [
        {"data": name, "weights": way, "n": len(held), **judge(judged[name], policy).as_row()}
        for name, held in cases.items()
        for way, judged in ways.items()
    ]
    return rows, named(sets.all())


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.fit_ranking", description=__doc__)
    on_conversations(parser, kept="vectors and pools")
    parser.add_argument("--folds", type=positive, default=5, metavar="N", help="of the cross-validation")
    parser.add_argument("--l2", type=float, default=_FIT.l2, help="how strongly weights are pulled towards 0")
    parser.add_argument("--hold", type=float, default=_FIT.hold, help="and towards those of the softmax")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
