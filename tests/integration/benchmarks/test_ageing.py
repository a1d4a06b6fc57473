"""Ageing and forgetting, measured end to end on the embedded servers with small stores."""

import json
from pathlib import Path

import pytest

from benchmarks import ageing
from tests.support.effort import sized


@pytest.mark.sized
@pytest.mark.req("D3")  # the order by the key, and θ as a range of keys: test_energy; w: integration/aim/test_decay
@pytest.mark.req("C29", "X6", partly="an idle day of all jobs writes transitions only")
def test_an_idle_day_writes_nothing_but_transitions(tmp_path: Path) -> None:
    # Given a store with hot memories and some whose time ends on that day, two thirds of it written as rows
    out, size, remembered = tmp_path / "out.json", sized(300, 900), sized(100, 300)

    # When a day goes by in which all jobs run
    code = ageing.main(["--size", str(size), "--remembered", str(remembered), "--json", str(out)])

    # Then every job ran, there were transitions, and every tuple written belongs to one
    assert code == 0
    [row] = json.loads(out.read_text())["rows"]
    assert (row["size"], row["remembered"], row["hours"]) == (size, remembered, 24)
    assert row["transitions"] >= remembered // 3
    assert all(job["runs"] > 0 for job in row["jobs"])
    assert next(job for job in row["jobs"] if job["job"] == "lifecycle")["transitions"] > 0
    assert row["unexplained"] == 0
    assert row["tuples_written"] <= 3 * row["transitions"]
    assert row["redis_writes"] <= 4 * row["transitions"]
