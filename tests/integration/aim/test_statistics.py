"""Statistics (A55, A57, C5): counted by hand."""

from functools import partial

import pytest

from biem.aim import AimMemory
from tests.integration.aim.conftest import facts
from tests.support.fakes import eventually


def accesses(aim: AimMemory, count: int) -> bool:
    return bool(aim.get_stats()["total_access"] == count)


@pytest.mark.req("A55")
def test_statistics_equal_a_count_by_hand(aim: AimMemory) -> None:
    # Given a scripted session: three facts, one refusal, two routes of one node each
    facts(aim, "The ferry leaves at seven", "Paella needs a wide pan", "The library closes on Monday")
    assert aim.write_memory("The ferry leaves at seven") is False
    for _ in range(2):
        assert len(aim.route_memory("When does the ferry leave?", top_n=1)[0]) == 1

    # When it is counted / Then everything is as it was played
    eventually(partial(accesses, aim, 2))
    eventually(lambda: aim.get_stats()["hot_kv_size"] == 4)
    stats = aim.get_stats()
    assert (stats["hot_kv_size"], stats["node_bank_size"]) == (4, 3)
    assert stats["avg_weight"] == pytest.approx((1 + 0.8 + 0.64) / 3)
    assert 0 < stats["inertia_norm"] <= 1


@pytest.mark.req("A57")
@pytest.mark.req("C5", partly="the layers of AIM-Memory")
def test_a_node_moves_from_layer_b_to_c_as_writes_follow(aim: AimMemory) -> None:
    facts(aim, "The first fact of all")
    eventually(lambda: aim.get_stats()["layers"] == {"A": 1, "B": 1, "C": 0})
    facts(aim, *(f"A later fact, number {number}" for number in range(5)))
    eventually(lambda: aim.get_stats()["layers"] == {"A": 6, "B": 5, "C": 1})
