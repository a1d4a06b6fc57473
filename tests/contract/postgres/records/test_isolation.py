"""What one scope sees of another: nothing, on a real PostgreSQL."""

from collections.abc import Callable

import psycopg
import pytest

from biem.adapters.postgres.records import PostgresRecords
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.ports import Filter
from tests.contract.conftest import (
    ANY,
    Admin,
    claim_all,
    in_scope,
    write,
)
from tests.contract.postgres.records.rows import HOSTILE, candidates, fact, link, remember
from tests.support.fakes import START


class TestIsolation:
    @pytest.mark.req("D13", "C24", partly="row-level security")
    @pytest.mark.parametrize("seen", [None, "", "somebody-else", "'", "{}", ",,"])
    def test_hand_written_sql_of_a_service_sees_and_changes_nothing_of_a_scope_it_did_not_name(
        self, records: PostgresRecords, service: Admin, admin: Admin, scope: Scope, seen: str | None
    ) -> None:
        # Given a scope with a memory, a link, a fact and a receipt
        memory_id = remember(records, scope, "locked")
        link(admin, scope, memory_id, new_id(), "mention")
        fact(admin, scope, [memory_id])
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
