"""What conversations have on their minds, in Redis or Valkey: short-lived, and lost without harm."""

import hashlib
from typing import Any

import orjson

from biem.adapters.redis_client import RedisClient
from biem.domain.activation import Mind, Running
from biem.domain.scope import Scope


def _keys(ns: str) -> list[str]:
    """The braces keep a scope's keys in one slot of a Redis Cluster."""
    return [f"biem:mind:{{{ns}}}", f"biem:mind:{{{ns}}}:used"]


def _field(conversation: str) -> str:
    return hashlib.sha256(conversation.encode(errors="replace")).hexdigest()[:32]


class RedisMinds(RedisClient):
    """The port `Minds`. A call waits at most `timeout_s`."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        super().__init__(url, timeout_s=timeout_s, text=True)
        self._save = self._script("mind_save")

    def load(self, scope: Scope, conversation: str) -> Mind:
        with self._errors():
            found: str | None = self._client.hget(_keys(scope.ns)[0], _field(conversation))
        version, _, packed = (found or "0 ").partition(" ")
        try:
            known: dict[str, Any] = orjson.loads(packed)
            running = tuple(Running(item[0], item[1], item[2], tuple(item[3])) for item in known["running"])
            return Mind(tuple(known["keywords"]), running, int(version))
        except (ValueError, LookupError, TypeError):  # nothing there, or of another version of this program
            return Mind(version=int(version) if version.isdigit() else 0)

    def save(self, scope: Scope, conversation: str, mind: Mind, *, most: int, ttl_s: float) -> bool:
        running = [(item.topic, item.content, item.duration, item.sources) for item in mind.running]
        packed = orjson.dumps({"keywords": mind.keywords, "running": running}).decode()
        arguments = [_field(conversation), mind.version, packed, most, ttl_s]
        with self._errors():
            return bool(self._save(keys=_keys(scope.ns), args=arguments))

    def forget_scope(self, scope: Scope) -> None:
        with self._errors():
            self._client.delete(*_keys(scope.ns))

    def count(self, scope: Scope) -> int:
        with self._errors():
            return int(self._client.hlen(_keys(scope.ns)[0]))
