"""Fit the weights of confidence and of the local orbit again: `python -m benchmarks.fit_confidence --data FILE…`.

Asks as `benchmarks.abstain` and `benchmarks.orbit` do, fits two logistic regressions (L2 on standardised grounds), and
prints the weights for `biem/domain/policies/confidence.py` with what every threshold does to each file. Both are
cross-validated: a conversation's own questions never decide its figures. `auc` tells how often an answer that should be
sure is surer than one that should not: with other conversations left to fit (`auc`), and with other files only
(`auc, other files`), which is what a memory unlike all of these can hope for.

Files named by `--people` (part of their names) are dialogues of people who name each other: there a stranger's question
can be distinguished, so these files decide. In the others ("who is my uncle?") a wrong memory may look right; an
answer withheld there weighs far more than one injected. Small memories of each file (see `benchmarks.abstain`) take
part, so that a young memory speaks; a question whose evidence was not found has no say.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report, abstain, orbit
from benchmarks._data import data_name
from benchmarks._memories import arguments, load, opened
from biem.domain.policies.confidence import ConfidenceWeights
from biem.domain.policies.orbit import OrbitPolicy, OrbitWeights
from biem.errors import BiemError

Matrix = NDArray[np.float64]

_FOLDS = 5
_STEPS = 40
_PENALTY = 1e-2
_PEOPLE, _OWN, _STRANGER = 16.0, 10.0, 0.2
"""Weight of a file of people, and of the two kinds of questions of any other file."""
_SMALL_OWN, _SMALL_STRANGER = 1.5, 0.3
"""The same for small memories of any file."""
_SMALL = ", small"
_ORBIT_PEOPLE = 5.0


@dataclass(frozen=True, slots=True)
class Case:
    """One answer: its grounds, whether the model should be sure of it, and what silence or haste would cost."""

    data: str
    conversation: str
    grounds: Mapping[str, float]
    wanted: bool
    weight: float
    counts: str
    """The kind of question, in the tables."""
    r10: float
    """Lost when confidence is too low (silence), or when it is high enough (orbit)."""


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.fit_confidence", description=__doc__)
    arguments(parser)
    parser.add_argument("--people", default="locomo", metavar="NAME", help="part of the names of files of people")
    parser.add_argument("--pairs", type=int, default=300, metavar="N", help="pairs of questions of each file, at most")
    parser.add_argument("--questions", type=int, default=300, metavar="N", help="of each file, drawn; 0: all")
    parser.add_argument("--small", type=int, default=60, metavar="N", help="small memories of each file")
    options = parser.parse_args(argv)
    silence: list[Case] = []
    nearby: list[Case] = []
    try:
        with opened(options, orbit=OrbitPolicy(min_confidence=0.0, least_talk=0.0, whole=0)) as memory:
            for file in options.data:
                told, people, name = load(memory, file, options), options.people in file.name, data_name(file)
                costs = (_PEOPLE, _PEOPLE) if people else (_OWN, _STRANGER)
                silence += _silence(name, list(abstain.replies(told, options.questions)), *costs)
                few = list(abstain.small_replies(memory, told, options.small))
                silence += _silence(name + _SMALL, few, _SMALL_OWN, _SMALL_STRANGER)
                if options.pairs and (pairs := orbit.pairs(told, options.pairs)):
                    nearby += _nearby(name, orbit.ask(memory, pairs), people)
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    rows = _tell("silence", silence, tuple(asdict(ConfidenceWeights())))
    rows += _tell("orbit", nearby, tuple(asdict(OrbitWeights())))
    if options.json:
        line = _report.command("benchmarks.fit_confidence", sys.argv[1:] if argv is None else argv)
        _report.write_json(options.json, line, rows, embedder=options.embedder)
    return 0


def _silence(data: str, replies: Sequence[abstain.Reply], own: float, stranger: float) -> list[Case]:
    """`own` and `stranger`: the weight of all questions of that kind."""
    weights = {True: own, False: stranger}
    sizes = {kind: max(1, sum(reply.own is kind for reply in replies)) for kind in weights}
    return [
        Case(
            data,
            reply.conversation,
            reply.grounds,
            reply.own,
            weights[reply.own] / sizes[reply.own] * (reply.r10 > 0 or not reply.own),
            "own" if reply.own else "stranger",
            reply.r10,
        )
        for reply in replies
        if reply.grounds
    ]


def _nearby(data: str, outcomes: Sequence[orbit.Outcome], people: bool) -> list[Case]:
    local = [one for one in outcomes if one.local]
    return [
        Case(
            data,
            one.pair.told.conversation.id,
            one.grounds,
            one.r10_orbit >= one.r10_full and one.r10_orbit > 0,
            (_ORBIT_PEOPLE if people else 1.0) / len(local),
            "follow-up" if one.pair.follows else "unrelated",
            one.r10_full - one.r10_orbit,
        )
        for one in local
    ]


def _tell(what: str, cases: Sequence[Case], names: Sequence[str]) -> list[dict[str, object]]:
    if not cases:
        return []
    grounds = [name for name in names if name != "bias"]
    table = np.array([[case.grounds[name] for name in grounds] for case in cases])
    wanted = np.array([float(case.wanted) for case in cases])
    weight = np.array([case.weight for case in cases])
    keys = [(case.data.removesuffix(_SMALL), case.conversation) for case in cases]
    places = {key: number for number, key in enumerate(sorted(set(keys)))}
    chance = _held_out(table, wanted, weight, np.array([places[key] % _FOLDS for key in keys]))
    files = {name: number for number, name in enumerate(dict.fromkeys(key[0] for key in keys))}
    abroad = _held_out(table, wanted, weight, np.array([files[key[0]] for key in keys]))
    told_apart = [_auc_row(what, data, cases, chance, abroad) for data in dict.fromkeys(case.data for case in cases)]
    _report.print_table(f"{what}: told apart", tuple(told_apart[0]), told_apart)
    if what == "orbit":  # a question that is no follow-up is searched for, however sure
        chance *= np.array([case.grounds["talk"] >= OrbitPolicy().least_talk for case in cases])
    slopes, bias = fit(table, wanted, weight)
    print(f"{what}: bias = {bias:.3f}, " + ", ".join(f"{n} = {v:.3f}" for n, v in zip(grounds, slopes, strict=True)))
    rows = [
        _row(what, data, cases, chance, float(threshold))
        for threshold in np.arange(0.2, 0.91, 0.05)
        for data in dict.fromkeys(case.data for case in cases)
    ]
    _report.print_table(f"{what}, cross-validated", tuple(rows[0]), rows)
    weights = {"what": what, "bias": bias, **dict(zip(grounds, map(float, slopes), strict=True))}
    return [weights, *told_apart, *rows]


def _held_out(table: Matrix, wanted: Matrix, weight: Matrix, parts: NDArray[np.int_]) -> Matrix:
    """The chance of each case by a fit to all parts but its own; 0 where there is but one."""
    chance = np.zeros(len(table))
    for number in np.unique(parts):
        held, rest = parts == number, parts != number
        if rest.any():
            chance[held] = predict(table[held], *fit(table[rest], wanted[rest], weight[rest]))
    return chance


def _auc_row(what: str, data: str, cases: Sequence[Case], chance: Matrix, abroad: Matrix) -> dict[str, object]:
    mine = np.array([case.data == data and case.weight > 0 for case in cases])
    wanted = np.array([case.wanted for case in cases])
    both = {"auc": chance, "auc, other files": abroad}
    return {"what": what, "data": data} | {
        name: abstain.auc(found[mine & wanted].tolist(), found[mine & ~wanted].tolist()) for name, found in both.items()
    }


def _row(what: str, data: str, cases: Sequence[Case], chance: Matrix, threshold: float) -> dict[str, object]:
    mine = [(case, float(p)) for case, p in zip(cases, chance, strict=True) if case.data == data]
    kinds = ("own", "stranger") if what == "silence" else ("follow-up", "unrelated")
    shares = [[float(p >= threshold) for case, p in mine if case.counts == kind] or [0.0] for kind in kinds]
    lossy = [
        case.r10 * ((p < threshold) if what == "silence" else (p >= threshold))
        for case, p in mine
        if what == "orbit" or case.counts == "own"
    ]
    return {
        "what": what,
        "data": data,
        "threshold": round(threshold, 2),
        **{f"sure, {kind}": sum(share) / len(share) for kind, share in zip(kinds, shares, strict=True)},
        "lost": sum(lossy) / max(1, len(lossy)),
    }


def fit(
    table: Matrix, wanted: Matrix, weight: Matrix, penalty: float = _PENALTY, near: Matrix | None = None
) -> tuple[Matrix, float]:
    """Slopes for the grounds as they are and the bias, by Newton's method; the bias is not penalised.

    `near`: slopes of an earlier fit, of which what differs is penalised; None for zero.
    """
    mean, spread = table.mean(axis=0), table.std(axis=0)
    spread[spread < 1e-9] = 1.0
    rows = np.column_stack([(table - mean) / spread, np.ones(len(table))])
    weight = weight / weight.sum()
    ridge = np.diag([penalty] * table.shape[1] + [0.0])
    start = np.append(np.zeros(table.shape[1]) if near is None else near * spread, 0.0)
    solution = np.zeros(rows.shape[1])
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-rows @ solution))
        slope = rows.T @ (weight * (chance - wanted)) + ridge @ (solution - start)
        curve = (rows * (weight * chance * (1 - chance))[:, None]).T @ rows + ridge
        solution -= np.linalg.solve(curve + 1e-9 * np.eye(len(solution)), slope)
    slopes: Matrix = solution[:-1] / spread
    return slopes, float(solution[-1] - slopes @ mean)


def predict(table: Matrix, slopes: Matrix, bias: float) -> Matrix:
    """The chance of yes."""
    chance: Matrix = 1.0 / (1.0 + np.exp(-(table @ slopes + bias)))
    return chance


if __name__ == "__main__":
    sys.exit(main())
