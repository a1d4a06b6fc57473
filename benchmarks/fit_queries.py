"""Fit the map that turns queries towards the messages they need: `python -m benchmarks.fit_queries [--write]`.

Learns from the questions of the lives by hand, split `dev`, with the messages that answer them, and from requests that
need a message without asking for it (`benchmarks/lives/requests`, a line each: what was told, and requests and
questions that need it). A map of the packaged embedder's query vectors is fitted by gradient descent so that each is
nearer to its message than to others: those of the other questions, of the same life, and small talk (softmax of
cosines · 20). A logistic regression on the query vectors tells these requests and questions from ordinary ones, with
which nothing helps that a user told (`benchmarks/lives/ordinary`).

Prints for questions and requests of lives by hand, `dev` and `held-out`, which share has its message among the nearest
1, 3 and 10 of its life, without the map and with it; and how often the regression places a message of the requests'
lives that needs a memory above one that needs none. `--write` replaces `query_map.json` and `personal.json` in
`biem/adapters/embedders`.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._adam import Adam
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks.fit_confidence import fit as fit_logistic
from benchmarks.lives.facts import Life
from benchmarks.lives.needed import ORDINARY, REQUESTS, Told, ordinary_in, told_in
from benchmarks.lives.scripted import scripted
from biem.adapters.embedders import directions, query_map
from biem.config import load_settings
from biem.ports import Embedder

Matrix = NDArray[np.float32]

_LANGUAGES = ("en", "zh", "mixed")
_OF_REQUESTS = "req"
"""How the names of lives begin that end in requests."""
_HIDDEN, _SPREAD = 128, 3.0
_STEPS, _RATE, _DECAY, _DROPPED, _SCALE = 400, 2e-3, 0.02, 0.1, 20.0
_BATCH, _OF_LIFE, _OTHERS, _SMALL_TALK = 400, 6, 300, 500
"""Queries a step; of each its life's messages, of all requests' messages, and small talk, to tell it from."""
_MOST_SMALL_TALK = 2_500
_DEPTHS = (1, 3, 10)
_PENALTY = 1e-1
"""Of the squared slopes of the regression."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Queries of lives: each with the rows of the messages that answer it, and of its life."""

    queries: Matrix
    messages: Matrix
    answers: Sequence[Sequence[int]]
    lives: Sequence[tuple[str, int, int]]
    """The name of each query's life, its first row and the one after its last."""


@dataclass(frozen=True, slots=True)
class Needed:
    """Requests, each with the row of the message that it needs."""

    queries: Matrix
    messages: Matrix
    needs: NDArray[np.int64]


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_queries", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--write", action="store_true", help="replace the packaged map")
    options = parser.parse_args(arguments)
    lives = [one for lang in _LANGUAGES for one in scripted(lang, "dev")]
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache, queries=True)) as embedder:
        learnt, requests = asked_in(lives, embedder), needed_by(told_in(REQUESTS), embedder)
        slopes, bias = direction(requests, embedded(ordinary_in(ORDINARY), "query", embedder))
        talk = small_talk_of(lives, embedder)
        fitted = fit(learnt, requests, talk)
        held_out = [one for lang in _LANGUAGES for one in scripted(lang, "held-out")]
        held = asked_in(held_out, embedder)
        told_apart = [
            {"split": split, "n": n, "area": area}
            for split, some in (("dev", lives), ("held-out", held_out))
            for n, area in [_told_apart(some, slopes, bias, embedder)]
        ]
    rows = [*_rows("dev", learnt, fitted), *_rows("held-out", held, fitted)]
    _report.print_table("Message among the nearest of its life", tuple(rows[0]), rows)
    _report.print_table("Messages that need a memory above others", tuple(told_apart[0]), told_apart)
    print(f"{len(learnt.queries)} questions, {len(requests.queries)} requests, {len(talk)} lines of small talk")
    if options.write:
        query_map.PACKAGED.write_text(query_map.to_json(embedder.info.id, fitted), "utf-8")
        directions.PERSONAL.write_text(directions.to_json(embedder.info.id, slopes, bias), "utf-8")
    return 0


def asked_in(lives: Sequence[Life], embedder: Embedder) -> Asked:
    """The questions about the present of these lives, and all their messages."""
    texts, asked, answers, of = list[str](), list[str](), list[list[int]](), list[tuple[str, int, int]]()
    for one in lives:
        rows = {turn.id: len(texts) + place for place, turn in enumerate(one.turns)}
        here = (one.id, len(texts), len(texts) + len(one.turns))
        texts += [turn.text for turn in one.turns]
        for question in one.questions:
            found = sorted(rows[name] for name in question.answers if name in rows)
            if found and question.category == "now":
                asked.append(question.text)
                answers.append(found)
                of.append(here)
    return Asked(embedded(asked, "query", embedder), embedded(texts, "passage", embedder), answers, of)


def needed_by(needed: Iterable[Told], embedder: Embedder) -> Needed:
    """The requests and questions of these messages."""
    told, asked, needs = list[str](), list[str](), list[int]()
    for one in needed:
        asked += one.asked
        needs += [len(told)] * len(one.asked)
        told.append(one.text)
    return Needed(embedded(asked, "query", embedder), embedded(told, "passage", embedder), np.array(needs))


def small_talk_of(lives: Sequence[Life], embedder: Embedder) -> Matrix:
    """The vectors of at most 2,500 messages of users of these lives that no question needs."""
    small = sorted({turn.text for one in lives for turn in one.turns if turn.role == "user" and not turn.key})
    drawn = np.random.default_rng(0).permutation(len(small))[:_MOST_SMALL_TALK]
    return embedded([small[place] for place in drawn], "passage", embedder)


