"""The promises of `Concepts` and `Instants` on a real PostgreSQL."""

import random
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import numpy as np
import pytest

from biem.adapters.postgres.concepts import PostgresConcepts, PostgresInstants
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.concept import Item, Snippet, concept_id, item_id
from biem.domain.link import NewLink, meeting_links
from biem.domain.node import new_id
from biem.domain.scope import Scope
from biem.ports.concepts import Fading, InstantMemory, Named
from tests.contract.conftest import Admin, in_scope, write
from tests.support.fakes import START

DAY = timedelta(days=1)
FADING = Fading(86_400.0, 3, 10)
ALL = START + timedelta(days=365)
"""Later than any silence."""


@pytest.fixture
def concepts(pool: Database) -> PostgresConcepts:
    return PostgresConcepts(pool, model="model")


@pytest.fixture
def instants(pool: Database) -> PostgresInstants:
    return PostgresInstants(pool)


@pytest.fixture
def links(pool: Database) -> PostgresLinks:
    return PostgresLinks(pool)


@pytest.fixture
def say(records: PostgresRecords, scope: Scope) -> Callable[..., list[str]]:
    """Stores messages of one conversation, a minute apart."""

    def remember(*texts: str, conversation: str = "chat", kind: str = "event", at: datetime = START) -> list[str]:
        rows = [
            write(text, conversation=conversation, kind=kind, speaker="Ann", at=at + timedelta(minutes=i))
            for i, text in enumerate(texts)
        ]
        return [written.id for written in records.remember(scope, rows)]

    return remember


def named(scope: Scope, name: str) -> Named:
    terms = tuple(name.lower().split())
    return Named(concept_id(scope.ns, terms), name, terms)


def item(concept: Named, text: str, *sources: str, vector: bytes | None = None) -> Item:
    return Item(item_id(concept.id, text), concept.id, text, sources, vector=vector)


def texts(concepts: PostgresConcepts, scope: Scope, concept: Named, at: datetime = START) -> dict[str, int]:
    """Text and strength of what is known of a concept."""
    found = concepts.items([scope], [concept.id], 50, FADING, at)[concept.id]
    return {known.text: known.strength for known in found}


def collect(concepts: PostgresConcepts, scope: Scope, length: int = 4) -> int:
    return concepts.collect(scope, length=length, pause_s=600, limit=1000)


def nearest(concepts: PostgresConcepts, scope: Scope, at: datetime = START, *without: int) -> Snippet | None:
    return concepts.nearest(scope, at, length=4, quiet_since=ALL, without=without)


