"""Row-level security, tried with raw SQL as the service, for every table that any migration ever made.

Tables are found in the catalogue and not listed: a new one that forgets its policy fails here.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import sql

from biem.adapters.postgres.database import SESSION
from biem.adapters.postgres.migrations import migrate
from biem.domain.node import new_id
from tests.contract.conftest import Admin
from tests.contract.postgres.test_query_plans import most_read

WITHOUT_POLICY = {
    "embedder_usage": "calls of an embedding server by day: no scope and no text",
    "metrics": "how long operations took: no scope and no text",
    "schema_migrations": "which migrations were applied; read only",
}
"""Tables without row-level security, and why they may be."""
NO_SCOPE_OF_ITS_OWN = {
    "api_keys": "looked up before a scope is known: seen by maintenance alone",
    "embedders": "one for the whole system: read by all, written by maintenance",
    "embeddings": "belong to whom a memory of that text belongs to",
}
"""Tables with a policy and without a scope in their rows, and what the policy says."""
UNNAMED = {"outbox"}
"""Tables that a statement without any scope reaches, too: workers of version 0.1.0 name none."""
DEFINERS = {"matching_memories", "pending_memories", "memories_with_metadata", "matching_chunks", "tagged_notes"}
"""Functions with their owner's rights; each applies the policy itself. records/test_isolation.py tries to cross it."""
MINE, THEIRS = "0" * 32, "f" * 32
SAMPLES: dict[str, Any] = {
    "bytea": b"\1" * 32, "smallint": 1, "integer": 1,
    "bigint": 1, "real": 1.0, "double precision": 0.5, "boolean": False, "json": "{}", "jsonb": "{}",
    "date": "2026-05-04", "timestamp with time zone": "2026-05-04T00:00:00Z",
}  # fmt: skip
"""A value of each type; texts and ids are made, arrays are empty."""


@dataclass(frozen=True)
class Table:
    """A table of the schema as the catalogue has it."""

    name: str
    secured: bool
    scoped: bool

    @property
    def sql(self) -> sql.Identifier:
        """Its name in a statement."""
        return sql.Identifier(self.name)


@pytest.fixture
def owner(empty_database: str) -> Iterator[Admin]:
    """An administrator of a database of the test's own, to which every migration was applied."""
    migrate(empty_database)
    with psycopg.connect(empty_database, autocommit=True) as connection:
        yield connection


@pytest.fixture
def intruder(owner: Admin, empty_database: str) -> Iterator[Admin]:
    """A connection that acts as the service there, as our connections do, and writes SQL by hand."""
    with psycopg.connect(empty_database, autocommit=True) as connection:
        connection.execute("SET ROLE biem_service")
        yield connection


def tables(owner: Admin) -> list[Table]:
    """Every table, found in the catalogue."""
    rows = owner.execute(
        """
        SELECT c.relname, c.relrowsecurity,
            EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attname = 'ns' AND NOT a.attisdropped)
        FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') ORDER BY 1
        """
    ).fetchall()
    return [Table(*row) for row in rows]


def plant(owner: Admin, table: Table, ns: str) -> None:
    """Put one row of a scope into a table; only its owner matters here."""
    columns = owner.execute(
        """
        SELECT a.attname, regexp_replace(format_type(a.atttypid, a.atttypmod), '\\(.*', '') FROM pg_attribute a
        WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attname <> 'ns'
            AND a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
        """,
        (table.name,),
    ).fetchall()
    row: dict[str, Any] = {"ns": ns}
    for name, kind in columns:  # keys of two rows must differ, and neither row may be in the other's way
        own = new_id() if kind == "uuid" else f"{ns[0]}x" if kind in ("text", "character varying") else None
        row[name] = own or ([] if kind.endswith("[]") else SAMPLES[kind])
    for (check,) in owner.execute(
        "SELECT conname FROM pg_constraint WHERE conrelid = %s::regclass AND contype IN ('c', 'f')", (table.name,)
    ).fetchall():
        owner.execute(sql.SQL("ALTER TABLE {} DROP CONSTRAINT {}").format(table.sql, sql.Identifier(check)))
    owner.execute(
        sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
            table.sql,
            sql.SQL(", ").join(map(sql.Identifier, row)),
            sql.SQL(", ").join([sql.Placeholder()] * len(row)),
        ),
        list(row.values()),
    )


