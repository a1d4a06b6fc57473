"""Fit the model that reads a line and a question together: `python -m benchmarks.fit_reading [--cache DIR] [--write]`.

Needs torch (`pip install biem[bge]`) and two hours on two cores. Learns low-rank additions to the matrices of e5
(`biem/adapters/embedders/pair_reader.py`) from pairs of a message and a question, which it answers or not:

    messages with questions that they answer or nearly answer (`benchmarks/lives/near`),
    messages with a request that needs them and with others (`benchmarks/lives/requests`), and
    questions of lives of `dev` with the answers and the best other hits of a recall in memory, which are learnt as a
    choice among these lines and none of them, too,

but one quarter of the lives and of the requests. Prints how often a line that answers is rated above one that does not
(`auc`): of the held-out files of the first kind, and of that quarter. From its lives the weights of
`biem/domain/policies/reading.py` are fitted and printed, with the share of questions about unknown matters that get
lines at equal shares of silence, before and after reading; both cross-validated over lives.

`--further` begins with the packaged weights, and takes half as many passes. `--write` replaces `answering.npz` in
`biem/adapters/embedders`; `--packaged` fits none and measures that file.
"""

import argparse
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report, fit_lines
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._offline import InMemory
from benchmarks.fit_confidence import fit
from benchmarks.fit_supersession import area
from benchmarks.lives import facts
from benchmarks.lives.near_questions import DEV, HELD_OUT, messages_in
from benchmarks.lives.needed import REQUESTS, Told, told_in
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders.pair_reader import ANSWERING, SharedPairOdds
from biem.config import load_settings
from biem.domain.policies.context import ContextPolicy
from biem.domain.retention import ASSISTANT
from biem.domain.speech.acts import asks_for_facts
from biem.domain.text import is_han
from biem.engine.context.lines import LineReader, odds
from biem.engine.context.reading import readings
from biem.engine.context.relevance import rate
from biem.engine.context.silence import sureness
from biem.ports import Embedder
from biem.ports.embedding import PairOdds, TextPair

_GROUPS, _HELD_BACK = 4, 0
_SEED, _PASSES = 5, 2
_HITS, _BEST = 12, 2
"""Hits of a question that pairs are made of, and the best wrong ones that are always taken."""
_SMALL = ("indirect", "sibling", "young", "short", "times")
"""Beginnings of the names of lives of which half of the questions are taken: there are many of them."""
_OTHERS = 2
"""Messages that a request does not need, for each."""
_FOLDS, _PENALTY = 8, 1e-3
_SILENT = (0.03, 0.05, 0.08, 0.12)