class TestSnippets:
    @pytest.mark.req("H5", "H9", partly="snippets of the store")
    def test_memories_are_sorted_into_runs_of_one_conversation_once(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given two conversations that were written in turns, and facts
        a, b = say("a1", "a2", conversation="a"), say("b1", conversation="b")
        a += say("a3", "a4", "a5", conversation="a")
        facts = say("f1", "f2", conversation="", kind="knowledge")

        # When they are collected, and once more
        assert collect(concepts, scope) == 8
        assert collect(concepts, scope) == 0

        # Then each snippet has at most four messages of one conversation in order, and each memory is in one
        found: list[list[str]] = []
        seen: list[int] = []
        while snippet := nearest(concepts, scope, START, *seen):
            seen.append(snippet.first_seq)
            found.append([message.id for message in concepts.messages(scope, snippet)])
        assert sorted(found) == sorted([a[:4], a[4:], b, facts])

    def test_a_conversation_goes_on_where_it_was_and_ends_with_a_pause(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given a conversation collected after every message, and an hour's pause before its last
        ids = []
        for minute in (0, 1, 61):
            ids += say(f"minute {minute}", at=START + timedelta(minutes=minute))
            collect(concepts, scope)

        # When its snippets are looked at / Then the pause divides them
        first = nearest(concepts, scope)
        assert first is not None
        second = nearest(concepts, scope, START, first.first_seq)
        assert second is not None
        assert [m.id for m in concepts.messages(scope, first)] == ids[:2]
        assert [m.id for m in concepts.messages(scope, second)] == ids[2:]

    @pytest.mark.req("H9", partly="nearest to a sampled instant")
    def test_the_snippet_nearest_to_an_instant_is_taken_if_it_is_ready(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given a full snippet of each of three days, and a short one that may go on
        for day in range(3):
            say("1", "2", "3", "4", conversation=f"day {day}", at=START + day * DAY)
        say("still going", conversation="now", at=START + 3 * DAY)
        collect(concepts, scope)

        def near(at: datetime, quiet_since: datetime = START - DAY) -> str | None:
            found = concepts.nearest(scope, at, length=4, quiet_since=quiet_since)
            return found.conversation if found else None

        # When asked for instants / Then the nearest before or after is there, and the short one only after its silence
        assert [near(START + hours * timedelta(hours=1)) for hours in (-50, 11, 13, 25, 90)] == [
            "day 0",
            "day 0",
            "day 1",
            "day 1",
            "day 2",
        ]
        assert near(START + 9 * DAY, ALL) == "now"

    @pytest.mark.req("H9", "X36", partly="each message at most so many times")
    def test_a_snippet_is_gone_when_it_was_built_from_often_enough(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given a snippet that may be used twice
        say("one", "two")
        collect(concepts, scope)
        first = nearest(concepts, scope)
        assert first is not None

        # When it is used by two builders at once, and then again
        assert concepts.used(scope, first, 2)
        assert not concepts.used(scope, first, 2)
        again = nearest(concepts, scope)
        assert again is not None
        assert concepts.used(scope, again, 2)

        # Then it is gone for ever, and its conversation goes on in another
        assert (nearest(concepts, scope), collect(concepts, scope), concepts.built(scope)) == (None, 0, 2)
        third = say("three")
        collect(concepts, scope)
        rest = nearest(concepts, scope)
        assert rest is not None
        assert [message.id for message in concepts.messages(scope, rest)] == third

    def test_a_snippet_that_grew_meanwhile_is_not_crossed_off(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given a snippet that was read / When it grows before it is crossed off / Then what came is not lost
        say("one")
        collect(concepts, scope)
        read = nearest(concepts, scope)
        assert read is not None
        say("two")
        collect(concepts, scope)
        assert not concepts.used(scope, read, 1)
        assert nearest(concepts, scope) is not None

    def test_archived_messages_are_not_built_from(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]], admin: Admin
    ) -> None:
        # Given two messages, one of them archived / When their snippet is read / Then it has the other
        one, two = say("one", "two")
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (one,))
        collect(concepts, scope)
        snippet = nearest(concepts, scope)
        assert snippet is not None
        assert [message.id for message in concepts.messages(scope, snippet)] == [two]

    def test_a_scope_that_is_not_there_has_nothing_to_build(self, concepts: PostgresConcepts, other: Scope) -> None:
        # Given a scope without memories / When it is collected / Then nothing happens
        assert (collect(concepts, other), nearest(concepts, other), concepts.built(other)) == (0, None, 0)

    @pytest.mark.req("X38", partly="collecting")
    def test_collectors_at_once_put_each_memory_into_one_snippet(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given a hundred messages / When four workers collect them
        say(*map(str, range(100)))
        with ThreadPoolExecutor(4) as threads:
            counts = list(threads.map(lambda _: concepts.collect(scope, length=7, pause_s=600, limit=30), range(8)))

        # Then each was collected once, into full snippets
        assert sum(counts) == 100
        seen: list[int] = []
        ids: list[str] = []
        while snippet := nearest(concepts, scope, START, *seen):
            seen.append(snippet.first_seq)
            ids += [message.id for message in concepts.messages(scope, snippet)]
        assert len(ids) == len(set(ids)) == 100
        assert len(seen) == 15


class TestConcepts:
    @pytest.mark.req("H3")
    @pytest.mark.req("H2", "H16", partly="concepts with items in the database")
    def test_a_concept_has_the_items_that_were_added_and_is_there_once(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given two messages about one concept
        one, two = say("Rex barks", "Rex sleeps")
        rex = named(scope, "Rex")

        # When each adds an item, under one name and another spelling of it
        assert concepts.add(scope, [rex], [item(rex, "Rex barks", one)], FADING, START) == 1
        assert concepts.add(scope, [named(scope, "rex")], [item(rex, "Rex sleeps", two)], FADING, START) == 1

        # Then there is one concept with its first name and two items with their sources
        found = concepts.find([scope], [rex.id, new_id()], START)
        assert [(c.id, c.ns, c.name, c.items) for c in found] == [(rex.id, scope.ns, "Rex", 2)]
        known = concepts.items([scope], [rex.id], 5, FADING, START)[rex.id]
        assert {known.text: known.sources for known in known} == {"Rex barks": (one,), "Rex sleeps": (two,)}

    @pytest.mark.req("X8", partly="repeating changes nothing")
    def test_adding_the_same_again_changes_nothing_and_a_new_source_strengthens(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given an item
        one, two = say("Rex barks", "Rex barks")
        rex = named(scope, "Rex")
        concepts.add(scope, [rex], [item(rex, "Rex barks", one)], FADING, START)

        # When it is added again from the same source, then from another, often
        assert concepts.add(scope, [rex], [item(rex, "Rex barks", one)], FADING, START) == 0
        same = texts(concepts, scope, rex)
        concepts.add(scope, [rex], [item(rex, "Rex barks", one, two)], FADING, START)
        more = texts(concepts, scope, rex)
        for said in say(*["Rex barks"] * 5):
            concepts.add(scope, [rex], [item(rex, "Rex barks", said)], FADING, START)

        # Then only new sources count, up to the most
        assert (same, more) == ({"Rex barks": 3}, {"Rex barks": 6})
        assert texts(concepts, scope, rex) == {"Rex barks": 10}

    @pytest.mark.req("H52", partly="no item without a living source")
    def test_what_has_no_living_source_is_not_kept(
        self, concepts: PostgresConcepts, scope: Scope, other: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given a memory of this scope
        (one,) = say("Rex barks")
        rex, tom = named(scope, "Rex"), named(scope, "Tom")

        # When items come from nothing, from what is not there, and partly so; and from another scope's memory
        for sources in ((), (new_id(),), (one, new_id())):
            concepts.add(scope, [rex, tom], [item(rex, "lie", *sources)], FADING, START)
        concepts.add(other, [named(other, "Rex")], [item(named(other, "Rex"), "theirs", one)], FADING, START)

        # Then neither item nor concept is kept
        assert concepts.count(scope) == concepts.count(other) == {"concepts": 0, "items": 0, "instant": 0}

    @pytest.mark.req("H13", "H14", partly="items fade with idleness, access begins it anew")
    def test_an_item_loses_one_strength_a_day_unless_it_is_called_up(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]], admin: Admin
    ) -> None:
        # Given two items of strength three
        one, two = say("Rex barks", "Rex sleeps")
        rex = named(scope, "Rex")
        concepts.add(scope, [rex], [item(rex, "barks", one), item(rex, "sleeps", two)], FADING, START)

        # When days pass, and one is called up on the second, twice
        before = [texts(concepts, scope, rex, START + hours * timedelta(hours=1)) for hours in (0, 23, 25)]
        later = START + 2 * DAY
        called = [rex.id], [item_id(rex.id, "barks")]
        concepts.access([scope], *called, FADING, later, cooldown_s=3600)
        version = "SELECT xmin::text FROM concept_items WHERE id = %s"
        written = admin.execute(version, (called[1][0],)).fetchone()
        concepts.access([scope], *called, FADING, later + timedelta(minutes=30), cooldown_s=3600)

        # Then strength falls without a write, and starts again from the access, which is noted once an hour
        assert [known["barks"] for known in before] == [3, 3, 2]
        assert texts(concepts, scope, rex, START + 2.9 * DAY) == {"barks": 3, "sleeps": 1}
        assert texts(concepts, scope, rex, START + 3 * DAY) == {"barks": 2}
        assert texts(concepts, scope, rex, START + 5 * DAY) == {}
        assert admin.execute(version, (called[1][0],)).fetchone() == written

    def test_an_access_keeps_an_item_for_another_day(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given an item that is called up every day / When ten days have passed / Then its strength is what it was
        (one,) = say("Rex barks")
        rex = named(scope, "Rex")
        concepts.add(scope, [rex], [item(rex, "barks", one)], FADING, START)
        for hours in range(20, 240, 20):
            at = START + timedelta(hours=hours)
            concepts.access([scope], [rex.id], [item_id(rex.id, "barks")], FADING, at, cooldown_s=3600)
        assert texts(concepts, scope, rex, at) == {"barks": 3}

    @pytest.mark.req("H13", partly="removal at 0")
    def test_faded_items_are_removed_and_concepts_vanish_when_nothing_holds_them(
        self, concepts: PostgresConcepts, links: PostgresLinks, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given three concepts: two that met, and one alone; one item is found again later
        one, two = say("Rex and Tom", "Ann")
        rex, tom, ann = (named(scope, name) for name in ("Rex", "Tom", "Ann"))
        items = [item(rex, "r", one), item(tom, "t", one), item(ann, "a", two)]
        concepts.add(scope, [rex, tom, ann], items, FADING, START)
        links.connect(scope, meeting_links([rex.id, tom.id]), START)
        links.connect(scope, [NewLink(one, rex.id, "mention")], START)
        concepts.add(scope, [tom], [item(tom, "t", one, two)], FADING, START + 2 * DAY)

        # When their time has come
        later = START + 4 * DAY
        counts = (concepts.fade(scope, 1, later), concepts.fade(scope, 9, later), concepts.fade(scope, 9, later))

        # Then bounded runs remove what has faded; who meets no one vanishes, and who has items again stays
        assert counts == (1, 1, 0)
        assert concepts.vanishing(scope, 9) == [ann.id]
        links.remove_nodes(scope, [rex.id], later)
        assert sorted(concepts.vanishing(scope, 9)) == sorted([ann.id, rex.id])
        concepts.add(scope, [rex], [item(rex, "r again", two)], FADING, later)
        assert concepts.vanish(scope, [ann.id, rex.id, tom.id]) == 1
        assert {c.name for c in concepts.find([scope], [rex.id, tom.id, ann.id], later)} == {"Rex", "Tom"}

    def test_items_of_archived_memories_are_not_shown_until_they_are_restored(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]], admin: Admin
    ) -> None:
        # Given one item of one memory and one of two
        one, two = say("Rex", "Rex")
        rex = named(scope, "Rex")
        concepts.add(scope, [rex], [item(rex, "x", one), item(rex, "y", one, two)], FADING, START)

        # When a memory of both is archived / Then what has another one is shown
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (one,))
        assert texts(concepts, scope, rex) == {"y": 3}
        admin.execute("UPDATE memories SET status = 'active' WHERE id = %s", (one,))
        assert texts(concepts, scope, rex) == {"x": 3, "y": 3}

    def test_it_knows_which_memories_are_there_and_which_are_archived(
        self, concepts: PostgresConcepts, scope: Scope, other: Scope, say: Callable[..., list[str]], admin: Admin
    ) -> None:
        # Given a memory, an archived one, and one that is not there / When asked / Then it is said
        one, two = say("one", "two")
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (two,))
        assert concepts.sources([scope], [one, two, new_id()]) == {one: True, two: False}
        assert concepts.sources([other], [one, two]) == concepts.sources([scope], []) == {}

    def test_the_strongest_items_come_first_and_vectors_only_of_this_embedder(
        self, concepts: PostgresConcepts, pool: Database, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given a weak and a strong item with vectors
        one, two = say("weak", "strong")
        rex, vector = named(scope, "Rex"), np.ones(3, "<f4").tobytes()
        weak, strong = item(rex, "weak", one, vector=vector), item(rex, "strong", one, vector=vector)
        concepts.add(scope, [rex], [weak, strong], FADING, START)
        concepts.add(scope, [rex], [item(rex, "strong", two)], FADING, START)

        # When they are read / Then in this order, and another embedder sees no vectors
        mine = concepts.items([scope], [rex.id], 5, FADING, START)[rex.id]
        theirs = PostgresConcepts(pool, model="another").items([scope], [rex.id], 1, FADING, START)[rex.id]
        assert [(known.text, known.vector) for known in mine] == [("strong", vector), ("weak", vector)]
        assert [(known.text, known.vector) for known in theirs] == [("strong", None)]

    @pytest.mark.req("X8", "H52", partly="what is erased leaves nothing behind in the concepts")
    def test_erasing_a_memory_takes_every_item_made_of_it_along(
        self,
        concepts: PostgresConcepts,
        links: PostgresLinks,
        instants: PostgresInstants,
        records: PostgresRecords,
        scope: Scope,
        say: Callable[..., list[str]],
        admin: Admin,
    ) -> None:
        # Given items of one memory, of another and of both, links and a note
        one, two = say("secret of Rex and Tom", "Rex barks")
        rex, tom = named(scope, "Rex"), named(scope, "Tom")
        items = [item(rex, "secret", one), item(rex, "both", one, two), item(rex, "barks", two), item(tom, "t", one)]
        concepts.add(scope, [rex, tom], items, FADING, START)
        links.connect(scope, meeting_links([rex.id, tom.id]), START)
        instants.add(scope, note(one))

        # When the one is erased
        records.erase(scope, one, 60.0)

        # Then nothing that was made of it is left
        assert texts(concepts, scope, rex) == {"barks": 3}
        assert concepts.count(scope) == {"concepts": 1, "items": 1, "instant": 0}
        assert links.count(scope) == 0
        assert in_scope(admin, "concept_terms", scope) == 1
        assert in_scope(admin, "concept_sources", scope) == 1

    def test_erasing_a_scope_leaves_no_row_of_it(
        self,
        concepts: PostgresConcepts,
        instants: PostgresInstants,
        records: PostgresRecords,
        scope: Scope,
        say: Callable[..., list[str]],
        admin: Admin,
    ) -> None:
        # Given everything a scope can have
        one, _ = say("one", "two")
        collect(concepts, scope)
        rex = named(scope, "Rex")
        concepts.add(scope, [rex], [item(rex, "r", one)], FADING, START)
        instants.add(scope, note(one))

        # When it is erased / Then no table has a row of it, and it may start again
        records.erase(scope, None, 60.0)
        tables = ("concepts", "concept_terms", "concept_items", "concept_sources", "concept_snippets")
        assert [in_scope(admin, table, scope) for table in (*tables, "concept_progress", "instant_memories")] == [0] * 7
        say("new")
        assert collect(concepts, scope) == 1

    @pytest.mark.req("H34", "X32", partly="candidates come from the terms of a name")
    def test_names_alike_are_found_through_their_terms_and_never_through_all(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given names that share terms, and many that share one
        (one,) = say("everything")
        names = ["machine learning", "machine learning paper", "payroll", *(f"team {i}" for i in range(40))]
        found = [named(scope, name) for name in names]
        concepts.add(scope, found, [item(concept, "i", one) for concept in found], FADING, START)

        # When a new name looks for those like it
        alike = concepts.similar(scope, ["machine", "learning", "team"], postings=5, limit=4)

        # Then those that share most come first, and no more are looked at than allowed
        assert {concept.name for concept in alike[:2]} == {"machine learning", "machine learning paper"}
        assert len(alike) == 4
        assert concepts.similar(scope, ["nothing"], postings=5, limit=4) == []

    @pytest.mark.req("H12", partly="any concept with several items is picked")
    def test_picking_goes_round_by_id_and_finds_only_what_can_be_merged(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given concepts with one and with two items
        (one,) = say("everything")
        pairs = [named(scope, f"pair {i}") for i in range(5)]
        single = named(scope, "single")
        items = [item(concept, text, one) for concept in pairs for text in "xy"]
        concepts.add(scope, [*pairs, single], [*items, item(single, "x", one)], FADING, START)
        ids = sorted(concept.id for concept in pairs)

        # When some are picked from a point on / Then these, and at the end it starts again
        assert concepts.pick(scope, ids[1], 2) == ids[1:3]
        assert concepts.pick(scope, ids[4], 3) == [ids[4], *ids[:2]]
        assert sorted(concepts.pick(scope, str(uuid.UUID(int=2**128 - 1)), 99)) == ids

    @pytest.mark.req("H12", "H52", partly="the kept item has all sources")
    @pytest.mark.parametrize("text", ["long", "a third text"])
    def test_one_item_stands_for_others_with_their_sources_and_strength(
        self, concepts: PostgresConcepts, scope: Scope, say: Callable[..., list[str]], text: str
    ) -> None:
        # Given two items
        one, two = say("one", "two")
        rex = named(scope, "Rex")
        long, short = item(rex, "long", one), item(rex, "short", two)
        concepts.add(scope, [rex], [long, short], FADING, START)
        kept = item(rex, text, one, two)
        others = [known.id for known in (long, short) if known.id != kept.id]

        # When one of them or a third stands for both, and this is repeated
        later = START + DAY
        done = concepts.replace(scope, kept, others, FADING, later)
        again = concepts.replace(scope, kept, others, FADING, later)

        # Then it has both sources and the strength of both
        found = concepts.items([scope], [rex.id], 5, FADING, later)[rex.id]
        assert (done, again) == (True, False)
        assert [(known.text, set(known.sources), known.strength) for known in found] == [(text, {one, two}, 6)]

    @pytest.mark.req("X38", partly="row-level changes of build, forget and consolidate")
    def test_adding_merging_fading_and_erasing_at_once_leave_a_whole_graph(
        self,
        concepts: PostgresConcepts,
        records: PostgresRecords,
        scope: Scope,
        say: Callable[..., list[str]],
        admin: Admin,
    ) -> None:
        # Given messages and three concepts
        ids = say(*(f"message {i}" for i in range(24)))
        names = [named(scope, name) for name in ("Rex", "Tom", "Ann")]

        def work(number: int) -> None:
            draw = random.Random(number)
            for step in range(20):
                at = START + step * timedelta(hours=6)
                source, concept = ids[draw.randrange(24)], names[draw.randrange(3)]
                concepts.add(scope, names, [item(c, f"{source} {number % 3}", source) for c in names], FADING, at)
                known = concepts.items([scope], [concept.id], 5, FADING, at)[concept.id]
                if len(known) > 1:
                    concepts.replace(scope, known[0], [known[1].id], FADING, at)
                concepts.fade(scope, 5, at)
                concepts.vanish(scope, concepts.vanishing(scope, 5))
                if step == 10 and number < 3:
                    records.erase(scope, ids[number], 60.0)

        # When six workers do everything at once
        with ThreadPoolExecutor(6) as threads:
            list(threads.map(work, range(6)))

        # Then no item is without a source or a concept, none comes from what was erased, and none is doubled
        orphans = """SELECT count(*) FROM concept_items i WHERE i.ns = %s AND (
            NOT EXISTS (SELECT FROM concept_sources s WHERE s.item_id = i.id)
            OR EXISTS (SELECT FROM concept_sources s WHERE s.item_id = i.id AND s.memory_id = ANY (%s::uuid[])))"""
        assert admin.execute(orphans, (scope.ns, ids[:3])).fetchone() == (0,)
        empty = """SELECT count(*) FROM concepts c WHERE c.ns = %s AND NOT c.empty
            AND NOT EXISTS (SELECT FROM concept_items i WHERE i.concept_id = c.id)"""
        assert admin.execute(empty, (scope.ns,)).fetchone() == (0,)

    @pytest.mark.req("C24", "X1", partly="concepts of other scopes")
    def test_no_scope_sees_or_changes_the_concepts_of_another(
        self, concepts: PostgresConcepts, scope: Scope, other: Scope, say: Callable[..., list[str]], service: Admin
    ) -> None:
        # Given a concept of this scope
        (one,) = say("Rex barks")
        rex = named(scope, "Rex")
        concepts.add(scope, [rex], [item(rex, "barks", one)], FADING, START)

        # When another scope tries everything with its ids
        late = START + 99 * DAY
        assert concepts.find([other], [rex.id], START) == []
        assert concepts.items([other], [rex.id], 5, FADING, START) == {rex.id: []}
        assert concepts.similar(other, ["rex"], postings=9, limit=9) == []
        assert not concepts.replace(other, item(rex, "lie", one), [item_id(rex.id, "barks")], FADING, START)
        assert (concepts.fade(other, 9, late), concepts.vanish(other, [rex.id])) == (0, 0)
        concepts.access([other], [rex.id], [item_id(rex.id, "barks")], FADING, late, cooldown_s=0)
        service.execute("SELECT set_config('biem.ns', %s, false)", (other.ns,))
        tables = ("concepts", "concept_terms", "concept_items", "concept_sources")
        seen = [service.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables]

        # Then it sees and changes nothing
        assert seen == [(0,)] * 4
        assert texts(concepts, scope, rex) == {"barks": 3}


def note(memory_id: str, created_at: datetime = START, conversation: str = "chat") -> InstantMemory:
    return InstantMemory(new_id(), memory_id, conversation, f"note of {memory_id}", ("rex",), created_at)


class TestInstants:
    @pytest.mark.req("H17", "H47", partly="the rows")
    def test_a_note_is_found_in_its_conversation_and_counts_as_viewed(
        self, instants: PostgresInstants, scope: Scope, other: Scope, say: Callable[..., list[str]], admin: Admin
    ) -> None:
        # Given notes of two conversations
        one, two, three = say("one", "two", "three")
        (far,) = say("far", conversation="another")
        made = [note(one), note(two, START + DAY), note(three, START + 2 * DAY)]
        assert all(instants.add(scope, made_) for made_ in made)
        instants.add(scope, note(far))

        # When one conversation is looked back at
        found = instants.recent(scope, "chat", 2, START + 3 * DAY)

        # Then its newest come first with all that a row has: id, chat id, text, keywords, creation and last view
        assert [(n.id, n.memory_id, n.conversation, n.text, n.keywords, n.created_at) for n in found] == [
            (m.id, m.memory_id, "chat", m.text, ("rex",), m.created_at) for m in (made[2], made[1])
        ]
        assert {n.viewed_at for n in found} == {START + 3 * DAY}
        viewed = "SELECT viewed_at FROM instant_memories WHERE id = %s"
        assert admin.execute(viewed, (made[0].id,)).fetchone() == (None,)
        assert instants.recent(other, "chat", 9, START) == []

    def test_a_message_has_one_note_and_none_when_it_is_gone_or_archived(
        self, instants: PostgresInstants, scope: Scope, say: Callable[..., list[str]], admin: Admin
    ) -> None:
        # Given a message with a note
        one, two = say("one", "two")
        assert instants.add(scope, note(one))

        # When it is noted again, another is not there, and a third is archived / Then none is added or shown
        admin.execute("UPDATE memories SET status = 'archived' WHERE id = ANY (%s::uuid[])", ([one, two],))
        assert not instants.add(scope, note(one))
        assert not instants.add(scope, note(new_id()))
        assert not instants.add(scope, note(two))
        assert instants.recent(scope, "chat", 9, START) == []

    def test_many_notes_are_kept_at_once_and_those_that_one_alone_would_be_refused_are_left_out(
        self, instants: PostgresInstants, scope: Scope, other: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given three messages, one of them noted already
        one, two, three = say("one", "two", "three")
        instants.add(scope, note(one))

        # When all are noted in one call, one of them twice, with one that is not there
        kept = instants.add_all(scope, [note(key) for key in (three, one, two, two, new_id())])

        # Then the others are, once; from another scope none is, and nothing is no work
        assert kept == 2
        assert {n.memory_id for n in instants.recent(scope, "chat", 9, START)} == {one, two, three}
        assert instants.add_all(other, [note(two)]) == 0
        assert instants.add_all(scope, []) == 0

    def test_notes_are_due_once_and_forgotten_only_when_they_are_in_the_concepts(
        self, instants: PostgresInstants, scope: Scope, other: Scope, say: Callable[..., list[str]]
    ) -> None:
        # Given three notes
        made = [note(key, START + i * DAY) for i, key in enumerate(say("one", "two", "three"))]
        for one in made:
            instants.add(scope, one)

        # When those until the second day are built, by this scope only
        due = instants.due(scope, START + DAY, 9)
        assert [n.id for n in due] == [m.id for m in made[:2]]
        assert [n.id for n in instants.due(scope, START + DAY, 1)] == [made[0].id]
        instants.done(other, [made[0].id], START)
        instants.done(scope, [made[0].id], START + DAY)

        # Then they are not due again, and only they can be forgotten
        assert [n.id for n in instants.due(scope, START + DAY, 9)] == [made[1].id]
        assert instants.forget(other, START + 9 * DAY, 9) == 0
        assert instants.forget(scope, START + 9 * DAY, 9) == 1
        assert len(instants.recent(scope, "chat", 9, START)) == 2
