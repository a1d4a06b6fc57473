"""Conversation states in Redis or Valkey, with an index of the scopes whose memories each may hold.

A conversation in a project may recall memories of the user's own level, and its state keeps copies of them. So the
user's level indexes the projects that have state: an erasure reaches them, including those that were never written to
and that PostgreSQL does not know.
"""

import base64
import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import orjson

from biem.adapters.redis.client import RedisClient
from biem.adapters.redis.keys import Kind, keys_of
from biem.domain.running_memory import Running, RunningMemory
from biem.domain.scope import Scope
from biem.ports.hot import InertiaState

_READERS: dict[str, Kind] = {"mind": "mind-readers", "heading": "heading-readers"}


class RedisReaders(RedisClient):
    """The states of one `kind` by scope: a hash by conversation, and the last use of each."""

    def __init__(self, url: str, kind: Literal["mind", "heading"], *, timeout_s: float) -> None:
        super().__init__(url, kind, timeout_s=timeout_s)
        self._readers: Kind = _READERS[kind]

    def saved(self, script: Any, scope: Scope, arguments: Sequence[Any], ttl_s: float) -> Any:
        """Run a script that saves a state, after registering it with the scopes whose memories it may hold."""
        for owner in scope.readable[1:]:
            self._on(owner.ns, lambda keys: self._register(keys[0], scope.ns, ttl_s), self._readers)
        return self._on(scope.ns, lambda keys: script(keys=keys, args=arguments))

    def forget(self, spaces: Collection[str]) -> None:
        """See the ports."""
        for reader in self._reading(spaces):
            self.drop(reader)
        with self._errors():
            for ns in spaces:
                self._client.unlink(*keys_of(self._readers, ns))

    def count(self, spaces: Collection[str]) -> int:
        """See the ports."""
        return sum(int(self._on(ns, lambda keys: self._client.hlen(keys[0]))) for ns in self._reading(spaces))

    def _register(self, key: str, ns: str, ttl_s: float) -> None:
        with self._client.pipeline(transaction=False) as pipeline:
            pipeline.sadd(key, ns)
            pipeline.expire(key, max(1, int(ttl_s) + 1))
            pipeline.execute()

    def _reading(self, spaces: Collection[str]) -> list[str]:
        found: set[str] = set(spaces)
        for ns in spaces:
            known = self._on(ns, lambda keys: self._client.smembers(keys[0]), self._readers)
            found |= {name.decode(errors="replace") for name in known}
        return sorted(found)


def _field(conversation: str) -> str:
    return hashlib.sha256(conversation.encode(errors="replace")).hexdigest()[:32]


