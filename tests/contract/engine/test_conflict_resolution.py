"""Deciding conflicts over real stores: merges with links and a model, and what dead processes began."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, cast

import pytest

from biem.adapters.analyzers import RuleAnalyzer
from biem.adapters.postgres.conflicts import PostgresConflicts
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.life import PostgresLife
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.conflict import Conflict
from biem.domain.link import NewLink
from biem.domain.node import new_id
from biem.domain.policies.conflicts import ConflictPolicy
from biem.domain.policies.writing import WritePolicy
from biem.domain.scope import Scope
from biem.engine.conflicts.resolve import Resolver
from biem.engine.remember.hot_write_behind import HotFeed
from biem.engine.remember.writer import Writer
from biem.errors import AlreadyDecided, InvalidInput, NotFound, StoreUnavailable
from biem.ports import JobQueue
from biem.ports.conflicts import Plan
from biem.ports.links import Links
from biem.ports.reasoner import Judgement, Reasoner
from biem.telemetry import Telemetry
from tests.contract.conftest import MODEL, Admin, write
from tests.contract.postgres.test_conflicts import everything, finding, recalled, validity
from tests.support.fakes import START, HeldClock

ANALYZER = RuleAnalyzer()
NEXT_DAY = START + timedelta(days=1)


class Silent:
    """No one hears what is written: the port `JobQueue`, and the feed of HotKV."""

    def push(self, *_: object) -> None:
        """Drop it."""

    def wake(self) -> None:
        """No one to wake."""


class Merging:
    """The part of the port `Reasoner` that merges, with another wording each time."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def merge(self, scope: Scope, texts: Sequence[str]) -> str:
        self.asked.append(tuple(texts))
        return f"merged {len(self.asked)}: " + " and ".join(texts)

    def judge(self, scope: Scope, older: str, newer: str) -> Judgement:
        return Judgement("update", 0.95, "moved")

    def paused_s(self) -> float:
        return 0.0


class Dying:
    """Any port, whose caller dies before or after the n-th call."""

    def __init__(self, inner: object, fuse: "Fuse") -> None:
        self._inner = inner
        self._fuse = fuse

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self._fuse.burn()
            result = method(*arguments, **named)
            self._fuse.burn()
            return result

        return call


