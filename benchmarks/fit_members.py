"""Fit which lines answer a question for all things of a kind: `python -m benchmarks.fit_members [--cache DIR]`.

Asks the questions of lives by hand, split `dev`, that the packaged regression (`benchmarks.fit_lists`) takes for such
questions, ranked in memory without servers, and fits two logistic regressions, for `biem/domain/policies/lists.py`:

    member      does this line tell of one of the things?
    membership  does any line? From the log-odds of the lines by a fit to other lives.

Each question is asked of all messages, and of all but those that answer, so that nothing does. Prints the weights and,
cross-validated over lives, for thresholds of lines: which share of the things is told, of how many questions all of
them, and of which lines one is told; and for thresholds of the whole block, which share of the questions gets one.
"""

import argparse
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._offline import InMemory
from benchmarks.fit_confidence import fit
from benchmarks.fit_lines import recalled
from benchmarks.lives import facts
from benchmarks.lives.scripted import scripted
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders.fitted import fitted_to
from biem.config import load_settings
from biem.engine.context.lines import LineReader, RatedLine
from biem.engine.context.members import member_features, membership_features
from biem.engine.context.picking import MOST_OF_A_LIST, OF_A_LIST, answering
from biem.engine.context.relevance import are_of_several_people, rate
from biem.engine.context.silence import sureness
from biem.ports import Embedder

Matrix = NDArray[np.float64]

_FOLDS, _PENALTY_LINE, _PENALTY_BLOCK = 8, 1e-3, 1e-2
_OF_OTHER_LIVES = 0.5
"""Weight of the questions of lives that are not about lists, which mostly ask for one thing."""
_WEIGHTS = {"known": 1.5, "never told": 2.0, "left out": 0.5}
"""An answer kept back costs more than a line too many."""
_LISTS = "lists-"
"""How the names of lives about lists begin."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question with the lines found for it."""

    life: str
    things: Sequence[frozenset[str]]
    lines: Sequence[RatedLine]
    features: Sequence[Mapping[str, float]]
    about: NDArray[np.bool_]
    sure: float
    """The probability that a line answers, as of any question."""
    kind: str

    @property
    def answered(self) -> bool:
        """Whether the messages that answer were there."""
        return self.kind == "known"

    @property
    def weight(self) -> float:
        """What its lines count."""
        return 1.0 if self.life.startswith(_LISTS) else _OF_OTHER_LIVES


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_members", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    options = parser.parse_args(arguments)
    lives = [one for lang in ("en", "zh", "mixed") for one in scripted(lang, "dev")]
    chosen = choose_embedder("e5", load_settings())
    with closing(PassageCache(chosen, options.cache, queries=True)) as embedder, _report.progress() as bar:
        task, every = bar.add_task("lives", total=len(lives)), list[Case]()
        for one in lives:
            every += _cases(one, embedder)
            bar.advance(task)
    folds = np.array([zlib.crc32(one.life.encode()) % _FOLDS for one in every])
    member, odds = _member(every, folds)
    block, sure = _membership(every, odds, folds)
    for name, weights in (("MemberWeights", member), ("MembershipWeights", block)):
        rows = [{"feature": feature, "weight": round(weight, 2)} for feature, weight in weights.items()]
        _report.print_table(name, ("feature", "weight"), rows)
    table = [_lines_row(every, odds, least) for least in (-2.0, -1.5, -1.0, -0.5, 0.0)]
    _report.print_table("Lines, by threshold, cross-validated", tuple(table[0]), table)
    shares = [_blocks_row(every, sure, least) for least in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7)]
    _report.print_table("Blocks, by threshold, cross-validated", tuple(shares[0]), shares)
    return 0


def _cases(lived: facts.Life, embedder: Embedder) -> Iterator[Case]:
    asked = [one for one in lived.questions if one.place != "follow-up" and one.when == "after"]
    fitted = fitted_to(embedder.info.id)
    if fitted.list_odds is None or not asked:
        return
    odds = fitted.list_odds(np.asarray(embedder.embed([one.text for one in asked], "query")))
    memory, reader = InMemory(embedder, load_settings(), fitted), LineReader(contradiction.build(), RuleAnalyzer())
    for question in (one for one, likely in zip(asked, odds, strict=True) if likely > 0):
        about = question.relevant | question.answers | question.stale
        for without in (frozenset[str](), about) if about else (about,):
            yield from _case(lived, question, memory, reader, without)


