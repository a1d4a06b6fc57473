"""The port `Feedbacks` in PostgreSQL: the name of the turn and the rewards in one transaction."""

from collections.abc import Mapping
from datetime import datetime

from biem.adapters.rows import Store
from biem.domain.energy import energy_key
from biem.domain.scope import Scope
from biem.ports import Touched


class PostgresFeedbacks(Store):
    """The port `Feedbacks`."""

    def take(self, scope: Scope, turn: str, marks: Mapping[str, float], at: datetime) -> list[Touched] | None:
        namespaces = [readable.ns for readable in scope.readable]
        parameters = {
            "scopes": namespaces,
            "ids": list(marks),
            "marks": list(marks.values()),
            "at": at,
            "decay": self._decay,
            "step": self._policies.energy.feedback,
            "promote": self._policies.tiers.promote,
            "useful": self._policies.retention.promote_useful,
        }

        counted: list[list[Touched]] = []  # by attempts of this call whose answer may have been lost

        def attempt() -> list[Touched] | None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (",".join(namespaces),))
                connection.execute(self._sql["ensure_scope"], (scope.ns, scope.tenant, scope.user, scope.project))
                name = {"ns": scope.ns, "turn": turn, "at": at}
                if connection.execute(self._sql["feedback_once"], name).fetchone() is None:
                    return counted[-1] if counted else None
                counted.append(
                    [
                        Touched(memory_id, ns, energy_key(anchor, anchor_at, self._decay), touched_at, tier, before)
                        for memory_id, ns, anchor, anchor_at, touched_at, tier, before in connection.execute(
                            self._sql["reward"], parameters
                        )
                    ]
                )
            return counted[-1]

        return self._database.retrying(attempt)

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        return self._database.execute(scope.ns, "feedback_compact", {"ns": scope.ns, "before": before, "limit": limit})
