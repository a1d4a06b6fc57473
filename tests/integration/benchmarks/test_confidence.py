"""The benchmarks of silence and of the local orbit end to end, with data small enough to know the answers."""

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import abstain, fit_confidence, orbit

_PEOPLE = {"Ana": "Ben", "Eva": "Tom"}
_THINGS = ["violin", "kayak", "telescope", "accordion", "canoe", "microscope", "hammock", "lantern", "compass", "tent"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Two conversations of two people each, with questions that name them."""
    file = tmp_path / "tiny_en.dev.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for number, (one, other) in enumerate(_PEOPLE.items()):
            things = _THINGS[number * 5 : number * 5 + 5]
            turns = [
                {
                    "turn_id": f"t{place}",
                    "session": f"s{place // 12}",
                    "timestamp": f"2024-03-{1 + place // 12:02}T09:00:00",
                    "speaker": one if place % 2 else other,
                    "text": f"The {things[place % 5]} of item {place} was bought in shop {place}",
                }
                for place in range(48)
            ]
            questions = [
                {"question": f"Where did {one} buy item {place}?", "evidence": [f"t{place}"]}
                for place in range(0, 48, 4)
            ]
            lines.write(json.dumps({"id": f"c{number}", "lang": "en", "turns": turns, "questions": questions}) + "\n")
    return file


@pytest.mark.long
def test_strangers_questions_get_nothing_and_the_right_memory_keeps_its_answers(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    arguments = ["--data", str(data), "--json", str(out), "--embedder", "synthetic", "--thresholds", "0,1"]
    arguments += ["--small", "6"]

    assert abstain.main([*arguments, "--gate", "elsewhere"]) == 0

    report = json.loads(out.read_text())
    rows = {row["system"]: row for row in report["rows"]}
    assert rows["biem"]["n"] == 24
    assert rows["biem"]["r10"] == 1.0
    assert (rows["biem ≥ 0"]["injected"], rows["biem ≥ 0"]["r10_lost"]) == (1.0, 0.0)
    assert (rows["biem ≥ 1"]["injected"], rows["biem ≥ 1"]["r10_lost"]) == (0.0, 1.0)
    assert (rows["biem, small memories"]["n"], rows["biem, small memories"]["r10"]) == (6, 1.0)
    # The threshold suits embedders whose likeness is calibrated, and this one's is not.
    assert rows["biem"]["auc"] >= 0.85
    assert rows["biem"]["reachable"] <= 0.5
    assert (rows["biem"]["nothing"], rows["biem"]["injected_nothing"]) == (24, rows["biem"]["injected"])
    assert rows["biem"]["r10_lost"] <= 0.5
    assert "tiny_en.dev" in capsys.readouterr().out
    assert str(tmp_path) not in out.read_text()


def test_the_gate_fails_where_too_much_is_injected_or_lost() -> None:
    good = {"system": "biem", "injected": 0.05, "r10_lost": 0.01}
    assert not abstain.misses(good)
    assert abstain.misses({**good, "injected": 0.051})
    assert abstain.misses({**good, "r10_lost": 0.011})
    assert not abstain.misses({**good, "system": "biem ≥ 0.1", "injected": 1.0})


def test_the_best_threshold_is_reported_with_the_default() -> None:
    # Given a hundred answers of the right memory, of which one point may be lost, and four of a stranger's
    own = [abstain.Reply("c", True, 1.0, sure / 100, {}) for sure in range(100)]
    strangers = [abstain.Reply("c", False, 0.0, sure, {}) for sure in (0.0, 0.005, 0.012, 0.9)]

    # Then the highest threshold that loses no more is the second answer's confidence: two strangers are above
    assert abstain.reachable([*own, *strangers]) == 0.5
    assert abstain.reachable(strangers) == 0.0


def test_strict_silence_has_its_price_and_answers_are_distinguished_by_pairs() -> None:
    # Given four answers of the right memory and four of a stranger's, of which one is surer than half of ours
    own = [abstain.Reply("c", True, 1.0, sure, {}) for sure in (0.2, 0.6, 0.8, 0.9)]
    strangers = [abstain.Reply("c", False, 0.0, sure, {}) for sure in (0.1, 0.1, 0.2, 0.7)]

    # Then silence for every stranger loses that half, and silence for three of them a quarter: the tie goes with it
    assert abstain.lost_at([*own, *strangers], 0.0) == 0.5
    assert abstain.lost_at([*own, *strangers], 0.25) == 0.25
    assert abstain.lost_at(own, 0.05) == 0.0

    # And of sixteen pairs thirteen and a half are in order
    assert abstain.auc([one.confidence for one in own], [one.confidence for one in strangers]) == 13.5 / 16
    assert abstain.auc([], [0.5]) == 0.5


@pytest.mark.long
def test_follow_ups_are_asked_of_the_prefetched_and_of_everything(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"

    code = orbit.main(["--data", str(data), "--json", str(out), "--embedder", "synthetic", "--pairs", "20"])

    assert code == 0
    (row,) = json.loads(out.read_text())["rows"]
    assert row["n"] == 20
    assert 0 < row["followups"] < 20
    assert row["r10_full"] == 1.0
    assert row["lost"] == pytest.approx(row["r10_full"] - row["r10_orbit"])
    assert row["local_share"] > 0
    assert row["latency_ratio"] > 0


@pytest.mark.long
def test_both_sets_of_weights_are_fitted(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"

    code = fit_confidence.main(
        [
            "--data",
            str(data),
            "--json",
            str(out),
            "--embedder",
            "synthetic",
            "--pairs",
            "12",
            "--people",
            "tiny",
            "--small",
            "6",
        ]
    )

    assert code == 0
    rows = json.loads(out.read_text())["rows"]
    weights = {row["what"]: row for row in rows if "bias" in row}
    assert weights["silence"]["named"] > 0
    assert {"named", "mentions", "heard", "day", "together", "small"} <= set(weights["silence"])
    assert {"best", "talk", "echo"} <= set(weights["orbit"])
    assert {row["threshold"] for row in rows if "threshold" in row} >= {0.2, 0.5, 0.9}


def test_a_fit_finds_the_side_that_tells_yes_from_no() -> None:
    # Given a ground that tells yes from no, and one that does not
    random = np.random.default_rng(1)
    wanted = np.repeat([0.0, 1.0], 100)
    table = np.column_stack([wanted * 2 + random.normal(size=200), random.normal(size=200)])

    # When it is fitted / Then the first decides, and the chances follow
    slopes, bias = fit_confidence.fit(table, wanted, np.ones(200))
    assert slopes[0] > 5 * abs(slopes[1])
    chance = fit_confidence.predict(table, slopes, bias)
    assert chance[wanted == 1].mean() > 0.7 > 0.3 > chance[wanted == 0].mean()
