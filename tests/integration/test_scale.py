"""The benchmark of scale end to end, with scopes small enough for a test."""

import json
from pathlib import Path

import pytest

from benchmarks import scale


@pytest.mark.req("X32", partly="the benchmark runs; its numbers are in the documents")
def test_the_benchmark_of_scale_runs_every_job_at_both_sizes(tmp_path: Path) -> None:
    out = tmp_path / "scale.json"
    code = scale.main(["--small", "300", "--large", "900", "--rounds", "2", "--acks", "4", "--json", str(out)])
    report = json.loads(out.read_text())
    assert code in (0, 1)  # two rounds are too few to judge
    assert report["failed"] == []
    assert {row["size"] for row in report["rows"]} == {300, 900}
    names = {row["what"] for row in report["rows"]}
    assert names >= {"ack", "cycle", "upkeep", "job build", "job lifecycle", "job integrity"}
    assert all(row["n"] > 0 and row["p50_ms"] > 0 for row in report["rows"])
    assert set(report["ratios"]) == {f"{what} {rank}" for what in ("ack", "cycle", "upkeep") for rank in ("p50", "p95")}
