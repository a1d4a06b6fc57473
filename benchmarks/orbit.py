"""Follow-up questions from prefetched candidates: `python -m benchmarks.orbit --data FILE… [--json OUT]`.

A pair is two questions of one conversation: the first is answered and opens the session, the second is asked within the
session and, for comparison, without one. A follow-up has its evidence in sessions of the first one's evidence; about
30 % of the pairs are unrelated instead, as topics change. Questions about a moment of the past are left out: they are
filters, which are always searched.

`local_share`: follow-ups answered without a search. `lost`: what R@10 falls over all pairs, unrelated ones too.
`latency_ratio`: the median time of the questions answered so over that of the same questions searched for;
`…_embed`: the same with the median time of embedding a question added to both. `searched_ratio`: what it costs the
others to have looked there first.
"""

import argparse
import sys
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median

import biem
from benchmarks import _report
from benchmarks._data import Question, data_name
from benchmarks._embedders import choose_embedder
from benchmarks._memories import Told, arguments, columns, load, mean, opened, recall_10
from biem.config import load_settings
from biem.domain.node import Hits
from biem.errors import BiemError
from biem.telemetry import Span

_UNRELATED = 0.43
"""For each follow-up: 30 % of all."""
_GATHERED_S = 10.0


@dataclass(frozen=True, slots=True)
class Pair:
    """Two questions of one conversation, one after the other."""

    told: Told
    first: Question
    second: Question
    follows: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the second question of a pair; times in milliseconds, without embedding."""

    pair: Pair
    local: bool
    r10_orbit: float
    r10_full: float
    orbit_ms: float
    full_ms: float
    grounds: Mapping[str, float]


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.orbit", description=__doc__)
    arguments(parser)
    parser.add_argument("--pairs", type=int, default=300, metavar="N", help="at most so many of each file")
    options = parser.parse_args(argv)
    rows: list[dict[str, object]] = []
    try:
        embed_ms = embedding_ms(options)
        with opened(options) as memory:
            for file in options.data:
                chosen = pairs(load(memory, file, options), options.pairs)
                if chosen:
                    rows.append(row(data_name(file), ask(memory, chosen), embed_ms))
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("Local orbit", columns(rows), rows)
    if options.json:
        line = _report.command("benchmarks.orbit", sys.argv[1:] if argv is None else argv)
        _report.write_json(options.json, line, rows, embedder=options.embedder, embed_ms=embed_ms)
    return 0


def embedding_ms(options: argparse.Namespace) -> float:
    """The median time of embedding a question."""
    embedder = choose_embedder(options.embedder, load_settings())
    times = []
    for number in range(20):
        began = time.perf_counter()
        embedder.embed([f"What did we say about plan number {number} last week?"], "query")
        times.append((time.perf_counter() - began) * 1_000)
    embedder.close()
    return median(times)


def pairs(told: Sequence[Told], most: int) -> list[Pair]:
    """Follow-ups and unrelated questions, the same in every run; at most `most`."""
    random = Random(3)
    found: list[Pair] = []
    for one in told:
        timeless = [question for question in one.conversation.questions if not one.options(question)]
        for first in timeless:
            others = [question for question in timeless if question is not first and question.sessions]
            related = [question for question in others if question.sessions <= first.sessions]
            if related:
                found.append(Pair(one, first, random.choice(related), follows=True))
            unrelated = [question for question in others if not question.sessions & first.sessions]
            if related and unrelated and random.random() < _UNRELATED:
                found.append(Pair(one, first, random.choice(unrelated), follows=False))
    return random.sample(found, min(most, len(found)))


def ask(memory: biem.Memory, chosen: Sequence[Pair]) -> list[Outcome]:
    """Ask all pairs, the second question first with or first without its session, in turns."""
    gathered = threading.Semaphore(0)

    def hear(span: Span) -> None:
        if span.name == "biem.recall.gather":
            gathered.release()

    memory.telemetry.attach(hear)
    outcomes = []
    with _report.progress() as bar:
        task = bar.add_task("ask", total=len(chosen))
        for number, pair in enumerate(chosen):
            session, recall = uuid.uuid4().hex, pair.told.memory.recall
            recall(pair.second.text, top_k=10)  # embeds the question: its time is reported separately
            if recall(pair.first.text, top_k=10, session=session):
                gathered.acquire(timeout=_GATHERED_S)
            names = [session, ""] if number % 2 else ["", session]
            timed: dict[str, tuple[Hits, float]] = {}
            for name in names:
                began = time.perf_counter()
                hits = recall(pair.second.text, top_k=10, session=name)
                timed[name] = hits, (time.perf_counter() - began) * 1_000
                if name and hits.way == "search":
                    gathered.acquire(timeout=_GATHERED_S)  # work behind an answer must not slow the next
            (orbit, orbit_ms), (full, full_ms) = timed[session], timed[""]
            outcomes.append(
                Outcome(
                    pair,
                    orbit.way == "orbit",
                    recall_10(orbit, pair.second),
                    recall_10(full, pair.second),
                    orbit_ms,
                    full_ms,
                    orbit.grounds,
                )
            )
            bar.advance(task)
    memory.telemetry.detach(hear)
    return outcomes


def row(data: str, outcomes: Sequence[Outcome], embed_ms: float) -> dict[str, object]:
    """The averages of one file."""
    follow = [one for one in outcomes if one.pair.follows]
    others = [one for one in outcomes if not one.pair.follows]
    local = [one for one in outcomes if one.local]
    other = [one for one in outcomes if not one.local]
    near, far = (median([one.orbit_ms for one in local]), median([one.full_ms for one in local])) if local else (0, 1)
    full, orbit = mean([one.r10_full for one in outcomes]), mean([one.r10_orbit for one in outcomes])
    return {
        "data": data,
        "n": len(outcomes),
        "followups": len(follow),
        "local_share": mean([float(one.local) for one in follow]),
        "local_unrelated": mean([float(one.local) for one in others]),
        "r10_full": full,
        "r10_orbit": orbit,
        "lost": full - orbit,
        "lost_followups": mean([one.r10_full - one.r10_orbit for one in follow]),
        "orbit_ms": near,
        "full_ms": far,
        "latency_ratio": near / far,
        "latency_ratio_embed": (near + embed_ms) / (far + embed_ms),
        "searched_ratio": median([one.orbit_ms for one in other]) / median([one.full_ms for one in other])
        if other
        else 1.0,
    }


if __name__ == "__main__":
    sys.exit(main())