def name_scopes(intruder: Admin, scopes: str) -> None:
    """Name the scopes that the session may see."""
    intruder.execute("SELECT set_config('biem.ns', %s, false)", (scopes,))


def seen(connection: Admin, table: Table) -> list[str]:
    """Whose rows of a table a user sees."""
    return sorted(ns for (ns,) in connection.execute(sql.SQL("SELECT ns FROM {}").format(table.sql)).fetchall())


@pytest.mark.req("D13")
def test_every_table_of_every_migration_is_secured_or_has_a_reason_not_to_be(owner: Admin) -> None:
    found = tables(owner)
    assert {table.name for table in found if not table.secured} == set(WITHOUT_POLICY)
    assert {table.name for table in found if table.secured and not table.scoped} == set(NO_SCOPE_OF_ITS_OWN)


@pytest.mark.req("D13", "C24")
def test_raw_sql_of_the_service_crosses_no_scope_in_any_table(owner: Admin, intruder: Admin) -> None:
    secured = [table for table in tables(owner) if table.secured and table.scoped]
    # Given a row of two scopes in every table
    for table in secured:
        plant(owner, table, MINE)
        plant(owner, table, THEIRS)
        assert seen(owner, table) == [MINE, THEIRS]
    # When the service names no one, nonsense, or one of them / Then it sees just that
    for named, visible in {"": [], "'": [], "{}": [], ",,": [], f"{MINE}%": [], "0": [], MINE: [MINE]}.items():
        name_scopes(intruder, named)
        assert {table.name: seen(intruder, table) for table in secured} == {
            table.name: [MINE, THEIRS] if not named and table.name in UNNAMED else visible for table in secured
        }
    # And it can neither change, remove, forge nor move a row of the other
    for table in secured:
        update = sql.SQL("UPDATE {} SET ns = ns WHERE ns = {}").format(table.sql, THEIRS)
        delete = sql.SQL("DELETE FROM {} WHERE ns = {}").format(table.sql, THEIRS)
        assert [_changed(intruder, query) for query in (update, delete)] == [0, 0], table.name
        forge = sql.SQL("INSERT INTO {} (ns) VALUES ({})").format(table.sql, THEIRS)
        move = sql.SQL("UPDATE {} SET ns = {} WHERE ns = {}").format(table.sql, THEIRS, MINE)
        for query in (forge, move):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):  # comes before any other complaint
                intruder.execute(query)
        assert seen(owner, table) == [MINE, THEIRS]


def _changed(intruder: Admin, query: sql.Composed) -> int:
    """Rows changed; a statement that the service may not even send changes none."""
    try:
        return intruder.execute(query).rowcount
    except psycopg.errors.InsufficientPrivilege:
        return 0


