"""The promises of `Conflicts` on a real PostgreSQL: a decision holds, can be taken back, and is never half done."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import psycopg
import pytest
from psycopg import sql

from biem.adapters.postgres.conflicts import PostgresConflicts
from biem.adapters.postgres.database import ALL_SCOPES, Database, PooledConnection
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.conflict import Conflict, Dispute
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.errors import AlreadyDecided, InvalidInput, NotFound, StoreUnavailable
from biem.ports import Filter
from biem.ports.conflicts import ConflictFinding, Plan
from tests.contract.conftest import MODEL, Admin, unit, write
from tests.support.fakes import START

LATER = START + timedelta(hours=1)
LEASE_S = 60.0


@pytest.fixture
def conflicts(pool: Database) -> PostgresConflicts:
    return PostgresConflicts(pool, model=MODEL, purge_after_s=65.0)


@pytest.fixture
def alone(conflicts: PostgresConflicts, admin: Admin) -> PostgresConflicts:
    """The same adapter with an empty table: claiming knows no scopes."""
    admin.execute("DELETE FROM conflicts")
    return conflicts


def known(records: PostgresRecords, scope: Scope, text: str, at: datetime = START, **details: Any) -> str:
    """A memory whose text has a vector."""
    written = records.remember(scope, [write(text, at=at, **details)])[0].id
    records.save_vectors(MODEL, {sha256(text): unit(1.0, len(text) / 100)})
    return written


def line(records: PostgresRecords, scope: Scope, *texts: str) -> list[str]:
    """Memories of consecutive days."""
    return [known(records, scope, text, START + timedelta(days=day)) for day, text in enumerate(texts)]


def finding(older: str, newer: str, *, acts: bool = False, **details: Any) -> ConflictFinding:
    details = {
        "kind": "update",
        "confidence": 0.9,
        "rule": "value",
        "attribute": "home",
        "judged_later": True,
        **details,
    }
    return ConflictFinding(id=new_id(), older_id=older, newer_id=newer, acts=acts, **details)


def recorded(conflicts: PostgresConflicts, scope: Scope, older: str, newer: str, **details: Any) -> Conflict:
    [conflict] = conflicts.record(scope, [finding(older, newer, **details)], LATER)
    return conflict


def validity(admin: Admin, *ids: str) -> list[tuple[datetime | None, str | None]]:
    """`valid_to` and `superseded_by` of each."""
    rows = admin.execute(
        "SELECT id::text, valid_to, superseded_by::text FROM memories WHERE id = ANY (%s::uuid[])", (list(ids),)
    ).fetchall()
    found = {row[0]: (row[1], row[2]) for row in rows}
    return [found[key] for key in ids]


def everything(admin: Admin, scope: Scope) -> list[Any]:
    """All rows of a scope that a decision may touch, as they are."""
    queries = (
        "SELECT * FROM memories WHERE ns = %s ORDER BY id",
        "SELECT * FROM conflicts WHERE ns = %s ORDER BY id",
        "SELECT * FROM supersessions WHERE ns = %s ORDER BY conflict_id, loser_id",
        "SELECT task, memory_id FROM outbox WHERE ns = %s ORDER BY id",
    )
    return [admin.execute(query, (scope.ns,)).fetchall() for query in queries]


def recalled(records: PostgresRecords, scope: Scope, ids: list[str], as_of: datetime | None = None) -> set[str]:
    """The texts that a recall as of an instant may show."""
    where = Filter(as_of=as_of)
    live = records.candidates((scope,), ids, (), where, pending_limit=50, evidence=False)
    return {node.text for node in live.nodes.values()}


class TestPeers:
    @pytest.mark.req("B40", "X32", partly="what is compared; the search limit is tested with the checker")
    def test_they_are_the_asked_for_and_those_written_around(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given twenty memories in a row
        ids = line(records, scope, *(f"memory {n:02}" for n in range(20)))

        # When the first is asked for, and what was written around the tenth and eleventh
        peers = conflicts.peers(scope, ids[:1], [10, 11], 3, 2_000)

        # Then as many before and after come as asked for, besides these
        assert sorted(peer.write_seq for peer in peers) == [1, *range(7, 15)]
        first = min(peers, key=lambda peer: peer.write_seq)
        assert (first.id, first.text, first.at, first.valid_from, first.valid_to) == (
            ids[0],
            "memory 00",
            START,
            START,
            None,
        )
        assert first.vector.tolist() == unit(1.0, 9 / 100).tolist()

        # And for many places far apart there are fewer of each, so that the answer stays bounded
        apart = conflicts.peers(scope, [], range(1, 1_000, 10), 100, 2_000)
        assert sorted(peer.write_seq for peer in apart) == [1, 2, 10, 11, 12, 20]

    @pytest.mark.req("X14", partly="conflicts")
    def test_archived_foreign_and_vectorless_memories_are_left_out_and_long_texts_read_apart(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given a short and a long memory among others that cannot be compared
        good = known(records, scope, "good")
        archived, long = known(records, scope, "archived"), known(records, scope, "long " * 500)
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (archived,))
        bare = records.remember(scope, [write("without a vector " + scope.user)])[0].id
        foreign = known(records, other, "somebody else's")

        # When all are asked for
        peers = conflicts.peers(scope, [good, archived, long, bare, foreign], [1], 100, 2_000)

        # Then only the good ones come, and the long text where it is asked for
        assert {peer.id: (peer.text, peer.long) for peer in peers} == {good: ("good", False), long: ("", True)}
        assert conflicts.texts(scope, [good, long, foreign]) == {good: "good", long: "long " * 500}
        assert conflicts.texts(scope, []) == {}
        assert conflicts.peers(scope, [], [], 100, 2_000) == []


class TestRecord:
    @pytest.mark.req("C9", "C18", partly="superseding")
    def test_a_finding_that_acts_ends_the_older_where_the_newer_begins(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given an older and a newer memory
        older, newer = line(records, scope, "lives in Rome", "moved to Oslo")

        # When a sure finding is recorded
        conflict = recorded(conflicts, scope, older, newer, acts=True)

        # Then the older is superseded, not deleted, and no one needs to decide
        assert (conflict.status, conflict.resolution, conflict.decided_by) == ("resolved", "keep_new", "rule")
        assert (conflict.older_text, conflict.newer_text) == ("lives in Rome", "moved to Oslo")
        assert conflict.resolved_at == LATER
        assert conflict.superseded == (older,)
        assert validity(admin, older, newer) == [(START + timedelta(days=1), newer), (None, None)]
        node = records.get(scope, older)
        assert node is not None
        assert node.status == "pending"

    @pytest.mark.req("C9", partly="as_of on the live rows; the whole recall is tested with the memory")
    def test_recall_as_of_an_instant_sees_what_held_then(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given three homes, each of which superseded the one before
        ids = line(records, scope, "Rome", "Oslo", "Lima")
        conflicts.record(scope, [finding(ids[0], ids[1], acts=True), finding(ids[1], ids[2], acts=True)], LATER)

        # Then each day has its own, from its first instant
        for day, home in enumerate(("Rome", "Oslo", "Lima")):
            morning = START + timedelta(days=day)
            assert recalled(records, scope, ids, morning) == {home}
            assert recalled(records, scope, ids, morning + timedelta(hours=23, minutes=59)) == {home}
        assert recalled(records, scope, ids, START - timedelta(microseconds=1)) == set()

    @pytest.mark.req("B3", partly="the record of a signal; the rules have tests of their own")
    def test_an_unsure_finding_is_pending_and_changes_no_memory(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given two memories
        older, newer = line(records, scope, "likes tea", "prefers coffee")
        before = everything(admin, scope)[0]

        # When an unsure finding is recorded
        conflict = recorded(conflicts, scope, older, newer, confidence=0.6)

        # Then it waits, and the memories are as they were
        assert (conflict.status, conflict.resolution, conflict.decided_by) == ("pending", None, None)
        assert conflict.superseded == ()
        assert everything(admin, scope)[0] == before
        assert conflicts.find(scope, "pending", (), 10) == [conflict]

    @pytest.mark.req("X14", "X38", partly="conflicts")
    def test_ten_workers_that_find_the_same_record_it_once(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given three memories that disagree in pairs
        a, b, c = line(records, scope, "one", "two", "three")
        found = [(a, b), (b, c), (a, c)]

        # When ten workers record that at once, in other orders
        def work(n: int) -> list[Conflict]:
            turned = found[n % 3 :] + found[: n % 3]
            return conflicts.record(scope, [finding(*pair, acts=True) for pair in turned], LATER)

        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(work, range(10)))

        # Then there is one row a pair, which all were given, and the earliest end counts
        assert conflicts.count(scope, None, ()) == 3
        assert len({conflict.id for answer in answers for conflict in answer}) == 3
        assert validity(admin, a, b, c) == [
            (START + timedelta(days=1), b),
            (START + timedelta(days=2), c),
            (None, None),
        ]

    def test_a_check_repeated_after_a_person_took_a_decision_back_changes_nothing(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a rule's decision that a user took back
        older, newer = line(records, scope, "one", "two")
        conflict = recorded(conflicts, scope, older, newer, acts=True)
        conflicts.undo(scope, conflict.id, LATER, None)
        before = everything(admin, scope)

        # When the memory is encoded again and the same is found
        [again] = conflicts.record(scope, [finding(older, newer, acts=True)], LATER)

        # Then it stays taken back
        assert (again.id, again.status) == (conflict.id, "pending")
        assert everything(admin, scope) == before

    @pytest.mark.req("X14", "D13", partly="conflicts")
    def test_ids_of_another_scope_and_of_archived_or_erased_memories_are_left_out(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given a memory here, one elsewhere, one archived and one that does not exist
        mine, archived = line(records, scope, "mine", "archived")
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (archived,))
        theirs = known(records, other, "theirs")

        # When findings name them
        pairs = [(mine, theirs), (theirs, mine), (mine, archived), (mine, new_id())]
        told = conflicts.record(scope, [finding(*pair, acts=True) for pair in pairs], LATER)

        # Then nothing is recorded and nothing superseded
        assert told == []
        assert validity(admin, mine, theirs) == [(None, None), (None, None)]
        assert conflicts.record(scope, [], LATER) == []

    @pytest.mark.req("D13", partly="conflicts")
    def test_rows_are_seen_by_their_own_scope_alone(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, other: Scope, service: Admin
    ) -> None:
        # Given a conflict of one scope
        older, newer = line(records, scope, "one", "two")
        conflict = recorded(conflicts, scope, older, newer, acts=True)

        # Then another scope neither reads nor decides it, not even with its own SQL
        assert conflicts.get(other, conflict.id) is None
        assert conflicts.find(other, None, (), 10) == []
        with pytest.raises(NotFound):
            conflicts.resolve(other, conflict.id, "keep_old", "user", LATER)
        with pytest.raises(NotFound):
            conflicts.undo(other, conflict.id, LATER, None)
        service.execute("SELECT set_config('biem.ns', %s, false)", (other.ns,))
        for table in ("conflicts", "supersessions", "conflict_pairs"):
            query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))
            assert service.execute(query).fetchall() == []


class TestResolve:
    @pytest.mark.req("C9", "X17", partly="storing; the facade has tests of its own")
    @pytest.mark.parametrize("resolution", ["keep_new", "keep_old", "merge", "keep_both", None])
    def test_undo_after_a_restart_leaves_everything_as_it_was(
        self,
        conflicts: PostgresConflicts,
        records: PostgresRecords,
        scope: Scope,
        admin: Admin,
        database: str,
        resolution: Any,
    ) -> None:
        # Given a pending conflict, decided
        older, newer = line(records, scope, "one", "two")
        merged = known(records, scope, "both", START + timedelta(days=1)) if resolution == "merge" else None
        conflict = recorded(conflicts, scope, older, newer)
        before = everything(admin, scope)
        decided = conflicts.resolve(scope, conflict.id, resolution, "user", LATER, merged_id=merged)
        assert (decided.status, decided.resolution) == ("resolved" if resolution else "ignored", resolution)
        assert (decided.decided_by, decided.resolved_at) == ("user", LATER)
        assert everything(admin, scope) != before

        # When another process takes that back
        reopened = Database(database, pool_size=1, retry_s=1.0)
        undone = PostgresConflicts(reopened, model=MODEL, purge_after_s=65.0).undo(scope, conflict.id, LATER, None)
        reopened.close()

        # Then all rows are as before; but the merged memory is archived
        assert undone == conflict
        after = everything(admin, scope)
        if merged is None:
            assert after == before
        else:
            assert after[1:3] == before[1:3]
            assert validity(admin, older, newer) == [(None, None), (None, None)]
            node = records.get(scope, merged)
            assert node is not None
            assert (node.status, node.tier, node.archived_at) == ("archived", "L3", LATER)
            jobs = admin.execute("SELECT task FROM outbox WHERE memory_id = %s", (merged,)).fetchall()
            assert jobs == [("archive",)]

    @pytest.mark.parametrize(
        ("resolution", "then", "now"),
        [
            ("keep_new", {"one"}, {"two"}),
            ("keep_old", {"one"}, {"one"}),
            ("keep_both", {"one"}, {"one", "two"}),
            ("merge", {"one"}, {"both"}),
            (None, {"one"}, {"one", "two"}),
        ],
    )
    def test_each_decision_shows_in_what_held_before_and_after(
        self,
        conflicts: PostgresConflicts,
        records: PostgresRecords,
        scope: Scope,
        resolution: Any,
        then: set[str],
        now: set[str],
    ) -> None:
        # Given a conflict
        ids = line(records, scope, "one", "two")
        merged = known(records, scope, "both", START + timedelta(days=1)) if resolution == "merge" else None
        conflict = recorded(conflicts, scope, *ids)

        # When it is decided
        conflicts.resolve(scope, conflict.id, resolution, "user", LATER, merged_id=merged)

        # Then recall as of the first day and of the third shows what held
        ids += [merged] if merged else []
        assert recalled(records, scope, ids, START) == then
        assert recalled(records, scope, ids, START + timedelta(days=2)) == now

    def test_the_same_decision_again_changes_nothing_and_another_one_is_refused(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a decision
        older, newer = line(records, scope, "one", "two")
        conflict = recorded(conflicts, scope, older, newer)
        decided = conflicts.resolve(scope, conflict.id, "keep_old", "user", LATER)
        before = everything(admin, scope)

        # Then repeating it is allowed, and nothing else
        assert conflicts.resolve(scope, conflict.id, "keep_old", "user", LATER + timedelta(days=9)) == decided
        for resolution in ("keep_new", "keep_both", None):
            with pytest.raises(AlreadyDecided, match=r"resolved by keep_old \(user\); undo that first"):
                conflicts.resolve(scope, conflict.id, resolution, "user", LATER)
        with pytest.raises(AlreadyDecided):
            conflicts.begin(scope, conflict.id, Plan("merge"), LEASE_S)
        assert everything(admin, scope) == before

    def test_unknown_conflicts_and_merges_without_a_memory_are_refused(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given a conflict
        conflict = recorded(conflicts, scope, *line(records, scope, "one", "two"))

        # Then what cannot be decided is refused in words
        with pytest.raises(NotFound, match="no conflict"):
            conflicts.resolve(scope, new_id(), "keep_new", "user", LATER)
        with pytest.raises(NotFound):
            conflicts.begin(scope, new_id(), Plan("merge"), LEASE_S)
        with pytest.raises(InvalidInput):
            conflicts.resolve(scope, conflict.id, "merge", "user", LATER)
        assert conflicts.get(scope, new_id()) is None
        assert conflicts.plan_of(scope, new_id()) is None

    @pytest.mark.req("X38", partly="conflicts")
    def test_of_many_who_decide_at_once_one_wins_and_the_rows_agree(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a conflict
        older, newer = line(records, scope, "one", "two")
        conflict = recorded(conflicts, scope, older, newer)

        # When twelve decide three ways at once
        def decide(n: int) -> str | None:
            resolution: Any = ("keep_new", "keep_old", "keep_both")[n % 3]
            try:
                return conflicts.resolve(scope, conflict.id, resolution, "user", LATER).resolution
            except AlreadyDecided:
                return None

        with ThreadPoolExecutor(4) as threads:
            answers = set(threads.map(decide, range(12))) - {None}

        # Then one decision stands, alone, and both memories tell it
        assert len(answers) == 1
        expected = {"keep_new": [newer, None], "keep_old": [None, older], "keep_both": [None, None]}
        assert [by for _, by in validity(admin, older, newer)] == expected[str(answers.pop())]


class TestChains:
    """A was superseded by B, then B by C; each pair was compared."""

    @pytest.fixture
    def chain(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope
    ) -> tuple[list[str], list[str]]:
        ids = line(records, scope, "A", "B", "C")
        pairs = [(ids[0], ids[1]), (ids[1], ids[2]), (ids[0], ids[2])]
        found = [recorded(conflicts, scope, *pair, acts=True).id for pair in pairs]
        return ids, found

    def test_taking_back_one_link_leaves_what_the_others_say(
        self, conflicts: PostgresConflicts, scope: Scope, admin: Admin, chain: tuple[list[str], list[str]]
    ) -> None:
        # Given the chain
        (a, b, c), (ab, bc, ac) = chain
        day = [START + timedelta(days=n) for n in range(3)]
        assert validity(admin, a, b, c) == [(day[1], b), (day[2], c), (None, None)]

        # When B no longer supersedes A
        conflicts.undo(scope, ab, LATER, None)

        # Then C does, from its own day; and when that is taken back, too, A holds again
        assert validity(admin, a, b, c) == [(day[2], c), (day[2], c), (None, None)]
        conflicts.undo(scope, ac, LATER, None)
        assert validity(admin, a, b, c) == [(None, None), (day[2], c), (None, None)]

        # And the decisions may return in any order: the result is the same
        conflicts.resolve(scope, ac, "keep_new", "user", LATER)
        conflicts.undo(scope, bc, LATER, None)
        conflicts.resolve(scope, ab, "keep_new", "user", LATER)
        conflicts.resolve(scope, bc, "keep_new", "user", LATER)
        assert validity(admin, a, b, c) == [(day[1], b), (day[2], c), (None, None)]

    @pytest.mark.req("X16", partly="conflicts")
    @pytest.mark.parametrize("erased", [0, 1, 2])
    def test_erasing_one_takes_its_conflicts_and_their_effect_with_it(
        self,
        conflicts: PostgresConflicts,
        records: PostgresRecords,
        scope: Scope,
        admin: Admin,
        pool: Database,
        chain: tuple[list[str], list[str]],
        erased: int,
    ) -> None:
        # Given the chain
        ids, found = chain
        _, b, c = ids
        day = [START + timedelta(days=n) for n in range(3)]

        # When one is erased
        erase(pool, records, scope, ids[erased])

        # Then only the conflict of the other two is left, and they stand as it says
        left = [[found[1]], [found[2]], [found[0]]][erased]
        assert [conflict.id for conflict in conflicts.find(scope, None, (), 10)] == left
        rest = [key for key in ids if key != ids[erased]]
        expected = [[(day[2], c), (None, None)], [(day[2], c), (None, None)], [(day[1], b), (None, None)]][erased]
        assert validity(admin, *rest) == expected
        assert admin.execute("SELECT count(*) FROM supersessions WHERE ns = %s", (scope.ns,)).fetchone() == (1,)

    @pytest.mark.req("X16", partly="conflicts")
    def test_erasing_a_merged_memory_opens_its_conflict_again(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin, pool: Database
    ) -> None:
        # Given a merge, and what was merged of it
        a, b = line(records, scope, "one", "two")
        m, other, further = line(records, scope, "both", "three", "all three")
        conflict = recorded(conflicts, scope, a, b)
        conflicts.resolve(scope, conflict.id, "merge", "user", LATER, merged_id=m)
        second = recorded(conflicts, scope, m, other)
        conflicts.resolve(scope, second.id, "merge", "user", LATER, merged_id=further)

        # Then erasing a source must take with it what was made of it
        rows = pool.fetch(scope.ns, "erase_merged", {"ns": scope.ns, "ids": [a]})
        assert {row[0] for row in rows} == {m, further}

        # And when the merged memory alone is erased, its sources hold again and wait for a decision
        erase(pool, records, scope, m)
        assert validity(admin, a, b) == [(None, None), (None, None)]
        assert validity(admin, other) == [(None, None)]
        reopened = conflicts.get(scope, conflict.id)
        assert reopened == conflict

    @pytest.mark.req("X16", partly="conflicts")
    def test_erasing_a_scope_leaves_nothing(
        self,
        records: PostgresRecords,
        scope: Scope,
        admin: Admin,
        pool: Database,
        chain: tuple[list[str], list[str]],
    ) -> None:
        # When a scope with decisions is erased
        erase(pool, records, scope, None)

        # Then no row of it is left
        assert everything(admin, scope)[:3] == [[], [], []]

    def test_what_another_job_superseded_is_left_alone(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a memory that a job archived because another one stands for it
        a, b, kept = line(records, scope, "one", "two", "kept")
        conflict = recorded(conflicts, scope, a, b)
        admin.execute("UPDATE memories SET status = 'archived', superseded_by = %s WHERE id = %s", (kept, a))

        # When its conflict is decided and taken back
        conflicts.resolve(scope, conflict.id, "keep_new", "user", LATER)
        during = validity(admin, a)
        conflicts.undo(scope, conflict.id, LATER, None)

        # Then it is what that job said all the time
        assert during == validity(admin, a) == [(None, kept)]

    def test_a_fact_said_again_meanwhile_stands_for_itself_when_the_first_one_returns(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a fact that was superseded, and said again as a new memory
        first = known(records, scope, "Rome", START, fact=True)
        second = known(records, scope, "Oslo", START + timedelta(days=1), fact=True)
        conflict = recorded(conflicts, scope, first, second, acts=True)
        third = known(records, scope, "Rome", START + timedelta(days=2), fact=True)
        assert third != first

        # When the decision is taken back
        conflicts.undo(scope, conflict.id, LATER, None)

        # Then both hold, and the fact is known once
        assert validity(admin, first, third) == [(None, None), (None, None)]
        assert known(records, scope, "Rome", START + timedelta(days=3), fact=True) == third

    def test_of_equal_facts_that_return_together_one_stands_for_the_fact(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin, pool: Database
    ) -> None:
        # Given a fact imported twice, each time superseded by what was said later
        oslo = known(records, scope, "Oslo", START + timedelta(days=9), fact=True)
        imported = []
        for day in (0, 1):
            imported.append(known(records, scope, "Rome", START + timedelta(days=day), fact=True))
            recorded(conflicts, scope, imported[-1], oslo, acts=True)
        assert len(set(imported)) == 2

        # When what superseded both is erased
        erase(pool, records, scope, oslo)

        # Then both hold, and the fact said again is one of them
        assert validity(admin, *imported) == [(None, None), (None, None)]
        assert known(records, scope, "Rome", START + timedelta(days=20), fact=True) in imported


class TestFind:
    def test_by_status_kind_and_memory_newest_first(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given four conflicts of several kinds and states
        a, b, c = line(records, scope, "one", "two", "three")
        d = known(records, scope, "four", START + timedelta(days=9))
        found = []
        for minute, (older, newer, kind) in enumerate(
            [(a, b, "update"), (b, c, "contradiction"), (c, d, "duplicate"), (a, d, "update")]
        ):
            [conflict] = conflicts.record(scope, [finding(older, newer, kind=kind)], LATER + timedelta(minutes=minute))
            found.append(conflict.id)
        conflicts.resolve(scope, found[3], "keep_both", "user", LATER)

        def ids(
            status: str | None, kinds: tuple[str, ...] = (), limit: int = 10, memory: str | None = None
        ) -> list[str]:
            return [conflict.id for conflict in conflicts.find(scope, status, kinds, limit, memory)]

        # Then each question has its answer, and the counts agree
        assert ids(None) == found[::-1]
        assert ids("pending") == found[2::-1]
        assert ids("resolved") == [found[3]]
        assert ids("pending", ("update", "contradiction")) == [found[1], found[0]]
        assert ids("pending", limit=1) == [found[2]]
        assert ids(None, memory=a) == [found[3], found[0]]
        assert conflicts.count(scope, None, ()) == 4
        assert conflicts.count(scope, "pending", ("update", "contradiction")) == 2

    def test_pending_conflicts_are_moot_while_one_side_is_gone(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given an open conflict
        a, b, c = line(records, scope, "one", "two", "three")
        conflict = recorded(conflicts, scope, a, b, confidence=0.7)
        assert conflicts.open_of((scope,), [a, b, c]).keys() == {a, b}

        # When one side is superseded by a third
        decided = recorded(conflicts, scope, b, c, acts=True)

        # Then no model is asked, and nothing is openly contradicted
        assert conflicts.find(scope, "pending", (), 10) == []
        assert conflicts.count(scope, "pending", ()) == 0
        assert conflicts.open_of((scope,), [a, b, c]) == {}
        assert [found.moot for found in conflicts.find(scope, None, (), 10)] == [True, False] or [
            found.moot for found in conflicts.find(scope, None, (), 10)
        ] == [False, True]

        # And it is open again when that is taken back
        conflicts.undo(scope, decided.id, LATER, None)
        assert conflict in conflicts.find(scope, "pending", (), 10)
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (a,))
        assert conflict.id not in [found.id for found in conflicts.find(scope, "pending", (), 10)]

    def test_what_is_openly_contradicted_is_known_by_its_surest_conflict(
        self, conflicts: PostgresConflicts, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a memory that two others dispute, one of them a part of it, and one that says the same
        a, b, c = line(records, scope, "one", "two", "three")
        d = known(records, scope, "four")
        recorded(conflicts, scope, a, b, confidence=0.5)
        recorded(conflicts, scope, a, c, confidence=0.75, claim="the one")
        recorded(conflicts, scope, d, a, confidence=1.0, kind="duplicate")
        said, other_said = records.get(scope, c), records.get(scope, b)
        assert said is not None
        assert other_said is not None

        # Then it is disputed by both, the surer first, since each was so; elsewhere nothing is known of it
        found = conflicts.open_of((scope, other), [a, b, c, d])
        assert found == {
            a: [Dispute(0.75, c, said.valid_from, "the one"), Dispute(0.5, b, other_said.valid_from)],
            b: [Dispute(0.5)],
            c: [Dispute(0.75)],
        }

        # And who disputes another may be disputed in turn
        recorded(conflicts, scope, b, c, confidence=0.25)
        assert conflicts.open_of((scope,), [b]) == {b: [Dispute(0.5), Dispute(0.25, c, said.valid_from)]}
        assert conflicts.open_of((other,), [a, b, d]) == {}
        assert conflicts.open_of((scope,), []) == {}

    def test_a_suspicion_is_for_a_model_alone(
        self, alone: PostgresConflicts, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given a suspicion
        a, b = line(records, scope, "one", "two")
        suspicion = recorded(alone, scope, a, b, confidence=0.4, suspected=True)

        # Then no model is asked about it, and it lowers nothing
        assert alone.find(scope, "pending", (), 10) == []
        assert alone.count(scope, "pending", ()) == 0
        assert alone.open_of((scope,), [a, b]) == {}

        # But a worker with a model gets it
        claimed = alone.claim(LEASE_S, 8, judged=True)
        assert claimed is not None
        assert claimed.conflict == suspicion
        assert suspicion.suspected

    @pytest.mark.req("X32", partly="conflicts")
    @pytest.mark.parametrize(
        ("name", "parameters"),
        [
            (
                "conflict_peers",
                {"ids": [], "seqs": [], "model": "m", "max_chars": 9, "now": START},
            ),
            ("conflict_open_of", {"ids": [], "scopes": [], "now": START}),
            (
                "conflict_find",
                {"status": None, "kinds": None, "limit": 10, "memory_id": None, "after": None, "now": START},
            ),
            ("conflict_find_pending", {"kinds": None, "limit": 10, "memory_id": None, "after": None, "now": START}),
            ("conflict_claim_planned", {"lease_s": 60.0}),
            ("conflict_claim_unjudged", {"lease_s": 60.0, "max_attempts": 8}),
        ],
    )
    def test_no_statement_on_a_hot_path_reads_a_whole_table(
        self, pool: Database, service: Admin, scope: Scope, name: str, parameters: dict[str, Any]
    ) -> None:
        # Given a planner that takes an index wherever one fits
        service.execute("SET plan_cache_mode = force_generic_plan")
        service.execute("SET enable_seqscan = off")
        service.execute("SELECT set_config('biem.ns', %s, false)", (scope.ns,))

        # When it plans the statement
        plan = service.execute("EXPLAIN " + pool.sql[name], {"ns": scope.ns, "now": START, **parameters}).fetchall()

        # Then an index fits everywhere
        assert "Seq Scan" not in "\n".join(row[0] for row in plan)

    @pytest.mark.req("X32", partly="comparing a new memory")
    def test_each_memory_to_compare_with_is_looked_up_by_its_key(
        self, pool: Database, service: Admin, scope: Scope
    ) -> None:
        # Given a planner that takes all tables for empty, as it does in a new database, and keeps its plan
        for setting in ("plan_cache_mode = force_generic_plan", "enable_seqscan = off"):
            service.execute(f"SET {setting}".encode())

        # When it plans the statement
        places = {"ids": "$1", "ns": "$2", "seqs": "$3", "model": "$4", "max_chars": "$5", "now": "$6"}
        text = pool.sql["conflict_peers"] % places
        service.execute(f"PREPARE peers (uuid[], text, bigint[], text, integer, timestamptz) AS {text}".encode())
        rows = service.execute("EXPLAIN EXECUTE peers ('{}', 'x', '{}', 'm', 9, now())").fetchall()
        service.execute("DEALLOCATE peers")
        plan = "\n".join(row[0] for row in rows)

        # Then neither memories nor vectors are gone through to find some of them
        assert "Index Cond: (id = (unnest($1)))" in plan
        assert "Index Cond: ((model = $4) AND (sha256 = m.embed_sha))" in plan


class TestWork:
    @pytest.mark.req("X38", partly="the judge")
    def test_two_workers_never_hold_the_same_conflict(
        self, alone: PostgresConflicts, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given thirty conflicts for a model
        ids = line(records, scope, *(f"memory {n}" for n in range(31)))
        alone.record(scope, [finding(*pair) for pair in pairwise(ids)], LATER)

        # When four workers claim until nothing is left
        def claims(_: int) -> list[str]:
            held = []
            while claimed := alone.claim(LEASE_S, 8, judged=True):
                assert claimed.scope == scope
                assert claimed.plan is None
                held.append(claimed.conflict.id)
            return held

        with ThreadPoolExecutor(4) as threads:
            held = [key for keys in threads.map(claims, range(4)) for key in keys]

        # Then each was given out once
        assert sorted(held) == sorted(conflict.id for conflict in alone.find(scope, None, (), 100))

    def test_a_claim_rests_four_times_as_long_each_time_and_at_last_for_good(
        self, alone: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a conflict that no worker gets decided
        conflict = recorded(alone, scope, *line(records, scope, "one", "two"))
        pauses = []
        while alone.claim(LEASE_S, 4, judged=True):
            assert alone.claim(LEASE_S, 4, judged=True) is None
            [(pause,)] = admin.execute(
                "SELECT extract(epoch FROM due_at - clock_timestamp()) FROM conflicts WHERE id = %s", (conflict.id,)
            ).fetchall()
            pauses.append(pause and float(pause))
            admin.execute("UPDATE conflicts SET due_at = clock_timestamp() WHERE due_at IS NOT NULL")

        # Then it was given out four times
        assert pauses[:3] == pytest.approx([60.0, 240.0, 960.0], abs=5.0)
        assert pauses[3:] == [None]

    def test_what_was_released_comes_back_without_blame(
        self, alone: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a claimed conflict that was given back, more often than attempts are allowed
        conflict = recorded(alone, scope, *line(records, scope, "one", "two"))
        for _ in range(5):
            claimed = alone.claim(LEASE_S, 2, judged=True)
            assert claimed is not None
            alone.release(scope, conflict.id, 0.0)

        # Then it can still be claimed, but not before its time
        alone.release(scope, conflict.id, 100.0)
        assert alone.claim(LEASE_S, 2, judged=True) is None

    def test_duplicates_decided_and_judged_conflicts_are_not_given_to_a_model(
        self, alone: PostgresConflicts, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given conflicts that need no model, and one that would
        a, b, c, d, e = line(records, scope, "1", "2", "3", "4", "5")
        recorded(alone, scope, a, b, kind="duplicate", judged_later=False)
        alone.resolve(scope, recorded(alone, scope, b, c).id, "keep_both", "user", LATER)
        recorded(alone, scope, c, d, acts=True)
        open_one = recorded(alone, scope, d, e)

        # Then no one is given anything without a model, and with one the open conflict alone
        assert alone.claim(LEASE_S, 8, judged=False) is None
        claimed = alone.claim(LEASE_S, 8, judged=True)
        assert claimed is not None
        assert claimed.conflict == open_one

        # And when the model has left it to a person, it is not given out again
        alone.judged(scope, open_one.id, "duplicate")
        alone.release(scope, recorded(alone, scope, b, c).id, 0.0)
        assert alone.claim(LEASE_S, 8, judged=True) is None
        assert alone.get(scope, open_one.id) == replace(open_one, kind="duplicate")

    @pytest.mark.req("X17", partly="a merge outlives its process")
    def test_a_merge_under_way_excludes_other_decisions_and_is_given_to_a_worker_after_its_lease(
        self, alone: PostgresConflicts, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a merge that a process began and did not finish
        a, b = line(records, scope, "one", "two")
        conflict = recorded(alone, scope, a, b)
        plan = Plan("merge", "user", ref="merge:1", details={"text": "both", "tags": ["健康"]})
        assert alone.begin(scope, conflict.id, plan, LEASE_S) == plan

        # Then the first plan counts, other decisions wait, and no one takes it while its lease lasts
        assert alone.begin(scope, conflict.id, Plan("merge", ref="merge:2"), LEASE_S) == plan
        assert alone.plan_of(scope, conflict.id) == plan
        with pytest.raises(AlreadyDecided, match="merge under way"):
            alone.resolve(scope, conflict.id, "keep_new", "user", LATER)
        assert alone.claim(LEASE_S, 8, judged=False) is None

        # And after that a worker gets it, model or not, and finishes it
        admin.execute("UPDATE conflicts SET due_at = now()")
        claimed = alone.claim(LEASE_S, 8, judged=False)
        assert claimed
        assert claimed.plan == plan
        merged = known(records, scope, "both")
        alone.resolve(scope, conflict.id, "merge", "user", LATER, merged_id=merged)
        assert alone.plan_of(scope, conflict.id) is None

        # And taking it back keeps its own plan until that is carried out
        back = Plan("restore", merged_id=merged)
        alone.undo(scope, conflict.id, LATER, back)
        assert alone.plan_of(scope, conflict.id) == back
        with pytest.raises(AlreadyDecided):
            alone.begin(scope, conflict.id, plan, LEASE_S)
        alone.carried_out(scope, conflict.id)
        assert alone.plan_of(scope, conflict.id) is None
        assert alone.claim(LEASE_S, 8, judged=True) is None


def erase(pool: Database, records: PostgresRecords, scope: Scope, memory_id: str | None) -> None:
    """Erase as the Eraser does, with the statements of this slice first."""
    if memory_id is not None:
        keys = {"ns": scope.ns, "ids": [memory_id], "all": False}
        with pool.connection() as connection, connection.transaction():
            connection.execute(pool.sql["see_scopes"], (ALL_SCOPES,))
            connection.execute(pool.sql["erase_supersessions"], keys)
            connection.execute(pool.sql["erase_conflicts"], keys)
    records.erase(scope, memory_id, 60.0)


class Breaking(Database):
    """Loses its connection before the n-th statement, or after the last one was committed and before the answer."""

    def __init__(self, dsn: str) -> None:
        super().__init__(dsn, pool_size=1, retry_s=0.0)
        self.left = 10_000
        self.seen = 0

    @contextmanager
    def connection(self, *, patient: bool = False, in_steps: bool = False) -> Iterator[PooledConnection]:
        with super().connection(patient=patient, in_steps=in_steps) as connection:
            yield _Counting(connection, self)  # type: ignore[misc]
        self.count()

    def count(self) -> None:
        self.seen += 1
        self.left -= 1
        if self.left < 0:
            raise StoreUnavailable("the line was cut")


class _Counting:
    def __init__(self, connection: PooledConnection, database: Breaking) -> None:
        self._connection = connection
        self._database = database

    def execute(self, *arguments: Any) -> Any:
        self._count()
        return self._connection.execute(*arguments)

    def send(self, *statements: Any, **options: Any) -> Any:
        self._count()
        return self._connection.send(*statements, **options)

    def _count(self) -> None:
        try:
            self._database.count()
        except StoreUnavailable:
            self._connection.close()  # as the server sees a process that was killed
            raise psycopg.OperationalError("the line was cut") from None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)


class TestKills:
    """A process dies before each statement in turn, and after the commit before the answer."""

    @pytest.mark.req("X8", partly="conflicts")
    @pytest.mark.parametrize("verb", ["record", "keep_new", "keep_old", "merge", "ignore", "undo", "unmerge", "begin"])
    def test_each_verb_is_done_or_not_begun_and_repeating_it_does_it_once(
        self,
        conflicts: PostgresConflicts,
        records: PostgresRecords,
        scope: Scope,
        admin: Admin,
        database: str,
        verb: str,
    ) -> None:
        breaking = Breaking(database)
        cut = PostgresConflicts(breaking, model=MODEL, purge_after_s=65.0)
        done: list[bool] = []
        step = 0
        while True:
            # Given a conflict in the state that the verb needs
            a, b = line(records, scope, f"one {step}", f"two {step}")
            m = known(records, scope, f"both {step}", START + timedelta(days=1))
            call = self.prepared(conflicts, scope, verb, a, b, m)
            before = everything(admin, scope)

            # When the process dies at this step
            breaking.left, breaking.seen = step, 0
            try:
                call(cut)
                died = False
            except StoreUnavailable:
                died = True
            breaking.left = 10_000
            after = everything(admin, scope)

            # Then all of it happened or nothing, and the repetition makes it whole
            call(conflicts)
            whole = everything(admin, scope)
            assert after in (before, whole)
            assert whole != before
            step += 1
            if not died:
                break
            done.append(after == whole)
        breaking.close()

        # Then only the last point lay behind the commit
        assert len(done) >= 4
        assert done == [False] * (len(done) - 1) + [True]

    @staticmethod
    def prepared(
        conflicts: PostgresConflicts, scope: Scope, verb: str, a: str, b: str, m: str
    ) -> Callable[[PostgresConflicts], object]:
        if verb == "record":
            found = [finding(a, b, acts=True), finding(a, m)]
            return lambda store: store.record(scope, found, LATER)
        conflict = recorded(conflicts, scope, a, b)
        if verb == "begin":
            return lambda store: store.begin(scope, conflict.id, Plan("merge", ref="r"), 1e9)
        if verb in ("undo", "unmerge"):
            if verb == "undo":
                conflicts.resolve(scope, conflict.id, "keep_old", "user", LATER)
            else:
                conflicts.resolve(scope, conflict.id, "merge", "user", LATER, merged_id=m)
            return lambda store: store.undo(scope, conflict.id, LATER, None)
        resolution: Any = None if verb == "ignore" else verb
        merged = m if verb == "merge" else None
        return lambda store: store.resolve(scope, conflict.id, resolution, "user", LATER, merged_id=merged)
