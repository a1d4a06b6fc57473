"""The newest memories of each scope, in Redis or Valkey."""

from collections.abc import Sequence

from biem.adapters.redis.client import RedisClient, memory_id
from biem.domain.scope import Scope
from biem.ports import HotEntry

_MAX_ARGUMENTS = 500
"""Lua's unpack has a stack limit; longer pushes are sent in parts."""
_LONGEST = 1 << 20
"""Maximum bytes of the terms of one text; longer values are corrupt."""


class RedisHotStore(RedisClient):
    """The port `HotStore`. A call waits at most `timeout_s`: a slow cache is useless."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        super().__init__(url, "hot", timeout_s=timeout_s)
        self._push = self._script("push_hot")

    def push(self, scope: Scope, entries: Sequence[HotEntry], window: int) -> None:
        if window < 1:
            self.forget_scope(scope)
            return
        newest = entries[-window:]
        for start in range(0, len(newest), _MAX_ARGUMENTS):
            arguments: list[str | int] = [window]
            for entry in newest[start : start + _MAX_ARGUMENTS]:
                arguments += (entry.id, entry.lexemes)
            self._on(scope.ns, lambda keys, part=arguments: self._push(keys=keys, args=part))  # type: ignore[misc]

    def recent(self, scope: Scope, limit: int) -> list[HotEntry]:
        return self._on(scope.ns, lambda keys: self._entries(keys, limit)) if limit > 0 else []

    def _entries(self, keys: list[str], limit: int) -> list[HotEntry]:
        ids: list[bytes] = self._client.lrange(keys[0], 0, limit - 1)
        words: list[bytes | None] = self._client.hmget(keys[1], ids) if ids else []
        pairs = zip(ids, words, strict=True)
        return [HotEntry(memory_id(key), _terms(lexemes)) for key, lexemes in pairs if lexemes is not None]

    def _inspect(self, keys: list[str]) -> None:
        self._entries(keys, 0)

    def forget(self, scope: Scope, ids: Sequence[str]) -> None:
        self.purge(scope.ns, ids)

    def purge(self, ns: str, ids: Sequence[str]) -> None:
        def remove(keys: list[str]) -> None:
            with self._client.pipeline(transaction=True) as pipeline:
                for key in ids:
                    pipeline.lrem(keys[0], 0, key)
                    pipeline.hdel(keys[1], key)
                pipeline.execute()

        if ids:
            self._on(ns, remove)

    def forget_scope(self, scope: Scope) -> None:
        self.drop(scope.ns)

    def count(self, scope: Scope, ids: Sequence[str] | None = None) -> int:
        def held(keys: list[str]) -> set[bytes]:
            return {*self._client.lrange(keys[0], 0, -1), *self._client.hkeys(keys[1])}

        found = self._on(scope.ns, held)
        return len(found if ids is None else found.intersection(key.encode() for key in ids))


def _terms(raw: bytes) -> str:
    if len(raw) > _LONGEST:
        raise ValueError(f"the terms of one text have {len(raw):,} bytes")
    return raw.decode()
