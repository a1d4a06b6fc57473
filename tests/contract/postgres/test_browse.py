"""The promises of `Browser` on a real PostgreSQL, and of paging through conflicts."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from itertools import pairwise
from typing import TypeVar

import pytest

from biem.adapters.postgres.browse import PostgresBrowser
from biem.adapters.postgres.conflicts import PostgresConflicts
from biem.adapters.postgres.database import Database
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.link import NewLink
from biem.domain.node import new_id
from biem.domain.paging import Page
from biem.domain.scope import Scope
from biem.errors import InvalidInput
from biem.ports.conflicts import ConflictFinding
from tests.contract.conftest import MODEL, Admin, write
from tests.support.fakes import START, HeldClock

T = TypeVar("T")


@pytest.fixture
def browser(pool: Database) -> PostgresBrowser:
    return PostgresBrowser(pool, clock=HeldClock(), decay_per_hour=0.1)


@pytest.fixture
def links(pool: Database) -> PostgresLinks:
    return PostgresLinks(pool)


def remembered(records: PostgresRecords, scope: Scope, count: int, layer: str = "short_term") -> list[str]:
    """Ids of that many memories in the order they were written."""
    writes = [write(f"memory {number} of {layer}", layer=layer) for number in range(count)]
    return [written.id for written in records.remember(scope, writes)]


def pages(read: Callable[[str], Page[T]]) -> Iterator[tuple[T, ...]]:
    """Every page of a list."""
    after = ""
    while True:
        page = read(after)
        yield page.items
        if not page.next:
            return
        after = page.next


def test_an_id_is_found_by_its_first_or_last_digits_in_its_scope_only(
    browser: PostgresBrowser, records: PostgresRecords, scope: Scope, other: Scope
) -> None:
    # Given memories of two scopes, written in the same moment
    ids = remembered(records, scope, 3)
    remembered(records, other, 3)

    # When a part of an id is looked for / Then it is found by both ends, and by nothing in between
    digits = ids[1].replace("-", "")
    assert browser.ids(scope, digits[-8:], "memory", 9) == [ids[1]]
    assert browser.ids(scope, digits[:20], "memory", 9) == [ids[1]]
    assert ids[1] in browser.ids(scope, digits[:6], "memory", 9)
    assert set(browser.ids(scope, digits[:6], "memory", 9)) <= set(ids)
    assert len(browser.ids(scope, digits[:6], "memory", 2)) == 2
    assert browser.ids(scope, digits[10:20], "memory", 9) == []
    assert browser.ids(other, digits[-8:], "memory", 9) == browser.ids(scope, digits[-8:], "conflict", 9) == []


@pytest.mark.req("B62", partly="paging")
def test_links_come_the_one_changed_last_first_without_removed_ones(
    browser: PostgresBrowser, records: PostgresRecords, links: PostgresLinks, scope: Scope, other: Scope
) -> None:
    # Given five links, of which one grew since and two went with their node, and another user's
    a, b, c, d = remembered(records, scope, 4)
    links.connect(scope, [NewLink(a, b, "temporal"), NewLink(a, c, "temporal"), NewLink(b, c, "temporal")], START)
    links.connect(scope, [NewLink(a, d, "causal"), NewLink(b, d, "causal")], START)
    links.connect(scope, [NewLink(a, b, "temporal", add=1)], START)
    links.remove_nodes(scope, [d], START)
    x, y = remembered(records, other, 2)
    links.connect(other, [NewLink(x, y, "temporal")], START)

    # When they are read one by one, looking at two rows for each
    browser.looked_at = 2
    first, *rest = list(pages(lambda after: browser.links(scope, 1, after=after)))

    # Then the traces of those that went are passed over, and each of the others is there once
    assert first == ()
    found = [link for page in rest for link in page]
    assert found[0].key == (a, b, "temporal")
    assert found[0].strength == 2
    assert {link.key for link in found[1:]} == {(a, c, "temporal"), (b, c, "temporal")}
    assert len(found) == 3


def test_links_around_a_node_come_the_heaviest_first(
    browser: PostgresBrowser, records: PostgresRecords, links: PostgresLinks, scope: Scope, other: Scope
) -> None:
    # Given a node with links of both directions, two of them equally heavy
    hub, *rest = remembered(records, scope, 5)
    weights = (0.3, 0.9, 0.3, 0.1)
    made = [NewLink(hub, rest[0], "causal", 0.3), NewLink(rest[1], hub, "causal", 0.9)]
    made += [NewLink(hub, rest[2], "temporal", 0.3), NewLink(rest[3], hub, "temporal", 0.1)]
    links.connect(scope, [*made, NewLink(rest[0], rest[1], "causal", 1.0)], START)

    # When they are read one by one / Then each is there once, by weight
    found = [link for page in pages(lambda after: browser.links_around(scope, hub, 1, after=after)) for link in page]
    assert [link.weight for link in found] == sorted(weights, reverse=True)
    assert len({link.key for link in found}) == 4
    # And another scope knows nothing of it
    assert browser.links_around(other, hub, 10) == Page((), "")


def test_nodes_are_reported_with_the_beginning_of_their_text(
    browser: PostgresBrowser, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given a memory, an archived one, a concept and another user's memory
    [kept] = [
        written.id for written in records.remember(scope, [write("林晓下周三飞里斯本", layer="core", kind="task")])
    ]
    [archived] = remembered(records, scope, 1)
    [theirs] = remembered(records, other, 1)
    concept = new_id()
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (archived,))
    admin.execute(
        "INSERT INTO concepts (id, ns, name, created_at) VALUES (%s, %s, 'Lisbon', now())", (concept, scope.ns)
    )

    # When all are asked for / Then the first and the concept are shown
    told = {node.id: node for node in browser.nodes(scope, [kept, archived, theirs, concept, new_id()], 4)}
    assert told.keys() == {kept, concept}
    assert (told[kept].type, told[kept].label, told[kept].layer, told[kept].kind) == (
        "memory",
        "林晓下周",
        "core",
        "task",
    )
    assert (told[concept].type, told[concept].label) == ("concept", "Lisb")
    assert browser.nodes(scope, [], 4) == []


@pytest.mark.parametrize("after", ["x", "-1", "1:2:3", str(2**63), "9" * 5000, "1:x", "nan:1", "1\x00", "１e5:1:"])
def test_a_place_that_is_none_is_refused(browser: PostgresBrowser, scope: Scope, after: str) -> None:
    with pytest.raises(InvalidInput, match="next"):
        browser.links(scope, 1, after=after)
    with pytest.raises(InvalidInput, match="next"):
        browser.links_around(scope, new_id(), 1, after=after)


@pytest.mark.req("X32", partly="looking through a scope")
def test_a_page_reads_its_rows_from_an_index_and_no_more(
    browser: PostgresBrowser, records: PostgresRecords, pool: Database, links: PostgresLinks, scope: Scope, admin: Admin
) -> None:
    # Given a scope of many links
    ids = remembered(records, scope, 500)
    links.connect(scope, [NewLink(a, b, "temporal") for a, b in pairwise(ids)], START)
    admin.execute("ANALYZE memories, crystal_links")
    admin.execute("SET plan_cache_mode = force_generic_plan; SET random_page_cost = 1")

    # When a page in the middle is read / Then it is read from the index of changes
    middle = browser.links(scope, 200).next
    version, link_id = middle.split(":")
    keys = {"ns": scope.ns, "limit": 5, "looked": 20, "version": int(version), "id": int(link_id)}
    plan = admin.execute("EXPLAIN (ANALYZE, TIMING OFF) " + pool.sql["browse_links"], keys).fetchall()
    scans = [line for (line,) in plan if "crystal_links_version" in line]
    assert len(scans) == 1, plan
    assert "Index Scan" in scans[0]


def recorded(conflicts: PostgresConflicts, scope: Scope, older: str, newer: str, minute: int) -> str:
    """The id of a new conflict of these two."""
    finding = ConflictFinding(new_id(), "update", older, newer, 0.7, "value", "home", acts=False, judged_later=False)
    [conflict] = conflicts.record(scope, [finding], START + timedelta(minutes=minute))
    return conflict.id


@pytest.mark.req("B62", partly="paging")
def test_conflicts_follow_the_last_one_known(
    pool: Database, records: PostgresRecords, scope: Scope, other: Scope
) -> None:
    # Given five conflicts, two of the same instant, of which one is decided
    conflicts = PostgresConflicts(pool, model=MODEL, purge_after_s=65.0)
    ids = remembered(records, scope, 6)
    known = [recorded(conflicts, scope, ids[n], ids[n + 1], minute) for n, minute in enumerate((0, 1, 1, 2, 3))]
    conflicts.resolve(scope, known[1], None, "user", START)

    # When they are read two by two
    def paged(status: str | None) -> list[str]:
        found: list[str] = []
        while page := conflicts.find(scope, status, (), 2, after=found[-1] if found else None):
            found += [conflict.id for conflict in page]
        return found

    # Then each is there once, newest first, as without pages
    for status in (None, "pending"):
        assert paged(status) == [conflict.id for conflict in conflicts.find(scope, status, (), 100)]
    assert set(paged(None)) == set(known)
    # And the last one known may be decided meanwhile; one of another scope leads nowhere
    assert len(conflicts.find(scope, "pending", (), 10, after=known[4])) == 3
    conflicts.resolve(scope, known[4], None, "user", START)
    assert len(conflicts.find(scope, "pending", (), 10, after=known[4])) == 3
    assert conflicts.find(other, None, (), 10, after=known[4]) == []
    assert conflicts.find(scope, None, (), 10, after=new_id()) == []
