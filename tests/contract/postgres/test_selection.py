"""`Selection` on a real PostgreSQL: which memories meet conditions, and what these few say."""

from collections.abc import Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from biem.adapters.postgres.database import SESSION, Database
from biem.adapters.postgres.readers import PostgresSelection
from biem.adapters.postgres.records import PostgresRecords, conditions
from biem.adapters.postgres.sql import queries
from biem.bootstrap import Servers
from biem.domain.scope import Scope
from biem.ports import Filter
from tests.contract.conftest import Admin, build_records, claim_all, encoded, unit, write
from tests.contract.postgres.test_query_plans import most_read
from tests.support.databases import fresh_database
from tests.support.fakes import START, HeldClock

MERRY, LIVELY, NOT_SAD = Filter(sentiment=(0.5, 1.0)), Filter(min_energy=0.9), Filter(sentiment=(-0.5, 1.0))
VECTORS = "vectors of these tests"
DECAY = 0.1


@pytest.fixture
def selection(pool: Database) -> PostgresSelection:
    return PostgresSelection(pool, clock=HeldClock(), decay_per_hour=DECAY, model=VECTORS)


def remember(records: PostgresRecords, scope: Scope, texts: Sequence[str]) -> dict[str, str]:
    """Ids by text."""
    writes = [write(text, kind="event") for text in texts]
    for start in range(0, len(writes), 250):
        records.remember(scope, writes[start : start + 250])
    return {one.draft.text: one.id for one in writes}


def feel(admin: Admin, ids: Sequence[str], *, sentiment: float = 0.0, energy: float = 0.6) -> None:
    """What encoding and use make of memories."""
    admin.execute("UPDATE memories SET sentiment = %s, energy_anchor = %s WHERE id = ANY (%s::uuid[])",
                  (sentiment, energy, list(ids)))  # fmt: skip


@pytest.mark.req("B14", partly="which memories meet energy and mood")
@pytest.mark.parametrize("crowd", [20, 3_000], ids=["a small scope", "one that is read by its index"])
def test_few_that_meet_the_conditions_are_named(
    crowd: int, records: PostgresRecords, selection: PostgresSelection, scope: Scope, other: Scope, admin: Admin
) -> None:
    # Given a scope in which two are merry and two lively, one of each archived; and another with more of them
    ids = list(remember(records, scope, [f"said {n}" for n in range(crowd)]).values())
    elsewhere = list(remember(records, other, [f"said {n}" for n in range(20)]).values())
    feel(admin, [*ids[:2], *elsewhere], sentiment=0.8)
    feel(admin, [*ids[5:7], *elsewhere], energy=0.95)
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = ANY (%s::uuid[])", ([ids[1], ids[6]],))

    # When these are asked for / Then the live ones of the scope are named, where they are no more than wanted
    assert selection.matching([scope], MERRY, 10) == [ids[0]]
    assert selection.matching([scope], LIVELY, 10) == [ids[5]]
    assert selection.matching([scope], Filter(min_energy=0.9, sentiment=(0.5, 1.0)), 10) == []
    assert set(selection.matching([scope, other], LIVELY, None) or ()) == {ids[5], *elsewhere}
    assert selection.matching([scope, other], LIVELY, 20) is None
    assert len(selection.matching([scope, other], LIVELY, 21) or ()) == 21


def test_no_index_tells_what_is_not_sad_nor_what_held_once(selection: PostgresSelection, scope: Scope) -> None:
    assert selection.matching([scope], NOT_SAD, 10) is None
    assert selection.matching([scope], Filter(as_of=START), 10) is None
    assert selection.matching([scope], NOT_SAD, None) == []


@pytest.mark.req("X6", partly="energy of a filter")
@pytest.mark.parametrize(("hours", "found"), [(0.0, True), (1.0, True), (1.1, False), (-5.0, True)])
def test_energy_is_asked_for_as_it_is_now(
    hours: float, found: bool, records: PostgresRecords, selection: PostgresSelection, scope: Scope, admin: Admin
) -> None:
    # Given full energy some hours ago, which has lost a tenth an hour, or by a clock that went back
    ids = list(remember(records, scope, ["glad"]).values())
    feel(admin, ids, energy=1.0)
    admin.execute("UPDATE memories SET anchor_at = %s WHERE id = %s", (START - timedelta(hours=hours), ids[0]))

    # When nine tenths are asked for / Then they are there for an hour
    assert (selection.matching([scope], Filter(min_energy=0.9), 10) == ids) is found


