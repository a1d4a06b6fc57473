"""Anchors (A11–A13, C11, X27–X29): what a query pins down is there, with its unit, however old."""

import pytest

import biem
from biem.aim import AimMemory
from tests.integration.aim.conftest import facts

MODELS = (
    "Model Alpha reads 10M tokens at once",
    "Model Beta reads 128K tokens at once",
    "Model Gamma reads 200K tokens at once",
    "Model Delta reads 10K tokens at once",
    "The test of the model had 10 sentences",
)


@pytest.mark.req("A12", "A13", "C11", "X27")
def test_only_what_has_the_asked_number_with_its_unit_is_shown(aim: AimMemory) -> None:
    # Given models of several sizes / When one size is asked for / Then only that is shown, by the route and by recall
    facts(aim, *MODELS)
    nodes, _ = aim.route_memory("10M tokens 的模型")
    assert [node.node.text for node in nodes] == [MODELS[0]]
    assert [hit.node.text for hit in aim.memory.recall("10M tokens 的模型")] == [MODELS[0]]
    assert [hit.node.text for hit in aim.memory.recall("10M tokens 的模型", profile="aim")] == [MODELS[0]]


@pytest.mark.req("A12", "X29")
def test_a_question_without_anchors_is_answered_by_meaning(aim: AimMemory) -> None:
    facts(aim, "她对花生严重过敏", "The parcel locker is behind the bakery")
    nodes, _ = aim.route_memory("where do I collect a package?", top_n=1)
    assert len(nodes) == 1
    assert aim.memory.recall("where do I collect a package?")[0].node.text == "The parcel locker is behind the bakery"


@pytest.mark.req("C11", partly="times are no anchors, bounds neither")
@pytest.mark.parametrize(
    "query", ["What happened in May 2023?", "5月2号做了什么？", "in the last 3 days", "超过10M的模型"]
)
def test_times_and_bounds_drop_nothing(aim: AimMemory, query: str) -> None:
    ids = facts(
        aim, "In May 2023 we went to Porto", "5月2号去了里斯本", "模型 A 有 10M", "模型 B 有 128K", "It took 3 days"
    )
    assert {hit.node.id for hit in aim.memory.recall(query)} == set(ids)


@pytest.mark.req("X28")
def test_a_matched_memory_stays_reachable_after_a_thousand_others(memory: biem.Memory) -> None:
    # Given one memory with an anchor, and a thousand written after it
    wanted = memory.remember("The locker of Ada opens with code AX-7714")
    memory.remember_many({"text": f"Unrelated remark {number} of the day"} for number in range(1_000))
    assert memory.flush(300)

    # When it is asked for / Then it is returned, and by the profile of this package first
    assert memory.recall("AX-7714")[0].node.id == wanted
