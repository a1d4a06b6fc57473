"""HotStore in Redis or Valkey. Everything here is a projection of PostgreSQL: losing it costs speed, never memory."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from biem.domain.scope import Scope
from biem.errors import StoreFull, StoreUnavailable
from biem.ports import HotEntry

_MAX_ARGUMENTS = 500
"""Lua's unpack has a stack limit; longer pushes are sent in parts."""


_PAUSE_S = 2.0
"""After a failure the server is left alone for this long: ten writes must not wait ten times for one that hangs."""


def _keys(ns: str) -> list[str]:
    """The braces keep a scope's keys in one slot of a Redis Cluster."""
    return [f"biem:hot:{{{ns}}}", f"biem:hot:{{{ns}}}:words"]


class RedisHotStore:
    """The port `HotStore`. A call waits at most `timeout_s`: the truth is elsewhere, so a slow cache is no cache."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        self._client: Any = redis.Redis.from_url(
            url,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            # One reconnect hides a restarted server; a server that hangs is not asked twice.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.exceptions.ConnectionError,)),
            decode_responses=True,
        )
        self._down_until = 0.0
        self._last_failure: Exception | None = None
        script = files("biem.adapters.lua").joinpath("push_hot.lua").read_text(encoding="utf-8")
        self._push = self._client.register_script(script)

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

    def ping(self) -> None:
        with self._errors():
            self._client.ping()

    def close(self) -> None:
        self._client.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        if time.monotonic() < self._down_until:
            raise StoreUnavailable(
                "Redis did not answer a moment ago; check that it runs and BIEM_REDIS_URL"
            ) from self._last_failure
        try:
            yield
        except redis.exceptions.OutOfMemoryError as error:
            raise StoreFull(f"Redis is out of memory ({error}); raise maxmemory or set an eviction policy") from error
        except redis.exceptions.RedisError as error:
            self._down_until, self._last_failure = time.monotonic() + _PAUSE_S, error
            raise StoreUnavailable(f"Redis did not answer ({error}); check that it runs and BIEM_REDIS_URL") from error
