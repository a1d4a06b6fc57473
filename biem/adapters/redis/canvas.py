"""The canvas (L1) in Redis or Valkey: per scope two sorted sets, two hashes and a string, changed by scripts.

The order of energies is constant between accesses, so it is a sorted set that no sweep rewrites; memories too weak now
are a range of it. All keys expire together after the maximum idle time without a write.
"""

import hashlib
import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from biem.adapters.redis.client import RedisClient, memory_id
from biem.adapters.redis.light_import import NoScriptError
from biem.domain.energy import key_threshold
from biem.domain.policies.life import TierPolicy
from biem.ports import Touched, Vector, Vectors
from biem.ports.hot import CanvasEntry

_SLACK_S = 60.0
"""Added to the idle time, so that a server whose clock runs fast does not empty a canvas early."""
_AT_ONCE = 100
"""Entries per script call: it blocks the server for a few milliseconds at most."""
_READ_BYTES = 512 * 1024
"""A full canvas has some 400 KB: a few reads take it from the socket."""
_HEAD = 16
"""Bytes before the first vector, see `canvas_places.lua`."""
_SPARE = 10
"""A canvas with this many times its limit is corrupt, for any settings of other processes."""
_LAST_S = 2.5e11
"""Seconds from the epoch to the year 9892, near the end of the calendar."""
_LARGEST = 1.001
"""Maximum absolute component of a vector of unit length, with rounding."""


