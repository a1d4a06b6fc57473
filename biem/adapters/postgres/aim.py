"""AIM-Memory's port `AimRecords` in PostgreSQL."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime

import numpy as np
from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import Row
from biem.adapters.postgres.node_rows import Store, fields_of, vector_of
from biem.domain.designs.aim import GateDecision
from biem.domain.scope import Scope
from biem.ports.aim import Anchored, Census, Held, Kept, Refusal, Said, Standing


class PostgresAim(Store):
    """The port `AimRecords`. Decisions of a scope are made one after the other, under the lock that writes take."""

    def said(self, scope: Scope, seqs: Sequence[int], most: int) -> list[Said]:
        parameters = {"ns": scope.ns, "seqs": list(seqs), "most": most, "model": self._model}
        rows = self._database.fetch(scope.ns, "aim_said", parameters)
        return [
            Said(row.id, row.write_seq, row.conversation, row.formed, vector_of(row.vector))
            for row in sorted(rows, key=lambda row: int(row.write_seq))
        ]

    def standing(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Standing]:
        rows = self._database.fetch(scope.ns, "aim_standing", {"ns": scope.ns, "ids": list(ids)})
        return {
            row.id: Standing(row.formed, decided=row.numbered or not row.formed, foretold=row.foretold) for row in rows
        }

    def record_decisions(self, scope: Scope, decisions: Sequence[tuple[str, GateDecision, int | None]]) -> None:
        self._database.execute(scope.ns, "aim_record", {"ns": scope.ns, "decisions": _packed(decisions)})

    def decide(self, scope: Scope, ids: Sequence[str], refused: Mapping[str, GateDecision]) -> frozenset[str]:
        parameters = {
            "ns": scope.ns,
            "ids": list(ids),
            "decisions": _packed([(key, decision, None) for key, decision in refused.items()]),
        }

        def attempt() -> frozenset[str]:
            with self._database.connection() as connection, connection.pipeline(), connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["aim_ensure"], parameters)
                connection.execute(self._sql["aim_lock"], parameters)
                if refused:
                    connection.execute(self._sql["aim_record"], parameters)
                connection.execute(self._sql["aim_apply"], parameters)
                standing = connection.execute(self._sql["aim_standing"], parameters)
            return frozenset(row.id for row in standing.fetchall() if row.formed)

        return self._database.retrying(attempt)

    def admit(self, scope: Scope, memory_id: str, decision: GateDecision) -> bool:
        parameters = {**asdict(decision), "id": memory_id, "ns": scope.ns, "at": decision.decided_at}

        def attempt() -> bool:
            with self._database.connection() as connection, connection.pipeline(), connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["aim_ensure"], parameters)
                connection.execute(self._sql["aim_lock"], parameters)
                formed = connection.execute(self._sql["aim_admit"], parameters)
            return formed.rowcount > 0

        return self._database.retrying(attempt)

    def refusals(self, scope: Scope, limit: int) -> list[Refusal]:
        rows = self._database.fetch(
            scope.ns, "aim_refusals", {"ns": scope.ns, "limit": limit, "now": self._clock.now()}
        )
        return [_refusal(row) for row in rows]

    def nodes(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime, *, evidence: bool) -> list[Held]:
        by_ns = {scope.ns: scope for scope in scopes}
        parameters = {"ids": list(ids), "scopes": list(by_ns), "model": self._model, "at": at, "evidence": evidence}
        now = self._clock.now()
        return [
            Held(
                node=self.node(row, by_ns[row.ns], now),
                formed=row.formed,
                age=row.age or 0,
                vector=vector_of(row.vector),
                evidence=row.evidence,
                disputed=row.disputed,
            )
            for row in self._database.fetch(",".join(by_ns), "aim_nodes", parameters, binary=True)
        ]

    def anchors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Anchored]:
        namespaces = [scope.ns for scope in scopes]
        rows = self._database.fetch(",".join(namespaces), "aim_anchors", {"scopes": namespaces, "ids": list(ids)})
        return {row.id: Anchored(fields_of(row.fields), row.text, row.age or 0, row.formed) for row in rows}

    def census(self, scope: Scope, gamma: float, fresh: float, high: float) -> Census:
        parameters = {"ns": scope.ns, "fresh": fresh, "high": high, "log_gamma": float(np.log(gamma))}
        parameters["now"] = self._clock.now()
        return Census(**self._database.fetch(scope.ns, "aim_census", parameters)[0]._asdict())

    def page(self, scope: Scope, after: int) -> list[Kept]:
        now = self._clock.now()
        rows = self._database.fetch(scope.ns, "aim_page", {"ns": scope.ns, "after": after, "now": now})
        return [Kept(self.node(row, scope, now), row.formed, row.mirror_seq) for row in rows]

    def counter(self, scope: Scope) -> int:
        rows = self._database.fetch(scope.ns, "aim_counter", (scope.ns,))
        return int(rows[0].seq) if rows else 0

    def numbers(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, int]:
        return dict(self._database.fetch(scope.ns, "aim_numbers", {"ns": scope.ns, "ids": list(ids)}))

    def reserve(self, scope: Scope, count: int) -> int:
        names = (scope.ns, scope.tenant, scope.user, scope.project)
        self._database.execute(scope.ns, "ensure_scope", names)
        self._database.execute(scope.ns, "aim_ensure", {"ns": scope.ns})
        return int(self._database.fetch(scope.ns, "aim_reserve", {"ns": scope.ns, "count": count})[0].last)


def _refusal(row: Row) -> Refusal:
    decision = GateDecision(
        formed=False,
        value=row.value,
        threshold=row.threshold,
        form=row.form,
        relevance=row.relevance,
        surprise=row.surprise,
        conflict=row.conflict,
        decided_at=row.decided_at,
    )
    return Refusal(row.id, row.text, row.speaker, decision)


def _packed(decisions: Sequence[tuple[str, GateDecision, int | None]]) -> Jsonb:
    return Jsonb(
        [
            {"id": key, **asdict(decision), "decided_at": decision.decided_at.isoformat(), "mirror_seq": number}
            for key, decision, number in decisions
        ]
    )
