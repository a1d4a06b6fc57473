"""Fit the direction of courtesies in the packaged embedder's space: `python -m benchmarks.fit_courtesy [--write]`.

Logistic regression on the vectors of messages: courtesies of `benchmarks/lives/courtesies.txt` (`fit`) and
`chatter.txt`, and what users say in the lives by hand, split `dev`, and in the pairs of `benchmarks/lives/told`.

Prints, for some log-odds, which share of the file's other courtesies (`test`), and of the messages of lives that this
regression did not see (cross-validated in five parts), reaches them. `--write` replaces
`biem/adapters/embedders/courtesy.json`; commit it.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks.fit_conflicts import fit
from benchmarks.lives.grammar import LANGS, chatter
from benchmarks.lives.scripted import scripted
from benchmarks.lives.told import told
from biem.adapters.embedders import directions
from biem.config import load_settings

Matrix = NDArray[np.float64]

_FILE = Path(__file__).parent / "lives" / "courtesies.txt"
_TOLD = sorted((Path(__file__).parent / "lives" / "told").glob("*.txt"))
_PENALTY, _SCALE, _PARTS = 10.0, 20.0, 5
_ODDS = (-1.0, 0.0, 1.0, 2.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser("python -m benchmarks.fit_courtesy", description=__doc__)
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--write", action="store_true", help="replace the packaged direction")
    options = parser.parse_args(arguments)
    learnt = _courtesies("fit")
    learnt += [one for lang in LANGS for kind in ("courtesy", "noted") for one in chatter(kind, lang, "dev")]
    lives = [one for lang in ("en", "zh", "mixed") for one in scripted(lang, "dev")]
    said = {turn.text: part % _PARTS for part, one in enumerate(lives) for turn in one.turns if turn.role == "user"}
    said |= {text: place % _PARTS for place, pair in enumerate(told(_TOLD)) for text in (pair.older, pair.newer)}
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache)) as embedder:
        known, tested, others = (
            np.asarray(embedder.embed(texts, "passage"), dtype=np.float64) * _SCALE
            for texts in (learnt, _courtesies("test"), list(said))
        )
        slopes, bias = _fitted(known, others)
        parts, odds = np.array(list(said.values())), np.zeros(len(said))
        for part in range(_PARTS):
            slope, start = _fitted(known, others[parts != part])
            odds[parts == part] = others[parts == part] @ slope + start
        if options.write:
            directions.COURTESY.write_text(directions.to_json(embedder.info.id, slopes * _SCALE, bias), "utf-8")
    rows = [
        {
            "log_odds": one,
            "courtesies": float((tested @ slopes + bias > one).mean()),
            "messages": float((odds > one).mean()),
        }
        for one in _ODDS
    ]
    _report.print_table(f"{len(tested)} courtesies, {len(said)} messages", ("log_odds", "courtesies", "messages"), rows)
    return 0


def _courtesies(kind: str) -> list[str]:
    """The lines of this kind, in both languages."""
    parts = re.split(r"^\[(\w+) \w+\]\n", _FILE.read_text("utf-8"), flags=re.MULTILINE)
    return [
        line
        for name, text in zip(parts[1::2], parts[2::2], strict=True)
        if name == kind
        for line in text.split("\n")
        if line
    ]


def _fitted(courtesies: Matrix, others: Matrix) -> tuple[Matrix, float]:
    table = np.vstack([courtesies, others])
    wanted = np.array([1.0] * len(courtesies) + [0.0] * len(others))
    names = [str(place) for place in range(table.shape[1])]
    found = fit(names, table, wanted, penalty=_PENALTY, base=float(wanted.mean()))
    bias = found.pop("bias")
    return np.array([found[name] for name in names]), bias


if __name__ == "__main__":
    sys.exit(main())
