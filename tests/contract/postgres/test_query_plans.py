"""What is asked often reads the rows it needs, however many there are, and regardless of statistics (X32)."""

import json
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg import sql

from biem.adapters.postgres.database import SESSION, Database
from biem.adapters.postgres.migrations import migrate
from biem.adapters.postgres.records import PostgresRecords, conditions, searched
from biem.adapters.postgres.sql import numbered, queries
from biem.domain.scope import Scope
from biem.ports import EVERYTHING
from tests.contract.conftest import MODEL, Admin, build_records, write
from tests.support.fakes import START

WAITING = 5_000
SECOND = timedelta(seconds=1)
FEW = 500
"""Far more than a batch of ten, far less than all that wait."""
SCOPES = 2_000


@pytest.fixture
def crowded(admin: Admin) -> Iterator[Admin]:
    """An outbox with many fresh jobs, which no other connection ever sees."""
    with admin.transaction(force_rollback=True):
        admin.execute(
            "INSERT INTO outbox (task, memory_id, ns, due_at)"
            f" SELECT 'encode', gen_random_uuid(), 'x', '2026-01-01' FROM generate_series(1, {WAITING})"
        )
        admin.execute("ANALYZE outbox")
        for setting in ("plan_cache_mode = force_generic_plan", "enable_seqscan = off", "random_page_cost = 1"):
            admin.execute(f"SET LOCAL {setting}".encode())
        yield admin


def most_read(plan: Mapping[str, Any]) -> int:
    """The most rows that any step of a plan looked at."""
    return int(max(step["Actual Rows"] + step.get("Rows Removed by Filter", 0) for step in steps(plan)))


