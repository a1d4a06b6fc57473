"""Fit what tells a question for a whole time from others that name one: `python -m benchmarks.fit_agenda [--write]`.

"Walk me through last Thursday" asks for everything that happened then, "Who did I meet last Thursday?" for something.
Learns from the questions in `benchmarks/lives/agenda`, a line each with `all` or `topic` and a tab before it: a
logistic regression on the vectors of the packaged embedder, of the questions without their times.
Questions of lives by hand, split `dev`, that name a time ask for something, but for those of lives about times.

Prints how often it is right, fitted to one half of the questions and tested on the other, in both directions, and with
the rules that need no vector. `--write` replaces `agenda.json` in `biem/adapters/embedders`.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._embedders import choose_embedder
from benchmarks.fit_confidence import fit as fit_logistic
from benchmarks.lives.scripted import scripted
from biem.adapters.embedders import directions
from biem.config import load_settings
from biem.domain.times.asked import asked_time

AGENDA = Path(__file__).parent / "lives" / "agenda"
_PENALTY = 3e-2
"""Of the squared slopes."""
_NOW = datetime(2026, 5, 13, 18, tzinfo=UTC)
"""When the questions are asked; what they ask for does not depend on it."""
_ALL = "all"


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_agenda", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="replace the packaged direction")
    options = parser.parse_args(arguments)
    told = [*questions(), *of_lives()]
    read = [(wants, asked) for wants, text in told if (asked := asked_time(text, _NOW)) and not asked.which]
    wanted = np.array([wants == _ALL for wants, _ in read])
    by_rule = np.array([asked.only for _, asked in read])
    with closing(choose_embedder("e5", load_settings())) as embedder:
        table = np.asarray(embedder.embed([asked.topic for _, asked in read], "query"), dtype=np.float64)
        odds = np.zeros(len(read))
        for half in (0, 1):
            tested = np.arange(len(read)) % 2 == half
            slopes, bias = _fit(table[~tested], wanted[~tested])
            odds[tested] = table[tested] @ slopes + bias
        slopes, bias = _fit(table, wanted)
        model = embedder.info.id
    rows = [
        {
            "with": name,
            "questions": len(read),
            "right": float((said == wanted).mean()),
            "found of all": float(said[wanted].mean()),
            "wrong of topic": float(said[~wanted].mean()),
        }
        for name, said in (("rules", by_rule), ("vectors", odds > 0), ("either", by_rule | (odds > 0)))
    ]
    _report.print_table("Questions for a whole time", tuple(rows[0]), rows)
    if options.write:
        directions.AGENDA.write_text(directions.to_json(model, slopes, bias), "utf-8")
    return 0


def questions() -> Iterator[tuple[str, str]]:
    """What each question wants, `all` or `topic`, and its text. Raises ValueError for another line."""
    for file in sorted(AGENDA.glob("*.txt")):
        for line in file.read_text("utf-8").splitlines():
            wants, text = line.split("\t")
            yield wants, text


def of_lives() -> Iterator[tuple[str, str]]:
    """The questions of lives of other matters, each once, with `topic`."""
    lives = (one for lang in ("en", "zh", "mixed") for one in scripted(lang, "dev") if not one.id.startswith("times-"))
    for text in sorted({question.text for one in lives for question in one.questions}):
        yield "topic", text


def _fit(table: NDArray[np.float64], wanted: NDArray[np.bool_]) -> tuple[NDArray[np.float64], float]:
    sizes = np.array([wanted.sum(), (~wanted).sum()])
    weight = np.where(wanted, len(wanted) / 2 / sizes[0], len(wanted) / 2 / sizes[1])
    return fit_logistic(table, wanted.astype(np.float64), weight, _PENALTY)


if __name__ == "__main__":
    sys.exit(main())
