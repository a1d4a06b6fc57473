"""`Tiers` and `Lifecycle` on real servers: what the records say, what the canvas holds, and what happens in between."""

import random
import uuid
from collections.abc import Iterator, Sequence
from math import exp
from typing import Any, cast

import pytest
import redis

from biem.adapters.jobs.thread import NoQueue
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.life import PostgresFeedbacks, PostgresLife
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.redis.canvas import RedisCanvas
from biem.adapters.redis.hot import RedisHotStore
from biem.bootstrap import Servers
from biem.domain.energy import initial_energy
from biem.domain.node import Node, new_id
from biem.domain.policies import Policies
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.engine.life.retention import Lifecycle
from biem.engine.life.tiers import Swept, Tiers
from biem.errors import InvalidInput, NotFound
from biem.ports import VectorIndex
from biem.telemetry import Telemetry
from tests.contract.conftest import MODEL, Admin, claim_all, encoded, unit, write
from tests.support.fakes import HeldClock

RATE = 0.1
POLICIES = Policies()


class Purges:
    """The purging half of the port `VectorIndex`."""

    def __init__(self) -> None:
        self.ids: list[str] = []

    def purge(self, ids: Sequence[str]) -> None:
        self.ids += ids


class World:
    """One process: records, canvas and engine on a held clock."""

    def __init__(self, stack: Servers, pool: Database, policies: Policies = POLICIES) -> None:
        self.clock = HeldClock()
        self.records = PostgresRecords(pool, clock=self.clock, decay_per_hour=RATE, model=MODEL, policies=policies)
        self.life = PostgresLife(pool, clock=self.clock, decay_per_hour=RATE, model=MODEL, policies=policies)
        self.feedbacks = PostgresFeedbacks(pool, clock=self.clock, decay_per_hour=RATE, policies=policies)
        self.canvas = RedisCanvas(
            stack.redis_url, timeout_s=30.0, model=MODEL, dim=2, policy=policies.tiers, decay_per_hour=RATE
        )
        self.hot = RedisHotStore(stack.redis_url, timeout_s=30.0)
        self.index = Purges()
        self.heard: list[tuple[str, list[str]]] = []
        self.tiers = Tiers(
            records=self.records,
            life=self.life,
            canvas=self.canvas,
            clock=self.clock,
            policy=policies.tiers,
            telemetry=Telemetry(),
        )
        self.lifecycle = Lifecycle(
            records=self.records,
            life=self.life,
            index=cast(VectorIndex, self.index),
            hot=self.hot,
            canvas=self.canvas,
            queue=NoQueue(),
            clock=self.clock,
            policies=policies,
            telemetry=Telemetry(),
            on_archived=[lambda ns, ids: self.heard.append((ns, list(ids)))],
        )

    def praise(self, scope: Scope, marks: dict[str, float]) -> None:
        """Feedback of a separate turn, as the engine gives it."""
        self.tiers.follow(self.feedbacks.take(scope, new_id(), marks, self.clock.now()) or ())

    def remember(self, scope: Scope, text: str, *, energy: float | None = None, **details: Any) -> str:
        """Write and encode, as a worker does."""
        given = write(text, **details)
        rises = initial_energy(given.draft.importance, given.draft.reason)
        object.__setattr__(given, "energy", rises if energy is None else energy)
        [written] = self.records.remember(scope, [given])
        self.work()
        return written.id

    def work(self) -> None:
        """Do all jobs, as the encoder is wired to."""
        jobs = claim_all(self.records)
        vector = unit(1, 2)
        live = {job.memory_id: job.node for job in jobs if job.task == "encode" and job.node is not None}
        self.records.save_vectors(MODEL, {sha256(node.indexed_text): vector for node in live.values()})
        completion = self.records.complete(encoded([job for job in jobs if job.task == "encode"]))
        self.tiers.enter([(live[memory_id], vector) for memory_id in completion.hot])
        if archives := [job for job in jobs if job.task == "archive"]:
            self.lifecycle.clear(archives)

    def node(self, scope: Scope, memory_id: str) -> Node:
        found = self.records.get(scope, memory_id)
        assert found is not None
        return found

    def l1(self, scope: Scope) -> set[str]:
        """The canvas, after checking that the records say the same."""
        held = {entry.id for entry in self.tiers.read(scope)}
        assert held == self.life.hot_ids(scope.ns)
        return held

    def close(self) -> None:
        self.canvas.close()
        self.hot.close()


