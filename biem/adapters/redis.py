"""HotStore in Redis or Valkey. Everything here is a projection of PostgreSQL: losing it costs speed, never memory."""

from collections.abc import Sequence
from typing import Any

from biem.adapters.redis_client import RedisClient
from biem.domain.scope import Scope
from biem.ports import HotEntry

_MAX_ARGUMENTS = 500
"""Lua's unpack has a stack limit; longer pushes are sent in parts."""


def _keys(ns: str) -> list[str]:
    """The braces keep a scope's keys in one slot of a Redis Cluster."""
    return [f"biem:hot:{{{ns}}}", f"biem:hot:{{{ns}}}:words"]


class RedisHotStore(RedisClient):
    """The port `HotStore`. A call waits at most `timeout_s`: the truth is elsewhere, so a slow cache is no cache."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        super().__init__(url, timeout_s=timeout_s, text=True)
        self._push = self._script("push_hot")

    def push(self, scope: Scope, entries: Sequence[HotEntry], window: int) -> None:
        if window < 1:
            self.forget_scope(scope)
            return
        newest = entries[-window:]
        with self._errors():
            for start in range(0, len(newest), _MAX_ARGUMENTS):
                arguments: list[str | int] = [window]
                for entry in newest[start : start + _MAX_ARGUMENTS]:
                    arguments += (entry.id, entry.lexemes)
                self._push(keys=_keys(scope.ns), args=arguments)

    def recent(self, scope: Scope, limit: int) -> list[HotEntry]:
        if limit < 1:
            return []
        ids_key, words_key = _keys(scope.ns)
        with self._errors():
            ids: list[str] = self._client.lrange(ids_key, 0, limit - 1)
            words: list[Any] = self._client.hmget(words_key, ids) if ids else []
        return [HotEntry(key, lexemes) for key, lexemes in zip(ids, words, strict=True) if lexemes is not None]

    def forget(self, scope: Scope, ids: Sequence[str]) -> None:
        self.purge(scope.ns, ids)

    def purge(self, ns: str, ids: Sequence[str]) -> None:
        ids_key, words_key = _keys(ns)
        with self._errors(), self._client.pipeline(transaction=True) as pipeline:
            for memory_id in ids:
                pipeline.lrem(ids_key, 0, memory_id)
                pipeline.hdel(words_key, memory_id)
            pipeline.execute()

    def forget_scope(self, scope: Scope) -> None:
        with self._errors():
            self._client.delete(*_keys(scope.ns))

    def count(self, scope: Scope, ids: Sequence[str] | None = None) -> int:
        ids_key, words_key = _keys(scope.ns)
        with self._errors():
            listed: list[str] = self._client.lrange(ids_key, 0, -1)
            hashed: list[str] = self._client.hkeys(words_key)
        held = {*listed, *hashed}
        return len(held if ids is None else held & set(ids))
