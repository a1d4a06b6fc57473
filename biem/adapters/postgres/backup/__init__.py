"""Writing what PostgreSQL keeps into a file, and bringing it back: COPY over a connection, no program of PostgreSQL's.

A backup is one snapshot (REPEATABLE READ): it holds the state of one instant, regardless of concurrent writes.
A restore is one transaction: the database has all of it or is as it was.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, LiteralString

import psycopg
from psycopg import sql
from psycopg.rows import scalar_row

from biem.adapters.postgres.backup.file import FORMAT, BackupReader, Manifest, Table, opened, written
from biem.adapters.postgres.database import Connection, named_row
from biem.adapters.postgres.migrations import LOCK, digest, migrate
from biem.adapters.postgres.sql import migrations, queries
from biem.errors import BiemError, ConfigError, InvalidInput, StoreFull, StoreUnavailable

Heard = Callable[[int], None]

_LEAVING_S = 3.0
"""How long PostgreSQL may take to notice that a program has ended."""
_LOOK_S = 0.1
_STAGE = "biem_restore"
"""A schema that exists only within the transaction of a restore from an older version."""
_GRAPH_LEAP = 1_000_000
"""Versions of links left out, so that no running process takes new links for those it knew before."""


def backup(dsn: str, path: Path, heard: Heard | None = None) -> Manifest:
    """Write everything into `path`; a failed backup leaves no file. `heard` receives the number of rows so far.

    Raises `StoreUnavailable`, `StoreFull` and `InvalidInput` (a path that cannot be written).
    """
    statements = queries()
    total = 0

    def tell(rows: int) -> None:
        if heard:
            heard(total + rows)

    with _connected(dsn) as connection, written(path) as writer:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute(statements["see_scopes"], ("*",))
        taken_at = _one(connection, "SELECT clock_timestamp()")
        applied: dict[int, str] = dict(connection.execute(statements["backup_schema"]).fetchall())
        tables: list[Table] = []
        for name, columns in connection.execute(statements["backup_tables"]).fetchall():
            query = sql.SQL("COPY {} ({}) TO STDOUT").format(sql.Identifier(name), _names(columns))
            with connection.cursor().copy(query) as stream:
                tables.append(writer.table(name, columns, map(bytes, stream), tell))
            total += tables[-1].rows
        manifest = Manifest(
            format=FORMAT,
            taken_at=taken_at.isoformat(),
            migrations=applied,
            tables=tables,
            sequences=dict(connection.execute(statements["backup_sequences"]).fetchall()),  # above all of the snapshot
        )
        writer.manifest(manifest)
    return manifest


def restore(dsn: str, path: Path, *, replace: bool, heard: Heard | None = None) -> Manifest:
    """Restore a backup of this or an earlier version into this version's schema.

    The whole file is verified before anything is written: members, sizes, checksums, and that its tables, columns and
    sequences are those that its version had, neither more nor fewer. Raises `InvalidInput` when it is not so, when it
    is of a later version, or the database holds something and not `replace`; `ConfigError` while other programs use the
    database; `StoreUnavailable`. Then nothing has changed, but that the database may have this version's schema.
    """
    with opened(path) as reader:
        older = _older(reader.manifest)
        with _connected(dsn) as connection:
            _require_alone(connection)
            if not replace:
                _require_empty(connection)
            _require_known(connection, reader.manifest)
        migrate(dsn)
        with _connected(dsn) as connection, connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            _require_alone(connection)
            if not replace:
                _require_empty(connection)
            tables = _tables(connection)
            everything = sql.SQL(", ").join(map(sql.Identifier, tables))
            connection.execute(sql.SQL("TRUNCATE {}").format(everything))
            if older:
                _through_stage(connection, reader, heard)
            else:
                _fill(connection, reader, heard)
            _number_on(connection, reader.manifest)
        with _connected(dsn) as connection:
            connection.execute(sql.SQL("ANALYZE {}").format(everything))  # PostgreSQL's own tables have not changed
    return reader.manifest


def _require_known(connection: Connection, manifest: Manifest) -> None:
    """Raise `InvalidInput` unless the backup has just the tables, columns and sequences of its version's schema.

    That schema is built aside, in a transaction that is rolled back.
    """
    with connection.transaction(force_rollback=True):
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
        _build_stage(connection, manifest)
        tables: dict[str, list[str]] = dict(connection.execute(queries()["backup_tables"]).fetchall())
        sequences = {row.name for row in connection.execute(queries()["all_sequences"]).fetchall()}
    names = [table.name for table in manifest.tables]
    if len(names) != len(set(names)) or set(names) != set(tables):
        odd = ", ".join(sorted(set(names) ^ set(tables))) or "one of them twice"
        raise InvalidInput(f"the backup has not the tables of its version ({odd}); it was not written by `biem backup`")
    for table in manifest.tables:
        if sorted(table.columns) != sorted(tables[table.name]):
            raise InvalidInput(
                f"table {table.name} of the backup has not the columns of its version; it was not written by "
                "`biem backup`"
            )
    if strange := set(manifest.sequences) - sequences:
        raise InvalidInput(f"the backup has a sequence that its version has not: {min(strange)}")


def _build_stage(connection: Connection, manifest: Manifest) -> None:
    """Create the backup's schema, empty, in a separate schema for the rest of the transaction."""
    stage = sql.Identifier(_STAGE)
    connection.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(stage))
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(stage))
    connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(stage))
    for number, _, text in migrations():
        if number in manifest.migrations:
            connection.execute(text)


