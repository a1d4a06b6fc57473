"""One job at a time in one scope: PostgreSQL's session-level advisory locks, which end with their connection."""

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.rows import scalar_row

from biem.adapters.postgres.database import Watchdog
from biem.domain.scope import Scope
from biem.errors import StoreUnavailable

_FAMILY = "biem.exclusive"
_PAUSE_S = 2.0
"""After a failure the server is left alone for this long: the jobs of a night must not wait one by one for one that
hangs."""


class PostgresExclusive:
    """The port `Exclusive`, on a separate connection: a job that fills the pool cannot lock itself out.

    A session may take the same advisory lock twice, so threads of this process are distinguished here. A server that
    does not answer for `limit_s` is cut off.
    """

    def __init__(self, dsn: str, *, limit_s: float = 10.0) -> None:
        self._dsn = dsn
        self._watchdog = Watchdog(limit_s)
        self._guard = threading.Lock()
        self._held: set[int] = set()
        self._connection: psycopg.Connection | None = None
        self._down_until = 0.0
        self._closed = False

    @contextmanager
    def hold(self, scope: Scope | None, job: str) -> Iterator[bool]:
        key = lock_key(scope, job)
        granted = self._take(key)
        try:
            yield granted
        finally:
            if granted:
                self._give_back(key)

    def close(self) -> None:
        with self._guard:
            self._closed = True
            self._watchdog.stop()
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _take(self, key: int) -> bool:
        with self._guard:
            if key in self._held or self._closed:  # a night that outlasts its program gets no further job
                return False
            if time.monotonic() < self._down_until:
                raise StoreUnavailable("PostgreSQL did not answer a moment ago to lock a job; check that it runs")
            try:
                granted = self._ask("SELECT pg_try_advisory_lock(%s)", key)
            except psycopg.Error:  # the connection of before may have died with its server
                self._drop()
                try:
                    granted = self._ask("SELECT pg_try_advisory_lock(%s)", key)
                except psycopg.Error as error:
                    self._drop()
                    self._down_until = time.monotonic() + _PAUSE_S
                    raise StoreUnavailable(
                        f"PostgreSQL cannot be reached to lock a job: {str(error).strip()}; check that it runs"
                    ) from error
            if granted:
                self._held.add(key)
            return granted

    def _give_back(self, key: int) -> None:
        with self._guard:
            self._held.discard(key)
            if self._connection is None:
                return
            try:
                self._ask("SELECT pg_advisory_unlock(%s)", key)
            except psycopg.Error:
                self._drop()  # the server gives back what a lost connection held

    def _ask(self, query: str, key: int) -> bool:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._dsn, autocommit=True, connect_timeout=3, application_name="biem-exclusive"
            )
        cursor = self._connection.cursor(row_factory=scalar_row)
        with self._watchdog.over(self._connection):
            return bool(cursor.execute(query, (key,)).fetchone())

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def lock_key(scope: Scope | None, job: str) -> int:
    """63 bits of SHA-256: two jobs that share a key would only wait for each other."""
    name = "\0".join((_FAMILY, job, scope.ns if scope else ""))
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) >> 1
