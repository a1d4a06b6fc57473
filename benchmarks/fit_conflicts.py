"""Fit the weights of the weak cues again: `python -m benchmarks.fit_conflicts --zh FILE … --en FILE … [--write]`.

Logistic regression with an L2 penalty on standardised cues, on the tune half of the files and only on the pairs that no
rule decides. Each language is fitted separately, as if the share `_BASE_RATE` of its pairs were contradictions, so that
one threshold serves both. `--write` replaces `biem/adapters/contradiction/cues.json`; commit it.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks.conflicts import read_pairs, similarities
from biem.adapters.contradiction.rules import RuleContradictions
from biem.config import load_settings
from biem.ports import Embedder

Matrix = NDArray[np.float64]
_BASE_RATE = {"zh": 0.42, "en": 0.51}
"""Share of contradictions that the weights assume, near that of the pairs; the best threshold is then the same."""
_STEPS = 40
_PENALTY = {"zh": 10.0, "en": 40.0}
"""English has a tenth of the pairs, so its weights must stay nearer to nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zh", nargs="+", type=Path, required=True, help="Chinese pairs")
    parser.add_argument("--en", nargs="+", type=Path, required=True, help="English pairs")
    parser.add_argument("--write", action="store_true", help="replace the packaged weights")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    options = parser.parse_args(arguments)
    settings = load_settings()
    embedder = PassageCache(choose_embedder(settings.embedder.provider, settings), options.cache)
    weights = {
        language: fit(*table(embedder, paths), penalty=_PENALTY[language], base=_BASE_RATE[language])
        for language, paths in (("zh", options.zh), ("en", options.en))
    }
    embedder.close()
    text = json.dumps(weights, ensure_ascii=False, indent=1) + "\n"
    print(text)
    if options.write:
        packaged().write_text(text, encoding="utf-8")
    return 0


def packaged() -> Path:
    """The file of the weights that the rules load."""
    return Path(str(files("biem.adapters.contradiction").joinpath("cues.json")))


def table(embedder: Embedder, paths: Sequence[Path]) -> tuple[list[str], Matrix, Matrix]:
    """Names of the cues, a row of cues a pair, and 1 for contradictions."""
    rules = RuleContradictions()
    rows, wanted = [], []
    for path in paths:
        pairs = [pair for pair in read_pairs(path) if pair.tune]
        for pair, similarity in zip(pairs, similarities(embedder, pairs), strict=True):
            cues = rules.cues(pair.older, pair.newer, similarity)
            if cues:
                rows.append(cues)
                wanted.append(float(pair.contradiction))
    names = list(rows[0])
    return names, np.array([[row[name] for name in names] for row in rows]), np.array(wanted)


def fit(names: Sequence[str], cues: Matrix, wanted: Matrix, *, penalty: float, base: float) -> dict[str, float]:
    """Weights for the cues as they are, by Newton's method; the bias is not penalised."""
    mean, spread = cues.mean(axis=0), cues.std(axis=0)
    spread[spread < 1e-6] = 1.0
    rows = np.column_stack([(cues - mean) / spread, np.ones(len(cues))])
    rate = wanted.mean()
    weight = np.where(wanted == 1.0, base / rate, (1 - base) / (1 - rate))
    ridge = np.diag([penalty] * len(names) + [0.0])
    solution = np.zeros(len(names) + 1)
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-rows @ solution))
        slope = rows.T @ (weight * (chance - wanted)) + ridge @ solution
        curve = (rows * (weight * chance * (1 - chance))[:, None]).T @ rows + ridge
        solution -= np.linalg.solve(curve, slope)
    found = {name: round(float(value), 4) for name, value in zip(names, solution[:-1] / spread, strict=True)}
    return found | {"bias": round(float(solution[-1] - (solution[:-1] / spread) @ mean), 4)}


if __name__ == "__main__":
    sys.exit(main())