class RedisCanvas(RedisClient):
    """The port `Canvas`. `model` is the embedder's id and `dim` its dimension: vectors of another one count as lost."""

    def __init__(
        self, url: str, *, timeout_s: float, model: str, dim: int, policy: TierPolicy, decay_per_hour: float
    ) -> None:
        super().__init__(url, "canvas", timeout_s=timeout_s, read_bytes=_READ_BYTES)
        self._digest = hashlib.sha256(f"packed {model}".encode()).digest()[:8]
        self._dim = dim
        self._policy = policy
        self._decay = decay_per_hour
        self._ttl_ms = int((policy.idle_s + _SLACK_S) * 1000)
        self._most = _SPARE * policy.max_nodes
        self._enter = self._script("canvas_enter")
        self._renew = self._script("canvas_renew")
        self._read = self._script("canvas_read")
        self._leave = self._script("canvas_leave")

    def enter(self, ns: str, entries: Sequence[CanvasEntry], at: datetime, *, rebuilt: bool = False) -> list[str]:
        least_key, least_access = self._least(at)
        out: dict[str, None] = {}
        for start in range(0, max(1, len(entries)), _AT_ONCE):
            arguments: list[bytes | str | float] = [
                self._digest,
                self._policy.max_nodes,
                least_key,
                least_access,
                self._ttl_ms,
                int(rebuilt),
            ]
            for entry in entries[start : start + _AT_ONCE]:
                arguments += (entry.id, entry.energy_key, entry.accessed_at.timestamp(), entry.conversation)
                arguments.append(entry.vector.astype("<f4").tobytes())
                out.pop(entry.id, None)

            def put_in(keys: list[str], part: list[bytes | str | float] = arguments) -> list[str]:
                return [memory_id(raw) for raw in self._enter(keys=keys, args=part)]

            out.update(dict.fromkeys(self._on(ns, put_in)))
        return list(out)

    def renew(self, ns: str, touched: Sequence[Touched], at: datetime) -> list[str]:
        arguments: list[str | float] = [self._ttl_ms]
        for memory in touched:
            arguments += (memory.id, memory.energy_key, (memory.accessed_at or at).timestamp())
        return [raw.decode() for raw in self._on(ns, lambda keys: self._renew(keys=keys, args=arguments))]

    def read(self, ns: str, at: datetime) -> list[CanvasEntry] | None:
        entries = self._on(ns, self._entries)
        if entries is None:
            return None
        least_key, least_access = self._least(at)
        return [
            CanvasEntry(name, key, access, "", vector)
            for name, key, access, vector in entries
            if key >= least_key and access.timestamp() >= least_access
        ]

    def _entries(self, keys: list[str]) -> list[tuple[str, float, datetime, Vector]] | None:
        """Ids, energy keys, accesses and vectors, hottest first; None when the canvas is lost or another model's.

        Raises what `RedisClient` treats as unreadable.
        """
        try:
            (mark, *texts), packed = self._fetch(keys)
        except NoScriptError:  # a new or restarted server
            self._client.script_load(self._read.script)
            (mark, *texts), packed = self._fetch(keys)
        if mark != self._digest:  # another model's, or another version's format
            return None
        ordered, accesses, places = (text.split(b" ") if text else [] for text in texts)
        if len(ordered) != len(places):
            return None
        place_of = dict(zip(places[::2], map(int, places[1::2]), strict=True))
        accessed = dict(zip(accesses[::2], map(float, accesses[1::2]), strict=True))
        if not accessed.keys() >= set(ordered[::2]) == place_of.keys():
            return None
        vectors = self._unpacked(packed, list(place_of.values()))
        if vectors is None:
            return None
        return [
            (memory_id(name), _finite(key), _instant(accessed[name]), vectors[place_of[name]])
            for name, key in zip(ordered[::2], map(float, ordered[1::2]), strict=True)
        ]

    def _fetch(self, keys: Sequence[str]) -> Any:
        """The script's result and the vectors, read atomically; returning the vectors from the script would copy
        them.
        """
        with self._client.pipeline(transaction=True) as pipeline:
            pipeline.evalsha(self._read.sha, len(keys), *keys, self._most)
            pipeline.getrange(keys[-1], 0, _HEAD + self._most * self._dim * 4)
            return pipeline.execute()

    def _unpacked(self, packed: bytes, places: list[int]) -> Vectors | None:
        """A row for each place up to the last of `places`; None where vectors are lost, or another model's."""
        if not places:
            return np.empty((0, self._dim), np.float32)
        if not packed.startswith(self._digest):
            return None
        if int(packed[8:_HEAD]) != 4 * self._dim:
            raise ValueError("its vectors have another dimension")
        if min(places) < 0 or len(set(places)) < len(places):
            raise ValueError("two memories share one place")
        end = (max(places) + 1) * self._dim
        if len(packed) < _HEAD + 4 * end:
            return None
        vectors = np.frombuffer(packed, "<f4", count=end, offset=_HEAD).reshape(-1, self._dim)
        if not np.abs(vectors[places]).max() <= _LARGEST:  # also false for NaN
            raise ValueError("its vectors do not have unit length")
        return vectors

    def ids(self, ns: str) -> set[str] | None:
        def known(keys: list[str]) -> set[str] | None:
            by_key, _, places, _, packed = keys
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.zrange(by_key, 0, self._most)
                pipeline.hget(places, "")
                pipeline.hlen(places)
                pipeline.getrange(packed, 0, 7)
                ids, mark, size, digest = pipeline.execute()
            if mark != self._digest or size != len(ids) + 1 or (ids and digest != self._digest):
                return None
            return {memory_id(raw) for raw in ids}

        return self._on(ns, known)

    def leave(self, ns: str, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), _AT_ONCE):
            arguments = [self._digest, *ids[start : start + _AT_ONCE]]
            self._on(ns, lambda keys, part=arguments: self._leave(keys=keys, args=part))  # type: ignore[misc]

    def forget_scope(self, ns: str) -> None:
        self.drop(ns)

    def count(self, ns: str, ids: Sequence[str] | None = None) -> int:
        def held(keys: list[str]) -> set[bytes]:
            by_key, by_access, places, conversations, _ = keys
            with self._client.pipeline(transaction=True) as pipeline:
                pipeline.zrange(by_key, 0, -1)
                pipeline.zrange(by_access, 0, -1)
                pipeline.hkeys(places)
                pipeline.hkeys(conversations)
                return {raw for part in pipeline.execute() for raw in part} - {b""}

        found = self._on(ns, held)
        return len(found if ids is None else found.intersection(key.encode() for key in ids))

    def _inspect(self, keys: list[str]) -> None:
        self._entries(keys)

    def _least(self, at: datetime) -> tuple[float, float]:
        """Minimum energy key and last access of a memory in the canvas."""
        weakest = max(self._policy.demote, self._policy.minimum)
        return key_threshold(weakest, at, self._decay), at.timestamp() - self._policy.idle_s


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("a value that is no number")
    return number


def _instant(seconds: float) -> datetime:
    if not abs(seconds) < _LAST_S:
        raise ValueError("an access outside the calendar")
    return datetime.fromtimestamp(seconds, UTC)
