"""What the write gate lets form: `python -m benchmarks.gate [--data FILE…] [--lives K] [--json OUT] [--cache DIR]`.

Every conversation is judged by the gate of the worker with its default settings, in batches as the worker claims them,
with exact neighbours in place of an index, and without conflicts. Nothing is fitted and nothing is recalled: what the
gate refuses is found as well as what it lets form.

`accepted`: the share of turns that are formed. `evidence`, `other`: the same among turns that a question of the file
needs, and among the rest. `auc`: how likely a turn with evidence has the greater gate value than one without; 0.5 is
chance. `r` and `s`: mean relevance and surprise. `ms`: time a turn, without embedding.

`--lives K` judges this many lives of `benchmarks.lives` (with `--lang`, `--seed`, `--split`), too, and the shares
refused of the turns that a later question needs, of all facts of the user, of his other sentences, and of courtesies.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import cast

import numpy as np

from benchmarks import _report
from benchmarks._data import Conversation, Turn, data_name, read_conversations
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks._options import on_lives
from benchmarks._systems import spoken
from benchmarks.lives.beside import conversation_of
from benchmarks.lives.fates import Fates
from benchmarks.lives.schedule import life
from biem.adapters import contradiction
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.clock import SystemClock
from biem.config import Settings, load_settings
from biem.domain.designs.aim import GateDecision, gate
from biem.domain.fields import Fields
from biem.domain.node import Node
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.engine.encode.gate import Gate
from biem.errors import BiemError
from biem.ports import Analyzer, Embedder, Vector, Vectors
from biem.ports.aim import AimRecords, Anchored, Said, Standing
from biem.ports.contradiction import ContradictionRules
from biem.telemetry import Telemetry

_COLUMNS = ("data", "n", "accepted", "evidence", "other", "auc", "r", "s", "ms")
_NEAREST = 10


@dataclass
class Room:
    """The part of `AimRecords` that the gate asks of one scope, in memory."""

    nodes: dict[str, Node] = field(default_factory=dict)
    vectors: dict[str, Vector] = field(default_factory=dict)
    fields: dict[str, Fields] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def said(self, scope: Scope, seqs: Sequence[int], most: int) -> list[Said]:  # noqa: ARG002
        """As the port says."""
        wanted = {one for seq in seqs for one in range(seq - most, seq)}
        return [
            Said(key, node.write_seq, node.conversation, key not in self.refused, self.vectors[key])
            for key, node in self.nodes.items()
            if node.write_seq in wanted
        ]

    def standing(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Standing]:  # noqa: ARG002
        """As the port says."""
        return {key: Standing(key not in self.refused, decided=key in self.fields) for key in ids}

    def anchors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Anchored]:  # noqa: ARG002
        """As the port says."""
        return {key: Anchored(self.fields[key], None, 0) for key in ids}


class Nobody:
    """The port `Neighbours`, which only a separate judgement asks."""

    def nearest(self, scope: Scope, vectors: Vectors, limit: int) -> list[dict[str, float]]:  # noqa: ARG002
        """Nothing."""
        return [{} for _ in vectors]


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of one turn."""

    id: str
    evidence: bool
    decision: GateDecision


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.gate", description=__doc__)
    parser.add_argument("--data", nargs="+", type=Path, default=[], metavar="FILE", help="conversations")
    on_lives(parser, lives=0)
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    parser.add_argument("--limit-conversations", type=int, metavar="N", help="only the first N of each file")
    parser.add_argument("--embedder", default="e5", help="synthetic, or a provider as in the settings (default: e5)")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    options = parser.parse_args(argv)
    rows: list[dict[str, object]] = []
    fates = Fates()
    try:
        settings = load_settings()
        analyzer, rules = RuleAnalyzer(), contradiction.build()
        with closing(PassageCache(choose_embedder(options.embedder, settings), options.cache)) as embedder:
            for file in options.data:
                spent, judged = 0.0, list[Judged]()
                for conversation in read_conversations(file, options.limit_conversations):
                    found, seconds = judge(conversation, embedder, analyzer, rules, settings)
                    judged += found
                    spent += seconds
                rows.append(row(data_name(file), judged, spent))
            for number in range(options.lives):
                one = life(number, options.seed, options.lang, options.split)
                said = {turn.id: turn.role for turn in one.turns}
                found, seconds = judge(conversation_of(one), embedder, analyzer, rules, settings, said)
                rows.append(row(one.id, found, seconds))
                fates.refuse(one, {turn.id for turn in found if not turn.decision.formed})
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _report.print_table("Write gate", _COLUMNS, rows)
    if options.lives:
        _report.print_table("Lives: share refused", ("what", "n", "share"), fates.rows())
    if options.json:
        line = _report.command("benchmarks.gate", sys.argv[1:] if argv is None else argv)
        _report.write_json(options.json, line, rows, fates=fates.rows(), embedder=options.embedder)
    return 0


