"""What `Records` promises about a write, on a real PostgreSQL."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from biem.adapters.postgres.records import PostgresRecords
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.errors import BiemError, RefConflict
from tests.contract.conftest import (
    Admin,
    in_scope,
    write,
)
from tests.contract.postgres.records.rows import HOSTILE, candidates, remember, sequence
from tests.support.fakes import START
from tests.support.writer_processes import in_processes, write_first, write_in_turns, write_the_same


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
        assert sequence(admin, scope) == [1]
        remember(records, scope, "next")
        assert sequence(admin, scope) == [1, 2]

    @pytest.mark.req("X30", partly="facts")
    def test_a_fact_repeated_in_one_scope_is_one_memory_and_in_another_scope_another(
        self, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a fact
        first = remember(records, scope, "water is wet", fact=True)

        # When it is repeated: alone, twice in a batch, and by another user
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
        # Given a message / When a user says the same again
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

    def test_known_refs_are_those_of_exactly_this_scope(
        self, records: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        mine = remember(records, scope, "mine", ref="r")
        remember(records, scope, "without")
        remember(records, other, "theirs", ref="s")
        assert records.known_refs(scope, ["r", "s", "t", *HOSTILE]) == {"r"}
        assert records.known_refs(scope, []) == set()
        records.erase(scope, mine, 60.0)
        assert records.known_refs(scope, ["r"]) == set()

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
        assert sequence(admin, scope) == [1, 2, 3]

    def test_a_memory_is_due_for_review_when_the_time_of_its_layer_is_over(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a memory of three months and one that stays / When both are written / Then only the first is ever due
        for layer in ("short_term", "core"):
            remember(records, scope, f"a {layer} memory", layer=layer)
        spans = admin.execute("SELECT layer, due_at - created_at FROM memories WHERE ns = %s", (scope.ns,)).fetchall()
        assert dict(spans) == {"short_term": timedelta(days=90), "core": None}

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
        assert sequence(admin, scope) == list(range(1, 101))
        ids = tuple(row[0] for row in admin.execute("SELECT id::text FROM memories WHERE ns = %s", (scope.ns,)))
        assert len(candidates(another(pool_size=2), scope, ids=ids).nodes) == 100

    @pytest.mark.long
    @pytest.mark.req("X30", partly="one id, many processes")
    def test_processes_that_write_one_id_at_once_make_one_memory(
        self, database: str, scope: Scope, admin: Admin
    ) -> None:
        # Given messages whose ids three processes know / When all write the same ones at the same moment
        told = in_processes(write_the_same, 3, database, scope, [new_id() for _ in range(10)])

        # Then one of them made each, and no number is lost
        assert len({pid for pid, _ in told} | {os.getpid()}) == 4
        assert [sum(made) for made in zip(*(created for _, created in told), strict=True)] == [1] * 10
        assert sequence(admin, scope) == list(range(1, 11))

    @pytest.mark.long
    @pytest.mark.req("A61", partly="the first write of a new scope")
    def test_many_processes_may_write_the_first_memory_of_a_scope_at_once(
        self, database: str, scope: Scope, admin: Admin
    ) -> None:
        # Given three processes that do not know the scope / When all write a fact, and a ref, at the same moment
        told = in_processes(write_first, 3, database, scope)

        # Then one of them created both
        assert len({pid for pid, _ in told} | {os.getpid()}) == 4
        assert sorted(created for _, created in told) == [[False, False], [False, False], [True, True]]
        assert sequence(admin, scope) == [1, 2]

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
        # Given another user's memory
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
