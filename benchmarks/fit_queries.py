"""Fit the map that turns queries towards the messages they need: `python -m benchmarks.fit_queries [--write]`.

Learns from the questions of the lives by hand, split `dev`, with the messages that answer them, and from requests that
need a message without asking for it (`benchmarks/lives/requests`, a line each: what was told, and requests that need
it). A map of the packaged embedder's query vectors is fitted by gradient descent so that each is nearer to its message
than to others: those of the other questions, of the same life, and small talk (softmax of cosines · 20); what the map
adds to a vector is kept small, and cut to 32 dimensions.

Prints for questions and requests of lives by hand, `dev` and `held-out`, which share has its message among the nearest
1, 3 and 10 of its life, without the map and with it. `--write` replaces `biem/adapters/embedders/query_map.json`.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks.lives.facts import Life
from benchmarks.lives.scripted import scripted
from biem.adapters.embedders import query_map
from biem.config import load_settings
from biem.ports import Embedder

Matrix = NDArray[np.float32]

REQUESTS = sorted((Path(__file__).parent / "lives" / "requests").glob("*.txt"))
_LANGUAGES = ("en", "zh", "mixed")
_OF_REQUESTS = "req"
"""How the names of lives begin that end in requests."""
_RANK = 32
_STEPS, _RATE, _SCALE, _PENALTY = 200, 2e-3, 20.0, 0.1
_BATCH, _OF_LIFE, _OTHERS, _SMALL_TALK = 700, 6, 400, 700
"""Queries a step; of each its life's messages, of all requests' messages, and small talk, to tell it from."""
_MOST_SMALL_TALK = 2_500
_DEPTHS = (1, 3, 10)


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
        learnt, requests = asked_in(lives, embedder), needed_by(REQUESTS, embedder)
        talk = small_talk_of(lives, embedder)
        fitted = cut(fit(learnt, requests, talk))
        held = asked_in([one for lang in _LANGUAGES for one in scripted(lang, "held-out")], embedder)
    rows = [*_rows("dev", learnt, fitted), *_rows("held-out", held, fitted)]
    _report.print_table("Message among the nearest of its life", tuple(rows[0]), rows)
    print(f"{len(learnt.queries)} questions, {len(requests.queries)} requests, {len(talk)} lines of small talk")
    if options.write:
        query_map.PACKAGED.write_text(query_map.to_json(embedder.info.id, fitted), "utf-8")
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
    return Asked(_embedded(asked, "query", embedder), _embedded(texts, "passage", embedder), answers, of)


def needed_by(files: Sequence[Path], embedder: Embedder) -> Needed:
    """The requests of these files. Raises ValueError for a line without a request."""
    told, asked, needs = list[str](), list[str](), list[int]()
    for text, requests in _lines(files):
        asked += requests
        needs += [len(told)] * len(requests)
        told.append(text)
    return Needed(_embedded(asked, "query", embedder), _embedded(told, "passage", embedder), np.array(needs))


def small_talk_of(lives: Sequence[Life], embedder: Embedder) -> Matrix:
    """The vectors of at most 2,500 messages of users of these lives that no question needs."""
    small = sorted({turn.text for one in lives for turn in one.turns if turn.role == "user" and not turn.key})
    drawn = np.random.default_rng(0).permutation(len(small))[:_MOST_SMALL_TALK]
    return _embedded([small[place] for place in drawn], "passage", embedder)


def _lines(files: Sequence[Path]) -> Iterator[tuple[str, list[str]]]:
    for file in files:
        for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1):
            told, *requests = line.split("\t")
            if not requests:
                raise ValueError(f"{file.name}:{number}: no request after a tab")
            yield told, requests


def _embedded(texts: Sequence[str], role: str, embedder: Embedder) -> Matrix:
    return np.asarray(embedder.embed(texts, role), dtype=np.float32)  # type: ignore[arg-type]


def fit(asked: Asked, needed: Needed, small_talk: Matrix, seed: int = 0) -> Matrix:
    """The whole map, (dim, dim): Adam on batches of questions and of requests."""
    draw = np.random.default_rng(seed)
    same = np.eye(asked.queries.shape[1], dtype=np.float32)
    whole, mean, square = same.copy(), np.zeros_like(same), np.zeros_like(same)
    newest = np.array([rows[-1] for rows in asked.answers])
    first, end = (np.array([one[place] for one in asked.lives]) for place in (1, 2))
    for step in range(1, _STEPS + 1):
        batch = draw.choice(len(newest), min(_BATCH, len(newest)), replace=False)
        of_life = first[batch, None] + (draw.random((len(batch), _OF_LIFE)) * (end - first)[batch, None]).astype(int)
        rows = np.unique(np.concatenate([newest[batch], of_life.ravel()]))
        slope = _PENALTY * (whole - same)
        slope += _slope(asked.queries[batch], asked.messages[rows], np.searchsorted(rows, newest[batch]), whole)
        batch = draw.choice(len(needed.needs), min(_BATCH, len(needed.needs)), replace=False)
        rows = np.unique(np.concatenate([needed.needs[batch], draw.choice(len(needed.messages), _OTHERS)]))
        others = small_talk[draw.choice(len(small_talk), min(_SMALL_TALK, len(small_talk)), replace=False)]
        messages = np.concatenate([needed.messages[rows], others])
        slope += _slope(needed.queries[batch], messages, np.searchsorted(rows, needed.needs[batch]), whole)
        mean, square = 0.9 * mean + 0.1 * slope, 0.999 * square + 0.001 * slope * slope
        rate = _RATE * (1.0 - 0.9 * step / _STEPS) / (1.0 - 0.9**step)
        whole -= rate * mean / (np.sqrt(square / (1.0 - 0.999**step)) + 1e-8)
    return whole


def _slope(queries: Matrix, messages: Matrix, wanted: NDArray[np.int64], whole: Matrix) -> Matrix:
    """The gradient by the map of the mean cross-entropy of choosing each query's message."""
    turned = queries @ whole
    length = np.linalg.norm(turned, axis=1, keepdims=True)
    unit = turned / length
    scores = _SCALE * (unit @ messages.T)
    chance = np.exp(scores - scores.max(axis=1, keepdims=True))
    chance /= chance.sum(axis=1, keepdims=True)
    chance[np.arange(len(queries)), wanted] -= 1.0
    pull = _SCALE * (chance @ messages) / len(queries)
    pull = (pull - (pull * unit).sum(axis=1, keepdims=True) * unit) / length
    return np.asarray(queries.T @ pull, dtype=np.float32)


def cut(whole: Matrix) -> query_map.LowRankMap:
    """What the map adds, in its 32 main dimensions."""
    left, weights, right = np.linalg.svd(whole - np.eye(len(whole), dtype=np.float32))
    return query_map.LowRankMap(left[:, :_RANK] * weights[:_RANK], right[:_RANK])


def _rows(split: str, asked: Asked, fitted: query_map.LowRankMap) -> Iterator[dict[str, object]]:
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
