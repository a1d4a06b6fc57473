"""Named statements to one connection, in one round trip through libpq's pipeline.

psycopg has a pipeline, too. For a short statement it takes 0.2 ms of this process, and gives the interpreter to
other threads several times; a recall sends sixteen.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import psycopg
from psycopg import OperationalError
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import InvalidSqlStatementName, error_from_result
from psycopg.generators import fetch, send
from psycopg.pq import ExecStatus, Format, TransactionStatus
from psycopg.pq.abc import PGconn, PGresult

from biem.adapters.postgres.sql import numbered

R = TypeVar("R")
Parameters = Mapping[str, Any] | Sequence[Any]

_MOST_PREPARED = 120
"""Statements that a connection keeps prepared; each has a plan in the memory of the server."""
_FAILED = (ExecStatus.FATAL_ERROR, ExecStatus.BAD_RESPONSE)


@dataclass(frozen=True, slots=True)
class SentAnswer(Generic[R]):
    """What a statement returned."""

    rows: list[R]
    count: int
    """How many rows it returned or changed."""


class Sender(Generic[R]):
    """Sends statements to a connection in autocommit mode; prepares each at its first use."""

    def __init__(
        self, connection: psycopg.Connection[R], make_row: Callable[[PGresult], Callable[[Sequence[Any]], R]]
    ) -> None:
        """`make_row`: for a result, what makes a row of its values."""
        self._connection = connection
        self._make_row = make_row
        self._values = Transformer(connection)
        self._prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._count = 0

    def __call__(self, *statements: tuple[str, Parameters], binary: bool = False) -> list[SentAnswer[R]]:
        """Run these statements, each a name and its parameters, in one transaction: that which is open, or their own.

        `binary`: how rows travel. A connection whose call was interrupted is closed.
        """
        try:
            return self._sent(statements, Format(binary))
        except InvalidSqlStatementName as error:  # psycopg had all dropped, as it does after a transaction failed
            self._prepared.clear()
            if self._connection.info.transaction_status != TransactionStatus.IDLE:
                raise OperationalError("the server has dropped the prepared statements") from error
            return self._sent(statements, Format(binary))

    def _sent(self, statements: Sequence[tuple[str, Parameters]], form: Format) -> list[SentAnswer[R]]:
        pgconn, new = self._connection.pgconn, list[tuple[str, tuple[int, ...]]]()
        ready = [self._ready(*statement, new) for statement in statements]
        pgconn.enter_pipeline_mode()
        try:
            for key in new:
                pgconn.send_prepare(self._prepared[key], numbered(key[0])[0], key[1])
            for prepared, values, formats in ready:
                pgconn.send_query_prepared(prepared, values, formats, form)
            pgconn.pipeline_sync()
            results = self._connection.wait(_results(pgconn))
            pgconn.exit_pipeline_mode()
        except BaseException:
            self._connection.close()
            raise
        failed = next((result for result in results if result.status in _FAILED), None)
        if failed is not None:
            for key in new:  # whichever of them the server has by now, it gets under another name
                del self._prepared[key]
            raise error_from_result(failed, encoding=self._values.encoding)
        return [self._answer(result) for result in results[len(new) : -1]]

    def _ready(
        self, name: str, parameters: Parameters, new: list[tuple[str, tuple[int, ...]]]
    ) -> tuple[bytes, Sequence[Any], Sequence[Format] | None]:
        """The prepared name of a statement and its parameters as they are sent; `new` gets what must be prepared."""
        names = numbered(name)[1]
        values = [parameters[each] for each in names] if isinstance(parameters, Mapping) else list(parameters)
        dumped = self._values.dump_sequence(values, [PyFormat.AUTO] * len(values))
        key = (name, tuple(self._values.types or ()))
        prepared = self._prepared.pop(key, None)
        if prepared is None:
            self._make_room()
            self._count += 1
            prepared = b"biem_%d" % self._count
            new.append(key)
        self._prepared[key] = prepared  # the last of all: the first one was used longest ago
        return prepared, dumped, self._values.formats

    def _make_room(self) -> None:
        while len(self._prepared) >= _MOST_PREPARED:
            oldest = next(iter(self._prepared))
            self._connection.execute(b"DEALLOCATE " + self._prepared.pop(oldest), prepare=False)

    def _answer(self, result: PGresult) -> SentAnswer[R]:
        count = result.command_tuples or 0
        if not result.nfields:
            return SentAnswer([], count)
        self._values.set_pgresult(result)
        rows = self._values.load_rows(0, result.ntuples, self._make_row(result))
        self._values.set_pgresult(None)
        return SentAnswer(rows, count)


def _results(pgconn: PGconn) -> Generator[Any, Any, list[PGresult]]:
    """The results of all that was sent, the last one being the end of the pipeline."""
    yield from send(pgconn)
    results = list[PGresult]()
    while not results or results[-1].status != ExecStatus.PIPELINE_SYNC:
        result = yield from fetch(pgconn)
        if result is not None:
            results.append(result)
    return results
