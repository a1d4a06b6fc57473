"""Fit which lines a block shows, and when it is empty: `python -m benchmarks.fit_lines [--cache DIR] [--lives NAME…]`.

`--only FEATURE…` keeps the weights of all other features.

Asks the questions of lives of `dev`, those written by hand (`benchmarks/lives/by_hand`) and some made ones, ranked in
memory without servers, and fits two logistic regressions, for `biem/domain/policies/relevance.py` and `silence.py`:

    line   is this one of the lines about what is asked?
    block  does any line answer? From the log-odds of the lines by a fit to other lives.

A question is asked three times: of all messages; of all but those about what it asks, so that nothing answers; and, one
in three, of a few hits only, as in a young memory.

`told` is the share of questions that get lines though nothing is known, `silent` that of the others that get none.
Both are cross-validated over lives, for every threshold. Public dialogues have no part in it: without their evidence,
most of their questions still have an answer in some other message.
"""

import argparse
import random
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _data, _report, fit_answers, fit_queries
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._offline import InMemory
from benchmarks.fit_confidence import fit
from benchmarks.lives import facts
from benchmarks.lives.near_questions import DEV, messages_in
from benchmarks.lives.needed import ORDINARY, REQUESTS, ordinary_in, told_in, with_needed
from benchmarks.lives.schedule import life
from benchmarks.lives.scripted import scripted
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.embedders.fitted import fitted_to
from biem.config import load_settings
from biem.domain.node import Hit, Hits, Node
from biem.domain.policies.confidence import ConfidenceWeights
from biem.domain.policies.relevance import LineWeights
from biem.domain.policies.silence import SilenceWeights
from biem.domain.scope import Scope
from biem.domain.speech.acts import is_courtesy
from biem.domain.text import is_han
from biem.engine.context.lines import LineQuestion, LineReader, RatedLine
from biem.engine.context.picking import LOOKED_AT, answering
from biem.engine.context.relevance import line_features
from biem.engine.context.silence import block_features
from biem.engine.recall.hits import alike_of, reference_of, refers_back, score_of, support_of
from biem.engine.recall.passages import passages_of, with_passages
from biem.engine.recall.rank.confidence import confidence
from biem.ports import Embedder
from biem.ports.embedding import Fitted

Matrix = NDArray[np.float64]

_FOLDS, _GROUPS = 8, 4
_PENALTY_LINE, _PENALTY_BLOCK, _PENALTY_ONLY = 1e-4, 2e-3, 1e-3
_STEPS_ONLY = 25
_WEIGHTS = {"known": 3.0, "never told": 2.0, "left out": 0.5, "few known": 0.9, "few left out": 0.3}
"""An answer kept back costs more than a line too many."""
_WEIGHTS_OF_BLOCKS = {"young": 0.3, "plain": 3.0, "req": 1.5, "needed": 1.0}
"""What a block of lives counts whose names begin so: those of `young_memories_second.txt` are asked for in quite other
words, and for things that are hard to tell from those that were told; those of `two_of_a_kind.txt`
and `requests.txt` are few, and usual. `needed`: lives with messages of `requests` among theirs."""
_SEED, _MADE = 21, (("en", 3), ("zh", 3), ("mixed", 2))
_LONG = 50
"""Messages of a life by hand from which it is asked once more, with messages among its own that requests need."""
_RULES = contradiction.build()
_FEW = (1, 2, 4, 6)
_ONE_IN = 3


