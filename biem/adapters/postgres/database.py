"""One PostgreSQL database: a pool of connections, transactions that see given scopes, retries, errors in our words."""

import os
import socket
import threading
import time
from collections import namedtuple
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import orjson
import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import PyFormat
from psycopg.pq.abc import PGresult
from psycopg.rows import no_result
from psycopg.types.array import BaseListDumper, ListBinaryDumper, ListDumper
from psycopg.types.json import set_json_loads
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from biem.adapters.kept_open import KeptOpen
from biem.adapters.postgres.migrations import require_current
from biem.adapters.postgres.sql import queries
from biem.adapters.postgres.sql.sending import Parameters, Sender, SentAnswer
from biem.errors import ConfigError, InvalidInput, SchemaOutdated, StoreFull, StoreUnavailable
from biem.lazy import lazy

T = TypeVar("T")


class Row(tuple[Any, ...]):
    """A row of a result. Its columns are attributes, under the names that the statement gives them."""

    __slots__ = ()
    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...
        def _asdict(self) -> dict[str, Any]: ...


Connection = psycopg.Connection[Row]


@cache
def _row_class(*names: bytes | None) -> type[Row]:
    return cast(type[Row], namedtuple("Row", [(name or b"").decode() for name in names], rename=True))


def named_row(cursor: psycopg.Cursor[Any]) -> Callable[[Sequence[Any]], Row]:
    """psycopg's `namedtuple_row` without its check of each row's length, which took a tenth of reading a hundred."""
    result = cursor.pgresult
    return no_result if result is None or not result.nfields else _row_maker(result)


def _row_maker(result: PGresult) -> Callable[[Sequence[Any]], Row]:
    return partial(tuple.__new__, _row_class(*map(result.fname, range(result.nfields))))


class PooledConnection(psycopg.Connection[Row]):
    """A connection of a pool."""

    @lazy
    def send(self) -> Sender[Row]:
        """Sends named statements in one round trip."""
        return Sender(self, _row_maker)


class _Lists(ListDumper):
    """Lists as psycopg sends them, but those of bytes in binary: as text, escaping 300 keys took two milliseconds."""

    def upgrade(self, obj: list[Any], format: PyFormat) -> BaseListDumper:  # noqa: A002
        chosen = super().upgrade(obj, format)
        if chosen.oid != _BYTEA_ARRAY:
            return chosen
        return ListBinaryDumper(self.cls, self._tx).upgrade(obj, PyFormat.BINARY)

    def dump(self, obj: list[Any]) -> Buffer | None:
        """Texts and whole numbers all at once: one by one, a hundred took a tenth of a millisecond."""
        kinds = set(map(type, obj))
        if kinds == {int}:
            return f"{{{str(obj)[1:-1]}}}".encode()
        if kinds == {str} and self._tx.encoding == "utf-8":
            text = '","'.join(obj)
            if "\\" not in text and "\0" not in text and text.count('"') == 2 * (len(obj) - 1):
                return f'{{"{text}"}}'.encode()
        return super().dump(obj)


_BYTEA_ARRAY = 1001
"""PostgreSQL's number of the type."""
_MOST_DEFERRING = 5
"""Additional connections for work that defers commits: encoders, scans of notes, and what recalls mark as used."""
ALL_SCOPES = "*"
"""What maintenance sees; see row-level security in the first migration."""


SESSION = (
    # Services act as the role that row-level security applies to, even when the login is an owner or superuser.
    "SET ROLE biem_service",
    # The statements are few and look up keys: planning each call, or compiling one, costs more than it saves.
    "SET plan_cache_mode = force_generic_plan",
    "SET jit = off",
    # A plan made while a table is nearly empty is kept when it has grown: never one that reads the whole of it.
    "SET enable_seqscan = off",
    # Nor one that reads all there is and sorts it, where an index has the order: if pages out of order cost more, both
    # seem alike wherever statistics promise a row or two, as of a busy scope where most memories are archived.
    "SET random_page_cost = 1",
    # Such a plan takes a parameter for a tenth of the table and calls for helpers: starting them takes ten
    # milliseconds, to find nothing.
    "SET max_parallel_workers_per_gather = 0",
    # Nor does it know that the keys of one statement are all different: memoizing results wastes time.
    "SET enable_memoize = off",
)


