"""How well the rules tell contradictions from consistent pairs: `python -m benchmarks.conflicts --data FILE …`.

Three thresholds of `ConflictPolicy` are measured: `f1` with precision and recall where a pair becomes suspect (a model
would be asked), `*_recorded` where it becomes a conflict, `*_acting` where the rule supersedes alone. `--halves`
adds the rows of the tune half, on which the weights were fitted, and of the validation half (split by hash).
`f1_all` is what calling every pair a contradiction gives, and `auc` how often a contradiction is judged likelier than a
consistent pair: 0.5 by chance, for any threshold and the share of contradictions.
Only verdicts of kind contradiction and update count as predictions, and as acting only those about the whole of the
older text: of one that says more, nothing is superseded.
"""

import argparse
import gzip
import json
import sys
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks import _report
from benchmarks._data import data_name
from benchmarks._embedders import PassageCache, choose_embedder
from biem.adapters.contradiction.rules import RuleContradictions
from biem.config import load_settings
from biem.domain.conflict import Statement
from biem.domain.policies.conflicts import ConflictPolicy
from biem.ports import Embedder

_BATCH = 64
_SPEAKER = "speaker"
"""The pairs of these files are said by one person."""
_COLUMNS = [
    "data", "n", "precision", "recall", "f1", "f1_all", "auc", "precision_recorded", "recall_recorded",
    "precision_acting", "recall_acting", "acting", "cpu_us_per_pair",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements, and whether they contradict each other."""

    older: Statement
    newer: Statement
    contradiction: bool

    @property
    def tune(self) -> bool:
        """Whether weights may be fitted on it: one half of the pairs, by hash."""
        return zlib.crc32((self.older.text + self.newer.text).encode()) % 2 == 0


def read_pairs(path: Path) -> Iterator[Pair]:
    """The pairs of a file, plain or gzipped, one JSON object a line."""
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    for line in text.strip().split("\n"):
        raw = json.loads(line)
        yield Pair(
            Statement(raw["statement_a"], _SPEAKER),
            Statement(raw["statement_b"], _SPEAKER),
            raw["label"] == "contradiction",
        )


def similarities(embedder: Embedder, pairs: Sequence[Pair]) -> list[float]:
    """Calibrated similarity of each pair; every text is embedded once."""
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.older.text, pair.newer.text)))
    for start in range(0, len(texts), _BATCH):
        embedder.embed(texts[start : start + _BATCH], "passage")
    found = []
    for pair in pairs:
        one, other = embedder.embed([pair.older.text, pair.newer.text], "passage")
        found.append(float(embedder.similarity(one, np.stack([other]))[0]))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", type=Path, required=True, help="files of pairs")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--halves", action="store_true", help="also the tune and the validation half of each file")
    parser.add_argument("--embedder", default="", help="default: the configured one; `none` for rules without it")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    options = parser.parse_args(arguments)
    settings = load_settings()
    embedder: Embedder | None = None
    if options.embedder != "none":
        inner = choose_embedder(options.embedder or settings.embedder.provider, settings)
        embedder = PassageCache(inner, options.cache)
    rules = RuleContradictions()
    rows: list[dict[str, object]] = []
    for path in options.data:
        pairs = list(read_pairs(path))
        alike: list[float | None] = [*similarities(embedder, pairs)] if embedder else [None] * len(pairs)
        found, seconds = judge(rules, pairs, alike)
        name = data_name(path)
        rows.append(measure(name, pairs, found) | {"cpu_us_per_pair": round(seconds / max(1, len(pairs)) * 1e6)})
        if options.halves:
            for half, wanted in (("tune", True), ("validate", False)):
                kept = [i for i, pair in enumerate(pairs) if pair.tune is wanted]
                rows.append(measure(f"{name} {half}", [pairs[i] for i in kept], [found[i] for i in kept]))
    if embedder:
        embedder.close()
    _report.print_table("Conflicts", _COLUMNS, rows)
    if options.json:
        _report.write_json(options.json, _report.command("benchmarks.conflicts", arguments), rows)
    return 0


@dataclass(frozen=True, slots=True)
class Judged:
    """What the rules say of a pair."""

    confidence: float
    """That it is a conflict; 0 where it is none or a duplicate."""
    acting: float
    """The same as far as it may act: 0 where the older text says more than the disputed claim."""


_NONE = Judged(0.0, 0.0)


def judge(
    rules: RuleContradictions, pairs: Iterable[Pair], alike: Iterable[float | None]
) -> tuple[list[Judged], float]:
    """The verdict on each pair, and the seconds of CPU it took."""
    started = time.process_time()
    verdicts = [
        rules.compare(pair.older, pair.newer, similarity) for pair, similarity in zip(pairs, alike, strict=True)
    ]
    seconds = time.process_time() - started
    judged = [
        _NONE if v is None or v.kind == "duplicate" else Judged(v.confidence, 0.0 if v.partial else v.confidence)
        for v in verdicts
    ]
    return judged, seconds


def measure(name: str, pairs: Sequence[Pair], judged: Sequence[Judged]) -> dict[str, object]:
    """One row."""
    policy = ConflictPolicy()
    found = [one.confidence for one in judged]
    precision, recall, f1, _ = _scores(pairs, found, policy.suspect_confidence)
    precision_recorded, recall_recorded, f1_recorded, _ = _scores(pairs, found, policy.record_confidence)
    precision_acting, recall_acting, _, acting = _scores(pairs, [one.acting for one in judged], policy.act_confidence)
    return {
        "data": name,
        "n": len(pairs),
        "precision": precision,
        "recall": recall,
        "f1": f1,
        "f1_all": _scores(pairs, [1.0] * len(pairs), 0.0)[2],
        "auc": _auc(pairs, found),
        "precision_recorded": precision_recorded,
        "recall_recorded": recall_recorded,
        "f1_recorded": f1_recorded,
        "precision_acting": precision_acting,
        "recall_acting": recall_acting,
        "acting": acting,
    }


def _auc(pairs: Sequence[Pair], found: Sequence[float]) -> float | None:
    """The area under the ROC curve, ties counted half; None where all pairs are of one kind."""
    values, wanted = np.array(found), np.array([pair.contradiction for pair in pairs], dtype=bool)
    right, wrong = np.sort(values[wanted]), values[~wanted]
    if not len(right) or not len(wrong):
        return None
    below, not_above = np.searchsorted(right, wrong, "left"), np.searchsorted(right, wrong, "right")
    return float(1.0 - (below + not_above).sum() / 2 / (len(right) * len(wrong)))


def _scores(pairs: Sequence[Pair], found: Sequence[float], threshold: float) -> tuple[float | None, float, float, int]:
    """Precision (None where nothing was predicted), recall, F1 and the number of predictions."""
    predicted = [pair.contradiction for pair, value in zip(pairs, found, strict=True) if value >= threshold]
    right, wanted = sum(predicted), sum(pair.contradiction for pair in pairs)
    precision = right / len(predicted) if predicted else None
    recall = right / wanted if wanted else 0.0
    return precision, recall, 2 * right / max(1, len(predicted) + wanted), len(predicted)


if __name__ == "__main__":
    sys.exit(main())
