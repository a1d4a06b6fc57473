"""Fit what reads questions for all things of a kind: `python -m benchmarks.fit_lists [--cache DIR] [--write]`.

"Which books have I read?" is answered by many messages, of which each resembles it little. Learns from
`benchmarks/lives/lists` (questions, messages that tell of one thing each, and such as only seem to):

    a map of the packaged embedder's query vectors, as `benchmarks.fit_queries` fits one, so that each question is
    nearer to its messages than to those of other kinds, to the near ones and to small talk; questions of lives by hand,
    split `dev`, with the messages that answer them take part
    a logistic regression on the query vectors that tells these questions, and those of lives about lists, from
    others of the lives, from requests that need a memory and from ordinary ones

Prints for the questions of each file, by a fit to the other files, how often a message of theirs is nearer than a near
one and than those of other kinds, without a map, with that of other queries and with this one; and which share of the
questions, and of others, the regression takes for a question for all things of a kind. `--write` replaces
`list_map.json` and `lists.json` in `biem/adapters/embedders`.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report, fit_queries
from benchmarks._adam import Adam, Matrix
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks.fit_confidence import fit as fit_logistic
from benchmarks.lives.facts import Life
from benchmarks.lives.listed import ASKED, LISTS, THINGS, Kind, kinds_in
from benchmarks.lives.needed import ORDINARY, REQUESTS, ordinary_in, told_in
from benchmarks.lives.scripted import scripted
from biem.adapters.embedders import directions, query_map
from biem.config import load_settings
from biem.ports import Embedder
from biem.ports.embedding import QueryMap

_STEPS, _RATE, _DECAY, _HIDDEN = 300, 2e-3, 0.02, 64
_KINDS, _QUESTIONS, _SMALL_TALK = 60, 200, 300
"""Kinds a step, questions of lives, and small talk to tell them from."""
_PENALTY, _SHIFT = 3e-2, 1.25
"""Of the squared slopes of the regression; taken from its log-odds."""
_OTHERS = 4_000
"""Questions of lives at most, which ask for one thing each."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The vectors of kinds: of n, questions (n, 2, dim) and messages (n, 7, dim), the near ones last."""

    queries: Matrix
    messages: Matrix


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_lists", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--write", action="store_true", help="replace what is packaged")
    options = parser.parse_args(arguments)
    lives = [one for lang in ("en", "zh", "mixed") for one in scripted(lang, "dev")]
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache, queries=True)) as embedder:
        model, plain = embedder.info.id, query_map.query_map(embedder.info.id)
        asked, talk = fit_queries.asked_in(lives, embedder), fit_queries.small_talk_of(lives, embedder)
        parts = [listed(list(kinds_in([file])), embedder) for file in LISTS]
        several, singles = (
            fit_queries.embedded(texts, "query", embedder) for texts in (_of_several(lives), _of_one(lives))
        )
    rows = []
    for place, file in enumerate(LISTS):
        rest = _joined(parts[:place] + parts[place + 1 :])
        turned, (slopes, bias) = fit(rest, asked, talk), direction(rest.queries, several, singles[1::2])
        said = [float((vectors @ slopes + bias > 0).mean()) for vectors in (_flat(parts[place].queries), singles[::2])]
        for name, mapped in (("none", None), ("of other queries", plain), ("of lists", turned)):
            near, others = _areas(parts[place], mapped)
            rows.append({"file": file.name, "map": name, "above near": near, "above others": others})
        rows.append({"file": file.name, "map": "regression", "found": said[0], "of others": said[1]})
    _report.print_table("Messages of a kind, by a fit to the other files", (*rows[0], "found", "of others"), rows)
    if options.write:
        every = _joined(parts)
        query_map.OF_LISTS.write_text(query_map.to_json(model, fit(every, asked, talk)), "utf-8")
        directions.LISTS.write_text(directions.to_json(model, *direction(every.queries, several, singles)), "utf-8")
    return 0


def listed(kinds: Sequence[Kind], embedder: Embedder) -> Listed:
    """The vectors of these kinds."""
    queries = fit_queries.embedded([text for one in kinds for text in one.asked], "query", embedder)
    messages = fit_queries.embedded([text for one in kinds for text in (*one.things, *one.near)], "passage", embedder)
    return Listed(queries.reshape(len(kinds), ASKED, -1), messages.reshape(len(kinds), -1, messages.shape[1]))


