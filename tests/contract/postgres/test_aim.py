"""What the docstrings of `biem.ports.aim` promise, on real servers."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from biem.adapters.postgres.aim import PostgresAim
from biem.adapters.postgres.conflicts import PostgresConflicts
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.designs.aim import GateDecision
from biem.domain.fields import Fields
from biem.domain.link import NewLink
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.ports.aim import Census
from biem.ports.conflicts import ConflictFinding
from tests.contract.conftest import MODEL, Admin, claim_all, encoded, in_scope, instant, unit, write
from tests.support.fakes import START, HeldClock

NO = GateDecision(False, 0.42, 0.6, "centered", 0.5, 0.6, 0.0, START)
YES = replace(NO, formed=True, value=0.9)
NEVER_THERE = "01890a5d-ac96-774b-bcce-b302099a8057"


@pytest.fixture
def aim(pool: Database) -> PostgresAim:
    """The adapter as bootstrap builds it."""
    return PostgresAim(pool, clock=HeldClock(), decay_per_hour=0.1, model=MODEL)


def remember(records: PostgresRecords, scope: Scope, *texts: str, **draft: Any) -> list[str]:
    """Messages, acknowledged one after the other."""
    writes = [write(text, kind="event", **draft) for text in texts]
    return [written.id for written in records.remember(scope, writes)]


class TestDeciding:
    @pytest.mark.req("A7", "A9", "C29", partly="numbers of the mirror")
    def test_formed_ones_get_the_next_numbers_in_order_and_refused_ones_none(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given four messages, of which one is refused
        ids = remember(records, scope, "a", "b", "c", "d")

        # When they are decided in any order, and a second time
        for _ in range(2):
            assert aim.decide(scope, ids[::-1], {ids[1]: NO}) == {ids[0], ids[2], ids[3]}

        # Then the others have the next numbers in the order they were written
        assert aim.numbers(scope, ids) == {ids[0]: 1, ids[2]: 2, ids[3]: 3}
        assert aim.counter(scope) == 3
        kept = {one.node.text: (one.formed, one.mirror_seq) for one in aim.page(scope, 0)}
        assert kept == {"a": (True, 1), "b": (False, None), "c": (True, 2), "d": (True, 3)}

    def test_a_decision_stays_after_later_ones(self, aim: PostgresAim, records: PostgresRecords, scope: Scope) -> None:
        ids = remember(records, scope, "a", "b")
        aim.decide(scope, ids, {ids[1]: NO})
        assert aim.decide(scope, ids, {ids[0]: NO}) == {ids[0]}
        assert aim.decide(scope, ids, {}) == {ids[0]}
        assert aim.standing(scope, [*ids, NEVER_THERE])[ids[1]].decided is True
        assert aim.standing(scope, [NEVER_THERE]) == {}

    def test_what_was_foretold_counts_with_its_number(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given decisions about messages to come
        first, second = write("a", kind="event"), write("b", kind="event")
        aim.record_decisions(scope, [(first.id, NO, None), (second.id, YES, 41)])
        aim.record_decisions(scope, [(first.id, YES, 7)])  # too late
        assert aim.numbers(scope, [first.id, second.id]) == {second.id: 41}

        # When they come / Then they are decided so
        records.remember(scope, [first, second])
        assert aim.standing(scope, [first.id])[first.id].foretold is False
        assert aim.decide(scope, [first.id, second.id], {second.id: NO}) == {second.id}
        assert aim.numbers(scope, [first.id, second.id]) == {second.id: 41}

    @pytest.mark.req("A61", partly="numbers of the mirror")
    def test_workers_that_decide_at_once_leave_no_number_out_and_none_twice(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope
    ) -> None:
        ids = remember(records, scope, *(f"m{n}" for n in range(40)))
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda start: aim.decide(scope, ids[start : start + 15], {}), range(0, 40, 5)))
        assert sorted(aim.numbers(scope, ids).values()) == list(range(1, 41))
        assert aim.counter(scope) == 40

    def test_another_scope_decides_nothing(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        ids = remember(records, scope, "a")
        assert aim.decide(other, ids, {ids[0]: NO}) == frozenset()
        assert aim.standing(scope, ids)[ids[0]].formed is True
        assert aim.decide(scope, ids, {}) == set(ids)

    @pytest.mark.req("X8", partly="decisions go with what they are about")
    def test_decisions_go_with_their_memories_and_their_scope(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        ids = remember(records, scope, "a", "b")
        aim.decide(scope, ids, {ids[0]: NO, ids[1]: NO})
        aim.record_decisions(scope, [(new_id(), NO, None)])
        records.erase(scope, ids[0], 0)
        assert in_scope(admin, "gate_decisions", scope) == 2
        records.erase(scope, None, 0)
        assert in_scope(admin, "gate_decisions", scope) == 0


class TestUnformed:
    @pytest.mark.req("A24", partly="what refusing takes away")
    def test_repetitions_add_no_energy_tier_or_layer_to_it(
        self, aim: PostgresAim, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given a refused message that is active
        (memory_id,) = remember(jobs, scope, "ok")
        aim.decide(scope, [memory_id], {memory_id: NO})
        assert jobs.complete(encoded(claim_all(jobs))).hot == ()

        # When it is shown often / Then that is counted, and nothing else
        for minute in range(9):
            jobs.touch(scope, [memory_id], START + timedelta(minutes=2 * minute))
        node = jobs.get(scope, memory_id)
        assert node is not None
        assert (node.energy, node.tier, node.layer, node.access_count) == (0.0, "L2", "short_term", 9)

    def test_it_is_no_end_of_a_link_and_no_source_of_a_fact(
        self, aim: PostgresAim, jobs: PostgresRecords, pool: Database, scope: Scope, admin: Admin
    ) -> None:
        links = PostgresLinks(pool)
        ids = remember(jobs, scope, "a", "b", "c")
        aim.decide(scope, ids, {ids[1]: NO})
        jobs.complete(encoded(claim_all(jobs)))
        assert (
            links.connect(scope, [NewLink(ids[0], ids[1], "temporal"), NewLink(ids[0], ids[2], "temporal")], START) == 1
        )
        for minute in range(4):
            jobs.touch(scope, ids, START + timedelta(minutes=minute))
        queued = admin.execute("SELECT memory_id::text FROM consolidation_queue WHERE ns = %s", (scope.ns,)).fetchall()
        assert ids[1] not in {row[0] for row in queued}
        assert ids[0] in {row[0] for row in queued}

    def test_admitting_gives_it_energy_and_the_newest_number_once(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope
    ) -> None:
        ids = remember(records, scope, "a", "b", "c")
        aim.decide(scope, ids, {ids[0]: NO})
        assert aim.admit(scope, ids[0], YES) is True
        assert aim.admit(scope, ids[0], YES) is False
        assert aim.numbers(scope, ids) == {ids[1]: 1, ids[2]: 2, ids[0]: 3}
        node = records.get(scope, ids[0])
        assert node is not None
        assert node.energy == pytest.approx(0.6)
        assert aim.refusals(scope, 10) == []

    def test_admitting_what_is_formed_or_of_another_scope_changes_nothing(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        ids = remember(records, scope, "a", "b")
        aim.decide(scope, ids, {ids[0]: NO})
        assert aim.admit(scope, ids[1], YES) is False
        assert aim.admit(other, ids[0], YES) is False
        assert aim.counter(scope) == 1


class TestReading:
    def test_said_has_each_place_before_once(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given six messages, of which one has a vector, and another scope's
        remember(records, other, "x")
        ids = [*remember(records, scope, "a", "b", conversation="c"), *remember(records, scope, "d", "e", "f", "g")]
        records.save_vectors(MODEL, {sha256("b"): unit(1, 2)})

        # When asked what was said up to two places before two of them / Then that, in order
        said = aim.said(scope, [3, 4], 2)
        assert [(one.id, one.write_seq, one.conversation) for one in said] == [
            (ids[0], 1, "c"), (ids[1], 2, "c"), (ids[2], 3, ""),
        ]  # fmt: skip
        assert [one.vector is not None for one in said] == [False, True, False]
        assert said[1].vector == pytest.approx(unit(1, 2))

    @pytest.mark.req("A8", partly="ages by the write sequence")
    def test_nodes_come_in_the_given_order_with_age_vector_and_original(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        ids = remember(records, scope, "a", "b", "c")
        (foreign,) = remember(records, other, "x")
        aim.decide(scope, ids, {ids[1]: NO})
        records.save_vectors(MODEL, {sha256("c"): unit(0, 1)})
        asked = [ids[2], ids[0], foreign, ids[1], NEVER_THERE]
        held = aim.nodes([scope], asked, START, evidence=True)
        assert [(one.node.id, one.formed, one.age) for one in held] == [
            (ids[2], True, 0), (ids[0], True, 1), (ids[1], False, 0),
        ]  # fmt: skip
        assert [one.evidence for one in held] == ["c", "a", "b"]
        assert held[0].vector == pytest.approx(unit(0, 1))
        assert all(one.evidence is None for one in aim.nodes([scope], ids, START, evidence=False))

    def test_a_node_is_disputed_as_long_as_a_conflict_of_its_scope_is_open(
        self, aim: PostgresAim, records: PostgresRecords, pool: Database, scope: Scope
    ) -> None:
        # Given a contradiction, a mere suspicion and a repetition
        ids = remember(records, scope, "a", "b", "c", "d", "e", "f")
        conflicts = PostgresConflicts(pool, model=MODEL, purge_after_s=65.0)
        first = ConflictFinding(new_id(), "update", ids[0], ids[1], 0.9, "value", "home", acts=False, judged_later=True)
        doubt = replace(first, id=new_id(), older_id=ids[2], newer_id=ids[3], suspected=True)
        twice = replace(first, id=new_id(), older_id=ids[4], newer_id=ids[5], kind="duplicate")
        conflicts.record(scope, [first, doubt, twice], START)

        # When their nodes are read, before and after the decision
        before = aim.nodes([scope], ids, START, evidence=False)
        conflicts.resolve(scope, first.id, "keep_both", "user", START)
        after = aim.nodes([scope], ids, START, evidence=False)

        # Then both sides of the contradiction are disputed, until it is decided
        assert [one.node.id for one in before if one.disputed] == ids[:2]
        assert not any(one.disputed for one in after)

    def test_what_holds_no_more_or_is_archived_is_no_node(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        ids = remember(records, scope, "a", "b", "c")
        admin.execute("UPDATE memories SET valid_to = %s WHERE id = %s", (instant(10), ids[0]))
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (ids[1],))
        assert [one.node.id for one in aim.nodes([scope], ids, instant(20), evidence=False)] == [ids[2]]
        assert [one.node.id for one in aim.nodes([scope], ids, instant(9), evidence=False)] == [ids[0], ids[2]]

    def test_anchors_are_fields_or_the_text_of_an_unanalysed_memory(
        self, aim: PostgresAim, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        (done,) = remember(jobs, scope, "done")
        jobs.complete(encoded(claim_all(jobs)))
        (fresh,) = remember(jobs, scope, "It has 10M")
        (refused,) = remember(jobs, scope, "refused")
        aim.decide(scope, [refused], {refused: NO})
        assert aim.anchors([scope], [done, refused])[refused].formed is False
        known = aim.anchors([scope], [done, fresh, *remember(jobs, other, "x")])
        assert known.keys() == {done, fresh}
        assert (known[done].fields, known[done].text) == (Fields(numbers=("10M",), names=("Li Ming",)), None)
        assert known[fresh].text == "It has 10M"

    def test_refusals_are_shown_newest_first(self, aim: PostgresAim, records: PostgresRecords, scope: Scope) -> None:
        ids = remember(records, scope, "a", "b", speaker="Ann")
        later = replace(NO, decided_at=START + timedelta(minutes=1), value=0.1)
        aim.decide(scope, ids, {ids[0]: NO, ids[1]: later})
        told = aim.refusals(scope, 10)
        assert [(one.id, one.text, one.speaker, one.decision) for one in told] == [
            (ids[1], "b", "Ann", later), (ids[0], "a", "Ann", NO),
        ]  # fmt: skip
        assert [one.id for one in aim.refusals(scope, 1)] == [ids[1]]

    def test_the_census_counts_formed_ones_however_old(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        ids = remember(records, scope, "a", "b", "c", "d")
        aim.decide(scope, ids, {ids[3]: NO})
        records.touch(scope, ids, START)
        census = aim.census(scope, 0.8, 1.0, 0.7)
        assert (census.nodes, census.accesses, census.high) == (3, 3, 2)
        assert census.mean_weight == pytest.approx((1 + 0.8 + 0.64) / 3)
        admin.execute("UPDATE mirrors SET seq = 100000000 WHERE ns = %s", (scope.ns,))
        assert aim.census(scope, 0.01, 1.0, 0.7).mean_weight == pytest.approx(0.0)
        assert aim.census(Scope(user="nobody knows"), 0.8, 1.0, 0.7) == Census(0, 0, 0.0, 0)

    def test_reserving_takes_numbers_of_a_new_scope_too(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope
    ) -> None:
        assert aim.counter(Scope(user="nobody knows")) == 0
        assert aim.reserve(scope, 10) == 0
        ids = remember(records, scope, "a")
        aim.decide(scope, ids, {})
        assert (aim.numbers(scope, ids), aim.reserve(scope, 5), aim.counter(scope)) == ({ids[0]: 11}, 11, 16)

    def test_pages_follow_the_write_sequence(self, aim: PostgresAim, records: PostgresRecords, scope: Scope) -> None:
        texts = [f"m{number}" for number in range(501)]
        remember(records, scope, *texts)
        first = aim.page(scope, 0)
        rest = aim.page(scope, first[-1].node.write_seq)
        assert [one.node.text for one in (*first, *rest)] == texts
        assert aim.page(scope, rest[-1].node.write_seq) == []

    @pytest.mark.req("X32", "C29", partly="no statement of a write looks at more than its own rows")
    def test_deciding_costs_the_same_at_every_size(
        self, aim: PostgresAim, records: PostgresRecords, scope: Scope, pool: Database, admin: Admin
    ) -> None:
        # Given many memories / When one more is decided / Then its plan reads by keys alone
        remember(records, scope, *(f"m{n}" for n in range(400)))
        (memory_id,) = remember(records, scope, "one more")
        admin.execute("SET enable_seqscan = off; SET random_page_cost = 1")
        admin.execute("SET plan_cache_mode = force_generic_plan")
        plan = admin.execute(
            f"EXPLAIN (FORMAT TEXT) {pool.sql['aim_apply']}", {"ns": scope.ns, "ids": [memory_id]}
        ).fetchall()
        reads = [row[0] for row in plan if " on memories" in row[0] and "Scan" in row[0]]
        assert reads
        assert all("memories_pkey" in read for read in reads)
