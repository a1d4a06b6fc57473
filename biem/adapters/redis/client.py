"""Connection to one Redis or Valkey server: timeouts, a pause after a failure, translation of errors.

A scope's value may be corrupt: truncated, overwritten, of another type. That is no outage: the keys of that scope are
dropped, as if the server had lost them, and the call is repeated once.
"""

import logging
import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, TypeVar

from biem.adapters.redis.keys import Kind, keys_of, types_of
from biem.adapters.redis.light_import import NoBackoff, Retry, redis
from biem.errors import CallRefused, StoreFull, StoreUnavailable

logger = logging.getLogger("biem.redis")
T = TypeVar("T")

_PAUSE_S = 2.0
"""Pause after a failure: ten writes must not wait ten times for a server that hangs."""
_INCLUDE = re.compile(r"^-- include (\w+)$", re.MULTILINE)
_STATES = ("MISCONF", "BUSY", "NOREPLICAS", "UNKILLABLE", "No space left on device")
"""Error prefixes about the server and not about the value of one key; redis-py has classes for the other states."""
_UNREADABLE = (redis.exceptions.ResponseError, ValueError, TypeError, LookupError, ArithmeticError)
"""Raised by commands on a corrupt value, or by parsing it."""
_ID = re.compile(rb"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class RedisClient(ABC):
    """Shared by the adapters on Redis. A call waits at most `timeout_s`; answers are bytes."""

    def __init__(self, url: str, kind: Kind, *, timeout_s: float, read_bytes: int = 64 * 1024) -> None:
        """`kind`: of the keys that this adapter reads and writes. `read_bytes`: size of one read from the socket."""
        self._kind = kind
        self._client: Any = redis.Redis.from_url(
            url,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            # One reconnect hides a restarted server; a call to a server that hangs is not repeated.
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
        """Remove everything of this adapter's kind for a scope, in any state."""
        with self._errors():
            self._client.unlink(*keys_of(self._kind, ns))

    def spoilt(self, ns: str) -> str:
        """Why a scope's values cannot be read; empty when they can, or when there are none. Changes nothing."""
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
                return f"{keys[0]}: {_error_text(error)}"
        return ""

    @abstractmethod
    def _inspect(self, keys: list[str]) -> None:
        """Read all values under keys of the right types; raises as the adapter's own reads do."""

    def _on(self, ns: str, work: Callable[[list[str]], T], kind: Kind | None = None) -> T:
        """Run `work`, which may be repeated, with the keys of a scope; unreadable values are dropped first.

        `kind`: of the keys, if not this adapter's own.
        """
        keys = keys_of(kind or self._kind, ns)
        with self._errors():
            try:
                return work(keys)
            except _UNREADABLE as error:
                if _is_of_the_server(error):
                    raise
                logger.warning("unreadable %s in Redis dropped; it is rebuilt: %s", keys[0], _error_text(error))
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
            if not _is_of_the_server(error):  # the server answers, so other calls may continue
                raise CallRefused(f"Redis refused a call ({_error_text(error)}); try again") from error
            raise self._unavailable(error) from error
        except redis.exceptions.RedisError as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        self._down_until, self._last_failure = time.monotonic() + _PAUSE_S, error
        return StoreUnavailable(f"Redis did not answer ({error}); check that it runs and BIEM_REDIS_URL")


def memory_id(raw: bytes) -> str:
    """A stored id; `ValueError` for any other value, which must not reach other stores as an id."""
    if not _ID.fullmatch(raw):
        raise ValueError("it contains a value that is no memory id")
    return raw.decode()


def _is_of_the_server(error: Exception) -> bool:
    """Whether an error concerns the server, for example that it is a replica or full."""
    if not isinstance(error, redis.exceptions.ResponseError):
        return False
    return type(error) is not redis.exceptions.ResponseError or any(state in str(error) for state in _STATES)


def _error_text(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _source(name: str) -> str:
    """The source of a script, with its shared parts included (Redis itself has no includes)."""
    text = files("biem.adapters.redis.lua").joinpath(f"{name}.lua").read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: _source(found[1]), text)
