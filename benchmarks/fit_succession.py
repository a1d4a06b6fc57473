"""Fit how a block finds the later line that tells how things are now: `python -m benchmarks.fit_succession`.

Asks the questions of the lives of `benchmarks.fit_lines`, ranked in memory, and fits two logistic regressions:

    change      direction of the embedder's space: does a message give a matter a new value? From the vectors of all
                messages of a user in the lives by hand; written to `biem/adapters/embedders/change.json`
    succession  for a line with a former value (or a valid one) of what is asked, and any later line: does that line
                have the valid value? Weights for `biem/domain/policies/succession.py`, which are printed

`auc` tells how often a successor is rated above another line. It is cross-validated: neither regression of a life has
seen this life. `--check` writes nothing.
"""

import argparse
import random
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._offline import InMemory
from benchmarks.fit_confidence import fit
from benchmarks.fit_lines import lives_of_dev, recalled
from benchmarks.lives.facts import Life, Question
from benchmarks.lives.scripted import scripted
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders import directions
from biem.config import load_settings
from biem.domain.node import Hit
from biem.domain.policies.succession import SuccessionWeights
from biem.engine.context.currency.succession import Succession
from biem.engine.context.lines import UNCHANGED, LineReader
from biem.engine.context.picking import answering
from biem.engine.context.relevance import rate
from biem.ports import Embedder

Matrix = NDArray[np.float64]

_LANGUAGES = ("en", "zh", "mixed")
_PENALTY_CHANGE = 1e-2
_FOLDS = 16
"""Groups of lives that are fitted apart: neither regression rates a life that it was fitted to."""
_SCALE = 20.0
"""A component of a unit vector of 384 dimensions is about a twentieth."""
_FEW = (1, 2, 3, 5)
_YOUNG, _WEIGHT_YOUNG = 25, 2.0
"""Messages up to which a life is a young memory, and the weight of its pairs: it has a twentieth as many."""
_WEIGHTS = {"plain-": 8.0, "sibling-": 4.0, "indirect-": 2.0}
"""Of pairs by what the names of their lives begin with: those of `passing_changes.txt`, `two_of_a_kind.txt`,
`siblings_and_changes.txt` and `indirect_changes.txt` are fewer still, and usual."""
_KEPT = 1e-2
"""Penalty on what separates weights from those of the package, in standard deviations of each feature."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Features of an earlier and a later line, and whether the later has the valid value."""

    life: Life
    features: dict[str, float]
    succeeds: bool

    @property
    def weight(self) -> float:
        """What the pair counts in the fit."""
        usual = _WEIGHT_YOUNG if len(self.life.turns) <= _YOUNG else 1.0
        return next((weight for begin, weight in _WEIGHTS.items() if self.life.id.startswith(begin)), usual)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_succession", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--check", action="store_true", help="print, and write nothing")
    options = parser.parse_args(arguments)
    lives, by_hand = lives_of_dev(), [one for lang in _LANGUAGES for one in scripted(lang, "dev")]
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache, queries=True)) as embedder:
        changed, direction, bias = changes(by_hand, embedder)
        memory, reader = InMemory(embedder, load_settings()), LineReader(contradiction.build(), RuleAnalyzer())
        with _report.progress() as bar:
            task = bar.add_task("lives", total=len(lives))
            pairs: list[Pair] = []
            for one in lives:
                for question in one.questions:
                    if question.groups and (question.category, question.when) == ("now", "after"):
                        hits = [with_changed(hit, changed) for hit in recalled(one, question, memory, frozenset())]
                        for some in (hits, *_few(question, hits)):
                            pairs += pairs_of(one, question, some, reader)
                bar.advance(task)
        if not options.check:
            directions.CHANGE.write_text(directions.to_json(embedder.info.id, direction, bias), "utf-8")
    weights, auc = fitted(pairs)
    print(f"{len(lives)} lives, {len(pairs)} pairs, {sum(one.succeeds for one in pairs)} successors, auc {auc:.3f}")
    rows = [{"feature": name, "weight": weight} for name, weight in weights.items()]
    _report.print_table("SuccessionWeights", ("feature", "weight"), rows)
    return 0