def judge(
    conversation: Conversation,
    embedder: Embedder,
    analyzer: Analyzer,
    rules: ContradictionRules,
    settings: Settings,
    sources: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[Judged], float]:
    """The turns of a conversation as they are judged, and how many seconds that took without embedding.

    `sources`: user or assistant, by the id of the turn.
    """
    turns, room, scope = spoken(conversation), Room(), Scope(user=conversation.id)
    vectors = embedder.embed([turn.indexed_text for turn in turns], "passage")
    wanted = frozenset[str]().union(*(group for question in conversation.questions for group in question.groups))
    gate = Gate(
        records=cast(AimRecords, room),
        neighbours=Nobody(),
        rules=rules,
        embedder=embedder,
        analyzer=analyzer,
        clock=SystemClock(),
        policy=settings.aim,
        conflicts=settings.conflicts,
        telemetry=Telemetry(),
    )
    found: list[Judged] = []
    seconds = 0.0
    for start in range(0, len(turns), settings.encode.batch):
        batch = [
            (_node(turn, scope, place, sources.get(turn.id, "")), vectors[place])
            for place, turn in enumerate(turns[start : start + settings.encode.batch], start)
        ]
        near = {node.id: _nearest(embedder, vectors, node.write_seq, turns) for node, _ in batch}
        for node, vector in batch:
            room.nodes[node.id], room.vectors[node.id] = node, vector
        began = time.perf_counter()
        decisions = gate.weigh(scope, batch, near, {})
        seconds += time.perf_counter() - began
        for node, _ in batch:
            decision = decisions.get(node.id) or _asked_for(settings.aim)
            room.fields[node.id] = analyzer.analyze(node.indexed_text).fields
            if not decision.formed:
                room.refused.add(node.id)
            found.append(Judged(node.id, node.id in wanted, decision))
    return found, seconds


def row(data: str, judged: Sequence[Judged], seconds: float) -> dict[str, object]:
    """The averages of one file."""
    needed = [one.decision for one in judged if one.evidence]
    other = [one.decision for one in judged if not one.evidence]
    everything = [one.decision for one in judged]
    return {
        "data": data,
        "n": len(judged),
        "accepted": _share(everything),
        "evidence": _share(needed),
        "other": _share(other),
        "auc": auc([one.value for one in needed], [one.value for one in other]),
        "r": float(np.mean([one.relevance for one in everything])),
        "s": float(np.mean([one.surprise for one in everything])),
        "ms": 1_000 * seconds / max(1, len(judged)),
    }


def auc(positive: Sequence[float], negative: Sequence[float]) -> float | None:
    """The share of pairs in which the positive one is greater, equal ones counting half; None without pairs."""
    if not positive or not negative:
        return None
    ordered = np.sort(np.asarray(negative, dtype=np.float64))
    below = np.searchsorted(ordered, positive, side="left") + np.searchsorted(ordered, positive, side="right")
    return float(below.mean() / 2 / len(ordered))


def _node(turn: Turn, scope: Scope, place: int, source: str) -> Node:
    return Node(
        id=turn.id, scope=scope, text=turn.text, kind="event", status="pending", layer="short_term", at=turn.at,
        created_at=turn.at, write_seq=place, speaker=turn.speaker, conversation=turn.session, source=source,
    )  # fmt: skip


def _asked_for(policy: AimPolicy) -> GateDecision:
    """Of what the user asks to remember, which is formed without being judged: as sure as can be."""
    return gate(1.0, 1.0, 1.0, policy, SystemClock().now())


def _nearest(embedder: Embedder, vectors: Vectors, place: int, turns: Sequence[Turn]) -> list[tuple[str, float]]:
    """The turns before one that are most like it."""
    if place == 0:
        return []
    likeness = embedder.similarity(vectors[place], vectors[:place])
    best = np.argsort(-likeness, kind="stable")[:_NEAREST].tolist()
    return [(turns[one].id, float(likeness[one])) for one in best]


def _share(decisions: Sequence[GateDecision]) -> float | None:
    return sum(one.formed for one in decisions) / len(decisions) if decisions else None


if __name__ == "__main__":
    sys.exit(main())