@pytest.fixture
def world(stack: Servers, pool: Database, admin: Admin) -> Iterator[World]:
    admin.execute("DELETE FROM outbox")
    admin.execute("UPDATE memories SET tier = 'L2', due_at = NULL")
    opened = World(stack, pool)
    yield opened
    opened.close()
    admin.execute("UPDATE memories SET tier = 'L2' WHERE tier = 'L1'")


class TestFlow:
    @pytest.mark.req("B4", "B49", "B50")
    @pytest.mark.req("B41", "B36", partly="the bands from 0.5 on and below 0.3, not at 0.7 and 0.1")
    def test_a_memory_moves_through_all_tiers_by_its_heat(self, world: World, scope: Scope) -> None:
        # Given a memory that is lukewarm at first
        memory_id = world.remember(scope, "x", energy=0.45)
        assert world.l1(scope) == set()

        # When it is returned every minute / Then the third time it rises
        for count in range(1, 4):
            world.clock.advance(minutes=1)
            world.tiers.accessed(scope, [memory_id])
            assert world.l1(scope) == ({memory_id} if count == 3 else set())

        # When it is used every half hour without being boosted above the threshold for leaving, it stays
        world.clock.advance(minutes=30)
        assert world.tiers.sweep() == Swept(0, 0, 1)
        assert world.l1(scope) == {memory_id}

        # When no one uses it for an hour / Then it leaves, keeps its vector, and is looked for in L2
        world.clock.advance(minutes=31)
        assert world.tiers.sweep().left == 1
        assert world.l1(scope) == set()
        assert world.node(scope, memory_id).tier == "L2"

        # When its time is over / Then it is in the records alone, and comes back when it is asked for
        world.clock.advance(days=91)
        assert world.lifecycle.run(scope).archived == 1
        world.work()
        assert (world.node(scope, memory_id).tier, world.index.ids) == ("L3", [memory_id])
        assert world.lifecycle.restore(scope, memory_id)
        world.work()
        assert (world.node(scope, memory_id).tier, world.node(scope, memory_id).status) == ("L2", "active")

    @pytest.mark.req("B49")
    @pytest.mark.parametrize(("energy", "rises"), [(0.695, False), (0.705, True)])
    @pytest.mark.parametrize("by", ["access", "feedback"])
    def test_a_memory_rises_into_the_canvas_at_seven_tenths(
        self, world: World, scope: Scope, admin: Admin, energy: float, rises: bool, by: str
    ) -> None:
        # Given a memory that is not hot / When what it gains leaves it just below or above seven tenths
        memory_id = world.remember(scope, "x", energy=0.45)
        gain = {"access": POLICIES.energy.boost, "feedback": POLICIES.energy.feedback}[by]
        admin.execute("UPDATE memories SET energy_anchor = %s WHERE id = %s", (energy - gain, memory_id))
        if by == "access":
            world.tiers.accessed(scope, [memory_id])
        else:
            world.praise(scope, {memory_id: 1.0})

        # Then it rises just above
        assert world.node(scope, memory_id).energy == pytest.approx(energy)
        assert world.l1(scope) == ({memory_id} if rises else set())

    @pytest.mark.req("B11")
    @pytest.mark.req("B41", partly="the canvas")
    @pytest.mark.parametrize(("energy", "hot"), [(0.49, False), (0.5, True)])
    def test_a_new_memory_enters_the_canvas_from_half_energy_on(
        self, world: World, scope: Scope, energy: float, hot: bool
    ) -> None:
        # Given a memory of this energy / When it is encoded / Then it is in the canvas, or not
        memory_id = world.remember(scope, "x", energy=energy)
        assert world.l1(scope) == ({memory_id} if hot else set())

    @pytest.mark.req("B9", "B12")
    @pytest.mark.req(
        "B10",
        partly="everything leaves below 0.3 already; what has faded, and not been blamed, left after its idle hour",
    )
    def test_the_sweep_evicts_what_is_idle_or_weak_and_an_access_resets_the_hour(
        self, world: World, scope: Scope
    ) -> None:
        # Given two memories, one of which is used after half an hour
        idle, used = world.remember(scope, "idle", energy=1.0), world.remember(scope, "used", energy=0.5)
        world.clock.advance(minutes=30)
        world.tiers.accessed(scope, [used])

        # When an hour and a second are over
        world.clock.advance(minutes=30, seconds=1)
        swept = world.tiers.sweep()

        # Then the other one left, in records and canvas alike
        assert (swept.left, world.l1(scope)) == (1, {used})
        assert world.node(scope, idle).tier == "L2"

        # And blame takes the used one below the threshold at once
        for _ in range(3):
            world.praise(scope, {used: -1.0})
        assert world.node(scope, used).energy < 0.3
        assert [entry.id for entry in world.tiers.read(scope)] == []
        world.tiers.sweep()
        assert world.l1(scope) == set()

    @pytest.mark.req("B8", "X13", partly="eviction")
    def test_the_weakest_of_101_leaves_and_its_record_says_so(self, world: World, scope: Scope) -> None:
        # Given a hundred hot memories and one more
        ids = [world.remember(scope, f"m {number}", energy=0.6 + number / 1_000) for number in range(101)]

        # Then the weakest is of L2, and three accesses bring it back
        assert world.l1(scope) == set(ids[1:])
        assert world.node(scope, ids[0]).tier == "L2"
        for _ in range(3):
            world.clock.advance(minutes=1)
            world.tiers.accessed(scope, [ids[0]])
        assert world.l1(scope) == set(ids) - {ids[1]}

    def test_an_access_from_a_project_warms_the_users_own_canvas(self, world: World, other: Scope) -> None:
        # Given a memory of the user, lukewarm
        project = Scope(other.tenant, other.user, "p")
        memory_id = world.remember(other, "x", energy=0.65)
        world.canvas.leave(other.ns, [memory_id])
        world.life.cool(other.ns, [memory_id])

        # When a project's recall returns it / Then it is hot in its own scope
        world.tiers.accessed(project, [memory_id])
        assert world.l1(other) == {memory_id}
        assert world.l1(project) == set()


