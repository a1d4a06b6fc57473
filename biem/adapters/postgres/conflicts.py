"""Conflicts in PostgreSQL.

Who decides one locks its scope first, then its row, then both memories in the order of their ids: the decisions of a
scope are made one after the other, so that no two of them close a circle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from biem.adapters.clock import SystemClock
from biem.adapters.postgres.database import ALL_SCOPES, Connection, Database, Row
from biem.adapters.postgres.node_rows import scope_of
from biem.domain.conflict import Conflict, ConflictKind, Decider, Dispute, Resolution
from biem.domain.scope import Scope
from biem.errors import AlreadyDecided, InvalidInput, NotFound
from biem.ports import Clock
from biem.ports.conflicts import Claimed, ConflictFinding, Peer, Plan

_RESTORE_AFTER_S = 120.0


class PostgresConflicts:
    """The port `Conflicts`. `model` is the id of the embedder whose vectors are compared; `purge_after_s` outlasts the
    lease of a worker that may be encoding a memory while it is archived."""

    def __init__(self, database: Database, *, model: str, purge_after_s: float, clock: Clock | None = None) -> None:
        """`clock`: the system's by default; it tells what has expired."""
        self._database = database
        self._sql = database.sql
        self._model = model
        self._purge_after_s = purge_after_s
        self._clock = clock or SystemClock()

    def peers(self, scope: Scope, ids: Sequence[str], seqs: Sequence[int], around: int, max_chars: int) -> list[Peer]:
        if not ids and not seqs:
            return []
        parameters = {
            "ns": scope.ns,
            "ids": list(ids),
            "seqs": around_all(seqs, around),
            "model": self._model,
            "max_chars": max_chars,
            "now": self._clock.now(),
        }
        rows = self._database.fetch(scope.ns, "conflict_peers", parameters, binary=True)
        return [Peer(**{**row._asdict(), "vector": np.frombuffer(row.vector, dtype="<f4")}) for row in rows]

    def texts(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, str]:
        return dict(self._database.fetch(scope.ns, "conflict_texts", {"ns": scope.ns, "ids": list(ids)})) if ids else {}

    def record(self, scope: Scope, findings: Sequence[ConflictFinding], at: datetime) -> list[Conflict]:
        if not findings:
            return []
        older = [finding.older_id for finding in findings]
        newer = [finding.newer_id for finding in findings]

        def attempt() -> list[Conflict]:
            with self._database.connection() as connection, connection.pipeline(), connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                if any(finding.acts for finding in findings):
                    connection.execute(self._sql["lock_scope"], (scope.ns,))
                spans = self._lock_memories(connection, scope, [*older, *newer])
                still = [finding for finding in findings if _is_open(finding, spans)]
                self._add(connection, scope, [finding for finding in still if not finding.acts], at)
                for finding in (finding for finding in still if finding.acts):  # each may lead back to another
                    if self._behind(connection, scope, finding.newer_id, [finding.older_id]):
                        self._add(connection, scope, [replace(finding, acts=False)], at)
                    else:
                        self._add(connection, scope, [finding], at)
                        self._settle(connection, scope, [finding.older_id], ())
                known = connection.execute(
                    self._sql["conflict_of_pairs"], {"ns": scope.ns, "older": older, "newer": newer}
                )
            return [conflict_of(row) for row in known.fetchall()]

        return self._database.retrying(attempt)

    def _add(self, connection: Connection, scope: Scope, findings: Sequence[ConflictFinding], at: datetime) -> None:
        if findings:
            rows = Jsonb([asdict(finding) for finding in findings])
            connection.execute(self._sql["conflict_record"], {"ns": scope.ns, "findings": rows, "at": at})

    def get(self, scope: Scope, conflict_id: str) -> Conflict | None:
        rows = self._database.fetch(scope.ns, "conflict_get", {"ns": scope.ns, "id": conflict_id})
        return conflict_of(rows[0]) if rows else None

    def find(
        self,
        scope: Scope,
        status: str | None,
        kinds: Sequence[str],
        limit: int,
        memory_id: str | None = None,
        *,
        after: str | None = None,
    ) -> list[Conflict]:
        parameters = {
            "ns": scope.ns,
            "status": status,
            "kinds": list(kinds) or None,
            "limit": limit,
            "memory_id": memory_id,
            "after": after,
            "now": self._clock.now(),
        }
        name = "conflict_find_pending" if status == "pending" else "conflict_find"
        return [conflict_of(row) for row in self._database.fetch(scope.ns, name, parameters)]

    def count(self, scope: Scope, status: str | None, kinds: Sequence[str]) -> int:
        parameters = {"ns": scope.ns, "status": status, "kinds": list(kinds) or None, "now": self._clock.now()}
        name = "conflict_count_pending" if status == "pending" else "conflict_count"
        return int(self._database.fetch(scope.ns, name, parameters)[0].conflicts)

    def open_of(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Sequence[Dispute]]:
        if not ids:
            return {}
        namespaces = [scope.ns for scope in scopes]
        parameters = {"scopes": namespaces, "ids": list(ids), "now": self._clock.now()}
        rows = self._database.fetch(",".join(namespaces), "conflict_open_of", parameters)
        found: dict[str, list[Dispute]] = {}
        for row in rows:
            found.setdefault(row.id, []).append(Dispute(row.confidence, row.newer_id, row.since, row.claim))
        return found

    # -- deciding ---------------------------------------------------------------------------------------------------

    def resolve(
        self,
        scope: Scope,
        conflict_id: str,
        resolution: Resolution | None,
        by: Decider,
        at: datetime,
        *,
        merged_id: str | None = None,
    ) -> Conflict:
        if (resolution == "merge") != (merged_id is not None):
            raise InvalidInput("a merge, and nothing else, needs the id of the merged memory")

        def attempt() -> Conflict:
            with self._database.connection() as connection, connection.transaction():
                conflict, plan = self._lock(connection, scope, conflict_id)
                if (conflict.status, conflict.resolution) == ("resolved" if resolution else "ignored", resolution):
                    return conflict
                _require_open(conflict, plan, merging=resolution == "merge")
                winner, losers = _outcome(conflict, resolution, merged_id)
                self._lock_memories(connection, scope, [conflict.older_id, conflict.newer_id])
                keys = {"ns": scope.ns, "id": conflict_id}
                self._require_no_circle(connection, scope, winner, losers)
                if losers:
                    connection.execute(self._sql["conflict_supersede"], {**keys, "winner": winner, "losers": losers})
                    self._settle(connection, scope, losers, ())
                decision = {
                    "status": "resolved" if resolution else "ignored",
                    "resolution": resolution,
                    "by": by,
                    "at": at,
                    "merged_id": merged_id,
                }
                connection.execute(self._sql["conflict_decide"], {**keys, **decision})
                return self._read(connection, scope, conflict_id)[0]

        return self._database.retrying(attempt)

    def undo(self, scope: Scope, conflict_id: str, at: datetime, plan: Plan | None) -> Conflict:
        def attempt() -> Conflict:
            with self._database.connection() as connection, connection.transaction():
                conflict, _ = self._lock(connection, scope, conflict_id)
                if conflict.status == "pending":
                    return conflict
                both = [conflict.older_id, conflict.newer_id]
                merged = [conflict.merged_id] if conflict.merged_id else []
                keys = {"ns": scope.ns, "id": conflict_id}
                if merged and (onward := connection.execute(self._sql["conflict_onward"], keys).fetchone()):
                    raise AlreadyDecided(
                        f"what the merge made was merged further by conflict {onward.id}; undo that first"
                    )
                self._lock_memories(connection, scope, [*both, *merged])
                connection.execute(self._sql["conflict_take_back"], keys)
                self._settle(connection, scope, both, [*both, *merged])
                if merged:  # as if it had never been: its own conflicts go, too
                    gone = {"ns": scope.ns, "ids": merged, "all": False}
                    connection.execute(self._sql["erase_supersessions"], gone)
                    connection.execute(self._sql["erase_conflicts"], gone)
                    leaving = {
                        "ids": merged,
                        "reasons": ["unmerged"],
                        "superseded_by": None,
                        "after_s": self._purge_after_s,
                    }
                    connection.execute(self._sql["archive"], {"ns": scope.ns, "at": at, **leaving})
                    # Memories that it replaced since have no other replacement.
                    connection.execute(self._sql["erase_revive"], {"ns": scope.ns, "ids": merged})
                kept = None if plan is None else Jsonb(asdict(plan))
                connection.execute(self._sql["conflict_reopen"], {**keys, "plan": kept, "lease_s": _RESTORE_AFTER_S})
                return self._read(connection, scope, conflict_id)[0]

        return self._database.retrying(attempt)

    def begin(self, scope: Scope, conflict_id: str, plan: Plan, lease_s: float) -> Plan:
        def attempt() -> Plan:
            with self._database.connection() as connection, connection.transaction():
                conflict, known = self._lock(connection, scope, conflict_id)
                _require_open(conflict, known, merging=True)
                if known is not None:
                    return known
                parameters = {"ns": scope.ns, "id": conflict_id, "plan": Jsonb(asdict(plan)), "lease_s": lease_s}
                connection.execute(self._sql["conflict_begin"], parameters)
            return plan

        return self._database.retrying(attempt)

    def plan_of(self, scope: Scope, conflict_id: str) -> Plan | None:
        rows = self._database.fetch(scope.ns, "conflict_get", {"ns": scope.ns, "id": conflict_id})
        return plan_of(rows[0]) if rows else None

    def carried_out(self, scope: Scope, conflict_id: str) -> None:
        self._database.execute(scope.ns, "conflict_carried_out", {"ns": scope.ns, "id": conflict_id})

    # -- work -------------------------------------------------------------------------------------------------------

    def claim(self, lease_s: float, max_attempts: int, *, judged: bool) -> Claimed | None:
        rows = self._database.fetch(ALL_SCOPES, "conflict_claim_planned", {"lease_s": lease_s})
        if not rows and judged:
            parameters = {"lease_s": lease_s, "max_attempts": max_attempts}
            rows = self._database.fetch(ALL_SCOPES, "conflict_claim_unjudged", parameters)
        return Claimed(scope_of(rows[0]), conflict_of(rows[0]), plan_of(rows[0])) if rows else None

    def release(self, scope: Scope, conflict_id: str, delay_s: float) -> None:
        self._database.execute(scope.ns, "conflict_release", {"ns": scope.ns, "id": conflict_id, "delay_s": delay_s})

    def judged(self, scope: Scope, conflict_id: str, kind: ConflictKind | None) -> None:
        self._database.execute(scope.ns, "conflict_judged", {"ns": scope.ns, "id": conflict_id, "kind": kind})

    # -- inside a transaction ---------------------------------------------------------------------------------------

    def _lock(self, connection: Connection, scope: Scope, conflict_id: str) -> tuple[Conflict, Plan | None]:
        connection.execute(self._sql["see_scopes"], (scope.ns,))
        connection.execute(self._sql["lock_scope"], (scope.ns,))
        connection.execute(self._sql["conflict_lock"], {"ns": scope.ns, "id": conflict_id})
        return self._read(connection, scope, conflict_id)

    def _read(self, connection: Connection, scope: Scope, conflict_id: str) -> tuple[Conflict, Plan | None]:
        row = connection.execute(self._sql["conflict_get"], {"ns": scope.ns, "id": conflict_id}).fetchone()
        if row is None:
            raise NotFound(f"no conflict {conflict_id} in scope {scope}")
        return conflict_of(row), plan_of(row)

    def _lock_memories(
        self, connection: Connection, scope: Scope, ids: Sequence[str]
    ) -> dict[str, tuple[datetime, datetime | None]]:
        """From when until when each of them holds."""
        rows = connection.execute(self._sql["conflict_lock_memories"], {"ns": scope.ns, "ids": list(ids)})
        return {memory_id: (valid_from, valid_to) for memory_id, valid_from, valid_to in rows}

    def _require_no_circle(
        self, connection: Connection, scope: Scope, winner: str | None, losers: Sequence[str]
    ) -> None:
        """Were each superseded by the other, none would hold."""
        if winner is not None and (heir := self._behind(connection, scope, winner, losers)):
            raise AlreadyDecided(f"memory {winner} was itself replaced by {heir}; restore it, or undo that first")

    def _behind(self, connection: Connection, scope: Scope, winner: str, losers: Sequence[str]) -> str | None:
        """The one of the losers that the winner stands behind, or would when other decisions are taken back."""
        keys = {"ns": scope.ns, "winner": winner, "losers": list(losers)}
        found = connection.execute(self._sql["conflict_behind"], keys).fetchone()
        return found.id if found else None

    def _settle(self, connection: Connection, scope: Scope, losers: Sequence[str], former: Sequence[str]) -> None:
        parameters = {"ns": scope.ns, "losers": list(losers), "former": list(former)}
        connection.execute(self._sql["conflict_settle"], parameters)


