"""The canvas (L1) in Redis or Valkey: per scope two sorted sets, two hashes and a string, changed by scripts.

The order of energies never changes while nobody touches them, so it is a sorted set that no sweep rewrites; "too weak
now" is a range of it. All keys expire together when nobody wrote for as long as a memory may be idle.
"""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from redis.exceptions import NoScriptError

from biem.adapters.redis_client import RedisClient
from biem.domain.energy import key_threshold
from biem.domain.policy import TierPolicy
from biem.ports import Touched, Vectors
from biem.ports.tiers import CanvasEntry

_SLACK_S = 60.0
"""Beyond the idle time, so that a server's clock that runs fast does not empty a canvas early."""
_AT_ONCE = 100
"""Entries a script takes: it keeps the server busy for a few milliseconds at most."""
_READ_BYTES = 512 * 1024
"""A full canvas has some 400 KB: few calls take it from the socket."""
_HEAD = 16
"""Bytes before the first vector, see `canvas_places.lua`."""


class RedisCanvas(RedisClient):
    """The port `Canvas`. `model` is the embedder's id: vectors of another one count as lost."""

    def __init__(self, url: str, *, timeout_s: float, model: str, policy: TierPolicy, decay_per_hour: float) -> None:
        super().__init__(url, timeout_s=timeout_s, text=False, read_bytes=_READ_BYTES)
        self._digest = hashlib.sha256(f"packed {model}".encode()).digest()[:8]
        self._policy = policy
        self._decay = decay_per_hour
        self._ttl_ms = int((policy.idle_s + _SLACK_S) * 1000)
        self._enter = self._script("canvas_enter")
        self._renew = self._script("canvas_renew")
        self._read = self._script("canvas_read")
        self._leave = self._script("canvas_leave")

    def enter(self, ns: str, entries: Sequence[CanvasEntry], at: datetime, *, rebuilt: bool = False) -> list[str]:
        least_key, least_access = self._least(at)
        out: dict[str, None] = {}
        with self._errors():
            for start in range(0, max(1, len(entries)), _AT_ONCE):
                part = entries[start : start + _AT_ONCE]
                arguments: list[bytes | str | float] = [
                    self._digest,
                    self._policy.max_nodes,
                    least_key,
                    least_access,
                    self._ttl_ms,
                    int(rebuilt),
                ]
                for entry in part:
                    arguments += (entry.id, entry.energy_key, entry.accessed_at.timestamp(), entry.conversation)
                    arguments.append(entry.vector.astype("<f4").tobytes())
                    out.pop(entry.id, None)
                out.update((raw.decode(), None) for raw in self._enter(keys=_keys(ns), args=arguments))
        return list(out)

    def renew(self, ns: str, touched: Sequence[Touched], at: datetime) -> list[str]:
        arguments: list[str | float] = [self._ttl_ms]
        for memory in touched:
            arguments += (memory.id, memory.energy_key, (memory.accessed_at or at).timestamp())
        with self._errors():
            return [raw.decode() for raw in self._renew(keys=_keys(ns), args=arguments)]

    def read(self, ns: str, at: datetime) -> list[CanvasEntry] | None:
        with self._errors():
            try:
                (mark, *texts), packed = self._fetch(_keys(ns))
            except NoScriptError:  # the server is new, or has begun anew
                self._client.script_load(self._read.script)
                (mark, *texts), packed = self._fetch(_keys(ns))
        if mark != self._digest:  # another model's, or of a version that kept something else here
            return None
        ordered, accesses, places = (text.decode().split(" ") if text else [] for text in texts)
        if len(ordered) != len(places):
            return None
        vectors = self._unpacked(packed)
        place_of = dict(zip(places[::2], map(int, places[1::2]), strict=True))
        accessed = dict(zip(accesses[::2], map(float, accesses[1::2]), strict=True))
        least_key, least_access = self._least(at)
        found: list[CanvasEntry] = []
        for name, key in zip(ordered[::2], map(float, ordered[1::2]), strict=True):
            place, access = place_of.get(name), accessed.get(name)
            if place is None or access is None or place >= len(vectors):
                return None
            if key >= least_key and access >= least_access:
                found.append(CanvasEntry(name, key, datetime.fromtimestamp(access, UTC), "", vectors[place]))
        return found

    def _fetch(self, keys: Sequence[str]) -> Any:
        """What the script says, and the vectors, of one instant; a script that passed them on would copy them."""
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.evalsha(self._read.sha, len(keys), *keys)
            pipeline.get(keys[-1])
            return pipeline.execute()

    def _unpacked(self, packed: bytes | None) -> Vectors:
        """A row for each place; none where the vectors are lost, or another model's."""
        size = int(packed[8:_HEAD]) // 4 if packed and packed.startswith(self._digest) else 0
        if not packed or not size:
            return np.empty((0, 0), np.float32)
        numbers = np.frombuffer(packed, "<f4", offset=_HEAD)
        return numbers[: len(numbers) // size * size].reshape(-1, size)

    def ids(self, ns: str) -> set[str] | None:
        by_key, _, places, _, packed = _keys(ns)
        with self._errors(), self._client.pipeline(transaction=True) as pipeline:
            pipeline.zrange(by_key, 0, -1)
            pipeline.hget(places, "")
            pipeline.hlen(places)
            pipeline.getrange(packed, 0, 7)
            ids, mark, size, digest = pipeline.execute()
        known = mark == self._digest and size == len(ids) + 1 and (not ids or digest == self._digest)
        return {raw.decode() for raw in ids} if known else None

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        with self._errors():
            for start in range(0, len(ids), _AT_ONCE):
                self._leave(keys=_keys(ns), args=[self._digest, *ids[start : start + _AT_ONCE]])

    def forget_scope(self, ns: str) -> None:
        with self._errors():
            self._client.delete(*_keys(ns))

    def count(self, ns: str, ids: Sequence[str] | None = None) -> int:
        by_key, by_access, places, conversations, _ = _keys(ns)
        with self._errors(), self._client.pipeline(transaction=True) as pipeline:
            pipeline.zrange(by_key, 0, -1)
            pipeline.zrange(by_access, 0, -1)
            pipeline.hkeys(places)
            pipeline.hkeys(conversations)
            held = {raw.decode() for part in pipeline.execute() for raw in part} - {""}
        return len(held if ids is None else held & set(ids))

    def _least(self, at: datetime) -> tuple[float, float]:
        """Energy key and last access below which a memory is out."""
        weakest = max(self._policy.demote, self._policy.minimum)
        return key_threshold(weakest, at, self._decay), at.timestamp() - self._policy.idle_s


def _keys(ns: str) -> list[str]:
    """The braces keep a scope's keys in one slot of a Redis Cluster."""
    canvas = f"biem:canvas:{{{ns}}}"
    return [canvas, f"{canvas}:accessed", f"{canvas}:vectors", f"{canvas}:conversations", f"{canvas}:packed"]
