"""The five short-lived stores of the designs side by side, each flooded while the others are looked at."""

import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

import biem
from biem.adapters.redis.canvas import RedisCanvas
from biem.adapters.redis.conversation_state import RedisRunningMemory
from biem.adapters.redis.hot import RedisHotStore
from biem.bootstrap import Servers
from biem.domain.policies.context import SLOTS
from biem.domain.policies.sessions import SessionPolicy
from tests.support.fakes import HeldClock, WordEmbedder, eventually
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Testbed

TALK = "talk"
_BUDGET = 200
_PLACES = ("Oslo", "Quito", "Lagos", "Turin", "Perth", "Hanoi", "Minsk", "Davos", "Izmir", "Kyoto", "Dakar", "Sofia")


@dataclass
class Stores:
    """What each of the five holds of one scope, read from the servers."""

    memory: biem.Memory
    hot: RedisHotStore
    canvas: RedisCanvas
    running: RedisRunningMemory
    session: str

    def held(self) -> dict[str, Any]:
        """The content of each store, as far as a conversation or a question would get it."""
        scope, parts = self.memory.bound_to, self.memory._system
        state = self.running.load(scope, TALK)
        return {
            "hot": [entry.id for entry in self.hot.recent(scope, 10_000)],
            "canvas": self.canvas.ids(scope.ns),
            "running": (state.keywords, tuple(one.content for one in state.running)),
            "slots": [node.id for node in parts.context_builder._core.useful([scope], SLOTS)],
            "session": [message.content for message in self.memory.sessions.window(self.session).messages],
        }


@pytest.fixture
def stores(testbed: Testbed, stack: Servers) -> Iterator[Stores]:
    """A memory on a held clock, whose sessions are small and whose jobs run when they are called."""
    settings = testbed.settings(sleep=ONLY_SLEEP, session=SessionPolicy(max_tokens=_BUDGET, protected_rounds=1))
    scope = biem.Scope(user=uuid.uuid4().hex)
    with (
        biem.connect(settings, scope=scope, embedder=WordEmbedder(dim=512), clock=HeldClock()) as memory,
        ExitStack() as open_ones,
    ):
        parts = memory._system
        canvas = RedisCanvas(
            stack.redis_url, timeout_s=30.0, model=parts.embedder.id, dim=parts.embedder.dim,
            policy=parts.policies.tiers, decay_per_hour=parts.policies.energy.decay_per_hour,
        )  # fmt: skip
        hot, running = RedisHotStore(stack.redis_url, timeout_s=30.0), RedisRunningMemory(stack.redis_url, timeout_s=30)
        for each in (canvas, hot, running):
            open_ones.callback(each.close)
        yield Stores(memory, hot, canvas, running, memory.sessions.open(TALK).id)
        memory.erase(scope)


@pytest.mark.req("C6")
def test_each_short_lived_store_is_bounded_by_its_own_rule_and_flooding_one_leaves_the_others(stores: Stores) -> None:
    # Given all five with something in them
    memory = stores.memory
    said: list[dict[str, Any]] = [
        {
            "text": f"Ferry {n} leaves {_PLACES[n % len(_PLACES)]} at nine",
            "importance": 4.0 if n < 100 else 3.9,
            "kind": "task" if n % 50 == 0 else "event",
            "tags": ["late"] if n >= 100 else [],
        }
        for n in range(150)
    ]
    ids = memory.remember_many(said, wait=True)
    memory._system.job_runner.jobs["build"].run(memory.bound_to)
    memory._system.job_runner.jobs["sweep"].run(memory.bound_to)
    memory.running("Which ferry leaves Oslo?", conversation=TALK)
    memory.sessions.append(stores.session, "user", "Good morning", tokens=10, remember=False)
    memory.feedback(useful=[ids[0], ids[1]])
    eventually(lambda: len(stores.held()["hot"]) == 150)
    held = stores.held()
    assert [bool(value) for value in held.values()] == [True] * 5

    def flooded(name: str) -> Any:
        """What a store holds now, which must be something else, while the others hold what they held."""
        nonlocal held
        now = stores.held()
        assert {other: now[other] for other in now if other != name} == {
            other: held[other] for other in held if other != name
        }
        assert now[name] != held[name]
        held = now
        return now[name]

    # When a conversation goes on and on / Then its window holds a budget of tokens
    for number in range(100):
        memory.sessions.append(stores.session, "user", f"message {number}", tokens=10, remember=False)
    assert flooded("session") == [f"message {n}" for n in range(80, 100)]

    # When cooler memories are returned / Then the canvas has the hundred hottest, these among them
    memory.recall("When do ferries leave?", top_k=50, tags=["late"])
    eventually(lambda: set(ids[100:]) <= (stores.canvas.ids(memory.bound_to.ns) or set()))
    canvas = flooded("canvas")
    assert len(canvas) == memory._system.policies.tiers.max_nodes == 100

    # When many memories are of use / Then the slots have as many of each kind as they are made for
    events = [key for key in ids if key in canvas and memory.get(key).kind == "event"]
    for number in range(0, 40, 4):
        memory.feedback(useful=events[number : number + 4])
    slots = [memory.get(key).kind for key in flooded("slots")]
    assert sorted(slots) == ["event"] * SLOTS["event"] + ["task"] * SLOTS["task"]

    # When a conversation evokes one thing after another / Then three items run, and ten keywords
    for place in _PLACES * 2:
        memory.running(f"Which ferry leaves {place} today, and which one leaves tomorrow?", conversation=TALK)
    keywords, items = flooded("running")
    policy = memory._system.policies.concepts
    assert 0 < len(items) <= policy.running_items == 3
    assert 0 < len(keywords) <= policy.cached_keywords == 10

    # When much is written / Then the newest texts are there, as many as the window has
    memory.remember_many({"text": f"Parcel {n} is here", "importance": 1} for n in range(300))
    eventually(lambda: len(stores.held()["hot"]) == 256 and ids[-1] not in stores.held()["hot"])
    assert memory.flush(120)
    assert len(flooded("hot")) == memory._system.policies.write.hot_window == 256
