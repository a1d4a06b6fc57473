"""The promises of `LifeRecords`, and of the life of memories in `Records`, on a real PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.life import PostgresFeedbacks, PostgresLife
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.energy import energy_at
from biem.domain.node import Node
from biem.domain.policies import Policies
from biem.domain.policies.layers import LayerPolicy
from biem.domain.policies.life import EnergyPolicy, RetentionPolicy
from biem.domain.retention import retention_days
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports import Filter
from biem.ports.life import Aged, RetentionVerdict
from tests.contract.conftest import ANY, MODEL, Admin, claim_all, encoded, unit, write
from tests.support.fakes import START, HeldClock

RATE = 0.1
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> HeldClock:
    return HeldClock()


@pytest.fixture
def records(pool: Database, clock: HeldClock, admin: Admin) -> PostgresRecords:
    """Records with a clock of the test's own and an empty outbox."""
    admin.execute("DELETE FROM outbox")
    admin.execute("UPDATE memories SET tier = 'L2', due_at = NULL")
    return PostgresRecords(pool, clock=clock, decay_per_hour=RATE, model=MODEL)


@pytest.fixture
def life(pool: Database, clock: HeldClock) -> PostgresLife:
    return PostgresLife(pool, clock=clock, decay_per_hour=RATE, model=MODEL)


@pytest.fixture
def feedbacks(pool: Database, clock: HeldClock) -> PostgresFeedbacks:
    return PostgresFeedbacks(pool, clock=clock, decay_per_hour=RATE)


def policies(pool: Database, clock: HeldClock, **changes: Any) -> PostgresLife:
    """Life under other policies."""
    return PostgresLife(pool, clock=clock, decay_per_hour=RATE, model=MODEL, policies=Policies(**changes))


def remember(records: PostgresRecords, scope: Scope, text: str, *, energy: float = 0.6, **details: Any) -> str:
    """An active memory with a vector."""
    given = write(text, **details)
    object.__setattr__(given, "energy", energy)
    [written] = records.remember(scope, [given])
    records.complete(encoded(claim_all(records)))
    records.save_vectors(MODEL, {sha256(given.draft.indexed_text): unit(1, 2)})
    return written.id


def node(records: PostgresRecords, scope: Scope, memory_id: str) -> Node:
    found = records.get(scope, memory_id)
    assert found is not None
    return found


def archive_all(aged: Aged) -> RetentionVerdict:
    return RetentionVerdict(aged.lived.layer, archive="expired")


class TestEnergy:
    @pytest.mark.req("B33")
    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @example(anchor=5e-324, hours=100_000.0, rate=5.0)
    @example(anchor=1e-12, hours=100_000.0, rate=5.0)
    @given(anchor=st.floats(0, 1), hours=st.floats(-10, 100_000), rate=st.floats(0, 5, allow_subnormal=False))
    def test_postgresql_computes_the_energy_that_the_domain_does(
        self, service: Admin, anchor: float, hours: float, rate: float
    ) -> None:
        # Given any anchor and time
        at = START + timedelta(hours=hours)

        # When both compute
        [(there,)] = service.execute("SELECT energy_at(%s, %s, %s, %s)", (anchor, START, at, rate)).fetchall()

        # Then they agree, also where exp() of PostgreSQL would fail
        assert there == pytest.approx(energy_at(anchor, START, at, rate), rel=1e-9, abs=1e-12)


class TestComplete:
    @pytest.mark.req("B41", "B11", partly="the recorded tier")
    @pytest.mark.parametrize(("energy", "tier"), [(0.1, "L2"), (0.49, "L2"), (0.5, "L1"), (1.0, "L1")])
    def test_a_new_memory_of_half_energy_or_more_is_of_tier_one(
        self, records: PostgresRecords, scope: Scope, energy: float, tier: str
    ) -> None:
        # Given a memory to be encoded
        given = write("new")
        object.__setattr__(given, "energy", energy)
        [written] = records.remember(scope, [given])
        assert node(records, scope, written.id).tier == "L2"

        # When it is encoded at once
        done = records.complete(encoded(claim_all(records)))

        # Then its tier follows from its energy
        assert node(records, scope, written.id).tier == tier
        assert done.hot == ((written.id,) if tier == "L1" else ())

    @pytest.mark.req("B41", partly="energy at the time of encoding counts")
    def test_what_waited_long_for_its_encoding_is_not_hot_any_more(
        self, records: PostgresRecords, scope: Scope, clock: HeldClock
    ) -> None:
        # Given a memory of 0.6
        [written] = records.remember(scope, [write("late")])

        # When it is encoded two hours later / Then its 0.49 are too little
        clock.advance(hours=2)
        assert records.complete(encoded(claim_all(records))).hot == ()
        assert node(records, scope, written.id).tier == "L2"