def _fill(connection: Connection, reader: BackupReader, heard: Heard | None) -> None:
    """Copy every table in, parents first."""
    done = 0
    by_name = {table.name: table for table in reader.manifest.tables}
    order = _order(connection, list(by_name))
    for name in order:
        table = by_name[name]
        target = sql.Identifier(name)
        connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(target))
        query = sql.SQL("COPY {} ({}) FROM STDIN").format(target, _names(table.columns))
        with connection.cursor() as cursor:
            with cursor.copy(query) as stream:
                for chunk in reader.chunks(table):
                    stream.write(chunk)
            if cursor.rowcount != table.rows:
                raise InvalidInput(f"table {name} took {cursor.rowcount} of {table.rows} rows")
        connection.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(target))
        done += table.rows
        if heard:
            heard(done)


def _through_stage(connection: Connection, reader: BackupReader, heard: Heard | None) -> None:
    """Build the older schema aside, fill it, bring it forward, and take its rows over: all in the same transaction."""
    home = _one(connection, "SELECT current_schema()")
    stage = sql.Identifier(_STAGE)
    known = reader.manifest.migrations
    _build_stage(connection, reader.manifest)
    _fill(connection, reader, heard)
    for number, _, text in migrations():
        if number not in known:
            connection.execute(text)
    staged: dict[str, list[str]] = dict(connection.execute(queries()["backup_tables"]).fetchall())
    order = _order(connection, list(staged))
    connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(sql.Identifier(home)))
    for name in order:
        target, columns = sql.Identifier(name), _names(staged[name])
        connection.execute(sql.SQL("ALTER TABLE {} DISABLE TRIGGER USER").format(target))
        connection.execute(
            sql.SQL("INSERT INTO {} ({}) OVERRIDING SYSTEM VALUE SELECT {} FROM {}.{}").format(
                target, columns, columns, stage, target
            )
        )
        connection.execute(sql.SQL("ALTER TABLE {} ENABLE TRIGGER USER").format(target))
    connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(stage))