class TestRepair:
    @pytest.mark.req("X13", partly="restart")
    @pytest.mark.req("C14", partly="Redis is filled again from PostgreSQL")
    def test_a_canvas_that_came_back_empty_is_rebuilt_when_it_is_read(
        self, world: World, scope: Scope, stack: Servers
    ) -> None:
        # Given hot memories and a server that lost everything
        ids = {world.remember(scope, f"m {number}") for number in range(3)}
        redis.Redis.from_url(stack.redis_url).delete(*_keys(stack, scope))

        # When the canvas is read / Then all is there, with vectors
        assert world.l1(scope) == ids
        assert all(entry.vector.tolist() == unit(1, 2).tolist() for entry in world.tiers.read(scope))

    def test_reading_a_scope_without_hot_memories_asks_the_records_once(self, world: World, scope: Scope) -> None:
        # Given a scope of cold memories
        world.remember(scope, "cold", energy=0.1)

        # When it is read / Then the canvas is known to be empty from now on
        assert world.canvas.read(scope.ns, world.clock.now()) is None
        assert world.tiers.read(scope) == []
        assert world.canvas.read(scope.ns, world.clock.now()) == []

    @pytest.mark.req("X13", partly="a record or canvas that is wrong")
    @pytest.mark.parametrize("lost", [True, False])
    def test_the_sweep_makes_canvas_and_records_agree(
        self, world: World, scope: Scope, stack: Servers, admin: Admin, lost: bool
    ) -> None:
        # Given a memory in both, one marked L1 that the canvas lost, one the canvas kept by mistake, one without vector
        both, missing, stale = (world.remember(scope, name, energy=0.9) for name in ("both", "missing", "stale"))
        bare = world.remember(scope, scope.user)
        world.canvas.leave(scope.ns, [missing, bare])
        world.life.cool(scope.ns, [stale])
        admin.execute("DELETE FROM embeddings WHERE sha256 = %s", (sha256(scope.user),))
        if lost:
            redis.Redis.from_url(stack.redis_url).delete(*_keys(stack, scope))
        else:
            world.tiers.rebuild(scope)
            world.canvas.leave(scope.ns, [missing])

        # When it is swept, twice
        first, second = world.tiers.sweep(), world.tiers.sweep()

        # Then both agree, and there is nothing left to do
        assert first.repaired >= 1
        assert second == Swept(0, 0, 1)
        assert world.l1(scope) == {both, missing}
        assert world.node(scope, bare).tier == "L2"

    def test_more_hot_records_than_a_canvas_holds_are_cut_to_the_hottest(
        self, world: World, scope: Scope, stack: Servers
    ) -> None:
        # Given 130 memories that became hot while the canvas was away
        ids = []
        for number in range(130):
            given = write(f"m {number}")
            object.__setattr__(given, "energy", 0.6 + number / 1_000)
            ids.append(world.records.remember(scope, [given])[0].id)
        jobs = claim_all(world.records)
        world.records.save_vectors(MODEL, {sha256(f"m {number}"): unit(1, 2) for number in range(130)})
        world.records.complete(encoded(jobs))

        # When it is swept / Then the hundred hottest are in
        world.tiers.sweep()
        assert world.l1(scope) == set(ids[30:])

    @pytest.mark.req("X6")
    @pytest.mark.req("B33", partly="sweeping at any times")
    def test_sweeping_often_or_once_ends_in_the_same(self, stack: Servers, pool: Database, admin: Admin) -> None:
        # Given the same memories in several worlds
        ends: list[list[tuple[str, float]]] = []
        draw = random.Random(6)
        any_times = [[draw.randrange(2_400) for _ in range(10)] for _ in range(3)]
        for steps in ([7 * 3_600], [60] * 20 + [1_800] * 10 + [0, 0], *any_times):
            world = World(stack, pool)
            scope = Scope(user=uuid.uuid4().hex)
            ids = [world.remember(scope, f"m {number}", energy=number / 10) for number in range(11)]

            # When one is swept once after seven hours and the others at other times
            for seconds in steps:
                world.clock.advance(seconds=seconds)
                world.tiers.sweep()
                world.lifecycle.run(scope)
            world.clock.advance(seconds=7 * 3_600 - sum(steps))
            nodes = [world.node(scope, memory_id) for memory_id in ids]
            ends.append([(node.tier, node.energy) for node in nodes])
            world.close()

        # Then tiers and energies are the same: the rest of each after seven hours at a tenth an hour
        assert all(end == ends[0] for end in ends)
        assert [energy for _, energy in ends[0]] == pytest.approx([number / 10 * exp(-0.7) for number in range(11)])


