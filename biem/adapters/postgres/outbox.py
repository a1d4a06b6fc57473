"""The outbox: leases of background jobs, what they learned, dead letters. One part of the port `Records`."""

from collections.abc import Sequence

from psycopg.types.json import Jsonb

from biem.adapters.postgres.database import ALL_SCOPES
from biem.adapters.postgres.node_rows import Store, analysis_json, scope_of
from biem.domain.scope import Scope
from biem.ports import Completion, DeadLetter, Encoded, Job, Waiting


class PostgresOutbox(Store):
    """Jobs are stored in the database of the memories, so that both change in one transaction."""

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[Job]:
        name = "claim_retried" if retried else "claim_fresh"
        rows = self._database.fetch(ALL_SCOPES, name, {"limit": limit, "lease_s": lease_s})
        if not rows:
            return []
        found = self._database.fetch(ALL_SCOPES, "job_nodes", ([row.memory_id for row in rows],))
        now = self._clock.now()
        nodes = {row.id: self.node(row, scope_of(row), now) for row in found}
        lexemes = {row.id: row.lexemes for row in found}
        return [
            Job(**row._asdict(), lexemes=lexemes.get(row.memory_id, ""), node=nodes.get(row.memory_id))
            for row in sorted(rows, key=lambda row: int(row.key))
        ]

    def renew(self, jobs: Sequence[Job], lease_s: float) -> list[Job]:
        parameters = {
            "keys": [job.key for job in jobs],
            "claims": [job.claims for job in jobs],
            "lease_s": lease_s,
        }
        held = {row.key for row in self._database.fetch(ALL_SCOPES, "renew", parameters)}
        return [job for job in jobs if job.key in held]

    def complete(self, encoded: Sequence[Encoded]) -> Completion:
        ids = [item.job.memory_id for item in encoded]
        seen = {item.job.memory_id: item.job.node.revision for item in encoded if item.job.node is not None}
        learned = [
            {
                **analysis_json(item.job.memory_id, item.analysis),
                "ns": item.job.ns,
                "revision": seen.get(item.job.memory_id, 1),
            }
            for item in encoded
        ]
        changes = {
            "model": self._model,
            "learned": Jsonb(learned),
            "at": self._clock.now(),
            "decay": self._decay,
            "enter": self._policies.tiers.enter,
        }

        def attempt() -> Completion:
            with self._database.connection() as connection, connection.pipeline(), connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                completed = connection.execute(self._sql["complete"], changes)
                finished = connection.execute(self._sql["done"], ([item.job.key for item in encoded],))
                existing = connection.execute(self._sql["existing"], (ids,))
            keys = {row.key for row in finished.fetchall()}
            found = existing.fetchall()
            alive = {row.id: row.revision for row in found}
            homes = {row.id: row.ns for row in found}
            moved = {
                item.job.memory_id for item in encoded if homes.get(item.job.memory_id, item.job.ns) != item.job.ns
            }
            revised = {key for key, revision in alive.items() if revision != seen.get(key, revision)} - moved
            hot = {row.id for row in completed.fetchall() if row.tier == "L1"}
            return Completion(
                erased=tuple(memory_id for memory_id in ids if memory_id not in alive),
                overtaken=tuple(
                    item.job.memory_id
                    for item in encoded
                    if item.job.key not in keys and item.job.memory_id in alive.keys() - revised - moved
                ),
                moved=tuple(memory_id for memory_id in ids if memory_id in moved),
                revised=tuple(memory_id for memory_id in ids if memory_id in revised),
                hot=tuple(memory_id for memory_id in ids if memory_id in hot),
            )

        return self._database.retrying(attempt)

    def hasten(self, jobs: Sequence[Job]) -> None:
        parameters = {"ids": [job.memory_id for job in jobs], "claims": [job.claims for job in jobs]}
        self._database.execute(ALL_SCOPES, "hasten", parameters)

    def done(self, jobs: Sequence[Job]) -> None:
        self._database.execute(ALL_SCOPES, "done", ([job.key for job in jobs],))

    def release(self, jobs: Sequence[Job], delay_s: float, reason: str, *, refund: bool) -> None:
        parameters = {
            "delay_s": delay_s,
            "reason": reason[:2000].replace("\0", " "),
            "refund": int(refund),
            "keys": [job.key for job in jobs],
        }
        self._database.execute(ALL_SCOPES, "release", parameters)

    def bury(self, jobs: Sequence[Job], reason: str) -> None:
        keys = [job.key for job in jobs]
        self._database.execute(ALL_SCOPES, "bury", (reason[:2000].replace("\0", " "), keys))

    def dead(self, scope: Scope | None, limit: int) -> list[DeadLetter]:
        rows = self._database.fetch(ALL_SCOPES, "dead", {"ns": scope.ns if scope else None, "limit": limit})
        return [DeadLetter(row.memory_id, scope_of(row), row.attempts, row.reason, row.dead_at) for row in rows]

    def retry_dead(self, scope: Scope | None) -> int:
        ns = scope.ns if scope else None
        return self._database.execute(ns or ALL_SCOPES, "retry_dead", {"ns": ns})

    def backlog(self, scope: Scope | None = None, *, due_only: bool = False) -> int:
        ns = scope.ns if scope else None
        return int(self._database.fetch(ns or ALL_SCOPES, "backlog", {"ns": ns, "due_only": due_only})[0].jobs)

    def encode_due(self) -> bool:
        return bool(self._database.fetch(ALL_SCOPES, "encode_due", {})[0].due)

    def waiting(self, ids: Sequence[str]) -> list[Waiting]:
        return [Waiting(**row._asdict()) for row in self._database.fetch(ALL_SCOPES, "waiting", (list(ids),))]