def _number_on(connection: Connection, manifest: Manifest) -> None:
    """No sequence gives out again what the rows have."""
    for name, last in manifest.sequences.items():
        connection.execute(
            "SELECT setval(to_regclass(%(name)s), %(last)s) WHERE to_regclass(%(name)s) IS NOT NULL",
            {"name": name, "last": last + (_GRAPH_LEAP if name == "graph_versions" else 0)},
        )
    for sequence, table, column in connection.execute(queries()["owned_sequences"]).fetchall():
        highest = _one(
            connection, sql.SQL("SELECT max({}) FROM {}").format(sql.Identifier(column), sql.Identifier(table))
        )
        if highest is not None:
            connection.execute(
                "SELECT setval(to_regclass(%s), greatest(%s, (SELECT coalesce(last_value, 1) FROM pg_sequences"
                " WHERE schemaname = current_schema() AND sequencename = %s)))",
                (sequence, highest, sequence),
            )


def _older(manifest: Manifest) -> bool:
    """Whether the backup lacks migrations of this version; `InvalidInput` when it has others."""
    ours = {number: digest(text) for number, _, text in migrations()}
    if unknown := [number for number, said in manifest.migrations.items() if ours.get(number) != said]:
        raise InvalidInput(
            f"the backup has migration {min(unknown)} of a later version or of another build; restore it with that one"
        )
    if list(ours)[: len(manifest.migrations)] != sorted(manifest.migrations) or not manifest.migrations:
        raise InvalidInput("the backup leaves out migrations before its last; it was not written by `biem backup`")
    return len(manifest.migrations) < len(ours)


def _require_alone(connection: Connection) -> None:
    deadline = time.monotonic() + _LEAVING_S
    while others := _one(connection, queries()["other_programs"]):
        if time.monotonic() >= deadline:
            raise ConfigError(
                f"{others} connections of running programs use this database; stop them, then repeat "
                "(servers, workers, and `biem local down`, which ends the indexer of the embedded servers)"
            )
        time.sleep(_LOOK_S)  # a connection may just be closing; PostgreSQL sends no notification


def _require_empty(connection: Connection) -> None:
    for name in _tables(connection):
        if _one(connection, sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(name))):
            raise InvalidInput(
                f"the database is not empty (table {name}); restore into a new one, or give --replace to destroy what "
                "it holds"
            )


def _tables(connection: Connection) -> list[str]:
    if not _one(connection, "SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = 'biem_service')"):
        return []
    return [row.name for row in connection.execute(queries()["backup_tables"]).fetchall()]


def _order(connection: Connection, tables: Sequence[str]) -> list[str]:
    sorter: TopologicalSorter[str] = TopologicalSorter({name: set() for name in tables})
    for child, parent in connection.execute(queries()["backup_parents"]).fetchall():
        if child in tables and parent in tables:
            sorter.add(child, parent)
    return list(sorter.static_order())


def _names(columns: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, columns))


def _one(connection: Connection, query: LiteralString | sql.Composed) -> Any:
    """The value of a statement with one column; None where it has no row."""
    return connection.cursor(row_factory=scalar_row).execute(query).fetchone()


@contextmanager
def _connected(dsn: str) -> Iterator[Connection]:
    """A connection as who we log in, without time limit."""
    try:
        with psycopg.connect(
            dsn, autocommit=True, connect_timeout=5, application_name="biem backup", row_factory=named_row
        ) as connection:
            connection.execute("SET statement_timeout = 0")
            connection.execute("SET client_min_messages = warning")
            yield connection
    except BiemError:
        raise
    except psycopg.errors.DiskFull as error:
        raise StoreFull(f"PostgreSQL's disk is full ({_line(error)}); nothing was changed") from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise ConfigError(f"the PostgreSQL user may not do that ({_line(error)}); log in as the owner") from error
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedObject) as error:
        raise ConfigError(f"the database has no schema of biem ({_line(error)}); run `biem migrate`") from error
    except psycopg.ProgrammingError as error:
        if error.sqlstate is None:
            raise ConfigError("BIEM_POSTGRES_DSN is not a PostgreSQL URL such as postgresql://user@host/db") from None
        raise
    except (psycopg.DataError, psycopg.IntegrityError) as error:
        raise InvalidInput(f"the backup does not fit this database ({_line(error)})") from error
    except psycopg.OperationalError as error:
        raise StoreUnavailable(f"PostgreSQL did not finish ({_line(error)}); nothing was changed") from error


def _line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
