"""Records in PostgreSQL: a write is one transaction and, where possible, one round trip (psycopg's pipeline mode)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

import numpy as np
from psycopg.types.json import Jsonb

from biem.adapters.database import ALL_SCOPES, Connection, Database, Row
from biem.domain.energy import energy_at
from biem.domain.fields import Fields
from biem.domain.node import Node
from biem.domain.rank import bm25
from biem.domain.scope import Scope
from biem.domain.text import sha256
from biem.errors import RefConflict, StoreUnavailable
from biem.ports import (
    Candidates,
    Clock,
    Completion,
    DeadLetter,
    Encoded,
    Erasure,
    Filter,
    Job,
    Vector,
    Write,
    Written,
)

_NODE_COLUMNS = 28
_TABLES = ("memories", "evidence", "embeddings", "crystal_links", "crystal_facts", "outbox")
_TEXT_SEARCH_ROWS = 500
_PAGE = 500
_FIRST_ID = "00000000-0000-0000-0000-000000000000"


class PostgresRecords:
    """The port `Records`. `model` is the embedder's id. The database is shared with other adapters."""

    def __init__(self, database: Database, *, clock: Clock, decay_per_hour: float, model: str = "") -> None:
        self._model = model
        self._clock = clock
        self._decay = decay_per_hour
        self._known_scopes: set[str] = set()
        self._database = database
        self._sql = database.sql

    # -- writing ----------------------------------------------------------------------------------------------------

    def remember(self, scope: Scope, writes: Sequence[Write]) -> list[Written]:
        now = self._clock.now()
        rows = [self._write_row(scope, write, now) for write in writes]

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
                    with connection.pipeline():  # one implicit transaction, one round trip
                        connection.execute(self._sql["see_scopes"], (scope.ns,))
                        connection.execute(self._sql["lock_scope"], (scope.ns,))
                        result = connection.execute(self._sql["remember"], rows[0])
                    if result.fetchone() is not None:
                        return [Written(writes[0].id, True)]
                with connection.pipeline(), connection.transaction():
                    connection.execute(self._sql["see_scopes"], (scope.ns,))
                    lock = connection.execute(self._sql["lock_scope"], (scope.ns,))
                    results = [connection.execute(self._sql["remember"], row) for row in rows]
                    created = [result.fetchone() is not None for result in results]
                    if lock.fetchone() is None:
                        return None
                    return [
                        Written(write.id, True) if new else self._existing(connection, row)
                        for write, row, new in zip(writes, rows, created, strict=True)
                    ]

        while True:
            written = self._database.retrying(attempt)
            if written is not None:
                return written
            self._known_scopes.discard(scope.ns)  # the scope was erased by another process since we last wrote

    def _existing(self, connection: Connection, row: Mapping[str, Any]) -> Written:
        found = connection.execute(self._sql["find_same"], row).fetchone()
        if found is None:  # pragma: no cover - the scope's lock makes this unreachable
            raise StoreUnavailable("a memory vanished while it was being written; try again")
        if row["ref"] is not None and found[1] != row["text"]:
            raise RefConflict(
                f"ref {row['ref']!r} already names memory {found[0]} with another text; write under another ref, "
                f"or erase {found[0]} first"
            )
        return Written(found[0], False)

    @staticmethod
    def _write_row(scope: Scope, write: Write, now: datetime) -> dict[str, Any]:
        draft = write.draft
        return {
            "id": write.id,
            "ns": scope.ns,
            "ref": draft.ref,
            "fact_key": write.fact_key,
            "text": draft.text,
            "evidence_sha": sha256(draft.text),
            "embed_sha": sha256(draft.indexed_text),
            "kind": draft.kind,
            "layer": draft.layer,
            "tags": list(draft.tags),
            "reason": draft.reason,
            "importance": draft.importance,
            "source": draft.source,
            "speaker": draft.speaker,
            "conversation": draft.conversation,
            "at": draft.at,
            "now": now,
            "metadata": Jsonb(dict(draft.metadata)),
            "lexemes": write.lexemes,
            "energy": write.energy,
        }

    def touch(self, scope: Scope, ids: Sequence[str], at: datetime) -> None:
        namespaces = [readable.ns for readable in scope.readable]
        self._database.execute(",".join(namespaces), "touch", (at, namespaces, list(ids)))

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
        by_ns = {scope.ns: scope for scope in scopes}
        parameters = {
            **_conditions(scopes, where),
            "ids": list(ids),
            "words": _tsquery(lexemes),
            "pending_limit": pending_limit,
            "evidence": evidence,
            "model": self._model,
        }
        rows = self._database.fetch(",".join(by_ns), "candidates", parameters)
        now = self._clock.now()
        nodes: dict[str, Node] = {}
        originals: dict[str, str] = {}
        words: dict[str, str] = {}
        unindexed: set[str] = set()
        for row in rows:
            node = self._node(row, by_ns[row[1]], now)
            nodes[node.id] = node
            words[node.id] = row[_NODE_COLUMNS - 1]
            if evidence and row[_NODE_COLUMNS] is not None:
                originals[node.id] = row[_NODE_COLUMNS]
            if row[_NODE_COLUMNS + 1]:
                unindexed.add(node.id)
        return Candidates(nodes, words, frozenset(unindexed), originals)

    def text_search(
        self, scopes: Sequence[Scope], lexemes: Sequence[str], limit: int, where: Filter
    ) -> dict[str, float]:
        if not lexemes:
            return {}
        parameters = {**_conditions(scopes, where), "words": _tsquery(lexemes), "most": _TEXT_SEARCH_ROWS}
        rows = self._database.fetch(",".join(scope.ns for scope in scopes), "text_search", parameters)
        scores = bm25(lexemes, {row[0]: row[1].split(" ") for row in rows})
        best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
        return {key: scores[key] for key in best}

    def get(self, scope: Scope, memory_id: str) -> Node | None:
        rows = self._database.fetch(scope.ns, "get", (scope.ns, memory_id))
        return self._node(rows[0], scope, self._clock.now()) if rows else None

    def _node(self, row: Row, scope: Scope, now: datetime) -> Node:
        fields = row[17]
        return Node(
            id=row[0],
            scope=scope,
            text=row[2],
            kind=row[3],
            status=row[4],
            layer=row[5],
            tags=tuple(row[6]),
            reason=row[7],
            importance=row[8],
            source=row[9],
            speaker=row[10],
            conversation=row[11],
            at=row[12],
            created_at=row[13],
            ref=row[14],
            metadata=row[15],
            language=row[16],
            fields=Fields(**{name: tuple(values) for name, values in fields.items()}) if fields else Fields(),
            entities=tuple(row[18]),
            sentiment=row[19],
            write_seq=row[20],
            energy=energy_at(row[21], row[22], now, self._decay),
            access_count=row[23],
            useful_count=row[24],
            accessed_at=row[25],
            evidence_ptr=row[26].hex(),
        )

    # -- jobs -------------------------------------------------------------------------------------------------------

    def claim(self, limit: int, lease_s: float, *, retried: bool) -> list[Job]:
        name = "claim_retried" if retried else "claim_fresh"
        rows = self._database.fetch("", name, {"limit": limit, "lease_s": lease_s})
        if not rows:
            return []
        found = self._database.fetch(ALL_SCOPES, "job_nodes", ([row[2] for row in rows],))
        now = self._clock.now()
        nodes = {row[0]: self._node(row, Scope(*row[_NODE_COLUMNS:]), now) for row in found}
        lexemes = {row[0]: row[_NODE_COLUMNS - 1] for row in found}
        return [
            Job(key, task, memory_id, ns, attempts, claims, lexemes.get(memory_id, ""), nodes.get(memory_id))
            for key, task, memory_id, ns, attempts, claims in sorted(rows)
        ]

    def renew(self, jobs: Sequence[Job], lease_s: float) -> list[Job]:
        parameters = {
            "keys": [job.key for job in jobs],
            "claims": [job.claims for job in jobs],
            "lease_s": lease_s,
        }
        held = {row[0] for row in self._database.fetch("", "renew", parameters)}
        return [job for job in jobs if job.key in held]

    def complete(self, encoded: Sequence[Encoded]) -> Completion:
        ids = [item.job.memory_id for item in encoded]
        learned = [
            {
                "id": item.job.memory_id,
                "language": item.analysis.language,
                "fields": _fields_json(item.analysis.fields),
                "entities": list(item.analysis.entities),
                "sentiment": item.analysis.sentiment,
            }
            for item in encoded
        ]

        def attempt() -> Completion:
            with self._database.connection() as connection, connection.pipeline(), connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                connection.execute(self._sql["complete"], (self._model, Jsonb(learned)))
                finished = connection.execute(self._sql["done"], ([item.job.key for item in encoded],))
                existing = connection.execute(self._sql["existing"], (ids,))
            keys = {row[0] for row in finished.fetchall()}
            alive = {row[0] for row in existing.fetchall()}
            return Completion(
                erased=tuple(memory_id for memory_id in ids if memory_id not in alive),
                overtaken=tuple(
                    item.job.memory_id for item in encoded if item.job.key not in keys and item.job.memory_id in alive
                ),
            )

        return self._database.retrying(attempt)

    def done(self, jobs: Sequence[Job]) -> None:
        self._database.execute("", "done", ([job.key for job in jobs],))

    def release(self, jobs: Sequence[Job], delay_s: float, reason: str, *, refund: bool) -> None:
        parameters = {
            "delay_s": delay_s,
            "reason": reason[:2000].replace("\0", " "),
            "refund": int(refund),
            "keys": [job.key for job in jobs],
        }
        self._database.execute("", "release", parameters)

    def bury(self, jobs: Sequence[Job], reason: str) -> None:
        self._database.execute("", "bury", (reason[:2000].replace("\0", " "), [job.key for job in jobs]))

    def dead(self, scope: Scope | None, limit: int) -> list[DeadLetter]:
        rows = self._database.fetch(ALL_SCOPES, "dead", {"ns": scope.ns if scope else None, "limit": limit})
        return [DeadLetter(row[0], Scope(*row[1:4]), *row[4:]) for row in rows]

    def retry_dead(self, scope: Scope | None) -> int:
        return self._database.execute("", "retry_dead", {"ns": scope.ns if scope else None})

    def backlog(self, scope: Scope | None = None, *, due_only: bool = False) -> int:
        parameters = {"ns": scope.ns if scope else None, "due_only": due_only}
        return int(self._database.fetch("", "backlog", parameters)[0][0])

    def mark_indexed(self, ids: Sequence[str]) -> None:
        self._database.execute(ALL_SCOPES, "mark_indexed", (self._model, list(ids)))

    # -- vectors ----------------------------------------------------------------------------------------------------

    def load_vectors(self, model: str, keys: Sequence[bytes]) -> dict[bytes, Vector]:
        rows = self._database.fetch("", "load_vectors", (model, list(keys)))
        return {key: np.frombuffer(vector, dtype="<f4") for key, vector in rows}

    def save_vectors(self, model: str, vectors: Mapping[bytes, Vector]) -> None:
        packed = [vector.astype("<f4").tobytes() for vector in vectors.values()]
        self._database.execute(ALL_SCOPES, "save_vectors", (model, list(vectors), packed))

    def active(self, model: str) -> Iterator[list[tuple[Node, str, Vector | None]]]:
        after = _FIRST_ID
        while True:
            rows = self._database.fetch(ALL_SCOPES, "active_page", {"model": model, "after": after, "limit": _PAGE})
            if not rows:
                return
            now = self._clock.now()
            yield [
                (
                    self._node(row, Scope(*row[_NODE_COLUMNS : _NODE_COLUMNS + 3]), now),
                    row[_NODE_COLUMNS - 1],
                    None if row[-1] is None else np.frombuffer(row[-1], dtype="<f4"),
                )
                for row in rows
            ]
            after = rows[-1][0]

    # -- erasing ----------------------------------------------------------------------------------------------------

    def erase(self, scope: Scope, memory_id: str | None, purge_after_s: float) -> Erasure:
        first: list[Erasure] = []

        def attempt() -> Erasure:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))  # shared vectors may belong to other scopes
                connection.execute(self._sql["lock_scope"], (scope.ns,))
                target = {"ns": scope.ns, "id": memory_id}
                rows = connection.execute(self._sql["erase_targets"], target).fetchall()
                found = Erasure(
                    ids=tuple(row[0] for row in rows),
                    originals=tuple({row[1] for row in rows}),
                    vectors=tuple({row[2] for row in rows}),
                    whole=memory_id is None,
                    before={},
                )
                keys = self._erase_keys(scope, found)
                erasure = replace(found, before=self._count(connection, keys))
                for step in ("originals", "vectors", "links", "facts", "jobs", "purge", "memories"):
                    connection.execute(self._sql[f"erase_{step}"], {**keys, "after_s": purge_after_s})
                if memory_id is None:
                    connection.execute(self._sql["erase_scope"], keys)
                if not first:
                    first.append(erasure)
            return erasure

        erasure = self._database.retrying(attempt)
        if memory_id is None:
            self._known_scopes.discard(scope.ns)
        return erasure if erasure.ids else first[0]  # repeated after an erasure whose answer was lost

    def remains(self, scope: Scope, erasure: Erasure) -> Mapping[str, int]:
        keys = self._erase_keys(scope, erasure)

        def attempt() -> dict[str, int]:
            with self._database.connection(patient=True) as connection, connection.transaction():
                connection.execute(self._sql["see_scopes"], (ALL_SCOPES,))
                return self._count(connection, keys)

        return self._database.retrying(attempt)

    @staticmethod
    def _erase_keys(scope: Scope, erasure: Erasure) -> dict[str, Any]:
        return {
            "ns": scope.ns,
            "all": erasure.whole,
            "ids": list(erasure.ids),
            "originals": list(erasure.originals),
            "vectors": list(erasure.vectors),
        }

    def _count(self, connection: Connection, keys: Mapping[str, Any]) -> dict[str, int]:
        counts = connection.execute(self._sql["erase_remains"], keys).fetchone()
        return dict(zip(_TABLES, counts or (), strict=True))

    def save_receipt(self, scope: Scope, receipt: Mapping[str, Any]) -> None:
        row = (receipt["id"], scope.ns, receipt["erased_at"], Jsonb(dict(receipt)))
        self._database.execute(scope.ns, "save_receipt", row)

    def stats(self, scope: Scope | None) -> Mapping[str, int]:
        row = self._database.fetch(ALL_SCOPES, "stats", {"ns": scope.ns if scope else None})[0]
        names = ("memories", "active", "pending", "archived", "dead_letters", "embeddings", "scopes")
        return dict(zip(names, row, strict=True))

    def ping(self) -> None:
        self._database.fetch("", "backlog", {"ns": "", "due_only": True})

    def close(self) -> None:
        self._database.close()


def _tsquery(lexemes: Sequence[str]) -> str | None:
    """A tsquery that matches any of the lexemes; quoted, so that none of them is read as an operator."""
    quoted = ("'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'" for lexeme in dict.fromkeys(lexemes))
    return " | ".join(quoted) or None


def _conditions(scopes: Sequence[Scope], where: Filter) -> dict[str, Any]:
    return {
        "scopes": [scope.ns for scope in scopes],
        "kinds": list(where.kinds) or None,
        "speakers": list(where.speakers) or None,
        "conversations": list(where.conversations) or None,
        "tags": list(where.tags),
        "since": where.since,
        "until": where.until,
    }


def _fields_json(fields: Fields) -> dict[str, list[str]]:
    pairs = ((name, list(getattr(fields, name))) for name in ("numbers", "names", "definitions", "symbols"))
    return {name: values for name, values in pairs if values}
