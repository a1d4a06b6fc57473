"""Fit the odds that a message answers a question: `python -m benchmarks.fit_answers [--cache DIR] [--write]`.

Learns a bilinear form of the packaged embedder's vectors (`biem/adapters/embedders/answers.py`), by gradient descent on
the cross-entropy of

    messages with questions that they answer and questions that they only seem to answer (`benchmarks/lives/near`), and
    messages with requests and questions that need them (`benchmarks/lives/requests`), each with one of the three most
    alike of four hundred others, which does not answer it.

Prints, for the held-out files of the first kind, how often an answered question is rated above one that is not: by the
likeness of the query, by that of the mapped query, and by the form; of all questions, of the plain ones and of those in
other words. `--write` replaces `answers.json` in `biem/adapters/embedders`.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report, fit_queries
from benchmarks._adam import Adam, Matrix
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks.lives.near_questions import DEV, HELD_OUT, Message, messages_in
from benchmarks.lives.needed import REQUESTS, told_in
from biem.adapters.embedders import answers
from biem.adapters.embedders.query_map import query_map
from biem.config import load_settings
from biem.errors import ConfigError
from biem.ports import Embedder
from biem.ports.embedding import QueryMap

_RANK, _SPREAD, _SLOPE, _BIAS = 64, 3.0, 10.0, -4.0
_STEPS, _RATE, _DECAY, _DROPPED = 200, 3e-3, 0.05, 0.2
_MESSAGES, _REQUESTS, _OTHERS, _ALIKE = 60, 200, 400, 3
"""Messages and requests a step; of each request, how many others are compared, and of these the most alike."""
_WEIGHT_OF_REQUESTS = 0.25
_KINDS = (("all", (0, 1)), ("plain", (0,)), ("in other words", (1,)))


@dataclass(frozen=True, slots=True)
class Asked:
    """Queries, each with the row of the message it is asked of."""

    queries: Matrix
    turned: Matrix
    """The queries, mapped."""
    messages: Matrix
    rows: NDArray[np.int64]
    answered: NDArray[np.float32]
    """1 where the message answers."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_answers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--write", action="store_true", help="replace the packaged form")
    options = parser.parse_args(arguments)
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache, queries=True)) as embedder:
        turned = query_map(embedder.info.id)
        if turned is None:
            raise ConfigError(f"{embedder.info.id} has no map of queries; run python -m benchmarks.fit_queries --write")
        near = asked_of(messages_in(DEV), turned, embedder)
        needed = needed_by(fit_queries.needed_by(told_in(REQUESTS), embedder), turned)
        fitted = fit(near, needed)
        rows = [row for file in HELD_OUT for row in _rows(file, turned, fitted, embedder)]
    _report.print_table("Answered questions above near ones, held out", tuple(rows[0]), rows)
    print(f"fitted to {len(near.messages)} messages with near questions, {len(needed.queries)} requests and questions")
    if options.write:
        answers.PACKAGED.write_text(answers.to_json(embedder.info.id, fitted), "utf-8")
    return 0


def asked_of(messages: Iterable[Message], turned: QueryMap, embedder: Embedder) -> Asked:
    """The questions of these messages, those that are answered first, message by message."""
    told = list(messages)
    queries = fit_queries.embedded([text for one in told for text in (*one.answered, *one.near)], "query", embedder)
    answered = np.array([flag for one in told for flag in [1.0] * len(one.answered) + [0.0] * len(one.near)])
    rows = np.array([row for row, one in enumerate(told) for _ in (*one.answered, *one.near)])
    messages_of = fit_queries.embedded([one.text for one in told], "passage", embedder)
    return Asked(queries, turned(queries), messages_of, rows, answered.astype(np.float32))


def needed_by(needed: fit_queries.Needed, turned: QueryMap) -> Asked:
    """These requests and questions, all answered by the messages that they need."""
    every = np.ones(len(needed.queries), np.float32)
    return Asked(needed.queries, turned(needed.queries), needed.messages, needed.needs, every)