_LIMITS_TRANSACTIONS = 170_000
"""The version of the server that brought `transaction_timeout`."""
_SLACK_S = 5.0
"""By how much longer a server waits for a process than the process for the server."""
_LOOKS_EVERY_S, _STANDSTILL_S = 0.5, 2.0
"""Interval at which the watchdog looks, and the one from which the process stood still in between."""


_KEPT_S = 2.0
"""Seconds for which the connections of a closed `Database` stay open for the next one of the process."""
KEPT: KeptOpen[ConnectionPool[PooledConnection]] = KeptOpen(ConnectionPool.close, _KEPT_S)
"""Pools of this process that are not in use, by all that tells one from another."""


class Watchdog:
    """Cuts connections whose call takes too long: a server that hangs never closes them, and libpq waits for ever.

    One thread for all calls: to start one for each took a third of a job that finds nothing to do.
    """

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._calls: dict[int, tuple[float, psycopg.Connection[Any]]] = {}
        self._stop = threading.Event()
        self._looked = (time.monotonic(), 0.0)
        """When it last looked, and for how long the process had stood still until then."""
        self._thread = threading.Thread(target=self._watch, name="biem-postgres-watchdog", daemon=True)
        self._thread.start()

    @contextmanager
    def over(self, connection: psycopg.Connection[Any]) -> Iterator[None]:
        """Watch one call."""
        self.extend(connection)
        try:
            yield
        finally:
            del self._calls[id(connection)]

    def extend(self, connection: Connection) -> None:
        """Give a call the whole time from now on."""
        self._calls[id(connection)] = (self.running_s() + self._limit_s, connection)

    def running_s(self) -> float:
        """Seconds of a clock that rests while this process stands still: stopped, swapped out, in a debugger.

        No server is late, nor has a call been repeated for long, because of such a time.
        """
        looked, still = self._looked
        now = time.monotonic()
        if not self._thread.is_alive():  # closed, or a fork: nothing looks
            return now - still
        return now - still - max(0.0, now - looked - _STANDSTILL_S)

    def stop(self) -> None:
        self._stop.set()

    def _watch(self) -> None:
        while not self._stop.wait(_LOOKS_EVERY_S):
            now = self.running_s()
            real = time.monotonic()
            self._looked = (real, real - now)
            for deadline, connection in list(self._calls.values()):
                if now > deadline:
                    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as line:
                        line.shutdown(socket.SHUT_RDWR)