@dataclass(frozen=True, slots=True)
class Asked:
    """A line with a question, and whether the one answers the other."""

    pair: TextPair
    answers: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_reading", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--packaged", action="store_true", help="fit nothing, measure the packaged file")
    parser.add_argument("--further", action="store_true", help="begin with the packaged weights")
    parser.add_argument("--write", action="store_true", help="replace the packaged file")
    options = parser.parse_args(arguments)
    lives = [one for one in fit_lines.lives_of_dev() if not one.id.startswith("needed-")]
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache, queries=True)) as embedder:
        if not options.packaged:
            from benchmarks._pair_network import fit as fit_network  # noqa: PLC0415  torch is optional

            others = [one for one in lives if not _is_held_back(one)]
            learnt = [[one] for one in (*_near(DEV), *_needed(held_back=False))]
            learnt += filter(None, _lived(others, embedder, Random(_SEED)))
            answers = [[one.answers for one in of] for of in learnt]
            passes, start = (_PASSES // 2, ANSWERING) if options.further else (_PASSES, None)
            network = fit_network([[one.pair for one in of] for of in learnt], answers, passes, start)
            if options.write:
                np.savez(ANSWERING, **network.kept())  # type: ignore[arg-type]  # its last argument is a bool
                print(f"fitted to {sum(map(len, learnt))} pairs, {sum(map(sum, answers))} of them with an answer")
        odds_of = SharedPairOdds(ANSWERING, None, lambda: None)
        kept = [one for one in lives if _is_held_back(one)]
        sets = {
            **{f"near, {file.stem}": list(_near([file])) for file in HELD_OUT},
            "requests, a quarter": list(_needed(held_back=True)),
            "lives, a quarter": [one for of in _lived(kept, embedder, Random(_SEED)) for one in of],
        }
        rows = [_row(name, asked, odds_of) for name, asked in sets.items()]
        _report.print_table("Lines that answer above those that do not, by the packaged file", tuple(rows[0]), rows)
        _print_weights(kept, embedder, odds_of)
    return 0


def _is_held_back(one: facts.Life) -> bool:
    return fit_lines.group_of(one) == _HELD_BACK


def _near(files: Sequence[Path]) -> Iterator[Asked]:
    for message in messages_in(files):
        for questions, answers in ((message.answered, True), (message.near, False)):
            yield from (Asked(TextPair(message.text, question), answers) for question in questions)


def _needed(*, held_back: bool) -> Iterator[Asked]:
    """A request for each of these messages, with it and with others that were told in the same script."""
    draw, told = Random(_SEED), list(told_in(REQUESTS))
    scripts = {han: [one for one in told if is_han(one.text) == han] for han in (True, False)}
    for one in told:
        if (one.group(_GROUPS) == _HELD_BACK) != held_back or draw.random() < 0.5:
            continue
        request, others = draw.choice(one.asked), list[Told](draw.sample(scripts[is_han(one.text)], _OTHERS))
        yield Asked(TextPair(one.text, request), answers=True)
        yield from (Asked(TextPair(other.text, request), answers=False) for other in others if other is not one)


def _lived(lives: Sequence[facts.Life], embedder: Embedder, draw: Random) -> Iterator[list[Asked]]:
    """The lines of each question."""
    memory = InMemory(embedder, load_settings())
    for one in lives:
        for question in one.questions:
            if question.when == "after" and not (one.id.startswith(_SMALL) and draw.random() < 0.5):
                yield list(_of_question(one, question, memory, draw))


def _of_question(life: facts.Life, question: facts.Question, memory: InMemory, draw: Random) -> Iterator[Asked]:
    """Its answers, former ones included, and the best other hits, without lines that are about the matter only."""
    right = question.answers | question.stale
    hits = fit_lines.recalled(life, question, memory, frozenset(), most=_HITS)
    told = [
        (one.node.ref, one.node.text, one.node.source == ASSISTANT) for hit in hits for one in (hit.passages or (hit,))
    ]
    answers = [one for one in told if one[0] in right]
    wrong = [one for one in told if one[0] not in right | question.relevant]
    wrong = wrong[:_BEST] + draw.sample(wrong[_BEST:], min(1, len(wrong[_BEST:])))
    for found, right_one in ((answers[:2], True), (wrong, False)):
        yield from (Asked(TextPair(text, question.text, said), right_one) for _, text, said in found)


def _row(name: str, asked: Sequence[Asked], odds_of: PairOdds) -> dict[str, object]:
    read, answers = odds_of([one.pair for one in asked]), np.array([one.answers for one in asked])
    return {"pairs": name, "with an answer": int(answers.sum()), "without": int((~answers).sum())} | {
        "auc": area(read[answers], read[~answers])
    }


def _print_weights(lives: Sequence[facts.Life], embedder: Embedder, odds_of: PairOdds) -> None:
    """Fit and print `ReadingWeights`, and what silence gains by them."""
    memory = InMemory(embedder, load_settings(), fit_lines.fitted_to_others(_HELD_BACK, embedder))
    reader, policy = LineReader(contradiction.build(), RuleAnalyzer()), ContextPolicy()
    cases = [case for one in lives for case in fit_lines.cases_of(one, memory, reader)]
    folds = np.array([zlib.crc32(one.life.encode()) % _FOLDS for one in cases])
    weight = np.array([fit_lines.weight_of(one) for one in cases])
    known = np.array([float(one.known) for one in cases])
    rated, read, about, of = list[list[float]](), list[NDArray[np.float64]](), list[float](), list[int]()
    for place, case in enumerate(cases):
        rate(case.lines, case.question)
        most = policy.lines_to_read(request=not asks_for_facts(case.question.text))
        likely = sorted(range(len(case.lines)), key=lambda n: -case.lines[n].worth)[:most]
        read.append(np.array(readings([case.lines[n] for n in likely], case.question, odds_of)))
        rated += [[case.lines[n].worth, one] for n, one in zip(likely, read[-1].tolist(), strict=True)]
        about += [float(case.about[n]) for n in likely]
        of += [place] * len(likely)
    of_case, lines = np.array(of), np.array(rated)
    worth, line = cross_validated(lines, np.array(about), np.minimum(weight, 1.0)[of_case], folds[of_case])
    before = [odds(sureness(one.sure, one.lines, one.features, one.question)) for one in cases]
    table = np.array([[was, one.max(), one.mean(), 0.0] for was, one in zip(before, read, strict=True)])
    for place, case in enumerate(cases):
        then = worth[of_case == place]
        unread = sorted((one.worth for one in case.lines), reverse=True)[len(then) :]
        if not unread or then.max() >= unread[0]:
            table[place, 3] = read[place][int(np.argmax(then))]
    after, block = cross_validated(table, known, weight, folds)
    names = ("line_bias", "line_prior", "line_read", "bias", "prior", "most", "mean", "own")
    weights = [{"weight": name, "value": round(one, 2)} for name, one in zip(names, (*line, *block), strict=True)]
    _report.print_table("ReadingWeights", ("weight", "value"), weights)
    kinds = np.array([one.kind for one in cases])
    rows = [_told(kinds, np.array(before), after, silent) for silent in _SILENT]
    _report.print_table(f"{len(lives)} lives, cross-validated", tuple(rows[0]), rows)


def cross_validated(
    table: NDArray[np.float64], wanted: NDArray[np.float64], weight: NDArray[np.float64], folds: NDArray[np.int_]
) -> tuple[NDArray[np.float64], list[float]]:
    """Log-odds of each row by a fit to other folds, and bias and slopes by a fit to all rows."""
    found = np.zeros(len(table))
    for fold in np.unique(folds):
        held = folds == fold
        slopes, bias = fit(table[~held], wanted[~held], weight[~held], _PENALTY)
        found[held] = table[held] @ slopes + bias
    slopes, bias = fit(table, wanted, weight, _PENALTY)
    return found, [float(one) for one in (bias, *slopes)]


def _told(
    kinds: NDArray[np.str_], before: NDArray[np.float64], after: NDArray[np.float64], silent: float
) -> dict[str, object]:
    """The shares of questions without an answer that get lines where this share of the others gets none."""
    row: dict[str, object] = {"silent": silent}
    for name, sure in (("before", before), ("read", after)):
        least = np.quantile(sure[kinds == "known"], silent)
        row |= {f"{kind}, {name}": float((sure[kinds == kind] >= least).mean()) for kind in ("never told", "left out")}
    return row


if __name__ == "__main__":
    sys.exit(main())
