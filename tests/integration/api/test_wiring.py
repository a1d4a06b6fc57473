"""What one part of an assembled memory tells another: each line of the wiring that a call alone does not show."""

import uuid
from collections.abc import Callable, Iterator, Mapping

import pytest

import biem
from biem.adapters.redis.canvas import RedisCanvas
from biem.bootstrap import Servers
from biem.domain.policies.aim import AimPolicy
from biem.domain.policies.writing import EncodePolicy
from biem.engine.aim.inertia import Inertia
from biem.engine.graph.associations import Associations
from biem.engine.recall.orbit import Orbits
from biem.ports.hot import CanvasEntry
from tests.support.fakes import HeldClock, WordEmbedder
from tests.support.life_workloads import ONLY_SLEEP
from tests.support.servers import Testbed


class World:
    """A memory that forms all messages, in its own scope, on a held clock; and its canvas, seen from outside."""

    def __init__(self, memory: biem.Memory, clock: HeldClock, canvas: RedisCanvas) -> None:
        self.memory = memory
        self.clock = clock
        self._canvas = canvas

    def remember(self, text: str, **details: object) -> str:
        key = self.memory.remember(text, **details)  # type: ignore[arg-type]
        assert self.memory.flush()
        return key

    def hot(self) -> dict[str, CanvasEntry]:
        return {entry.id: entry for entry in self._canvas.read(self.memory.bound_to.ns, self.clock.now()) or []}

    def lose(self, key: str) -> None:
        """Take a memory out of the canvas, as no part of the system does."""
        self._canvas.leave(self.memory.bound_to.ns, [key])

    def job(self, name: str) -> Mapping[str, int]:
        """Run one job of the night in this scope."""
        return self.memory._system.job_runner.jobs[name].run(self.memory.bound_to)


def noting(noted: list[tuple[type, biem.Scope]], part: type, drop: Callable[..., None]) -> Callable[..., None]:
    """The same, and what was dropped is noted."""

    def dropped(self: object, scope: biem.Scope) -> None:
        noted.append((part, scope))
        drop(self, scope)

    return dropped


@pytest.fixture
def world(testbed: Testbed, stack: Servers) -> Iterator[World]:
    settings = testbed.settings(
        sleep=ONLY_SLEEP, aim=AimPolicy(admission="always"), encode=EncodePolicy(poll_s=3_600.0)
    )
    clock, scope = HeldClock(), biem.Scope(user=uuid.uuid4().hex)
    with biem.connect(settings, scope=scope, embedder=WordEmbedder(dim=512), clock=clock) as memory:
        parts = memory._system
        canvas = RedisCanvas(
            stack.redis_url, timeout_s=30.0, model=parts.embedder.id, dim=parts.embedder.dim,
            policy=parts.policies.tiers, decay_per_hour=parts.policies.energy.decay_per_hour,
        )  # fmt: skip
        yield World(memory, clock, canvas)
        canvas.close()


def test_feedback_reaches_the_canvas(world: World) -> None:
    # Given two memories in the canvas
    good = world.remember("Li Ming plays the cello on Sundays", importance=4.0)
    bad = world.remember("The bakery closes at noon on Mondays", importance=4.0)
    world.job("sweep")  # a canvas is shown when it was filled as a whole
    before = world.hot()
    assert set(before) == {good, bad}

    # When one was of use and the other was not / Then their order in the canvas says so
    world.clock.advance(minutes=1)
    world.memory.feedback([good], [bad])
    after = world.hot()
    assert after[good].energy_key > before[good].energy_key
    assert after[bad].energy_key < before[bad].energy_key


def test_what_consolidation_archives_leaves_the_canvas_at_once(world: World) -> None:
    # Given a fact that is in the canvas twice
    same = [world.remember(f"The harbour ferry to Quito leaves at 7:40{end}", kind="knowledge", importance=5.0)
            for end in ("", ".")]  # fmt: skip
    world.job("sweep")
    assert set(world.hot()) == set(same)

    # When the night makes one of them
    assert world.job("dedupe")["archived"] == 1

    # Then it is not in the canvas any more, before anything is swept
    (gone,) = [key for key in same if world.memory.get(key).status == "archived"]
    assert gone not in world.hot()


def test_a_memory_can_look_for_its_own_faults(world: World) -> None:
    def stale() -> int:
        """Faults of canvases, also those that other tests left."""
        return sum(each.count for each in world.memory.diagnose(full=True).findings if each.id == "canvas_stale")

    # Given a canvas with two memories
    kept, lost = (world.remember(f"{town} has a lighthouse", importance=5.0) for town in ("Lerwick", "Wick"))
    world.job("sweep")
    assert set(world.hot()) == {kept, lost}
    before = stale()

    # When it loses one of them / Then that is one fault more
    world.lose(lost)
    assert stale() == before + 1


def test_an_erased_scope_is_forgotten_by_the_process_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Given a process that holds links of a scope, and everything else a process holds of one
    memory, dropped = world.memory, list[tuple[type, biem.Scope]]()
    for number in range(4):
        world.remember(f"The tram in Lisbon stops at square {number}", conversation="c", speaker="Ann")
    memory._system.associations.refresh(memory.bound_to)
    assert memory._system.associations.edges > 0
    for part in (Associations, Orbits, Inertia):
        monkeypatch.setattr(part, "drop", noting(dropped, part, part.drop))

    # When one memory is erased / Then the records say the rest; when the scope is, it is gone as a whole
    memory.erase(world.remember("The tram is yellow", conversation="c"))
    assert dropped == []
    assert memory.erase(memory.bound_to).complete
    assert dropped == [(part, memory.bound_to) for part in (Associations, Orbits, Inertia)]
    assert memory._system.associations.edges == 0
