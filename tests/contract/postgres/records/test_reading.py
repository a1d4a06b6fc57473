"""What `Records` promises about reads: candidates, filters, words, on a real PostgreSQL."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from biem.adapters.postgres.records import PostgresRecords
from biem.domain.scope import Scope
from biem.ports import Filter
from tests.contract.conftest import (
    ANY,
    Admin,
    instant,
    write,
)
from tests.contract.postgres.records.rows import activate, candidates, remember
from tests.support.fakes import START, HeldClock


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

        # When it is looked for / Then no one knows it
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
            (Filter(min_trust=1), {"glad", "day old", "cold"}),
        ],
    )
    def test_energy_as_it_is_now_mood_and_trust_may_be_asked_for(
        self, records: PostgresRecords, scope: Scope, admin: Admin, where: Filter, expected: set[str]
    ) -> None:
        """B14's last two fields; the others, and that values are escaped, have tests here and with the vector index."""
        # Given memories of one energy, of which two have faded since, of three moods, one of them not trusted
        hours = {"fresh": 0.0, "glad": 0.0, "day old": 7.0, "cold": 60.0}
        moods = {"glad": 0.3, "cold": -0.5}
        names = {}
        for name, age in hours.items():
            key = remember(records, scope, f"common {name}")
            names[key] = name
            admin.execute(
                "UPDATE memories SET anchor_at = anchor_at - make_interval(hours => %s), sentiment = %s, trust = %s"
                " WHERE id = %s",
                (int(age), moods.get(name, 0.0), int(name != "fresh"), key),
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
