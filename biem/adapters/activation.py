"""What conversations have on their minds, in Redis or Valkey: short-lived, and lost without harm."""

import hashlib
from typing import Any

import orjson

from biem.adapters.readers import RedisReaders
from biem.domain.activation import Mind, Running
from biem.domain.scope import Scope


def _field(conversation: str) -> str:
    return hashlib.sha256(conversation.encode(errors="replace")).hexdigest()[:32]


class RedisMinds(RedisReaders):
    """The port `Minds`. A call waits at most `timeout_s`."""

    def __init__(self, url: str, *, timeout_s: float) -> None:
        super().__init__(url, "mind", timeout_s=timeout_s)
        self._save = self._script("mind_save")

    def load(self, scope: Scope, conversation: str) -> Mind:
        field = _field(conversation)

        def read(keys: list[str]) -> Mind:
            found: bytes | None = self._client.hget(keys[0], field)
            if found is None:
                return Mind()
            try:
                return _unpacked(found)
            except (ValueError, LookupError, TypeError):  # the others of the scope can be read
                self._client.hdel(keys[0], field)
                return Mind()

        return self._on(scope.ns, read)

    def save(self, scope: Scope, conversation: str, mind: Mind, *, most: int, ttl_s: float) -> bool:
        running = [(item.topic, item.content, item.duration, item.sources) for item in mind.running]
        packed = orjson.dumps({"keywords": mind.keywords, "running": running}).decode()
        arguments = [_field(conversation), mind.version, packed, most, ttl_s]
        return bool(self.saved(self._save, scope, arguments, ttl_s))

    def _inspect(self, keys: list[str]) -> None:
        for packed in self._client.hgetall(keys[0]).values():
            _unpacked(packed)


def _unpacked(found: bytes) -> Mind:
    """What `mind_save` wrote; raises `ValueError`, `LookupError` or `TypeError` for anything else."""
    version, _, packed = found.partition(b" ")
    if not version.isdigit() or len(version) > 15:
        raise ValueError("a state without a version")
    known: dict[str, Any] = orjson.loads(packed)
    running = tuple(
        Running(_text(topic), _text(content), _turns(duration), tuple(map(_text, sources)))
        for topic, content, duration, sources in known["running"]
    )
    return Mind(tuple(map(_text, known["keywords"])), running, int(version))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} where a text belongs")
    return value


def _turns(value: Any) -> int:
    if not isinstance(value, int) or value < 1:
        raise ValueError("a number of turns below 1")
    return value
