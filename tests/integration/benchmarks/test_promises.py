"""The benchmark of promised latencies measures each kind, on a memory that is as large as it says."""

import json
from pathlib import Path

import pytest

from benchmarks import promises


@pytest.mark.long
@pytest.mark.req("M8", partly="the benchmark fills and asks 100,000; here it does so with 300")
@pytest.mark.req("M6", partly="the benchmark compares it with its limit at 100,000 × 1,024; here with 300")
def test_each_promise_is_measured_as_often_as_asked_on_as_many_memories_as_asked(tmp_path: Path) -> None:
    # Given a small memory / When the benchmark runs with few of everything
    out = tmp_path / "rows.json"
    few = {"size": 300, "dim": 16, "queries": 4, "users": 3, "each": 2, "pause": 0, "canvases": 2}
    words = [word for name, value in few.items() for word in (f"--{name}", str(value))]
    assert promises.main([*words, "--home", str(tmp_path / "home"), "--json", str(out)]) == 0

    # Then each kind was asked so often, with every server there, and what has a limit is judged by it
    told = json.loads(out.read_text(encoding="utf-8"))
    times = {row["what"]: row["n"] for row in told["rows"]}
    users = {"recall, users with a pause": 6, "recall, users at once": 6}
    assert times == dict.fromkeys(promises.PROMISES, 4) | users | {"canvas": 40}
    assert told["degraded"] == 0
    for row in told["rows"]:
        _, limit, rank = promises.PROMISES[row["what"]]
        assert row.get("met") is (None if limit is None else row[rank] < limit)
    assert set(told["ratios"]) == {"route/plain", "route/ids"}
