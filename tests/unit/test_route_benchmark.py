"""What a route costs, as `benchmarks.route` measures it."""

import pytest

from benchmarks.route import measure
from biem.domain.aim_policy import AimPolicy


@pytest.mark.req("A19")
@pytest.mark.req("A63", partly="a million nodes, and the curves themselves, are in the benchmark's table")
def test_of_a_hundred_thousand_nodes_a_route_scores_k_and_a_fast_context_is_a_third_of_a_strict_one() -> None:
    row = measure(100_000, queries=3)
    assert row["scored"] == AimPolicy().local_cluster_k == 32
    assert row["fast_strict"] <= 0.3  # type: ignore[operator]
    assert row["recall_5"] >= row["no_inertia"] >= 0  # type: ignore[operator]