class Database:
    """Runs named statements. `retry_s` is how long a lost connection is retried within a call.

    A statement that takes longer than `limit_s` is cut off: its server hangs. Five seconds later the server ends the
    transaction in turn, if it is this process that hangs (frozen, swapped out, stopped in a debugger), and others have
    what it had locked; PostgreSQL 15 and 16 do so only between two round trips.
    """

    def __init__(
        self,
        dsn: str,
        *,
        pool_size: int,
        retry_s: float,
        limit_s: float = 10.0,
        before: Callable[[], None] = lambda: None,
        migrated: bool = False,
    ) -> None:
        """`before`: called ahead of every statement or transaction, while this thread holds no connection.

        `migrated`: this process has just migrated the schema, so nothing is asked of the server before the first call.
        Otherwise raises `SchemaOutdated`, `StoreUnavailable` or, for a DSN that cannot be read or a user that may not
        act as the service, `ConfigError`.
        """
        self.sql = queries()
        self._before = before
        self._retry_s = retry_s
        self._closing = threading.Event()
        self._opening = threading.Lock()
        self._watchdog = Watchdog(limit_s)
        self._ended_after = f"{limit_s + _SLACK_S:.0f}s"
        if not migrated:
            _check(dsn)
        self._dsn = dsn
        self._size = pool_size
        self._opened: list[tuple[Hashable, ConnectionPool[PooledConnection]]] = []
        self._pool = self._pool_of(deferring=False, least=1, most=pool_size)
        self._thread = threading.local()

    def _pool_of(self, *, deferring: bool, least: int, most: int) -> ConnectionPool[PooledConnection]:
        key = (self._dsn, deferring, least, most, self._ended_after)
        pool = KEPT.take(key)
        if pool is not None and not self._answers(pool):  # the server was restarted
            pool.close()
            pool = None
        if pool is None:
            pool = ConnectionPool(
                self._dsn,
                min_size=least,
                max_size=most,
                timeout=2.0,
                reconnect_timeout=1.0,
                connection_class=PooledConnection,
                kwargs={"autocommit": True, "connect_timeout": 3, "application_name": "biem", "row_factory": named_row},
                configure=partial(_configure, deferring=deferring, ended_after=self._ended_after),
                name="biem",
                open=True,
            )
        self._opened.append((key, pool))
        return pool

    def _answers(self, pool: ConnectionPool[PooledConnection]) -> bool:
        try:
            with pool.connection() as connection, self._watchdog.over(connection):
                connection.execute("")
        except (psycopg.Error, PoolTimeout):
            return False
        return True

    @contextmanager
    def _taking_long(self, connection: Connection) -> Iterator[None]:
        """No transaction is ended for its length."""
        _end_transactions_after("0", connection)
        try:
            yield
        finally:
            with suppress(psycopg.Error):  # a lost connection goes back to no pool
                _end_transactions_after(self._ended_after, connection)

    @contextmanager
    def _step_by_step(self, connection: Connection) -> Iterator[None]:
        """Each step is watched, and no transaction is ended for the sum of them."""
        with self._watchdog.over(connection), self._taking_long(connection):
            yield

    def step_done(self, connection: Connection) -> None:
        """The next statements of this connection, which was taken for work `in_steps`, have the whole time again."""
        self._watchdog.extend(connection)

    @lazy
    def _deferring_pool(self) -> ConnectionPool[PooledConnection]:
        """Opened by the first work that defers."""
        return self._pool_of(deferring=True, least=0, most=min(self._size, _MOST_DEFERRING))

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """What this thread commits inside does not wait for the disk: for work that is done again when it is lost.

        A server that dies loses what it had not written yet, newest first; the next commit outside writes all of it.
        Others see such a commit at once, and a lock that it held is free without a write to the disk.
        """
        before = self._defers()
        self._thread.deferring = True
        try:
            yield
        finally:
            self._thread.deferring = before

    def _watched(self, connection: Connection, *, patient: bool, in_steps: bool) -> AbstractContextManager[None]:
        if patient:
            return self._taking_long(connection)
        return self._step_by_step(connection) if in_steps else self._watchdog.over(connection)

    def _defers(self) -> bool:
        return getattr(self._thread, "deferring", False)

    def _chosen_pool(self) -> ConnectionPool[PooledConnection]:
        with self._opening:  # none is opened that close() has not seen
            if self._closing.is_set():  # another may use the pool by now
                raise PoolClosed("the database is closed")
            return self._deferring_pool if self._defers() else self._pool

    def _run(self, scopes: str, name: str, parameters: Parameters, *, binary: bool = False) -> SentAnswer[Row]:
        """One statement that sees `scopes`, in one transaction and one round trip."""
        before = [("see_scopes", (scopes,))] if scopes else []

        def attempt() -> SentAnswer[Row]:
            with self.connection() as connection:
                return connection.send(*before, (name, parameters), binary=binary)[-1]

        return self.retrying(attempt)

    def fetch(self, scopes: str, name: str, parameters: Parameters, *, binary: bool = False) -> list[Row]:
        """The rows of one statement. `binary`: how they travel; as text, each byte of a vector is two characters."""
        return self._run(scopes, name, parameters, binary=binary).rows

    def execute(self, scopes: str, name: str, parameters: Parameters) -> int:
        """The number of rows one statement changed."""
        return self._run(scopes, name, parameters).count

    def retrying(self, attempt: Callable[[], T]) -> T:
        """Repeat after a lost connection: every statement here may safely run twice."""
        deadline = self._watchdog.running_s() + self._retry_s
        delay = 0.02
        self._before()
        while True:
            try:
                return attempt()
            except StoreFull:
                raise
            except StoreUnavailable:
                if self._watchdog.running_s() + delay > deadline or self._closing.wait(delay):
                    raise
                delay = min(0.5, delay * 2)

    @contextmanager
    def connection(self, *, patient: bool = False, in_steps: bool = False) -> Iterator[PooledConnection]:
        """A connection in autocommit mode, for transactions of several statements; `patient` for long ones.

        `in_steps`: the caller says after each step of a long transaction that it is done, and only a single step may
        not take too long.
        """
        try:
            with (
                self._chosen_pool().connection() as connection,
                self._watched(connection, patient=patient, in_steps=in_steps),
            ):
                yield connection
        except (PoolTimeout, PoolClosed) as error:
            raise StoreUnavailable(
                "PostgreSQL cannot be reached or all its connections are busy; check the server, or raise "
                "BIEM_POSTGRES_POOL"
            ) from error
        except (psycopg.errors.IdleInTransactionSessionTimeout, psycopg.errors.TransactionTimeout) as error:
            raise StoreUnavailable(
                f"this process stood still for so long that PostgreSQL ended its call ({_first_line(error)}); try again"
            ) from error
        except (psycopg.DataError, psycopg.errors.ProgramLimitExceeded, psycopg.errors.StatementTooComplex) as error:
            raise InvalidInput(
                f"PostgreSQL cannot take this ({_first_line(error)}); give less, or smaller numbers"
            ) from error
        except (psycopg.errors.UniqueViolation, psycopg.errors.ForeignKeyViolation) as error:
            # A race that no lock of ours excludes; the next try meets another state.
            raise StoreUnavailable(f"PostgreSQL refused the rows: {_first_line(error)}; try again") from error
        except psycopg.errors.DiskFull as error:
            raise StoreFull(
                f"PostgreSQL's disk is full ({_first_line(error)}); free some space, then repeat"
            ) from error
        except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn) as error:
            raise SchemaOutdated(
                f"the database has another schema ({_first_line(error)}); run `biem migrate`"
            ) from error
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            raise StoreUnavailable(f"PostgreSQL did not finish the call: {_first_line(error)}") from error

    def close(self) -> None:
        """Release the connections; a second call does nothing. They stay open for some seconds, for the next one."""
        self._closing.set()
        self._watchdog.stop()
        with self._opening:
            opened, self._opened = self._opened, []
        for key, pool in opened:
            if _rests(pool):
                KEPT.keep(key, pool)
            else:
                pool.close()