@dataclass(frozen=True, slots=True)
class Case:
    """One question, the lines found for it, and which of them are about what it asks."""

    life: str
    kind: str
    sure: float
    """Confidence of the recall."""
    lines: Sequence[RatedLine]
    question: LineQuestion
    about: Sequence[bool]
    features: Sequence[Mapping[str, float]]

    @property
    def known(self) -> bool:
        """Whether a line answers."""
        return self.kind in ("known", "few known")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_lines", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--lives", nargs="+", metavar="NAME", help="only these (default: all of dev)")
    parser.add_argument("--only", nargs="+", default=(), metavar="FEATURE", help="keep the weights of all others")
    options = parser.parse_args(arguments)
    lives = [one for one in lives_of_dev() if not options.lives or one.id in options.lives]
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache, queries=True)) as embedder:
        reader = LineReader(contradiction.build(), RuleAnalyzer())
        with _report.progress() as bar:
            task, cases = bar.add_task("lives", total=len(lives)), list[Case]()
            for group in range(_GROUPS):
                memory = InMemory(embedder, load_settings(), fitted_to_others(group, embedder))
                for one in (one for one in lives if group_of(one) == group):
                    cases += cases_of(one, memory, reader)
                    bar.advance(task)
    line, block, odds = fitted(cases, frozenset(options.only))
    for name, weights in (("LineWeights", line), ("SilenceWeights", block)):
        rows = [{"feature": feature, "weight": weight} for feature, weight in weights.items()]
        _report.print_table(name, ("feature", "weight"), rows)
    table = [_row(cases, odds, threshold) for threshold in (0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.7)]
    _report.print_table(f"{len(lives)} lives, cross-validated", tuple(table[0]), table)
    return 0


def group_of(lived: facts.Life) -> int:
    """Lives whose queries are mapped as if these had no part in fitting the map."""
    return zlib.crc32(lived.id.removeprefix("needed-").encode()) % _GROUPS


def fitted_to_others(group: int, embedder: Embedder) -> Fitted:
    """What is fitted to the embedder's space, the map of queries and the odds of answers by the lives of other groups.

    A life that the map was fitted to would make likeness look better than it is.
    """
    learnt = [one for lang, _ in _MADE for one in scripted(lang, "dev")]
    others = fit_queries.asked_in([one for one in learnt if group_of(one) != group], embedder)
    told = (one for one in told_in(REQUESTS) if one.group(_GROUPS) != group)
    needed, talk = fit_queries.needed_by(told, embedder), fit_queries.small_talk_of(learnt, embedder)
    turned = fit_queries.fit(others, needed, talk)
    near = fit_answers.asked_of(messages_in(DEV), turned, embedder)
    odds = fit_answers.fit(near, fit_answers.needed_by(needed, turned))
    return replace(fitted_to(embedder.info.id), query_map=turned, answer_odds=odds)


def lives_of_dev() -> list[facts.Life]:
    """All that are written by hand, and made ones: these have many facts of one kind, of the user and of others.

    Without the questions that only the messages before them make plain.
    """
    by_hand = [_plain(one) for lang, _ in _MADE for one in scripted(lang, "dev")]
    made = [life(number, _SEED, lang, "dev") for lang, count in _MADE for number in range(count)]
    return by_hand + made + [_with_needed(one) for one in by_hand if len(one.turns) >= _LONG]


def _with_needed(one: facts.Life) -> facts.Life:
    told = [other for other in told_in(REQUESTS) if other.group(_GROUPS) == group_of(one)]
    both = one.lang == "mixed"
    return with_needed(
        one,
        [other for other in told if both or is_han(other.text) == (one.lang == "zh")],
        [line for line in ordinary_in(ORDINARY) if both or is_han(line) == (one.lang == "zh")],
    )


def _plain(one: facts.Life) -> facts.Life:
    return replace(one, questions=tuple(asked for asked in one.questions if asked.place != "follow-up"))


def cases_of(lived: facts.Life, memory: InMemory, reader: LineReader) -> Iterator[Case]:
    """The questions that are asked after a life, each of all messages, without the answer, and of few hits."""
    for question in lived.questions:
        if question.when != "after":
            continue
        about = question.relevant | question.answers | question.stale
        for kind, without in (("known", frozenset[str]()), ("left out", about)) if about else (("never told", about),):
            hits = recalled(lived, question, memory, frozenset(key.partition("/")[0] for key in without))
            yield from cases(lived.id, kind, question.id, question.text, hits, about, reader)


def cases(
    life: str, kind: str, name: str, text: str, hits: Hits, about: frozenset[str], reader: LineReader
) -> Iterator[Case]:
    """The case of these hits, and, for some questions, one of few of them."""
    yield from _case(life, kind, text, hits, about, reader)
    draw = random.Random(zlib.crc32(f"{name} {kind}".encode()))
    if kind == "never told" or draw.randrange(_ONE_IN):
        return
    others = [place for place, hit in enumerate(hits) if hit.node.ref not in about]
    kept = set(draw.sample(others, min(draw.choice(_FEW), len(others))))
    few = Hits(
        (hit for place, hit in enumerate(hits) if place in kept or place not in others),
        confidence=hits.confidence,
        grounds=hits.grounds,
    )
    yield from _case(life, f"few {kind}", text, few, about, reader)