def changes(lives: Sequence[Life], embedder: Embedder) -> tuple[dict[str, float], Matrix, float]:
    """Log-odds, by a turn's id, that a message tells of a change; and the direction with its bias.

    The log-odds of a life's messages come from the other lives.
    """
    turns = [(one.id, turn) for one in lives for turn in one.turns if turn.role == "user"]
    vectors = np.asarray(embedder.embed([turn.text for _, turn in turns], "passage"), dtype=np.float64) * _SCALE
    told: set[tuple[str, str]] = set()
    wanted = np.zeros(len(turns))
    for place, (whose, turn) in enumerate(turns):
        if turn.sort == "tell":
            wanted[place] = (whose, turn.key) in told
            told.add((whose, turn.key))
    weight = np.ones(len(turns))
    odds = _of_other_lives(vectors, wanted, weight, [whose for whose, _ in turns], _PENALTY_CHANGE)
    slopes, bias = fit(vectors, wanted, weight, _PENALTY_CHANGE)
    return {turn.id: float(one) for (_, turn), one in zip(turns, odds, strict=True)}, slopes * _SCALE, bias


def _few(question: Question, hits: Sequence[Hit]) -> Iterator[list[Hit]]:
    """A few of the hits, as in a young memory: with the change, and with only the value that it changed."""
    draw = random.Random(zlib.crc32(question.id.encode()))
    told = question.answers | question.stale
    others = [hit.node.ref for hit in hits if hit.node.ref not in told]
    for kept in (told, question.answers, question.stale):
        beside = draw.sample(others, min(draw.choice(_FEW), len(others)))
        yield [hit for hit in hits if hit.node.ref in kept or hit.node.ref in beside]


def with_changed(hit: Hit, changed: dict[str, float]) -> Hit:
    """The hit with the cross-validated log-odds, if its life is one of those that the direction was fitted to."""
    odds = changed.get(hit.node.ref or "", float(hit.why.get("changed", UNCHANGED)))
    return replace(hit, why={**hit.why, "changed": odds})


def pairs_of(lived: Life, question: Question, hits: Sequence[Hit], reader: LineReader) -> Iterator[Pair]:
    """Each line with a value of what is asked, and each later line of a person but those with the same standing."""
    asked = reader.question(question.text, hits)
    lines = answering(reader.lines(hits, asked) or [], asked)
    rate(lines, asked)
    if not asked.now:
        return
    succession = Succession(lines, asked)
    for older in lines:
        valid, stale = older.hit.node.ref in question.answers, older.hit.node.ref in question.stale
        if not (valid or stale):
            continue
        for newer in lines:
            succeeds = newer.hit.node.ref in question.answers
            if not succession.may_succeed(newer, older):
                continue
            if (valid and succeeds) or (stale and newer.hit.node.ref in question.stale):
                continue
            yield Pair(lived, succession.features(newer, older), succeeds)


def fitted(pairs: Sequence[Pair]) -> tuple[dict[str, float], float]:
    """The weights, and the area under the curve with other lives left to fit."""
    names = [one.name for one in fields(SuccessionWeights) if one.name != "bias"]
    table = np.array([[float(one.features[name]) for name in names] for one in pairs])
    wanted = np.array([float(one.succeeds) for one in pairs])
    weight = np.array([one.weight for one in pairs])
    packaged = np.array([getattr(SuccessionWeights(), name) for name in names])
    odds = _of_other_lives(table, wanted, weight, [one.life.id for one in pairs], _KEPT, packaged)
    order = odds.argsort().argsort() + 1.0
    right, wrong = wanted.sum(), (1 - wanted).sum()
    auc = (order[wanted == 1].sum() - right * (right + 1) / 2) / (right * wrong)
    slopes, bias = fit(table, wanted, weight, _KEPT, packaged)
    found = {name: round(float(slope), 3) for name, slope in zip(names, slopes, strict=True)}
    return {"bias": round(bias, 3)} | found, float(auc)


def _of_other_lives(
    table: Matrix,
    wanted: Matrix,
    weight: Matrix,
    lives: Sequence[str],
    penalty: float,
    near: Matrix | None = None,
) -> Matrix:
    """The log-odds of each row, by a fit to other lives."""
    odds = np.zeros(len(wanted))
    folds = np.array([zlib.crc32(life.encode()) % _FOLDS for life in lives])
    for fold in np.unique(folds):
        here = folds == fold
        slopes, bias = fit(table[~here], wanted[~here], weight[~here], penalty, near)
        odds[here] = table[here] @ slopes + bias
    return odds


if __name__ == "__main__":
    sys.exit(main())