@contextmanager
def small_pool(dsn: str) -> Iterator[Database]:
    """Two connections for a command or a monitor, closed at the end."""
    database = Database(dsn, pool_size=2, retry_s=2.0)
    try:
        yield database
    finally:
        database.close()


def _configure(connection: psycopg.Connection[Any], *, deferring: bool, ended_after: str) -> None:
    """Every connection of a pool is the same."""
    limit = f"SET idle_in_transaction_session_timeout = '{ended_after}'"
    connection.execute("; ".join((*SESSION, limit, *(["SET synchronous_commit = off"] if deferring else []))))
    _end_transactions_after(ended_after, connection)
    connection.prepare_threshold = 1
    connection.adapters.register_dumper(list, _Lists)
    set_json_loads(orjson.loads, connection)


def _rests(pool: ConnectionPool[PooledConnection]) -> bool:
    """Whether no one uses a connection of the pool or waits for one, and none is being opened."""
    stats = pool.get_stats()
    return stats["pool_size"] == stats["pool_available"] and not stats.get("requests_waiting")


def _check(dsn: str) -> None:
    """Raise unless the server answers, has this version's schema, and lets this user act as the service."""
    try:
        with psycopg.connect(dsn, autocommit=True, connect_timeout=5) as connection:
            require_current(connection)
            connection.execute("SET ROLE biem_service")
    except psycopg.OperationalError as error:
        raise StoreUnavailable(
            f"PostgreSQL cannot be reached ({_first_line(error)}); check that it runs and BIEM_POSTGRES_DSN"
        ) from error
    except psycopg.ProgrammingError as error:
        if error.sqlstate is None:  # the client could not even read it; its words may quote the password
            raise ConfigError("BIEM_POSTGRES_DSN is not a PostgreSQL URL such as postgresql://user@host/db") from None
        raise ConfigError(
            f"the PostgreSQL user cannot act as biem_service ({_first_line(error)}); as an administrator: "
            "GRANT biem_service TO that user"
        ) from error


def _end_transactions_after(limit: str, connection: psycopg.Connection[Any]) -> None:
    """Set how long a transaction may take, such as `15s`; `0`: without a limit. Does nothing on older servers.

    The server's version is known without a question: asking which limits it has took a third of opening a connection.
    """
    if connection.info.server_version >= _LIMITS_TRANSACTIONS:
        connection.execute(f"SET transaction_timeout = '{limit}'")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
