"""The schema: migrations, types, ranges, tables of the design, on a real PostgreSQL."""

import os
from typing import Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from biem.adapters.postgres.migrations import LOCK, migrate
from biem.adapters.postgres.records import PostgresRecords
from biem.domain.scope import Scope
from biem.errors import ConfigError, SchemaOutdated
from tests.contract.conftest import (
    Admin,
    build_records,
)
from tests.contract.postgres.records.rows import link, remember
from tests.support.writer_processes import in_processes, migrate_at_once

TABLE_ROW = "SELECT xmin::text FROM pg_class WHERE relname = 'schema_migrations'"
"""The transaction that changed the table's definition or grants last."""


class TestSchema:
    def test_an_empty_database_is_refused_with_the_way_out(self, empty_database: str) -> None:
        # Given a database without our schema / When it is opened / Then the reader learns what to run
        with pytest.raises(SchemaOutdated, match="biem migrate"):
            build_records(empty_database)

    def test_migrating_twice_applies_once(self, empty_database: str) -> None:
        # Given an empty database / When it is migrated twice
        first, second = migrate(empty_database), migrate(empty_database)

        # Then the second time there was nothing to do, and it can be opened
        assert first[0] == "0001_foundation"
        assert second == []
        build_records(empty_database).close()

    def test_migrating_what_is_current_waits_for_no_lock_and_writes_nothing(self, empty_database: str) -> None:
        # Given a migrated database, and another process that holds the lock of migrations
        migrate(empty_database)
        with psycopg.connect(empty_database, autocommit=True) as other:
            other.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
            row = other.execute(TABLE_ROW).fetchone()

            # When it is migrated again, with no patience for a lock / Then that succeeds, and grants nothing anew
            assert migrate(make_conninfo(empty_database, options="-c lock_timeout=100ms")) == []
            assert other.execute(TABLE_ROW).fetchone() == row

    @pytest.mark.long
    def test_concurrent_migrators_apply_each_migration_once(self, empty_database: str) -> None:
        # Given an empty database / When four processes migrate it at once
        applied = in_processes(migrate_at_once, 4, empty_database)

        # Then one of them did it
        assert len({pid for pid, _ in applied} | {os.getpid()}) == 5
        assert sorted(bool(names) for _, names in applied) == [False, False, False, True]
        build_records(empty_database).close()

    def test_a_migration_that_was_applied_in_other_words_is_refused(self, empty_database: str) -> None:
        # Given a database of another build
        migrate(empty_database)
        with psycopg.connect(empty_database, autocommit=True) as connection:
            connection.execute("UPDATE schema_migrations SET sha256 = 'other' WHERE number = 1")

        # When it is migrated / Then that is refused
        with pytest.raises(ConfigError, match="0001_foundation"):
            migrate(empty_database)

    @pytest.mark.req("C36")
    def test_every_identifier_that_we_give_is_stored_as_uuid(self, admin: Admin) -> None:
        """But for what the design's own DDL spells otherwise (B27), and numbers that order rows of one table."""
        # Given a migrated database / When the columns that name something are read
        rows = admin.execute(
            "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns"
            " JOIN information_schema.tables USING (table_schema, table_name)"
            " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
            " AND (column_name = 'id' OR right(column_name, 3) = '_id')"
        ).fetchall()
        types: dict[str, str] = dict(rows)

        # Then they are UUIDs
        assert types["memories.id"] == types["conflicts.older_id"] == types["concepts.id"] == "uuid"
        assert {name: kind for name, kind in types.items() if kind != "uuid"} == {
            "api_keys.id": "text",  # a part of the token: letters and digits that are not confused
            "crystal_links.id": "bigint",
            "crystal_links.source_id": "character varying",
            "crystal_links.target_id": "character varying",
            "metrics.id": "bigint",
            "move_links.source_id": "text",  # rows of crystal_links on their way to another scope
            "move_links.target_id": "text",
            "outbox.id": "bigint",
            "tags.id": "integer",
        }

    @pytest.mark.req(
        "B15", partly="the half in PostgreSQL; Milvus has id, text, time and a vector of the dimension of the embedder"
    )
    def test_what_changes_in_a_memory_is_here_within_the_designs_ranges(
        self, records: PostgresRecords, scope: Scope, admin: Admin
    ) -> None:
        """Energy, tier, mood and last access: Milvus has none of them, for it would have to be rewritten as they age
        (D3, C14); its part of the schema has its own test, and the dimension is the embedder's (C12)."""
        # Given a text longer than the design's field, in three bytes a character
        key = remember(records, scope, "长" * 65_536, lexemes="长")

        # When values at and beyond the ends of the ranges are written
        refused = []
        ranges: list[tuple[str, tuple[Any, ...], tuple[Any, ...]]] = [
            ("initial_energy", (0, 1), (-0.001, 1.001)),
            ("energy_anchor", (0, 1), (-0.001, 1.001)),
            ("sentiment", (-1, 1), (-1.001, 1.001)),
            ("tier", ("L1", "L2", "L3"), ("L0", "L4")),
        ]
        for column, within, beyond in ranges:
            update = sql.SQL("UPDATE memories SET {} = %s WHERE id = %s").format(sql.Identifier(column))
            for value in within:
                admin.execute(update, (value, key))
            for value in beyond:
                with pytest.raises(psycopg.errors.CheckViolation):
                    admin.execute(update, (value, key))
                refused.append(column)
        admin.execute("UPDATE memories SET tier = 'L2' WHERE id = %s", (key,))

        # Then the latter are refused, and the text is whole
        assert len(refused) == 8
        node = records.get(scope, key)
        assert node is not None
        assert len(node.text) == 65_536

    @pytest.mark.req("B26", "B27", partly="tables and columns")
    def test_the_tables_of_crystal_facts_and_links_are_those_of_the_design(self, admin: Admin) -> None:
        # Given a migrated database / When its columns are read
        columns = {
            (row[0], row[1]): row[2]
            for row in admin.execute(
                "SELECT table_name, column_name, data_type FROM information_schema.columns"
                " WHERE table_name IN ('crystal_facts', 'crystal_links')"
            )
        }

        # Then the design's are there
        assert columns[("crystal_facts", "id")] == "uuid"
        for name in ("content", "confidence", "created_at", "updated_at", "source_node_ids"):
            assert ("crystal_facts", name) in columns
        assert columns[("crystal_facts", "metadata")] == "jsonb"
        for name in ("source_id", "target_id", "link_type", "weight", "created_at"):
            assert ("crystal_links", name) in columns

    @pytest.mark.req("X11", partly="the table")
    def test_several_link_types_between_two_memories_coexist_and_each_is_there_once(
        self, admin: Admin, scope: Scope
    ) -> None:
        # Given two links of different types between the same memories
        link(admin, scope, "a" + scope.ns, "b", "temporal")
        link(admin, scope, "a" + scope.ns, "b", "semantic")

        # When one of them is inserted again / Then that is refused
        with pytest.raises(psycopg.errors.UniqueViolation):
            link(admin, scope, "a" + scope.ns, "b", "semantic")

    @pytest.mark.req("C36", partly="PostgreSQL")
    def test_ids_are_stored_as_uuid(self, admin: Admin) -> None:
        # Given a migrated database / When the types of ids are read
        types = admin.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns"
            " WHERE (table_name, column_name) IN (('memories', 'id'), ('outbox', 'memory_id'), ('crystal_facts', 'id'),"
            " ('erasures', 'id'))"
        ).fetchall()

        # Then all are UUIDs
        assert len(types) == 4
        assert {row[2] for row in types} == {"uuid"}
