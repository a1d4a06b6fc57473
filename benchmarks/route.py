"""What a route of AIM-Memory looks at, in memories of several sizes: `python -m benchmarks.route [--map milvus]`.

Made vectors, a cluster of fifty notes about each topic, in an exact map in memory or in Milvus through the adapter of
the package. A query comes after two others about the same topic, is half way to another one, and names the number of
the note that it wants. Notes are made when they are read and nothing is embedded, so times are those of the map and of
looking at nodes. `--home` keeps what Milvus Lite has, and an interrupted load goes on; `--milvus-uri` names a server.

`scored`: nodes that a route reads and scores, most of all queries; `share` of all. `recall_5`: how often the wanted
note is among the first five of the route, with γ = 1, so that age does not count; `no_inertia`: the same with λ = 0;
`nearest_5`: among the five nearest of a plain search; `recall_5_faded`: with the design's γ, which leaves a score to
the last fifteen notes only. `fast_strict`: size of a context in fast mode as a share of strict mode. `plain_ms` and
`route_ms`: medians of the plain search and of a first query's route.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import cast

import numpy as np
from numpy.typing import NDArray

from benchmarks import _maps, _report
from benchmarks._exact import ExactMap, at_once
from benchmarks._options import positive
from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.clock import SystemClock
from biem.domain.fields import Fields
from biem.domain.node import Node
from biem.domain.policies.aim import AimPolicy
from biem.domain.scope import Scope
from biem.engine.aim.conversation import four_parts
from biem.engine.aim.inertia import Inertia
from biem.engine.aim.route import Router
from biem.ports import Embedder, Filter, Role, Vectors
from biem.ports.aim import AimRecords, Held, MemoryMap
from biem.ports.conflicts import Conflicts
from biem.ports.contradiction import ContradictionRules
from biem.ports.hot import InertiaState, InertiaStore
from biem.telemetry import Telemetry

_COLUMNS = (
    "map", "dim", "nodes", "scored", "share", "recall_5", "no_inertia", "nearest_5", "recall_5_faded", "fast_strict",
    "plain_ms", "route_ms",
)  # fmt: skip
SIZES = (100, 1_000, 100_000, 1_000_000)
_DIM = 64
"""With as many as the packaged embedder has (384) a million notes take 1.5 GB."""
_AWAY, _ASIDE = 0.96, 0.8
"""Lengths of what leads away from a topic of length 1: of its notes, and of questions about it."""
_TOPIC = 50
_QUERIES = 60
_SCOPE = Scope(user="route")
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_ANY = Filter()


class NoRules:
    """The port `ContradictionRules`, which is not asked about questions."""

    def compare(self, *_: object, **__: object) -> None:
        """Nothing."""


class Notes:
    """Records, conflicts, inertia and embedder of made notes: the parts of the ports that a route uses."""

    def __init__(self, size: int, dim: int = _DIM) -> None:
        random = np.random.default_rng(5)
        self.size = size
        self.topics = _unit(random.standard_normal((max(2, -(-size // _TOPIC)), dim), dtype=np.float32))
        self.vectors = random.standard_normal((size, dim), dtype=np.float32)
        self.vectors *= np.float32(_AWAY / dim**0.5)
        for start in range(0, size, _TOPIC):  # in place: of a million notes there is one matrix, not three
            self.vectors[start : start + _TOPIC] += self.topics[start // _TOPIC]
        self.vectors /= np.linalg.norm(self.vectors, axis=1, keepdims=True)
        self.queries: dict[str, int] = {}
        """Query to its row in `asked`."""
        self.asked: Vectors = np.empty((0, dim), dtype=np.float32)
        self.scored: list[int] = []
        self.fields: dict[int, Fields] = {}
        self.kept: dict[str, InertiaState] = {}
        self.analyzer = RuleAnalyzer()
        self.map: MemoryMap = ExactMap()

    def keys(self) -> list[str]:
        """The ids of all notes."""
        return [str(place) for place in range(self.size)]

    @staticmethod
    def text(place: int) -> str:
        """What a note says: its own number, and many words."""
        return f"Buoy {place} stands at {place % _TOPIC + 1000} m. " + "The river was calm and the sky was grey. " * 24

    def embed(self, texts: Sequence[str], role: Role) -> Vectors:  # noqa: ARG002
        """The directions that were given to these queries."""
        return self.asked[[self.queries[text] for text in texts]]

    def nodes(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime, *, evidence: bool) -> list[Held]:  # noqa: ARG002
        """As the port says."""
        self.scored.append(len(ids))
        return [self._held(int(key), evidence) for key in ids]

    def _held(self, place: int, evidence: bool) -> Held:
        text = self.text(place)
        if place not in self.fields:
            self.fields[place] = self.analyzer.analyze(text[:60]).fields
        node = Node(
            id=str(place), scope=_SCOPE, text=text, kind="event", status="active", layer="short_term", at=_AT,
            created_at=_AT, write_seq=place, fields=self.fields[place],
        )  # fmt: skip
        return Held(node, True, self.size - 1 - place, self.vectors[place], text if evidence else None)

    def open_of(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, float]:  # noqa: ARG002
        """No conflicts."""
        return {}

    def load(self, scope: Scope, conversation: str) -> InertiaState:  # noqa: ARG002
        """As the port says."""
        return self.kept.get(conversation, InertiaState())

    def save(self, scope: Scope, conversation: str, heading: InertiaState, *, most: int, ttl_s: float) -> None:  # noqa: ARG002
        """As the port says."""
        self.kept[conversation] = heading

    def router(self, policy: AimPolicy) -> Router:
        """The router of the package over these notes."""
        telemetry = Telemetry()
        return Router(
            records=cast(AimRecords, self),
            index=self.map,
            conflicts=cast(Conflicts, self),
            rules=cast(ContradictionRules, NoRules()),
            inertia=Inertia(inertia_store=cast(InertiaStore, self), policy=policy, telemetry=telemetry),
            embedder=cast(Embedder, self),
            analyzer=self.analyzer,
            accessed=lambda scope, ids: None,  # noqa: ARG005
            submit=at_once,
            clock=SystemClock(),
            policy=policy,
            strict_words=(),
            telemetry=telemetry,
        )


def main(argv: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.route", description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=positive, default=SIZES, metavar="N")
    parser.add_argument("--dim", type=positive, default=_DIM, metavar="N", help=f"of a vector (default: {_DIM})")
    parser.add_argument("--queries", type=positive, default=_QUERIES, metavar="N")
    parser.add_argument("--map", choices=_maps.KINDS, default="exact", help="what finds the nearest (default: exact)")
    parser.add_argument("--home", type=Path, metavar="DIR", help="keep the rows of Milvus Lite there")
    parser.add_argument("--milvus-uri", metavar="URI", help="a server to load, in place of Milvus Lite")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the rows there, too")
    options = parser.parse_args(argv)
    rows = []
    for size in options.sizes:
        notes = Notes(size, options.dim)
        source = (options.map, _SCOPE, notes.keys(), notes.vectors, _AT, options.home, options.milvus_uri)
        with _maps.filled(*source) as notes.map:
            rows.append({"map": options.map, "dim": options.dim, **measured(notes, options.queries)})
    _report.print_table("Routes", _COLUMNS, rows)
    if options.json:
        _report.write_json(
            options.json, _report.command("benchmarks.route", sys.argv[1:] if argv is None else argv), rows
        )
    return 0


def measure(size: int, queries: int = _QUERIES, dim: int = _DIM) -> dict[str, object]:
    """One row, of an exact map."""
    notes = Notes(size, dim)
    with _maps.filled("exact", _SCOPE, notes.keys(), notes.vectors, _AT, None, None) as notes.map:
        return measured(notes, queries)


def measured(notes: Notes, queries: int) -> dict[str, object]:
    """What this many queries give, asked of the map of these notes."""
    random, size, dim = np.random.default_rng(11), notes.size, notes.vectors.shape[1]
    aside = np.float32(_ASIDE / dim**0.5)
    wanted: NDArray[np.int64] = random.integers(0, size, queries)
    topics = wanted // _TOPIC
    others = (topics + 1 + random.integers(0, len(notes.topics) - 1, queries)) % len(notes.topics)
    before = _unit(notes.topics[topics] + aside * random.standard_normal((queries, dim), dtype=np.float32))
    between = _unit(notes.topics[topics] + notes.topics[others])
    notes.asked = np.concatenate([before, between])
    asked = [f"Which buoy stands at {place % _TOPIC + 1000} m?" for place in wanted]
    notes.queries = {f"topic {one}": one for one in range(queries)}
    notes.queries |= {f"{text} ({one})": queries + one for one, text in enumerate(asked)}
    ageless = replace(AimPolicy(), weight_decay_gamma=1.0)
    return {
        "nodes": size,
        "recall_5": _recall(notes, ageless, wanted, asked),
        "no_inertia": _recall(notes, replace(ageless, inertia_strength=0.0), wanted, asked),
        "nearest_5": _nearest(notes, wanted),
        "recall_5_faded": _recall(notes, AimPolicy(), wanted, asked),
        "scored": max(notes.scored),
        "share": max(notes.scored) / size,
        "fast_strict": _sizes(notes, ageless, asked),
        **_times(notes, ageless, asked),
    }


def _recall(notes: Notes, policy: AimPolicy, wanted: NDArray[np.int64], asked: Sequence[str]) -> float:
    notes.kept.clear()
    router, hits = notes.router(policy), 0
    for number, (place, text) in enumerate(zip(wanted, asked, strict=True)):
        for _ in range(2):
            router.route(_SCOPE, f"topic {number}", conversation=str(number))
        route = router.route(_SCOPE, f"{text} ({number})", conversation=str(number), top_n=5)
        hits += str(place) in {one.node.id for one in route.nodes}
    return hits / len(asked)


def _nearest(notes: Notes, wanted: NDArray[np.int64]) -> float:
    found = [notes.map.dense([_SCOPE], vector, 5, _ANY) for vector in notes.asked[len(wanted) :]]
    return sum(str(place) in near for place, near in zip(wanted, found, strict=True)) / len(wanted)


def _sizes(notes: Notes, policy: AimPolicy, asked: Sequence[str]) -> float:
    """Characters of fast contexts over those of strict ones."""
    router = notes.router(policy)
    told = {"fast": 0, "strict": 0}
    for mode in told:
        for number, text in enumerate(asked):
            route = router.route(_SCOPE, f"{text} ({number})", mode=mode, conversation=f"{mode} {number}")
            told[mode] += len(four_parts([], route.hits(policy), policy))
    return told["fast"] / told["strict"]


def _times(notes: Notes, policy: AimPolicy, asked: Sequence[str]) -> dict[str, float]:
    router, plain, routed = notes.router(policy), [], []
    for number, text in enumerate(asked):
        began = time.perf_counter()
        notes.map.dense([_SCOPE], notes.asked[len(asked) + number], policy.local_cluster_k, _ANY)
        plain.append(time.perf_counter() - began)
        began = time.perf_counter()
        router.route(_SCOPE, f"{text} ({number})", conversation=f"once {number}")
        routed.append(time.perf_counter() - began)
    return {"plain_ms": 1_000 * median(plain), "route_ms": 1_000 * median(routed)}


def _unit(vectors: Vectors) -> Vectors:
    unit: Vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit.astype(np.float32)


if __name__ == "__main__":
    sys.exit(main())
