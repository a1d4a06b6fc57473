"""The reasoner's costs and daily budget in PostgreSQL.

A call is counted, and its most likely cost set aside, before it is made: callers that race cannot overrun the budget,
and a process that dies in between has spent too much rather than too little. Nothing here is tried again after a lost
connection, since a repeated count would count twice; the caller does without the model instead.
"""

from collections.abc import Mapping
from datetime import date
from typing import Any

from biem.adapters.postgres.database import Connection, Database
from biem.domain.scope import Scope
from biem.ports.reasoner import Spent


class PostgresReasonerLedger:
    """The port `ReasonerLedger`; the budgets are per scope and day (UTC)."""

    def __init__(self, database: Database, *, daily_calls: int, daily_tokens: int) -> None:
        self._database = database
        self._budget = {"daily_calls": daily_calls, "daily_tokens": daily_tokens}

    def reserve(self, scope: Scope, use: str, day: date, tokens: int) -> bool:
        parameters = {"ns": scope.ns, "use": use, "day": day, "tokens": tokens, **self._budget}
        return self._once("reserve_reasoner_call", parameters) == 1

    def settle(
        self, scope: Scope, use: str, day: date, *, reserved: int, tokens_in: int, tokens_out: int, failed: bool
    ) -> None:
        used = {"reserved": reserved, "tokens_in": tokens_in, "tokens_out": tokens_out, "failed": int(failed)}
        self._once("settle_reasoner_call", {"ns": scope.ns, "use": use, "day": day, **used})

    def spent(self, scope: Scope, since: date) -> list[Spent]:
        rows = self._database.fetch(scope.ns, "reasoner_spent", {"ns": scope.ns, "since": since})
        return [Spent(**row._asdict()) for row in rows]

    def forget(self, scope: Scope, before: date) -> int:
        return self._database.execute(scope.ns, "forget_reasoner_usage", {"ns": scope.ns, "before": before})

    def _once(self, name: str, parameters: Mapping[str, Any]) -> int:
        """The number of rows one statement changed; one transaction, one round trip, one try."""
        connection: Connection
        with self._database.connection() as connection, connection.pipeline():
            connection.execute(self._database.sql["see_scopes"], (parameters["ns"],))
            cursor = connection.execute(self._database.sql[name], parameters)
        return cursor.rowcount