def embedded(texts: Sequence[str], role: str, embedder: Embedder) -> Matrix:
    """The vectors of these texts; `role`: query or passage."""
    return np.asarray(embedder.embed(texts, role), dtype=np.float32)  # type: ignore[arg-type]


def fit(asked: Asked, needed: Needed, small_talk: Matrix, seed: int = 0) -> query_map.ResidualMap:
    """The map, by Adam with decay of the weights, on batches of questions and of requests."""
    draw = np.random.default_rng(seed)
    at = started(asked.queries.shape[1], _HIDDEN, draw)
    adam = Adam(at, _RATE, [_DECAY] * len(at), _STEPS)
    for _ in range(_STEPS):
        own = slopes_of_lives(asked, _BATCH, at, draw)
        batch = draw.choice(len(needed.needs), min(_BATCH, len(needed.needs)), replace=False)
        rows = np.unique(np.concatenate([needed.needs[batch], draw.choice(len(needed.messages), _OTHERS)]))
        others = small_talk[draw.choice(len(small_talk), min(_SMALL_TALK, len(small_talk)), replace=False)]
        messages = np.concatenate([needed.messages[rows], others])
        wanted = np.searchsorted(rows, needed.needs[batch])
        more = slopes(needed.queries[batch], messages, wanted, at, draw)
        adam.step([slope + other for slope, other in zip(own, more, strict=True)])
    return query_map.ResidualMap(*at)


def started(dim: int, hidden: int, draw: np.random.Generator) -> list[Matrix]:
    """The weights of a map that changes nothing yet."""
    down = (draw.standard_normal((dim, hidden)) * _SPREAD / np.sqrt(dim)).astype(np.float32)
    return [down, np.zeros(hidden, np.float32), np.zeros((hidden, dim), np.float32)]


def slopes_of_lives(asked: Asked, size: int, at: Sequence[Matrix], draw: np.random.Generator) -> list[Matrix]:
    """The gradient for `size` questions, each to be told from messages of its life and the other questions' answers."""
    newest = np.array([rows[-1] for rows in asked.answers])
    first, end = (np.array([one[place] for one in asked.lives]) for place in (1, 2))
    batch = draw.choice(len(newest), min(size, len(newest)), replace=False)
    of_life = first[batch, None] + (draw.random((len(batch), _OF_LIFE)) * (end - first)[batch, None]).astype(int)
    rows = np.unique(np.concatenate([newest[batch], of_life.ravel()]))
    return slopes(asked.queries[batch], asked.messages[rows], np.searchsorted(rows, newest[batch]), at, draw)


def slopes(
    queries: Matrix,
    messages: Matrix,
    wanted: NDArray[np.int64],
    at: Sequence[Matrix],
    draw: np.random.Generator,
    aside: NDArray[np.bool_] | None = None,
) -> list[Matrix]:
    """The gradient by the weights of the mean cross-entropy of choosing each query's message, with dropout.

    `aside`: the messages that a query need not be told from, (queries, messages).
    """
    down, bias, up = at
    bent = np.tanh(queries @ down + bias)
    kept = ((draw.random(bent.shape) >= _DROPPED) / (1.0 - _DROPPED)).astype(np.float32)
    turned = queries + (bent * kept) @ up
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    unit = turned / length
    scores = _SCALE * (unit @ messages.T)
    if aside is not None:
        scores[aside] = -np.inf
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    chance[np.arange(len(queries)), wanted] -= 1.0
    pull = _SCALE * (chance @ messages) / len(queries)
    pull = (pull - (pull * unit).sum(axis=1, keepdims=True) * unit) / length
    back = (pull @ up.T) * kept * (1.0 - bent * bent)
    return [queries.T @ back, back.sum(axis=0), (bent * kept).T @ pull]


def direction(needed: Needed, ordinary: Matrix) -> tuple[NDArray[np.float64], float]:
    """Slopes and bias of the log-odds that a query needs a message; both kinds of queries count alike."""
    table = np.concatenate([needed.queries, ordinary]).astype(np.float64)
    sizes = np.array([len(needed.queries), len(ordinary)])
    weight = np.repeat(len(table) / 2 / sizes, sizes)
    return fit_logistic(table, np.repeat([1.0, 0.0], sizes), weight, _PENALTY)


def _told_apart(
    lives: Sequence[Life], slopes: NDArray[np.float64], bias: float, embedder: Embedder
) -> tuple[int, float]:
    """Messages of the requests' lives, and the share of pairs in which the one that needs a memory is rated higher."""
    asked = [one for life in lives if life.id.startswith(_OF_REQUESTS) for one in life.questions]
    odds = embedded([one.text for one in asked], "query", embedder) @ slopes + bias
    needs = np.array([bool(one.groups) for one in asked])
    return len(asked), float((odds[needs][:, None] > odds[~needs]).mean())


def _rows(split: str, asked: Asked, fitted: query_map.ResidualMap) -> Iterator[dict[str, object]]:
    for what, requests in (("questions", False), ("requests", True)):
        chosen = [place for place, (name, _, _) in enumerate(asked.lives) if name.startswith(_OF_REQUESTS) == requests]
        for with_map, queries in (("no", asked.queries), ("yes", fitted(asked.queries))):
            places = [_place(queries[one], asked, one) for one in chosen]
            found = {f"nearest {depth}": float(np.mean([one < depth for one in places])) for depth in _DEPTHS}
            yield {"split": split, "what": what, "n": len(chosen), "map": with_map, **found}


def _place(query: Matrix, asked: Asked, number: int) -> int:
    """How many messages of the life are nearer than the nearest that answers."""
    _, first, end = asked.lives[number]
    likeness = asked.messages[first:end] @ query
    return int((likeness > max(likeness[row - first] for row in asked.answers[number])).sum())


if __name__ == "__main__":
    sys.exit(main())
