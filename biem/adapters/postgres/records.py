"""Records in PostgreSQL: a write is one transaction and, where possible, one round trip (libpq's pipeline)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

import numpy as np

from biem.adapters.postgres.database import ALL_SCOPES, Database
from biem.adapters.postgres.erasure import PostgresErasure
from biem.adapters.postgres.metadata_path import metadata_path
from biem.adapters.postgres.node_rows import FIRST_ID, scope_of, values_of, vector_of
from biem.adapters.postgres.outbox import PostgresOutbox
from biem.adapters.postgres.trust.repeated import settle_repeated
from biem.domain.node import Node, is_id
from biem.domain.policies import Policies
from biem.domain.prompt.contents import Revised
from biem.domain.retention import Lived, retention_days
from biem.domain.scope import Scope
from biem.domain.scores import bm25
from biem.domain.text import storable
from biem.domain.trust import rank
from biem.ports import Candidates, Clock, Filter, Touched, Vector, Vectors, Write, Written

_PLANNED_BEFORE, _TOLD_AFTER = timedelta(days=120), timedelta(days=7)
"""How long before and after an event messages about it are read."""
_TEXT_SEARCH_ROWS = 500
_PAGE = 500
_MOST_COUNTED = 100_000


class PostgresRecords(PostgresOutbox, PostgresErasure):
    """The port `Records`. `model` is the embedder's id. The database is shared with other adapters."""

    def __init__(
        self,
        database: Database,
        *,
        clock: Clock,
        decay_per_hour: float,
        model: str = "",
        policies: Policies | None = None,
    ) -> None:
        super().__init__(database, clock=clock, decay_per_hour=decay_per_hour, model=model, policies=policies)
        self._known_scopes: set[str] = set()

    # -- writing ----------------------------------------------------------------------------------------------------

    def remember(self, scope: Scope, writes: Sequence[Write]) -> list[Written]:
        now = self._clock.now()
        rows = [self.write_row(scope, write, now) for write in writes]

        def attempt() -> list[Written] | None:
            with self._database.connection() as connection:
                if scope.ns not in self._known_scopes:
                    with connection.transaction():
                        connection.execute(self._sql["see_scopes"], (scope.ns,))
                        connection.execute(
                            self._sql["ensure_scope"], (scope.ns, scope.tenant, scope.user, scope.project)
                        )
                    self._known_scopes.add(scope.ns)
                if len(rows) == 1:
                    first = [("lock_scope", (scope.ns,))] if _may_be_there(rows[0]) else []
                    if connection.send(("see_scopes", (scope.ns,)), *first, ("remember", rows[0]))[-1].rows:
                        return [Written(writes[0].id, True)]
                with connection.pipeline(), connection.transaction():
                    connection.execute(self._sql["see_scopes"], (scope.ns,))
                    lock = connection.execute(self._sql["lock_scope"], (scope.ns,))
                    results = [connection.execute(self._sql["remember"], row) for row in rows]
                    created = [result.fetchone() is not None for result in results]
                    if lock.fetchone() is None:
                        return None
                    return [
                        Written(write.id, True) if new else settle_repeated(connection, self._sql, row)
                        for write, row, new in zip(writes, rows, created, strict=True)
                    ]

        while True:
            written = self._database.retrying(attempt)
            if written is not None:
                return written
            self._known_scopes.discard(scope.ns)  # the scope was erased by another process since we last wrote

    def write_row(self, scope: Scope, write: Write, now: datetime) -> dict[str, Any]:
        draft = write.draft
        believed = rank(draft.trust) > 0
        written = Lived(
            draft.text, draft.source, draft.kind, draft.layer, draft.importance, draft.reason, believed=believed
        )
        days = retention_days(written, self._policies.retention)
        return {
            **values_of(draft),
            "id": write.id,
            "ns": scope.ns,
            "ref": draft.ref,
            "fact_key": write.fact_key,
            "source": draft.source,
            "conversation": draft.conversation,
            "at": draft.at,
            "now": now,
            "lexemes": write.lexemes,
            "energy": write.energy,
            "due_at": None if days is None else now + timedelta(days=days),
            "origin": draft.origin,
        }

    def touch(self, scope: Scope, ids: Sequence[str], at: datetime) -> list[Touched]:
        namespaces = [readable.ns for readable in scope.readable]
        parameters = {
            "scopes": namespaces,
            "ids": list(ids),
            "at": at,
            "decay": self._decay,
            "boost": self._policies.energy.boost,
            "cooldown_s": self._policies.energy.boost_cooldown_s,
            "promote": self._policies.tiers.promote,
            "accesses": self._policies.retention.promote_accesses,
        }
        with self._database.deferring():  # to be read must not keep those waiting who write
            rows = self._database.fetch(",".join(namespaces), "touch", parameters)
        return [self.touched(row) for row in rows]

    # -- reading ----------------------------------------------------------------------------------------------------

    def candidates(
        self,
        scopes: Sequence[Scope],
        ids: Sequence[str],
        lexemes: Sequence[str],
        where: Filter,
        *,
        pending_limit: int,
        evidence: bool,
    ) -> Candidates:
        by_ns, now = {scope.ns: scope for scope in scopes}, self._clock.now()
        parameters = {
            **conditions(scopes, where, now, self._decay),
            **searched(scopes, lexemes),
            "ids": list(ids),
            "pending_limit": pending_limit,
            "evidence": evidence,
            "model": self._model,
        }
        rows = self._database.fetch(",".join(by_ns), "candidates" if lexemes else "live", parameters)
        if where.as_of is not None:
            former = {**parameters, "lexemes": list(lexemes)}
            rows = [*rows, *self._database.fetch(",".join(by_ns), "live_then", former)]
        nodes: dict[str, Node] = {}
        originals: dict[str, str] = {}
        words: dict[str, str] = {}
        unindexed: set[str] = set()
        for row in rows:
            node = self.node(row, by_ns[row.ns], now)
            nodes[node.id] = node
            words[node.id] = row.lexemes
            if evidence and row.evidence is not None:
                originals[node.id] = row.evidence
            if row.unindexed:
                unindexed.add(node.id)
        return Candidates(nodes, words, frozenset(unindexed), originals)

    def text_search(
        self, scopes: Sequence[Scope], lexemes: Sequence[str], limit: int, where: Filter
    ) -> dict[str, float]:
        if not lexemes:
            return {}
        where_to = conditions(scopes, where, self._clock.now(), self._decay)
        parameters = {**where_to, "words": tsquery(lexemes), "most": _TEXT_SEARCH_ROWS}
        seen = ",".join(scope.ns for scope in scopes)
        rows = self._database.fetch(seen, "text_search", parameters)
        if where.as_of is not None:
            rows = [*rows, *self._database.fetch(seen, "words_then", {**where_to, "lexemes": list(lexemes)})]
        scores = bm25(lexemes, {row.id: row.lexemes.split(" ") for row in rows})
        best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
        return {key: scores[key] for key in best}

    def unindexed(self, scopes: Sequence[Scope]) -> int:
        namespaces = [scope.ns for scope in scopes]
        parameters = {"scopes": namespaces, "most": _MOST_COUNTED}
        return int(self._database.fetch(",".join(namespaces), "unindexed", parameters)[0].memories)

    def told(self, scopes: Sequence[Scope], span: tuple[datetime, datetime], where: Filter, limit: int) -> list[Node]:
        """As the port says."""
        now = self._clock.now()
        by_ns = {scope.ns: scope for scope in scopes}
        parameters = {
            **conditions(scopes, where, now, self._decay),
            "from": span[0] - _PLANNED_BEFORE,
            "first": span[0],
            "to": span[1] + _TOLD_AFTER,
            "limit": limit,
        }
        rows = self._database.fetch(",".join(by_ns), "occasions", parameters)
        return [self.node(row, by_ns[row.ns], now) for row in rows]

    def get(self, scope: Scope, memory_id: str) -> Node | None:
        now = self._clock.now()
        rows = self._database.fetch(scope.ns, "get", {"ns": scope.ns, "id": memory_id, "now": now})
        return self.node(rows[0], scope, now) if rows else None

    def known_refs(self, scope: Scope, refs: Sequence[str]) -> set[str]:
        return {row.ref for row in self._database.fetch(scope.ns, "known_refs", (scope.ns, list(refs)))}

    def revised(self, scopes: Sequence[Scope], names: Sequence[str]) -> list[Revised]:
        namespaces = [scope.ns for scope in scopes]
        ids = [name for name in names if is_id(name)]
        refs = [name for name in names if name == storable(name)]
        parameters = {"scopes": namespaces, "ids": ids, "refs": refs}
        return [Revised(*row) for row in self._database.fetch(",".join(namespaces), "revised_since", parameters)]

    def mark_indexed(self, ids: Sequence[str]) -> None:
        self._database.execute(ALL_SCOPES, "mark_indexed", (self._model, list(ids)))

    # -- vectors ----------------------------------------------------------------------------------------------------

    def load_vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        rows = self._database.fetch(ALL_SCOPES, "load_vectors", (model, list(keys)), binary=True)
        return {key: np.frombuffer(vector, dtype="<f4") for key, vector in rows if len(vector) % 4 == 0}

    def save_vectors(
        self, model: str, vectors: Mapping[bytes, Vector], parts: Mapping[bytes, Vectors] = MappingProxyType({})
    ) -> None:
        packed = [vector.astype("<f4").tobytes() for vector in vectors.values()]
        packed_parts = [parts[key].astype("<f2").tobytes() if key in parts else None for key in vectors]
        self._database.execute(ALL_SCOPES, "save_vectors", (model, list(vectors), packed, packed_parts))

    def undivided(self, model: str, keys: Sequence[bytes]) -> list[bytes]:
        return [row.sha256 for row in self._database.fetch(ALL_SCOPES, "undivided", (model, list(keys)), binary=True)]

    def active(self, model: str) -> Iterator[list[tuple[Node, str, Vector | None]]]:
        after = FIRST_ID
        while True:
            rows = self._database.fetch(ALL_SCOPES, "active_page", {"model": model, "after": after, "limit": _PAGE})
            if not rows:
                return
            now = self._clock.now()
            yield [(self.node(row, scope_of(row), now), row.lexemes, vector_of(row.vector)) for row in rows]
            after = rows[-1].id

    def stats(self, scope: Scope | None) -> Mapping[str, int]:
        return self._database.fetch(ALL_SCOPES, "stats", {"ns": scope.ns if scope else None})[0]._asdict()

    def ping(self) -> None:
        self._database.fetch("", "backlog", {"ns": "", "due_only": True})

    def close(self) -> None:
        self._database.close()