def _case(
    lived: facts.Life, question: facts.Question, memory: InMemory, reader: LineReader, without: frozenset[str]
) -> Iterator[Case]:
    messages = frozenset(key.partition("/")[0] for key in without)
    hits = recalled(lived, question, memory, messages, OF_A_LIST)
    read = reader.question(question.text, hits, hits.grounds.get("personal", 0.0))
    lines = answering(reader.lines(hits, read) or [], read)
    if not lines or are_of_several_people(lines):
        return
    measured = rate(lines, read)
    about = question.relevant | question.answers
    yield Case(
        lived.id,
        question.groups,
        lines,
        member_features(lines, measured),
        np.array([line.hit.node.ref in about for line in lines]),
        sureness(hits.confidence, lines, measured, read),
        ("left out" if without else "known") if about else "never told",
    )


def _member(cases: Sequence[Case], folds: NDArray[np.int64]) -> tuple[dict[str, float], list[Matrix]]:
    """The weights of lines, and the log-odds of each line by a fit to other lives."""
    answered = [one.answered for one in cases]
    tables = [_table(one.features) for one in cases]
    odds = [np.zeros(len(one.lines)) for one in cases]
    for fold in range(_FOLDS):
        slopes, bias = _fit_lines(cases, tables, np.array(answered) & (folds != fold))
        for place in np.flatnonzero(folds == fold):
            odds[place] = tables[place] @ slopes + bias
    slopes, bias = _fit_lines(cases, tables, np.array(answered))
    return _named(cases[0].features[0], slopes, bias), odds


def _fit_lines(cases: Sequence[Case], tables: Sequence[Matrix], chosen: NDArray[np.bool_]) -> tuple[Matrix, float]:
    places = np.flatnonzero(chosen).tolist()
    about = np.concatenate([cases[place].about for place in places]).astype(np.float64)
    weight = np.concatenate([np.full(len(cases[place].lines), cases[place].weight) for place in places])
    return fit(np.concatenate([tables[place] for place in places]), about, weight, _PENALTY_LINE)


def _membership(
    cases: Sequence[Case], odds: Sequence[Matrix], folds: NDArray[np.int64]
) -> tuple[dict[str, float], Matrix]:
    """The weights of blocks, and the probability of each block by a fit to other lives."""
    measured = []
    for one, worths in zip(cases, odds, strict=True):
        for line, worth in zip(one.lines, worths.tolist(), strict=True):
            line.worth = worth
        measured.append(membership_features(one.lines, one.sure))
    table, known = _table(measured), np.array([float(one.answered) for one in cases])
    weight, sure = np.array([one.weight * _WEIGHTS[one.kind] for one in cases]), np.zeros(len(cases))
    for fold in range(_FOLDS):
        held = folds == fold
        slopes, bias = fit(table[~held], known[~held], weight[~held], _PENALTY_BLOCK)
        sure[held] = 1.0 / (1.0 + np.exp(-(table[held] @ slopes + bias)))
    return _named(measured[0], *fit(table, known, weight, _PENALTY_BLOCK)), sure


def _lines_row(cases: Sequence[Case], odds: Sequence[Matrix], least: float) -> dict[str, object]:
    """Of the questions of lives about lists that ask for several things: what is told at this threshold."""
    told, whole, right, lines = list[float](), list[bool](), 0, 0
    for one, worths in zip(cases, odds, strict=True):
        if not (one.answered and one.life.startswith(_LISTS) and len(one.things) > 1):
            continue
        best = np.argsort(-worths)[:MOST_OF_A_LIST]
        shown = [place for number, place in enumerate(best) if worths[place] >= least or not number]
        turns = {one.lines[place].hit.node.ref for place in shown}
        found = [not thing.isdisjoint(turns) for thing in one.things]
        told.append(sum(found) / len(found))
        whole.append(all(found))
        right += int(one.about[shown].sum())
        lines += len(shown)
    return {
        "log-odds": least,
        "n": len(told),
        "things": float(np.mean(told)),
        "all things": float(np.mean(whole)),
        "precision": right / lines,
        "lines": lines / len(told),
    }


def _blocks_row(cases: Sequence[Case], sure: Matrix, least: float) -> dict[str, object]:
    row: dict[str, object] = {"probability": least}
    for lives, listed in (("lists", True), ("others", False)):
        for kind in _WEIGHTS:
            chosen = [one.kind == kind and one.life.startswith(_LISTS) == listed for one in cases]
            row[f"{lives}: {kind}"] = float((sure >= least)[chosen].mean())
    return row


def _table(features: Sequence[Mapping[str, float]]) -> Matrix:
    return np.array([list(one.values()) for one in features])


def _named(features: Mapping[str, float], slopes: Matrix, bias: float) -> dict[str, float]:
    return {"bias": bias} | dict(zip(features, slopes.tolist(), strict=True))


if __name__ == "__main__":
    sys.exit(main())
