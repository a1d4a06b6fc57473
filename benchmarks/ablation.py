"""What each part of recall is worth: R@10 of every data set with one thing switched off, and what each step takes.

Rows are `{"data", "signal", "switched", "n", "r10", "delta"}`; `signal` is empty for the whole. `switched` is `off`,
and `delta` is the loss; a signal that is off by default is switched `on`, with a weight of a half, and `delta` is the
gain: a positive number speaks for the signal either way. Weights are not fitted again.

Signals, repetition and balance only order the pool: it is recorded once on real servers, then ordered again by the
engine's own code. Activation, conflict and neighbours change the pool: they are searched again, with a
sample of the questions. What each step of recall takes was measured while recording.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks import _report
from benchmarks._data import data_name
from benchmarks._live import VARIANTS, Recording, recording
from benchmarks._options import on_conversations
from benchmarks.fit_ranking import vector
from biem.config import load_settings
from biem.domain.policies.ranking import RankPolicy
from biem.engine.recall.rank.score import NAMES
from biem.errors import BiemError

_ON = 0.5
"""Log-odds that a signal which is off gets: as much as the least of those that are on."""
_HELPS = 0.0005
"""Half a thousandth: what rounds to nothing is nothing."""
_STEPS = ("data", "step", "p50_ms", "p95_ms")


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line. 0; 1 when a signal that is on helps nowhere; 130 when interrupted; else biem's exit codes."""
    options = _options(arguments)
    policy = load_settings().ranking
    rows: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    try:
        for file in options.data:
            limits = (options.limit_conversations, options.limit_questions)
            held = recording(file, options.embedder, options.cache, limits, variants=True)
            rows += rows_of(data_name(file), held, policy)
            steps += [{"data": data_name(file), "step": step, **times} for step, times in held.stages.items()]
    except KeyboardInterrupt:
        return 130
    except BiemError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    _show(rows, steps)
    idle = helps_nowhere(rows)
    if idle:
        print(f"helps nowhere: {', '.join(idle)}")
    if options.json:
        line = _report.command("benchmarks.ablation", sys.argv[1:] if arguments is None else arguments)
        _report.write_json(options.json, line, rows, steps=steps, helps_nowhere=idle, embedder=options.embedder)
    return int(any(_is_on(name, policy) for name in idle))


def rows_of(data: str, held: Recording, policy: RankPolicy) -> Iterator[dict[str, Any]]:
    """The rows of one file."""
    weights = vector(policy.weights)
    whole = held.mean(weights, policy).recall_10

    def row(name: str, r10: float, than: float, n: int, switched: str = "off") -> dict[str, Any]:
        delta = than - r10 if switched == "off" else r10 - than
        return {"data": data, "signal": name, "switched": switched, "n": n, "r10": r10, "delta": delta}

    yield {**row("", whole, whole, len(held.cases)), "switched": ""}

    for column, name in enumerate(NAMES):
        other, switched = weights.copy(), "off" if weights[column] else "on"
        other[column] = 0.0 if weights[column] else _ON
        yield row(name, held.mean(other, policy).recall_10, whole, len(held.cases), switched)
    for name, changed in (("repetition", replace(policy, repeat=0.0)), ("balance", replace(policy, balance=0.0))):
        yield row(name, held.mean(weights, changed).recall_10, whole, len(held.cases))
    for name in VARIANTS:
        yield row(name, held.live[name], held.live["sampled"], int(held.live["n"]))


def helps_nowhere(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What no data set loses anything without, and signals that are off and help none."""
    best: dict[str, float] = {}
    for row in rows:
        if row["signal"]:
            best[row["signal"]] = max(row["delta"], best.get(row["signal"], -1.0))
    return [name for name, delta in best.items() if delta < _HELPS]


def _is_on(name: str, policy: RankPolicy) -> bool:
    """Whether something that helps nowhere is switched on: signals are judged, the rest serves more than recall."""
    return name in NAMES and getattr(policy.weights, name) != 0


def _show(rows: Sequence[Mapping[str, Any]], steps: Sequence[Mapping[str, Any]]) -> None:
    """One line for each thing switched off or on, one column a data set."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    for switched, title in (
        ("off", "R@10 with one thing switched off"),
        ("on", f"R@10 with one more signal switched on, its weight {_ON}"),
    ):
        lines: dict[str, dict[str, Any]] = {}
        for row in rows:
            if row["switched"] in ("", switched):
                line = lines.setdefault(row["signal"], {switched: row["signal"] or "(nothing)"})
                gain = row["delta"] if switched == "on" else -row["delta"]
                line[row["data"]] = f"{row['r10']:.3f}" + (f" ({gain:+.3f})" if row["signal"] else "")
        _report.print_table(title, (switched, *names), lines.values())
    _report.print_table("What the steps of recall take", _STEPS, steps)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.ablation", description=__doc__)
    on_conversations(parser, kept="vectors and pools")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