class RedisRunningMemory(RedisReaders):
    """The port `RunningMemoryStore`. A call waits at most `timeout_s`."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        super().__init__(url, "mind", timeout_s=timeout_s)
        self._save = self._script("running_memory_save")

    def load(self, scope: Scope, conversation: str) -> RunningMemory:
        field = _field(conversation)

        def read(keys: list[str]) -> RunningMemory:
            found: bytes | None = self._client.hget(keys[0], field)
            if found is None:
                return RunningMemory()
            try:
                return _unpacked(found)
            except (ValueError, LookupError, TypeError):  # the other states of the scope are readable
                self._client.hdel(keys[0], field)
                return RunningMemory()

        return self._on(scope.ns, read)

    def save(self, scope: Scope, conversation: str, state: RunningMemory, *, most: int, ttl_s: float) -> bool:
        running = [(item.topic, item.content, item.duration, item.sources) for item in state.running]
        packed = orjson.dumps({"keywords": state.keywords, "running": running}).decode()
        arguments = [_field(conversation), state.version, packed, most, ttl_s]
        return bool(self.saved(self._save, scope, arguments, ttl_s))

    def _inspect(self, keys: list[str]) -> None:
        for packed in self._client.hgetall(keys[0]).values():
            _unpacked(packed)


def _unpacked(found: bytes) -> RunningMemory:
    """Parses the output of the script; raises `ValueError`, `LookupError` or `TypeError` for anything else."""
    version, _, packed = found.partition(b" ")
    if not version.isdigit() or len(version) > 15:
        raise ValueError("a state without a version")
    known: dict[str, Any] = orjson.loads(packed)
    running = tuple(
        Running(_text(topic), _text(content), _turns(duration), tuple(map(_text, sources)))
        for topic, content, duration, sources in known["running"]
    )
    return RunningMemory(tuple(map(_text, known["keywords"])), running, int(version))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of a text")
    return value


def _turns(value: Any) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError("a number of turns below 1")
    return value


class RedisInertia(RedisReaders):
    """The port `InertiaStore`. A call waits at most `timeout_s`; `model` is the embedder's id, `dim` its dimension."""

    def __init__(self, url: str, *, timeout_s: float, model: str, dim: int) -> None:
        super().__init__(url, "heading", timeout_s=timeout_s)
        self._model = model
        self._dim = dim
        self._save = self._script("inertia_save")

    def load(self, scope: Scope, conversation: str) -> InertiaState:
        field = _field(conversation)

        def read(keys: list[str]) -> InertiaState:
            packed: bytes | None = self._client.hget(keys[0], field)
            return (
                self._read(keys, {field.encode(): packed}).get(conversation, InertiaState())
                if packed
                else InertiaState()
            )

        return self._on(scope.ns, read)

    def save(self, scope: Scope, conversation: str, inertia: InertiaState, *, most: int, ttl_s: float) -> None:
        vector = None if inertia.vector is None else base64.b64encode(inertia.vector.astype("<f4").tobytes()).decode()
        packed = orjson.dumps(
            {
                "conversation": conversation,
                "model": self._model,
                "vector": vector,
                "strength": inertia.strength,
                "gamma": inertia.gamma,
                "cluster": inertia.cluster,
            }
        )
        self.saved(self._save, scope, [_field(conversation), packed, most, ttl_s], ttl_s)

    def all(self, scope: Scope) -> Mapping[str, InertiaState]:
        found = self._on(scope.ns, lambda keys: self._read(keys, self._client.hgetall(keys[0])))
        return {name: inertia for name, inertia in found.items() if inertia.vector is not None}

    def _read(self, keys: list[str], packed: Mapping[bytes, bytes]) -> dict[str, InertiaState]:
        """The readable ones, by conversation; the others are removed."""
        found: dict[str, InertiaState] = {}
        for field, value in packed.items():
            try:
                conversation, inertia = self._unpacked(value)
                found[conversation] = inertia
            except (ValueError, LookupError, TypeError):
                self._client.hdel(keys[0], field)
        return found

    def _inspect(self, keys: list[str]) -> None:
        for packed in self._client.hgetall(keys[0]).values():
            self._unpacked(packed)

    def _unpacked(self, packed: bytes) -> tuple[str, InertiaState]:
        """Parses the output of `save`; raises `ValueError`, `LookupError` or `TypeError` for anything else."""
        known: dict[str, Any] = orjson.loads(packed)
        if not isinstance(known["conversation"], str) or not isinstance(known["model"], str):
            raise TypeError("inertia without conversation or model")
        if known["model"] != self._model:
            return known["conversation"], InertiaState()
        vector = None
        if known["vector"] is not None:
            vector = np.frombuffer(base64.b64decode(known["vector"], validate=True), dtype="<f4")
            if len(vector) != self._dim or not np.isfinite(vector).all():
                raise ValueError("inertia of another dimension")
        cluster = known["cluster"]
        if cluster is not None and (not isinstance(cluster, int) or cluster < 1):
            raise ValueError("a cluster size below 1")
        return known["conversation"], InertiaState(vector, _number(known["strength"]), _number(known["gamma"]), cluster)


def _number(value: Any) -> float | None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise TypeError(f"{type(value).__name__} instead of a number")
    return value