@dataclass
class Fuse:
    """How many moments a process still lives."""

    left: int = 10_000

    def burn(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise StoreUnavailable("killed")


@dataclass
class World:
    """Real stores, and resolvers as processes have them."""

    records: PostgresRecords
    conflicts: PostgresConflicts
    links: PostgresLinks
    scope: Scope
    clock: HeldClock = field(default_factory=HeldClock)
    lease_s: float = 60.0

    def resolver(
        self, *, model: Merging | None = None, fuse: Fuse | None = None, linked: bool = True, links: Any = None
    ) -> Resolver:
        def mortal(store: Any) -> Any:
            return store if fuse is None else Dying(store, fuse)

        writer = Writer(
            records=mortal(self.records),
            hot=cast(HotFeed, Silent()),
            queue=cast(JobQueue, Silent()),
            analyzer=ANALYZER,
            clock=self.clock,
            policy=WritePolicy(),
            telemetry=Telemetry(),
        )
        return Resolver(
            conflicts=mortal(self.conflicts),
            records=mortal(self.records),
            writer=writer,
            links=cast(Links, links or mortal(self.links)) if linked else None,
            reasoner=cast("Reasoner | None", model),
            destroy=lambda scope, memory_id: self.records.erase(scope, memory_id, 0.0),
            clock=self.clock,
            policy=ConflictPolicy(lease_s=self.lease_s),
            telemetry=Telemetry(),
        )

    def remember(self, text: str, **details: Any) -> str:
        return self.records.remember(self.scope, [write(text, **details)])[0].id

    def conflict(self, **details: Any) -> Conflict:
        """A pending conflict between two memories of two days."""
        older = self.remember(details.pop("older", "lives in Rome"), **details.pop("of_older", {}))
        newer = self.remember(details.pop("newer", "lives in Oslo"), at=NEXT_DAY, **details.pop("of_newer", {}))
        [conflict] = self.conflicts.record(self.scope, [finding(older, newer, **details)], NEXT_DAY)
        return conflict

    def linked(self, *ids: str) -> set[tuple[str, str]]:
        return {(link.source, link.target) for key in ids for link in self.links.of(self.scope, key)}


@pytest.fixture
def world(records: PostgresRecords, pool: Database, scope: Scope, admin: Admin) -> World:
    admin.execute("DELETE FROM conflicts")  # claiming knows no scopes
    return World(records, PostgresConflicts(pool, model=MODEL, purge_after_s=65.0), PostgresLinks(pool), scope)


class TestMerge:
    @pytest.mark.req("M53", "X34", "X17", partly="of two; more are merged by consolidation")
    def test_a_merge_yields_one_memory_with_references_links_and_the_best_of_both(
        self, world: World, admin: Admin
    ) -> None:
        # Given two memories that disagree, each with a link
        conflict = world.conflict(
            of_older={"importance": 4.0, "tags": ("home",), "layer": "long_term", "conversation": "c"},
            of_newer={"importance": 2.0, "tags": ("news", "home"), "conversation": "c", "reason": "said so"},
        )
        a, b = conflict.older_id, conflict.newer_id
        friend = world.remember("a friend")
        world.links.connect(world.scope, [NewLink(a, friend, "causal"), NewLink(friend, b, "causal")], START)

        # When they are merged
        merged = world.resolver().resolve(world.scope, conflict.id, "merge")

        # Then one memory says what both say
        assert (merged.status, merged.resolution, merged.decided_by) == ("resolved", "merge", "user")
        node = world.records.get(world.scope, merged.merged_id or "")
        assert node is not None
        assert node.text == "lives in Rome\nlives in Oslo"
        assert (node.importance, node.layer, node.conversation) == (4.0, "long_term", "c")
        assert (node.tags, node.reason, node.kind, node.at) == (("news", "home"), "said so", "knowledge", NEXT_DAY)
        assert node.metadata == {"merged_from": [a, b]}

        # And it alone holds from then on, with the links of both
        assert validity(admin, a, b) == [(NEXT_DAY, node.id), (NEXT_DAY, node.id)]
        assert recalled(world.records, world.scope, [a, b, node.id], NEXT_DAY) == {node.text}
        assert recalled(world.records, world.scope, [a, b, node.id], START) == {"lives in Rome"}
        assert world.linked(node.id) == {(node.id, friend), (friend, node.id)}
        assert world.linked(a, b) == set()
        assert world.links.dangling(world.scope, 10) == []

        # And merging again is the same merge
        assert world.resolver().resolve(world.scope, conflict.id, "merge") == merged
        assert len(everything(admin, world.scope)[0]) == 4

    def test_who_is_overtaken_by_the_same_decision_has_its_outcome(self, world: World, admin: Admin) -> None:
        # Given a user who merges the two while another one's model is still writing
        conflict = world.conflict()
        faster: list[Conflict] = []

        class Slow(Merging):
            def merge(self, scope: Scope, texts: Sequence[str]) -> str:
                faster.append(world.resolver().resolve(scope, conflict.id, "merge"))
                return super().merge(scope, texts)

        # When that one goes on / Then there is one merge, and both are notified of it
        assert world.resolver(model=Slow()).resolve(world.scope, conflict.id, "merge") == faster[0]
        assert len(everything(admin, world.scope)[0]) == 3

    def test_a_memory_erased_while_it_is_merged_leaves_no_merged_text(self, world: World, admin: Admin) -> None:
        # Given a merge whose memory is written when a user erases one of the two
        conflict = world.conflict()

        class Slow:
            def redirect(self, *arguments: Any) -> None:
                world.records.erase(world.scope, conflict.older_id, 0.0)

        # When it goes on / Then it has nothing to decide any more, and what says the same is erased, too
        with pytest.raises(NotFound):
            world.resolver(links=Slow()).resolve(world.scope, conflict.id, "merge")
        texts = admin.execute("SELECT text FROM memories WHERE ns = %s", (world.scope.ns,)).fetchall()
        assert texts == [("lives in Oslo",)]

    def test_a_memory_erased_after_its_merge_died_half_way_leaves_no_merged_text(
        self, world: World, admin: Admin
    ) -> None:
        # Given a process that died when it had written the merged memory
        conflict = world.conflict()

        class Dead:
            def redirect(self, *arguments: Any) -> None:
                raise StoreUnavailable("killed")

        with pytest.raises(StoreUnavailable):
            world.resolver(links=Dead()).resolve(world.scope, conflict.id, "merge")
        assert len(everything(admin, world.scope)[0]) == 3

        # When one of the two is erased / Then the merged memory goes with it, and the other one holds
        world.records.erase(world.scope, conflict.older_id, 0.0)
        texts = admin.execute("SELECT text FROM memories WHERE ns = %s", (world.scope.ns,)).fetchall()
        assert texts == [("lives in Oslo",)]

    @pytest.mark.req("X17", partly="undo of a merge")
    @pytest.mark.parametrize("linked", [True, False])
    def test_a_merge_taken_back_leaves_both_with_their_links_and_can_be_done_again(
        self, world: World, admin: Admin, linked: bool
    ) -> None:
        # Given a merge
        conflict = world.conflict()
        a, b = conflict.older_id, conflict.newer_id
        friend = world.remember("a friend")
        world.links.connect(world.scope, [NewLink(a, friend, "causal"), NewLink(friend, b, "causal")], START)
        before, links = everything(admin, world.scope), world.linked(a, b, friend)
        resolver = world.resolver(linked=linked)
        first = resolver.resolve(world.scope, conflict.id, "merge").merged_id

        # When it is taken back, twice
        undone = resolver.undo(world.scope, conflict.id)
        assert resolver.undo(world.scope, conflict.id) == undone == conflict

        # Then both are as before, and the merged memory is archived
        after = everything(admin, world.scope)
        assert [row for row in after[0] if str(row[0]) != first] == before[0]
        assert after[2] == []
        assert world.linked(a, b, friend) == links
        node = world.records.get(world.scope, first or "")
        assert node is not None
        assert node.status == "archived"
        assert world.conflicts.plan_of(world.scope, conflict.id) is None

        # And another merge makes another memory
        second = resolver.resolve(world.scope, conflict.id, "merge").merged_id
        assert second != first
        assert [by for _, by in validity(admin, a, b)] == [second, second]

    @pytest.mark.req("M53", partly="of two; more are merged by consolidation")
    def test_a_model_words_the_merge_and_two_voices_stay_distinguished(self, world: World) -> None:
        # Given what two people said
        conflict = world.conflict(
            older="I cook",
            newer="I do",
            of_older={"speaker": "Ann", "kind": "event", "source": "user"},
            of_newer={"speaker": "Bob", "kind": "event", "source": "assistant"},
        )
        model = Merging()

        # When a model merges it
        merged = world.resolver(model=model).resolve(world.scope, conflict.id, "merge")

        # Then it was given who said what, and its words are kept as a fact that no one said
        node = world.records.get(world.scope, merged.merged_id or "")
        assert node is not None
        assert node.text == "merged 1: Ann: I cook and Bob: I do"
        assert (node.kind, node.speaker, node.source) == ("knowledge", "", "")
        assert model.asked == [("Ann: I cook", "Bob: I do")]

    @pytest.mark.req("X8", "X17", "X34", partly="merging and taking it back")
    @pytest.mark.parametrize("verb", ["merge", "undo"])
    def test_a_worker_finishes_what_a_process_left_that_died_between_any_two_steps(
        self, world: World, admin: Admin, verb: str
    ) -> None:
        died = True
        moment = 0
        world.lease_s = 1e-3
        while died:
            # Given a conflict with links, merged already where that is to be taken back
            conflict = world.conflict(older=f"Rome {moment}", newer=f"Oslo {moment}")
            a, b = conflict.older_id, conflict.newer_id
            friend = world.remember(f"friend {moment}")
            world.links.connect(world.scope, [NewLink(a, friend, "causal")], START)
            if verb == "undo":
                world.resolver().resolve(world.scope, conflict.id, "merge")

            # When the process dies at this moment, and a worker of another one, whose model words it otherwise, runs
            mortal = world.resolver(fuse=Fuse(moment))
            try:
                if verb == "merge":
                    mortal.resolve(world.scope, conflict.id, "merge")
                else:
                    mortal.undo(world.scope, conflict.id)
                died = False
            except StoreUnavailable:
                pass
            admin.execute("UPDATE conflicts SET due_at = clock_timestamp() WHERE plan IS NOT NULL")
            other = world.resolver(model=Merging())
            plan = world.conflicts.plan_of(world.scope, conflict.id)
            other.work(10) if plan is not None else None

            # Then it is done or was never begun, and the rest is as it should be
            found = world.conflicts.get(world.scope, conflict.id)
            assert found is not None
            assert world.conflicts.plan_of(world.scope, conflict.id) is None
            made = admin.execute(
                "SELECT id::text, status FROM memories WHERE ns = %s AND metadata->'merged_from' ? %s",
                (world.scope.ns, a),
            ).fetchall()
            if found.resolution == "merge":
                assert made == [(found.merged_id, "pending")]
                assert [by for _, by in validity(admin, a, b)] == [found.merged_id, found.merged_id]
                assert world.linked(a, b) == set()
                assert world.linked(found.merged_id or "") == {(found.merged_id, friend)}
            else:
                assert found.status == "pending"
                assert [status for _, status in made] == (["archived"] if verb == "undo" else [])
                assert validity(admin, a, b) == [(None, None), (None, None)]
                assert world.linked(a, b) == {(a, friend)}
            assert world.links.dangling(world.scope, 100) == []
            done = found.resolution == "merge" if verb == "merge" else found.status == "pending"
            assert done or died
            admin.execute("DELETE FROM conflicts WHERE ns = %s", (world.scope.ns,))
            moment += 1
        assert moment >= 8

    @pytest.mark.req("X38", partly="merging")
    def test_of_many_who_merge_at_once_with_other_words_one_memory_comes(self, world: World, admin: Admin) -> None:
        # Given a conflict
        conflict = world.conflict()

        # When six merge it at the same time, each with its own model
        def merge(_: int) -> str | None:
            return world.resolver(model=Merging()).resolve(world.scope, conflict.id, "merge").merged_id

        with ThreadPoolExecutor(3) as threads:
            made = set(threads.map(merge, range(6)))

        # Then all are notified of the same memory, and there is no other
        assert len(made) == 1
        assert len(everything(admin, world.scope)[0]) == 3

    def test_taking_back_a_merge_that_is_under_way_finishes_it_first(self, world: World, admin: Admin) -> None:
        # Given a merge whose process died after the memory was written
        conflict = world.conflict()
        with pytest.raises(StoreUnavailable):
            world.resolver(fuse=Fuse(10)).resolve(world.scope, conflict.id, "merge")
        plan = world.conflicts.plan_of(world.scope, conflict.id)
        assert plan is not None

        # When it is taken back
        undone = world.resolver().undo(world.scope, conflict.id)

        # Then both hold and what was written is archived
        assert undone == conflict
        assert validity(admin, conflict.older_id, conflict.newer_id) == [(None, None), (None, None)]
        row = admin.execute("SELECT status FROM memories WHERE ref = %s", (plan.ref,)).fetchone()
        assert row == ("archived",)

    def test_a_merge_that_the_write_path_would_refuse_is_refused_before_it_begins(self, world: World) -> None:
        # Given a conflict, and a model that answers with too much
        conflict = world.conflict()

        class Endless(Merging):
            def merge(self, scope: Scope, texts: Sequence[str]) -> str:
                return "x" * 300_000

        # Then the merge is refused and another decision is free
        with pytest.raises(InvalidInput, match="bytes"):
            world.resolver(model=Endless()).resolve(world.scope, conflict.id, "merge")
        assert world.conflicts.plan_of(world.scope, conflict.id) is None
        assert world.resolver().resolve(world.scope, conflict.id, "keep_new").resolution == "keep_new"

    def test_taking_back_a_merge_takes_back_what_the_merged_memory_did(self, world: World, admin: Admin) -> None:
        # Given a merged memory that superseded one of its sources and a third memory
        conflict = world.conflict()
        resolver = world.resolver()
        merged = resolver.resolve(world.scope, conflict.id, "merge").merged_id or ""
        third = world.remember("lives in Lima")
        found = [finding(conflict.older_id, merged, acts=True), finding(third, merged, acts=True)]
        world.conflicts.record(world.scope, found, NEXT_DAY)
        assert validity(admin, third) == [(NEXT_DAY, merged)]

        # When the merge is taken back
        resolver.undo(world.scope, conflict.id)

        # Then all three hold, and only the first conflict is left
        ids = (conflict.older_id, conflict.newer_id, third)
        assert validity(admin, *ids) == [(None, None)] * 3
        assert resolver.find(world.scope, status=None) == [conflict]

    def test_a_merge_that_was_merged_further_is_taken_back_after_the_later_one(
        self, world: World, admin: Admin
    ) -> None:
        # Given a merge of a merged memory
        conflict = world.conflict()
        resolver = world.resolver()
        merged = resolver.resolve(world.scope, conflict.id, "merge").merged_id or ""
        third = world.remember("has a cat", at=NEXT_DAY)
        [later] = world.conflicts.record(world.scope, [finding(merged, third)], NEXT_DAY)
        resolver.resolve(world.scope, later.id, "merge")

        # Then the first is refused until the later one is taken back
        with pytest.raises(AlreadyDecided, match=later.id):
            resolver.undo(world.scope, conflict.id)
        resolver.undo(world.scope, later.id)
        assert resolver.undo(world.scope, conflict.id) == conflict
        assert validity(admin, conflict.older_id, conflict.newer_id, third) == [(None, None)] * 3

    def test_links_that_a_dead_process_did_not_give_back_come_back_with_the_next_decision(self, world: World) -> None:
        # Given a merge that was taken back by a process that died before it gave the links back
        conflict = world.conflict()
        friend = world.remember("a friend")
        world.links.connect(world.scope, [NewLink(conflict.older_id, friend, "causal")], START)
        merged = world.resolver().resolve(world.scope, conflict.id, "merge").merged_id or ""
        world.conflicts.undo(world.scope, conflict.id, START, Plan("restore", merged_id=merged))
        assert world.linked(conflict.older_id) == set()

        # When a user decides it again
        decided = world.resolver().resolve(world.scope, conflict.id, "keep_old")

        # Then the links are back and the decision holds
        assert decided.resolution == "keep_old"
        assert world.linked(conflict.older_id) == {(conflict.older_id, friend)}


class TestDeciding:
    @pytest.mark.req("C9", "X17", partly="the engine; the facade has tests of its own")
    @pytest.mark.parametrize("resolution", ["keep_new", "keep_old", "keep_both", "ignore"])
    def test_each_decision_is_listed_and_taken_back(self, world: World, admin: Admin, resolution: str) -> None:
        # Given a pending conflict
        conflict = world.conflict()
        before = everything(admin, world.scope)
        resolver = world.resolver()
        assert resolver.find(world.scope) == [conflict]

        # When it is decided
        decided = resolver.resolve(world.scope, conflict.id, resolution)

        # Then it is no longer pending, and undo makes it so
        assert resolver.find(world.scope) == []
        assert resolver.count(world.scope) == 0
        assert resolver.find(world.scope, status=decided.status, memory_id=conflict.newer_id) == [decided]
        with pytest.raises(AlreadyDecided):
            resolver.resolve(world.scope, conflict.id, "merge")
        assert resolver.undo(world.scope, conflict.id) == conflict
        assert everything(admin, world.scope) == before

    def test_an_unknown_status_is_refused_and_lists_nothing(self, world: World) -> None:
        world.conflict()
        for ask in (world.resolver().find, world.resolver().count):
            with pytest.raises(InvalidInput, match="status"):
                ask(world.scope, status="open")

    @pytest.mark.req("X14", "D13", partly="conflicts")
    @pytest.mark.parametrize(
        "verb",
        [
            lambda resolver, scope, key: resolver.resolve(scope, key, "keep_new"),
            lambda resolver, scope, key: resolver.resolve(scope, key, "merge"),
            lambda resolver, scope, key: resolver.undo(scope, key),
        ],
        ids=["resolve", "merge", "undo"],
    )
    def test_conflicts_of_other_scopes_and_unknown_ones_are_not_found(
        self, world: World, other: Scope, admin: Admin, verb: Callable[[Resolver, Scope, str], object]
    ) -> None:
        conflict = world.conflict()
        before = everything(admin, world.scope)
        for scope, key in ((other, conflict.id), (world.scope, new_id())):
            with pytest.raises(NotFound):
                verb(world.resolver(), scope, key)
        assert everything(admin, world.scope) == before

    @pytest.mark.req("C9", "D9", partly="the judge in a follow-up task")
    def test_a_worker_with_a_model_decides_what_waits_and_one_without_leaves_it(
        self, world: World, admin: Admin
    ) -> None:
        # Given a conflict that no rule could decide
        conflict = world.conflict()
        assert world.resolver().work(10) == 0

        # When a worker with a model comes by
        assert world.resolver(model=Merging()).work(10) == 1

        # Then it is decided by the judge
        decided = world.conflicts.get(world.scope, conflict.id)
        assert decided is not None
        assert (decided.resolution, decided.decided_by) == ("keep_new", "judge")
        assert validity(admin, conflict.older_id) == [(NEXT_DAY, conflict.newer_id)]

        # And anyone who takes that back is not overruled by the model
        world.resolver().undo(world.scope, conflict.id)
        admin.execute("UPDATE conflicts SET due_at = clock_timestamp() WHERE due_at IS NOT NULL")
        assert world.resolver(model=Merging()).work(10) == 0


def test_a_memory_that_lost_and_was_archived_comes_back_as_the_loser(
    pool: Database, world: World, admin: Admin
) -> None:
    # Given a memory that was superseded by a decision and archived later
    conflict = world.conflict()
    world.resolver().resolve(world.scope, conflict.id, "keep_new")
    life = PostgresLife(pool, clock=world.clock, decay_per_hour=0.1)
    life.archive(world.scope, [conflict.older_id], "by request", world.clock.now())

    # When it is restored / Then the decision is in force as before
    assert life.restore(world.scope, conflict.older_id, world.clock.now())
    node = world.records.get(world.scope, conflict.older_id)
    assert node is not None
    assert (node.status, node.superseded_by) == ("pending", conflict.newer_id)
    assert node.valid_to is not None

    # When it is taken back / Then the memory stands for itself
    world.resolver().undo(world.scope, conflict.id)
    back = world.records.get(world.scope, conflict.older_id)
    assert back is not None
    assert (back.superseded_by, back.valid_to) == (None, None)