def _case(life: str, kind: str, text: str, hits: Hits, about: frozenset[str], reader: LineReader) -> Iterator[Case]:
    asked = reader.question(text, hits, hits.grounds.get("personal", 0.0))
    lines = answering(reader.lines(hits, asked) or [], asked)
    if lines:
        relevant = [line.hit.node.ref in about for line in lines]
        yield Case(life, kind, hits.confidence, lines, asked, relevant, line_features(lines, asked))


def recalled(
    lived: facts.Life, question: facts.Question, memory: InMemory, without: frozenset[str], most: int = LOOKED_AT
) -> Hits:
    """The hits of a recall in memory of all turns but these, at most `most`."""
    told = {turn.id: turn for turn in lived.turns}
    turns = tuple(
        _data.Turn(turn.id, turn.session, "", turn.text, turn.at) for turn in lived.turns if turn.id not in without
    )
    conversation = _data.Conversation(question.id, lived.lang, turns, ())
    memory.load(conversation)
    answer = memory.answer(conversation, _data.Question(question.id, question.text, "", (), frozenset(), None))
    if answer is None:
        return Hits()
    places = answer.places(most)
    ids = [answer.ordering.candidates[place].id for place in places]
    asked = answer.answered(ids)
    vectors = answer.vectors([*ids, *asked.values()])
    likeness, changed, answering = answer.likeness(vectors), answer.changed(vectors), answer.answering(vectors)
    passages = passages_of([_node(told[key]) for key in ids], answer, partial(refers_back, rules=_RULES))
    alike, support = alike_of(ids, {}, answer, passages), support_of(ids, answer, likeness)
    hits, ceiling = list[Hit](), 1.0
    for place, key in zip(places, ids, strict=True):
        if is_courtesy(told[key].text) or len(hits) == most:
            continue
        ceiling = min(ceiling, score_of(float(answer.ranked.scores[place])))
        why = {"likeness": likeness[key]}
        if key in changed:
            why["changed"] = changed[key]
        if key in support:
            why["group"] = support[key]
        hit = Hit(_node(told[key]), ceiling, why, alike=alike.get(key, {}))
        before = told.get(asked.get(key, ""))
        request, stated, reports = reference_of(answer, _node(before) if before else None, hit.node)
        if request is not None:
            why["asked_likeness"] = likeness[request.id]
        if stated is not None:
            why["referred_likeness"] = likeness[stated.id]
        of_which = (one.id for one in (request, stated) if one is not None)
        if odds := [answering[one] for one in (key, *of_which) if one in answering]:
            why["answering"] = max(odds)
        hit = replace(hit, why=why, answers=request, refers_to=stated, reports=reports)
        hit = with_passages(hit, passages[key], alike) if passages.get(key) else hit
        if told[key].statements:
            hit = replace(hit, passages=tuple(_referring(one, told[key], question) for one in hit.passages))
        hits.append(hit)
    return Hits(hits, confidence=confidence(answer.grounds, ConfidenceWeights()), grounds=answer.grounds)


def _referring(passage: Hit, turn: facts.Turn, question: facts.Question) -> Hit:
    """The passage with the id of the statement that it tells, if that has to do with the question."""
    told = turn.told_by(passage.node.text)
    of = (told & ids for ids in (question.answers, question.stale, question.relevant))
    ref = next((min(ids) for ids in of if ids), turn.id)
    return replace(passage, node=replace(passage.node, ref=ref))


def _node(turn: facts.Turn) -> Node:
    return Node(
        id=turn.id, scope=Scope(), text=turn.text, kind="event", status="live", layer="short_term", source=turn.role,
        conversation=turn.session, at=turn.at, created_at=turn.at, ref=turn.id,
    )  # fmt: skip


