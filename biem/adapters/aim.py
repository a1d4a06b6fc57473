"""The ports of AIM-Memory: `AimRecords` in PostgreSQL, `Headings` in Redis or Valkey."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

import numpy as np
import orjson
from psycopg.types.json import Jsonb

from biem.adapters.readers import RedisReaders
from biem.adapters.rows import NODE_COLUMNS, Store
from biem.domain.aim import GateDecision
from biem.domain.fields import Fields
from biem.domain.scope import Scope
from biem.ports import Vector
from biem.ports.aim import Anchored, Census, Heading, Held, Kept, Refusal, Said, Standing


class PostgresAim(Store):
    """The port `AimRecords`. Decisions of a scope are made one after the other, under the lock that writes take."""

    def said(self, scope: Scope, seqs: Sequence[int], most: int) -> list[Said]:
        parameters = {"ns": scope.ns, "seqs": list(seqs), "most": most, "model": self._model}
        rows = self._database.fetch(scope.ns, "aim_said", parameters)
        return [
            Said(key, seq, conversation, formed, _vector(packed))
            for key, seq, conversation, formed, packed in sorted(rows, key=lambda row: int(row[1]))
        ]

    def standing(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, Standing]:
        rows = self._database.fetch(scope.ns, "aim_standing", {"ns": scope.ns, "ids": list(ids)})
        return {
            key: Standing(formed, decided=numbered or not formed, foretold=foretold)
            for key, formed, numbered, foretold in rows
        }

    def foretell(self, scope: Scope, decisions: Sequence[tuple[str, GateDecision, int | None]]) -> None:
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
            return frozenset(row[0] for row in standing.fetchall() if row[1])

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
        rows = self._database.fetch(scope.ns, "aim_refusals", {"ns": scope.ns, "limit": limit})
        return [Refusal(key, text, speaker, GateDecision(False, *rest)) for key, text, speaker, *rest in rows]

    def nodes(self, scopes: Sequence[Scope], ids: Sequence[str], at: datetime, *, evidence: bool) -> list[Held]:
        by_ns = {scope.ns: scope for scope in scopes}
        parameters = {"ids": list(ids), "scopes": list(by_ns), "model": self._model, "at": at, "evidence": evidence}
        now = self._clock.now()
        held = []
        for row in self._database.fetch(",".join(by_ns), "aim_nodes", parameters, binary=True):
            formed, age, packed, original, disputed = row[NODE_COLUMNS:]
            node = self.node(row, by_ns[row[1]], now)
            held.append(Held(node, formed, age or 0, _vector(packed), original, disputed))
        return held

    def anchors(self, scopes: Sequence[Scope], ids: Sequence[str]) -> Mapping[str, Anchored]:
        namespaces = [scope.ns for scope in scopes]
        rows = self._database.fetch(",".join(namespaces), "aim_anchors", {"scopes": namespaces, "ids": list(ids)})
        return {
            key: Anchored(Fields(**{name: tuple(values) for name, values in fields.items()}), text, age or 0, formed)
            for key, fields, text, age, formed in rows
        }

    def census(self, scope: Scope, gamma: float, fresh: float, high: float) -> Census:
        parameters = {"ns": scope.ns, "fresh": fresh, "high": high, "log_gamma": float(np.log(gamma))}
        return Census(*self._database.fetch(scope.ns, "aim_census", parameters)[0])

    def page(self, scope: Scope, after: int) -> list[Kept]:
        rows = self._database.fetch(scope.ns, "aim_page", {"ns": scope.ns, "after": after})
        now = self._clock.now()
        return [Kept(self.node(row, scope, now), *row[NODE_COLUMNS:]) for row in rows]

    def counter(self, scope: Scope) -> int:
        rows = self._database.fetch(scope.ns, "aim_counter", (scope.ns,))
        return int(rows[0][0]) if rows else 0

    def numbers(self, scope: Scope, ids: Sequence[str]) -> Mapping[str, int]:
        return dict(self._database.fetch(scope.ns, "aim_numbers", {"ns": scope.ns, "ids": list(ids)}))

    def reserve(self, scope: Scope, count: int) -> int:
        names = (scope.ns, scope.tenant, scope.user, scope.project)
        self._database.execute(scope.ns, "ensure_scope", names)
        self._database.execute(scope.ns, "aim_ensure", {"ns": scope.ns})
        return int(self._database.fetch(scope.ns, "aim_reserve", {"ns": scope.ns, "count": count})[0][0])


def _vector(packed: bytes | None) -> Vector | None:
    return None if packed is None else np.frombuffer(packed, dtype="<f4")


def _packed(decisions: Sequence[tuple[str, GateDecision, int | None]]) -> Jsonb:
    return Jsonb(
        [
            {"id": key, **asdict(decision), "decided_at": decision.decided_at.isoformat(), "mirror_seq": number}
            for key, decision, number in decisions
        ]
    )


class RedisHeadings(RedisReaders):
    """The port `Headings`. A call waits at most `timeout_s`; `model` is the embedder's id, `dim` its dimension."""

    def __init__(self, url: str, *, timeout_s: float, model: str, dim: int) -> None:
        super().__init__(url, "heading", timeout_s=timeout_s)
        self._model = model
        self._dim = dim
        self._save = self._script("heading_save")

    def load(self, scope: Scope, conversation: str) -> Heading:
        field = _field(conversation)

        def read(keys: list[str]) -> Heading:
            packed: bytes | None = self._client.hget(keys[0], field)
            return self._read(keys, {field.encode(): packed}).get(conversation, Heading()) if packed else Heading()

        return self._on(scope.ns, read)

    def save(self, scope: Scope, conversation: str, heading: Heading, *, most: int, ttl_s: float) -> None:
        vector = None if heading.vector is None else base64.b64encode(heading.vector.astype("<f4").tobytes()).decode()
        packed = orjson.dumps(
            {
                "conversation": conversation,
                "model": self._model,
                "vector": vector,
                "strength": heading.strength,
                "gamma": heading.gamma,
                "cluster": heading.cluster,
            }
        )
        self.saved(self._save, scope, [_field(conversation), packed, most, ttl_s], ttl_s)

    def all(self, scope: Scope) -> Mapping[str, Heading]:
        found = self._on(scope.ns, lambda keys: self._read(keys, self._client.hgetall(keys[0])))
        return {name: heading for name, heading in found.items() if heading.vector is not None}

    def _read(self, keys: list[str], packed: Mapping[bytes, bytes]) -> dict[str, Heading]:
        """Those that can be read, by conversation; the others are removed."""
        found: dict[str, Heading] = {}
        for field, value in packed.items():
            try:
                conversation, heading = self._unpacked(value)
                found[conversation] = heading
            except (ValueError, LookupError, TypeError):
                self._client.hdel(keys[0], field)
        return found

    def _inspect(self, keys: list[str]) -> None:
        for packed in self._client.hgetall(keys[0]).values():
            self._unpacked(packed)

    def _unpacked(self, packed: bytes) -> tuple[str, Heading]:
        """What `save` wrote; raises `ValueError`, `LookupError` or `TypeError` for anything else."""
        known: dict[str, Any] = orjson.loads(packed)
        if not isinstance(known["conversation"], str) or not isinstance(known["model"], str):
            raise TypeError("a heading of no conversation or model")
        if known["model"] != self._model:
            return known["conversation"], Heading()
        vector = None
        if known["vector"] is not None:
            vector = np.frombuffer(base64.b64decode(known["vector"], validate=True), dtype="<f4")
            if len(vector) != self._dim or not np.isfinite(vector).all():
                raise ValueError("a heading of another dimension")
        cluster = known["cluster"]
        if cluster is not None and (not isinstance(cluster, int) or cluster < 1):
            raise ValueError("a cluster without size")
        return known["conversation"], Heading(vector, _number(known["strength"]), _number(known["gamma"]), cluster)


def _number(value: Any) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise TypeError(f"{type(value).__name__} where a number belongs")
    return value


def _field(conversation: str) -> str:
    return hashlib.sha256(conversation.encode(errors="replace")).hexdigest()[:32]
