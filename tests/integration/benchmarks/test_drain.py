"""`benchmarks.drain` end to end: a real worker of two processes, woken once, leaves nothing pending."""

import json
from pathlib import Path

import pytest

from benchmarks import drain


@pytest.mark.long
@pytest.mark.req("X32", partly="one wake-up sets several processes to work")
def test_a_backlog_is_drained_by_one_wake_up(tmp_path: Path) -> None:
    out = tmp_path / "drain.json"
    code = drain.main(["--size", "300", "--workers", "2", "--embedder", "remote", "--scopes", "2", "--json", str(out)])
    assert code == 0
    [row] = json.loads(out.read_text())["rows"]
    assert (row["embedder"], row["workers"], row["scopes"], row["n"]) == ("remote", 2, 2, 300)
    assert row["per_s"] > 0
    assert row["ratio"] is None
