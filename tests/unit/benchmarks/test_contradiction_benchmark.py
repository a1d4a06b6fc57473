"""The conflict benchmark counts right, and its fit finds what separates contradictions from the rest."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import conflicts, fit_conflicts
from benchmarks.conflicts import Judged, Pair
from biem.adapters.contradiction.rules import RuleContradictions
from biem.domain.conflict import Statement


def pair(older: str, newer: str, *, contradiction: bool) -> Pair:
    """A labelled pair of one speaker."""
    return Pair(Statement(older, "Ann"), Statement(newer, "Ann"), contradiction)


def judged(*confidences: float) -> list[Judged]:
    """Verdicts that may act if they are sure enough."""
    return [Judged(value, value) for value in confidences]


PAIRS = [
    pair("My birthday is May 3", "My birthday is June 9", contradiction=True),
    pair("I like tea with milk", "I don't like tea with milk", contradiction=True),
    pair("I live in Rome", "I live in Milan", contradiction=True),
    pair("The sky is blue", "My sister lives in Milan", contradiction=False),
]


def test_a_file_of_pairs_is_read_with_its_labels(tmp_path: Path) -> None:
    # Given a gzipped file, one of whose texts has a line separator in it
    rows = [
        {"statement_a": "one\u2028line", "statement_b": "two", "label": "contradiction"},
        {"statement_a": "three", "statement_b": "four", "label": "consistent"},
    ]
    path = tmp_path / "conflict_x.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()))
    # When it is read
    pairs = list(conflicts.read_pairs(path))
    # Then every line is a pair
    assert [(p.older.text, p.contradiction) for p in pairs] == [("one\u2028line", True), ("three", False)]


def test_a_row_counts_what_each_threshold_lets_through() -> None:
    # Given verdicts that act, are recorded, and are only suspicions, the last of them wrong
    row = conflicts.measure("pairs", PAIRS, judged(0.9, 0.6, 0.0, 0.4))
    # Then each threshold has its own precision and recall
    assert (row["precision"], row["recall"]) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
    assert row["f1"] == pytest.approx(2 / 3)
    assert (row["precision_recorded"], row["recall_recorded"]) == (1.0, pytest.approx(2 / 3))
    assert (row["precision_acting"], row["recall_acting"], row["acting"]) == (1.0, pytest.approx(1 / 3), 1)


def test_a_row_shows_what_no_skill_would_give() -> None:
    # Given three contradictions among four pairs, then calling all so finds three of four with a precision of 3/4
    for found, auc in (([0.9, 0.6, 0.5, 0.4], 1.0), ([0.4] * 4, 0.5), ([0.1, 0.6, 0.4, 0.4], 0.5)):
        row = conflicts.measure("pairs", PAIRS, judged(*found))
        assert row["f1_all"] == pytest.approx(6 / 7)
        assert row["auc"] == pytest.approx(auc)
    assert conflicts.measure("pairs", PAIRS[:2], judged(0.9, 0.1))["auc"] is None


def test_a_threshold_that_nothing_reaches_has_no_precision() -> None:
    assert conflicts.measure("pairs", PAIRS, judged(*[0.0] * 4))["precision_acting"] is None


def test_what_says_more_than_is_disputed_counts_as_found_and_not_as_acting() -> None:
    # Given two sure verdicts, one of them about a part of the older text
    older = Statement("I live in Rome and have a cat", "Ann")
    pairs = [*PAIRS[:1], Pair(older, Statement("I moved to Milan", "Ann"), contradiction=True)]
    found, _ = conflicts.judge(RuleContradictions(), pairs, [None] * 2)
    row = conflicts.measure("pairs", pairs, found)
    # Then both are found, and one acts
    assert (row["recall"], row["recall_recorded"], row["recall_acting"], row["acting"]) == (1.0, 1.0, 0.5, 1)


def test_the_rules_find_the_three_conflicts() -> None:
    found, _ = conflicts.judge(RuleContradictions(), PAIRS, [None] * 4)
    assert [one.confidence >= 0.5 for one in found] == [True, True, True, False]


def test_the_fit_weighs_the_cue_that_tells_and_not_the_other() -> None:
    # Given a cue that goes with contradictions and one that is noise
    random = np.random.default_rng(5)
    wanted = (random.random(400) < 0.4).astype(float)
    cues = np.column_stack([wanted + random.normal(0, 1, 400), random.normal(0, 1, 400)])
    # When weights are fitted
    weights = fit_conflicts.fit(["telling", "noise"], cues, wanted, penalty=10.0, base=0.4)
    # Then only the first counts
    assert weights["telling"] > 0.5
    assert abs(weights["noise"]) < 0.2


def test_the_packaged_weights_fit_the_cues() -> None:
    # Given the cues of a pair that no rule decides
    rules = RuleContradictions()
    cues = rules.cues(Statement("the plan helps people", "Ann"), Statement("the plan is costing people", "Ann"), 0.6)
    # When they are compared with the packaged tables, then each cue has its weight
    packaged = json.loads(fit_conflicts.packaged().read_text(encoding="utf-8"))
    assert cues
    for weights in packaged.values():
        assert set(weights) == {*cues, "bias"}
