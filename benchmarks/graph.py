"""How fast the association graph loads, follows its changes and spreads activation, at several sizes.

Links are synthetic: each memory is linked to its last neighbours in time, to others of its topic, and a few memories
are hubs that many others point at. PostgreSQL is the embedded one.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg

from benchmarks import _report
from benchmarks.metrics import percentiles
from biem.adapters.clock import SystemClock
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.migrations import migrate
from biem.bootstrap import servers
from biem.config import Settings
from biem.domain.link import NewLink
from biem.domain.node import new_id
from biem.domain.policies.graph import GraphPolicy
from biem.domain.scope import Scope
from biem.engine.graph.associations import Associations
from biem.errors import BiemError
from biem.telemetry import Telemetry

_DEGREE = 20
"""Links a memory, on average, counted at both ends."""
_TOPIC = 40
_SEEDS, _HOPS = 5, 2
_COLUMNS = (
    "edges",
    "load_s",
    "spread_p50_ms",
    "spread_p95_ms",
    "spread_p99_ms",
    "subtractive_p95_ms",
    "subtractive_3_hops_p95_ms",
    "changes_ms",
    "refresh_ms",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line; 0, or biem's exit codes."""
    options = _options(arguments)
    rows: list[dict[str, Any]] = []
    try:
        with (
            tempfile.TemporaryDirectory(prefix="biem-graph-") as home,
            servers(Settings(home=Path(home))) as where,
        ):
            migrate(where.postgres_dsn)
            with closing(Database(where.postgres_dsn, pool_size=2, retry_s=5.0)) as database:
                links = PostgresLinks(database)
                rows += [_measure(where.postgres_dsn, links, edges, options.runs) for edges in options.edges]
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    command = _report.command("benchmarks.graph", sys.argv[1:] if arguments is None else arguments)
    _report.print_table("Association graph", _COLUMNS, rows)
    if options.json:
        _report.write_json(options.json, command, rows)
    return 0


def _measure(dsn: str, links: PostgresLinks, edges: int, runs: int) -> dict[str, Any]:
    source = random.Random(edges)
    scope = Scope(user=f"graph-{edges}")
    nodes = [new_id() for _ in range(max(10, 2 * edges // _DEGREE))]
    _fill(dsn, scope, nodes, list(_links(nodes, edges, source)))
    graph = Associations(links=links, clock=SystemClock(), policy=GraphPolicy(), telemetry=Telemetry())
    began = time.perf_counter()
    graph.refresh(scope)
    load_s = time.perf_counter() - began
    changes, refreshes, spreads, subtractive, deeper = [], [], [], [], []
    for _ in range(runs):
        seeds = {node: source.uniform(0.5, 1.0) for node in source.sample(nodes, _SEEDS)}
        one, other = source.sample(nodes, 2)
        links.connect(scope, [NewLink(one, other, "causal")], SystemClock().now())
        began = time.perf_counter()
        graph.refresh(scope)  # one change
        changes.append(_since(began))
        began = time.perf_counter()
        graph.refresh(scope)  # none
        refreshes.append(_since(began))
        began = time.perf_counter()
        graph.spread(scope, seeds, hops=_HOPS)
        spreads.append(_since(began))
        began = time.perf_counter()
        graph.spread(scope, seeds, strategy="subtractive", max_depth=_HOPS)
        subtractive.append(_since(began))
        began = time.perf_counter()
        graph.spread(scope, seeds, strategy="subtractive", max_depth=_HOPS + 1)  # as deep as its design goes
        deeper.append(_since(began))
    return {
        "edges": graph.edges,
        "load_s": load_s,
        **{f"spread_{name}": value for name, value in percentiles(spreads, 50, 95, 99).items()},
        **{f"subtractive_{name}": value for name, value in percentiles(subtractive, 95).items()},
        **{f"subtractive_3_hops_{name}": value for name, value in percentiles(deeper, 95).items()},
        "changes_ms": percentiles(changes, 50)["p50_ms"],
        "refresh_ms": percentiles(refreshes, 50)["p50_ms"],
    }


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1_000


def _links(nodes: Sequence[str], edges: int, source: random.Random) -> Iterator[tuple[str, str, str, float, int]]:
    seen: set[tuple[int, int]] = set()
    hubs = source.sample(range(len(nodes)), max(1, len(nodes) // 200))
    while len(seen) < edges:
        one = source.randrange(1, len(nodes))
        way = source.random()
        if way < 0.4:
            kind, other, weight = "temporal", max(0, one - source.randint(1, 5)), 1.0
        elif way < 0.9:
            topic = one - one % _TOPIC
            kind, other, weight = "semantic", min(len(nodes) - 1, topic + source.randrange(_TOPIC)), 0.0
            weight = source.uniform(0.7, 1.0)
        else:
            kind, other, weight = "mention", source.choice(hubs), 1.0
        if one != other and (one, other) not in seen:
            seen.add((one, other))
            yield nodes[one], nodes[other], kind, weight, max(1, int(10 * weight) if kind == "semantic" else 1)


def _fill(dsn: str, scope: Scope, nodes: Sequence[str], rows: Sequence[tuple[str, str, str, float, int]]) -> None:
    """Straight into the tables: writing is not measured."""
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "INSERT INTO scopes (ns, tenant, usr, project) VALUES (%s, %s, %s, %s)",
            (scope.ns, scope.tenant, scope.user, scope.project),
        )
        connection.execute(
            "INSERT INTO memories (id, ns, text, evidence_sha, embed_sha, kind, layer, status, importance, at,"
            " created_at, lexemes, write_seq, initial_energy, energy_anchor, anchor_at, valid_from)"
            " SELECT id, %s, 'synthetic', '', '', 'event', 'short_term', 'active', 3, now(), now(),"
            " 'synthetic', seq, 0.6, 0.6, now(), now() FROM unnest(%s::uuid[]) WITH ORDINALITY AS n (id, seq)",
            (scope.ns, list(nodes)),
        )
        with connection.cursor().copy(
            "COPY crystal_links (ns, source_id, target_id, link_type, weight, strength, version) FROM STDIN"
        ) as copy:
            for row in rows:
                copy.write_row((scope.ns, *row, 1))
        connection.commit()
        connection.autocommit = True
        connection.execute("ANALYZE")


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.graph", description=__doc__)
    parser.add_argument("--edges", type=int, nargs="+", default=[10_000, 50_000, 100_000], metavar="N")
    parser.add_argument("--runs", type=int, default=300, help="times each step is measured")
    parser.add_argument("--json", type=Path, metavar="OUT", help="also write the report to this file")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
