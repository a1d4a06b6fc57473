"""The promises of `Consolidations`, `Feedbacks` and `ScopeList` on a real PostgreSQL."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from biem.adapters.postgres.consolidation import PostgresConsolidations, PostgresScopes
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.life import PostgresFeedbacks
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.link import NewLink
from biem.domain.merging import derived_id, sources_hash
from biem.domain.node import Node, new_id
from biem.domain.scope import Scope
from biem.ports import Write
from biem.ports.consolidation import CrystalFact, Mark, Work
from tests.contract.conftest import LEARNED, Admin, claim_all, encoded, in_scope, write
from tests.support.fakes import START, HeldClock

LATER = START + timedelta(hours=1)


@pytest.fixture
def consolidations(pool: Database, jobs: PostgresRecords) -> PostgresConsolidations:
    """The adapter under test; the outbox is empty."""
    return PostgresConsolidations(pool, write_row=jobs.write_row, clock=HeldClock(), decay_per_hour=0.1)


@pytest.fixture
def feedbacks(pool: Database) -> PostgresFeedbacks:
    return PostgresFeedbacks(pool, clock=HeldClock(), decay_per_hour=0.1)


def active(records: PostgresRecords, scope: Scope, *texts: str, **details: Any) -> list[str]:
    """Memories that are encoded, in the order of their texts."""
    details.setdefault("kind", "knowledge")
    written = records.remember(scope, [write(text, **details) for text in texts])
    records.complete(encoded(claim_all(records), LEARNED))
    return [item.id for item in written]


def node(records: PostgresRecords, scope: Scope, memory_id: str) -> Node:
    found = records.get(scope, memory_id)
    assert found is not None
    return found


def set_counters(admin: Admin, memory_id: str, access: int, useful: int) -> None:
    admin.execute("UPDATE memories SET access_count = %s, useful_count = %s WHERE id = %s", (access, useful, memory_id))


def marks(consolidations: PostgresConsolidations, scope: Scope, job: Work) -> set[str]:
    return {mark.id for mark in consolidations.waiting(scope, job, 1_000)}


def fact_of(scope: Scope, sources: Sequence[str], content: str = "They all run") -> tuple[CrystalFact, Write]:
    name = sources_hash(sources)
    fact_id = derived_id(scope.ns, "fact", name)
    fact = CrystalFact(fact_id, content, tuple(sorted(sources)), 0.9, START, START, {"sources_hash": name})
    written = write(
        content,
        memory_id=fact_id,
        kind="knowledge",
        layer="long_term",
        ref=f"fact:{name}",
        metadata={"fact": fact_id, "sources": sorted(sources)},
    )
    return fact, written


def rows(admin: Admin, query: str, *parameters: Any) -> list[tuple[Any, ...]]:
    return admin.execute(query, parameters).fetchall()


# -- what there is to do ----------------------------------------------------------------------------------------------


class TestWaiting:
    def test_facts_wait_for_dedupe_once_they_are_active_and_messages_never(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given a fact and a message, not yet indexed
        fact = jobs.remember(scope, [write("a fact", kind="knowledge"), write("a message", kind="event")])[0].id
        assert marks(consolidations, scope, "dedupe") == set()
        # When both are
        jobs.complete(encoded(claim_all(jobs)))
        # Then the fact waits
        assert marks(consolidations, scope, "dedupe") == {fact}

    def test_long_term_facts_wait_for_merging_when_active_or_promoted(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given a long-term fact, a short-term one, and a long-term message
        [born] = active(jobs, scope, "born so", layer="long_term")
        [risen] = active(jobs, scope, "risen")
        active(jobs, scope, "said", layer="long_term", kind="event")
        assert marks(consolidations, scope, "merge") == {born}
        # When the short-term one is returned five times
        for minute in range(5):
            jobs.touch(scope, [risen], START + timedelta(minutes=2 * minute))
        # Then it waits, too
        assert marks(consolidations, scope, "merge") == {born, risen}

    @pytest.mark.req("C19", partly="use is known without a search")
    def test_what_is_used_again_and_again_waits_to_crystallise(
        self,
        consolidations: PostgresConsolidations,
        jobs: PostgresRecords,
        feedbacks: PostgresFeedbacks,
        scope: Scope,
    ) -> None:
        # Given a memory returned twice, one three times, one called useful, and one blamed
        twice, thrice, useful, blamed = active(jobs, scope, "one", "two", "three", "four", kind="event")
        for minute in range(3):
            jobs.touch(scope, [thrice, twice] if minute < 2 else [thrice], START + timedelta(minutes=minute))
        feedbacks.take(scope, "t", {useful: 1.0, blamed: -1.0}, START)
        # Then those wait that were used often enough
        assert marks(consolidations, scope, "crystal") == {thrice, useful}

    def test_what_was_looked_at_waits_no_more_unless_something_happened_meanwhile(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given two memories used often
        still, moved = active(jobs, scope, "still", "moved")
        for minute in range(3):
            jobs.touch(scope, [still, moved], START + timedelta(minutes=minute))
        waiting = consolidations.waiting(scope, "crystal", 10)
        # When one is used while a job looks at both
        jobs.touch(scope, [moved], LATER)
        consolidations.looked(scope, "crystal", waiting)
        # Then that one still waits
        assert marks(consolidations, scope, "crystal") == {moved}

    def test_the_list_is_bounded_and_of_one_scope(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given three facts here and one elsewhere
        mine = active(jobs, scope, "one", "two", "three")
        [theirs] = active(jobs, other, "one")
        # Then each scope sees its own, as many as asked for
        assert [mark.id for mark in consolidations.waiting(scope, "dedupe", 2)] == sorted(mine)[:2]
        # And looking at others' removes nothing
        consolidations.looked(scope, "dedupe", [Mark(theirs, 1)])
        assert marks(consolidations, other, "dedupe") == {theirs}


# -- replacing --------------------------------------------------------------------------------------------------------


class TestAbsorb:
    @pytest.mark.req("G23", partly="inheritance")
    def test_the_kept_memory_inherits_and_the_replaced_are_archived(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given two memories with tags, counters, importance, energy and age
        kept, gone = active(jobs, scope, "the rich one", "the poor one", tags=("a",))
        admin.execute(
            "UPDATE memories SET tags = '{b,a}', importance = 4, energy_anchor = 0.9, layer = 'long_term',"
            " accessed_at = %s, valid_from = %s, due_at = %s WHERE id = %s",
            (LATER, START - timedelta(days=3), START + timedelta(days=400), gone),
        )
        set_counters(admin, kept, 3, 1)
        set_counters(admin, gone, 4, 2)

        # When one stands for the other
        assert consolidations.absorb(scope, kept, [gone], LATER)

        # Then it has what both had
        heir = node(jobs, scope, kept)
        assert heir.status == "active"
        assert heir.text == "the rich one"
        assert set(heir.tags) == {"a", "b"}
        assert (heir.access_count, heir.useful_count) == (7, 3)
        assert heir.importance == 4
        assert heir.layer == "long_term"
        assert heir.accessed_at == LATER
        assert heir.valid_from == START - timedelta(days=3)
        assert heir.energy == pytest.approx(0.9)
        assert heir.metadata["merged_from"] == [gone]
        [(due_at,)] = rows(admin, "SELECT due_at FROM memories WHERE id = %s", kept)
        assert due_at == START + timedelta(days=400)
        # And the other is archived, whole, and says what replaced it
        old = node(jobs, scope, gone)
        assert (old.status, old.superseded_by, old.archive_reason) == ("archived", kept, "dedupe")
        assert old.text == "the poor one"
        # And the other stores and the index hear of both
        tasks = rows(admin, "SELECT task, memory_id::text, claims FROM outbox WHERE ns = %s ORDER BY task", scope.ns)
        assert tasks == [("archive", gone, 0), ("encode", kept, 1)]

    def test_without_new_tags_the_index_is_left_alone(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given two memories with the same tags
        kept, gone = active(jobs, scope, "rich", "poor", tags=("a",))
        # When one stands for the other
        consolidations.absorb(scope, kept, [gone], LATER)
        # Then only the archived one has a job
        assert rows(admin, "SELECT task FROM outbox WHERE ns = %s", scope.ns) == [("archive",)]

    @pytest.mark.req("X14", partly="replacing")
    def test_a_repetition_is_true_and_changes_nothing(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a replacement
        kept, gone = active(jobs, scope, "rich", "poor")
        set_counters(admin, gone, 4, 2)
        consolidations.absorb(scope, kept, [gone], LATER)
        before = rows(admin, "SELECT xmin::text, * FROM memories WHERE ns = %s ORDER BY id", scope.ns)
        # When it is repeated ten times
        for _ in range(10):
            assert consolidations.absorb(scope, kept, [gone], LATER)
        # Then no row was written
        assert rows(admin, "SELECT xmin::text, * FROM memories WHERE ns = %s ORDER BY id", scope.ns) == before

    @pytest.mark.parametrize("state", ["archived", "pending", "superseded", "foreign", "unknown", "fact"])
    def test_nothing_changes_unless_all_are_active_and_current(
        self,
        consolidations: PostgresConsolidations,
        jobs: PostgresRecords,
        scope: Scope,
        other: Scope,
        admin: Admin,
        state: str,
    ) -> None:
        # Given two good memories and one that is not
        kept, good, bad = active(jobs, scope, "rich", "poor", "odd")
        if state == "foreign":
            [bad] = active(jobs, other, "odd")
        elif state == "unknown":
            bad = new_id()
        else:
            change = {
                "archived": "status = 'archived'",
                "pending": "status = 'pending'",
                "superseded": "superseded_by = gen_random_uuid()",
                "fact": "metadata = jsonb_build_object('fact', 'x')",
            }[state]
            admin.execute(f"UPDATE memories SET {change} WHERE id = %s", (bad,))
        before = rows(admin, "SELECT * FROM memories WHERE ns = ANY (%s) ORDER BY id", [scope.ns, other.ns])
        # When they are to be replaced, or to replace
        assert not consolidations.absorb(scope, kept, [good, bad], LATER)
        assert not consolidations.absorb(scope, bad, [kept, good], LATER)
        # Then nothing has changed
        assert rows(admin, "SELECT * FROM memories WHERE ns = ANY (%s) ORDER BY id", [scope.ns, other.ns]) == before
        assert in_scope(admin, "derivations", scope) == 0

    def test_what_a_person_restored_is_not_replaced_again(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a replaced memory that came back
        kept, gone = active(jobs, scope, "rich", "poor")
        consolidations.absorb(scope, kept, [gone], LATER)
        admin.execute("UPDATE memories SET status = 'active', superseded_by = NULL WHERE id = %s", (gone,))
        # When the job meets the pair again, in either order, Then it leaves both
        assert not consolidations.absorb(scope, kept, [gone], LATER)
        assert not consolidations.absorb(scope, gone, [kept], LATER)
        assert {node(jobs, scope, key).status for key in (kept, gone)} == {"active"}

    @pytest.mark.req("X38", partly="two mergers of one memory")
    def test_two_at_once_that_want_each_other_leave_one(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given pairs of memories
        pairs = [active(jobs, scope, f"one {number}", f"two {number}") for number in range(8)]
        with ThreadPoolExecutor(2) as threads:
            for one, two in pairs:
                # When two processes replace in opposite directions
                answers = [
                    threads.submit(consolidations.absorb, scope, one, [two], LATER),
                    threads.submit(consolidations.absorb, scope, two, [one], LATER),
                ]
                # Then exactly one wins, and one memory is left
                assert sorted(answer.result(30) for answer in answers) == [False, True]
                assert sorted(node(jobs, scope, key).status for key in (one, two)) == ["active", "archived"]


class TestMerge:
    @pytest.mark.req("M53", "X34", partly="the transaction")
    def test_a_new_memory_stands_for_its_sources(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given three memories
        ids = active(jobs, scope, "he runs", "he runs daily", "he runs fast", layer="long_term", tags=("sport",))
        for key in ids:
            set_counters(admin, key, 2, 1)
        new = write("he runs fast, daily", kind="knowledge", layer="long_term", ref="merge:x")

        # When they merge
        assert consolidations.merge(scope, new, ids, LATER)

        # Then the new one is acknowledged like any memory, with what they had
        merged = node(jobs, scope, new.id)
        assert merged.status == "pending"
        assert (merged.access_count, merged.useful_count, merged.tags) == (6, 3, ("sport",))
        assert sorted(merged.metadata["merged_from"]) == sorted(ids)
        [job] = [job for job in claim_all(jobs) if job.task == "encode"]
        assert job.memory_id == new.id
        # And the originals are archived, point to it, and are listed as its sources
        assert {(node(jobs, scope, key).status, node(jobs, scope, key).superseded_by) for key in ids} == {
            ("archived", new.id)
        }
        assert consolidations.sources(scope, [new.id]) == {new.id: [(key, "merge") for key in sorted(ids)]}

    @pytest.mark.req("M53", partly="a failed merge changes nothing")
    def test_a_merge_that_cannot_be_changes_nothing(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given two memories of which one was archived meanwhile, and a ref that is another user's
        one, two, three = active(jobs, scope, "one", "two", "three")
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (two,))
        active(jobs, scope, "mine", ref="taken")
        before = rows(admin, "SELECT * FROM memories WHERE ns = %s ORDER BY id", scope.ns)
        # When they are to merge, or one alone is
        assert not consolidations.merge(scope, write("both"), [one, two], LATER)
        assert not consolidations.merge(scope, write("both", ref="taken"), [one, three], LATER)
        assert not consolidations.merge(scope, write("alone"), [one], LATER)
        # Then nothing was written
        assert rows(admin, "SELECT * FROM memories WHERE ns = %s ORDER BY id", scope.ns) == before
        assert in_scope(admin, "derivations", scope) == 0

    def test_a_repetition_with_the_same_id_is_true_and_writes_nothing(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a merge whose answer was lost
        ids = active(jobs, scope, "one", "two")
        new = write("both", ref="merge:y")
        consolidations.merge(scope, new, ids, LATER)
        # When it is repeated, with other words
        assert consolidations.merge(scope, write("other words", memory_id=new.id, ref="merge:y"), ids, LATER)
        # Then it is there once, as first written
        assert in_scope(admin, "memories", scope) == 3
        assert node(jobs, scope, new.id).text == "both"


class TestLinks:
    @pytest.mark.req("X34", partly="links")
    def test_a_replacement_waits_until_its_links_were_taken_over(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, pool: Database, scope: Scope
    ) -> None:
        # Given a replaced memory with a link
        kept, gone, friend = active(jobs, scope, "rich", "poor", "friend")
        links = PostgresLinks(pool)
        links.connect(scope, [NewLink(gone, friend, "semantic", 0.8, 8)], START)
        consolidations.absorb(scope, kept, [gone], LATER)
        # When a user looks the rest to do
        [replacement] = consolidations.unlinked(scope, 10)
        assert (replacement.kept, replacement.replaced) == (kept, (gone,))
        links.redirect(scope, replacement.replaced, replacement.kept, LATER)
        consolidations.linked(scope, replacement)
        # Then nothing is left, the link ends in the kept one, and none dangles
        assert consolidations.unlinked(scope, 10) == []
        [link] = links.of(scope, kept)
        assert {link.source, link.target} == {kept, friend}
        assert links.dangling(scope, 10) == []


class TestFacts:
    @pytest.mark.req("B24", "B26")
    def test_a_fact_is_kept_listed_and_is_a_memory_of_the_same_id(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given five memories
        ids = active(jobs, scope, "a", "b", "c", "d", "e")
        fact, memory = fact_of(scope, ids)
        # When they crystallise
        assert consolidations.crystallise(scope, fact, memory, None, LATER)
        # Then the fact is there with all columns of the design
        [kept] = consolidations.facts(scope, 10)
        assert consolidations.fact(scope, fact.id) == kept
        assert (kept.id, kept.content, kept.source_node_ids) == (fact.id, "They all run", tuple(sorted(ids)))
        assert kept.confidence == pytest.approx(0.9)
        assert (kept.created_at, kept.updated_at) == (LATER, LATER)
        assert kept.metadata == {"sources_hash": sources_hash(ids)}
        types = dict(
            rows(
                admin,
                "SELECT column_name, data_type FROM information_schema.columns WHERE table_name = 'crystal_facts'",
            )
        )
        assert types["id"] == "uuid"
        assert types["content"] == "text"
        assert types["source_node_ids"] == "ARRAY"
        assert types["confidence"] == "double precision"
        assert types["metadata"] == "jsonb"
        # And it waits to be indexed like any memory, while its sources live on
        assert node(jobs, scope, fact.id).status == "pending"
        assert {node(jobs, scope, key).status for key in ids} == {"active"}
        assert consolidations.facts_of(scope, ids) == dict.fromkeys(ids, fact.id)

    @pytest.mark.req("X14", partly="the transaction")
    def test_a_repetition_and_an_overlapping_cluster_add_nothing(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a fact
        ids = active(jobs, scope, "a", "b", "c", "d", "e", "f")
        fact, memory = fact_of(scope, ids[:5])
        consolidations.crystallise(scope, fact, memory, None, LATER)
        # When it is made again, and another of overlapping sources
        assert consolidations.crystallise(scope, fact, memory, None, LATER)
        overlapping, its_memory = fact_of(scope, ids[1:])
        assert not consolidations.crystallise(scope, overlapping, its_memory, None, LATER)
        # Then there is one
        assert in_scope(admin, "crystal_facts", scope) == 1
        assert in_scope(admin, "memories", scope) == 7

    def test_a_grown_fact_supersedes_the_one_it_grew_from(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given a fact of five, one of whose sources was replaced since
        ids = active(jobs, scope, "a", "b", "c", "d", "e", "f", "a too")
        old, its_memory = fact_of(scope, ids[:5])
        consolidations.crystallise(scope, old, its_memory, None, LATER)
        jobs.complete(encoded(claim_all(jobs)))
        consolidations.absorb(scope, ids[6], [ids[0]], LATER)
        # When it grows by a sixth
        new, new_memory = fact_of(scope, ids[:6], "They all run far")
        assert consolidations.crystallise(scope, new, new_memory, old.id, LATER)
        # Then one fact is current, and the old one is kept behind it
        assert [fact.id for fact in consolidations.facts(scope, 10)] == [new.id]
        before = consolidations.fact(scope, old.id)
        assert before is not None
        assert before.metadata["superseded_by"] == new.id
        assert node(jobs, scope, old.id).status == "archived"
        assert node(jobs, scope, old.id).superseded_by == new.id
        # And all sources belong to it, with what stands for one of them
        assert consolidations.facts_of(scope, ids) == dict.fromkeys(ids, new.id)

    @pytest.mark.req("X14", "D13", partly="facts")
    def test_facts_never_cross_scopes(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given the same texts of two owners
        mine, theirs = active(jobs, scope, *"abcde"), active(jobs, other, *"abcde")
        fact, memory = fact_of(scope, mine)
        assert consolidations.crystallise(scope, fact, memory, None, LATER)
        # When one's cluster has a memory of the other
        mixed, its_memory = fact_of(scope, [*mine[:4], theirs[4]])
        assert not consolidations.crystallise(scope, mixed, its_memory, None, LATER)
        # Then no one sees the other's facts
        assert consolidations.fact(other, fact.id) is None
        assert consolidations.facts(other, 10) == []
        assert consolidations.facts_of(other, mine) == {}
        assert consolidations.sources(other, [fact.id]) == {}

    def test_facts_come_in_pages(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given three facts
        for number in range(3):
            fact, memory = fact_of(scope, active(jobs, scope, *[f"{letter}{number}" for letter in "abcde"]))
            consolidations.crystallise(scope, fact, memory, None, LATER)
        # When they are read page by page
        first = consolidations.facts(scope, 2)
        rest = consolidations.facts(scope, 2, after=first[-1].id)
        # Then each comes once
        assert len({fact.id for fact in [*first, *rest]}) == 3
        assert len(rest) == 1

    def test_a_fact_goes_with_its_memory(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        # Given a fact
        fact, memory = fact_of(scope, active(jobs, scope, *"abcde"))
        consolidations.crystallise(scope, fact, memory, None, LATER)
        # When its memory is erased
        jobs.erase(scope, fact.id, 0.0)
        # Then no table knows it
        assert in_scope(admin, "crystal_facts", scope) == 0
        assert in_scope(admin, "derivations", scope) == 0


class TestErasure:
    """The statements that `Records.erase` uses for what was made of others."""

    def test_what_goes_along_is_what_a_memory_stood_for_and_what_was_made_of_it(
        self, consolidations: PostgresConsolidations, jobs: PostgresRecords, pool: Database, scope: Scope
    ) -> None:
        # Given a and b merged into m, a duplicate of a behind it, and a fact of b and others
        a, double, b, c, d, e, f = active(jobs, scope, "a", "a again", *"bcdef")
        consolidations.absorb(scope, a, [double], LATER)
        fact, memory = fact_of(scope, [b, c, d, e, f])
        consolidations.crystallise(scope, fact, memory, None, LATER)
        new = write("a and b", ref="merge:ab")
        consolidations.merge(scope, new, [a, b], LATER)

        def closure(memory_id: str) -> set[str]:
            return {row[0] for row in pool.fetch(scope.ns, "erase_closure", {"ns": scope.ns, "id": memory_id})}

        # When each is to be erased, Then no text that holds its words is left behind, and nothing else goes
        assert closure(c) == {c, fact.id}
        assert closure(b) == {b, new.id, fact.id}
        assert closure(a) == {a, double, new.id}
        assert closure(double) == {double}
        assert closure(new.id) == {new.id, a, b, double, fact.id}
        assert closure(fact.id) == {fact.id}
        assert closure(new_id()) == set()

    def test_what_stood_behind_an_erased_merge_comes_back(
        self,
        consolidations: PostgresConsolidations,
        jobs: PostgresRecords,
        pool: Database,
        scope: Scope,
        admin: Admin,
    ) -> None:
        # Given two merged memories, of which one is to be erased
        one, two = active(jobs, scope, "one", "two")
        new = write("both", ref="merge:12")
        consolidations.merge(scope, new, [one, two], LATER)
        # When the merged text goes with it
        pool.execute(scope.ns, "erase_revive", {"ns": scope.ns, "ids": [one, new.id]})
        # Then the other comes back, and will be indexed again
        back = node(jobs, scope, two)
        assert (back.status, back.superseded_by, back.archive_reason) == ("pending", None, "")
        assert node(jobs, scope, one).status == "archived"
        tasks = rows(admin, "SELECT task, claims FROM outbox WHERE memory_id = %s", two)
        assert tasks == [("encode", 1)]


# -- feedback ---------------------------------------------------------------------------------------------------------


class TestFeedbacks:
    @pytest.mark.req("G22", partly="counters")
    def test_praise_and_blame_move_energy_and_only_praise_counts(
        self, feedbacks: PostgresFeedbacks, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given two memories of energy 0.6
        good, bad = active(jobs, scope, "good", "bad")
        # When a turn praises one and blames the other
        touched = feedbacks.take(scope, "turn 1", {good: 1.0, bad: -1.0}, START)
        # Then energies and the count say so
        assert touched is not None
        assert {item.id for item in touched} == {good, bad}
        assert node(jobs, scope, good).energy == pytest.approx(0.7)
        assert node(jobs, scope, bad).energy == pytest.approx(0.5)
        assert (node(jobs, scope, good).useful_count, node(jobs, scope, bad).useful_count) == (1, 0)
        assert node(jobs, scope, good).access_count == 0

    def test_a_turn_counts_once_a_scope(
        self, feedbacks: PostgresFeedbacks, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given feedback of a turn in two scopes that chose the same name
        [mine], [theirs] = active(jobs, scope, "mine"), active(jobs, other, "theirs")
        feedbacks.take(scope, "1", {mine: 1.0}, START)
        # When the first is repeated, Then it does nothing
        assert feedbacks.take(scope, "1", {mine: 1.0}, START) is None
        assert node(jobs, scope, mine).useful_count == 1
        # And the other scope's is its own
        assert feedbacks.take(other, "1", {theirs: 1.0}, START)

    def test_it_reaches_what_the_scope_may_read_and_nothing_else(
        self, feedbacks: PostgresFeedbacks, jobs: PostgresRecords, scope: Scope, other: Scope
    ) -> None:
        # Given a project of a user, and another process
        project = Scope(scope.tenant, scope.user, "project")
        [own], [theirs] = active(jobs, scope, "own"), active(jobs, other, "theirs")
        # When the project's turn praises both
        touched = feedbacks.take(project, "1", {own: 1.0, theirs: 1.0}, START)
        # Then only the user's own memory learns
        assert touched is not None
        assert [item.id for item in touched] == [own]
        assert node(jobs, other, theirs).useful_count == 0

    def test_old_turns_are_forgotten_in_bounded_batches(
        self, feedbacks: PostgresFeedbacks, jobs: PostgresRecords, scope: Scope
    ) -> None:
        # Given three old turns and a new one
        [key] = active(jobs, scope, "memory")
        for number in range(3):
            feedbacks.take(scope, f"old {number}", {key: 1.0}, START)
        feedbacks.take(scope, "new", {key: 1.0}, LATER)
        # When old ones are forgotten
        assert feedbacks.compact(scope, LATER, 2) == 2
        assert feedbacks.compact(scope, LATER, 2) == 1
        assert feedbacks.compact(scope, LATER, 2) == 0
        # Then the new one is still known
        assert feedbacks.take(scope, "new", {key: 1.0}, LATER) is None


class TestScopes:
    def test_scopes_with_memories_come_in_pages_by_ns(
        self, jobs: PostgresRecords, pool: Database, scope: Scope, other: Scope, feedbacks: PostgresFeedbacks
    ) -> None:
        # Given two scopes with memories, and one that only had feedback
        empty = Scope("contract", "only feedback " + scope.user)
        active(jobs, scope, "one")
        active(jobs, other, "one")
        feedbacks.take(empty, "1", {}, START)
        # When all pages are read
        adapter, seen, after = PostgresScopes(pool), list[Scope](), ""
        while page := adapter.scopes(after, 1):
            assert len(page) == 1
            seen += page
            after = page[-1].ns
        # Then each comes once, in order, the empty one not at all
        assert [item.ns for item in seen] == sorted(item.ns for item in seen)
        assert {scope, other} <= set(seen)
        assert empty not in seen


class TestIsolation:
    @pytest.mark.req("D13", partly="tables of consolidation")
    @pytest.mark.parametrize("table", ["derivations", "consolidation_queue", "feedbacks"])
    def test_the_database_hides_other_scopes_rows(
        self,
        service: psycopg.Connection[tuple[Any, ...]],
        consolidations: PostgresConsolidations,
        feedbacks: PostgresFeedbacks,
        jobs: PostgresRecords,
        scope: Scope,
        other: Scope,
        table: str,
    ) -> None:
        # Given rows of a scope in each table
        kept, gone = active(jobs, scope, "rich", "poor")
        consolidations.absorb(scope, kept, [gone], LATER)
        feedbacks.take(scope, "1", {kept: 1.0}, START)
        count = f"SELECT count(*) FROM {table} WHERE ns = '{scope.ns}'"
        # When the service looks with another scope in sight, Then it sees none
        with service.transaction():
            service.execute("SELECT set_config('biem.ns', %s, true)", (other.ns,))
            assert service.execute(count.encode()).fetchone() == (0,)
        with service.transaction():
            service.execute("SELECT set_config('biem.ns', %s, true)", (scope.ns,))
            found = service.execute(count.encode()).fetchone()
            assert found is not None
            assert found[0] > 0