class TestTouch:
    @pytest.mark.req("B34", "X50", "C20")
    @pytest.mark.parametrize(("before", "after"), [(0.5, 0.6), (0.95, 1.0), (0.0, 0.1)])
    def test_an_access_adds_a_tenth_up_to_one_to_what_is_stored(
        self, records: PostgresRecords, scope: Scope, before: float, after: float, admin: Admin
    ) -> None:
        # Given a memory / When it is accessed
        memory_id = remember(records, scope, "x", energy=before)
        records.touch(scope, [memory_id], START)

        # Then a fresh read shows the sum, and what it began with stays known
        assert node(records, scope, memory_id).energy == pytest.approx(after, abs=1e-12)
        assert admin.execute("SELECT initial_energy FROM memories WHERE id = %s", (memory_id,)).fetchone() == (before,)

    @pytest.mark.req("C20", "B33")
    @pytest.mark.req("X6", partly="decay and boost of one read after another")
    def test_the_boost_is_added_to_what_decay_left(
        self, records: PostgresRecords, scope: Scope, clock: HeldClock
    ) -> None:
        # Given a memory of 0.8 after a half-life
        memory_id = remember(records, scope, "x", energy=0.8)
        clock.advance(hours=6.931471805599453)

        # When it is read, accessed and read again
        assert node(records, scope, memory_id).energy == pytest.approx(0.4)
        [touched] = records.touch(scope, [memory_id], clock.now())

        # Then it has a tenth more, and fades from there
        read = node(records, scope, memory_id)
        assert read.energy == pytest.approx(0.5)
        assert touched.energy_key == read.energy_key
        clock.advance(hours=6.931471805599453)
        assert node(records, scope, memory_id).energy == pytest.approx(0.25)

    @pytest.mark.req("C19", "X35")
    def test_a_thousand_accesses_in_a_minute_are_counted_and_boost_once(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given a memory / When it is returned a thousand times within a minute
        memory_id = remember(records, scope, "x", energy=0.5)
        for count in range(1_000):
            records.touch(scope, [memory_id], START + timedelta(milliseconds=59 * count))

        # Then all are counted, one boosts, and none is praise
        read = node(records, scope, memory_id)
        assert (read.access_count, read.useful_count) == (1_000, 0)
        assert read.energy == pytest.approx(0.6)

    @pytest.mark.req("C19", partly="the cooldown")
    def test_the_cooldown_ends_after_a_minute_and_none_is_none(
        self, records: PostgresRecords, scope: Scope, pool: Database, clock: HeldClock
    ) -> None:
        # Given a memory, and records of the verbatim profile
        memory_id = remember(records, scope, "x", energy=0.2)
        verbatim = PostgresRecords(
            pool, clock=clock, decay_per_hour=0.0, policies=Policies(energy=EnergyPolicy(boost_cooldown_s=0.0))
        )

        # When it is accessed within the cooldown, at its end, and without one
        energies = []
        for seconds in (0, 59, 60):
            records.touch(scope, [memory_id], START + timedelta(seconds=seconds))
            energies.append(node(records, scope, memory_id).energy)
        for _ in range(2):
            verbatim.touch(scope, [memory_id], START + timedelta(seconds=60))
        clock.advance(seconds=60)

        # Then two boosts counted with it and both without it
        assert energies == pytest.approx([0.3, 0.3, 0.4], abs=1e-3)
        assert node(verbatim, scope, memory_id).energy == pytest.approx(0.6, abs=1e-3)

    @pytest.mark.req("B49", "B36", partly="the recorded tier")
    def test_the_third_access_of_a_memory_of_0_45_makes_it_hot(
        self, records: PostgresRecords, scope: Scope, clock: HeldClock
    ) -> None:
        # Given a memory of 0.45
        memory_id = remember(records, scope, "x", energy=0.45)

        # When it is accessed every minute
        tiers = []
        for _ in range(3):
            clock.advance(minutes=1)
            [touched] = records.touch(scope, [memory_id], clock.now())
            tiers.append((touched.tier_before, touched.tier))

        # Then the third time it rises
        assert tiers == [("L2", "L2"), ("L2", "L2"), ("L2", "L1")]
        assert node(records, scope, memory_id).tier == "L1"

    @pytest.mark.req("M50", "C17", "X4", partly="the rule where it is counted")
    def test_the_fifth_access_makes_a_short_term_memory_long_term_and_only_such_a_one(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given memories of every layer
        layers = {layer: remember(records, scope, layer, layer=layer, tags=("t",)) for layer in LAYERS}

        # When each is returned four and then five times
        seen = []
        for count in range(1, 6):
            records.touch(scope, list(layers.values()), START)
            if count >= 4:
                seen.append({layer: node(records, scope, memory_id).layer for layer, memory_id in layers.items()})

        # Then the fifth promotes the short-term one, with its text, tags and counts
        same = {layer: layer for layer in LAYERS}
        assert seen == [same, {**same, "short_term": "long_term"}]
        promoted = node(records, scope, layers["short_term"])
        assert (promoted.text, promoted.tags, promoted.access_count) == ("short_term", ("t",), 5)

    def test_archived_memories_are_not_accessed_and_pending_ones_do_not_become_hot(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given an archived and a pending memory full of energy
        gone = remember(records, scope, "gone")
        life.archive(scope, [gone], "test", START)
        given = write("pending")
        object.__setattr__(given, "energy", 1.0)
        [pending] = records.remember(scope, [given])

        # When both are said to be accessed
        touched = records.touch(scope, [gone, pending.id], START)

        # Then one counts, and stays where it is until it has a vector
        assert [(each.id, each.tier) for each in touched] == [(pending.id, "L2")]
        assert node(records, scope, gone).access_count == 0

    @pytest.mark.req("X33", partly="no vector is read or written, by any statement of the access")
    def test_many_accesses_at_once_lose_no_count_and_do_not_block_each_other(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given ten memories
        ids = [remember(records, scope, f"m {number}") for number in range(10)]

        # When forty recalls count them at once, in different orders
        def access(number: int) -> None:
            records.touch(scope, ids if number % 2 else ids[::-1], START)

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(access, range(40)))

        # Then every one is counted
        assert {node(records, scope, memory_id).access_count for memory_id in ids} == {40}

    @pytest.mark.req("X32", partly="counting an access moves no index entry")
    def test_counting_an_access_touches_no_index(
        self, records: PostgresRecords, scope: Scope, admin: Admin, pool: Database, database: str
    ) -> None:
        # Given a memory with room on its page
        memory_id = remember(records, scope, "x", energy=0.2)
        admin.execute("VACUUM memories")

        # When it is accessed twice and stays in its tier and layer
        with psycopg.connect(database, autocommit=True) as other:
            other.execute("SELECT pg_stat_force_next_flush()")
            hot = _updates(other)
            other.execute(pool.sql["touch"], _touch(scope, memory_id))
            other.execute(pool.sql["touch"], _touch(scope, memory_id))
            other.execute("SELECT pg_stat_force_next_flush()")
            after = _updates(other)

        # Then all that an access changes is a HOT update
        assert (after[0] - hot[0], after[1] - hot[1]) == (2, 2)
        assert node(records, scope, memory_id).access_count == 2


LAYERS = ("core", "session", "short_term", "long_term")


def _touch(scope: Scope, memory_id: str) -> dict[str, Any]:
    return {
        "scopes": [scope.ns],
        "ids": [memory_id],
        "at": START,
        "decay": RATE,
        "boost": 0.1,
        "cooldown_s": 0.0,
        "promote": 0.7,
        "accesses": 5,
    }


def _updates(connection: Admin) -> tuple[int, int]:
    [row] = connection.execute(
        "SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'memories'"
    ).fetchall()
    return int(row[0]), int(row[1])


class TestReward:
    @pytest.mark.req("B35", "C19")
    @pytest.mark.parametrize(
        ("before", "mark", "after"), [(0.5, 1.0, 0.6), (0.5, -1.0, 0.4), (0.5, 0.5, 0.55), (0.05, -1.0, 0.0), (1, 1, 1)]
    )
    def test_feedback_moves_energy_by_a_tenth_of_its_mark(
        self,
        records: PostgresRecords,
        feedbacks: PostgresFeedbacks,
        scope: Scope,
        before: float,
        mark: float,
        after: float,
    ) -> None:
        # Given a memory / When feedback comes
        memory_id = remember(records, scope, "x", energy=before)
        touched = feedbacks.take(scope, "turn", {memory_id: mark}, START)

        # Then its energy moved, and praise is counted apart from accesses
        read = node(records, scope, memory_id)
        assert read.energy == pytest.approx(after, abs=1e-12)
        assert (read.useful_count, read.access_count) == (int(mark > 0), 0)
        assert [each.energy_key for each in touched or ()] == [read.energy_key]

    @pytest.mark.req("C17", partly="by use")
    def test_praised_twice_a_short_term_memory_is_long_term(
        self, records: PostgresRecords, feedbacks: PostgresFeedbacks, scope: Scope
    ) -> None:
        # Given a memory / When it is blamed, praised, blamed and praised again
        memory_id = remember(records, scope, "x", energy=0.3)
        layers = []
        for turn, mark in enumerate((-1.0, 1.0, -1.0, 1.0)):
            feedbacks.take(scope, str(turn), {memory_id: mark}, START)
            layers.append(node(records, scope, memory_id).layer)

        # Then the second praise proves it
        assert layers == ["short_term", "short_term", "short_term", "long_term"]

    def test_praise_makes_hot_and_reaches_exactly_what_the_scope_may_read(
        self, records: PostgresRecords, feedbacks: PostgresFeedbacks, life: PostgresLife, other: Scope
    ) -> None:
        # Given memories of a project, of its user, of another user, and an archived one
        project = Scope(other.tenant, other.user, "p")
        mine = remember(records, project, "mine", energy=0.65)
        global_one = remember(records, other, "global", energy=0.2)
        archived = remember(records, project, "archived")
        life.archive(project, [archived], "test", START)
        stranger = Scope(other.tenant, "stranger-" + other.user)
        theirs = remember(records, stranger, "theirs")

        # When the project praises all of them
        touched = feedbacks.take(project, "turn", dict.fromkeys([mine, global_one, archived, theirs], 1.0), START)

        # Then it reaches the first two, and one of them is hot now
        assert {each.id: (each.ns, each.tier) for each in touched or ()} == {
            mine: (project.ns, "L1"),
            global_one: (other.ns, "L2"),
        }
        assert node(records, stranger, theirs).useful_count == 0

    @pytest.mark.req("X8", partly="feedback whose answer is lost")
    def test_feedback_whose_answer_was_lost_counts_once(
        self, records: PostgresRecords, feedbacks: PostgresFeedbacks, scope: Scope, pool: Database, monkeypatch: Any
    ) -> None:
        # Given a connection that dies after the commit
        memory_id = remember(records, scope, "x", energy=0.5)
        retrying = pool.retrying

        def twice(attempt: Any) -> Any:
            attempt()
            return retrying(attempt)

        monkeypatch.setattr(pool, "retrying", twice)

        # When feedback is given, and so applied again
        touched = feedbacks.take(scope, "turn", {memory_id: 1.0}, START)
        monkeypatch.undo()

        # Then it counts once and the answer is the first one
        read = node(records, scope, memory_id)
        assert read.useful_count == 1
        assert read.energy == pytest.approx(0.6)
        assert [each.energy_key for each in touched or ()] == [read.energy_key]


class TestRenewal:
    def test_what_renews_others_is_judged_by_what_they_said_too(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, admin: Admin
    ) -> None:
        # Given a birthday that was corrected twice, each time in a few words
        said = [remember(records, scope, text) for text in ("My birthday is 3 May.", "No, 5 May.", "I meant June.")]
        for old, new in pairwise(said):
            admin.execute("UPDATE memories SET superseded_by = %s WHERE id = %s", (new, old))
        admin.execute("UPDATE memories SET due_at = %s WHERE id = %s", (START, said[-1]))
        # When its retention is looked at / Then it says all that it stands for
        seen: list[Aged] = []

        def judge(aged: Aged) -> RetentionVerdict:
            seen.append(aged)
            return RetentionVerdict(aged.lived.layer)

        assert len(life.review(scope, START + DAY, judge, 10)) == 1
        [aged] = seen
        assert set(aged.lived.text.split("\n")) == {"My birthday is 3 May.", "No, 5 May.", "I meant June."}
        assert retention_days(aged.lived, RetentionPolicy()) is None


class TestTiers:
    @pytest.mark.req("B10", "B12", "B9", "B50", partly="the recorded tier")
    def test_fading_moves_out_exactly_what_is_weak_or_idle_once(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, clock: HeldClock
    ) -> None:
        # Given a hot memory, one that will be weak and one that is accessed in between
        idle = remember(records, scope, "idle", energy=1.0)
        used = remember(records, scope, "used", energy=1.0)
        weak = remember(records, scope, "weak", energy=0.5)
        later = START + timedelta(hours=5.2)
        records.touch(scope, [used], later - timedelta(minutes=30))

        # When the sweep comes after an hour, and when nothing has changed since
        first = life.fade(START + timedelta(seconds=3_600), 100)
        second = life.fade(START + timedelta(seconds=3_601), 100)
        third = life.fade(START + timedelta(seconds=3_601), 100)

        # Then what is idle leaves once
        assert first == []
        assert sorted(second) == sorted([(scope.ns, idle), (scope.ns, weak)])
        assert third == []
        assert (node(records, scope, idle).tier, node(records, scope, used).tier) == ("L2", "L1")

    @pytest.mark.req("B12", "B36", partly="the recorded tier")
    @pytest.mark.parametrize(("energy", "stays"), [(0.3, True), (0.299, False), (0.1, False), (0.099, False)])
    def test_below_0_30_a_memory_leaves_although_it_was_just_used(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, admin: Admin, energy: float, stays: bool
    ) -> None:
        # Given a memory of tier one with this energy
        memory_id = remember(records, scope, "x", energy=0.9)
        admin.execute("UPDATE memories SET energy_anchor = %s WHERE id = %s", (energy, memory_id))

        # When the sweep comes / Then the threshold decides
        assert life.fade(START, 100) == ([] if stays else [(scope.ns, memory_id)])

    def test_one_fading_is_bounded_and_the_next_goes_on(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given five memories that will be idle
        ids = {remember(records, scope, f"m {number}") for number in range(5)}

        # When they are moved two at a time / Then each once
        moved = [life.fade(START + 2 * HOUR, 2) for _ in range(4)]
        assert [len(part) for part in moved] == [2, 2, 1, 0]
        assert {memory_id for part in moved for _, memory_id in part} == ids

    def test_hot_memories_come_hottest_first_with_vectors_and_of_their_scope_only(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given hot memories of two scopes, one without a vector, and one that is not hot
        first = remember(records, scope, "first", energy=0.6, conversation="c")
        second = remember(records, scope, "second", energy=0.9)
        bare = remember(records, scope, "bare", energy=0.9)
        remember(records, scope, "cold", energy=0.2)
        theirs = remember(records, other, "theirs")
        admin.execute("DELETE FROM embeddings WHERE sha256 = %s", (sha256("bare"),))

        # When they are asked for
        entries = life.hot(scope.ns, START, 10)

        # Then they come in order, ready for a canvas
        assert [entry.id for entry in entries] == [second, first]
        assert entries[1].conversation == "c"
        assert entries[1].accessed_at == START
        assert entries[1].energy_key == node(records, scope, first).energy_key
        assert entries[0].vector.tolist() == unit(1, 2).tolist()
        assert [entry.id for entry in life.hot(scope.ns, START, 1)] == [second]
        assert [entry.id for entry in life.hot(scope.ns, START, 10, [first, theirs])] == [first]
        assert life.hot_ids(scope.ns) == {first, second, bare}

    def test_scopes_with_hot_memories_come_in_pages(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, other: Scope
    ) -> None:
        # Given hot memories of two scopes, and a cold one of a third
        remember(records, scope, "a")
        remember(records, other, "b")
        remember(records, Scope(user="cold-" + other.user), "c", energy=0.1)
        ordered = sorted([scope.ns, other.ns])

        # When they are listed / Then in order, without repeats
        assert life.hot_scopes("", 10) == ordered
        assert life.hot_scopes("", 1) == ordered[:1]
        assert life.hot_scopes(ordered[0], 10) == ordered[1:]

    def test_cooling_changes_the_tier_of_hot_memories_of_the_scope_only(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, other: Scope
    ) -> None:
        # Given hot memories
        ids = [remember(records, scope, f"m {number}") for number in range(4)]
        theirs = remember(records, other, "theirs")

        # When some are cooled, twice, and then all but one
        assert life.cool(scope.ns, [ids[0], theirs]) == 1
        assert life.cool(scope.ns, [ids[0], theirs]) == 0
        assert life.cool_all_but(scope.ns, [ids[1]], 1) == 1
        assert life.cool_all_but(scope.ns, [ids[1]], 100) == 1

        # Then only that one and the other scope's are hot
        assert life.hot_ids(scope.ns) == {ids[1]}
        assert life.hot_ids(other.ns) == {theirs}


class TestReview:
    def test_only_what_is_due_is_judged_and_done_as_was_said(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, other: Scope
    ) -> None:
        # Given noise of three days in two scopes, and a memory of ninety
        noise = [remember(records, scope, f"noise {number}", importance=1.0) for number in range(3)]
        normal = remember(records, scope, "normal", importance=3.0)
        theirs = remember(records, other, "theirs", importance=1.0)
        at = START + 3 * DAY
        seen: list[Aged] = []

        def judge(aged: Aged) -> RetentionVerdict:
            seen.append(aged)
            if aged.id == noise[0]:
                return RetentionVerdict("long_term", due_at=at + DAY)
            return RetentionVerdict(aged.lived.layer, archive="expired")

        # When one scope is judged a moment too early, in time, and again
        early = life.review(scope, at - timedelta(seconds=1), judge, 10)
        judged = life.review(scope, at, judge, 10)
        again = life.review(scope, at, judge, 10)

        # Then each is judged once with its facts, and what was said is done
        assert (early, again) == ([], [])
        assert {aged.id for aged, _ in judged} == {aged.id for aged in seen} == set(noise)
        assert all((aged.ns, aged.lived.importance, aged.touched_at) == (scope.ns, 1.0, START) for aged in seen)
        assert seen[0].energy == pytest.approx(energy_at(0.6, START, at, RATE))
        assert node(records, scope, noise[0]).layer == "long_term"
        gone = node(records, scope, noise[1])
        assert (gone.status, gone.tier, gone.archive_reason, gone.archived_at) == ("archived", "L3", "expired", at)
        assert (node(records, scope, normal).status, node(records, other, theirs).status) == ("active", "active")
        assert {job.memory_id for job in claim_all(records) if job.task == "archive"} == set(noise[1:])
        assert [aged.id for aged, _ in life.review(None, at, judge, 10)] == [theirs]
        assert [aged.id for aged, _ in life.review(scope, at + DAY, archive_all, 10)] == [noise[0]]

    def test_one_review_is_bounded(self, records: PostgresRecords, life: PostgresLife, scope: Scope) -> None:
        # Given five that are due / When two may be judged at a time / Then the rest comes next
        for number in range(5):
            remember(records, scope, f"noise {number}", importance=1.0)
        sizes = [len(life.review(scope, START + 4 * DAY, archive_all, 2)) for _ in range(4)]
        assert sizes == [2, 2, 1, 0]

    @pytest.mark.parametrize("details", [{"layer": "core"}, {"importance": 5.0}])
    def test_what_stays_for_ever_is_never_due(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, details: dict[str, Any]
    ) -> None:
        # Given a memory for ever / When a century has gone by / Then no one asks
        remember(records, scope, "for ever", **details)
        assert life.review(scope, START + 36_500 * DAY, archive_all, 10) == []

    def test_pending_and_archived_memories_are_not_judged(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given one of each / When their time is over / Then no one asks
        gone = remember(records, scope, "gone", importance=1.0)
        life.archive(scope, [gone], "test", START)
        records.remember(scope, [write("pending", importance=1.0)])
        assert life.review(scope, START + 400 * DAY, archive_all, 10) == []

    @pytest.mark.req("X8", partly="a review that dies")
    def test_a_review_that_dies_has_changed_nothing(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given two that are due
        ids = [remember(records, scope, f"noise {number}", importance=1.0) for number in range(2)]
        judged: list[Aged] = []

        def dies(aged: Aged) -> RetentionVerdict:
            judged.append(aged)
            if len(judged) == 2:
                raise KeyboardInterrupt
            return archive_all(aged)

        # When the process is stopped between them
        with pytest.raises(KeyboardInterrupt):
            life.review(scope, START + 4 * DAY, dies, 10)

        # Then nothing happened, and the next review does all
        assert {node(records, scope, memory_id).status for memory_id in ids} == {"active"}
        assert len(life.review(scope, START + 4 * DAY, archive_all, 10)) == 2

    def test_two_reviews_at_once_judge_each_memory_once(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given twenty that are due / When four workers review at once
        ids = [remember(records, scope, f"noise {number}", importance=1.0) for number in range(20)]
        with ThreadPoolExecutor(4) as threads:
            parts = list(threads.map(lambda _: life.review(scope, START + 4 * DAY, archive_all, 20), range(4)))

        # Then each was judged by one of them
        assert sorted(aged.id for part in parts for aged, _ in part) == sorted(ids)


class TestArchive:
    @pytest.mark.req("C18", "M49", partly="the records and the job")
    def test_an_archived_memory_is_no_answer_any_more_but_stays_in_the_records(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, other: Scope
    ) -> None:
        # Given memories of two scopes
        mine = remember(records, scope, "secret plan", layer="core")
        theirs = remember(records, other, "secret plan too")

        # When both are archived by one scope, twice
        at = START + HOUR
        assert life.archive(scope, [mine, theirs], "by request", at) == [mine]
        assert life.archive(scope, [mine], "again", at + HOUR) == []

        # Then it is in no answer and still known, and one job will clear the other stores
        live = records.candidates([scope], [mine], ["secret"], ANY, pending_limit=10, evidence=False)
        assert live.nodes == {}
        assert records.text_search([scope], ["secret"], 10, ANY) == {}
        gone = node(records, scope, mine)
        assert (gone.status, gone.tier, gone.archived_at, gone.archive_reason) == ("archived", "L3", at, "by request")
        assert gone.text == "secret plan"
        [job] = claim_all(records)
        assert (job.task, job.memory_id, job.ns) == ("archive", mine, scope.ns)
        assert node(records, other, theirs).status == "active"

    def test_a_pending_memory_is_not_encoded_any_more_once_it_is_archived(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, admin: Admin
    ) -> None:
        # Given a pending memory that a worker is encoding
        [written] = records.remember(scope, [write("x")])
        held = claim_all(records)

        # When it is archived meanwhile
        life.archive(scope, [written.id], "test", START)
        records.complete(encoded(held))

        # Then it stays archived, and is cleared after the worker must have finished
        assert node(records, scope, written.id).status == "archived"
        [(task, ahead)] = admin.execute("SELECT task, due_at > now() + interval '1 minute' FROM outbox").fetchall()
        assert (task, ahead) == ("archive", True)

    def test_what_was_merged_names_its_successor(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given two memories / When one is merged into the other
        old, new = remember(records, scope, "old"), remember(records, scope, "new")
        life.archive(scope, [old], "merged", START, superseded_by=new)

        # Then it says so
        assert node(records, scope, old).superseded_by == new


class TestRestore:
    @pytest.mark.req("M49", "C18", partly="the records and the job")
    def test_a_restored_memory_is_found_at_once_and_indexed_again(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, other: Scope
    ) -> None:
        # Given an archived memory whose other stores are not cleared yet
        memory_id = remember(records, scope, "garden shed", importance=2.0)
        life.archive(scope, [memory_id], "expired", START)

        # When another scope restores it, then its own, twice
        at = START + 30 * DAY
        assert life.restore(other, memory_id, at) is False
        assert life.restore(scope, memory_id, at) is True
        assert life.restore(scope, memory_id, at) is False

        # Then it is pending, found by its words, and its row of the index will be replaced, not doubled
        back = node(records, scope, memory_id)
        assert (back.status, back.tier, back.archived_at, back.archive_reason) == ("pending", "L2", None, "")
        live = records.candidates([scope], [], ["garden"], ANY, pending_limit=10, evidence=False)
        assert set(live.nodes) == {memory_id}
        [job] = claim_all(records)
        assert (job.task, job.attempts) == ("encode", 1)
        assert job.claims > 1
        records.complete(encoded([job]))
        assert node(records, scope, memory_id).status == "active"

        # And its time starts again
        assert life.review(scope, at + 13 * DAY, archive_all, 10) == []
        assert len(life.review(scope, at + 15 * DAY, archive_all, 10)) == 1

    @pytest.mark.req("C18", partly="an archived fact said again")
    @pytest.mark.parametrize("details", [{"fact": True}, {"ref": "mine"}])
    def test_a_forgotten_memory_said_again_comes_back(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, details: dict[str, Any]
    ) -> None:
        # Given a memory that was archived
        memory_id = remember(records, scope, "I like tea", **details)
        life.archive(scope, [memory_id], "expired", START)

        # When it is said again, alone and in a batch
        [written] = records.remember(scope, [write("I like tea", **details)])
        batch = records.remember(scope, [write("I like tea", **details), write("other")])

        # Then it is the same memory, back
        assert (written.id, written.created, written.restored) == (memory_id, False, True)
        assert (batch[0].id, batch[0].restored) == (memory_id, False)
        assert node(records, scope, memory_id).status == "pending"

    @pytest.mark.req("X8", partly="a memory said again")
    def test_a_write_that_fails_restores_nothing(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given an archived fact and a ref that is taken
        memory_id = remember(records, scope, "fact", fact=True)
        remember(records, scope, "taken", ref="r")
        life.archive(scope, [memory_id], "expired", START)

        # When a batch with both fails
        with pytest.raises(Exception, match="already names"):
            records.remember(scope, [write("fact", fact=True), write("another text", ref="r")])

        # Then the fact is archived as before
        assert node(records, scope, memory_id).status == "archived"

    @pytest.mark.req("C9", partly="a superseded fact said again")
    def test_a_superseded_fact_said_again_is_a_new_memory_and_can_still_be_restored(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope, admin: Admin
    ) -> None:
        # Given a fact that was superseded, and one that was merged
        old = remember(records, scope, "I live in Berlin", fact=True)
        new = remember(records, scope, "I live in Munich", fact=True)
        admin.execute("UPDATE memories SET superseded_by = %s, valid_to = now() WHERE id = %s", (new, old))

        # When it is said again, archived and restored
        again = remember(records, scope, "I live in Berlin", fact=True)
        life.archive(scope, [old], "merged", START, superseded_by=new)
        restored = life.restore(scope, old, START)

        # Then it is another memory, and the old one stands for itself, without being the same fact
        assert again != old
        assert restored
        back = node(records, scope, old)
        assert (back.superseded_by, back.valid_to) == (None, None)
        assert records.remember(scope, [write("I live in Berlin", fact=True)])[0].id == again

    def test_a_memory_restored_while_it_was_cleared_is_encoded_once_more(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given a worker that took the job of an archived memory
        back, gone = remember(records, scope, "back"), remember(records, scope, "gone")
        life.archive(scope, [back, gone], "test", START)
        held = claim_all(records)

        # When one is restored and encoded before the worker has cleared them
        life.restore(scope, back, START)
        records.complete(encoded(claim_all(records)))
        life.cleared(held)
        life.cleared(held[:0])

        # Then it is encoded again, replacing its row, and the other stays archived
        [job] = claim_all(records)
        assert (job.task, job.memory_id) == ("encode", back)
        assert job.claims > 1
        assert node(records, scope, gone).status == "archived"


class TestErasure:
    def test_what_an_erased_memory_had_superseded_stands_for_itself_again(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a fact superseded by another one, and said again since
        old = remember(records, scope, "I live in Berlin", fact=True)
        new = remember(records, scope, "I live in Munich", fact=True)
        admin.execute("UPDATE memories SET superseded_by = %s, valid_to = now() WHERE id = %s", (new, old))
        remember(records, scope, "I live in Berlin", fact=True)

        # When the other one is erased
        erasure = records.erase(scope, new, 60.0)

        # Then nothing points to it
        assert erasure.ids == (new,)
        left = node(records, scope, old)
        assert (left.superseded_by, left.valid_to) == (None, None)


class TestLimits:
    def test_what_expired_or_is_one_too_many_is_archived_and_named(
        self, records: PostgresRecords, scope: Scope, pool: Database, clock: HeldClock
    ) -> None:
        # Given three tasks where two are allowed, and one that lasts an hour
        life = policies(pool, clock, layers=LayerPolicy(short_term_most=2))
        tasks = [remember(records, scope, f"task {n}", metadata={"category": "task"}) for n in range(3)]
        brief = remember(records, scope, "brief", layer="core", expires_at=START + HOUR)

        # When each limit is applied / Then what it took is named, with the reason, and nothing the second time
        for limit, taken, reason in ((life.expire, brief, "expired"), (life.limit_short_term, tasks[0], "capacity")):
            assert limit(scope, START + DAY, 10) == [taken]
            assert node(records, scope, taken).archive_reason.startswith(reason)
            assert limit(scope, START + DAY, 10) == []


class TestRoom:
    def room(self, pool: Database, clock: HeldClock, **changes: Any) -> PostgresLife:
        return policies(pool, clock, retention=RetentionPolicy(max_memories=10, keep_share=0.8, **changes))

    @pytest.mark.req("M52")
    def test_a_scope_that_holds_too_much_loses_the_least_valuable(
        self, records: PostgresRecords, feedbacks: PostgresFeedbacks, scope: Scope, pool: Database, clock: HeldClock
    ) -> None:
        # Given twelve memories where ten are allowed: noise, some of it used, and some that matters
        life = self.room(pool, clock)
        noise = [remember(records, scope, f"noise {number}", importance=1.0) for number in range(5)]
        used = remember(records, scope, "used", importance=1.0)
        core = remember(records, scope, "core", importance=1.0, layer="core")
        normal = [remember(records, scope, f"normal {number}") for number in range(5)]
        for _ in range(3):
            records.touch(scope, [used, noise[4]], START)
        feedbacks.take(scope, "turn", {used: 1.0}, START)
        at = START + 2 * DAY

        # When room is made
        assert scope in life.crowded()
        gone = life.make_room(scope, at, 100)

        # Then the unused noise is archived down to four fifths, and no one counts again for two writes
        assert set(gone) == set(noise[:4])
        assert {node(records, scope, each).status for each in (used, core, noise[4], *normal)} == {"active"}
        assert node(records, scope, noise[0]).archive_reason == "capacity"
        assert scope not in life.crowded()
        for number in range(2):
            remember(records, scope, f"more {number}")
        assert scope not in life.crowded()
        remember(records, scope, "one more")
        assert scope in life.crowded()

    @pytest.mark.req("M52", partly="bounded")
    def test_one_run_is_bounded_and_the_next_goes_on(
        self, records: PostgresRecords, scope: Scope, pool: Database, clock: HeldClock
    ) -> None:
        # Given eleven memories where ten are allowed
        life = self.room(pool, clock)
        for number in range(11):
            remember(records, scope, f"noise {number}")

        # When two may go at a time
        at, sizes = START + 2 * DAY, []
        while scope in life.crowded():
            sizes.append(len(life.make_room(scope, at, 2)))

        # Then it is done when the scope was counted small enough
        assert sizes == [2, 0]

    def test_a_scope_of_protected_memories_is_left_alone_and_not_counted_at_every_run(
        self, records: PostgresRecords, scope: Scope, pool: Database, clock: HeldClock
    ) -> None:
        # Given a full scope of core memories and one that is alive
        life = self.room(pool, clock)
        for number in range(10):
            remember(records, scope, f"core {number}", layer="core")
        remember(records, scope, "alive", energy=1.0)

        # When room is made while that one is above the minimum / Then nothing is archived, and the next count is later
        assert life.make_room(scope, START + HOUR, 100) == []
        assert scope not in life.crowded()

        # And after a fifth of what is allowed was written, the scope is counted again
        for number in range(2):
            remember(records, scope, f"more {number}", layer="core")
            assert scope not in life.crowded()
        remember(records, scope, "one more", layer="core")
        assert scope in life.crowded()

    @pytest.mark.req("X32", partly="a scope with room costs no count")
    def test_a_scope_that_never_wrote_so_much_is_never_counted(
        self, records: PostgresRecords, life: PostgresLife, scope: Scope
    ) -> None:
        # Given a small scope under the default / Then it is not crowded
        remember(records, scope, "x")
        assert scope not in life.crowded()


class TestAsOf:
    @pytest.mark.req("C9", partly="validity in time, in the records")
    def test_an_answer_as_of_an_instant_holds_what_was_valid_then(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a fact that held from January to March, and its successor; both pending, so that words find them
        january, march = START.replace(month=1), START.replace(month=3)
        old = records.remember(scope, [write("home is Berlin", at=january)])[0].id
        new = records.remember(scope, [write("home is Munich", at=march)])[0].id
        admin.execute("UPDATE memories SET valid_to = %s, superseded_by = %s WHERE id = %s", (march, new, old))
        assert (node(records, scope, old).valid_from, node(records, scope, old).valid_to) == (january, march)

        # When it is asked for as of several instants, by ids, by words of pending rows and by words alone
        def found(as_of: Any) -> tuple[set[str], set[str], set[str]]:
            where = Filter(as_of=as_of)
            by_id = records.candidates([scope], [old, new], [], where, pending_limit=0, evidence=False)
            pending = records.candidates([scope], [], ["home"], where, pending_limit=9, evidence=False)
            return set(by_id.nodes), set(pending.nodes), set(records.text_search([scope], ["home"], 9, where))

        # Then each answer is what held, from its first instant to before its last
        assert found(january - DAY) == (set(), set(), set())
        assert found(january) == found(march - timedelta(microseconds=1)) == ({old},) * 3
        assert found(march) == found(START) == ({new},) * 3
        assert found(None) == ({old, new},) * 3

    @pytest.mark.req("C9", "B14", partly="with and without the vector index the same is told")
    def test_as_of_an_instant_all_that_was_said_by_then_is_reported_though_it_was_replaced(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a message of January that one of March replaced; both pending, so that words find them
        january, march = START.replace(month=1), START.replace(month=3)
        said = [records.remember(scope, [write(f"home {n}", kind="event", at=at)])[0].id
                for n, at in enumerate((january, march))]  # fmt: skip
        admin.execute("UPDATE memories SET valid_to = %s, superseded_by = %s WHERE id = %s", (march, said[1], said[0]))

        # When it is asked for as of several instants, as recall does while the index answers, and while it is away
        for as_of, expected in ((january - DAY, []), (january, said[:1]), (march, said), (START, said)):
            where = Filter(as_of=as_of)
            by_id = records.candidates([scope], said, [], where, pending_limit=0, evidence=False).nodes
            pending = records.candidates([scope], [], ["home"], where, pending_limit=9, evidence=False).nodes
            words = records.text_search([scope], ["home"], 9, where)

            # Then all agree: what was said stays said
            assert set(by_id) == set(pending) == set(words) == set(expected)


@pytest.fixture(autouse=True)
def _cold(admin: Admin) -> Iterator[None]:
    """Nothing of this file is hot or due for other files."""
    yield
    admin.execute("UPDATE memories SET tier = 'L2' WHERE tier = 'L1'")
