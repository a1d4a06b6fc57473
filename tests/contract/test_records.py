"""The promises of `Records` on a real PostgreSQL."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import sql

from biem.adapters.postgres.migrations import migrate
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.fields import Analysis, Fields
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.errors import BiemError, ConfigError, RefConflict, SchemaOutdated, StoreUnavailable
from biem.ports import Candidates, Completion, Filter, Job, Waiting
from tests.contract.conftest import (
    ANY,
    LEARNED,
    MODEL,
    Admin,
    build_records,
    claim_all,
    encoded,
    in_scope,
    instant,
    unit,
    write,
)
from tests.contract.processes import in_processes, migrate_at_once, write_first, write_in_turns, write_the_same
from tests.support.fakes import START, HeldClock, eventually

HOSTILE = (
    "'); DROP TABLE memories; --",
    "it's",
    'say "no"',
    "back\\slash",
    "\\'",
    "a&b|!c:*<->",
    "%s %(ns)s",
    "{a,b}",
    "$1",
    "*",
    "爱",
)


def candidates(
    records: PostgresRecords,
    *scopes: Scope,
    ids: tuple[str, ...] = (),
    lexemes: tuple[str, ...] = (),
    where: Filter = ANY,
    pending_limit: int = 50,
    evidence: bool = False,
) -> Candidates:
    return records.candidates(scopes, ids, lexemes, where, pending_limit=pending_limit, evidence=evidence)


def remember(records: PostgresRecords, scope: Scope, text: str, **details: Any) -> str:
    return records.remember(scope, [write(text, **details)])[0].id


def activate(records: PostgresRecords, learned: Analysis = LEARNED) -> list[Job]:
    """Complete every job that is due."""
    jobs = claim_all(records)
    records.complete(encoded(jobs, learned))
    return jobs


class TestRemember:
    @pytest.mark.req("D2")
    def test_an_acknowledged_memory_comes_back_as_it_was_given(self, records: PostgresRecords, scope: Scope) -> None:
        # Given a memory with every field
        given = write(
            "我对花生过敏 — “quoted” \t tab",
            kind="event",
            tags=("food", "健康"),
            reason="because it matters",
            importance=4.5,
            source="user",
            speaker="Li Ming",
            conversation="c-1",
            at=datetime(1999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
            ref="message-1",
            metadata={"deep": {"list": [1, 2.5, None, True, "é"]}},
            layer="core",
        )

        # When it is written
        [written] = records.remember(scope, [given])
        node = records.get(scope, written.id)

        # Then all of it is there, pending
        assert written.created
        assert node is not None
        assert node.scope == scope
        for name in ("text", "kind", "tags", "reason", "importance", "source", "speaker", "conversation", "at", "ref"):
            assert getattr(node, name) == getattr(given.draft, name), name
        assert node.metadata == given.draft.metadata
        assert node.layer == "core"
        assert node.status == "pending"
        assert node.created_at == START
        assert node.energy == pytest.approx(0.6)
        assert node.evidence_ptr == sha256(given.draft.text).hex()
        assert (node.access_count, node.useful_count, node.accessed_at) == (0, 0, None)

    @pytest.mark.req("D2", "X8", partly="writing")
    def test_memory_original_sequence_and_job_are_committed_in_one_transaction(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a scope that is known
        remember(records, scope, "the first")

        # When another memory is acknowledged
        memory_id = remember(records, scope, "the second")

        # Then every row it touched carries one transaction's number
        rows = admin.execute(
            "SELECT m.xmin::text FROM memories m WHERE id = %(id)s"
            " UNION ALL SELECT e.xmin::text FROM evidence e WHERE ns = %(ns)s AND sha256 = %(sha)s"
            " UNION ALL SELECT o.xmin::text FROM outbox o WHERE memory_id = %(id)s"
            " UNION ALL SELECT s.xmin::text FROM scopes s WHERE ns = %(ns)s",
            {"id": memory_id, "ns": scope.ns, "sha": sha256("the second")},
        ).fetchall()
        assert len(rows) == 4
        assert len(set(rows)) == 1

    @pytest.mark.req("X30", partly="refs")
    def test_the_same_ref_and_text_is_the_same_memory_and_changes_nothing(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a memory with a ref
        first = remember(records, scope, "hello", ref="m-1", tags=("old",))

        # When it is written again, with other details
        [again] = records.remember(scope, [write("hello", ref="m-1", tags=("new",), importance=5.0)])

        # Then it is the first one, untouched
        assert (again.id, again.created) == (first, False)
        node = records.get(scope, first)
        assert node is not None
        assert (node.tags, node.importance) == (("old",), 3.0)
        assert in_scope(admin, "memories", scope) == in_scope(admin, "outbox", scope) == 1

    def test_the_same_ref_with_another_text_is_refused_with_its_whole_batch(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a memory with a ref
        remember(records, scope, "hello", ref="m-1")

        # When a batch reuses that ref for another text
        with pytest.raises(RefConflict, match="m-1"):
            records.remember(scope, [write("before"), write("goodbye", ref="m-1"), write("after")])

        # Then nothing of the batch was written and the sequence goes on without a gap
        assert in_scope(admin, "memories", scope) == in_scope(admin, "evidence", scope) == 1
        assert _sequence(admin, scope) == [1]
        remember(records, scope, "next")
        assert _sequence(admin, scope) == [1, 2]

    @pytest.mark.req("X30", partly="facts")
    def test_a_fact_repeated_in_one_scope_is_one_memory_and_in_another_scope_another(
        self, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a fact
        first = remember(records, scope, "water is wet", fact=True)

        # When it is repeated: alone, twice in a batch, and by somebody else
        [again] = records.remember(scope, [write("water is wet", fact=True)])
        batch = records.remember(scope, [write("ice is cold", fact=True), write("ice is cold", fact=True)])
        [theirs] = records.remember(other, [write("water is wet", fact=True)])

        # Then a scope has it once
        assert (again.id, again.created) == (first, False)
        assert batch[0].id == batch[1].id
        assert [result.created for result in batch] == [True, False]
        assert theirs.created
        assert theirs.id != first

    def test_messages_are_never_the_same_memory(self, records: PostgresRecords, scope: Scope) -> None:
        # Given a message / When somebody says the same again
        ids = {remember(records, scope, "yes", kind="event") for _ in range(3)}

        # Then there are three
        assert len(ids) == 3

    def test_one_ref_in_two_scopes_names_two_memories(
        self, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a ref of one scope / When another scope uses it for another text
        mine = remember(records, scope, "mine", ref="r")
        theirs = remember(records, other, "theirs", ref="r")

        # Then they do not meet
        assert mine != theirs

    def test_repeating_a_batch_with_the_same_ids_after_a_lost_connection_doubles_nothing(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a batch that was committed, but whose answer got lost
        batch = [write("a"), write("b", ref="r"), write("c", fact=True)]
        records.remember(scope, batch)

        # When the caller repeats it
        written = records.remember(scope, batch)

        # Then the same ids come back and nothing was added
        assert [result.id for result in written] == [item.id for item in batch]
        assert not any(result.created for result in written)
        assert in_scope(admin, "memories", scope) == in_scope(admin, "outbox", scope) == 3
        assert _sequence(admin, scope) == [1, 2, 3]

    @pytest.mark.req("A61")
    def test_four_concurrent_writers_leave_a_sequence_without_gaps_or_repeats(
        self, database: str, another: Callable[..., PostgresRecords], scope: Scope, admin: Admin
    ) -> None:
        # Given four processes with a pool of connections each
        # When they write to one scope at once, singly and in batches, with refs and facts in common
        told = in_processes(write_in_turns, 4, database, scope)

        # Then they were four, every number is used exactly once, and another process sees all memories
        assert len({pid for pid, _ in told} | {os.getpid()}) == 5
        assert sum(created for _, created in told) == 100
        assert _sequence(admin, scope) == list(range(1, 101))
        ids = tuple(row[0] for row in admin.execute("SELECT id::text FROM memories WHERE ns = %s", (scope.ns,)))
        assert len(candidates(another(pool_size=2), scope, ids=ids).nodes) == 100

    @pytest.mark.req("X30", partly="one id, many processes")
    def test_processes_that_write_one_id_at_once_make_one_memory(
        self, database: str, scope: Scope, admin: Admin
    ) -> None:
        # Given messages whose ids three processes know / When all write the same ones at the same moment
        told = in_processes(write_the_same, 3, database, scope, [new_id() for _ in range(10)])

        # Then one of them made each, and no number is lost
        assert len({pid for pid, _ in told} | {os.getpid()}) == 4
        assert [sum(made) for made in zip(*(created for _, created in told), strict=True)] == [1] * 10
        assert _sequence(admin, scope) == list(range(1, 11))

    @pytest.mark.req("A61", partly="the first write of a new scope")
    def test_many_processes_may_write_the_first_memory_of_a_scope_at_once(
        self, database: str, scope: Scope, admin: Admin
    ) -> None:
        # Given three processes that do not know the scope / When all write a fact, and a ref, at the same moment
        told = in_processes(write_first, 3, database, scope)

        # Then one of them created both
        assert len({pid for pid, _ in told} | {os.getpid()}) == 4
        assert sorted(created for _, created in told) == [[False, False], [False, False], [True, True]]
        assert _sequence(admin, scope) == [1, 2]

    @pytest.mark.req("A7", "A8", "C13", "C29", partly="the write sequence")
    def test_the_write_sequence_orders_memories_with_the_clock_frozen(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given a clock that stands still / When fifty memories are written, some in batches
        written = [result.id for _ in range(10) for result in records.remember(scope, [write("x") for _ in range(5)])]

        # Then their sequence numbers are their order
        nodes = candidates(records, scope, ids=tuple(written)).nodes
        assert {node.created_at for node in nodes.values()} == {START}
        assert sorted(nodes, key=lambda key: nodes[key].write_seq) == written

    @pytest.mark.req("C29", partly="a write rewrites no other memory")
    def test_a_write_touches_no_other_memory(self, records: PostgresRecords, scope: Scope, admin: Admin) -> None:
        # Given memories
        records.remember(scope, [write(f"old {n}") for n in range(20)])
        before = admin.execute("SELECT id, xmin::text FROM memories WHERE ns = %s", (scope.ns,)).fetchall()

        # When more are written
        records.remember(scope, [write(f"new {n}") for n in range(5)])

        # Then the old rows are the same versions
        after = admin.execute("SELECT id, xmin::text FROM memories WHERE ns = %s", (scope.ns,)).fetchall()
        assert set(before) < set(after)

    def test_a_batch_of_nothing_is_nothing(self, records: PostgresRecords, scope: Scope) -> None:
        # Given no writes / When they are written / Then nothing happens
        assert records.remember(scope, []) == []

    def test_an_id_that_another_scope_has_opens_no_door(
        self, another: Callable[..., PostgresRecords], scope: Scope, other: Scope
    ) -> None:
        # Given somebody's memory
        records = another(retry_s=0.2)
        memory_id = remember(records, other, "their secret")

        # When its id is used for a write elsewhere
        with pytest.raises(BiemError):
            records.remember(scope, [write("mine", memory_id=memory_id)])

        # Then nothing of it shows or changes
        assert records.get(scope, memory_id) is None
        theirs = records.get(other, memory_id)
        assert theirs is not None
        assert theirs.text == "their secret"

    def test_text_of_every_script_and_the_greatest_length_is_kept_byte_for_byte(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given long and strange text
        text = ("é 爱 🧠 \u200b\u202e\ufeff \x7f \x01 e\u0301 " * 10_000)[:80_000]

        # When it is written
        memory_id = remember(records, scope, text, lexemes="long")

        # Then it and its original are what was given
        found = candidates(records, scope, ids=(memory_id,), evidence=True)
        assert found.nodes[memory_id].text == text
        assert found.evidence[memory_id] == text

    def test_a_memory_without_words_can_be_written(self, records: PostgresRecords, scope: Scope) -> None:
        # Given a text that gives no lexemes
        empty = write("🙂")
        wordless = type(empty)(empty.id, empty.draft, "", empty.energy, None)

        # When it is written / Then it is there
        [written] = records.remember(scope, [wordless])
        assert records.get(scope, written.id) is not None


class TestReading:
    @pytest.mark.req("C24", "X40", partly="records")
    def test_other_scopes_memories_are_in_no_answer(self, records: PostgresRecords, scope: Scope, other: Scope) -> None:
        # Given the same words in two scopes
        mine = remember(records, scope, "secret recipe")
        theirs = remember(records, other, "secret recipe")

        # When one scope asks, even for the other's id
        found = candidates(records, scope, ids=(mine, theirs), lexemes=("secret",))
        by_words = records.text_search([scope], ["secret"], 10, ANY)

        # Then only its own is there
        assert set(found.nodes) == set(found.lexemes) == set(by_words) == {mine}
        assert records.get(scope, theirs) is None

    @pytest.mark.req("C24", partly="reading two scopes")
    def test_several_scopes_are_read_at_once_and_each_node_says_whose_it_is(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given a memory of a project and one of its user
        project = Scope(scope.tenant, scope.user, "p")
        ours = remember(records, project, "apple pie")
        mine = remember(records, scope, "apple tart")

        # When both scopes are read
        found = candidates(records, *project.readable, ids=(ours, mine))
        words = records.text_search(project.readable, ["apple"], 10, ANY)

        # Then both answer
        assert {key: node.scope for key, node in found.nodes.items()} == {ours: project, mine: scope}
        assert set(words) == {ours, mine}
        assert records.get(project, mine) is None

    def test_archived_memories_are_shown_by_get_only(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given an archived memory
        memory_id = remember(records, scope, "forgotten words")
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (memory_id,))

        # When it is looked for
        found = candidates(records, scope, ids=(memory_id,), lexemes=("forgotten",))

        # Then only `get` knows it
        assert not found.nodes
        assert records.text_search([scope], ["forgotten"], 10, ANY) == {}
        node = records.get(scope, memory_id)
        assert node is not None
        assert node.status == "archived"

    def test_an_erased_memory_is_in_no_answer(self, records: PostgresRecords, scope: Scope) -> None:
        # Given an erased memory
        memory_id = remember(records, scope, "gone words")
        records.erase(scope, memory_id, 60.0)

        # When it is looked for / Then nobody knows it
        assert not candidates(records, scope, ids=(memory_id,), lexemes=("gone",)).nodes
        assert records.text_search([scope], ["gone"], 10, ANY) == {}
        assert records.get(scope, memory_id) is None

    @pytest.mark.req("X5", partly="pending memories are found by their words")
    def test_pending_memories_are_found_by_any_shared_word(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given pending memories and an active one with the same word
        active = remember(jobs, scope, "blue sky")
        activate(jobs)
        pending = [remember(jobs, scope, f"blue {n}") for n in range(5)]
        remember(jobs, scope, "red sky")

        # When a word is asked for
        found = candidates(jobs, scope, lexemes=("blue", "unknown"))

        # Then the pending ones with that word answer
        assert set(found.nodes) == set(pending)
        assert found.lexemes[pending[0]] == "blue 0"
        assert active not in found.nodes

    @pytest.mark.req("X5", "D6", partly="none is hidden by those that were written later")
    def test_of_many_pending_memories_the_best_are_found_and_of_each_word_some(
        self, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given memories with one word or two of a question, and then hundreds that share its commonest word
        rare = remember(records, scope, "the saffron is ripe")
        both = remember(records, scope, "kitchen lantern")
        records.remember(scope, [write(f"kitchen {n} note") for n in range(300)])
        records.remember(other, [write(f"saffron {n} note") for n in range(300)])

        # When more share a word than are wanted
        found = candidates(records, scope, lexemes=("kitchen", "lantern", "saffron"), pending_limit=10)

        # Then those that share most, and what has a rare word, are among them, and all are counted
        assert {rare, both} <= set(found.nodes)
        assert 10 < len(found.nodes) <= 10 + 3 * 16
        assert (records.unindexed([scope]), records.unindexed([scope, other])) == (302, 602)
        assert candidates(records, scope, ids=(both,), lexemes=("kitchen",), pending_limit=0).nodes.keys() == {both}

    def test_originals_are_given_only_when_asked_for(self, records: PostgresRecords, scope: Scope) -> None:
        # Given a memory
        memory_id = remember(records, scope, "The Original")

        # When it is read with and without originals
        plain = candidates(records, scope, ids=(memory_id,))
        strict = candidates(records, scope, ids=(memory_id,), evidence=True)

        # Then the original is there when asked for
        assert plain.evidence == {}
        assert strict.evidence == {memory_id: "The Original"}

    @pytest.mark.req("B14", partly="kind, speaker, conversation and time, in PostgreSQL")
    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (Filter(kinds=("task",)), {"task"}),
            (Filter(kinds=("task", "event")), {"task", "li", "wang"}),
            (Filter(speakers=("Li",)), {"li"}),
            (Filter(speakers=("Li", "Wang'; --")), {"li", "wang"}),
            (Filter(conversations=("c1",)), {"li"}),
            (Filter(since=instant(3)), {"li", "wang"}),
            (Filter(until=instant(3)), {"plain", "task"}),
            (Filter(since=instant(2), until=instant(3)), {"task"}),
            (Filter(kinds=("event",), speakers=("Li",), conversations=("c2",)), set()),
            (Filter(speakers=("",)), {"plain", "task"}),
        ],
    )
    def test_every_filter_holds_for_ids_pending_rows_and_the_search_by_words(
        self, records: PostgresRecords, scope: Scope, where: Filter, expected: set[str]
    ) -> None:
        # Given four memories that differ in what never changes
        ids = {
            "plain": remember(records, scope, "common plain", at=instant(1)),
            "task": remember(records, scope, "common task", kind="task", at=instant(2)),
            "li": remember(records, scope, "common li", kind="event", speaker="Li", conversation="c1", at=instant(3)),
            "wang": remember(
                records, scope, "common wang", kind="event", speaker="Wang'; --", conversation="c2", at=instant(4)
            ),
        }
        names = {memory_id: name for name, memory_id in ids.items()}

        # When they are asked for under a condition
        by_id = candidates(records, scope, ids=tuple(ids.values()), where=where).nodes
        pending = candidates(records, scope, lexemes=("common",), where=where).nodes
        words = records.text_search([scope], ["common"], 10, where)

        # Then exactly those that meet it answer
        for found in (by_id, pending, words):
            assert {names[key] for key in found} == expected

    @pytest.mark.req("B14", partly="in PostgreSQL")
    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            (Filter(min_energy=0.9), set()),
            (Filter(min_energy=0.6), {"fresh", "glad"}),
            (Filter(min_energy=0.25), {"fresh", "glad", "day old"}),
            (Filter(min_energy=1e-9), {"fresh", "glad", "day old", "cold"}),
            (Filter(sentiment=(0.3, 1.0)), {"glad"}),
            (Filter(sentiment=(-1.0, -0.1)), {"cold"}),
            (Filter(sentiment=(0.0, 0.0)), {"fresh", "day old"}),
            (Filter(min_energy=0.3, sentiment=(-1.0, 0.3)), {"fresh", "glad"}),
        ],
    )
    def test_energy_as_it_is_now_and_mood_may_be_asked_for(
        self, records: PostgresRecords, scope: Scope, admin: Admin, where: Filter, expected: set[str]
    ) -> None:
        """B14's last two fields; the others, and that values are escaped, have tests here and with the vector index."""
        # Given memories of one energy, of which two have faded since, and of three moods
        hours = {"fresh": 0.0, "glad": 0.0, "day old": 7.0, "cold": 60.0}
        moods = {"glad": 0.3, "cold": -0.5}
        names = {}
        for name, age in hours.items():
            key = remember(records, scope, f"common {name}")
            names[key] = name
            admin.execute(
                "UPDATE memories SET anchor_at = anchor_at - make_interval(hours => %s), sentiment = %s WHERE id = %s",
                (int(age), moods.get(name, 0.0), key),
            )

        # When they are asked for under a condition
        by_id = candidates(records, scope, ids=tuple(names), where=where).nodes
        pending = candidates(records, scope, lexemes=("common",), where=where).nodes
        words = records.text_search([scope], ["common"], 10, where)

        # Then exactly those that meet it answer
        for found in (by_id, pending, words):
            assert {names[key] for key in found} == expected

    @pytest.mark.req("B14", partly="a filter loses no pending row")
    def test_pending_rows_that_meet_the_filter_are_not_crowded_out_by_others(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given one pending task and many newer pending facts with the same word
        task = remember(records, scope, "common task", kind="task")
        records.remember(scope, [write(f"common {n}") for n in range(10)])

        # When tasks are asked for, with a limit below the number of facts
        found = candidates(records, scope, lexemes=("common",), where=Filter(kinds=("task",)), pending_limit=5)

        # Then the task is found
        assert set(found.nodes) == {task}

    @pytest.mark.req("B14", partly="a filter loses no row of the search by words")
    def test_the_search_by_words_is_not_crowded_out_by_rows_that_the_filter_refuses(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given one task and a thousand facts that match better
        task = remember(records, scope, "common words of a task that says many other things as well", kind="task")
        records.remember(scope, [write(f"common {n}", lexemes="common") for n in range(1_000)])

        # When tasks are asked for
        found = records.text_search([scope], ["common"], 10, Filter(kinds=("task",)))

        # Then the task is found
        assert set(found) == {task}

    def test_the_search_by_words_gives_the_best_first_and_scores_above_zero(
        self, records: PostgresRecords, scope: Scope
    ) -> None:
        # Given memories that share one, two and no words with the query, Chinese ones, too
        both = remember(records, scope, "rain in spain")
        one = remember(records, scope, "rain again and again and again and again")
        chinese = remember(records, scope, "我爱北京", lexemes="我爱 爱北 北京 我 爱 北 京")
        remember(records, scope, "sunshine")

        # When words are searched
        found = records.text_search([scope], ["rain", "spain"], 10, ANY)

        # Then the better match comes first, within the limit
        assert list(found) == [both, one]
        assert found[both] > found[one] > 0
        assert list(records.text_search([scope], ["rain", "spain"], 1, ANY)) == [both]
        assert set(records.text_search([scope], ["北京"], 10, ANY)) == {chinese}
        assert records.text_search([scope], [], 10, ANY) == {}
        assert records.text_search([scope], ["nothing"], 10, ANY) == {}

    @pytest.mark.req("C19", "X4", partly="access count and time")
    def test_touching_counts_one_access_of_each_memory_and_of_no_other_scope(
        self, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given memories of two scopes
        mine, untouched = remember(records, scope, "a"), remember(records, scope, "b")
        theirs = remember(records, other, "c")
        later = START + timedelta(hours=1)

        # When accesses are counted, late ones out of order
        records.touch(scope, [mine, theirs], later)
        records.touch(scope, [mine, mine], START)

        # Then only the own memory counts them, and its time never goes back
        nodes = candidates(records, scope, ids=(mine, untouched)).nodes
        assert (nodes[mine].access_count, nodes[mine].accessed_at) == (2, later)
        assert nodes[mine].useful_count == 0
        assert nodes[untouched].access_count == 0
        foreign = records.get(other, theirs)
        assert foreign is not None
        assert foreign.access_count == 0

    @pytest.mark.req("B33", "X6", "C20", partly="evaluated when read")
    def test_energy_fades_by_reading_later_and_no_row_is_rewritten(
        self, another: Callable[..., PostgresRecords], scope: Scope, admin: Admin
    ) -> None:
        # Given a memory
        clock = HeldClock()
        records = another(clock=clock)
        memory_id = remember(records, scope, "fading")
        version = admin.execute("SELECT xmin::text FROM memories WHERE id = %s", (memory_id,)).fetchone()

        # When it is read now, after an hour, and again
        def energy() -> float:
            node = records.get(scope, memory_id)
            assert node is not None
            return node.energy

        now = energy()
        clock.advance(hours=1)
        later = [energy(), energy()]

        # Then it has lost what an hour takes, once, without a write
        assert now == pytest.approx(0.6)
        assert later == [pytest.approx(0.6 * 0.904837, abs=1e-6)] * 2
        assert version == admin.execute("SELECT xmin::text FROM memories WHERE id = %s", (memory_id,)).fetchone()


class TestJobs:
    def test_a_claimed_job_brings_its_memory_and_counts_the_attempt(
        self, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given memories of two scopes
        ids = [remember(jobs, scope, "one two"), remember(jobs, other, "three")]

        # When jobs are claimed
        claimed = claim_all(jobs)

        # Then they come oldest first with what encoding needs
        assert [job.memory_id for job in claimed] == ids
        assert [job.lexemes for job in claimed] == ["one two", "three"]
        assert [job.node.scope for job in claimed if job.node] == [scope, other]
        assert {(job.task, job.attempts) for job in claimed} == {("encode", 1)}

    def test_a_claim_takes_at_most_its_limit_oldest_first(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given five jobs
        ids = [result.id for result in jobs.remember(scope, [write(str(n)) for n in range(5)])]

        # When two are claimed, then the rest
        first = jobs.claim(2, 60.0, retried=False)
        rest = jobs.claim(10, 60.0, retried=False)

        # Then each came once, in order
        assert [job.memory_id for job in first + rest] == ids
        assert claim_all(jobs) == []

    @pytest.mark.req("X38", partly="claiming")
    def test_concurrent_workers_never_hold_the_same_job(
        self, jobs: PostgresRecords, another: Callable[..., PostgresRecords], scope: Scope
    ) -> None:
        # Given many jobs and four workers
        ids = [result.id for result in jobs.remember(scope, [write(str(n)) for n in range(200)])]
        workers = [another(pool_size=2) for _ in range(4)]

        # When all claim at once until nothing is left
        def work(worker: PostgresRecords) -> list[str]:
            return [job.memory_id for batch in iter(lambda: worker.claim(7, 60.0, retried=False), []) for job in batch]

        with ThreadPoolExecutor(4) as threads:
            claimed = [memory_id for found in threads.map(work, workers) for memory_id in found]

        # Then each job went to exactly one
        assert sorted(claimed) == sorted(ids)

    def test_an_abandoned_lease_comes_due_again_and_is_then_a_retry(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a job whose worker died
        memory_id = remember(jobs, scope, "abandoned")
        jobs.claim(1, 0.05, retried=False)

        # When its lease has run out
        found: list[Job] = []

        def reclaim() -> bool:
            found.extend(jobs.claim(1, 60.0, retried=True))
            return bool(found)

        eventually(reclaim)

        # Then it is claimed as one that was tried before, and not twice
        assert [(job.memory_id, job.attempts) for job in found] == [(memory_id, 2)]
        assert jobs.claim(1, 60.0, retried=True) == claim_all(jobs) == []

    def test_a_living_lease_is_respected(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a leased job
        remember(jobs, scope, "leased")
        claim_all(jobs, lease_s=60.0)

        # When others look for work / Then there is none
        assert jobs.claim(5, 60.0, retried=True) == claim_all(jobs) == []

    def test_renewing_prolongs_what_is_still_held_and_nothing_that_others_claimed(
        self, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given two jobs with a short lease, of which somebody else has claimed one meanwhile, and a finished one
        jobs.remember(scope, [write(str(n)) for n in range(3)])
        lost, held, done = jobs.claim(3, 0.05, retried=False)
        jobs.done([done])
        eventually(lambda: jobs.claim(1, 60.0, retried=True))

        # When all leases are renewed
        renewed = jobs.renew([lost, held, done], 60.0)

        # Then only the own one is prolonged
        assert renewed == [held]
        assert jobs.claim(1, 60.0, retried=True) == []

    def test_claims_count_every_lease_also_the_refunded_and_revived(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a job that was given back without blame, and then buried and revived
        remember(jobs, scope, "again and again")
        jobs.release(claim_all(jobs), 0.0, "outage", refund=True)
        jobs.bury(claim_all(jobs), "poison")
        jobs.retry_dead(scope)

        # When it is claimed once more
        [job] = claim_all(jobs)

        # Then it is known that its vector may have been written before
        assert (job.attempts, job.claims) == (1, 3)

    def test_jobs_that_were_tried_come_back_one_at_a_time(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a batch that failed
        jobs.remember(scope, [write(str(n)) for n in range(3)])
        failed = claim_all(jobs)
        jobs.release(failed, 0.0, "it broke", refund=False)

        # When work is looked for
        fresh = claim_all(jobs)
        alone = [jobs.claim(64, 60.0, retried=True) for _ in range(4)]

        # Then none of them is fresh, and each comes alone
        assert fresh == []
        assert [len(batch) for batch in alone] == [1, 1, 1, 0]
        assert {batch[0].attempts for batch in alone if batch} == {2}

    def test_a_refunded_job_is_as_good_as_never_tried(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a job given back because of an outage
        remember(jobs, scope, "innocent")
        jobs.release(claim_all(jobs), 0.0, "the embedder is down", refund=True)

        # When it is claimed again
        [job] = claim_all(jobs)

        # Then this is its first attempt
        assert job.attempts == 1

    def test_a_released_job_waits_for_its_delay(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a job given back for later
        remember(jobs, scope, "later")
        jobs.release(claim_all(jobs), 60.0, "not now", refund=True)

        # When work is looked for / Then it is not due, yet it is in the backlog
        assert claim_all(jobs) == jobs.claim(1, 60.0, retried=True) == []
        assert jobs.backlog(scope) == 1

    def test_completion_makes_memories_active_with_what_was_learned(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given two claimed jobs
        ids = [remember(jobs, scope, "a"), remember(jobs, scope, "b")]
        claimed = claim_all(jobs)
        learned = Analysis(
            Fields(numbers=("10%",), names=("李明",), definitions=("x",), symbols=("λ",)),
            ("李明", "O'Neil"),
            -0.25,
            "zh",
        )

        # When they are completed
        met = jobs.complete(encoded(claimed, learned))

        # Then they are active and nothing is left to do
        assert met == Completion((), (), hot=tuple(ids))
        for memory_id in ids:
            node = jobs.get(scope, memory_id)
            assert node is not None
            assert node.status == "active"
            assert (node.fields, node.entities, node.sentiment, node.language) == (
                learned.fields,
                learned.entities,
                learned.sentiment,
                "zh",
            )
        assert jobs.backlog() == 0

    def test_completion_reports_memories_that_were_erased_meanwhile(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given two claimed jobs of which one memory is erased
        kept, erased = remember(jobs, scope, "kept"), remember(jobs, scope, "erased")
        claimed = claim_all(jobs)
        jobs.erase(scope, erased, 60.0)

        # When the worker completes both
        met = jobs.complete(encoded(claimed))

        # Then it hears which vectors must go, and the other is done
        assert met == Completion((erased,), (), hot=(kept,))
        node = jobs.get(scope, kept)
        assert node is not None
        assert node.status == "active"
        assert jobs.backlog(scope) == 0

    @pytest.mark.req("X8", partly="completion is all or nothing")
    def test_completion_is_all_or_nothing(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given two claimed jobs, one with an analysis that the database refuses
        ids = [remember(jobs, scope, "good"), remember(jobs, scope, "bad")]
        claimed = claim_all(jobs)
        results = [*encoded(claimed[:1]), *encoded(claimed[1:], Analysis(Fields(), (), 7.0, "en"))]

        # When both are completed together
        with pytest.raises((BiemError, psycopg.Error)):
            jobs.complete(results)

        # Then neither is
        for memory_id in ids:
            node = jobs.get(scope, memory_id)
            assert node is not None
            assert node.status == "pending"
        assert jobs.backlog(scope) == 2

    def test_completing_twice_is_completing_once(self, jobs: PostgresRecords, scope: Scope) -> None:
        # Given a completed job whose answer got lost
        memory_id = remember(jobs, scope, "twice")
        results = encoded(claim_all(jobs))
        jobs.complete(results)

        # When it is completed again / Then nothing changes, and the caller hears that somebody was faster
        assert jobs.complete(results) == Completion((), (memory_id,))
        node = jobs.get(scope, memory_id)
        assert node is not None
        assert node.status == "active"

    def test_buried_jobs_are_dead_until_they_get_another_chance(
        self, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given buried jobs of two scopes
        ids = [remember(jobs, scope, "first"), remember(jobs, scope, "second")]
        theirs = remember(jobs, other, "theirs")
        jobs.bury(claim_all(jobs), "poison \0 row")

        # When dead letters are listed and those of one scope retried
        mine, everyones = jobs.dead(scope, 10), jobs.dead(None, 10)
        backlog = jobs.backlog(), jobs.backlog(scope)
        revived = jobs.retry_dead(scope)
        again = claim_all(jobs)

        # Then they are listed oldest first, count as no backlog, and start afresh
        assert [(letter.memory_id, letter.scope, letter.attempts) for letter in mine] == [
            (key, scope, 1) for key in ids
        ]
        assert {letter.reason for letter in mine} == {"poison   row"}
        assert [letter.memory_id for letter in everyones] == [*ids, theirs]
        assert [letter.memory_id for letter in jobs.dead(None, 1)] == [theirs]
        assert backlog == (0, 0)
        assert revived == 2
        assert [(job.memory_id, job.attempts) for job in again] == [(key, 1) for key in ids]
        assert jobs.dead(scope, 10) == []

    def test_what_waits_for_the_index_is_told_with_what_keeps_it(
        self, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a dead, a finished, a released, a leased and a waiting job, and one of another scope
        ids = [remember(jobs, scope, text) for text in ("dead", "done", "released", "leased", "waiting")]
        theirs = remember(jobs, other, "theirs")
        dead, done, released, _ = jobs.claim(4, 60.0, retried=False)
        jobs.bury([dead], "poison")
        jobs.complete(encoded([done]))
        jobs.release([released], 60.0, "Milvus is down", refund=True)

        # When all but one are asked for, and one that never was / Then the unfinished ones are told, oldest first
        assert jobs.waiting([new_id(), theirs, *reversed(ids[:4])]) == [
            Waiting(ids[0], True, True, "poison"),
            Waiting(ids[2], True, False, "Milvus is down"),
            Waiting(ids[3], True, False, ""),
            Waiting(theirs, False, False, ""),
        ]
        assert jobs.waiting([]) == []

    def test_the_backlog_counts_jobs_neither_done_nor_dead(
        self, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a waiting, a leased, a released, a dead and a finished job, and somebody else's
        for text in ("dead", "done", "released", "leased", "waiting"):
            remember(jobs, scope, text)
        remember(jobs, other, "theirs")
        dead, done, released, leased = jobs.claim(4, 60.0, retried=False)
        jobs.bury([dead], "dead")
        jobs.complete(encoded([done]))
        jobs.release([released], 60.0, "later", refund=False)
        assert leased.memory_id

        # When the backlog is counted / Then three of one scope, four of all are left
        assert (jobs.backlog(scope), jobs.backlog()) == (3, 4)


class TestVectors:
    @pytest.mark.req("G57", partly="persistent")
    def test_vectors_round_trip_bit_for_bit_per_model(self, records: PostgresRecords, scope: Scope) -> None:
        # Given memories, and vectors of them with awkward numbers
        rng = np.random.default_rng(7)
        raw = rng.standard_normal((3, 384)).astype(np.float32)
        raw[0, :3] = (1e-38, -0.0, np.nextafter(np.float32(1), np.float32(2)))
        texts = [new_id() for _ in raw]
        records.remember(scope, [write(text) for text in texts])
        vectors = {sha256(text): row for text, row in zip(texts, raw, strict=True)}

        # When they are saved and loaded
        records.save_vectors(MODEL, vectors)
        loaded = records.load_vectors(MODEL, [*vectors, sha256("never seen")])

        # Then every bit is the same, and another model has none of them
        assert {key: row.tobytes() for key, row in loaded.items()} == {
            key: row.tobytes() for key, row in vectors.items()
        }
        assert all(row.dtype == np.float32 for row in loaded.values())
        assert records.load_vectors("another-model", list(vectors)) == {}

    def test_an_existing_vector_stays(self, records: PostgresRecords, scope: Scope) -> None:
        # Given a memory with a cached vector
        text = new_id()
        remember(records, scope, text)
        key = sha256(text)
        records.save_vectors(MODEL, {key: unit(1, 0)})

        # When another is saved for the same text
        records.save_vectors(MODEL, {key: unit(0, 1)})

        # Then the first is kept
        assert records.load_vectors(MODEL, [key])[key].tolist() == [1.0, 0.0]

    def test_no_keys_give_no_vectors(self, records: PostgresRecords) -> None:
        # Given nothing to ask or to keep / When asked and saved / Then nothing happens
        assert records.load_vectors(MODEL, []) == {}
        records.save_vectors(MODEL, {})

    def test_active_memories_are_paged_completely_and_exactly_once(
        self, empty_database: str, scope: Scope, other: Scope
    ) -> None:
        # Given more active memories than a page holds, in two scopes, some with vectors, and a pending one
        migrate(empty_database)
        records = build_records(empty_database)
        try:
            ids = {
                result.id
                for owner in (scope, other)
                for result in records.remember(owner, [write(f"memory {n}") for n in range(550)])
            }
            records.save_vectors(MODEL, {sha256("memory 7"): unit(3, 4)})
            activate(records)
            remember(records, scope, "still pending")

            # When all are read
            pages = list(records.active(MODEL))
        finally:
            records.close()

        # Then each is there once, with its scope, words and vector
        rows = [row for page in pages for row in page]
        assert len(pages) > 1
        assert sorted(node.id for node, _, _ in rows) == sorted(ids)
        assert {node.scope for node, _, _ in rows} == {scope, other}
        assert all(lexemes == node.text for node, lexemes, _ in rows)
        with_vector = [(node.text, vector.tolist()) for node, _, vector in rows if vector is not None]
        assert with_vector == [("memory 7", pytest.approx([0.6, 0.8]))] * 2


class TestErase:
    @pytest.mark.req("X16", partly="PostgreSQL: rows, links and facts of one memory")
    def test_erasing_a_memory_takes_everything_derived_from_it(
        self, jobs: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given a memory with a vector, links and a fact, beside others
        doomed, kept = remember(jobs, scope, "doomed"), remember(jobs, scope, "kept")
        theirs = remember(jobs, other, "theirs")
        vector = {sha256(text): unit(1, 2) for text in ("doomed", "kept", "theirs")}
        jobs.save_vectors(MODEL, vector)
        jobs.save_vectors("older-model", vector)
        _link(admin, scope, doomed, kept, "semantic")
        _link(admin, scope, kept, doomed, "temporal")
        _link(admin, scope, kept, new_id(), "mention")
        _fact(admin, scope, [kept, doomed])
        _fact(admin, scope, [kept])

        # When it is erased
        erasure = jobs.erase(scope, doomed, 60.0)

        # Then the receipt's counts are what was there, nothing remains, and the others lost nothing
        assert erasure.ids == (doomed,)
        assert erasure.before == {
            "memories": 1,
            "evidence": 1,
            "embeddings": 2,
            "crystal_links": 2,
            "crystal_facts": 1,
            "outbox": 1,
            "conflicts": 0,
            "concept_items": 0,
            "instant_memories": 0,
        }
        assert set(jobs.remains(scope, erasure).values()) == {0}
        assert jobs.get(scope, kept) is not None
        assert jobs.get(other, theirs) is not None
        assert in_scope(admin, "crystal_links", scope) == in_scope(admin, "crystal_facts", scope) == 1
        assert set(jobs.load_vectors(MODEL, list(vector))) == {sha256("kept"), sha256("theirs")}
        assert "doomed" not in _dump(admin)

    def test_originals_and_vectors_that_other_memories_have_stay(
        self, jobs: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given the same words twice in a scope and once in another
        first, second = (remember(jobs, scope, "shared", kind="event") for _ in range(2))
        theirs = remember(jobs, other, "shared", kind="event")
        jobs.save_vectors(MODEL, {sha256("shared"): unit(1, 1)})

        # When they go one after the other
        jobs.erase(scope, first, 60.0)
        after_first = candidates(jobs, scope, ids=(second,), evidence=True).evidence
        erasure = jobs.erase(scope, second, 60.0)
        after_second = candidates(jobs, other, ids=(theirs,), evidence=True).evidence
        vector_there = jobs.load_vectors(MODEL, [sha256("shared")])
        jobs.erase(other, theirs, 60.0)

        # Then what the rest has stays, and the last one takes it along
        assert after_first == {second: "shared"}
        assert after_second == {theirs: "shared"}
        assert in_scope(admin, "evidence", scope) == 0
        assert vector_there
        assert set(jobs.remains(scope, erasure).values()) == {0}
        assert jobs.load_vectors(MODEL, [sha256("shared")]) == {}

    @pytest.mark.req("X16", partly="PostgreSQL: a whole scope")
    def test_erasing_a_scope_leaves_no_row_that_carries_it_but_the_purges(
        self, jobs: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given a full scope and another one
        ids = [result.id for result in jobs.remember(scope, [write(f"private {n}") for n in range(3)])]
        jobs.bury(claim_all(jobs)[:1], "dead")
        _link(admin, scope, ids[0], ids[1], "semantic")
        ids.append(_fact(admin, scope, ids))
        theirs = remember(jobs, other, "theirs")

        # When it is erased
        erasure = jobs.erase(scope, None, 0.0)

        # Then its name is gone, too, and what is left are purges without text
        assert set(erasure.ids) == set(ids)
        for table in ("scopes", "memories", "evidence", "crystal_links", "crystal_facts"):
            assert in_scope(admin, table, scope) == 0, table
        assert "private" not in _dump(admin)
        assert jobs.get(other, theirs) is not None
        purges = [job for job in claim_all(jobs) if job.task == "purge"]
        assert {job.memory_id for job in purges} == set(ids)
        assert all(job.node is None and job.lexemes == "" for job in purges)
        jobs.done(purges)
        assert in_scope(admin, "outbox", scope) == 0

    def test_links_to_the_erased_that_have_no_memory_are_erased_with_the_scope(
        self, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a scope with a fact whose sources are gone already
        remember(jobs, scope, "present")
        _fact(admin, scope, [new_id()], content="distilled secret")
        _link(admin, scope, new_id(), new_id(), "semantic")

        # When the scope is erased
        jobs.erase(scope, None, 60.0)

        # Then nothing of it is left
        assert in_scope(admin, "crystal_facts", scope) == in_scope(admin, "crystal_links", scope) == 0

    def test_a_purge_waits_until_workers_must_be_done(self, jobs: PostgresRecords, scope: Scope, admin: Admin) -> None:
        # Given an erased memory
        memory_id = remember(jobs, scope, "soon gone")
        jobs.erase(scope, memory_id, 60.0)

        # When work is looked for at once / Then the purge is planned for later
        assert claim_all(jobs) == []
        [due] = admin.execute("SELECT due_at > now() + interval '50 s' FROM outbox WHERE task = 'purge'").fetchall()
        assert due == (True,)

    def test_a_worker_that_was_encoding_the_erased_leaves_no_vector_behind(
        self, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given a memory that is being encoded when it is erased
        memory_id = remember(jobs, scope, "embarrassing")
        claimed = claim_all(jobs)
        jobs.erase(scope, memory_id, 0.0)

        # When the worker goes on: saves the vector and completes
        jobs.save_vectors(MODEL, {sha256("embarrassing"): unit(1, 0)})
        jobs.complete(encoded(claimed))

        # Then the vector, which tells nearly as much as the text, is gone
        assert jobs.load_vectors(MODEL, [sha256("embarrassing")]) == {}

    def test_an_id_of_another_scope_erases_nothing(self, records: PostgresRecords, scope: Scope, other: Scope) -> None:
        # Given somebody's memory
        theirs = remember(records, other, "theirs")

        # When one erases it from elsewhere
        erasure = records.erase(scope, theirs, 60.0)

        # Then nothing happened
        assert erasure.ids == ()
        assert set(erasure.before.values()) == {0}
        assert records.get(other, theirs) is not None

    def test_a_scope_lives_again_after_its_erasure(
        self, records: PostgresRecords, another: Callable[..., PostgresRecords], scope: Scope, admin: Admin
    ) -> None:
        # Given two processes that know a scope, which one of them erases
        elsewhere = another()
        remember(elsewhere, scope, "before")
        remember(records, scope, "before, too")
        records.erase(scope, None, 60.0)

        # When both write to it again
        ids = [remember(elsewhere, scope, "after"), remember(records, scope, "after, too")]

        # Then it is a new scope with just that
        assert _sequence(admin, scope) == [1, 2]
        assert set(candidates(records, scope, ids=tuple(ids)).nodes) == set(ids)

    def test_writing_and_erasing_at_once_leaves_no_half_memory(
        self, another: Callable[..., PostgresRecords], scope: Scope, admin: Admin
    ) -> None:
        # Given a writer and an eraser of one scope
        writer, eraser = another(pool_size=2), another(pool_size=2)

        # When both work at the same time
        with ThreadPoolExecutor(2) as threads:
            writing = threads.submit(lambda: [remember(writer, scope, f"w {n}") for n in range(60)])
            erasing = threads.submit(lambda: [eraser.erase(scope, None, 60.0) for _ in range(20)])
            writing.result()
            erasing.result()

        # Then every memory that is left has its original and its job, and nothing else has
        counts = [in_scope(admin, table, scope) for table in ("memories", "evidence")]
        encodes = admin.execute("SELECT count(*) FROM outbox WHERE ns = %s AND task = 'encode'", (scope.ns,)).fetchone()
        assert encodes == (counts[0],)
        assert counts[0] == counts[1]
        assert _sequence(admin, scope) == list(range(1, counts[0] + 1))
        erased = admin.execute("SELECT count(*) FROM outbox WHERE ns = %s AND task = 'purge'", (scope.ns,)).fetchone()
        assert erased == (60 - counts[0],)

    def test_a_receipt_is_kept_as_given_and_holds_no_text(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given an erased memory
        memory_id = remember(records, scope, "very private words")
        erasure = records.erase(scope, memory_id, 60.0)

        # When its receipt is saved
        receipt = {
            "id": new_id(),
            "erased_at": START.isoformat(),
            "ids": list(erasure.ids),
            "before": dict(erasure.before),
        }
        records.save_receipt(scope, receipt)

        # Then it is there for good, and neither it nor the erasure knows the text
        [row] = admin.execute("SELECT receipt, erased_at FROM erasures WHERE ns = %s", (scope.ns,)).fetchall()
        assert row == (receipt, START)
        assert "private" not in repr(row) + repr(erasure)


class TestOperation:
    def test_an_empty_database_is_refused_with_the_way_out(self, empty_database: str) -> None:
        # Given a database without our schema / When it is opened / Then the reader learns what to run
        with pytest.raises(SchemaOutdated, match="biem migrate"):
            build_records(empty_database)

    def test_migrating_twice_applies_once(self, empty_database: str) -> None:
        # Given an empty database / When it is migrated twice
        first, second = migrate(empty_database), migrate(empty_database)

        # Then the second time there was nothing to do, and it can be opened
        assert first[0] == "0001_foundation"
        assert second == []
        build_records(empty_database).close()

    def test_concurrent_migrators_apply_each_migration_once(self, empty_database: str) -> None:
        # Given an empty database / When four processes migrate it at once
        applied = in_processes(migrate_at_once, 4, empty_database)

        # Then one of them did it
        assert len({pid for pid, _ in applied} | {os.getpid()}) == 5
        assert sorted(bool(names) for _, names in applied) == [False, False, False, True]
        build_records(empty_database).close()

    def test_a_migration_that_was_applied_in_other_words_is_refused(self, empty_database: str) -> None:
        # Given a database of another build
        migrate(empty_database)
        with psycopg.connect(empty_database, autocommit=True) as connection:
            connection.execute("UPDATE schema_migrations SET sha256 = 'other' WHERE number = 1")

        # When it is migrated / Then that is refused
        with pytest.raises(ConfigError, match="0001_foundation"):
            migrate(empty_database)

    @pytest.mark.req("C36")
    def test_every_identifier_that_we_give_is_stored_as_uuid(self, admin: Admin) -> None:
        """But for what the design's own DDL spells otherwise (B27), and numbers that order rows of one table."""
        # Given a migrated database / When the columns that name something are read
        rows = admin.execute(
            "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns"
            " JOIN information_schema.tables USING (table_schema, table_name)"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
            " AND (column_name = 'id' OR right(column_name, 3) = '_id')"
        ).fetchall()
        types: dict[str, str] = dict(rows)

        # Then they are UUIDs
        assert types["memories.id"] == types["conflicts.older_id"] == types["concepts.id"] == "uuid"
        assert {name: kind for name, kind in types.items() if kind != "uuid"} == {
            "crystal_links.id": "bigint",
            "crystal_links.source_id": "character varying",
            "crystal_links.target_id": "character varying",
            "metrics.id": "bigint",
            "outbox.id": "bigint",
        }

    @pytest.mark.req(
        "B15", partly="the half in PostgreSQL; Milvus has id, text, time and a vector of the dimension of the embedder"
    )
    def test_what_changes_in_a_memory_is_here_within_the_designs_ranges(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        """Energy, tier, mood and last access: Milvus has none of them, for it would have to be rewritten as they age
        (D3, C14); its part of the schema has a test of its own, and the dimension is the embedder's (C12)."""
        # Given a text longer than the design's field, in three bytes a character
        key = remember(records, scope, "长" * 65_536, lexemes="长")

        # When values at and beyond the ends of the ranges are written
        refused = []
        ranges: list[tuple[str, tuple[Any, ...], tuple[Any, ...]]] = [
            ("initial_energy", (0, 1), (-0.001, 1.001)),
            ("energy_anchor", (0, 1), (-0.001, 1.001)),
            ("sentiment", (-1, 1), (-1.001, 1.001)),
            ("tier", ("L1", "L2", "L3"), ("L0", "L4")),
        ]
        for column, within, beyond in ranges:
            update = sql.SQL("UPDATE memories SET {} = %s WHERE id = %s").format(sql.Identifier(column))
            for value in within:
                admin.execute(update, (value, key))
            for value in beyond:
                with pytest.raises(psycopg.errors.CheckViolation):
                    admin.execute(update, (value, key))
                refused.append(column)
        admin.execute("UPDATE memories SET tier = 'L2' WHERE id = %s", (key,))

        # Then the latter are refused, and the text is whole
        assert len(refused) == 8
        node = records.get(scope, key)
        assert node is not None
        assert len(node.text) == 65_536

    @pytest.mark.req("B26", "B27", partly="tables and columns")
    def test_the_tables_of_crystal_facts_and_links_are_those_of_the_design(self, admin: Admin) -> None:
        # Given a migrated database / When its columns are read
        columns = {
            (row[0], row[1]): row[2]
            for row in admin.execute(
                "SELECT table_name, column_name, data_type FROM information_schema.columns"
                " WHERE table_name IN ('crystal_facts', 'crystal_links')"
            )
        }

        # Then the design's are there
        assert columns[("crystal_facts", "id")] == "uuid"
        for name in ("content", "confidence", "created_at", "updated_at", "source_node_ids"):
            assert ("crystal_facts", name) in columns
        assert columns[("crystal_facts", "metadata")] == "jsonb"
        for name in ("source_id", "target_id", "link_type", "weight", "created_at"):
            assert ("crystal_links", name) in columns

    @pytest.mark.req("X11", partly="the table")
    def test_several_link_types_between_two_memories_coexist_and_each_is_there_once(
        self, admin: Admin, scope: Scope
    ) -> None:
        # Given two links of different types between the same memories
        _link(admin, scope, "a" + scope.ns, "b", "temporal")
        _link(admin, scope, "a" + scope.ns, "b", "semantic")

        # When one of them is inserted again / Then that is refused
        with pytest.raises(psycopg.errors.UniqueViolation):
            _link(admin, scope, "a" + scope.ns, "b", "semantic")

    @pytest.mark.req("C36", partly="PostgreSQL")
    def test_ids_are_stored_as_uuid(self, admin: Admin) -> None:
        # Given a migrated database / When the types of ids are read
        types = admin.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE (table_name, column_name) IN (('memories', 'id'), ('outbox', 'memory_id'), ('crystal_facts', 'id'),"
            " ('erasures', 'id'))"
        ).fetchall()

        # Then all are UUIDs
        assert len(types) == 4
        assert {row[2] for row in types} == {"uuid"}

    def test_acknowledged_memories_survive_connections_that_are_cut_all_the_time(
        self, another: Callable[..., PostgresRecords], scope: Scope, admin: Admin
    ) -> None:
        # Given writers, and somebody who cuts their connections again and again
        writer = another(pool_size=3, retry_s=20.0)
        over = threading.Event()
        written = threading.Semaphore(0)
        cuts = 0

        def cut() -> None:
            nonlocal cuts
            while not over.is_set():
                if not all(written.acquire(timeout=1.0) for _ in range(5)):  # cut what gets on, however slow it is
                    continue
                row = admin.execute(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND application_name = 'biem'"
                    " AND query <> '' AND pid <> pg_backend_pid()"
                ).fetchone()
                cuts += row[0] if row else 0

        cutter = threading.Thread(target=cut)

        # When they write meanwhile
        def work(number: int) -> list[str]:
            ids = []
            for turn in range(60):
                ids.append(remember(writer, scope, f"{number}-{turn}", ref=f"{number}-{turn}"))
                written.release()
            return ids

        cutter.start()
        try:
            with ThreadPoolExecutor(3) as threads:
                ids = [memory_id for found in threads.map(work, range(3)) for memory_id in found]
        finally:
            over.set()
            cutter.join()

        # Then each is there exactly once, although connections were lost
        assert cuts > 0
        assert len(set(ids)) == 180
        assert _sequence(admin, scope) == list(range(1, 181))
        assert len(candidates(writer, scope, ids=tuple(ids)).nodes) == 180

    @pytest.mark.parametrize("what", ["get", "claim", "complete", "erase", "stats", "text_search", "touch"])
    def test_a_connection_lost_while_idle_costs_no_call(
        self, another: Callable[..., PostgresRecords], jobs: PostgresRecords, scope: Scope, admin: Admin, what: str
    ) -> None:
        # Given an adapter with an open connection and a claimed job
        mine = another(pool_size=2)
        memory_id = remember(mine, scope, "idle")
        results = encoded(claim_all(mine)) if what != "claim" else []

        def touched() -> bool:
            mine.touch(scope, [memory_id], START)
            return True

        calls: dict[str, Callable[[], object]] = {
            "get": lambda: mine.get(scope, memory_id),
            "claim": lambda: claim_all(mine),
            "complete": lambda: not mine.complete(results).erased,
            "erase": lambda: mine.erase(scope, memory_id, 60.0).ids,
            "stats": lambda: mine.stats(scope),
            "text_search": lambda: mine.text_search([scope], ["idle"], 1, ANY),
            "touch": touched,
        }

        # When the server closes all connections and the call comes next
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'biem'"
        )

        # Then it answers as if nothing had happened
        assert calls[what]()

    def test_a_server_that_is_not_there_is_named_with_its_setting(self, stack: object) -> None:
        # Given an address where nobody listens / When it is opened / Then the message says what to check
        with pytest.raises(StoreUnavailable, match="BIEM_POSTGRES_DSN") as caught:
            build_records("postgresql://u:hunter2@127.0.0.1:1/none", retry_s=0.0)
        assert "hunter2" not in str(caught.value)

    @pytest.mark.req("B59", partly="a broken DSN does not show its password")
    def test_a_malformed_dsn_is_a_setting_to_correct_and_keeps_its_password_to_itself(self) -> None:
        # Given a DSN with a slip of the pen / When it is opened
        with pytest.raises(ConfigError, match="BIEM_POSTGRES_DSN") as caught:
            build_records("postgresql//u:hunter2@127.0.0.1/none", retry_s=0.0)

        # Then the setting is named, its value is not
        assert "hunter2" not in str(caught.value)

    def test_a_closed_adapter_closes_again_and_answers_no_more(self, database: str, scope: Scope) -> None:
        # Given a closed adapter
        records = build_records(database)
        records.ping()
        records.close()

        # When it is closed again and asked / Then it says that it cannot
        records.close()
        with pytest.raises(StoreUnavailable):
            records.ping()
        with pytest.raises(StoreUnavailable):
            records.get(scope, new_id())

    def test_statistics_count_by_status_for_one_scope_and_for_all(
        self, jobs: PostgresRecords, scope: Scope, other: Scope, admin: Admin
    ) -> None:
        # Given memories of every status in one scope and one in another
        done, dead, archived = (remember(jobs, scope, text) for text in ("done", "dead", "archived"))
        claimed = {job.memory_id: job for job in claim_all(jobs)}
        jobs.complete(encoded([claimed[done], claimed[archived]]))
        jobs.bury([claimed[dead]], "dead")
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (archived,))
        remember(jobs, other, "theirs")

        # When they are counted
        mine, everything = jobs.stats(scope), jobs.stats(None)

        # Then the scope's are the scope's, and all are all
        assert {name: mine[name] for name in ("memories", "active", "pending", "archived", "dead_letters")} == {
            "memories": 3,
            "active": 1,
            "pending": 1,
            "archived": 1,
            "dead_letters": 1,
        }
        assert everything["memories"] >= 4
        assert everything["scopes"] >= 2


class TestIsolation:
    @pytest.mark.req("D13", "C24", partly="row-level security")
    @pytest.mark.parametrize("seen", [None, "", "somebody-else", "'", "{}", ",,"])
    def test_hand_written_sql_of_a_service_sees_and_changes_nothing_of_a_scope_it_did_not_name(
        self, records: PostgresRecords, service: Admin, admin: Admin, scope: Scope, seen: str | None
    ) -> None:
        # Given a scope with a memory, a link, a fact and a receipt
        memory_id = remember(records, scope, "locked")
        _link(admin, scope, memory_id, new_id(), "mention")
        _fact(admin, scope, [memory_id])
        records.save_receipt(scope, {"id": new_id(), "erased_at": START.isoformat()})

        # When a service that named no or another scope reads and writes by hand
        if seen is not None:
            service.execute("SELECT set_config('biem.ns', %s, false)", (seen,))
        tables = ("scopes", "memories", "evidence", "crystal_facts", "crystal_links", "erasures")
        visible = {table: in_scope(service, table, scope) for table in tables}
        changed = [
            service.execute("UPDATE memories SET text = 'stolen' WHERE ns = %s", (scope.ns,)).rowcount,
            service.execute("DELETE FROM memories").rowcount,
            service.execute("DELETE FROM evidence WHERE ns = %s", (scope.ns,)).rowcount,
        ]

        # Then it finds nothing, and cannot put anything there either
        assert set(visible.values()) == {0}
        assert changed == [0, 0, 0]
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            service.execute("INSERT INTO evidence (ns, sha256, text) VALUES (%s, 'x', 'forged')", (scope.ns,))
        assert in_scope(admin, "memories", scope) == 2

    @pytest.mark.req("D13", partly="a service can name a scope")
    def test_a_service_that_names_a_scope_sees_exactly_that(
        self, records: PostgresRecords, service: Admin, scope: Scope, other: Scope
    ) -> None:
        # Given two scopes
        mine = remember(records, scope, "mine")
        remember(records, other, "theirs")

        # When a service names one
        service.execute("SELECT set_config('biem.ns', %s, false)", (scope.ns,))

        # Then that is all it sees
        assert service.execute("SELECT id::text FROM memories").fetchall() == [(mine,)]

    @pytest.mark.req("D13", partly="the search function obeys row-level security")
    def test_the_search_function_shows_no_scope_that_was_not_named(
        self, records: PostgresRecords, service: Admin, scope: Scope, other: Scope
    ) -> None:
        # Given a memory, and a service that named another scope
        remember(records, scope, "locked words")
        service.execute("SELECT set_config('biem.ns', %s, false)", (other.ns,))

        # When it calls the function that runs with its owner's rights
        found = service.execute("SELECT * FROM matching_memories(%s, 'locked'::tsquery, 10)", ([scope.ns],)).fetchall()

        # Then the second lock holds there, too
        assert found == []
        asked = "pending_memories(%s, quote_literal(%s)::tsquery, 'locked', ARRAY['locked'::tsquery], 10)"
        assert service.execute(f"SELECT * FROM {asked}".encode(), ([scope.ns], scope.ns)).fetchall() == []
        service.execute("SELECT set_config('biem.ns', %s, false)", (scope.ns,))
        assert len(service.execute(f"SELECT * FROM {asked}".encode(), ([scope.ns], scope.ns)).fetchall()) == 1

    @pytest.mark.req("D13", partly="no connection keeps a scope")
    def test_a_connection_forgets_the_scope_when_the_call_is_over(
        self, another: Callable[..., PostgresRecords], scope: Scope, other: Scope
    ) -> None:
        # Given an adapter with one connection that served a scope
        records = another(pool_size=1)
        memory_id = remember(records, scope, "mine")

        # When it serves another / Then nothing of the first shines through
        assert records.get(other, memory_id) is None
        assert records.text_search([other], ["mine"], 10, ANY) == {}
        assert not candidates(records, other, ids=(memory_id,), lexemes=("mine",)).nodes

    @pytest.mark.req("X39", partly="PostgreSQL")
    @pytest.mark.parametrize("hostile", HOSTILE)
    def test_hostile_names_and_words_are_data(self, records: PostgresRecords, hostile: str, scope: Scope) -> None:
        # Given hostile text in every name, tag, ref, filter and lexeme
        named = Scope(tenant=hostile, user=scope.user, project=hostile)
        word = hostile.replace(" ", "_")
        given = write(
            hostile,
            kind="event",
            tags=(hostile,),
            reason=hostile,
            source=hostile,
            speaker=hostile,
            conversation=hostile,
            ref=hostile,
            metadata={hostile: hostile},
            lexemes=f"plain {word}",
        )

        # When it is written, searched, failed and erased
        [written] = records.remember(named, [given])
        where = Filter(speakers=(hostile,), conversations=(hostile,))
        pending = candidates(records, named, lexemes=(word,), where=where)
        words = records.text_search([named], [word], 10, where)
        elsewhere = records.text_search([scope], [word], 10, where)
        node = records.get(named, written.id)

        # Then it is found exactly there, as it was
        assert set(pending.nodes) == set(words) == {written.id}
        assert elsewhere == {}
        assert node is not None
        assert (node.text, node.ref, node.tags, node.metadata) == (hostile, hostile, (hostile,), {hostile: hostile})
        assert records.erase(named, written.id, 60.0).ids == (written.id,)
        assert records.get(scope, written.id) is None

    @pytest.mark.req("X39", partly="reasons of failures")
    def test_a_job_remembers_a_hostile_scope_and_reason(self, jobs: PostgresRecords) -> None:
        # Given a job of a hostile scope
        named = Scope(tenant=HOSTILE[0], user=new_id(), project="a/b")
        remember(jobs, named, "x")
        [job] = claim_all(jobs)

        # When it is buried with a hostile reason
        assert job.node is not None
        assert job.node.scope == named
        jobs.bury([job], HOSTILE[0] + "\0")

        # Then both come back as they were
        [letter] = jobs.dead(named, 1)
        assert (letter.scope, letter.reason) == (named, HOSTILE[0] + " ")


def _sequence(admin: Admin, scope: Scope) -> list[int]:
    rows = admin.execute("SELECT write_seq FROM memories WHERE ns = %s ORDER BY write_seq", (scope.ns,)).fetchall()
    [last] = admin.execute("SELECT write_seq FROM scopes WHERE ns = %s", (scope.ns,)).fetchall() or [(0,)]
    assert not rows or last == rows[-1]
    return [row[0] for row in rows]


def _link(admin: Admin, scope: Scope, source: str, target: str, kind: str) -> None:
    admin.execute(
        "INSERT INTO crystal_links (ns, source_id, target_id, link_type) VALUES (%s, %s, %s, %s)",
        (scope.ns, source, target, kind),
    )


def _fact(admin: Admin, scope: Scope, sources: list[str], content: str = "distilled") -> str:
    """A fact with the memory that it is."""
    fact_id = new_id()
    admin.execute(
        "INSERT INTO memories (id, ns, text, evidence_sha, embed_sha, kind, layer, importance, at, created_at, lexemes,"
        " write_seq, initial_energy, energy_anchor, anchor_at, valid_from)"
        " SELECT %(id)s, %(ns)s, %(text)s, %(sha)s, %(sha)s, 'knowledge', 'long_term', 3, %(at)s, %(at)s, %(text)s,"
        " -count(*) - 1, 0.6, 0.6, %(at)s, %(at)s FROM memories WHERE ns = %(ns)s",
        {"id": fact_id, "ns": scope.ns, "text": content, "sha": sha256(content), "at": START},
    )
    admin.execute(
        "INSERT INTO crystal_facts (id, ns, content, source_node_ids) VALUES (%s, %s, %s, %s)",
        (fact_id, scope.ns, content, sources),
    )
    return fact_id


def _dump(admin: Admin) -> str:
    """All that the tables with people's words hold."""

    def rows() -> Iterator[object]:
        yield from admin.execute("SELECT m::text FROM memories m")
        yield from admin.execute("SELECT e.text FROM evidence e")
        yield from admin.execute("SELECT o::text FROM outbox o")
        yield from admin.execute("SELECT f::text FROM crystal_facts f")

    return "\n".join(map(str, rows()))
