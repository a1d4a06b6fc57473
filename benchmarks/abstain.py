"""Does memory keep silent when it does not know? `python -m benchmarks.abstain --data FILE… [--json OUT]`.

Every question is asked twice: of the memory of its own conversation, and of that of another conversation of the same
file (each in turn). `injected`: share of the strangers' questions for which something would be put into the prompt.
`r10_lost`: what evidence R@10 falls on the right memory because it keeps silent there, too. The threshold is that of
`BIEM_CONTEXT__MIN_CONFIDENCE`; further rows show what others would do. With `--gate NAME` the exit code is 1 when a
file with NAME in its name injects more than 5 % or loses more than a point.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import biem
from benchmarks import _report
from benchmarks._data import data_name
from benchmarks._memories import Told, arguments, columns, load, mean, opened, recall_10
from biem.config import load_settings
from biem.errors import BiemError

_MOST_INJECTED = 0.05
_MOST_LOST = 0.01


@dataclass(frozen=True, slots=True)
class Reply:
    """What one memory said to one question; `own` where it should know."""

    conversation: str
    own: bool
    r10: float
    confidence: float
    grounds: Mapping[str, float]


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; 0: measured, and the gate holds."""
    parser = argparse.ArgumentParser("python -m benchmarks.abstain", description=__doc__)
    arguments(parser)
    parser.add_argument("--gate", metavar="NAME", help="fail when files with this in their names miss the aim")
    parser.add_argument("--thresholds", type=_numbers, default=(0.1, 0.2, 0.3, 0.5, 0.6), help="other thresholds")
    options = parser.parse_args(argv)
    rows: list[dict[str, object]] = []
    threshold = load_settings().context.min_confidence
    try:
        with opened(options) as memory:
            for file in options.data:
                given = list(replies(load(memory, file, options)))
                rows += [row(data_name(file), "biem", given, threshold)]
                rows += [row(data_name(file), f"biem ≥ {other:g}", given, other) for other in options.thresholds]
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("Silence", columns(rows), rows)
    if options.json:
        line = _report.command("benchmarks.abstain", sys.argv[1:] if argv is None else argv)
        _report.write_json(options.json, line, rows, embedder=options.embedder)
    return int(any(misses(row) for row in rows if options.gate and options.gate in str(row["data"])))


def misses(row: Mapping[str, object]) -> bool:
    """Whether the default threshold is not good enough for a file."""
    injected, lost = float(str(row["injected"])), float(str(row["r10_lost"]))
    return row["system"] == "biem" and (injected > _MOST_INJECTED or lost > _MOST_LOST)


def replies(told: Sequence[Told]) -> Iterator[Reply]:
    """Ask every question of its own memory and of another one, all others in turn."""
    number = 0
    with _report.progress() as bar:
        task = bar.add_task("ask", total=sum(len(one.conversation.questions) for one in told))
        for place, one in enumerate(told):
            for question in one.conversation.questions:
                hits = one.memory.recall(question.text, top_k=10, **one.options(question))
                yield _reply(one, hits, recall_10(hits, question), own=True)
                if len(told) > 1:
                    stranger = told[(place + 1 + number % (len(told) - 1)) % len(told)]
                    number += 1
                    yield _reply(one, stranger.memory.recall(question.text, top_k=10), 0.0, own=False)
                bar.advance(task)


def _reply(asked: Told, hits: "biem.Hits", r10: float, *, own: bool) -> Reply:
    return Reply(asked.conversation.id, own, r10, hits.confidence, hits.grounds)


def row(data: str, system: str, given: Sequence[Reply], threshold: float) -> dict[str, object]:
    """What a threshold does to these replies."""
    own = [reply for reply in given if reply.own]
    return {
        "data": data,
        "system": system,
        "n": len(own),
        "threshold": threshold,
        "injected": mean([float(reply.confidence >= threshold) for reply in given if not reply.own]),
        "r10": mean([reply.r10 for reply in own]),
        "r10_lost": mean([reply.r10 * (reply.confidence < threshold) for reply in own]),
    }


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(",") if part)


if __name__ == "__main__":
    sys.exit(main())