def steps(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A step of a plan and all those below it."""
    yield plan
    for step in plan.get("Plans", ()):
        yield from steps(step)


@pytest.mark.req("X32", partly="claiming jobs")
@pytest.mark.parametrize(
    ("name", "types", "values"),
    [("claim_fresh", "(int, float)", "(10, 60)"), ("claim_retried", "(float)", "(60)")],
)
def test_claiming_reads_no_more_of_the_outbox_than_it_takes(
    name: str, types: str, values: str, crowded: Admin, pool: Database
) -> None:
    # Given the statement as workers prepare it, planned without knowing how many jobs it takes
    places = {"limit": "$1", "lease_s": "$2"} if name == "claim_fresh" else {"lease_s": "$1"}
    crowded.execute(f"PREPARE {name} {types} AS {pool.sql[name] % places}".encode())

    # When a batch is taken / Then no step reads what others wait for
    row = crowded.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE {name} {values}".encode()).fetchone()
    crowded.execute(f"DEALLOCATE {name}".encode())
    assert row is not None
    plan = row[0] if isinstance(row[0], list) else json.loads(row[0])
    assert most_read(plan[0]["Plan"]) < FEW


@pytest.mark.long
@pytest.mark.req("X32", partly="what stands in the order of an index")
@pytest.mark.parametrize("name", ["useful_memories", "links_earlier", "orbit_gather"])
def test_the_first_of_an_index_are_read_in_its_order_where_statistics_promise_a_row_or_two(
    name: str, records: PostgresRecords, pool: Database, scope: Scope, admin: Admin
) -> None:
    # Given a long talk of one user, and a server on which most of what others said is archived
    for number in range(100):
        other = Scope(tenant="contract", user=f"{scope.user}-{number}")
        records.remember(other, [write(f"said {n}", kind="event", conversation="talk") for n in range(20)])
    talk = [write(f"now {n}", kind="event", conversation="c", at=START + n * SECOND) for n in range(2_000)]
    records.remember(scope, talk)
    with admin.transaction(force_rollback=True):  # which no other connection sees, nor analyses
        admin.execute(
            "UPDATE memories SET useful_at = at, status = CASE WHEN ns = %s THEN 'active' ELSE 'archived' END, "
            "valid_to = CASE WHEN ns = %s THEN NULL ELSE at END",
            (scope.ns, scope.ns),
        )
        admin.execute("ANALYZE memories")
        for setting in SESSION:
            admin.execute(setting.replace("SET ", "SET LOCAL "))
        admin.execute(pool.sql["see_scopes"], (scope.ns,))

        # When its last lines, those before some, or those of use are read
        keys = {
            "ns": scope.ns, "scopes": [scope.ns], "kinds": ["event"], "sizes": [2], "chosen": 2, "model": MODEL,
            "ids": [one.id for one in talk[-2:]], "ats": [START + 1_500 * SECOND] * 2, "seqs": [1_500] * 2,
            "conversations": ["c"] * 2, "most": 5, "window_s": 3_000.0, "now": START, "decay": 0.1,
        }  # fmt: skip
        [plan] = admin.execute("EXPLAIN (ANALYZE, FORMAT JSON) " + pool.sql[name], keys).fetchone() or ()

    # Then no step reads the talk
    assert most_read(plan[0]["Plan"]) < FEW


@pytest.mark.req("M9", partly="reading candidates")
def test_candidates_are_placed_beside_their_neighbours_without_files_on_disk(
    records: PostgresRecords, pool: Database, scope: Scope, admin: Admin
) -> None:
    # Given a conversation, and the statement that reads candidates as calls prepare it
    talk = [write(f"said {n}", kind="event", conversation="c", at=START + n * SECOND) for n in range(100)]
    records.remember(scope, talk)
    text, names = numbered("turns")
    values = {
        **conditions([scope], EVERYTHING, START, 0.1), **searched([scope], ()),
        "ids": [one.id for one in talk[10:90:8]], "pending_limit": 0, "model": MODEL, "then": [],
    }  # fmt: skip
    with admin.transaction(force_rollback=True):
        for setting in SESSION:
            admin.execute(setting.replace("SET ", "SET LOCAL ", 1).encode())
        admin.execute(pool.sql["see_scopes"], (scope.ns,))
        admin.execute(b"PREPARE turns AS " + text)

        # When ten of its lines are read with what was said around them
        given = sql.SQL(", ").join(values[name] for name in names)
        explained = sql.SQL("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE turns({})").format(given)
        [plan] = admin.execute(explained).fetchone() or ()
        admin.execute("DEALLOCATE turns")

    # Then nothing is written to a file, however many rows the planner expects
    assert plan[0]["Plan"]["Actual Rows"] == 10 * 5
    assert plan[0]["Plan"]["Temp Written Blocks"] == 0


@pytest.mark.req("X32", partly="archiving closed sessions")
@pytest.mark.parametrize("closed", [False, True])
def test_archiving_closed_sessions_reads_no_memories_of_others(
    closed: bool, records: PostgresRecords, pool: Database, scope: Scope, admin: Admin
) -> None:
    # Given many memories, of which one is of the layer of a session
    lasting = [write(f"said {n}", kind="event", conversation="c", at=START + n * SECOND) for n in range(2 * FEW)]
    of_it = write("of the session", kind="event", conversation="talk", layer="session", on_expiry="archive")
    records.remember(scope, [*lasting, of_it])
    with admin.transaction(force_rollback=True):
        for setting in SESSION:
            admin.execute(setting.replace("SET ", "SET LOCAL ", 1).encode())
        admin.execute(pool.sql["see_scopes"], (scope.ns,))
        if closed:
            admin.execute(
                "INSERT INTO sessions (id, ns, name, status, opened_at, closed_at) "
                "VALUES (%s, %s, 'talk', 'closed', %s, %s)",
                (of_it.id, scope.ns, START, START),
            )

        # When closed sessions are archived
        before = rows_read(admin)
        archived = admin.execute(pool.sql["session_archive"], {"ns": scope.ns, "at": START + SECOND}).fetchall()
        read = rows_read(admin) - before

        # Then the memory ends with its session, if that was closed, and the others are not read
        [(ended,)] = admin.execute("SELECT expires_at FROM memories WHERE id = %s", (of_it.id,)).fetchall()
    assert len(archived) == closed
    assert ended == (START + SECOND if closed else None)
    assert read < 10


@pytest.fixture
def small_scopes(empty_database: str) -> Iterator[Admin]:
    """A database with statistics of many scopes that have one memory each."""
    migrate(empty_database)
    records = build_records(empty_database)
    try:
        records.remember(Scope(tenant="contract"), [write(f"said {n}", kind="event") for n in range(SCOPES)])
    finally:
        records.close()
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute("INSERT INTO scopes (ns, tenant, usr, project) SELECT id, 'contract', id, '' FROM memories")
        admin.execute("UPDATE memories SET ns = id")
        admin.execute("VACUUM (FULL, ANALYZE) memories")
        with admin.transaction(force_rollback=True):
            for setting in SESSION:
                admin.execute(setting.replace("SET ", "SET LOCAL ", 1).encode())
            yield admin


@pytest.mark.req("X32", partly="keys in scopes that have grown")
def test_statistics_of_small_scopes_make_no_statement_read_a_scope_for_a_key(small_scopes: Admin) -> None:
    # Given statements as calls prepare them, once for all scopes, but for some whose texts tell no types
    if small_scopes.info.server_version < 160_000:
        pytest.skip("GENERIC_PLAN came with PostgreSQL 16")
    planned: dict[str, Any] = {}
    numbers = count(1)
    for name, text in queries().items():
        prepared = numbered(name)[0] if "%(" in text else re.sub("%s", lambda _: f"${next(numbers)}", text).encode()
        result = small_scopes.pgconn.exec_(b"SAVEPOINT one; EXPLAIN (GENERIC_PLAN, FORMAT JSON) " + prepared)
        if value := result.get_value(0, 0) if result.ntuples else None:
            planned[name] = json.loads(value)[0]["Plan"]
        small_scopes.pgconn.exec_(b"ROLLBACK TO one")
    assert len(planned) > 0.9 * len(queries())

    # When they are planned / Then none looks through all memories of a scope for an id or for a conversation
    key = re.compile(r"(?:^\(+|AND \()(?:id|conversation) = ")
    read = {
        name: (step["Index Name"], step["Index Cond"], step["Filter"])
        for name, plan in planned.items()
        for step in steps(plan)
        if step.get("Relation Name") == "memories"
        and step.get("Index Name") not in ("memories_canvas", "memories_core")  # which are small
        and re.fullmatch(r"\(ns = \S+\)", step.get("Index Cond", ""))
        and key.search(step.get("Filter", ""))
    }
    assert read == {}


def rows_read(admin: Admin) -> int:
    """Rows of memories that this transaction has looked at so far."""
    row = admin.execute(
        "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'memories'"
    ).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.long
@pytest.mark.req("D6", "X32", partly="words of what waits to be indexed")
@pytest.mark.parametrize("analysed", [False, True])
def test_of_thousands_that_wait_a_search_reads_those_that_share_its_words(
    analysed: bool, records: PostgresRecords, pool: Database, scope: Scope, admin: Admin
) -> None:
    # Given two scopes, in each of which thousands wait to be indexed, regardless of statistics
    if not analysed:
        admin.execute("ANALYZE memories")
    for one in (scope, Scope(tenant="contract", user=f"{scope.user} too")):
        records.remember(one, [write("saffron grows behind the shed", kind="event")])
        for start in range(0, 2_000, FEW):
            records.remember(one, [write(f"kitchen {start + n} lantern", kind="event") for n in range(FEW)])
    if analysed:
        admin.execute("ANALYZE memories")
    with admin.transaction(force_rollback=True):
        for setting in SESSION:
            admin.execute(setting.replace("SET ", "SET LOCAL ", 1).encode())
        admin.execute(pool.sql["see_scopes"], (scope.ns,))
        for words, found in (("saffron | parsley", 1), ("parsley", 0)):
            # When words that few or none have are searched / Then what does not have them is not read
            before = rows_read(admin)
            rows = admin.execute(
                "SELECT * FROM pending_memories(%s, %s::tsquery, %s::tsquery, ARRAY[%s::tsquery], 50)",
                ([scope.ns], f"'{scope.ns}'", words, words),
            ).fetchall()
            assert len(rows) == found
            assert rows_read(admin) - before <= 2 * found


@pytest.mark.req("D6", "X32", partly="a long question to what waits to be indexed")
def test_a_long_question_ranks_those_that_share_its_rarer_words_not_all_that_share_any(
    records: PostgresRecords, pool: Database, scope: Scope, admin: Admin
) -> None:
    # Given thousands that wait and share two common words, and a few of which each has one or two rarer words
    few = [write(f"kitchen saffron {n}", kind="event") for n in range(20)]
    best = write("saffron with parsley", kind="event")
    records.remember(scope, [*few, best])
    for start in range(0, 2_000, FEW):
        records.remember(scope, [write(f"kitchen {start + n} lantern", kind="event") for n in range(FEW)])
    words = ["kitchen", "lantern", "saffron", "parsley", *(f"absent{n}" for n in range(6))]
    with admin.transaction(force_rollback=True):
        for setting in SESSION:
            admin.execute(setting.replace("SET ", "SET LOCAL ", 1).encode())
        admin.execute(pool.sql["see_scopes"], (scope.ns,))

        # When a question of ten words is asked
        before = rows_read(admin)
        rows = admin.execute(
            "SELECT id::text FROM pending_memories(%s, %s::tsquery, %s::tsquery, %s::tsquery[], 10)",
            ([scope.ns], f"'{scope.ns}'", " | ".join(words), words),
        ).fetchall()
        read = rows_read(admin) - before

    # Then what has the rarest of its words is found, with others that have a rare one; the thousands are not read
    found = {key for (key,) in rows}
    assert best.id in found
    assert 10 <= len(found) <= 10 + 2 * 8
    assert found <= {one.id for one in few} | {best.id}
    assert read < 2 * 256 + 2 * len(few) + 10


@pytest.mark.req("M35")
@pytest.mark.parametrize(
    ("condition", "index"),
    [
        ("layer = 'core'", "memories_(core|mirrored)"),
        ("created_at >= %(day)s AND created_at < %(next)s", "memories_time"),
        ("expires_at < %(next)s AND status <> 'archived'", "memories_expiring"),
    ],
)
def test_the_index_of_mirrored_memories_is_read_by_layer_by_time_and_by_expiry(
    condition: str, index: str, records: PostgresRecords, pool: Database, scope: Scope, admin: Admin
) -> None:
    # Given long-term memories of many days, of which one is a core one, one is of the day, and one expires on it
    day = START + timedelta(days=7)
    facts = [write(f"fact {n}", kind="knowledge", layer="long_term", at=START - n * SECOND) for n in range(FEW * 3)]
    core = write("the core one", kind="knowledge", layer="core", tags=("a", "b"), metadata={"title": "Core"})
    today = write("one of the day", kind="knowledge", layer="long_term", at=day)
    short = write("a task", kind="task", layer="short_term", metadata={"category": "task"}, expires_at=day)
    records.remember(scope, [*facts, core, today, short])
    with admin.transaction(force_rollback=True):
        admin.execute("ANALYZE memories")
        for setting in SESSION:
            admin.execute(setting.replace("SET ", "SET LOCAL ", 1).encode())
        admin.execute("SET LOCAL ROLE biem_service")
        admin.execute(pool.sql["see_scopes"], (scope.ns,))
        values = {"ns": scope.ns, "day": day, "next": day + timedelta(days=1)}
        # With the scope: which index serves a time alone depends on how many scopes other tests have left.
        columns = "title, layer, tags, created_at, content_hash, file_path"
        query = f"SELECT {columns} FROM memory_index WHERE ns = %(ns)s AND {condition}"

        # When the index is asked for one of them / Then it is found by an index, and the others are not read
        [plan] = admin.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {query}".encode(), values).fetchone() or ()
        assert re.search(f'"Index Name": "{index}"', json.dumps(plan))
        assert most_read(plan[0]["Plan"]) < FEW
        [(title, layer, tags, at, hashed, file)] = admin.execute(query.encode(), values).fetchall()
    assert hashed.startswith("sha256:")
    assert file is None
    if layer == "core":
        assert (title, tags) == ("Core", ["a", "b"])
    else:
        assert (layer, at) in (("long_term", day), ("short_term", START))
