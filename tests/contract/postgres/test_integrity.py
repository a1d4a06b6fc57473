"""The check for loose ends costs the same however many links a scope has, and misses none in the course of time."""

from collections.abc import Iterator

import psycopg
import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.links import PostgresLinks
from biem.adapters.postgres.migrations import migrate
from biem.adapters.postgres.sql import queries
from biem.domain.link import NewLink
from biem.domain.scope import Scope
from tests.contract.conftest import Admin
from tests.support.fakes import START

MANY = 6_000
"""Several times what one check looks at."""


@pytest.fixture
def admin(empty_database: str) -> Iterator[Admin]:
    """An administrator of a database of the test's own: that many rows would change other tests' plans."""
    migrate(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        yield connection


@pytest.fixture
def links(empty_database: str, admin: Admin) -> Iterator[PostgresLinks]:
    opened = Database(empty_database, pool_size=2, retry_s=10.0)
    yield PostgresLinks(opened)
    opened.close()


def many_links(admin: Admin, scope: Scope) -> None:
    """Memories in a chain, each link of another version, as a year of conversation leaves them."""
    admin.execute(
        "INSERT INTO scopes (ns, tenant, usr, project) VALUES (%s, %s, %s, '')", (scope.ns, scope.tenant, scope.user)
    )
    admin.execute(
        "INSERT INTO memories (id, ns, text, evidence_sha, embed_sha, kind, layer, status, importance, at, created_at,"
        " lexemes, write_seq, initial_energy, energy_anchor, anchor_at, valid_from)"
        " SELECT md5(%(ns)s || n)::uuid, %(ns)s, 'm' || n, sha256('m'), sha256('m'), 'event', 'short_term', 'active',"
        " 3, %(at)s, %(at)s, 'm', n, 0.6, 0.6, %(at)s, %(at)s FROM generate_series(1, %(many)s + 1) AS n",
        {"ns": scope.ns, "at": START, "many": MANY},
    )
    admin.execute(
        "INSERT INTO crystal_links (ns, source_id, target_id, link_type, created_at, touched_at, version)"
        " SELECT %(ns)s, md5(%(ns)s || n)::uuid::text, md5(%(ns)s || n + 1)::uuid::text, 'temporal', %(at)s, %(at)s,"
        " nextval('graph_versions') FROM generate_series(1, %(many)s) AS n",
        {"ns": scope.ns, "at": START, "many": MANY},
    )
    admin.execute("UPDATE scopes SET graph_version = nextval('graph_versions') WHERE ns = %s", (scope.ns,))
    admin.execute("ANALYZE crystal_links")


def node(admin: Admin, scope: Scope, number: int) -> str:
    """The id of a memory of the chain."""
    row = admin.execute("SELECT md5(%s || %s)::uuid::text", (scope.ns, number)).fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.req("X32", partly="the integrity check")
def test_a_check_reads_a_bounded_number_of_links(scope: Scope, admin: Admin) -> None:
    # Given many links
    many_links(admin, scope)
    # When the check is explained
    query = f"EXPLAIN (ANALYZE, FORMAT JSON) {queries()['links_dangling']}"
    admin.execute("SELECT set_config('biem.ns', %s, false)", (scope.ns,))
    [(plan,)] = admin.execute(query.encode(), {"ns": scope.ns, "limit": 10, "looked": 1_000}).fetchall()

    # Then no part of it reads more links than it was given
    def read(part: dict[str, object]) -> int:
        rows = int(float(str(part["Actual Rows"]))) if part.get("Relation Name") == "crystal_links" else 0
        return max([rows, *(read(child) for child in part.get("Plans", []))])  # type: ignore[attr-defined]

    assert 0 < read(plan[0]["Plan"]) <= 1_000


@pytest.mark.req("X34", partly="loose ends of long ago")
@pytest.mark.parametrize("number", [1, MANY // 2, MANY + 1])
def test_a_loose_end_is_found_wherever_it_is(links: PostgresLinks, scope: Scope, admin: Admin, number: int) -> None:
    # Given one memory that was archived by a process that died before its links were parked
    many_links(admin, scope)
    lost = node(admin, scope, number)
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (lost,))
    # When all links are looked at, Then it is found at once
    assert links.dangling(scope, 10, every=True) == [lost]
    # When the check runs night after night, Then it is found, and nothing else ever
    found = [end for _ in range(100) for end in links.dangling(scope, 10)]
    assert set(found) == {lost}
    links.park(scope, [lost], START)
    assert links.dangling(scope, 10) == []
    # And a link to it that is written last is found at once
    assert links.connect(scope, [NewLink(node(admin, scope, 2), node(admin, scope, 3), "causal")], START) == 1
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (node(admin, scope, 3),))
    assert node(admin, scope, 3) in links.dangling(scope, 10)
