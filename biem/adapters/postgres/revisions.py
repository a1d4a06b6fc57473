"""Revising memories in PostgreSQL: one transaction under the lock of the scope, as for a write."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from biem.adapters.postgres.database import ALL_SCOPES, Connection
from biem.adapters.postgres.node_rows import FIRST_ID, Store, values_of
from biem.adapters.postgres.trust.quarantine import EFFECTS
from biem.domain.node import Node
from biem.domain.retention import Lived, retention_days
from biem.domain.revision import INDEXED, Revision, judged_anew
from biem.domain.scope import Scope
from biem.domain.trust import LEVELS, UNTRUSTED
from biem.errors import InvalidInput, NotFound
from biem.ports.revisions import Change, FormerText

_LIVED = frozenset({"text", "kind", "layer", "importance", "reason", "trust"})
"""Fields that retention depends on."""
_STATED = frozenset({"text", "kind"})
"""Fields that the identity of a fact depends on."""
_A_MOMENT = timedelta(microseconds=1)


class PostgresRevisions(Store):
    """The port `Revisions`."""

    def revise(self, scope: Scope, change: Change, at: datetime) -> Node | None:
        tried: list[datetime] = []

        def attempt() -> Node | None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                node = self.locked(connection, scope, change.id)
                if node is None:
                    raise NotFound(f"no memory {change.id} in scope {scope}")
                if node.revision == change.base + 1 and node.revised_at in tried:
                    return node  # by the attempt whose answer was lost
                if node.status == "archived":
                    raise InvalidInput(f"memory {change.id} is archived; restore it first")
                if node.revision != change.base:
                    return None
                tried.append(self.revise_here(connection, scope, node, change, at))
                return self.locked(connection, scope, change.id)

        return self._database.retrying(attempt)

    def revise_here(self, connection: Connection, scope: Scope, node: Node, change: Change, at: datetime) -> datetime:
        """Within a transaction that has locked the scope: revise a live memory; returns the time of the revision."""
        moment = at if node.revised_at is None else max(at, node.revised_at + _A_MOMENT)
        row = self._row(scope, node, change, moment)
        self._require_alone(connection, node, row)
        connection.execute(self._sql["revise_keep"], row)
        distrusted = node.trust != UNTRUSTED and row["trust"] == 0
        if distrusted:
            self._distrust(connection, scope.ns, change.id)
        connection.execute(self._sql["revise_write"], row)
        if row["said"]:
            self._unsay(connection, scope.ns, [change.id], moment, every_link=distrusted)
        return moment

    def outdated(self, revisions: Sequence[tuple[str, int]]) -> list[str]:
        seen = {"ids": [key for key, _ in revisions], "revisions": [number for _, number in revisions]}
        found: dict[str, list[str]] = defaultdict(list)
        for row in self._database.fetch(ALL_SCOPES, "revise_outdated", seen):
            found[row.ns].append(row.id)
        for ns, ids in found.items():
            self._index_again(ns, ids)
        return [key for ids in found.values() for key in ids]

    def _index_again(self, ns: str, ids: Sequence[str]) -> None:
        def attempt() -> None:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ns,))
                connection.execute(self._sql["lock_scope"], (ns,))
                self._unsay(connection, ns, ids, self._clock.now())
                connection.execute(self._sql["revise_index"], {"ids": list(ids)})

        self._database.retrying(attempt)

    def former(self, after: tuple[str, int], limit: int, *, memory_id: str | None = None) -> list[FormerText]:
        place = {"after": after[0] or FIRST_ID, "revision": after[1], "id": memory_id}
        rows = self._database.fetch(ALL_SCOPES, "former_page", {**place, "model": self._model, "limit": limit})
        return [FormerText(**row._asdict()) for row in rows]

    def describe(self, terms: Sequence[tuple[str, int, str]]) -> None:
        if terms:
            ids, revisions, lexemes = zip(*terms, strict=True)
            row = {"ids": list(ids), "revisions": list(revisions), "lexemes": list(lexemes)}
            self._database.execute(ALL_SCOPES, "former_describe", row)

    def history(self, scope: Scope, memory_id: str) -> list[Revision]:
        keys = {"ns": scope.ns, "id": memory_id}

        def attempt() -> list[Revision]:
            with self._database.connection() as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (scope.ns,))
                node = self.locked(connection, scope, memory_id)
                rows = connection.execute(self._sql["revisions_of"], keys).fetchall()
            if node is None:
                return []
            former = [_former(row._asdict()) for row in rows]
            made = [(node.created_at, ""), *((row.stood_until, row.revised_by) for row in rows)]
            return [
                Revision(**values, made_at=moment, by=by)
                for values, (moment, by) in zip([*former, _present(node)], made, strict=True)
            ]

        return self._database.retrying(attempt)

    def locked(self, connection: Connection, scope: Scope, memory_id: str) -> Node | None:
        row = connection.execute(self._sql["revise_lock"], {"ns": scope.ns, "id": memory_id}).fetchone()
        return None if row is None else self.node(row, scope, self._clock.now())

    def _row(self, scope: Scope, node: Node, change: Change, at: datetime) -> dict[str, Any]:
        draft = change.draft
        lived = Lived(
            draft.text, draft.source, draft.kind, draft.layer, draft.importance, draft.reason,
            node.access_count, node.useful_count, believed=draft.trust != UNTRUSTED,
        )  # fmt: skip
        days = retention_days(lived, self._policies.retention)
        anew = judged_anew(change.changed, node.trust, draft.trust)
        return {
            **values_of(draft),
            "id": change.id,
            "ns": scope.ns,
            "at": at,
            "by": change.by,
            "lexemes": change.lexemes,
            "fact_key": change.fact_key,
            "restated": bool(change.changed & _STATED),
            "said_at": draft.at,
            "relived": bool(change.changed & _LIVED),
            "kept_until": None if days is None else at + timedelta(days=days),
            "indexed": anew or bool(change.changed & INDEXED),
            "said": anew,
            "after_s": self._policies.encode.lease_s + 5.0,
        }

    def _require_alone(self, connection: Connection, node: Node, row: dict[str, Any]) -> None:
        if not row["restated"] or row["fact_key"] is None or node.superseded_by is not None:
            return
        twin = connection.execute(self._sql["revise_twin"], row).fetchone()
        if twin is None:
            return
        if twin.status != "archived":
            raise InvalidInput(f"memory {twin.id} states the same already; erase or archive one of the two")
        connection.execute(self._sql["revise_free"], {"twin": twin.id})

    def _distrust(self, connection: Connection, ns: str, memory_id: str) -> None:
        """End the effect of a memory on others: what it replaced is valid again, conflicts about it vanish, and it is
        not core.
        """
        for step in (*EFFECTS, "release_layer"):
            connection.execute(self._sql[step], {"ns": ns, "ids": [memory_id], "all": False})

    def _unsay(
        self, connection: Connection, ns: str, ids: Sequence[str], at: datetime, *, every_link: bool = False
    ) -> None:
        """Remove what was derived from former texts of these memories."""
        length = self._policies.concepts.snippet_messages
        keys = {"ns": ns, "ids": list(ids), "at": at, "length": length, "every": every_link}
        for step in ("unlink", "reopen", "unnote"):
            connection.execute(self._sql[f"revise_{step}"], keys)
        concepts = [row.id for row in connection.execute(self._sql["revise_concepts"], keys)]
        if concepts:
            connection.execute(self._sql["concept_lock"], {"ns": ns, "ids": sorted(concepts)})
        connection.execute(self._sql["revise_unsay"], keys)
        if concepts:
            connection.execute(self._sql["revise_forget_concepts"], {"ns": ns, "concepts": concepts})
        facts = [row.id for row in connection.execute(self._sql["revise_facts"], keys)]
        if facts:
            leaving = {
                "ns": ns,
                "ids": facts,
                "reasons": ["a source was revised"] * len(facts),
                "at": at,
                "superseded_by": None,
                "after_s": self._policies.encode.lease_s + 5.0,
            }
            connection.execute(self._sql["archive"], leaving)
            connection.execute(self._sql["revise_undistil"], {"ns": ns, "facts": facts})


def _former(row: dict[str, Any]) -> dict[str, Any]:
    del row["revised_by"]
    return {**row, "tags": tuple(row["tags"]), "trust": LEVELS[row["trust"]]}


def _present(node: Node) -> dict[str, Any]:
    return {
        "revision": node.revision,
        "text": node.text,
        "kind": node.kind,
        "tags": node.tags,
        "reason": node.reason,
        "importance": node.importance,
        "speaker": node.speaker,
        "at": node.at,
        "layer": node.layer,
        "metadata": node.metadata,
        "expires_at": node.expires_at,
        "on_expiry": node.on_expiry,
        "trust": node.trust,
    }
