"""Does memory keep silent when it does not know? `python -m benchmarks.abstain --data FILE… [--json OUT]`.

Every question is asked twice: of the memory of its own conversation, and of that of another conversation of the same
file (each in turn). `injected`: share of the strangers' questions for which something would be put into the prompt.
`r10_lost`: what evidence R@10 falls on the right memory because it keeps silent there, too. The threshold is that of
`BIEM_CONTEXT__MIN_CONFIDENCE`; further rows show what others would do. `reachable`: what would be injected with the
threshold that suits this very file best, the highest that loses at most a point: below that, the grounds of confidence
cannot tell the two apart. `lost_at_5`: what the threshold loses that injects at most 5 % there: the price of strict
silence. `auc`: how often an answer with evidence of the right memory is surer than a stranger's. With `--gate NAME` the
exit code is 1 when a file with NAME in its name injects more than 5 % or loses more than a point.

The same generic question has an answer in every memory, so a stranger's question is not yet one of which nothing
is known. `nothing`: strangers' questions to a memory that holds nothing relevant, decided by the words in which each
question meets its own evidence (`benchmarks._foreign`); `injected_nothing`, `reachable_nothing`: the same two shares
among these.

With `--show N`, N of each file's strangers' questions for which something would be told are printed with what would be,
for a person to read: drawn from those asked, the same in every run.

With `--small N`, N questions of each file are asked of small memories, too: the question's evidence and up to eight
other turns of its conversation, asked by its own and by a stranger's question.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

import biem
from benchmarks import _report
from benchmarks._data import Question, data_name
from benchmarks._foreign import Foreign
from benchmarks._memories import Told, arguments, columns, drawn, load, mean, opened, recall_10
from benchmarks._systems import item_of, settle
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.config import load_settings
from biem.domain.policies.context import ContextPolicy
from biem.engine.context.picking import LOOKED_AT, Picker
from biem.errors import BiemError

_MOST_INJECTED = 0.05
_MOST_LOST = 0.01
_FEW = (0, 1, 3, 8)
"""Turns of a small memory in addition to the evidence."""
_EVIDENCE = 3
_NAME_CHARS = 256
_SHOWN = 11
"""The seed of the sample that is printed."""
_TOLD = 5
_PICKER = Picker(contradiction.build(), RuleAnalyzer(), ContextPolicy())
_OF_NOTHING = ("nothing", "injected_nothing", "reachable_nothing")


@dataclass(frozen=True, slots=True)
class Reply:
    """What one memory said to one question; `own` where it should know."""

    conversation: str
    own: bool
    r10: float
    confidence: float
    grounds: Mapping[str, float]
    question: str = ""
    told: tuple[str, ...] = ()
    """The best five, each with who said it."""
    nothing: bool = False
    """A stranger's question, and the memory asked holds nothing relevant."""


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; 0: measured, and the gate holds."""
    parser = argparse.ArgumentParser("python -m benchmarks.abstain", description=__doc__)
    arguments(parser)
    parser.add_argument("--gate", metavar="NAME", help="fail when files with this in their names miss the aim")
    parser.add_argument("--thresholds", type=_numbers, default=(0.1, 0.2, 0.3, 0.5, 0.6), help="other thresholds")
    parser.add_argument("--questions", type=int, default=0, metavar="N", help="at most so many of each file, drawn")
    parser.add_argument(
        "--small", type=int, default=0, metavar="N", help="ask so many small memories of each file, too"
    )
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print so many injections of each file")
    options = parser.parse_args(argv)
    rows: list[dict[str, object]] = []
    threshold = load_settings().context.min_confidence
    try:
        with opened(options) as memory:
            for file in options.data:
                told = load(memory, file, options)
                given = list(replies(told, options.questions))
                show(given, threshold, options.show)
                rows += [row(data_name(file), "biem", given, threshold)]
                if options.small:
                    few = list(small_replies(memory, told, options.small))
                    rows += [row(data_name(file), "biem, small memories", few, threshold)]
                rows += [row(data_name(file), f"biem ≥ {other:g}", given, other) for other in options.thresholds]
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("Silence", tuple(name for name in columns(rows) if "nothing" not in name), rows)
    _report.print_table("Where nothing relevant is held", ("data", "system", *_OF_NOTHING), rows)
    if options.json:
        line = _report.command("benchmarks.abstain", sys.argv[1:] if argv is None else argv)
        _report.write_json(options.json, line, rows, embedder=options.embedder)
    return int(any(misses(row) for row in rows if options.gate and options.gate in str(row["data"])))


def show(given: Sequence[Reply], threshold: float, count: int) -> None:
    """Print what some strangers would be told, numbered."""
    injected = [one for one in given if not one.own and one.confidence >= threshold]
    for number, one in enumerate(Random(_SHOWN).sample(injected, min(count, len(injected))), 1):
        known = "nothing relevant" if one.nothing else "may hold it"
        print(f"{number}. [{one.confidence:.2f}, {known}] {one.question}", *one.told, sep="\n   - ")


def misses(row: Mapping[str, object]) -> bool:
    """Whether the default threshold is not good enough for a file."""
    injected, lost = float(str(row["injected"])), float(str(row["r10_lost"]))
    return row["system"] == "biem" and (injected > _MOST_INJECTED or lost > _MOST_LOST)


def replies(told: Sequence[Told], most: int = 0) -> Iterator[Reply]:
    """Ask every question, or `most` of them, of its own memory and of another one, all others in turn."""
    pairs = drawn(told, most)
    foreign = Foreign([one.conversation for one in told])
    with _report.progress() as bar:
        task = bar.add_task("ask", total=len(pairs))
        for number, (place, question) in enumerate(pairs):
            one = told[place]
            hits = one.memory.recall(question.text, top_k=LOOKED_AT, **one.options(question))
            yield _reply(one, question, hits, recall_10(hits, question), own=True)
            if len(told) > 1:
                stranger = told[(place + 1 + number % (len(told) - 1)) % len(told)]
                nothing = foreign.nothing(question, one.conversation, stranger.conversation.turns)
                hits = stranger.memory.recall(question.text, top_k=LOOKED_AT)
                yield _reply(one, question, hits, 0.0, own=False, nothing=nothing)
            bar.advance(task)


def small_replies(memory: biem.Memory, told: Sequence[Told], most: int) -> Iterator[Reply]:
    """Ask small memories, each made of one question's evidence and a few more turns, at most this many."""
    random = Random(9)
    foreign = Foreign([one.conversation for one in told])
    pairs = [(one, question) for one in told for question in one.conversation.questions if question.groups]
    for one, question in random.sample(pairs, min(most, len(pairs))):
        texts = {turn.id: turn for turn in one.conversation.turns if turn.text.strip()}
        wanted = [min(group) for group in question.groups if min(group) in texts][:_EVIDENCE]
        others = random.sample(sorted(texts), min(random.choice(_FEW), len(texts)))
        few = memory.scope(tenant="small memories", user=f"{one.conversation.id} {question.id}"[:_NAME_CHARS])
        if not wanted:
            continue
        kept = [turn for turn in one.conversation.turns if turn.id in {*wanted, *others}]
        if not few.stats()["memories"]:
            few.remember_many([item_of(turn) for turn in kept])
            settle(few)
        yield _reply(one, question, few.recall(question.text, top_k=LOOKED_AT), 1.0, own=True)
        if strangers := [other for other, _ in pairs if other is not one]:
            stranger = random.choice(strangers).conversation
            asked: Question = random.choice(stranger.questions)
            nothing = foreign.nothing(asked, stranger, kept)
            yield _reply(one, asked, few.recall(asked.text, top_k=LOOKED_AT), 0.0, own=False, nothing=nothing)