def test_of_what_a_search_found_it_says_what_meets_the_conditions(
    records: PostgresRecords, selection: PostgresSelection, scope: Scope, other: Scope, admin: Admin
) -> None:
    ids = list(remember(records, scope, ["one", "two", "three"]).values())
    [strange] = remember(records, other, ["one"]).values()
    feel(admin, [*ids[:2], strange], sentiment=0.9)
    admin.execute("UPDATE memories SET status = 'archived' WHERE id = %s", (ids[1],))
    assert selection.meeting([scope], [*ids, strange], MERRY) == {ids[0]}
    assert selection.meeting([scope], [], MERRY) == frozenset()


def test_the_few_are_compared_by_vectors_and_words(
    records: PostgresRecords, selection: PostgresSelection, jobs: PostgresRecords, scope: Scope, other: Scope
) -> None:
    # Given memories of two scopes, of which one has a vector of this embedder
    ids = remember(records, scope, ["red apple", "red red pear", "grey stone"])
    strange = remember(records, other, ["red apple"])
    records.complete(encoded(claim_all(jobs)))
    vector = unit(0.6, 0.8)
    [node] = [one for page in records.active("") for one, _, _ in page if one.id == ids["red apple"]]
    records.save_vectors(VECTORS, {bytes.fromhex(node.evidence_ptr): vector})

    # When they are compared / Then only what the scope has is
    everything = [*ids.values(), *strange.values()]
    [(key, found)] = selection.vectors([scope], everything).items()
    assert (key, found.tolist()) == (ids["red apple"], vector.tolist())
    scores = selection.words([scope], everything, ["red", "pear"])
    assert sorted(scores, key=lambda key: -scores[key]) == [ids["red red pear"], ids["red apple"]]
    assert selection.words([scope], everything, []) == {}
    assert selection.vectors([scope], []) == {}


@pytest.mark.long
@pytest.mark.req("X32", partly="what few conditions of a recall meet")
@pytest.mark.parametrize("analysed", [True, False])
@pytest.mark.parametrize(
    ("name", "index", "where"),
    [("matching_mood", "memories_mood", MERRY), ("matching_warm", "memories_warm", LIVELY)],
    ids=["mood", "energy"],
)
def test_conditions_that_few_meet_use_an_index_with_any_statistics(
    name: str, index: str, where: Filter, analysed: bool, stack: Servers, scope: Scope
) -> None:
    # Given a large scope in which few are merry and few lively, in its own database: a range of pages in which
    # another test left one lively memory is read as a whole
    with ExitStack() as own:
        dsn = make_conninfo(stack.postgres_dsn, dbname=own.enter_context(fresh_database(stack.postgres_dsn)))
        admin = own.enter_context(psycopg.connect(dsn, autocommit=True))
        records = own.enter_context(closing(build_records(dsn)))
        if admin.info.server_version < 160_000 and index == "memories_warm":
            pytest.skip("migration 27 makes this index from PostgreSQL 16 on")
        ids = list(remember(records, scope, [f"said {n}" for n in range(6_000)]).values())
        plan = planned(name, index, where, ids, admin, scope, analysed=analysed)

    # Then most of the others are not read
    assert most_read(plan[0]["Plan"]) < 3_000
    assert index in str(plan)


def planned(
    name: str, index: str, where: Filter, ids: Sequence[str], admin: Admin, scope: Scope, *, analysed: bool
) -> Any:
    """How a query is carried out where the first three of these memories are merry and lively."""
    statements = queries()
    with admin.transaction(force_rollback=True):  # which no other connection sees, nor analyses
        feel(admin, ids[:3], sentiment=0.9, energy=0.95)
        if analysed:
            admin.execute("ANALYZE memories")
        if index == "memories_warm":  # as autosummarize does soon after pages were written
            admin.execute("SELECT brin_summarize_new_values('memories_warm')")
        for setting in SESSION:
            admin.execute(setting.replace("SET ", "SET LOCAL "))
        admin.execute(statements["see_scopes"], (scope.ns,))
        extra = {"least": 0.5, "greatest": 1.0, "warm_since": START - timedelta(hours=2), "most": 2_001}
        keys = {**conditions([scope], where, START, DECAY), **extra}
        [plan] = admin.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + statements[name], keys).fetchone() or ()
    return plan