class TestRun:
    @pytest.mark.req("M50", "X45", "M49", "C17")
    def test_what_was_used_often_enough_does_not_expire_on_its_last_day(
        self, world: World, scope: Scope, admin: Admin
    ) -> None:
        # Given noise whose last day has come: four accesses by one, five by the other, counted by older records
        four, five = world.remember(scope, "four", importance=1.0), world.remember(scope, "five", importance=1.0)
        admin.execute(
            "UPDATE memories SET access_count = CASE WHEN id = %s THEN 4 ELSE 5 END WHERE ns = %s", (four, scope.ns)
        )
        world.clock.advance(days=48)

        # When the night comes, twice
        first, second = world.lifecycle.run(scope), world.lifecycle.run(scope)
        world.work()

        # Then one is long-term with its counts, the other archived with its vector gone and restorable
        assert (first.promoted, first.expired, first.kept) == (1, 1, 1)
        assert (second.archived, second.kept) == (0, 0)
        kept = world.node(scope, five)
        assert (kept.layer, kept.status, kept.access_count, kept.text) == ("long_term", "active", 5, "five")
        assert world.node(scope, four).archive_reason == "expired"
        assert world.index.ids == [four]
        assert world.heard == [(scope.ns, [four])]
        assert world.lifecycle.restore(scope, four)

    @pytest.mark.req("M51")
    def test_long_term_memory_unused_for_ninety_days_is_archived_and_a_recalled_one_stays(
        self, world: World, scope: Scope
    ) -> None:
        # Given two long-term memories, one of which is recalled after a month
        unused = world.remember(scope, "unused", layer="long_term")
        used = world.remember(scope, "used", layer="long_term")
        world.clock.advance(days=30)
        world.tiers.accessed(scope, [used])

        # When 89 and 91 days are over
        world.clock.advance(days=59)
        early = world.lifecycle.run(scope)
        world.clock.advance(days=2)
        late = world.lifecycle.run(scope)

        # Then one is gone after the second
        assert (early.archived, late.unused, late.kept) == (0, 1, 1)
        assert world.node(scope, unused).archive_reason == "unused"
        assert world.node(scope, used).status == "active"

        # And the recalled one follows ninety days after its use
        world.clock.advance(days=30)
        assert world.lifecycle.run(scope).unused == 1

    @pytest.mark.req("C18", partly="exempt from forgetting")
    def test_core_memory_and_the_most_important_stay_for_ever(self, world: World, scope: Scope) -> None:
        # Given both / When a hundred years go by / Then both are there
        world.remember(scope, "core", layer="core", importance=1.0)
        world.remember(scope, "important", importance=5.0)
        world.clock.advance(days=36_500)
        assert world.lifecycle.run(scope).archived == 0

    @pytest.mark.req("G25")
    def test_in_a_year_noise_stays_bounded_and_what_proved_itself_survives(self, world: World, scope: Scope) -> None:
        # Given a proven memory of the first days and a normal message that is used every other month
        proven, used = world.remember(scope, "proven"), world.remember(scope, "used", kind="event")
        for _ in range(2):
            world.praise(scope, {proven: 1.0})

        # When ten pieces of noise come every five days of a year
        most = 0
        for day in range(0, 365, 5):
            noise = [write(f"noise {day} {number}", importance=1.0) for number in range(10)]
            world.records.remember(scope, noise)
            world.work()
            if day % 60 == 0:
                world.tiers.accessed(scope, [used])
            world.lifecycle.run(scope)
            world.work()
            most = max(most, world.records.stats(scope)["active"])
            world.clock.advance(days=5)

        # Then the noise of one visit is there at a time, and the two
        assert most == 2 + 10
        assert {world.node(scope, memory_id).status for memory_id in (proven, used)} == {"active"}

    @pytest.mark.req("X8", partly="archiving: stopped between any two steps")
    def test_an_archiving_that_stopped_at_any_step_is_finished_later(
        self, world: World, scope: Scope, admin: Admin, monkeypatch: Any
    ) -> None:
        # Given an archived memory
        memory_id = world.remember(scope, "x", energy=1.0)
        assert world.lifecycle.archive(scope, memory_id, "because")
        steps = [(world.index, "purge"), (world.hot, "purge"), (world.canvas, "leave"), (world.life, "cleared")]

        # When the worker is stopped at each step in turn, and its lease runs out
        for owner, name in steps:
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, _stop)
                with pytest.raises(KeyboardInterrupt):
                    world.work()
            admin.execute("UPDATE outbox SET due_at = now() - interval '1 second', attempts = 0")
        world.work()

        # Then it is gone everywhere but in the records
        assert world.canvas.count(scope.ns, [memory_id]) == 0
        assert world.node(scope, memory_id).status == "archived"
        assert claim_all(world.records) == []

    @pytest.mark.req("X47", partly="archived")
    def test_an_archived_memory_is_out_of_the_canvas_and_of_hotkv(self, world: World, scope: Scope) -> None:
        # Given a hot memory
        memory_id = world.remember(scope, "x", energy=1.0)
        assert world.l1(scope) == {memory_id}

        # When it is archived / Then nothing shows it
        world.lifecycle.archive(scope, memory_id)
        world.work()
        assert world.l1(scope) == set()
        assert world.node(scope, memory_id).archive_reason == "by request"

    def test_archiving_and_restoring_say_what_they_did_and_refuse_nonsense(
        self, world: World, scope: Scope, other: Scope
    ) -> None:
        # Given a memory
        memory_id = world.remember(scope, "x")

        # When both are done twice / Then the second time changed nothing
        assert [world.lifecycle.archive(scope, memory_id) for _ in range(2)] == [True, False]
        assert [world.lifecycle.restore(scope, memory_id.upper()) for _ in range(2)] == [True, False]
        for verb in (world.lifecycle.archive, world.lifecycle.restore):
            with pytest.raises(NotFound):
                verb(other, memory_id)
            with pytest.raises(InvalidInput):
                verb(scope, "nonsense")
        with pytest.raises(InvalidInput):
            world.lifecycle.archive(scope, memory_id, "x" * 501)


def _stop(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def _keys(stack: Servers, scope: Scope) -> list[bytes]:
    return list(redis.Redis.from_url(stack.redis_url).scan_iter(f"*canvas*{scope.ns}*"))