def fit(kinds: Listed, asked: fit_queries.Asked, small_talk: Matrix, seed: int = 0) -> query_map.ResidualMap:
    """The map, by Adam with decay of the weights, on batches of kinds and of questions of lives."""
    draw = np.random.default_rng(seed)
    at = fit_queries.started(asked.queries.shape[1], _HIDDEN, draw)
    adam = Adam(at, _RATE, [_DECAY] * len(at), _STEPS)
    for _ in range(_STEPS):
        others = small_talk[draw.choice(len(small_talk), min(_SMALL_TALK, len(small_talk)), replace=False)]
        chosen = draw.choice(len(kinds.queries), min(_KINDS, len(kinds.queries)), replace=False)
        own = _slopes_of_kinds(kinds.queries[chosen], kinds.messages[chosen], others, at, draw)
        more = fit_queries.slopes_of_lives(asked, _QUESTIONS, at, draw)
        adam.step([slope + other for slope, other in zip(own, more, strict=True)])
    return query_map.ResidualMap(*at)


def _slopes_of_kinds(
    queries: Matrix, messages: Matrix, others: Matrix, at: Sequence[Matrix], draw: np.random.Generator
) -> list[Matrix]:
    """The gradient for each question with each of its things, which is not told from the other three."""
    count, of_each = messages.shape[:2]
    asked = np.repeat(_flat(queries), THINGS, axis=0)
    kind, thing = np.repeat(np.arange(count), ASKED * THINGS), np.tile(np.arange(THINGS), count * ASKED)
    wanted, told = kind * of_each + thing, np.concatenate([_flat(messages), others])
    aside = np.zeros((len(asked), len(told)), dtype=bool)
    for number in range(THINGS):
        aside[np.arange(len(asked)), kind * of_each + number] = True
    aside[np.arange(len(asked)), wanted] = False
    return fit_queries.slopes(asked, told, wanted, at, draw, aside)


def direction(of_kinds: Matrix, of_lives: Matrix, singles: Matrix) -> tuple[NDArray[np.float64], float]:
    """Slopes and bias of the log-odds that a query asks for all things of a kind, unlike the last ones.

    Both count alike, but for a shift: about three of five such questions are above 0, and one in forty others.
    """
    several = np.concatenate([_flat(of_kinds), of_lives])
    sizes = np.array([len(several), len(singles)])
    weight = np.repeat(sizes.sum() / 2 / sizes, sizes)
    table = np.concatenate([several, singles]).astype(np.float64)
    slopes, bias = fit_logistic(table, np.repeat([1.0, 0.0], sizes), weight, _PENALTY)
    return slopes, bias - _SHIFT


def _of_several(lives: Sequence[Life]) -> list[str]:
    """The questions of lives about lists that ask for several things."""
    return [
        question.text
        for one in lives
        if one.id.startswith("lists-")
        for question in one.questions
        if len(question.groups) > 1
    ]


def _of_one(lives: Sequence[Life]) -> list[str]:
    """Queries that do not ask for all things of a kind, in an order drawn once."""
    of_lives = sorted(
        {
            question.text
            for one in lives
            for question in one.questions
            if len(question.groups) == 1 and question.place != "follow-up" and not one.id.startswith("times-")
        }
    )
    kept = [of_lives[place] for place in np.random.default_rng(0).permutation(len(of_lives))[:_OTHERS]]
    texts = [*kept, *(text for one in told_in(REQUESTS) for text in one.asked), *ordinary_in(ORDINARY)]
    return [texts[place] for place in np.random.default_rng(1).permutation(len(texts))]


def _areas(kinds: Listed, mapped: QueryMap | None) -> tuple[float, float]:
    """How often a thing is nearer to its question than a near message, and than a message of another kind."""
    queries = _flat(kinds.queries) if mapped is None else mapped(_flat(kinds.queries))
    near, others = [], []
    for place, query in enumerate(queries):
        likeness = kinds.messages @ query
        own = likeness[place // ASKED]
        near.append((own[:THINGS, None] > own[THINGS:]).mean())
        others.append((own[:THINGS, None] > np.delete(likeness, place // ASKED, axis=0).ravel()).mean())
    return float(np.mean(near)), float(np.mean(others))


def _joined(parts: Sequence[Listed]) -> Listed:
    queries, messages = zip(*((one.queries, one.messages) for one in parts), strict=True)
    return Listed(np.concatenate(queries), np.concatenate(messages))


def _flat(vectors: Matrix) -> Matrix:
    return vectors.reshape(-1, vectors.shape[-1])


if __name__ == "__main__":
    sys.exit(main())
