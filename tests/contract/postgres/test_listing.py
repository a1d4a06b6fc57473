"""The promises of `Lister` on a real PostgreSQL: orders, cursors, conditions, and that a page costs what it shows."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any, cast

import pytest
from psycopg import sql

from biem.adapters.postgres.database import SESSION, Database
from biem.adapters.postgres.listing import PostgresListing
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.postgres.sql import numbered
from biem.domain.listing import ORDERS
from biem.domain.metadata_filter import parse_where
from biem.domain.node import Node
from biem.domain.paging import Page
from biem.domain.scope import Scope
from biem.errors import InvalidInput
from biem.ports import Filter
from biem.ports.readers import Listed
from tests.contract.conftest import Admin, write
from tests.contract.postgres.test_query_plans import rows_read
from tests.support.fakes import START, HeldClock

MANY = 20_000
HOUR = timedelta(hours=1)
EVERYTHING = Listed(Filter())

FILL = """
WITH scope AS (
    INSERT INTO scopes (ns, tenant, usr, project, write_seq) VALUES (%(ns)s, %(tenant)s, %(user)s, '', %(count)s)
)
INSERT INTO memories (id, ns, text, evidence_sha, embed_sha, kind, layer, status, tags, importance, speaker,
    conversation, at, created_at, metadata, lexemes, write_seq, initial_energy, energy_anchor, anchor_at, valid_from)
SELECT gen_random_uuid(), %(ns)s, 'memory ' || n, sha256(n::text::bytea), sha256(n::text::bytea), 'event', 'short_term',
    'active', ARRAY['t' || n %% 7], 1 + n %% 5, 'Ada', 'talk ' || n %% 100, said, %(start)s,
    CASE WHEN n %% 2 = 0 THEN jsonb_build_object('project', 'p' || n %% 400, 'score', n %% 10) ELSE '{}' END,
    'memory ' || n, n, 0.6, ((n * 7919) %% 1000) / 1000.0, said, said
FROM (SELECT n, %(start)s::timestamptz - make_interval(mins => (n * 7907) %% %(count)s) AS said
      FROM generate_series(1, %(count)s) AS n) AS made