def _may_be_there(row: Mapping[str, Any]) -> bool:
    """Whether another writer may be writing the same: then the scope is locked before the statement looks.

    For all others the statement's own lock, of the row that counts, is enough.
    """
    return row["ref"] is not None or row["fact_key"] is not None


def searched(scopes: Sequence[Scope], lexemes: Sequence[str]) -> dict[str, Any]:
    """The words of a query, together and one by one, and the scopes as words of the index of pending memories."""
    return {
        "words": tsquery(lexemes),
        "each_word": [tsquery([lexeme]) for lexeme in dict.fromkeys(lexemes)],
        "here": tsquery([scope.ns for scope in scopes]),
    }


def tsquery(lexemes: Sequence[str]) -> str | None:
    """A tsquery that matches any of the lexemes; quoted, so that none of them is read as an operator."""
    quoted = ("'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'" for lexeme in dict.fromkeys(lexemes))
    return " | ".join(quoted) or None


def conditions(scopes: Sequence[Scope], where: Filter, now: datetime, decay_per_hour: float) -> dict[str, Any]:
    least, greatest = where.sentiment
    return {
        "scopes": [scope.ns for scope in scopes],
        "kinds": list(where.kinds) or None,
        "speakers": list(where.speakers) or None,
        "conversations": list(where.conversations) or None,
        "not_conversations": list(where.not_conversations) or None,
        "not_ids": list(where.not_ids) or None,
        "only_ids": list(where.only_ids) or None,
        "tags": list(where.tags),
        "since": where.since,
        "until": where.until,
        "as_of": where.as_of,
        "min_energy": where.min_energy or None,
        "now": now,
        "decay": decay_per_hour,
        "min_sentiment": least if least > -1.0 else None,
        "max_sentiment": greatest if greatest < 1.0 else None,
        "metadata": metadata_path(where.metadata),
        "min_trust": where.min_trust or None,
        "talk": where.session,
    }
