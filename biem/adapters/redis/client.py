"""One Redis or Valkey server: how long a call may wait, what is left alone after a failure, errors in our words.

What a server keeps for a scope may be spoilt: cut short, overwritten, of another type. The server answers then, so it
is no outage: the keys of that scope are dropped, as if the server had lost them, and the call is made once more.
"""

import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from biem.adapters.redis.keys import Kind, keys_of, types_of
from biem.errors import CallRefused, StoreFull, StoreUnavailable

logger = logging.getLogger("biem.redis")
T = TypeVar("T")

_PAUSE_S = 2.0
"""After a failure the server is left alone for this long: ten writes must not wait ten times for one that hangs."""
_INCLUDE = re.compile(r"^-- include (\w+)$", re.MULTILINE)
_STATES = ("MISCONF", "BUSY", "NOREPLICAS", "UNKILLABLE", "No space left on device")
"""In refusals that speak of the server and not of what one key holds; redis-py has classes for the other states."""
_UNREADABLE = (redis.exceptions.ResponseError, ValueError, TypeError, LookupError, ArithmeticError)
"""What commands on a spoilt value, or taking it apart, raise."""
_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class RedisClient(ABC):
    """What the adapters on Redis share. A call waits at most `timeout_s`; answers are bytes."""

    def __init__(self, url: str, kind: Kind, *, timeout_s: float, read_bytes: int = 64 * 1024) -> None:
        """`kind`: of the keys that this adapter reads and writes. `read_bytes`: taken from the socket at once."""
        self._kind = kind
        self._client: Any = redis.Redis.from_url(
            url,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            # One reconnect hides a restarted server; a server that hangs is not asked twice.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.exceptions.ConnectionError,)),
            socket_read_size=read_bytes,
        )
        self._down_until = 0.0
        self._last_failure: Exception | None = None

    def _script(self, name: str) -> Any:
        return self._client.register_script(_source(name))

    def ping(self) -> None:
        with self._errors():
            self._client.ping()

    def close(self) -> None:
        self._client.close()

    def drop(self, ns: str) -> None:
        """Remove everything of this adapter's kind for a scope, whatever it is."""
        with self._errors():
            self._client.unlink(*keys_of(self._kind, ns))

    def spoilt(self, ns: str) -> str:
        """Why what is kept for a scope cannot be read; empty when it can, or nothing is kept. Changes nothing."""
        keys = keys_of(self._kind, ns)
        with self._errors():
            try:
                with self._client.pipeline(transaction=False) as pipeline:
                    for key in keys:
                        pipeline.type(key)
                    found: list[bytes] = pipeline.execute()
                for key, wanted, there in zip(keys, types_of(self._kind), found, strict=True):
                    if there.decode() not in (wanted, "none"):
                        return f"{key} is a {there.decode()} instead of a {wanted}"
                self._inspect(keys)
            except _UNREADABLE as error:
                if _is_of_the_server(error):
                    raise
                return f"{keys[0]}: {_told(error)}"
        return ""

    @abstractmethod
    def _inspect(self, keys: list[str]) -> None:
        """Read everything that keys of the right types hold; raises what the adapter's own reading raises."""

    def _on(self, ns: str, work: Callable[[list[str]], T], kind: Kind | None = None) -> T:
        """Do `work`, which may be repeated, with the keys of a scope; what cannot be read there is dropped first.

        `kind`: of the keys, where they are not of this adapter's own.
        """
        keys = keys_of(kind or self._kind, ns)
        with self._errors():
            try:
                return work(keys)
            except _UNREADABLE as error:
                if _is_of_the_server(error):
                    raise
                logger.warning(
                    "what Redis kept as %s cannot be read and is dropped; it fills again: %s", keys[0], _told(error)
                )
            self._client.unlink(*keys)
            return work(keys)

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
        except redis.exceptions.ResponseError as error:
            if "No space left on device" in str(error):
                raise StoreFull(f"the disk of Redis is full ({error}); free some space there") from error
            if not _is_of_the_server(error):  # it answers, and others are not kept from it
                raise CallRefused(f"Redis refused a call ({_told(error)}); try again") from error
            raise self._unavailable(error) from error
        except redis.exceptions.RedisError as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        self._down_until, self._last_failure = time.monotonic() + _PAUSE_S, error
        return StoreUnavailable(f"Redis did not answer ({error}); check that it runs and BIEM_REDIS_URL")


def memory_id(raw: bytes) -> str:
    """An id that was read back; `ValueError` for what is none and would reach other stores as one."""
    if not _ID.fullmatch(raw):
        raise ValueError("it holds something that is no id of a memory")
    return raw.decode()


def _is_of_the_server(error: Exception) -> bool:
    """Whether a refusal says something about the server, such as that it is a replica or has no room."""
    if not isinstance(error, redis.exceptions.ResponseError):
        return False
    return type(error) is not redis.exceptions.ResponseError or any(state in str(error) for state in _STATES)


def _told(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _source(name: str) -> str:
    """The text of a script, with the parts that it shares with others (Redis itself knows no includes)."""
    text = files("biem.adapters.redis.lua").joinpath(f"{name}.lua").read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: _source(found[1]), text)