def _is_open(finding: ConflictFinding, spans: Mapping[str, tuple[datetime, datetime | None]]) -> bool:
    """Whether the finding still applies. A concurrent decision may have said that one of the two never held, or, which
    matters where the rule does not act, have ended the older before the newer began."""
    if finding.older_id not in spans or finding.newer_id not in spans:
        return False
    (older_from, older_to), (newer_from, newer_to) = spans[finding.older_id], spans[finding.newer_id]
    if older_to is not None and older_to <= (older_from if finding.acts else max(older_from, newer_from)):
        return False
    return newer_to is None or newer_to > newer_from


def _outcome(conflict: Conflict, resolution: Resolution | None, merged_id: str | None) -> tuple[str | None, list[str]]:
    """Who wins, and who loses."""
    if resolution == "keep_new":
        return conflict.newer_id, [conflict.older_id]
    if resolution == "keep_old":
        return conflict.older_id, [conflict.newer_id]
    if resolution == "merge":
        return merged_id, [conflict.older_id, conflict.newer_id]
    return None, []


def _require_open(conflict: Conflict, plan: Plan | None, *, merging: bool) -> None:
    if conflict.status != "pending":
        decision = f"resolved by {conflict.resolution}" if conflict.resolution else "ignored"
        raise AlreadyDecided(f"conflict {conflict.id} was {decision} ({conflict.decided_by}); undo that first")
    if plan is not None and not (merging and plan.step == "merge"):
        raise AlreadyDecided(f"conflict {conflict.id} has a merge under way; wait for it, or undo it")


def around_all(seqs: Sequence[int], around: int) -> list[int]:
    """The numbers up to `around` away from any of these; less far where these lie far apart and that were too many."""
    most = 2 * (2 * around + len(seqs))
    while True:
        near = {number for seq in seqs for number in range(max(1, seq - around), seq + around + 1)}
        if len(near) <= most:
            return sorted(near)
        around //= 2


def conflict_of(row: Row) -> Conflict:
    """A row of the view conflict_records."""
    return Conflict(
        id=str(row.id),
        kind=row.kind,
        older_id=str(row.older_id),
        newer_id=str(row.newer_id),
        older_text=row.older_text,
        newer_text=row.newer_text,
        confidence=row.confidence,
        rule=row.rule,
        attribute=row.attribute,
        status=row.status,
        resolution=row.resolution,
        decided_by=row.decided_by,
        merged_id=row.merged_id and str(row.merged_id),
        created_at=row.created_at,
        resolved_at=row.resolved_at,
        moot=row.moot,
        suspected=row.suspected,
        subject=row.subject,
    )


def plan_of(row: Row) -> Plan | None:
    """The unfinished plan for the conflict of such a row."""
    kept: dict[str, Any] | None = row.plan
    return Plan(**kept) if kept else None