def fit(near: Asked, needed: Asked, seed: int = 0) -> answers.BilinearOdds:
    """The form, by Adam with decay of the two matrices."""
    draw = np.random.default_rng(seed)
    dim = near.queries.shape[1]
    at = [
        (draw.standard_normal((dim, _RANK)) * _SPREAD / np.sqrt(dim)).astype(np.float32),
        np.zeros((_RANK, dim), np.float32),
        np.array([_SLOPE, _BIAS], np.float32),
    ]
    adam = Adam(at, _RATE, (_DECAY, _DECAY, 0.0), _STEPS)
    of_message = [np.flatnonzero(near.rows == row) for row in range(len(near.messages))]
    for _ in range(_STEPS):
        chosen = draw.choice(len(of_message), min(_MESSAGES, len(of_message)), replace=False)
        batch = np.concatenate([of_message[one] for one in chosen])
        slopes = _slopes(
            near.queries[batch], near.turned[batch], near.messages[near.rows[batch]], near.answered[batch], at, draw
        )
        batch = draw.choice(len(needed.rows), min(_REQUESTS, len(needed.rows)), replace=False)
        messages = np.concatenate([needed.messages[needed.rows[batch]], needed.messages[_others(needed, batch, draw)]])
        queries, mapped = (np.concatenate([rows[batch]] * 2) for rows in (needed.queries, needed.turned))
        answered = np.repeat(np.array([1.0, 0.0], np.float32), len(batch))
        more = _slopes(queries, mapped, messages, answered, at, draw)
        adam.step([own + 2.0 * _WEIGHT_OF_REQUESTS * other for own, other in zip(slopes, more, strict=True)])
    down, up, (slope, bias) = at
    return answers.BilinearOdds(down, up, float(slope), float(bias))


def _others(needed: Asked, batch: NDArray[np.int64], draw: np.random.Generator) -> NDArray[np.int64]:
    """For each query of the batch another message, one of those most alike of a few hundred."""
    drawn = draw.choice(len(needed.messages), min(_OTHERS, len(needed.messages)), replace=False)
    alike = needed.turned[batch] @ needed.messages[drawn].T
    alike[needed.rows[batch][:, None] == drawn] = -np.inf
    best = np.argpartition(-alike, _ALIKE, axis=1)[:, :_ALIKE]
    return np.asarray(drawn[best[np.arange(len(batch)), draw.integers(0, _ALIKE, len(batch))]])


def _slopes(
    queries: Matrix,
    turned: Matrix,
    messages: Matrix,
    answered: NDArray[np.float32],
    at: Sequence[Matrix],
    draw: np.random.Generator,
) -> list[Matrix]:
    """The gradient by the weights of the mean cross-entropy, with dropout."""
    down, up, (slope, bias) = at
    inner = queries @ down
    kept = ((draw.random(inner.shape) >= _DROPPED) / (1.0 - _DROPPED)).astype(np.float32)
    alike = np.einsum("ij,ij->i", turned, messages)
    odds = slope * alike + bias + np.einsum("ij,ij->i", (inner * kept) @ up, messages)
    error = ((1.0 / (1.0 + np.exp(-odds)) - answered) / len(odds)).astype(np.float32)
    pull = error[:, None] * messages
    numbers = np.array([error @ alike, error.sum()], np.float32)
    return [queries.T @ ((pull @ up.T) * kept), (inner * kept).T @ pull, numbers]


def _rows(
    file: Path, turned: QueryMap, fitted: answers.BilinearOdds, embedder: Embedder
) -> Iterator[dict[str, object]]:
    told = list(messages_in([file]))
    asked = asked_of(told, turned, embedder)
    own = asked.messages[asked.rows]
    each_asked = zip(asked.queries, asked.turned, own, strict=True)
    by_form = [float(fitted(query, mapped, row[None])[0]) for query, mapped, row in each_asked]
    rated = {
        "likeness": np.einsum("ij,ij->i", asked.queries, own),
        "likeness, mapped": np.einsum("ij,ij->i", asked.turned, own),
        "form": np.array(by_form),
    }
    each = len(told[0].answered) + len(told[0].near)
    place = np.arange(len(own)) % each
    for by, odds in rated.items():
        near = odds[asked.answered == 0]
        areas = {
            what: float((odds[np.isin(place, places)][:, None] > near).mean()) for what, places in _KINDS
        }  # share of pairs in the right order
        yield {"file": file.name, "n": len(told), "by": by, **areas}


if __name__ == "__main__":
    sys.exit(main())
