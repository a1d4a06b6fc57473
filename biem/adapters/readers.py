"""States of conversations in Redis or Valkey, and which scopes' memories each may hold.

A conversation of a project is told memories of the user's own level, too, and its state keeps copies of them. So the
user's level knows the projects that keep any: erasing a memory reaches them, also those that were never written to and
that PostgreSQL does not know.
"""

from collections.abc import Collection, Sequence
from typing import Any, Literal

from biem.adapters.redis_client import RedisClient
from biem.adapters.redis_keys import Kind, keys_of
from biem.domain.scope import Scope

_READERS: dict[str, Kind] = {"mind": "mind-readers", "heading": "heading-readers"}


class RedisReaders(RedisClient):
    """What is kept of one `kind` by scope: a hash by conversation, and when each was used."""

    def __init__(self, url: str, kind: Literal["mind", "heading"], *, timeout_s: float) -> None:
        super().__init__(url, kind, timeout_s=timeout_s)
        self._readers: Kind = _READERS[kind]

    def saved(self, script: Any, scope: Scope, arguments: Sequence[Any], ttl_s: float) -> Any:
        """Run a script that saves a state, after registering it with the scopes whose memories it may hold."""
        for owner in scope.readable[1:]:
            self._on(owner.ns, lambda keys: self._register(keys[0], scope.ns, ttl_s), self._readers)
        return self._on(scope.ns, lambda keys: script(keys=keys, args=arguments))

    def forget(self, spaces: Collection[str]) -> None:
        """As the ports say."""
        for reader in self._reading(spaces):
            self.drop(reader)
        with self._errors():
            for ns in spaces:
                self._client.unlink(*keys_of(self._readers, ns))

    def count(self, spaces: Collection[str]) -> int:
        """As the ports say."""
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