def _reply(
    asked: Told, question: Question, hits: "biem.Hits", r10: float, *, own: bool, nothing: bool = False
) -> Reply:
    told = tuple(f"{hit.node.speaker}: {hit.node.text}" for hit in hits[:_TOLD])
    sure = _PICKER.sureness(hits, question.text, hits.confidence, hits.grounds.get("personal", 0.0))
    return Reply(asked.conversation.id, own, r10, sure, hits.grounds, question.text, told, nothing)


def row(data: str, system: str, given: Sequence[Reply], threshold: float) -> dict[str, object]:
    """What a threshold does to these replies."""
    own = [reply for reply in given if reply.own]
    nothing = [reply for reply in given if reply.nothing]
    return {
        "data": data,
        "system": system,
        "n": len(own),
        "threshold": threshold,
        "injected": mean([float(reply.confidence >= threshold) for reply in given if not reply.own]),
        "r10": mean([reply.r10 for reply in own]),
        "r10_lost": mean([reply.r10 * (reply.confidence < threshold) for reply in own]),
        "reachable": reachable(given),
        "lost_at_5": lost_at(given, _MOST_INJECTED),
        "auc": auc([reply.confidence for reply in own if reply.r10], [one.confidence for one in given if not one.own]),
        "nothing": len(nothing),
        "injected_nothing": mean([float(reply.confidence >= threshold) for reply in nothing]),
        "reachable_nothing": reachable([*own, *nothing]) if nothing else 0.0,
    }


def reachable(given: Sequence[Reply]) -> float:
    """The least that any threshold injects which loses at most a point of these replies."""
    own = [reply for reply in given if reply.own]
    strangers = [reply.confidence for reply in given if not reply.own]
    lost = 0.0
    for reply in sorted(own, key=lambda reply: reply.confidence):
        lost += reply.r10 / len(own)
        if lost > _MOST_LOST:
            return mean([float(sure >= reply.confidence) for sure in strangers])
    return 0.0


def lost_at(given: Sequence[Reply], injected: float) -> float:
    """The least that any threshold loses which injects at most this share."""
    own = [reply for reply in given if reply.own]
    strangers = sorted((reply.confidence for reply in given if not reply.own), reverse=True)
    allowed = int(injected * len(strangers))
    if allowed >= len(strangers):
        return 0.0
    return mean([reply.r10 * (reply.confidence <= strangers[allowed]) for reply in own])


def auc(sure: Sequence[float], unsure: Sequence[float]) -> float:
    """How often one of the first is above one of the second, ties counting half; ½ where either is empty."""
    if not sure or not unsure:
        return 0.5
    return mean([mean([(one > other) + 0.5 * (one == other) for other in unsure]) for one in sure])


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(part) for part in text.split(",") if part)


if __name__ == "__main__":
    sys.exit(main())
