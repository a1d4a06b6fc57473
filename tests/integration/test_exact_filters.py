"""What few memories meet is found under every profile, on the real servers."""

import uuid
from collections.abc import Iterator
from typing import Any

import pytest

import biem
from tests.support.fakes import WordEmbedder
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


@pytest.fixture(scope="module")
def crowded(settings: Configure) -> Iterator[tuple[biem.Memory, dict[str, Any]]]:
    """Four hundred memories that all answer the question better than the two that are merry and the two lively."""
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(sleep=ONLY_SLEEP), scope=scope, embedder=WordEmbedder(dim=256)) as memory:
        for number in range(CROWD):
            memory.remember(f"The garden at the river has plot P{number}", kind="knowledge", importance=2)
        merry = {memory.remember(text, kind="emotion", importance=2) for text in MERRY}
        lively = {memory.remember(text, kind="knowledge", importance=5) for text in LIVELY}
        assert memory.flush(120)
        yield memory, {"sentiment": merry, "min_energy": lively}


@pytest.mark.req("B14", partly="energy and mood; what Milvus knows has tests with the vector index")
@pytest.mark.parametrize(("name", "value"), [("sentiment", (0.3, 1.0)), ("min_energy", 0.9)])
@pytest.mark.parametrize("profile", ["hybrid", "biem", "notes", "aimate", "aim", "angel"])
def test_the_few_that_meet_a_condition_are_found_among_many_that_fit_better(
    crowded: tuple[biem.Memory, dict[str, Any]], profile: str, name: str, value: Any
) -> None:
    # Given two of four hundred / When they are asked for by mood or energy / Then both are told, and nothing else
    memory, wanted = crowded
    hits = memory.recall(QUESTION, top_k=10, profile=profile, **{name: value})
    assert {hit.node.id for hit in hits} == wanted[name]
