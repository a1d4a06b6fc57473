"""The port `Analyses` on a real PostgreSQL: what rules know of memories is kept, and found out again."""

import pytest

from biem.adapters.postgres.database import Database
from biem.adapters.postgres.records import PostgresRecords
from biem.adapters.postgres.reindexing import PostgresAnalyses
from biem.domain.fields import Analysis, Fields
from biem.domain.node import Node
from biem.domain.scope import Scope
from biem.ports.reindexing import Analyses, Described
from tests.contract.conftest import ANY, LEARNED, Admin, claim_all, encoded, write
from tests.support.fakes import HeldClock

OTHER = Analysis(Fields(numbers=("12",), symbols=("v2",)), ("Ann", "Rome"), -0.25, "zh")


@pytest.fixture
def analyses(pool: Database) -> Analyses:
    """On the connections of the suite."""
    return PostgresAnalyses(pool, clock=HeldClock(), decay_per_hour=0.0)


def active(jobs: PostgresRecords, scope: Scope, *texts: str) -> list[str]:
    """Memories that were encoded, in the order of their texts."""
    ids = [ack.id for ack in jobs.remember(scope, [write(text) for text in texts])]
    jobs.complete(encoded(claim_all(jobs)))
    return ids


def every(analyses: Analyses, scope: Scope) -> list[Node]:
    """All of a scope, page by page."""
    found: list[Node] = []
    after = ""
    while page := analyses.page(after, 2):
        assert [node.id for node in page] == sorted(node.id for node in page)
        found += page
        after = page[-1].id
    return [node for node in found if node.scope == scope]


def test_memories_of_all_scopes_come_by_id_but_for_those_still_to_be_encoded(
    analyses: Analyses, jobs: PostgresRecords, admin: Admin, scope: Scope, other: Scope
) -> None:
    # Given memories of two scopes, one of them archived, and one that waits
    ids = active(jobs, scope, "one", "two", "three")
    others = active(jobs, other, "four")
    jobs.remember(scope, [write("five")])
    admin.execute("UPDATE memories SET status = 'archived', archived_at = now() WHERE id = %s", (ids[1],))

    # When they are gone through / Then each that was encoded came once, with what is known of it
    assert [node.id for node in every(analyses, scope)] == sorted(ids)
    assert [node.id for node in every(analyses, other)] == others
    assert {node.fields for node in every(analyses, scope)} == {LEARNED.fields}


def test_an_analysis_takes_the_place_of_another_one_and_is_no_change_twice(
    analyses: Analyses, jobs: PostgresRecords, admin: Admin, scope: Scope
) -> None:
    # Given two memories
    one, two = active(jobs, scope, "one", "two")
    described = [Described(one, OTHER, "ein wort"), Described(two, LEARNED, "two")]

    # When they are described, one of them as it was / Then one changed, and a second time none
    assert analyses.describe(described) == 1
    before = admin.execute("SELECT xmin::text FROM memories WHERE ns = %s ORDER BY id", (scope.ns,)).fetchall()
    assert analyses.describe(described) == 0
    assert admin.execute("SELECT xmin::text FROM memories WHERE ns = %s ORDER BY id", (scope.ns,)).fetchall() == before

    # And all of it is kept, and found by its words
    node = next(node for node in every(analyses, scope) if node.id == one)
    assert (node.language, node.fields, node.entities, node.sentiment) == ("zh", OTHER.fields, OTHER.entities, -0.25)
    assert set(jobs.text_search([scope], ["wort"], 5, ANY)) == {one}


def test_what_waits_and_what_is_gone_is_left_alone(
    analyses: Analyses, jobs: PostgresRecords, admin: Admin, scope: Scope
) -> None:
    # Given a memory that waits, and one that was erased
    [gone] = active(jobs, scope, "gone")
    jobs.erase(scope, gone, 65.0)
    [waiting] = [ack.id for ack in jobs.remember(scope, [write("later")])]

    # When both are described / Then nothing changes
    assert analyses.describe([Described(waiting, OTHER, "x"), Described(gone, OTHER, "y")]) == 0
    assert analyses.describe([]) == 0