@pytest.mark.req("D13", partly="the lock cannot be taken off")
def test_the_service_cannot_take_the_lock_off(owner: Admin, intruder: Admin) -> None:
    # Given rows, and a service that tries to get around the policies
    for table in tables(owner):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            intruder.execute(sql.SQL("TRUNCATE {}").format(table.sql))
        for trick in ("DISABLE ROW LEVEL SECURITY", "NO FORCE ROW LEVEL SECURITY", "OWNER TO biem_service"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                intruder.execute(sql.SQL("ALTER TABLE {} ").format(table.sql) + sql.SQL(trick))
    for trick in (
        "CREATE TABLE mine (x int)",
        "CREATE POLICY all_of_it ON memories USING (true)",
        "DROP TABLE memories",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            intruder.execute(trick)
    intruder.execute("SET row_security = off")
    with pytest.raises(psycopg.errors.InsufficientPrivilege, match="row-level security"):
        intruder.execute("SELECT * FROM memories")
    # And the role itself has no power that the policies do not bind, and owns nothing
    role = owner.execute(
        "SELECT rolsuper, rolbypassrls, rolcreaterole, rolcanlogin FROM pg_roles WHERE rolname = %s", ("biem_service",)
    )
    assert role.fetchone() == (False, False, False, False)
    owned = owner.execute("SELECT count(*) FROM pg_class WHERE relowner = 'biem_service'::regrole").fetchone()
    assert owned == (0,)


@pytest.mark.req("D13", partly="views and functions")
def test_no_view_or_function_lends_its_owners_eyes(owner: Admin) -> None:
    views = owner.execute(
        "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('v', 'm')"
        " AND NOT coalesce(reloptions @> '{security_invoker=true}', false)"
    ).fetchall()
    assert views == []
    definers = owner.execute(
        "SELECT proname, has_function_privilege('public', oid, 'EXECUTE'), pg_get_functiondef(oid) LIKE '%%biem.ns%%'"
        " FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef"
    ).fetchall()
    assert {name for name, _, _ in definers} == DEFINERS
    assert all(checks and not public for _, public, checks in definers)


LEAK = """
CREATE FUNCTION pg_temp.leak(t text) RETURNS boolean LANGUAGE plpgsql COST 0.0000001 AS
$$BEGIN RAISE NOTICE 'saw %', t; RETURN true; END$$
"""
"""A function that tells what it is asked about, and is so cheap that a planner would ask it before the policy."""


@pytest.mark.req("D13", partly="ways around a plain statement")
def test_no_way_around_a_plain_statement_shows_another_scope(owner: Admin, intruder: Admin) -> None:
    # Given a memory of two scopes, and a service that named one of them
    (table,) = (table for table in tables(owner) if table.name == "memories")
    plant(owner, table, MINE)
    plant(owner, table, THEIRS)
    (stolen,) = owner.execute("SELECT id FROM memories WHERE ns = %s", (THEIRS,)).fetchone() or ()
    notices: list[str] = []
    intruder.add_notice_handler(lambda told: notices.append(str(told.message_primary)))
    name_scopes(intruder, MINE)

    # When it looks through functions, copies, plans made under another name, and statistics
    intruder.execute(LEAK)
    looks = {
        "a function before the policy": "SELECT ns FROM memories WHERE pg_temp.leak(ns)",
        "a lateral function": "SELECT m.ns FROM memories m, LATERAL (SELECT pg_temp.leak(m.ns)) AS told",
        "a view of its own": "SELECT ns FROM pg_temp.seen",
        "statistics": "SELECT most_common_vals, histogram_bounds FROM pg_stats WHERE tablename = 'memories'",
    }
    owner.execute("ANALYZE memories")
    intruder.execute("CREATE TEMP VIEW seen AS SELECT * FROM memories")
    found = {name: str(intruder.execute(query.encode()).fetchall()) for name, query in looks.items()}
    with intruder.cursor().copy("COPY memories (ns) TO STDOUT") as copy:
        found["copy"] = b"".join(bytes(part) for part in copy).decode()
    name_scopes(intruder, THEIRS)
    intruder.execute("PREPARE look AS SELECT ns FROM memories")
    intruder.execute("EXECUTE look")
    name_scopes(intruder, MINE)
    found["a plan of another scope"] = str(intruder.execute("EXECUTE look").fetchall())

    # Then each shows what it named, and nothing of the other
    assert {name: THEIRS in shown for name, shown in found.items()} == dict.fromkeys(found, False)
    assert MINE in found["copy"]
    assert notices
    assert THEIRS not in str(notices)

    # And it can neither take over a row by its key, nor reach the disk, nor become another user
    merge = (
        "MERGE INTO memories m USING (SELECT %s::uuid AS id) AS s ON m.id = s.id"
        " WHEN MATCHED THEN UPDATE SET ns = current_setting('biem.ns')"
    )
    assert intruder.execute(merge, (stolen,)).rowcount == 0
    for trick in (
        "COPY memories TO '/tmp/stolen'", "COPY memories TO PROGRAM 'cat'", "COPY memories (ns) FROM '/etc/hostname'",
        "SELECT pg_read_file('PG_VERSION')", "SELECT * FROM pg_statistic", "SELECT * FROM pg_authid",
        "ALTER ROLE biem_service BYPASSRLS", "ALTER DATABASE postgres SET biem.ns = '*'",
        "CREATE FUNCTION public.trap() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    ):  # fmt: skip
        with pytest.raises((psycopg.errors.InsufficientPrivilege, psycopg.errors.FeatureNotSupported)):
            intruder.execute(trick.encode())


@pytest.mark.req("D13", partly="vectors")
def test_a_vector_is_seen_by_those_who_said_its_text(owner: Admin, intruder: Admin) -> None:
    # Given a memory of two scopes, and the vector of each, of a third text that both said, and of one that no one did
    (memories,) = (table for table in tables(owner) if table.name == "memories")
    plant(owner, memories, MINE)
    plant(owner, memories, THEIRS)
    sha = {MINE: b"m" * 32, THEIRS: b"t" * 32, "shared": b"s" * 32, "orphan": b"o" * 32}
    for ns in (MINE, THEIRS):
        owner.execute("UPDATE memories SET embed_sha = %s WHERE ns = %s", (sha[ns], ns))
    for key in sha.values():
        owner.execute("INSERT INTO embeddings (model, sha256, vector) VALUES ('m', %s, '\\x00')", (key,))

    def vectors(named: str) -> set[bytes]:
        name_scopes(intruder, named)
        return {bytes(key) for (key,) in intruder.execute("SELECT sha256 FROM embeddings").fetchall()}

    # When a user names a scope, both, no one, or is the maintenance / Then it sees the vectors of these texts
    assert vectors(MINE) == {sha[MINE]}
    assert vectors(f"{MINE},{THEIRS}") == {sha[MINE], sha[THEIRS]}
    assert vectors("") == vectors("'") == set()
    assert vectors("*") == set(sha.values())
    owner.execute("UPDATE memories SET embed_sha = %s", (sha["shared"],))
    assert vectors(MINE) == vectors(THEIRS) == {sha["shared"]}

    # And it can neither remove, change nor forge another's
    name_scopes(intruder, MINE)
    assert intruder.execute("DELETE FROM embeddings WHERE sha256 = %s", (sha[THEIRS],)).rowcount == 0
    assert intruder.execute("UPDATE embeddings SET vector = '' WHERE sha256 = %s", (sha[THEIRS],)).rowcount == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        intruder.execute("INSERT INTO embeddings (model, sha256, vector) VALUES ('n', %s, '')", (sha[THEIRS],))


@pytest.mark.req("D13", partly="which embedder counts")
def test_a_statement_of_a_scope_does_not_choose_the_embedder(owner: Admin, intruder: Admin) -> None:
    # Given an embedder that counts / When a statement that named a scope tries to change it
    owner.execute("INSERT INTO embedders VALUES ('m', 4, 'c', '{}', 'current')")
    name_scopes(intruder, MINE)
    assert intruder.execute("SELECT model FROM embedders").fetchall() == [("m",)]
    changed = [
        intruder.execute(query).rowcount for query in ("UPDATE embedders SET settings = '[]'", "DELETE FROM embedders")
    ]
    # Then nothing changes, and no other can be added
    assert changed == [0, 0]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        intruder.execute("INSERT INTO embedders VALUES ('n', 4, 'c', '{}', 'filling')")


@pytest.mark.long
def test_seeing_a_vector_does_not_read_the_other_scopes_that_said_its_text(owner: Admin, intruder: Admin) -> None:
    # Given a text that five thousand scopes said
    (memories,) = (table for table in tables(owner) if table.name == "memories")
    plant(owner, memories, MINE)
    owner.execute("CREATE TEMP TABLE said AS SELECT * FROM memories")
    owner.execute("ALTER TABLE said DROP COLUMN tsv")
    columns = sql.SQL(", ").join(
        sql.Identifier(name)
        for (name,) in owner.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = 'said'::regclass AND attnum > 0 AND NOT attisdropped"
        ).fetchall()
    )
    for number in range(1, 5_001):
        owner.execute("UPDATE said SET id = gen_random_uuid(), ns = %s", (f"{number:032x}",))
        owner.execute(sql.SQL("INSERT INTO memories ({0}) SELECT {0} FROM said").format(columns))
    owner.execute("INSERT INTO embeddings SELECT 'm', embed_sha, '\\x00' FROM said")
    owner.execute("ANALYZE memories")
    # When one of them asks for the vector, with a plan as the service makes it
    name_scopes(intruder, f"{7:032x}")
    for setting in SESSION[1:]:
        intruder.execute(setting.encode())
    row = intruder.execute("EXPLAIN (ANALYZE, FORMAT JSON) SELECT vector FROM embeddings WHERE model = 'm'").fetchone()
    assert row is not None
    # Then a handful of rows is read
    assert most_read(row[0][0]["Plan"]) < 10
