"""The promises of `Links` on a real PostgreSQL."""

import re
import time
import uuid
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg
import pytest
from psycopg import sql

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.link import Link, LinkType, Moment, NewLink
from biem.domain.node import new_id
from biem.domain.policies.graph import GraphPolicy
from biem.domain.scope import Scope
from biem.engine.graph.associations import Associations
from biem.ports.links import Weakened
from biem.telemetry import Telemetry
from tests.contract.conftest import Admin, write
from tests.support.fakes import START, HeldClock, eventually

ALL_TYPES: tuple[LinkType, ...] = ("temporal", "semantic", "causal", "mention", "cooccurrence")
HOUR = timedelta(hours=1)


@pytest.fixture
def links(pool: Database) -> PostgresLinks:
    return PostgresLinks(pool)


@pytest.fixture
def elsewhere(database: str) -> Iterator[PostgresLinks]:
    """The adapter of another process."""
    opened = Database(database, pool_size=4, retry_s=10.0)
    yield PostgresLinks(opened)
    opened.close()


def memories(records: PostgresRecords, scope: Scope, count: int) -> list[str]:
    """Ids of that many new memories, in ascending order."""
    rows = [write(f"memory {number}", memory_id=new_id()) for number in range(count)]
    return sorted(written.id for written in records.remember(scope, rows))


def associations(links: PostgresLinks, **policy: int) -> Associations:
    return Associations(links=links, clock=HeldClock(), policy=GraphPolicy(**policy), telemetry=Telemetry())


def values(links: PostgresLinks, scope: Scope, node: str) -> list[tuple[str, str, str, float, int]]:
    return [(link.source, link.target, link.type, link.weight, link.strength) for link in links.of(scope, node)]


def version(links: PostgresLinks, scope: Scope) -> int:
    return links.changes({scope: -1})[scope].version


def archive(admin: Admin, *ids: str) -> None:
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = ANY (%s::uuid[])", (list(ids),))