"""


@pytest.fixture
def listing(pool: Database) -> PostgresListing:
    return PostgresListing(pool, clock=HeldClock(), decay_per_hour=0.1)


def fill(admin: Admin, scope: Scope, count: int) -> None:
    """A scope with that many memories, written by SQL in an order that is not that of their times."""
    parameters = {"ns": scope.ns, "tenant": scope.tenant, "user": scope.user, "count": count, "start": START}
    admin.execute(FILL, parameters)
    admin.execute("ANALYZE memories")


def pages(read: Callable[[str], Page[Node]]) -> Iterator[tuple[Node, ...]]:
    """Every page of a list."""
    after = ""
    while True:
        page = read(after)
        yield page.items
        if not page.next:
            return
        after = page.next


def ids_of(listing: PostgresListing, scope: Scope, listed: Listed, order: str, limit: int) -> list[str]:
    """All ids of a list, read page by page."""
    read = pages(lambda after: listing.page(scope, listed, order, limit, after))
    return [node.id for page in read for node in page]


@pytest.mark.req("B62", partly="paging")
@pytest.mark.parametrize("order", ORDERS)
def test_every_memory_is_in_one_page_of_its_order_and_none_of_other_scopes(
    order: str, listing: PostgresListing, records: PostgresRecords, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given memories, equals among them, written in an order that is none of those of a list; and another user's
    for number in range(23):
        said, importance = START - (number * 7 % 23) // 3 * HOUR, 1.0 + number * 5 % 4
        records.remember(scope, [write(f"memory {number}", at=said, importance=importance)])
    anchor = "UPDATE memories SET energy_anchor = (write_seq * 7 %% 5) / 10.0, anchor_at = at WHERE ns = %s"
    admin.execute(anchor, (scope.ns,))
    records.remember(other, [write("theirs")])
    keys: dict[str, Callable[[Node], tuple[float, int]]] = {
        "newest": lambda node: (-node.at.timestamp(), -node.write_seq),
        "oldest": lambda node: (node.at.timestamp(), node.write_seq),
        "importance": lambda node: (-node.importance, -node.write_seq),
        "energy": lambda node: (-round(node.energy, 12), -node.write_seq),
    }

    # When they are read four at a time / Then each is there once, in order
    read = [node for page in pages(lambda after: listing.page(scope, EVERYTHING, order, 4, after)) for node in page]
    assert len(read) == len({node.id for node in read}) == 23
    assert {node.scope for node in read} == {scope}
    assert read == sorted(read, key=keys[order])

    # And a page that ends the list has no next, although it is full
    assert listing.page(scope, EVERYTHING, order, 23, "").next == ""
    assert listing.page(Scope(user="nobody at all"), EVERYTHING, order, 3, "") == Page((), "")


@pytest.mark.req("B62", partly="paging")
@pytest.mark.parametrize("order", ORDERS)
def test_what_is_written_and_erased_between_two_pages_moves_no_other(
    order: str, listing: PostgresListing, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given twelve memories and the first page of five
    said = [write(f"memory {n}", at=START + n * HOUR, importance=1 + n % 5) for n in range(12)]
    records.remember(scope, said)
    before = ids_of(listing, scope, EVERYTHING, order, 5)
    first = listing.page(scope, EVERYTHING, order, 5, "")

    # When more is written around it, and one of the page and one of the rest go
    records.remember(scope, [write(f"new {n}", at=START + n * HOUR, importance=1 + n % 5) for n in range(12)])
    gone = {before[2], before[7]}
    admin.execute("DELETE FROM memories WHERE id = ANY (%s::uuid[])", (list(gone),))
    rest = ids_of_rest(listing, scope, order, first.next)

    # Then those that stayed are each there once, in order
    assert [key for key in rest if key in before] == [key for key in before[5:] if key not in gone]
    assert len(rest) == len(set(rest))


def ids_of_rest(listing: PostgresListing, scope: Scope, order: str, after: str) -> list[str]:
    """The ids after a page."""
    read = pages(lambda place: listing.page(scope, EVERYTHING, order, 5, place or after))
    return [node.id for page in read for node in page]


def test_conditions_choose_and_count_alike(
    listing: PostgresListing, records: PostgresRecords, scope: Scope, admin: Admin
) -> None:
    # Given memories that differ in everything that can be asked for
    drafts: list[dict[str, Any]] = [
        {
            "kind": "event",
            "speaker": "Ada",
            "conversation": "c",
            "at": START - HOUR,
            "origin": "web",
            "trust": "untrusted",
        },
        {"kind": "task", "tags": ("a", "b"), "layer": "core", "metadata": {"score": 3}},
        {"kind": "task", "tags": ("a",), "at": START + HOUR, "metadata": {"score": [1, 9]}},
        {"kind": "skill", "layer": "session"},
    ]
    ids = [written.id for d in drafts for written in records.remember(scope, [write("same", **d)])]
    admin.execute("UPDATE memories SET status = 'archived', tier = 'L3' WHERE id = %s", (ids[3],))
    admin.execute("UPDATE memories SET status = 'active', tier = 'L1' WHERE id = %s", (ids[1],))

    # When each is asked for / Then those that meet it are listed and counted, in every order
    for listed, expected in (
        (EVERYTHING, {0, 1, 2}),
        (Listed(Filter(kinds=("task",))), {1, 2}),
        (Listed(Filter(tags=("a", "b"))), {1}),
        (Listed(Filter(speakers=("Ada",))), {0}),
        (Listed(Filter(conversations=("c", "d"))), {0}),
        (Listed(Filter(since=START)), {1, 2}),
        (Listed(Filter(until=START)), {0}),
        (Listed(Filter(since=START, until=START + HOUR)), {1}),
        (Listed(Filter(metadata=parse_where({"score": {"$gte": 4}}))), {2}),
        (Listed(Filter(min_trust=1)), {1, 2}),
        (Listed(Filter(), origins=("web",)), {0}),
        (Listed(Filter(), layer="core"), {1}),
        (Listed(Filter(), tier="L1"), {1}),
        (Listed(Filter(), status="active"), {1}),
        (Listed(Filter(), status="pending"), {0, 2}),
        (Listed(Filter(), status="archived"), {3}),
        (Listed(Filter(), status="all"), {0, 1, 2, 3}),
        (Listed(Filter(kinds=("skill",)), status="all", layer="session", tier="L3"), {3}),
    ):
        for order in ORDERS:
            assert set(ids_of(listing, scope, listed, order, 2)) == {ids[n] for n in expected}, (listed, order)
        assert listing.count(scope, listed) == len(expected)


@pytest.mark.parametrize("after", ["x", "W10", "bnVsbA", "é", "WyJuZXdlc3QiXQ", "WyJuZXdlc3QiLDEsMV0", "A" * 5_000])
def test_a_cursor_that_is_none_is_refused(listing: PostgresListing, scope: Scope, after: str) -> None:
    for order in ORDERS:
        with pytest.raises(InvalidInput, match="after"):
            listing.page(scope, EVERYTHING, order, 1, after)


def test_a_cursor_of_another_order_is_distinguished_from_one_that_is_none(
    listing: PostgresListing, records: PostgresRecords, scope: Scope
) -> None:
    records.remember(scope, [write("one"), write("two")])
    for order in ORDERS:
        after = listing.page(scope, EVERYTHING, order, 1, "").next
        for other in set(ORDERS) - {order}:
            with pytest.raises(InvalidInput, match=f"order='{order}'"):
                listing.page(scope, EVERYTHING, other, 1, after)


class Overheard:
    """A database that only notes what it is asked."""

    def __init__(self) -> None:
        self.sql: dict[str, str] = {}
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def fetch(self, scopes: str, name: str, parameters: dict[str, Any]) -> list[Any]:
        self.asked.append((name, parameters))
        return []


def read_by(admin: Admin, scope: Scope, name: str, parameters: dict[str, Any]) -> int:
    """Rows of memories that a statement looks at as services run it, planned without knowing its parameters."""
    text, names = numbered(name)
    values = sql.SQL(", ").join(sql.Literal(parameters[one]) for one in names)
    with admin.transaction(force_rollback=True):
        for setting in SESSION:
            admin.execute(setting.replace("SET ", "SET LOCAL ", 1).encode())
        admin.execute("SELECT set_config('biem.ns', %s, true)", (scope.ns,))
        admin.execute(b"PREPARE asked AS " + text)
        before = rows_read(admin)
        admin.execute(sql.SQL("EXECUTE asked ({})").format(values))
        admin.execute("DEALLOCATE asked")
        return rows_read(admin) - before


@pytest.mark.long
@pytest.mark.req("X32", "M7", partly="pages of a list and of a period read their rows from an index")
@pytest.mark.parametrize("order", ["newest", "oldest", "importance"])
def test_a_page_reads_as_many_rows_as_it_shows_however_many_there_are(
    order: str, listing: PostgresListing, scope: Scope, admin: Admin
) -> None:
    # Given a scope of twenty thousand memories, in which pages are read from the beginning and from the middle
    fill(admin, scope, MANY)
    heard = Overheard()
    deaf = PostgresListing(cast(Database, heard), clock=HeldClock(), decay_per_hour=0.1)
    week = Listed(Filter(since=START - 240 * HOUR, until=START - 72 * HOUR))
    for listed in (EVERYTHING, week)[: 1 if order == "importance" else 2]:
        for after in ("", listing.page(scope, listed, order, 500, "").next):
            deaf.page(scope, listed, order, 50, after)

            # When one is read / Then as many rows are looked at, and one that tells whether it is the last
            name, parameters = heard.asked[-1]
            assert read_by(admin, scope, name, parameters) <= 51, (listed, after)
