"""Conditions on metadata hold on every way of a recall, with all servers and without some, and miss nothing."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

import biem
from biem.domain.policies.context import ContextPolicy
from biem.plugin import BIEMContextPlugin
from tests.support.fakes import WordEmbedder
from tests.support.fault_proxy import through
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure
from tests.support.workloads import Doors

QUESTION = "What about the garden at the river?"
WHERE: dict[str, Any] = {'项目 "x"': "garden", "score": {"$gte": 3}}
CROWD, FEW = 2_300, 50
"""More than are compared one by one, and more than a search fetches at first."""


def wanted(memory: biem.Memory, *, count: int = 3, **draft: Any) -> set[str]:
    """Ids of memories that meet the conditions, among others that miss one or both."""
    items: list[dict[str, Any]] = [
        {"text": f"The garden at the river has bed {n}, and {word}", "metadata": metadata, **draft}
        for n in range(count)
        for word, metadata in (
            ("roses", {'项目 "x"': "garden", "score": 3 + n}),
            ("weeds", {'项目 "x"': "garden", "score": n - 9}),
            ("ferns", {'项目 "x"': ["field"], "score": 9}),
            ("moss", {"score": "9"}),
            ("thyme", {}),
        )
    ]
    return set(memory.remember_many(items)[::5])


def recalled(memory: biem.Memory, **options: Any) -> set[str]:
    """The ids that a recall under the conditions gives."""
    return {hit.node.id for hit in memory.recall(QUESTION, where=WHERE, **options)}


@pytest.fixture
def memory(settings: Configure) -> Iterator[biem.Memory]:
    chosen = settings(sleep=ONLY_SLEEP, context=replace(ContextPolicy(), slots=2, recent=2))
    with biem.connect(chosen, scope=biem.Scope(user=uuid.uuid4().hex), embedder=WordEmbedder(dim=256)) as opened:
        yield opened


def test_every_way_of_asking_gives_what_meets_the_conditions_and_nothing_else(memory: biem.Memory) -> None:
    # Given memories of all layers and of one talk, indexed, useful and hot
    ids = wanted(memory, layer="core", importance=5, speaker="Ann", conversation="beds", kind="task")
    assert memory.flush()
    memory.feedback(useful=[node.id for node in memory.list().items])
    ways: dict[str, Callable[[], set[str]]] = {
        "recall": lambda: recalled(memory),
        "a follow-up": lambda: recalled(memory, session="s"),
        "originals": lambda: recalled(memory, mode="strict"),
        "as of now": lambda: recalled(memory, as_of=memory.now()),
        "with a tag": lambda: recalled(memory, kinds=["task"]),
        "typed": lambda: {hit.node.id for hit in memory.recall_typed(QUESTION, where=WHERE)},
        "list": lambda: {node.id for node in memory.list(where=WHERE).items},
        "timeline": lambda: {node.id for node in memory.timeline(where=WHERE, limit=500).items},
        "every profile": lambda: set().union(
            *(recalled(memory, profile=name) for name in ("aim", "biem", "notes", "hippocampus", "angel", "aimate"))
        ),
    }
    memory.recall(QUESTION, session="s")
    assert {name: found for name, way in ways.items() if (found := way()) != ids} == {}
    assert memory.count(where=WHERE) == len(ids)

    # When a prompt is made / Then every section of it keeps to them, too
    block = memory.context(QUESTION, where=WHERE)
    assert "roses" in block.text
    told = BIEMContextPlugin(memory, conversation="now", where=WHERE).prepare_context(QUESTION)
    for text in (block.text, told):
        assert not [word for word in ("weeds", "ferns", "moss", "thyme") if word in text]
    assert memory.context(QUESTION, where={"score": {"$exists": False}, '项目 "x"': "garden"}).text == ""
    assert memory.recall(QUESTION, where={"score": "no such"}) == []


@pytest.mark.long
def test_memories_that_wait_to_be_indexed_keep_to_them(settings: Configure) -> None:
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(queue="none"), scope=scope, embedder=WordEmbedder()) as memory:
        ids = wanted(memory)
        assert recalled(memory) == ids


@pytest.mark.parametrize("down", ["milvus", "redis", "both"])
def test_without_some_servers_they_hold_as_well(down: str, doors: Doors) -> None:
    with through(doors) as memory:
        ids = wanted(memory)
        assert memory.flush()
        for name in ("milvus", "redis"):
            if down in (name, "both"):
                getattr(doors, name).shut()
        hits = memory.recall(QUESTION, where=WHERE)
        assert {hit.node.id for hit in hits} == ids
        assert memory.recall(QUESTION, where={"score": "no such"}) == []


@pytest.mark.long
def test_of_few_among_many_the_best_are_found(memory: biem.Memory) -> None:
    # Given thousands that fit a question better than the fifty that meet the conditions
    crowd = [{"text": f"What about the garden at the river? Plot {n}", "kind": "event"} for n in range(CROWD)]
    memory.remember_many([{**item, "metadata": {"n": n}} for n, item in enumerate(crowd)])
    few = [
        {
            "text": f"The garden, said {n}, has " + "far and wide " * n,
            "kind": "event",
            "metadata": {"n": -1, "few": True},
        }
        for n in range(FEW)
    ]
    ids = memory.remember_many(few)
    assert memory.flush(300)

    # When ten are asked for, by conditions that an index knows, and by one that needs the records / Then these are ten
    # of those that meet them, the same that are the best of all fifty
    best = [hit.node.id for hit in memory.recall(QUESTION, where={"few": True}, top_k=100)]
    assert set(best) == set(ids)
    for where in ({"few": True}, {"n": -1}, {"n": {"$lt": 0}}, {"n": {"$nin": [*range(250)]}, "few": {"$ne": None}}):
        hits = memory.recall(QUESTION, where=where, top_k=10)
        assert len(hits) == 10
        if "$nin" not in str(where):
            assert [hit.node.id for hit in hits] == best[:10], where
    scarce = memory.recall(QUESTION, where={"n": {"$nin": [*range(CROWD - 250, CROWD)]}, "few": {"$exists": True}})
    assert [hit.node.id for hit in scarce] == best[:10]
