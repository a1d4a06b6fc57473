"""Fit how a new memory is recognised as the later state of an older one: `python -m benchmarks.fit_updates FILE…`.

Logistic regression (`biem.adapters.contradiction.later_states`) on pairs of messages: those of the files, by hand and
in the format of `benchmarks.lives.told`, and of the lives written by hand, split `dev`. Of the lives each message of a
user is paired with the earlier ones that are most similar to it, as many as the engine compares: an update is a former
and a later value of one matter, all others are innocent. Pairs that a rule decides are left out. So the share of
updates is that of the pairs which the regression judges, and its log-odds mean what they say.

Prints, for some log-odds, which share of the updates and how many of the innocent pairs reach them; cross-validated in
five parts, of lives by life. `--write` replaces `biem/adapters/contradiction/later_states.json`; commit it.
"""

import argparse
import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks import _report
from benchmarks._embedders import PassageCache, choose_embedder
from benchmarks.fit_conflicts import fit
from benchmarks.lives.decided import later_of, with_vectors
from benchmarks.lives.facts import Life
from benchmarks.lives.scripted import scripted
from benchmarks.lives.told import told
from biem.adapters.contradiction.later_states import LaterStates
from biem.adapters.contradiction.recall_rules import RecallRules
from biem.adapters.contradiction.rules import RuleContradictions
from biem.config import load_settings
from biem.domain.conflict import Statement
from biem.domain.policies.conflicts import ConflictPolicy
from biem.ports import Embedder

Matrix = NDArray[np.float64]

_PENALTY = 5.0
_PARTS = 5
_NEAREST = ConflictPolicy().neighbours
_ODDS = (0.0, 0.5, 1.0, 1.25, 2.0, 3.0, 3.8)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two messages; `group`: pairs of one group are in one part."""

    group: str
    older: Statement
    newer: Statement
    update: bool


def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(
        "python -m benchmarks.fit_updates", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="pairs written by hand")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep the vectors of passages there for the next run")
    parser.add_argument("--write", action="store_true", help="replace the packaged weights")
    options = parser.parse_args(arguments)
    lives = [one for lang in ("en", "zh", "mixed") for one in scripted(lang, "dev")]
    with closing(PassageCache(choose_embedder("e5", load_settings()), options.cache)) as embedder:
        pairs = [*_told(options.files), *lived(lives, embedder)]
        names, table, wanted, groups = _table(pairs, embedder)
    _report.print_table("Cross-validated", ("log_odds", "updates", "innocent"), _rows(table, wanted, groups))
    weights = fit(names, table, wanted, penalty=_PENALTY, base=float(wanted.mean()))
    text = json.dumps(weights, indent=1) + "\n"
    print(f"{len(wanted)} pairs, {int(wanted.sum())} updates\n{text}")
    if options.write:
        Path(str(files("biem.adapters.contradiction").joinpath("later_states.json"))).write_text(text, encoding="utf-8")
    return 0


def _told(paths: Sequence[Path]) -> Iterator[Pair]:
    for pair in told(paths):
        older, newer = later_of(pair)
        yield Pair(pair.older, older, newer, pair.label == "update")


def lived(lives: Sequence[Life], embedder: Embedder) -> Iterator[Pair]:
    """A user's messages with the most similar earlier ones. Of those that are about one matter a former and a later
    value are an update; others of one matter repeat or add something and are left out.
    """
    for one in lives:
        updates = {(old, new) for question in one.questions for old in question.stale for new in question.answers}
        of_one = [question.relevant for question in one.questions]
        turns = [turn for turn in one.turns if turn.role == "user"]
        vectors = embedder.embed([turn.text for turn in turns], "passage")
        for place, newer in enumerate(turns[1:], 1):
            alike = embedder.similarity(vectors[place], vectors[:place])
            for older in (turns[near] for near in np.argsort(-alike, kind="stable")[:_NEAREST].tolist()):
                update = (older.id, newer.id) in updates
                alone = older.key != newer.key or not newer.key
                if update or (alone and not any({older.id, newer.id} <= relevant for relevant in of_one)):
                    yield Pair(one.id, Statement(older.text, at=older.at), Statement(newer.text, at=newer.at), update)


def _table(pairs: Sequence[Pair], embedder: Embedder) -> tuple[list[str], Matrix, Matrix, NDArray[np.int64]]:
    """Names of the features, a row a pair that is not decided without them, 1 for updates, and the part."""
    recall_rules = RecallRules()
    rules, later_states = RuleContradictions(recall_rules), LaterStates(recall_rules)
    rows = list[tuple[dict[str, float], bool, int]]()
    known = with_vectors([side for pair in pairs for side in (pair.older, pair.newer)], embedder)
    for pair in pairs:
        (older, vector), (newer, other) = known[pair.older.text], known[pair.newer.text]
        newer = Statement(newer.text, at=newer.at, follows=pair.newer.follows, changed=newer.changed)
        alike = float(embedder.similarity(vector, np.stack([other]))[0])
        if not later_states.may_judge(newer, alike) or rules.cues(older, newer, alike) is None:
            continue
        if found := later_states.features(older, newer, alike):
            rows.append((found, pair.update, zlib.crc32(pair.group.encode()) % _PARTS))
    names = list(rows[0][0])
    return (
        names,
        np.array([[row[name] for name in names] for row, _, _ in rows]),
        np.array([float(update) for _, update, _ in rows]),
        np.array([part for _, _, part in rows]),
    )


def _rows(table: Matrix, wanted: Matrix, parts: NDArray[np.int64]) -> list[dict[str, object]]:
    odds, names = np.zeros(len(wanted)), [str(place) for place in range(table.shape[1])]
    for part in range(_PARTS):
        here = parts == part
        base = float(wanted[~here].mean())
        weights = fit(names, table[~here], wanted[~here], penalty=_PENALTY, base=base)
        odds[here] = table[here] @ np.array([weights[name] for name in names]) + weights["bias"]
    return [
        {
            "log_odds": one,
            "updates": float((odds[wanted == 1] >= one).mean()),
            "innocent": int((odds[wanted == 0] >= one).sum()),
        }
        for one in _ODDS
    ]


if __name__ == "__main__":
    sys.exit(main())
