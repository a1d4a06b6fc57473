"""Ageing and forgetting, measured end to end on the embedded servers with small stores."""

import json
from pathlib import Path

import pytest

from benchmarks import ageing


@pytest.mark.req(
    "D3", "C29", "X6", partly="an idle day of the tiers' and the life cycle's jobs writes transitions only"
)
def test_an_idle_day_writes_nothing_but_transitions(tmp_path: Path) -> None:
    # Given a store with hot memories and some whose time ends on that day
    out = tmp_path / "out.json"

    # When a day goes by in which all jobs run
    code = ageing.main(["--size", "1200", "--json", str(out)])

    # Then there were transitions, and every tuple written belongs to one
    assert code == 0
    [row] = json.loads(out.read_text())["rows"]
    assert (row["size"], row["hours"]) == (1_200, 24)
    assert row["transitions"] >= 100
    assert row["tuples_written"] == row["explained"]
    assert row["redis_writes"] <= 4 * row["transitions"]
