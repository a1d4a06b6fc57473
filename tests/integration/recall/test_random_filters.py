"""Filters drawn at random, alone and together, give what a comparison one by one gives, on the real servers."""

import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest

import biem
from biem.domain.policies.life import EnergyPolicy
from tests.support.effort import sized
from tests.support.fakes import WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Configure

START = datetime(2024, 1, 1, tzinfo=UTC)
YEAR_S = 365 * 86_400
CROWD, TOP = sized(500, 2_400), sized(20, 40)
"""Memories, in a thorough run more than are compared one by one; and hits of a recall."""
QUESTIONS = ("What about the garden at the river?", "河边的花园怎么样？", "Which plot has roses?")
KINDS = ("knowledge", "skill", "emotion", "task", "event")
TAGS = tuple(f"tag{number}" for number in range(7))
STILL = EnergyPolicy(decay_per_hour=1e-6, boost=0.0)
"""Energies that neither time nor a recall changes: they are compared with those read before."""
MOODS = (
    "and everybody is so happy and delighted", "and it is terrible, I hate it", "大家都非常高兴，太开心了",
    "我很难过，太糟糕了", "as it stands on the plan", "如图所示",
)  # fmt: skip


def rare(random: Random, several: int) -> int:
    """A number below `several`; each is half as likely as the one before."""
    return next((number for number in range(several - 1) if random.random() < 0.5), several - 1)


def item(number: int, random: Random) -> dict[str, Any]:
    """A memory like all others but for what conditions ask."""
    place = random.choice(("The garden at the river", "河边的花园"))
    made: dict[str, Any] = {
        "text": f"{place}: plot P{number} {random.choice(MOODS)}",
        "kind": random.choice(KINDS),
        "speaker": f"Speaker {rare(random, 10)}",
        "conversation": f"talk {rare(random, 10)}",
        "tags": [tag for place, tag in enumerate(TAGS) if random.random() < 0.5**place],
        "importance": 1 + rare(random, 5),
        "at": START + timedelta(seconds=random.randrange(YEAR_S)),
    }
    if random.random() < 0.8:
        made["metadata"] = {"score": rare(random, 12), "team": random.choice(("north", "south", ["east"]))}
    return made


@pytest.fixture(scope="module")
def crowd(settings: Configure) -> Iterator[tuple[biem.Memory, list[biem.Node]]]:
    random = Random(13)
    scope = biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings(sleep=ONLY_SLEEP, energy=STILL), scope=scope, embedder=WordEmbedder(dim=256)) as memory:
        ids = memory.remember_many([item(number, random) for number in range(CROWD)])
        assert memory.flush(240)
        memory.feedback(useful=random.sample(ids, 30))
        nodes: list[biem.Node] = []
        after = ""
        while not nodes or after:
            page = memory.list(limit=500, after=after)
            nodes, after = [*nodes, *page.items], page.next
        assert len(nodes) == CROWD
        yield memory, nodes


def drawn(random: Random, nodes: list[biem.Node]) -> dict[str, Any]:
    """One to four conditions; what they ask is in some memory, and often in few."""
    like = random.choice(nodes)
    energies = sorted({round(node.energy, 3) for node in nodes})
    days = sorted((random.randrange(YEAR_S), random.randrange(YEAR_S)))
    score = like.metadata.get("score", 3)
    possible: dict[str, Any] = {
        "kinds": random.sample(KINDS, random.randint(1, 2)),
        "speakers": [like.speaker],
        "conversations": [like.conversation, "talk of nobody"],
        "tags": list(like.tags),
        "since": START + timedelta(seconds=days[0]),
        "until": START + timedelta(seconds=days[1]),
        "as_of": START + timedelta(seconds=days[0]),
        "min_energy": min(1.0, random.choice(energies) + 0.0005),  # between two
        "sentiment": random.choice(((0.2, 1.0), (-1.0, -0.2), (-0.1, 0.1))),
        "where": random.choice(
            ({"score": score}, {"score": {"$gte": 8}}, {"team": "east"}, {"team": {"$ne": "north"}})
        ),
    }
    return {name: possible[name] for name in random.sample(sorted(possible), random.randint(1, 4))}


def meets(node: biem.Node, asked: Mapping[str, Any]) -> bool:
    """Whether a memory meets all conditions, by what it holds."""
    low, high = asked.get("sentiment", (-1.0, 1.0))
    return (
        node.kind in asked.get("kinds", KINDS)
        and node.speaker in asked.get("speakers", (node.speaker,))
        and node.conversation in asked.get("conversations", (node.conversation,))
        and set(node.tags).issuperset(asked.get("tags", ()))
        and asked.get("since", node.at) <= node.at
        and ("until" not in asked or node.at < asked["until"])
        and node.at <= asked.get("as_of", node.at)
        and node.energy >= asked.get("min_energy", 0.0)
        and low <= node.sentiment <= high
        and fits(node.metadata, asked.get("where", {}))
    )


def fits(metadata: Mapping[str, Any], where: Mapping[str, Any]) -> bool:
    for name, wanted in where.items():
        held = metadata.get(name)
        if wanted == {"$gte": 8}:
            met = isinstance(held, int) and held >= 8
        elif wanted == {"$ne": "north"}:
            met = held != "north"
        else:
            met = held == wanted or (isinstance(held, list) and wanted in held)
        if not met:
            return False
    return True


@pytest.mark.req("B14")
@pytest.mark.sized
def test_a_recall_gives_what_a_comparison_one_by_one_gives(crowd: tuple[biem.Memory, list[biem.Node]]) -> None:
    memory, nodes = crowd
    random, few = Random(61), 0
    for _ in range(sized(60, 300)):
        # Given conditions that few or many meet
        asked = drawn(random, nodes)
        wanted = {node.id for node in nodes if meets(node, asked)}

        # When they are asked for / Then all of few are shown, and of many as many as were asked for
        hits = memory.recall(random.choice(QUESTIONS), top_k=TOP, **asked)
        told = {hit.node.id for hit in hits}
        assert told <= wanted, asked
        assert len(told) == min(TOP, len(wanted)), asked
        few += 0 < len(wanted) <= TOP
    assert few >= 10