# -- connect ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("B24", partly="links")
@pytest.mark.req("B23", partly="the encoder's part")
def test_a_link_is_kept_with_its_values_and_times(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given two memories
    a, b = memories(records, scope, 2)

    # When they are linked
    assert links.connect(scope, [NewLink(a, b, "semantic", 0.83, 8)], START) == 1

    # Then the row is there, found from either end
    expected = Link(a, b, "semantic", 0.83, 8, START, START)
    assert list(links.of(scope, a)) == list(links.of(scope, b)) == [expected]
    assert admin.execute(
        "SELECT ns, link_type, weight, strength FROM crystal_links WHERE source_id = %s", (a,)
    ).fetchall() == [(scope.ns, "semantic", 0.83, 8)]


@pytest.mark.req("C4", "X37")
@pytest.mark.req("B27")
def test_finding_a_link_again_raises_it_and_never_lowers_it(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given a link grown to 25
    a, b = memories(records, scope, 2)
    links.connect(scope, [NewLink(a, b, "semantic", 0.8, 25)], START)

    # When a weaker and then a heavier likeness is found
    links.connect(scope, [NewLink(b, a, "semantic", 0.71, 7)], START + HOUR)
    links.connect(scope, [NewLink(a, b, "semantic", 0.9, 9)], START)

    # Then the row has the best of all, its first and its last time
    assert list(links.of(scope, a)) == [Link(a, b, "semantic", 0.9, 25, START, START + HOUR)]


@pytest.mark.req("H36", "H4")
def test_ten_meetings_give_strength_ten_on_another_connection(
    links: PostgresLinks, elsewhere: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given two nodes / When they meet ten times, in either order, at one and the same instant
    a, b = memories(records, scope, 2)
    for number in range(10):
        pair = (a, b) if number % 2 else (b, a)
        links.connect(scope, [NewLink(*pair, "cooccurrence", strength=0, add=1)], START)

    # Then another connection finds one edge of strength 10
    assert values(elsewhere, scope, a) == [(a, b, "cooccurrence", 1.0, 10)]


@pytest.mark.req("X7")
def test_growth_survives_a_restart(
    links: PostgresLinks, elsewhere: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given a graph that is loaded / When a link grows
    a, b = memories(records, scope, 2)
    links.connect(scope, [NewLink(a, b, "semantic", 0.75, 7)], START)
    links.connect(scope, [NewLink(a, b, "semantic", 0.95, 9, add=2)], START)

    # Then a process that starts now spreads over the grown link
    graph = associations(elsewhere)
    graph.refresh(scope)
    assert graph.neighbours(scope, b) == [Link(a, b, "semantic", 0.95, 11)]


@pytest.mark.req("B18", "X11")
@pytest.mark.req("C3", partly="several types between a pair")
def test_links_of_several_types_join_the_same_nodes(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given two memories / When they are linked in every way at once
    a, b = memories(records, scope, 2)
    assert links.connect(scope, [NewLink(a, b, kind) for kind in ALL_TYPES], START) == 5

    # Then all of them are there, and restored
    graph = associations(links)
    graph.refresh(scope)
    assert {link.type for link in links.of(scope, a)} == set(ALL_TYPES)
    assert {link.type for link in graph.neighbours(scope, a)} == set(ALL_TYPES)


def test_ends_that_are_no_nodes_of_the_scope_are_left_out(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given memories here, there, archived and nowhere
    a, b, gone = memories(records, scope, 3)
    (foreign,) = memories(records, other, 1)
    archive(admin, gone)
    ends = [foreign, gone, str(uuid.uuid4()), "", "'; DROP TABLE crystal_links; --", b.upper(), a]

    # When links to all of them are written
    written = links.connect(scope, [NewLink(a, end, "causal") for end in [*ends, b]], START)

    # Then only the memory here is linked, once
    assert written == links.count(scope) == 1
    assert links.count(other) == 0


@pytest.mark.req("X20", partly="links")
def test_another_scope_neither_sees_nor_changes_a_link(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, other: Scope, service: psycopg.Connection
) -> None:
    # Given a link here
    a, b = memories(records, scope, 2)
    memories(records, other, 1)
    links.connect(scope, [NewLink(a, b, "semantic", 0.8, 8)], START)
    before = links.of(scope, a)

    # When the other scope tries everything with its ids
    assert links.connect(other, [NewLink(a, b, "semantic", 1.0, 99)], START + HOUR) == 0
    assert links.park(other, [a], START) == links.remove_nodes(other, [a], START) == 0
    assert links.redirect(other, [a], b, START) == links.restore(other, [a], START) == 0
    assert links.weaken(other, START + HOUR, 10, START + HOUR, types=ALL_TYPES) == Weakened(0, 0)
    assert list(links.of(other, a)) == []
    assert links.changes({other: -1})[other].links == []
    graph = associations(links)
    graph.refresh(other)

    # Then it reaches nothing and the link is as it was; by hand, row-level security hides it
    assert graph.spread(other, {a: 1.0}) == {a: 1.0}
    assert links.of(scope, a) == before
    service.execute("SELECT set_config('biem.ns', %s, false)", (other.ns,))
    assert service.execute("SELECT count(*) FROM crystal_links WHERE source_id = %s", (a,)).fetchall() == [(0,)]


def test_work_done_once_adds_nothing_when_it_is_repeated(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given a job that adds, larger than one transaction
    nodes = memories(records, scope, 40)
    meet = [NewLink(a, b, "cooccurrence", strength=0, add=1) for a in nodes for b in nodes if a < b]
    assert len(meet) > 500

    # When it is repeated under its name, and then done under another
    written = [links.connect(scope, meet, START, once=name) for name in ("night 1", "night 1", "night 2")]

    # Then the repetition added nothing
    assert written == [len(meet), 0, len(meet)]
    assert {link.strength for link in links.changes({scope: -1})[scope].links} == {2}


def test_a_repetition_after_a_lost_answer_adds_nothing(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, database: str, admin: Admin
) -> None:
    # Given a connection that the server cuts after the commit, before the answer is read
    a, b = memories(records, scope, 2)
    losing = Database(database, pool_size=1, retry_s=10.0)
    lost: list[int] = []

    class Losing(PostgresLinks):
        def _retrying(self, change):  # type: ignore[no-untyped-def]
            def cut(connection):  # type: ignore[no-untyped-def]
                answer = change(connection)
                if not lost:
                    lost.append(connection.info.backend_pid)
                    admin.execute("SELECT pg_terminate_backend(%s)", (lost[0],))
                    connection.execute("SELECT 1")
                return answer

            return super()._retrying(cut)

    # When the pair meets
    Losing(losing).connect(scope, [NewLink(a, b, "cooccurrence", strength=0, add=1)], START)
    losing.close()

    # Then it met once
    assert lost
    assert values(links, scope, a) == [(a, b, "cooccurrence", 1.0, 1)]


def test_a_link_removed_before_starts_again(links: PostgresLinks, records: PostgresRecords, scope: Scope) -> None:
    # Given a strong link that was removed
    a, b = memories(records, scope, 2)
    links.connect(scope, [NewLink(a, b, "semantic", 0.99, 20)], START)
    links.remove_nodes(scope, [a], START)

    # When it is found again
    links.connect(scope, [NewLink(a, b, "semantic", 0.75, 7)], START + HOUR)

    # Then nothing of the old one is left
    assert list(links.of(scope, a)) == [Link(a, b, "semantic", 0.75, 7, START + HOUR, START + HOUR)]


def test_linking_into_an_erased_scope_does_nothing(links: PostgresLinks, scope: Scope) -> None:
    # Given a scope no one wrote to / When links are written there / Then there are none
    new = [NewLink(new_id(), new_id(), "cooccurrence", strength=0, add=1)]
    assert links.connect(scope, new, START, once="work") == links.count(scope) == 0
    assert links.prune(scope, 50, 100, START) == links.compact(scope, START, 100) == 0


@pytest.mark.long
def test_a_big_write_of_links_lets_memories_be_acknowledged_meanwhile(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given 20,000 links on their way into a scope
    nodes = memories(records, scope, 201)
    many = [NewLink(a, b, "semantic", 0.8, 8) for a in nodes for b in nodes if a < b]
    written = 0

    # When memories are written to it one after the other until all links are there
    with ThreadPoolExecutor(1) as thread:
        job = thread.submit(links.connect, scope, many, START)
        while not job.done():
            records.remember(scope, [write("meanwhile")])
            written += 1

    # Then each waited for one portion at most: who waits for the whole gets in once before it and once after it
    assert job.result() == len(many)
    assert written >= 10


# -- changes ---------------------------------------------------------------------------------------------------------


@pytest.mark.req("C37", partly="without a message: the version check is the feed")
def test_changes_are_what_happened_since_the_version_known(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given a graph known at a version
    a, b, c = memories(records, scope, 3)
    links.connect(scope, [NewLink(a, b, "semantic", 0.8, 8), NewLink(b, c, "causal")], START)
    everything = links.changes({scope: -1})[scope]
    assert everything.complete
    assert {link.key for link in everything.links} == {(a, b, "semantic"), (b, c, "causal")}

    # When nothing happens / Then there are no changes
    same = links.changes({scope: everything.version})[scope]
    assert (same.version, same.complete, same.links, same.removed) == (everything.version, False, [], [])

    # When one link grows, one is removed and one is found again unchanged
    links.connect(scope, [NewLink(a, b, "semantic", 0.9, 9)], START)
    links.connect(scope, [NewLink(a, b, "semantic", 0.9, 9)], START + HOUR)
    links.remove_nodes(scope, [c], START)

    # Then just that is shown
    news = links.changes({scope: everything.version})[scope]
    assert news.version > everything.version
    assert not news.complete
    assert news.links == [Link(a, b, "semantic", 0.9, 9)]
    assert news.removed == [(b, c, "causal")]


def test_scopes_are_asked_for_together_and_unknown_ones_are_left_out(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, other: Scope
) -> None:
    # Given a project and its user with memories
    project = Scope(scope.tenant, scope.user, "project")
    (a, b), (c, d) = memories(records, project, 2), memories(records, scope, 2)
    links.connect(project, [NewLink(a, b, "causal")], START)
    links.connect(scope, [NewLink(c, d, "causal")], START)

    # When all are asked for, with one that does not exist
    found = links.changes({project: -1, scope: version(links, scope), other: -1})

    # Then each has its own changes
    assert set(found) == {project, scope}
    assert [link.key for link in found[project].links] == [(a, b, "causal")]
    assert found[scope].links == []


@pytest.mark.req("C37", "A61", partly="links")
def test_a_transaction_that_began_first_and_commits_last_is_not_missed(
    links: PostgresLinks,
    elsewhere: PostgresLinks,
    records: PostgresRecords,
    scope: Scope,
    admin: Admin,
    database: str,
) -> None:
    # Given a transaction that took its version and is held open before its commit
    a, b, c = memories(records, scope, 3)
    graph = associations(elsewhere)
    graph.refresh(scope)
    with psycopg.connect(database) as slow, ThreadPoolExecutor(1) as thread:
        slow.execute("SELECT FROM scopes WHERE ns = %s FOR NO KEY UPDATE", (scope.ns,))
        slow.execute(
            "WITH v AS ("
            "UPDATE scopes SET graph_version = nextval('graph_versions') WHERE ns = %s RETURNING graph_version"
            ") INSERT INTO crystal_links (ns, source_id, target_id, link_type, version)"
            " SELECT %s, %s, %s, 'causal', graph_version FROM v",
            (scope.ns, scope.ns, a, b),
        )

        # When a second one comes, and a reader looks meanwhile
        later = thread.submit(links.connect, scope, [NewLink(b, c, "causal")], START)
        eventually(lambda: admin.execute("SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'").rowcount)
        graph.refresh(scope)
        assert graph.spread(scope, {a: 1.0}) == {a: 1.0}
        slow.commit()
        later.result()

    # Then after both the reader knows both
    graph.refresh(scope)
    assert graph.spread(scope, {a: 1.0}) == {a: 1.0, b: 0.5, c: 0.25}


def test_many_writers_and_readers_of_one_scope_end_up_with_the_same_graph(
    links: PostgresLinks, elsewhere: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given two readers and eight writers of links that grow, vanish and come back
    nodes = memories(records, scope, 12)
    readers = [associations(links), associations(elsewhere)]

    def churn(number: int) -> None:
        for turn in range(12):
            a, b = nodes[(number + turn) % 12], nodes[(number * 5 + turn * 7 + 1) % 12]
            adapter = (links, elsewhere)[number % 2]
            adapter.connect(scope, [NewLink(a, b, "cooccurrence", strength=0, add=1), NewLink(a, b, "causal")], START)
            if turn % 3 == 0:
                adapter.remove_nodes(scope, [b], START)
            readers[number % 2].refresh(scope)
            assert readers[number % 2].spread(scope, {a: 1.0})[a] == 1.0

    # When all work at once
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(churn, range(8)))

    # Then both readers have what is in PostgreSQL, link by link
    for reader in readers:
        reader.refresh(scope)
        for node in nodes:
            kept = {(link.key, link.weight, link.strength) for link in links.of(scope, node)}
            assert {(link.key, link.weight, link.strength) for link in reader.neighbours(scope, node)} == kept


@pytest.mark.req("C37")
@pytest.mark.req("B17", partly="recall over it belongs to the read path")
def test_a_link_made_on_one_connection_is_used_by_the_next_spreading_on_another(
    links: PostgresLinks, elsewhere: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given another graph, on its own connection, that was loaded
    a, b, c = memories(records, scope, 3)
    links.connect(scope, [NewLink(a, b, "temporal")], START)
    there = associations(elsewhere)
    there.refresh(scope)

    # When a link is made, and one removed, here / Then the other uses that at once, from either end
    links.connect(scope, [NewLink(b, c, "temporal")], START)
    there.refresh(scope)
    assert there.spread(scope, {a: 1.0}) == {a: 1.0, b: 0.5, c: 0.25}
    assert there.spread(scope, {c: 1.0}) == {a: 0.25, b: 0.5, c: 1.0}
    links.remove_nodes(scope, [a], START)
    there.refresh(scope)
    assert there.spread(scope, {c: 1.0}) == {b: 0.5, c: 1.0}


@pytest.mark.req("X12")
@pytest.mark.req("X10")
@pytest.mark.req("B25", partly="recall over it belongs to the read path")
def test_a_restart_restores_50_000_links_with_type_owner_and_both_directions(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given 50,000 links of all types
    nodes = memories(records, scope, 500)
    memories(records, other, 1)
    rows = [
        (nodes[place], nodes[(place + step) % 500], ALL_TYPES[step % 5], 0.5 + step / 1000, step)
        for place in range(500)
        for step in range(1, 101)
    ]
    admin.execute(
        "INSERT INTO crystal_links (ns, source_id, target_id, link_type, weight, strength, version)"
        " SELECT %s, *, 1 FROM unnest(%s::text[], %s::text[], %s::text[], %s::float8[], %s::int[])",
        (scope.ns, *(list(column) for column in zip(*rows, strict=True))),
    )

    # When a process starts
    graph = associations(links)
    began = time.process_time()  # others may use the machine, too; the wall time is benchmarks.graph's
    graph.refresh(scope)
    took = time.process_time() - began

    # Then it has them all, soon, and another scope has none
    restored = {(*link.key, link.weight, link.strength) for node in nodes for link in graph.neighbours(scope, node)}
    assert restored == set(rows)
    assert graph.edges == 50_000
    assert took < 2.0
    assert graph.neighbours(other, nodes[0]) == []
    first, last = nodes[0], nodes[100]
    assert last in graph.spread(scope, {first: 1.0})
    assert first in graph.spread(scope, {last: 1.0})

    # And what a later process calls up from it is the same
    later = associations(links)
    later.refresh(scope)
    assert later.spread(scope, {first: 1.0, nodes[7]: 0.5}) == graph.spread(scope, {first: 1.0, nodes[7]: 0.5})


def test_who_knows_less_than_what_is_kept_gets_everything(
    links: PostgresLinks, elsewhere: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given a process that slept while a link was removed and the trace of it, too
    a, b, c = memories(records, scope, 3)
    links.connect(scope, [NewLink(a, b, "causal"), NewLink(a, c, "causal")], START)
    sleeper = associations(elsewhere)
    sleeper.refresh(scope)
    before = version(links, scope)
    links.remove_nodes(scope, [b], START)
    after = version(links, scope)
    assert links.compact(scope, START, 100) == 0
    assert links.compact(scope, START + HOUR, 100) == 1

    # When both that version and the newer one are asked about
    assert links.changes({scope: before})[scope].complete
    assert not links.changes({scope: after})[scope].complete
    assert links.changes({scope: after + 1})[scope].complete

    # Then the sleeper wakes up without a ghost
    sleeper.refresh(scope)
    assert sleeper.spread(scope, {a: 1.0}) == {a: 1.0, c: 0.5}


@pytest.mark.req("X16", partly="erasing reaches the graph of every process")
def test_erasing_leaves_no_ghost_in_a_graph_loaded_elsewhere(
    links: PostgresLinks, elsewhere: PostgresLinks, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given a chain known to a graph on another connection
    a, b, c = memories(records, scope, 3)
    links.connect(scope, [NewLink(a, b, "causal"), NewLink(b, c, "causal")], START, once="work")
    there = associations(elsewhere)
    there.refresh(scope)

    # When its middle is erased / Then nothing spreads over it any more
    records.erase(scope, b, 0.0)
    there.refresh(scope)
    assert there.spread(scope, {a: 1.0}) == {a: 1.0}
    assert there.edges == links.count(scope) == 0

    # When the whole scope is erased and rebuilt / Then the old graph is not taken for the new
    records.erase(scope, None, 0.0)
    assert admin.execute("SELECT FROM link_work WHERE ns = %s", (scope.ns,)).rowcount == 0
    assert links.changes({scope: 0}) == {}
    d, e = memories(records, scope, 2)
    links.connect(scope, [NewLink(d, e, "causal")], START)
    there.refresh(scope)
    assert there.spread(scope, {a: 1.0, d: 1.0}) == {a: 1.0, d: 1.0, e: 0.5}


def plan(pool: Database, scope: Scope, name: str, row: dict[str, object]) -> str:
    """How the service runs a statement: what is scanned, by which condition."""
    with pool.connection() as connection, connection.transaction():
        connection.execute(pool.sql["see_scopes"], (scope.ns,))
        statement = sql.SQL("EXPLAIN (COSTS OFF) ") + sql.SQL(pool.sql[name])
        return "\n".join(line[0] for line in connection.execute(statement, {"ns": scope.ns, **row}))


@pytest.mark.req("X32", partly="statements of the graph")
@pytest.mark.parametrize("analyzed", [False, True])
def test_no_statement_reads_the_links_or_memories_of_a_whole_scope(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, pool: Database, admin: Admin, analyzed: bool
) -> None:
    # Given many links, with statistics from before and from after
    nodes = memories(records, scope, 1_000)
    if analyzed:
        admin.execute("ANALYZE crystal_links, memories, scopes")
    links.connect(scope, [NewLink(nodes[0], node, kind) for node in nodes[1:] for kind in ALL_TYPES], START)
    if analyzed:
        admin.execute("ANALYZE crystal_links, memories, scopes")
    new = {"sources": nodes[:2], "targets": nodes[1:3], "types": ["causal"] * 2, "weights": [1.0] * 2}
    statements: dict[str, dict[str, object]] = {
        "links_connect": {**new, "strengths": [1, 1], "plus": [0, 0], "at": START, "once": "work"},
        "links_changes": {"scopes": [scope.ns], "since": [version(links, scope)]},
        "links_weaken": {"types": ["causal"], "limit": 9, "idle_before": START, "at": START, "share": 1.0, "salt": 0},
        "links_prune": {"limit": 9, "most": 50, "at": START},
        "links_drop": {"ids": nodes[:2], "parked": True, "absent": True, "at": START},
        "links_parked": {"ids": nodes[:2]},
        "links_restore": {"ids": nodes[:2], "at": START},
        "links_of": {"ids": nodes[:2]},
        "links_compact": {"before": START, "limit": 9},
    }

    # When they are planned
    for name, row in statements.items():
        text = plan(pool, scope, name, row)

        # Then every scan of the big tables has a condition on more than the scope
        assert "Seq Scan on crystal_links" not in text, name
        assert "Seq Scan on memories" not in text, name
        scans = re.findall(r"using (?:crystal_links|memories)\w* on .*\n\s+Index Cond: (.*)", text)
        scans += re.findall(r"Bitmap Index Scan on (?:crystal_links|memories)\w*\n\s+Index Cond: (.*)", text)
        assert scans, name
        assert all(re.search(r"version >|touched_at <|source_id|target_id|\bid =", condition) for condition in scans), (
            name,
            text,
        )


# -- forgetting ------------------------------------------------------------------------------------------------------


@pytest.mark.req("H13", partly="links; nodes and items belong to concepts")
@pytest.mark.req("C1")  # the laws of energy, of w and of the ranking's time: unit/domain/test_energy
def test_idle_links_lose_one_strength_a_day_and_go_at_zero(
    links: PostgresLinks, elsewhere: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given links of strength 3 and 1, and one touched a moment ago
    a, b, c, d = memories(records, scope, 4)
    links.connect(scope, [NewLink(a, b, "cooccurrence", 1.0, 3), NewLink(b, c, "cooccurrence", 1.0, 1)], START)
    later = START + 24 * HOUR
    links.connect(scope, [NewLink(c, d, "cooccurrence", 1.0, 1)], later - timedelta(seconds=1))

    # When a day goes by and memories are written / Then that alone weakens nothing
    memories(records, scope, 2)
    assert values(elsewhere, scope, a) == [(a, b, "cooccurrence", 1.0, 3)]

    # When the forgetting runs, twice
    runs = [links.weaken(scope, START, 100, later, types=["cooccurrence"]) for _ in range(2)]

    # Then the idle ones lost one, just once, and another process sees it
    assert runs == [Weakened(1, 1), Weakened(0, 0)]
    assert values(elsewhere, scope, a) == [(a, b, "cooccurrence", 1.0, 2)]
    assert values(elsewhere, scope, c) == [(c, d, "cooccurrence", 1.0, 1)]

    # When a second day has gone by / Then it goes on
    assert links.weaken(scope, later, 100, later + 24 * HOUR, types=["cooccurrence"]) == Weakened(1, 1)
    assert values(elsewhere, scope, a) == [(a, b, "cooccurrence", 1.0, 1)]


def test_links_of_other_types_and_of_memories_in_use_do_not_weaken(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given idle links, one of another type, one with an end that was returned an hour ago
    a, b, c = memories(records, scope, 3)
    links.connect(scope, [NewLink(a, b, "temporal"), NewLink(a, c, "cooccurrence")], START)
    records.touch(scope, [c], START + 24 * HOUR)
    before = version(links, scope)

    # When the forgetting of co-occurrences runs
    told = links.weaken(scope, START + HOUR, 100, START + 25 * HOUR, types=["cooccurrence"])

    # Then nothing changed, and the used one is idle since its use
    assert told == Weakened(0, 0)
    assert version(links, scope) == before
    assert links.of(scope, c)[0].touched_at == START + 24 * HOUR
    assert links.weaken(scope, START + 25 * HOUR, 9, START + 49 * HOUR, types=["cooccurrence"]) == Weakened(0, 1)


@pytest.mark.req("C30")
def test_forgetting_is_bounded_and_may_take_a_sample(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given 1,225 idle links
    nodes = memories(records, scope, 50)
    links.connect(scope, [NewLink(a, b, "semantic", 0.8, 9) for a in nodes for b in nodes if a < b], START)
    later = START + 24 * HOUR

    # When a hundredth is drawn, then a tenth, and then at most 600 are taken, twice
    drawn = links.weaken(scope, START, 2_000, later, types=ALL_TYPES, share=0.01, salt=3).weakened
    assert 0 < drawn < 40
    drawn += links.weaken(scope, START, 2_000, later, types=ALL_TYPES, share=0.1, salt=7).weakened
    rest = [links.weaken(scope, START, 600, later, types=ALL_TYPES).weakened for _ in range(3)]

    # Then each link lost one
    assert 60 < drawn < 230
    assert rest == [600, 625 - drawn, 0]
    assert {link.strength for link in links.changes({scope: -1})[scope].links} == {8}


@pytest.mark.req("H51", partly="edges")
def test_a_node_keeps_its_50_strongest_links(links: PostgresLinks, records: PostgresRecords, scope: Scope) -> None:
    # Given a hub with 130 links, in and out, and its rivals
    hub, *others = memories(records, scope, 131)
    found = [
        NewLink(*((hub, other) if place % 2 else (other, hub)), "causal", weight=place / 130, strength=1)
        for place, other in enumerate(others)
    ]
    links.connect(scope, found, START)

    # When the graph is pruned until there is nothing to do
    removed = [links.prune(scope, 50, 60, START) for _ in range(8)]

    # Then the heaviest are left, and pruning has stopped writing
    assert sum(removed) == 80
    assert removed[-1] == 0
    assert {link.key for link in links.of(scope, hub)} == {link.key for link in found[-50:]}
    before = version(links, scope)
    assert links.prune(scope, 50, 1_000, START) == 0
    assert version(links, scope) == before

    # When one more comes / Then the weakest goes for it
    (last,) = memories(records, scope, 1)
    links.connect(scope, [NewLink(hub, last, "causal")], START)
    assert links.prune(scope, 50, 1_000, START) == 1
    assert found[80].key not in {link.key for link in links.of(scope, hub)}


def test_of_equal_weights_the_least_strength_and_then_the_oldest_goes(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given links of one weight
    hub, weak, old, kept = memories(records, scope, 4)
    links.connect(scope, [NewLink(hub, weak, "causal", 0.5, 1), NewLink(hub, kept, "causal", 0.5, 2)], START + HOUR)
    links.connect(scope, [NewLink(hub, old, "causal", 0.5, 2)], START)

    # When there is room for fewer and fewer / Then they go in this order
    assert links.prune(scope, 2, 100, START) == 1
    assert {link.target for link in links.of(scope, hub)} == {old, kept}
    links.connect(scope, [NewLink(hub, weak, "causal", 0.5, 1)], START + HOUR)
    links.remove_nodes(scope, [weak], START)
    links.connect(scope, [NewLink(hub, old, "causal", 0.6, 2)], START)
    assert links.prune(scope, 1, 100, START) == 1
    assert {link.target for link in links.of(scope, hub)} == {old}


# -- nodes that go, return and merge -----------------------------------------------------------------------------------


@pytest.mark.req("X16", partly="links")
def test_archiving_parks_links_and_restoring_gives_them_back(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given a triangle of which two corners are archived
    a, b, c = memories(records, scope, 3)
    links.connect(scope, [NewLink(a, b, "causal", 0.5, 4), NewLink(b, c, "causal"), NewLink(c, a, "causal")], START)
    before = {(link.key, link.weight, link.strength) for node in (a, b, c) for link in links.of(scope, node)}
    archive(admin, b, c)
    assert links.park(scope, [b, c], START) == 3
    assert links.park(scope, [b, c], START) == links.count(scope) == 0

    # When one comes back / Then only what has both ends again
    archive_back = "UPDATE memories SET status = 'active' WHERE id = %s"
    admin.execute(archive_back, (b,))
    assert links.restore(scope, [b], START) == 1
    assert values(links, scope, b) == [(a, b, "causal", 0.5, 4)]

    # When the other does, after the traces were cleared / Then all is as before
    links.compact(scope, START + 1_000 * HOUR, 100)
    admin.execute(archive_back, (c,))
    assert links.restore(scope, [c], START) == 2
    assert links.restore(scope, [b, c], START) == 0
    assert {(link.key, link.weight, link.strength) for node in (a, b, c) for link in links.of(scope, node)} == before


@pytest.mark.req("X16", partly="links")
def test_what_was_restored_meanwhile_keeps_its_links(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given two memories that were archived, one of which is back when the worker comes to clear them
    a, b, c = memories(records, scope, 3)
    links.connect(scope, [NewLink(a, b, "causal"), NewLink(b, c, "causal")], START)
    archive(admin, a)

    # When it does, under the right scope and under another
    cleared = [links.purge(ns, [a, b], START) for ns in (other.ns, scope.ns, scope.ns)]

    # Then only the links of the one that is gone are parked
    assert cleared == [0, 1, 0]
    assert [link.key for link in links.of(scope, b)] == [(b, c, "causal")]
    admin.execute("UPDATE memories SET status = 'active' WHERE id = %s", (a,))
    assert links.restore(scope, [a], START) == 1


def test_what_is_removed_for_good_does_not_come_back(
    links: PostgresLinks, records: PostgresRecords, scope: Scope
) -> None:
    # Given parked links / When their node is removed / Then there is nothing to restore
    a, b = memories(records, scope, 2)
    links.connect(scope, [NewLink(a, b, "causal")], START)
    links.park(scope, [a], START)
    assert links.remove_nodes(scope, [a], START) == 1
    assert links.restore(scope, [a, b], START) == 0


@pytest.mark.req("B50", partly="links of merged memories")
def test_a_merge_moves_links_without_loops_or_loose_ends(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given two memories to be merged, linked to each other, to a third and to the one they become
    a, b, c, new = memories(records, scope, 4)
    found = [
        NewLink(a, b, "semantic", 0.9, 9),
        NewLink(a, c, "semantic", 0.8, 8),
        NewLink(c, b, "semantic", 0.75, 12),
        NewLink(b, new, "temporal"),
        NewLink(c, new, "semantic", 0.71, 7),
        NewLink(c, a, "causal"),
    ]
    links.connect(scope, found, START)

    # When they become one, and the answer was lost
    written = [links.redirect(scope, [a, b, new], new, START + HOUR) for _ in range(2)]
    archive(admin, a, b)

    # Then its links are theirs, the better of equal ones, and none is loose
    expected = {(min(c, new), max(c, new), "semantic", 0.8, 12), (c, new, "causal", 1.0, 1)}
    assert set(values(links, scope, new)) == expected
    assert written[1] == 0
    assert links.count(scope) == 2
    assert links.dangling(scope, 10) == []

    # When the merge is undone / Then the old ones have theirs back
    admin.execute("UPDATE memories SET status = 'active' WHERE id IN (%s, %s)", (a, b))
    links.restore(scope, [a, b], START)
    assert {link.key for link in links.of(scope, a)} == {link.key for link in found if a in link.key}


def test_loose_ends_are_found_and_repaired(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given a memory archived by a process that died before its links were parked
    a, b, c = memories(records, scope, 3)
    links.connect(scope, [NewLink(a, b, "causal"), NewLink(b, c, "causal")], START)
    assert links.dangling(scope, 10) == []
    archive(admin, b)

    # When the check runs and repairs / Then there are none
    assert links.dangling(scope, 10) == [b]
    assert links.dangling(scope, 0) == []
    assert links.park(scope, links.dangling(scope, 10), START) == 2
    assert links.dangling(scope, 10) == []
    assert links.count(scope) == 0


def test_clearing_traces_is_bounded_and_forgets_names_of_work(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given ten removed links, one living, and work done
    hub, *others = memories(records, scope, 12)
    links.connect(scope, [NewLink(hub, other, "causal") for other in others], START, once="work")
    links.remove_nodes(scope, others[:10], START)

    # When traces are cleared in portions
    cleared = [links.compact(scope, START + HOUR, 6) for _ in range(3)]

    # Then they are gone, and the name of the work; what lives is there
    assert cleared == [6 + 1, 4, 0]
    assert links.count(scope) == 1
    assert admin.execute("SELECT FROM link_work WHERE ns = %s", (scope.ns,)).rowcount == 0


# -- earlier -----------------------------------------------------------------------------------------------------------


def moment(records: PostgresRecords, scope: Scope, second: float, conversation: str = "talk") -> Moment:
    at = START + timedelta(seconds=second)
    (written,) = records.remember(scope, [write(f"at {second}", at=at, conversation=conversation)])
    node = records.get(scope, written.id)
    assert node is not None
    return Moment(node.id, at, node.write_seq, conversation)


def ids(moments: Sequence[Moment]) -> list[str]:
    return [each.id for each in moments]


def test_the_last_memories_before_each_of_some_are_found(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given a talk that was written out of order, with other talks, another scope and an archived memory in between
    late, far, same = (moment(records, scope, second) for second in (290, -11, 290))
    early, middle = moment(records, scope, 0), moment(records, scope, 100)
    archive(admin, moment(records, scope, 150).id)
    moment(records, scope, 120, "another talk")
    moment(records, other, 120)
    quiet = [moment(records, scope, second, "") for second in (1, 2)]

    # When asked
    found = links.earlier(scope, [late, same, quiet[1], far], most=2, window_s=300.0)

    # Then each has the last two of its talk less than 300 s before, newest first; of one instant the written order
    assert ids(found[late.id]) == [middle.id, early.id]
    assert ids(found[same.id]) == [late.id, middle.id]
    assert found[quiet[1].id] == [quiet[0]]
    assert found[far.id] == []
    assert ids(links.earlier(scope, [late], most=9, window_s=301.0)[late.id]) == [middle.id, early.id]
    assert ids(links.earlier(scope, [late], most=9, window_s=301.5)[late.id]) == [middle.id, early.id, far.id]
    assert links.earlier(scope, [], most=5, window_s=300.0) == {}


def test_looking_back_reads_an_index(
    links: PostgresLinks, records: PostgresRecords, scope: Scope, pool: Database
) -> None:
    # Given many memories of one instant / When the plan is asked for
    memories(records, scope, 2_000)
    row: dict[str, object] = {"ids": [new_id()], "ats": [START], "seqs": [1_000], "conversations": [""]}
    text = plan(pool, scope, "links_earlier", {**row, "most": 5, "window_s": 300.0})

    # Then the order comes from the index, so that five rows are read and not the window
    assert "Index Scan Backward using memories_talk" in text
    assert "Sort" not in text
    assert "ROW(" in text.split("Index Cond")[1].split("Filter")[0]