def fitted(
    cases: Sequence[Case], only: frozenset[str] = frozenset()
) -> tuple[dict[str, float], dict[str, float], Matrix]:
    """The weights of lines and of blocks, and the log-odds of each block by a fit to other lives.

    `only`: features whose weights are fitted, with those of all others kept; empty for all.
    """
    folds = np.array([zlib.crc32(one.life.encode()) % _FOLDS for one in cases])
    weight = np.array([_WEIGHTS[one.kind] for one in cases])
    of_line = np.repeat(np.arange(len(cases)), [len(one.lines) for one in cases])
    measured = [features for one in cases for features in one.features]
    about = np.array([float(relevant) for one in cases for relevant in one.about])
    weight_of_line = np.minimum(weight, 1.0)[of_line]
    kept = asdict(LineWeights()) if only else None
    odds, line = _weights(measured, about, weight_of_line, folds[of_line], _PENALTY_LINE, kept, only)
    starts = np.cumsum([0, *(len(one.lines) for one in cases)])
    blocks = [
        block_features(one.sure, one.lines, one.features, odds[start:end].tolist(), one.question)
        for one, start, end in zip(cases, starts, starts[1:], strict=False)
    ]
    known = np.array([float(one.known) for one in cases])
    weight = np.array([weight_of(one) for one in cases])
    kept = asdict(SilenceWeights()) if only else None
    odds, block = _weights(blocks, known, weight, folds, _PENALTY_BLOCK, kept, only)
    return line, block, odds


def weight_of(case: Case) -> float:
    """What its block counts in a fit."""
    return _WEIGHTS[case.kind] * _WEIGHTS_OF_BLOCKS.get(case.life.partition("-")[0], 1.0)


def _weights(
    measured: Sequence[Mapping[str, float]],
    wanted: Matrix,
    weight: Matrix,
    folds: NDArray[np.int_],
    penalty: float,
    kept: Mapping[str, float] | None,
    only: frozenset[str],
) -> tuple[Matrix, dict[str, float]]:
    """Log-odds of each row by a fit to the rows of other folds, and the weights by a fit to all rows."""
    names = [name for name in measured[0] if kept is None or name in only]
    table, base = np.array([[features[name] for name in names] for features in measured]), np.zeros(len(measured))
    if kept is not None:
        others = [name for name in measured[0] if name not in only]
        base += kept["bias"] + np.array([sum(kept[name] * features[name] for name in others) for features in measured])
    odds = np.zeros(len(table))
    for fold in np.unique(folds):
        held = folds == fold
        if not held.all():
            slopes, bias = _fit(table[~held], wanted[~held], weight[~held], penalty, base[~held], alone=kept is None)
            odds[held] = base[held] + table[held] @ slopes + bias
    return odds, _named(names, *_fit(table, wanted, weight, penalty, base, alone=kept is None))


def _fit(
    table: Matrix, wanted: Matrix, weight: Matrix, penalty: float, base: Matrix, *, alone: bool
) -> tuple[Matrix, float]:
    """Slopes and bias; where weights are kept, those of the other features, added to these log-odds, and no bias."""
    if alone:
        return fit(table, wanted, weight, penalty)
    slopes, weight = np.zeros(table.shape[1]), weight / weight.sum()
    for _ in range(_STEPS_ONLY):
        chance = 1.0 / (1.0 + np.exp(-(base + table @ slopes)))
        gain = table.T @ (weight * (wanted - chance)) - _PENALTY_ONLY * slopes
        curve = (table * (weight * chance * (1.0 - chance))[:, None]).T @ table
        slopes += np.linalg.solve(curve + _PENALTY_ONLY * np.eye(len(slopes)), gain)
    return slopes, 0.0


def _named(names: Sequence[str], slopes: Matrix, bias: float) -> dict[str, float]:
    return {"bias": round(bias, 2)} | {name: round(float(one), 2) for name, one in zip(names, slopes, strict=True)}


def _row(cases: Sequence[Case], odds: Matrix, threshold: float) -> dict[str, object]:
    chance = 1.0 / (1.0 + np.exp(-odds))
    told = {
        kind: np.array([chance[place] >= threshold for place, one in enumerate(cases) if one.kind == kind])
        for kind in _WEIGHTS
    }
    shares = {kind: float(found.mean()) if len(found) else None for kind, found in told.items()}
    known = shares["known"]
    return {
        "threshold": threshold,
        "silent": None if known is None else 1.0 - known,
        "told, never told": shares["never told"],
        "told, left out": shares["left out"],
    }


if __name__ == "__main__":
    sys.exit(main())
