"""Fit the model that reads two messages together: `python -m benchmarks.fit_supersession [--cache DIR] [--write]`.

Needs torch (`pip install biem[bge]`) and hours on two cores. Learns low-rank additions to the matrices of e5
(`biem/adapters/embedders/pair_reader.py`) from pairs of messages, an update or innocent:

    pairs by hand (`benchmarks/lives/told`), but those of `HELD_OUT`,
    the older message of one of these with the change of another, which are innocent,
    made pairs of `dev` templates (`benchmarks/lives/pairs.py`), and
    of the lives by hand, split `dev`, messages with the later ones that are similar to them; those of one message are
    learnt as a choice among these and none of them, too.

`--further` begins with the packaged weights, and takes half as many passes.
Prints, for the pairs of `HELD_OUT`, held-out made pairs and held-out lives, how often an update is rated above an
innocent pair (`auc`), and the share of updates above all but 2, 10 and 50 of 1,000 innocent pairs. `--write` replaces
`supersession.npz` in `biem/adapters/embedders`; `--packaged` measures that file.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks.fit_updates import lived
from benchmarks.lives import pairs as made
from benchmarks.lives.grammar import Split
from benchmarks.lives.scripted import scripted
from benchmarks.lives.told import told
from biem.adapters.embedders.pair_reader import SUPERSESSION, SharedPairOdds
from biem.config import load_settings
from biem.domain.text import is_han
from biem.ports.embedding import TextPair

TOLD = Path(__file__).parent / "lives" / "told"
HELD_OUT = re.compile(r"openly/.*_1[12]\.|held_out|tempting/second_|of_all_kinds/.*_4\.|read_together/.*_[48]\.")
"""Files of pairs that are never learnt from."""
_MADE, _MADE_HELD_OUT, _SEED, _OTHER_SEED = 1500, 900, 1, 9
_LIVED = {"dev": (11000, 9000), "held-out": (1500, 2000)}
"""Messages of lives, at most, of which a later one is an update, and of which none is."""
_UNRELATED = 1300
"""In each language."""
_ONCE = timedelta(hours=1)
_PASSES = 2
_WRONG = (2, 10, 50)
"""Innocent pairs of 1,000."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A pair and what becomes of its older message."""

    pair: TextPair
    ended: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_supersession",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--packaged", action="store_true", help="fit nothing, measure the packaged file")
    parser.add_argument("--further", action="store_true", help="begin with the packaged weights")
    parser.add_argument("--write", action="store_true", help="replace the packaged file")
    options = parser.parse_args(arguments)
    if not options.packaged:
        from benchmarks._pair_network import fit  # noqa: PLC0415  torch is optional

        by_hand = list(_told(held_out=False))
        learnt = [[one] for one in (*by_hand, *_unrelated(by_hand), *_made("dev", _MADE, _SEED))]
        learnt += _lived("dev", options.cache)
        ended = [[one.ended for one in of] for of in learnt]
        passes, start = (_PASSES // 2, SUPERSESSION) if options.further else (_PASSES, None)
        network = fit([[one.pair for one in of] for of in learnt], ended, passes, start)
        if options.write:
            np.savez(SUPERSESSION, **network.kept())  # type: ignore[arg-type]  # its last argument is a bool
            print(f"fitted to {sum(map(len, learnt))} pairs, {sum(map(sum, ended))} of them updates")
    sets = {
        "by hand": list(_told(held_out=True)),
        "made": list(_made("held-out", _MADE_HELD_OUT, _OTHER_SEED)),
        "lives": [one for of in _lived("held-out", options.cache) for one in of],
    }
    rows = [_row(name, pairs) for name, pairs in sets.items()]
    _report.print_table("Updates above innocent pairs, held out, by the packaged file", tuple(rows[0]), rows)
    return 0


def _told(*, held_out: bool) -> Iterator[Labelled]:
    chosen = [one for one in sorted(TOLD.rglob("*.txt")) if bool(HELD_OUT.search(one.as_posix())) == held_out]
    for pair in told(chosen):
        yield Labelled(TextPair(pair.older, pair.newer, pair.apart < _ONCE), pair.label == "update")


def _unrelated(by_hand: Sequence[Labelled]) -> Iterator[Labelled]:
    """A train that was cancelled is not ended by a move to another town, whose words of change are strong."""
    draw = Random(_SEED)
    for han in (False, True):
        here = [one for one in by_hand if is_han(one.pair.first) == han]
        changes = [one.pair.second for one in here if one.ended]
        for _ in range(_UNRELATED):
            yield Labelled(TextPair(draw.choice(here).pair.first, draw.choice(changes)), ended=False)


def _made(split: Split, count: int, seed: int) -> Iterator[Labelled]:
    for lang in ("en", "zh"):
        for pair in made.pairs(count, seed, lang, split):
            yield Labelled(TextPair(pair.older, pair.newer, pair.apart < _ONCE), pair.label == "update")


def _lived(split: Split, cache: Path | None) -> Iterator[list[Labelled]]:
    """For a message those that came later and have it among the most similar earlier ones."""
    lives = [one for lang in ("en", "zh", "mixed") for one in scripted(lang, split)]
    of = dict[tuple[str, str], list[Labelled]]()
    with closing(PassageCache(choose_embedder("e5", load_settings()), cache)) as embedder:
        for one in lived(lives, embedder):
            at_once = bool(one.older.at and one.newer.at and one.newer.at - one.older.at < _ONCE)
            pair = TextPair(one.older.text, one.newer.text, at_once)
            of.setdefault((one.group, one.older.text), []).append(Labelled(pair, one.update))
    found = list(of.values())
    Random(_SEED).shuffle(found)
    for ended, most in zip((True, False), _LIVED[split], strict=True):
        yield from [some for some in found if any(one.ended for one in some) == ended][:most]


def _row(name: str, labelled: Sequence[Labelled]) -> dict[str, object]:
    odds = SharedPairOdds(SUPERSESSION, None, lambda: None)([one.pair for one in labelled])
    ended = np.array([one.ended for one in labelled])
    updates, innocent = odds[ended], np.sort(odds[~ended])[::-1]
    reached = {
        f"at {wrong} of 1,000": float((updates > innocent[wrong * len(innocent) // 1000]).mean()) for wrong in _WRONG
    }
    return {"pairs": name, "updates": len(updates), "innocent": len(innocent), "auc": area(updates, innocent)} | reached


def area(wanted: NDArray[np.float32], others: NDArray[np.float32]) -> float:
    """How often one that is wanted is rated above another: the area under the curve."""
    return float(np.searchsorted(np.sort(others), wanted).mean() / len(others))


if __name__ == "__main__":
    sys.exit(main())
