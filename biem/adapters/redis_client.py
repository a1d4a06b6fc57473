"""One Redis or Valkey server: how long a call may wait, what is left alone after a failure, errors in our words."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from biem.errors import StoreFull, StoreUnavailable

_PAUSE_S = 2.0
"""After a failure the server is left alone for this long: ten writes must not wait ten times for one that hangs."""

_INCLUDE = re.compile(r"^-- include (\w+)$", re.MULTILINE)


class RedisClient:
    """What the adapters on Redis share. A call waits at most `timeout_s`; `text` decodes answers to strings."""

    def __init__(self, url: str, *, timeout_s: float, text: bool, read_bytes: int = 64 * 1024) -> None:
        """`read_bytes`: of an answer, taken from the socket at once."""
        self._client: Any = redis.Redis.from_url(
            url,
            socket_timeout=timeout_s,
            socket_connect_timeout=timeout_s,
            # One reconnect hides a restarted server; a server that hangs is not asked twice.
            retry=Retry(NoBackoff(), 1, supported_errors=(redis.exceptions.ConnectionError,)),
            decode_responses=text,
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
            if "No space left on device" not in str(error):
                raise self._unavailable(error) from error
            raise StoreFull(f"the disk of Redis is full ({error}); free some space there") from error
        except redis.exceptions.RedisError as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        self._down_until, self._last_failure = time.monotonic() + _PAUSE_S, error
        return StoreUnavailable(f"Redis did not answer ({error}); check that it runs and BIEM_REDIS_URL")


def _source(name: str) -> str:
    """The text of a script, with the parts that it shares with others (Redis itself knows no includes)."""
    text = files("biem.adapters.lua").joinpath(f"{name}.lua").read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda found: _source(found[1]), text)
