"""Energy, tiers, retention, feedback and tombstones in PostgreSQL."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from biem.adapters.postgres.database import ALL_SCOPES, Connection, Database, Row
from biem.adapters.postgres.node_rows import EXPIRED, Store, scope_of
from biem.adapters.postgres.trust.quarantine import PostgresQuarantine, lived
from biem.domain.energy import energy_at, energy_key
from biem.domain.retention import retention_days
from biem.domain.scope import Scope
from biem.domain.trust import is_quarantine
from biem.errors import InvalidInput
from biem.ports import Job, Touched
from biem.ports.hot import CanvasEntry
from biem.ports.life import Aged, RetentionVerdict


class PostgresLife(PostgresQuarantine):
    """The port `LifeRecords`."""

    # -- tiers ------------------------------------------------------------------------------------------------------

    def hot(self, ns: str, at: datetime, limit: int, ids: Sequence[str] | None = None) -> list[CanvasEntry]:
        parameters = {
            "ns": ns,
            "ids": None if ids is None else list(ids),
            "model": self._model,
            "at": at,
            "decay": self._decay,
            "limit": limit,
        }
        return [
            CanvasEntry(
                id=row.id,
                energy_key=energy_key(row.energy_anchor, row.anchor_at, self._decay),
                accessed_at=row.touched_at,
                conversation=row.conversation,
                vector=np.frombuffer(row.vector, dtype="<f4"),
            )
            for row in self._database.fetch(ns, "hot", parameters)
        ]

    def hot_ids(self, ns: str) -> set[str]:
        return {row.id for row in self._database.fetch(ns, "hot_ids", (ns,))}

    def hot_scopes(self, after: str, limit: int) -> list[str]:
        return [row.ns for row in self._database.fetch(ALL_SCOPES, "hot_scopes", (after, limit))]

    def cool(self, ns: str, ids: Sequence[str]) -> int:
        return self._database.execute(ns, "cool", (ns, list(ids)))

    def cool_all_but(self, ns: str, ids: Sequence[str], limit: int) -> int:
        return self._database.execute(ns, "cool_all_but", {"ns": ns, "ids": list(ids), "limit": limit})

    def fade(self, at: datetime, limit: int) -> list[tuple[str, str]]:
        policy = self._policies.tiers
        parameters = {
            "at": at,
            "decay": self._decay,
            "weakest": max(policy.demote, policy.minimum),
            "idle_since": at - timedelta(seconds=policy.idle_s),
            "limit": limit,
        }
        return [(ns, memory_id) for ns, memory_id in self._database.fetch(ALL_SCOPES, "fade", parameters)]

    # -- retention --------------------------------------------------------------------------------------------------

    def review(
        self, scope: Scope | None, at: datetime, judge: Callable[[Aged], RetentionVerdict], limit: int
    ) -> list[tuple[Aged, RetentionVerdict]]:
        def attempt() -> list[tuple[Aged, RetentionVerdict]]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns if scope else ALL_SCOPES,))
                due = {"at": at, "limit": limit, "ns": scope.ns if scope else None}
                rows = connection.execute(self._sql["due"], due).fetchall()
                judged = [(memory, judge(memory)) for memory in (self._aged(row, at) for row in rows)]
                kept = [(memory, verdict) for memory, verdict in judged if verdict.archive is None]
                gone = [(memory.id, verdict.archive) for memory, verdict in judged if verdict.archive is not None]
                if kept:
                    changes = {
                        "ids": [memory.id for memory, _ in kept],
                        "layers": [verdict.layer for _, verdict in kept],
                        "due": [verdict.due_at for _, verdict in kept],
                    }
                    connection.execute(self._sql["keep"], changes)
                if gone:
                    connection.execute(self._sql["archive"], self._leaving(None, gone, at))
            return judged

        return self._database.retrying(attempt)

    def _aged(self, row: Row, at: datetime) -> Aged:
        energy = energy_at(row.energy_anchor, row.anchor_at, at, self._decay)
        return Aged(row.id, row.ns, lived(row, believed=row.trust > 0), energy, row.touched_at)

    def archive(
        self, scope: Scope, ids: Sequence[str], reason: str, at: datetime, *, superseded_by: str | None = None
    ) -> list[str]:
        leaving = self._leaving(scope.ns, [(memory_id, reason) for memory_id in ids], at, superseded_by)
        return [row.id for row in self._database.fetch(scope.ns, "archive", leaving)]

    def _leaving(
        self, ns: str | None, gone: Sequence[tuple[str, str]], at: datetime, superseded_by: str | None = None
    ) -> dict[str, Any]:
        return {
            "ns": ns,
            "ids": [memory_id for memory_id, _ in gone],
            "reasons": [reason for _, reason in gone],
            "at": at,
            "superseded_by": superseded_by,
            "after_s": self._policies.encode.lease_s + 5.0,
        }

    def restore(self, scope: Scope, memory_id: str, at: datetime) -> bool:
        tried: list[str] = []

        def attempt() -> bool:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                found = connection.execute(
                    self._sql["archived"], {"ns": scope.ns, "id": memory_id, "at": at}
                ).fetchone()
                if found is None:
                    return bool(tried)  # by the attempt whose answer was lost
                if is_quarantine(found.archive_reason):
                    raise InvalidInput(f"memory {memory_id} is in quarantine; release() brings it back")
                days = retention_days(lived(found, believed=found.trust > 0), self._policies.retention)
                due_at = None if days is None else at + timedelta(days=days)
                back = {"ns": scope.ns, "id": memory_id, "at": at, "due_at": due_at}
                connection.execute(self._sql["restore"], back)
                # A decision that it lost by is still in force.
                connection.execute(self._sql["conflict_settle"], {"ns": scope.ns, "losers": [memory_id], "former": []})
                tried.append(memory_id)
            return True

        return self._database.retrying(attempt)

    def cleared(self, jobs: Sequence[Job]) -> None:
        keys = {"keys": [job.key for job in jobs], "ids": [job.memory_id for job in jobs]}
        self._database.execute(ALL_SCOPES, "cleared", keys)

    # -- expiry -----------------------------------------------------------------------------------------------------

    def expire(self, scope: Scope | None, at: datetime, limit: int) -> list[str]:
        seen = scope.ns if scope else ALL_SCOPES
        due = {"at": at, "limit": limit, "ns": scope.ns if scope else None}

        def attempt() -> list[str]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (seen,))
                gone = [(row.id, EXPIRED) for row in connection.execute(self._sql["expiring"], due)]
                if gone:
                    connection.execute(self._sql["archive"], self._leaving(None, gone, at))
            return [memory_id for memory_id, _ in gone]

        return self._database.retrying(attempt)

    def prove(self, scope: Scope | None, at: datetime) -> int:
        retention = self._policies.retention
        seen, ns = (scope.ns, scope.ns) if scope else (ALL_SCOPES, None)
        enough = {"accesses": retention.promote_accesses, "useful": retention.promote_useful}
        return self._database.execute(seen, "proven", {"ns": ns, "at": at, **enough})

    def expired(self, scope: Scope | None, at: datetime, limit: int) -> list[tuple[Scope, str]]:
        due = {"at": at, "limit": limit, "ns": scope.ns if scope else None}
        rows = self._database.fetch(scope.ns if scope else ALL_SCOPES, "expired", due)
        return [(scope_of(row), row.id) for row in rows]

    # -- capacity ---------------------------------------------------------------------------------------------------

    def crowded(self) -> list[Scope]:
        most = {"most": self._policies.retention.max_memories}
        return [scope_of(row) for row in self._database.fetch(ALL_SCOPES, "crowded", most)]

    def make_room(self, scope: Scope, at: datetime, limit: int) -> list[str]:
        policy = self._policies.retention

        def attempt() -> list[str]:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                [(held, untrusted)] = connection.execute(self._sql["held"], (scope.ns,)).fetchall()
                surplus = held - int(policy.max_memories * policy.keep_share) if held > policy.max_memories else 0
                if held - untrusted <= policy.max_memories:  # then the untrusted ones crowd, and alone make room
                    surplus = min(surplus, untrusted)
                gone: list[str] = []
                full = False
                if surplus:
                    picked = self._least_valuable(connection, scope, at, min(surplus, limit))
                    full = len(picked) == limit
                    still = self._unchanged(connection, scope, picked)
                    leaving = self._leaving(scope.ns, [(memory_id, "capacity") for memory_id in still], at)
                    gone = [row.id for row in connection.execute(self._sql["archive"], leaving)]
                if surplus <= limit or not full:  # else the next run goes on
                    room = policy.max_memories - held + len(gone)
                    if room < 0:  # the rest may not be archived: it is counted again when some more have come
                        room = round(policy.max_memories * (1 - policy.keep_share))
                    connection.execute(self._sql["room"], {"ns": scope.ns, "room": room})
            return gone

        return self._database.retrying(attempt)

    def limit_short_term(self, scope: Scope | None, at: datetime, limit: int) -> list[str]:
        seen, ns = (scope.ns, scope.ns) if scope else (ALL_SCOPES, None)
        beyond = {"ns": ns, "most": self._policies.layers.short_term_most, "limit": limit}

        def attempt() -> list[str]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (seen,))
                surplus = [(row.id, "capacity") for row in connection.execute(self._sql["surplus"], beyond)]
                if not surplus:
                    return []
                leaving = self._leaving(ns, surplus, at)
                return [row.id for row in connection.execute(self._sql["archive"], leaving)]

        return self._database.retrying(attempt)

    def _least_valuable(self, connection: Connection, scope: Scope, at: datetime, limit: int) -> dict[str, str]:
        """What should go first, and the version of its row. Not locked: the whole scope is looked at."""
        least = {
            "ns": scope.ns,
            "at": at,
            "decay": self._decay,
            "minimum": self._policies.tiers.minimum,
            "limit": limit,
        }
        return dict(connection.execute(self._sql["least_valuable"], least).fetchall())

    def _unchanged(self, connection: Connection, scope: Scope, picked: Mapping[str, str]) -> list[str]:
        """Lock these; return those whose rows did not change since they were picked."""
        keys = {"ns": scope.ns, "ids": list(picked), "versions": list(picked.values())}
        held = [row.id for row in connection.execute(self._sql["room_lock"], keys)]
        return [row.id for row in connection.execute(self._sql["room_unchanged"], {**keys, "held": held})]


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
                counted.append([self.touched(row) for row in connection.execute(self._sql["reward"], parameters)])
            return counted[-1]

        return self._database.retrying(attempt)

    def compact(self, scope: Scope, before: datetime, limit: int) -> int:
        return self._database.execute(scope.ns, "feedback_compact", {"ns": scope.ns, "before": before, "limit": limit})


class PostgresTombstones:
    """The port `Tombstones`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def due(self, limit: int) -> list[tuple[str, str]]:
        self._database.execute(ALL_SCOPES, "tombstones_void", ())
        return [(row.id, row.ns) for row in self._database.fetch(ALL_SCOPES, "tombstones_due", {"limit": limit})]

    def looked(self, ids: Sequence[str], kept_s: float) -> None:
        self._database.execute(ALL_SCOPES, "tombstones_forget", {"ids": list(ids), "kept_s": kept_s})
        self._database.execute(ALL_SCOPES, "tombstones_looked", {"ids": list(ids)})
