"""What few memories meet is found under every profile, in a block and from prepared candidates, on the real servers."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

import biem
from biem.domain.policies.context import ContextPolicy
from biem.domain.policies.orbit import OrbitPolicy
from tests.support.fakes import WordEmbedder, eventually
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

CROWD = 400
QUESTION = "What about the garden at the river?"
MERRY = (
    "The garden at the river: I am so happy and delighted, wonderful news from the valley over there",
    "The garden at the river: 我今天非常高兴，太开心了",
)
LIVELY = (
    "The garden at the river, and beside its gate an apple tree that somebody planted long ago",
    "The garden at the river, where an old bridge leads to the mill and the road into town",
)


TAGGED = (
    "The garden at the river: ask the old ferryman for the key of its northern gate",
    "The garden at the river: ask somebody from the town for the plan of its cellar",
)
SKILLS = (
    "The garden at the river is watered by opening the lower sluice in the evening",
    "The garden at the river is fenced by driving willow stakes into the wet bank",
)
CONDITIONS: list[tuple[str, Any]] = [
    ("sentiment", (0.3, 1.0)),
    ("min_energy", 0.9),
    ("tags", ["gatekeeper"]),
    ("kinds", ["skill"]),
    ("speakers", ["Rosa"]),
]
UNHURRIED = {"context": ContextPolicy(min_confidence=0.0), "orbit": OrbitPolicy(min_confidence=0.0, least_talk=0.0)}
"""A block tells the best however unsure, and what is prepared answers however little of it there is."""


@pytest.fixture(scope="module")
def crowded(settings: Configure) -> Iterator[tuple[biem.Memory, dict[str, Any]]]:
    """Four hundred memories that all answer the question better than the two that meet each condition."""
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(sleep=ONLY_SLEEP, **UNHURRIED), scope=scope, embedder=WordEmbedder(dim=256)) as memory:
        for number in range(CROWD):
            memory.remember(f"The garden at the river has plot P{number}", kind="knowledge", importance=2)
        wanted = {
            "tags": {memory.remember(text, kind="knowledge", importance=2, tags=["gatekeeper"]) for text in TAGGED},
            "kinds": {memory.remember(text, kind="skill", importance=2) for text in SKILLS},
            "speakers": {memory.remember(text[4:], speaker="Rosa", importance=2) for text in TAGGED},
            "sentiment": {memory.remember(text, kind="emotion", importance=2) for text in MERRY},
            "min_energy": {memory.remember(text, kind="knowledge", importance=5) for text in LIVELY},
        }
        assert memory.flush(120)
        yield memory, wanted


@pytest.mark.req("B14", partly="energy and mood; what Milvus knows has tests with the vector index")
@pytest.mark.parametrize(
    ("profile", "name", "value"),
    [
        (profile, *condition)
        for profile in ("hybrid", "biem", "notes", "aimate", "aim", "angel")
        for condition in CONDITIONS
        if profile != "aim" or condition[0] in ("sentiment", "min_energy")  # in its mirror all but the newest fade
    ],
)
def test_the_few_that_meet_a_condition_are_found_among_many_that_fit_better(
    crowded: tuple[biem.Memory, dict[str, Any]], profile: str, name: str, value: Any
) -> None:
    # Given two of four hundred / When they are asked for by one condition / Then both are shown, and nothing else
    memory, wanted = crowded
    hits = memory.recall(QUESTION, top_k=10, profile=profile, **{name: value})
    assert {hit.node.id for hit in hits} == wanted[name]


@pytest.mark.parametrize(("name", "value"), CONDITIONS)
def test_a_block_tells_just_the_few_that_meet_a_condition(
    crowded: tuple[biem.Memory, dict[str, Any]], name: str, value: Any
) -> None:
    # Given two of four hundred / When a prompt and an agent's plugin ask by one condition / Then both tell these two
    memory, wanted = crowded
    block = memory.context(QUESTION, top_k=10, **{name: value})
    assert {hit.node.id for hit in block.hits} == wanted[name]
    assert all(hit.node.text in block.text for hit in block.hits)
    plugin = biem.BIEMContextPlugin(memory, top_k=10, **{name: value})
    assert {hit.node.id for hit in plugin.recall_context(QUESTION).hits} == wanted[name]


@pytest.mark.parametrize(("name", "value"), CONDITIONS)
def test_a_follow_up_finds_just_the_few_that_meet_a_condition(
    crowded: tuple[biem.Memory, dict[str, Any]], name: str, value: Any
) -> None:
    # Given a session with memories prepared, of which those that meet the condition are no part
    memory, wanted = crowded
    session = f"by {name}"
    first = memory.recall(QUESTION, top_k=10, session=session)
    assert wanted[name].isdisjoint(hit.node.id for hit in first)
    eventually(lambda: memory.recall("the garden at the river", top_k=5, session=session).way == "orbit")

    # When the next question has it / Then just those are shown
    hits = memory.recall(QUESTION, top_k=10, session=session, **{name: value})
    assert {hit.node.id for hit in hits} == wanted[name]
