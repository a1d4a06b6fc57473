"""Fit which later line goes first where a message tells an earlier line again: `python -m benchmarks.fit_retold`.

The lines of the lives of `benchmarks.fit_lines` that have a former or a valid value of what a question asks, and the
first messages of the pairs of `benchmarks/lives/told` but the held-out ones, are asked for with their own text, ranked
in memory. A logistic regression is fitted to each such line and any later one: does that have the valid value? Its
weights, for `RetoldWeights` in `biem/domain/policies/succession.py`, are printed.

The shares of successors and of other lines that go first are cross-validated, at each log-odds. The bias that is
printed is lowered, so that the threshold of other questions is at the log-odds marked `here`.
"""

import argparse
import random
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np

from benchmarks import _report
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._offline import InMemory
from benchmarks.fit_confidence import fit
from benchmarks.fit_lines import lives_of_dev, recalled
from benchmarks.fit_succession import changes, with_changed
from benchmarks.lives.facts import Life, Question, Turn
from benchmarks.lives.schedule import START
from benchmarks.lives.scripted import scripted
from benchmarks.lives.told import told
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.config import load_settings
from biem.domain.node import Hit
from biem.domain.policies.succession import RetoldWeights
from biem.engine.context.currency.succession import Succession
from biem.engine.context.lines import LineReader
from biem.engine.context.picking import answering
from biem.engine.context.relevance import rate

_TOLD = Path(__file__).parent / "lives" / "told"
_NAMES = tuple(one.name for one in fields(RetoldWeights) if one.name != "bias")
_MOST_FORMER, _MOST_VALID = 4, 2
"""Lines of a life that are asked for."""
_WEIGHTS = {"lives": 1.0, "pairs": 3.0, "plain speech": 6.0}
"""What a pair of lines counts in the fit: most are of lives."""
_FOLDS, _PENALTY = 6, 1e-3
_HERE, _LEAST = 0.3, -1.3
"""Log-odds from which a later line goes first, of those fitted and in `biem.engine.context.currency.lifting`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_retold", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    options = parser.parse_args(arguments)
    rows, wanted, kinds, groups = list[list[float]](), list[bool](), list[str](), list[str]()
    lives = [("lives", one) for one in lives_of_dev()] + list(_pairs())
    by_hand = [one for lang in ("en", "zh", "mixed") for one in scripted(lang, "dev")]
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache, queries=True)) as embedder:
        changed, _, _ = changes(by_hand, embedder)
        memory, reader = InMemory(embedder, load_settings()), LineReader(contradiction.build(), RuleAnalyzer())
        with _report.progress() as bar:
            task = bar.add_task("lives", total=len(lives))
            for kind, one in lives:
                for question, ref in _asked_again(one):
                    hits = [with_changed(hit, changed) for hit in recalled(one, question, memory, frozenset())]
                    for features, succeeds in _compared(question, ref, hits, reader):
                        rows.append(features)
                        wanted.append(succeeds)
                        kinds.append(kind)
                        groups.append(one.id)
                bar.advance(task)
    _show(np.array(rows), np.array(wanted, dtype=float), np.array(kinds), groups)
    return 0


def _pairs() -> Iterator[tuple[str, Life]]:
    """Each pair of messages as a life of two."""
    for kind, folder in (("pairs", _TOLD), ("plain speech", _TOLD / "plain_speech")):
        for file in sorted(folder.glob("*.txt")):
            if file.name.startswith("held_out"):
                continue
            for number, pair in enumerate(told([file])):
                name = f"{file.name} {number}"
                first = Turn(f"{name} older", START, "first", "user", pair.lang, pair.older, "tell")
                second = Turn(f"{name} newer", START + pair.apart, "later", "user", pair.lang, pair.newer, "tell")
                changes = pair.label == "update"
                question = Question(
                    name, pair.older, pair.lang, "after", 2, "now", "pair",
                    (frozenset([(second if changes else first).id]),), frozenset([first.id] if changes else ()),
                )  # fmt: skip
                yield kind, Life(name, pair.lang, (first, second), (question,))


def _asked_again(one: Life) -> Iterator[tuple[Question, str]]:
    """Some lines with a former or a valid value, each as the question of itself."""
    said = {turn.id: turn for turn in one.turns if turn.role == "user"}
    former, valid = defaultdict[str, list[Question]](list), defaultdict[str, list[Question]](list)
    for question in one.questions:
        if question.groups and (question.category, question.when) == ("now", "after"):
            for ref in question.stale | question.answers:
                (former if ref in question.stale else valid)[ref].append(question)
    draw = random.Random(zlib.crc32(one.id.encode()))
    for found, most in ((former, _MOST_FORMER), (valid, _MOST_VALID)):
        known = sorted(ref for ref in found if ref in said)
        for ref in draw.sample(known, min(most, len(known))):
            yield replace(found[ref][0], text=said[ref].text), ref


def _compared(
    question: Question, ref: str, hits: Sequence[Hit], reader: LineReader
) -> Iterator[tuple[list[float], bool]]:
    """The features of a line and each later one that does not have the same standing, and whether that is valid."""
    asked = reader.question(question.text, hits)
    lines = answering(reader.lines(hits, asked) or [], asked)
    rate(lines, asked)
    succession, stale = Succession(lines, asked), ref in question.stale
    for older in (line for line in lines if line.hit.node.ref == ref):
        for newer in lines:
            valid, former = (newer.hit.node.ref in told for told in (question.answers, question.stale))
            if succession.may_succeed(newer, older) and not (former if stale else valid):
                measured = succession.features(newer, older)
                yield [float(measured[name]) for name in _NAMES], stale and valid


def _show(table: np.ndarray, wanted: np.ndarray, kinds: np.ndarray, groups: Sequence[str]) -> None:
    weight = np.array([_WEIGHTS[kind] for kind in kinds])
    folds, odds = np.array([zlib.crc32(group.encode()) % _FOLDS for group in groups]), np.zeros(len(wanted))
    for fold in range(_FOLDS):
        here = folds == fold
        slopes, bias = fit(table[~here], wanted[~here], weight[~here], _PENALTY)
        odds[here] = table[here] @ slopes + bias
    found = []
    for least in (-1.0, -0.5, 0.0, _HERE, 0.5):
        row: dict[str, object] = {"log-odds": f"{least}{' here' if least == _HERE else ''}"}
        for kind in _WEIGHTS:
            of = kinds == kind
            first = [f"{np.mean(odds[of & (wanted == is_one)] > least):.3f}" for is_one in (1, 0)]
            row[kind] = " / ".join(first)
        found.append(row)
    _report.print_table("Successors / other lines that go first", tuple(found[0]), found)
    slopes, bias = fit(table, wanted, weight, _PENALTY)
    weights = {"bias": bias + _LEAST - _HERE} | dict(zip(_NAMES, slopes.tolist(), strict=True))
    rows = [{"feature": name, "weight": round(value, 3)} for name, value in weights.items()]
    _report.print_table(f"RetoldWeights, of {len(wanted)} pairs of lines", ("feature", "weight"), rows)


if __name__ == "__main__":
    sys.exit(main())
