"""The benchmark of scale end to end, with scopes small enough for a test."""

import json
from pathlib import Path

import pytest

from benchmarks import scale


@pytest.mark.parametrize(
    ("slowest", "failed", "code"), [(1.2, [], 0), (1.21, [], 1), (1.0, ["build: out of memory"], 1)]
)
@pytest.mark.parametrize("what", ["ack", "cycle", "upkeep"])
def test_a_ratio_above_a_fifth_or_a_failed_job_fails_the_command(
    monkeypatch: pytest.MonkeyPatch, what: str, slowest: float, failed: list[str], code: int
) -> None:
    ratios = {f"{one} {rank}": 1.0 for one in ("ack", "cycle", "upkeep") for rank in ("p50", "p95")}
    monkeypatch.setattr(scale, "_measure", lambda _: ([], ratios | {f"{what} p50": slowest}, {}, failed))
    assert scale.main([]) == code


@pytest.mark.long
@pytest.mark.req("X32", partly="the benchmark runs; its numbers are in the documents")
def test_the_benchmark_of_scale_runs_every_job_at_both_sizes(tmp_path: Path) -> None:
    out = tmp_path / "scale.json"
    code = scale.main(["--small", "300", "--large", "900", "--rounds", "2", "--acks", "4", "--json", str(out)])
    report = json.loads(out.read_text())
    assert report["failed"] == []
    # Two rounds are too few to judge the ratios, but not to say what follows from them
    ratios = report["ratios"]
    assert code == int(max(ratios[f"{what} p50"] for what in ("ack", "cycle", "upkeep")) > 1.2)
    assert {row["size"] for row in report["rows"]} == {300, 900}
    names = {row["what"] for row in report["rows"]}
    assert names >= {"ack", "cycle", "upkeep", "job build", "job lifecycle", "job integrity"}
    assert all(row["n"] > 0 and row["p50_ms"] > 0 for row in report["rows"])
    assert set(report["ratios"]) == {f"{what} {rank}" for what in ("ack", "cycle", "upkeep") for rank in ("p50", "p95")}
