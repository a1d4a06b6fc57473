"""The benchmarks of the ranking end to end on the embedded servers: pools are recorded once, then ordered again."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import ablation, fit_ranking, retrieval
from benchmarks._embedders import SyntheticEmbedder
from benchmarks._mem0 import Mem0
from biem.engine.recall.rank.score import NAMES
from biem.errors import ConfigError

_TURNS = [
    ("Ana", "I started to learn the violin in March"),
    ("Ben", "My sister moved to Lisbon last week"),
    ("Ana", ""),
    ("Ben", "The meeting about the budget is on Friday"),
    ("Ana", "我对花生过敏，吃了会起疹子"),
    ("Ben", "Our dog Rex broke his leg"),
]
_QUESTIONS: list[dict[str, Any]] = [
    {"question": "Who learned the violin?", "evidence": ["t0"], "category": "music"},
    {"question": "花生过敏", "evidence": ["t4"], "category": "health"},
    {"question": "Rex broke his leg", "evidence": ["t5"], "before_turn": 4, "category": "health"},
]


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Two files of two conversations each, one turn of which says nothing."""
    out = []
    for name in ("one", "other"):
        file = tmp_path / f"{name}_en.dev.jsonl"
        turns = [
            {"turn_id": f"t{i}", "session": f"s{i // 3}", "timestamp": None, "speaker": who, "text": text}
            for i, (who, text) in enumerate(_TURNS)
        ]
        rows = [{"id": f"{name}{i}", "lang": "en", "turns": turns, "questions": _QUESTIONS} for i in range(2)]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        out.append(str(file))
    return out


@pytest.mark.long
def test_pools_are_recorded_once_then_ablated_and_fitted(files: list[str], tmp_path: Path) -> None:
    # Given the ablation of two files, which records their pools on real servers
    out, cache = tmp_path / "ablation.json", tmp_path / "cache"
    common = ["--embedder", "synthetic", "--cache", str(cache)]
    ablation.main(["--data", *files, "--json", str(out), *common])
    report = json.loads(out.read_text())
    whole = {row["data"]: row["r10"] for row in report["rows"] if not row["signal"]}
    # Then two of three questions find their evidence: that of the third comes later
    assert whole == {"one_en.dev": pytest.approx(2 / 3), "other_en.dev": pytest.approx(2 / 3)}
    off = {row["signal"] for row in report["rows"] if row["switched"] == "off"}
    assert {"words_around", "bridge", "repetition", "balance"} < off
    assert {"activation", "conflict", "neighbours", "nameless", "revision"} < off
    on = {row["signal"] for row in report["rows"] if row["switched"] == "on"}
    assert {"importance", "frequency", "energetic", "recent", "mirror"} <= on
    assert {"biem.recall", "biem.recall.search", "biem.recall.rank"} <= {step["step"] for step in report["steps"]}
    pools = {file: file.stat().st_mtime_ns for file in cache.glob("pools-*.npz")}
    assert len(pools) == 2
    # And the fit reads them again instead of asking servers
    out = tmp_path / "fit.json"
    assert fit_ranking.main(["--data", *files, "--folds", "2", "--json", str(out), *common]) == 0
    report = json.loads(out.read_text())
    assert {(row["data"], row["weights"]) for row in report["rows"]} == {
        (data, way) for data in whole for way in ("default", "cross-validated", "other sets")
    }
    assert all(row["R@10"] <= 2 / 3 + 1e-9 for row in report["rows"])
    assert set(report["weights"]) == set(NAMES)
    assert {file: file.stat().st_mtime_ns for file in cache.glob("pools-*.npz")} == pools


def test_a_retrieval_run_goes_on_after_the_last_finished_file(
    files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # Given a run that was interrupted in its second file
    out = tmp_path / "out.json"
    command = ["--data", *files, "--systems", "bm25", "--json", str(out)]
    measured: list[str] = []
    measure = retrieval.measure

    def interrupted(file: Path, options: Any) -> Any:
        measured.append(file.name)
        if len(measured) == 2:
            raise KeyboardInterrupt
        return measure(file, options)

    monkeypatch.setattr(retrieval, "measure", interrupted)
    assert retrieval.main(command) == 130
    # When the same command is given again
    assert retrieval.main(command) == 0
    # Then only the second file is measured again, and the report has both
    assert measured == ["one_en.dev.jsonl", "other_en.dev.jsonl", "other_en.dev.jsonl"]
    report = json.loads(out.read_text())
    assert {row["data"] for row in report["rows"]} == {"one_en.dev", "other_en.dev"}
    assert "going on after one_en.dev" in capsys.readouterr().err


def test_a_peer_that_is_not_installed_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BIEM_BENCH_MEM0", str(tmp_path / "absent"))
    with pytest.raises(ConfigError, match="make bench-mem0"):
        Mem0(SyntheticEmbedder())
